"""One operator, one file, one label."""
