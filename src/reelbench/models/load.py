"""Find a model by its name, ``backend:name``."""

from importlib import import_module
from pathlib import Path

from reelbench.errors import ReelbenchError
from reelbench.models.base import ChatModel

# The module of each backend; it is imported when a model of it is first asked for.
BACKENDS = {"baseline": "reelbench.models.baselines", "openai": "reelbench.models.openai"}

CARDS = (".yaml", ".yml")  # how the names of cards end


def load_model(name: str) -> ChatModel:
    """Return the model of that name, or of that card; raise a sentence that lists what there is."""
    if name.endswith(CARDS):
        return _from_card(Path(name))
    backend, colon, rest = name.partition(":")
    if not colon or backend not in BACKENDS:
        raise ReelbenchError(
            f"There is no model {name!r}; write backend:name with one of these backends: "
            f"{', '.join(BACKENDS)} (for example baseline:random), or name a model's card, a file "
            "that ends in .yaml."
        )
    model: ChatModel = import_module(BACKENDS[backend]).load(rest)
    return model


def _from_card(path: Path) -> ChatModel:
    from reelbench.models.card import read_card
    from reelbench.models.openai import OpenAIModel

    card = read_card(path)
    if card.backend != "openai":
        raise ReelbenchError(f"{path}: the backend of a card is openai, not {card.backend!r}.")
    return OpenAIModel(card)
