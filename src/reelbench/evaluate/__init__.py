"""Asking: conditions, prompts, the parser, and the run itself."""
