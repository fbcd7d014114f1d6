"""The floor of the package: parameter checks, free memory, optional packages, progress."""
