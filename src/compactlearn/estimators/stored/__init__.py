"""What model files may hold of this layer, with the checks that a loaded part has to pass."""
