"""Published Q-Bench-Video files, loaded as a benchmark."""
