"""Baselines: what chance, a text shortcut and classical vision reach."""

from collections.abc import Callable

from reelbench.errors import ReelbenchError
from reelbench.models.base import ChatModel
from reelbench.models.baselines.pixels import Pixels
from reelbench.models.baselines.shortcuts import LongestOption, RandomChoice

BASELINES: dict[str, Callable[[], ChatModel]] = {
    "random": RandomChoice,
    "longest-option": LongestOption,
    "pixels": Pixels,
}


def load(name: str) -> ChatModel:
    """Return a baseline by its name."""
    if name not in BASELINES:
        raise ReelbenchError(
            f"There is no baseline {name!r}; the baselines are: {', '.join(BASELINES)}."
        )
    return BASELINES[name]()
