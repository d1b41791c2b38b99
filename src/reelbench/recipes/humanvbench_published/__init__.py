"""HumanVBench's published rows as a benchmark."""
