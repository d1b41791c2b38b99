"""MMOU: questions that need pictures and sound, with ten options and without."""
