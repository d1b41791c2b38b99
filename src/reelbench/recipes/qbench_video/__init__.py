"""Q-Bench-Video: questions about the quality of videos that people have scored."""
