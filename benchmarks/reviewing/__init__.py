"""What benchmarks/review.py runs beside the server."""
