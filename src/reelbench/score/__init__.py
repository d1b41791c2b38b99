"""From predictions to numbers: every number with its coverage and its interval."""
