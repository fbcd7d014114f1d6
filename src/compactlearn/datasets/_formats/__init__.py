"""One reader, and where there is one a writer, for each file format; read() finds the format."""
