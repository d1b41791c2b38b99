"""The parts of benchmarks/operators.py."""
