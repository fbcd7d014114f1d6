"""The harness: what a spec has left is computed, in processes, and recorded."""
