"""Parts of labels.py: the clips with their truth, and how each label is held against it."""
