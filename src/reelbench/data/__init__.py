"""Items, their rules, the manifest, and the benchmark folder."""
