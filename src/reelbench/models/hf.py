"""Local models through transformers: ``hf:PATH``, in batches that are found by themselves."""

from importlib.util import find_spec

from reelbench.base.errors import ReelbenchError
from reelbench.base.extras import install_command
from reelbench.models.card import Card
from reelbench.models.local.model import LocalModel


def load(card: Card) -> LocalModel:
    """Return the model of a card; its weights are loaded later."""
    if not all(map(find_spec, ("transformers", "torch"))):
        raise ReelbenchError(f"{card.name} needs transformers and PyTorch: {install_command('hf')}")
    if card.video in ("clip", "file"):
        raise ReelbenchError(
            f"{card.name}: local models take the frames of a benchmark: write `video: frames` to "
            'give them as one video, or `video: ""` to give them as pictures.'
        )
    return LocalModel(card)
