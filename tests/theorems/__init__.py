"""What must hold, whatever the implementation: statements taken from the theory, not the code."""
