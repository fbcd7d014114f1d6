"""What the readers have in common: files unpacked, text into numbers, rows into one Dataset."""
