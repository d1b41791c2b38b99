"""MMOU's published rows as a benchmark."""
