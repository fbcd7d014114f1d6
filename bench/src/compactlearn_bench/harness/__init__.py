"""The harness: what a spec has left is computed, in processes or on a cluster, and recorded."""
