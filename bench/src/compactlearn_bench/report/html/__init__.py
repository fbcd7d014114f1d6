"""The report as one HTML file, with its style sheet and its script inside it."""
