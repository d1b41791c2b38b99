"""Models that answer: one small protocol, and what speaks it."""
