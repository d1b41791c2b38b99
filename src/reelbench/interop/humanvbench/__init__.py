"""HumanVBench: its tasks, how it asks to be run, and its rows as they are published."""
