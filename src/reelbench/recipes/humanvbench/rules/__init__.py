"""The rules of the sixteen tasks, by dimension."""
