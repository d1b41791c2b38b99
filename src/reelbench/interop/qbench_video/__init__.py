"""The published files of Q-Bench-Video."""
