"""Find a model by its name, ``backend:name``, or by its card."""

from importlib import import_module
from pathlib import Path
from typing import Any

from reelbench.errors import ReelbenchError
from reelbench.models.base import ChatModel
from reelbench.models.card import Card, make_card, read_card

# The module of each backend, which is imported when a model of it is first asked for; an example;
# and what its models usually are, where a card does not say otherwise.
BACKENDS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "baseline": ("baselines", "random", {"sees": False, "connections": 1}),
    "openai": ("openai", "gpt-4o", {}),
    "anthropic": ("anthropic", "claude-opus-4-5", {}),
    "google": ("google", "gemini-2.5-pro", {"hears": True, "video": "file"}),
    "hf": ("hf", "path/to/a/model", {"schemas": False}),
    "cascade": ("cascade", "", {}),
    "inspect": ("inspect", "openai/gpt-4o", {"hears": True}),
}

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
    module, example, usual = BACKENDS[backend]
    if not rest:
        raise ReelbenchError(f"Which model? Write {backend}:NAME, such as {backend}:{example}.")
    return _made(module, Card(name=name, backend=backend, model=rest, **usual))


def _from_card(path: Path) -> ChatModel:
    fields = read_card(path)
    backend = fields.get("backend", "openai")
    if not isinstance(backend, str) or backend not in BACKENDS:
        backends = ", ".join(BACKENDS)
        raise ReelbenchError(f"{path}: the backend of a card is one of {backends}, not {backend}.")
    module, _, usual = BACKENDS[backend]
    fields = usual | fields
    if backend == "cascade":
        fields["model"] = _beside(path, fields.get("model", ""))
    if isinstance(fields.get("captioners"), list):
        fields["captioners"] = [_beside(path, name) for name in fields["captioners"]]
    return _made(module, make_card(path, fields))


def _beside(path: Path, name: Any) -> Any:
    """A card that a card names lies where the card does."""
    return str(path.parent / name) if isinstance(name, str) and name.endswith(CARDS) else name


def _made(module: str, card: Card) -> ChatModel:
    model: ChatModel = import_module(f"reelbench.models.{module}").load(card)
    return model
