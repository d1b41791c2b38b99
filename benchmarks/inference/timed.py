"""The backend of benchmarks/local.py: our local models, which note when they are loaded."""

from inference.ways import TimedModel
from reelbench.models.card import Card


def load(card: Card) -> TimedModel:
    """Return the model of a card."""
    return TimedModel(card)
