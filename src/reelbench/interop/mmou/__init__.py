"""MMOU: its taxonomy, and its rows as they are published."""
