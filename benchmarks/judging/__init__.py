"""What benchmarks/judge.py measures with."""
