"""Calibrated confidence: how often a statement with such evidence is right."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import exp
from typing import TypeVar

_Said = TypeVar("_Said")


@dataclass(frozen=True)
class Calibration:
    """A logistic function of named evidence; an operator's source says what it was fitted on.

    ``most`` is where confidence ends: as many clips as were looked at cannot show more.
    """

    constant: float
    weights: Mapping[str, float]
    most: float = 1.0

    def __call__(self, evidence: Mapping[str, float]) -> float:
        """Return the probability that a statement with this evidence is right."""
        total = self.constant + sum(self.weights[name] * evidence[name] for name in self.weights)
        return round(min(self.most, 1 / (1 + exp(-max(-30.0, min(30.0, total))))), 4)


def unless_unsure(guess: _Said, confidence: float, least_confidence: float) -> _Said | None:
    """Return a guess, or None where its confidence is below the least that counts."""
    return guess if confidence >= least_confidence else None
