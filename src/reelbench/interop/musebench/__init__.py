"""MuseBench: its taxonomy, and how it asks to be run."""
