"""The parts of benchmarks/humanvbench.py: scenes of people whose truth is known."""
