"""Labels held against truth: one file a label."""
