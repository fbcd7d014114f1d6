"""The commands `bench`, `demo` and `report` of the workshop."""
