"""Rules."""

from collections.abc import Callable, Mapping

from reelbench.recipes.humanvbench.rows import Candidate

RULES: Mapping[str, Callable[..., list[Candidate]]] = {}
