"""Films, questions and replies with what a reader decides on them, and how to have them decided."""
