"""Judges that were trained here: ``judge:FOLDER``, a local model whose replies are always valid.

A folder with ``judge.json`` is a trained judge; any other folder, or a name on the hub, is a base
model that was not trained to judge, asked in the same way.
"""

from reelbench.models.card import Card
from reelbench.models.judge.model import TrainedJudge
from reelbench.models.judge.model import load as _load

__all__ = ["TrainedJudge", "load"]


def load(card: Card) -> TrainedJudge:
    """Return the judge of a card; its weights are loaded later."""
    return _load(card)
