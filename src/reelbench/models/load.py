"""Find a model by its name, ``backend:name``."""

from importlib import import_module

from reelbench.errors import ReelbenchError
from reelbench.models.base import ChatModel

# The module of each backend; it is imported when a model of it is first asked for.
BACKENDS = {"baseline": "reelbench.models.baselines"}


def load_model(name: str) -> ChatModel:
    """Return the model of that name; raise a sentence that lists what there is."""
    backend, colon, rest = name.partition(":")
    if not colon or backend not in BACKENDS:
        raise ReelbenchError(
            f"There is no model {name!r}; write backend:name with one of these backends: "
            f"{', '.join(BACKENDS)} (for example baseline:random)."
        )
    model: ChatModel = import_module(BACKENDS[backend]).load(rest)
    return model
