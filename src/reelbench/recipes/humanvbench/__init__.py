"""The recipe of HumanVBench."""
