"""How sources become a benchmark: one folder per recipe, thin and readable beside its paper."""
