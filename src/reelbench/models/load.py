"""Find a model by its name, ``backend:name``, or by its card."""

import os
from importlib import import_module
from pathlib import Path
from typing import Any

from reelbench.base.errors import ReelbenchError
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
    return Loader().load(name)


class Loader:
    """Loads models, the same one once: who is named twice has one pace and one set of limits."""

    def __init__(self) -> None:
        self._loaded: dict[str, ChatModel] = {}
        self._loading: list[str] = []

    def load(self, name: str) -> ChatModel:
        """Return a model by its name or its card."""
        source = os.path.abspath(name) if name.endswith(CARDS) else name
        if source in self._loading:
            raise ReelbenchError(f"{name} is made of itself: name other models in it.")
        if source not in self._loaded:
            self._loading.append(source)
            try:
                card = _card_of(Path(name)) if name.endswith(CARDS) else _card_named(name)
                self._loaded[source] = self._made(card)
            finally:
                self._loading.remove(source)
        return self._loaded[source]

    def _made(self, card: Card) -> ChatModel:
        module = import_module(f"reelbench.models.{BACKENDS[card.backend][0]}")
        more = (self.load,) if card.backend == "cascade" else ()
        model: ChatModel = module.load(card, *more)
        return model


def _card_named(name: str) -> Card:
    backend, colon, rest = name.partition(":")
    if not colon or backend not in BACKENDS:
        raise ReelbenchError(
            f"There is no model {name!r}; write backend:name with one of these backends: "
            f"{', '.join(BACKENDS)} (for example baseline:random), or name a model's card, a file "
            "that ends in .yaml."
        )
    _, example, usual = BACKENDS[backend]
    if not rest:
        raise ReelbenchError(f"Which model? Write {backend}:NAME, such as {backend}:{example}.")
    return Card(name=name, backend=backend, model=rest, **usual)


def _card_of(path: Path) -> Card:
    fields = read_card(path)
    backend = fields.get("backend", "openai")
    if not isinstance(backend, str) or backend not in BACKENDS:
        backends = ", ".join(BACKENDS)
        raise ReelbenchError(f"{path}: the backend of a card is one of {backends}, not {backend}.")
    fields = BACKENDS[backend][2] | fields
    if backend == "cascade":
        fields["model"] = _beside(path, fields.get("model", ""))
    if isinstance(fields.get("captioners"), list):
        fields["captioners"] = [_beside(path, name) for name in fields["captioners"]]
    return make_card(path, fields)


def _beside(path: Path, name: Any) -> Any:
    """A card that a card names lies where the card does."""
    return str(path.parent / name) if isinstance(name, str) and name.endswith(CARDS) else name
