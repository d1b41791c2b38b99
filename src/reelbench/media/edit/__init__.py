"""Change and write media: cut, join, draw, degrade, encode."""
