"""The parts of benchmarks/local.py."""
