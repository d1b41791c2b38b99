"""Filters for benchmarks that are there already."""
