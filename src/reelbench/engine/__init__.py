"""Where work runs: on this machine, or on a Ray cluster. The same work, the same results."""
