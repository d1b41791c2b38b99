"""Operators turn clips into labels; recipes read labels. One operator, one file, one label."""
