"""Baselines: what chance, text shortcuts and classical vision reach."""

from reelbench.base.errors import ReelbenchError
from reelbench.models.base import ChatModel
from reelbench.models.baselines.pixels import Pixels
from reelbench.models.baselines.prior import BlindPrior
from reelbench.models.baselines.shortcuts import FirstOption, LongestOption, Offline, RandomChoice
from reelbench.models.card import Card

BASELINES: dict[str, type[Offline]] = {
    "random": RandomChoice,
    "first": FirstOption,
    "longest": LongestOption,
    "blind": BlindPrior,
    "pixels": Pixels,
}


def load(card: Card) -> ChatModel:
    """Return a baseline by its name."""
    if card.model not in BASELINES:
        raise ReelbenchError(
            f"There is no baseline {card.model!r}; the baselines are: {', '.join(BASELINES)}."
        )
    return BASELINES[card.model](card)
