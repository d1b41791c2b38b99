"""Find a model by its name, ``backend:name``, or by its card.

A backend from outside is a Python file, or a name that an installed package registers; it has a
function ``load(card)`` that returns a ``ChatModel``.
"""

import os
from collections.abc import Callable, Iterable
from importlib import import_module
from pathlib import Path
from typing import Any

from reelbench.base.errors import ReelbenchError
from reelbench.base.extensions import (
    digest_of_module,
    load_file,
    load_registered,
    registered,
    split_file,
)
from reelbench.base.spelling import perhaps
from reelbench.models.base import ChatModel
from reelbench.models.card import Card, make_card, read_card
from reelbench.models.cascade import members_of
from reelbench.models.own import OwnModel
from reelbench.models.servers import servers_of

# The module of each backend, which is imported when a model of it is first asked for; an example;
# and what its models usually are, where a card does not say otherwise.
BACKENDS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "baseline": ("baselines", "random", {"sees": False, "connections": 1}),
    "openai": ("openai", "gpt-4o", {}),
    "anthropic": ("anthropic", "claude-opus-4-5", {}),
    "google": ("google", "gemini-2.5-pro", {"hears": True, "video": "file"}),
    "hf": ("hf", "path/to/a/model", {}),
    "judge": ("judge", "path/to/a/trained/judge", {"sees": False, "batch": 32}),
    "cascade": ("cascade", "", {}),
    "inspect": ("inspect", "openai/gpt-4o", {"hears": True}),
}

GROUP = "reelbench.models"  # of entry points, by which packages add backends
CARDS = (".yaml", ".yml")  # how the names of cards end


def load_model(name: str) -> ChatModel:
    """Return the model with this name, or of this card; an error lists the known backends.

    Its key is there, so that it can be asked; a ``Loader`` does not check that.
    """
    model = Loader().load(name)
    check_keys([model])
    return model


def check_keys(models: Iterable[ChatModel]) -> None:
    """Refuse models, members of cascades included, whose key is missing."""
    for model in members_of(models):
        if message := getattr(model, "missing_key", ""):
            raise ReelbenchError(message)


class Loader:
    """Loads each model once, so that one that is named twice shares its rate limits.

    ``named`` are the cards, those of cascades with their members, that may start a server, because
    a user named them; a record of an earlier run may be anyone's. None is for all.
    """

    def __init__(self, named: Iterable[str] | None = None) -> None:
        self._named = None if named is None else {os.path.abspath(name) for name in named}
        self._loaded: dict[str, ChatModel] = {}
        self._loading: list[str] = []

    def load(self, name: str) -> ChatModel:
        """Return a model by its name or its card."""
        source = os.path.abspath(name) if name.endswith(CARDS) else name
        if source in self._loading:
            raise ReelbenchError(
                f"{name} is a cascade that contains itself: name other models in it."
            )
        if source not in self._loaded:
            self._loading.append(source)
            try:
                card = _card_of(Path(name)) if name.endswith(CARDS) else _card_named(name)
                self._loaded[source] = self._made(card)
            finally:
                self._loading.remove(source)
        if not self._loading and (self._named is None or source in self._named):
            for server in servers_of([self._loaded[source]]):
                server.permitted = True
        return self._loaded[source]

    def _made(self, card: Card) -> ChatModel:
        if card.backend not in BACKENDS:
            return _own_model(card)
        module = import_module(f"reelbench.models.{BACKENDS[card.backend][0]}")
        more = (self.load,) if card.backend == "cascade" else ()
        model: ChatModel = module.load(card, *more)
        return model


_GGUF = """{0} is a GGUF file, which llama.cpp serves. Write a card for it and name the card:
  --model {1}.yaml, with these lines in {1}.yaml:
    serve: [python, -m, reelbench.models.gguf, {0}, --name, "{{model}}", --port, "{{port}}"]
    name: {1}
    sees: false
docs/real-models.md has examples; the server comes with the extra reelbench[local]."""


def _card_named(name: str) -> Card:
    backend, colon, rest = name.partition(":")
    if split_file(name) == (Path(name), ""):
        raise ReelbenchError(
            f"{name} is a backend, and the name of a model is missing: write {name}:NAME. Its "
            "load(card) finds NAME in card.model."
        )
    if not colon or not _is_known(backend):
        if name.endswith(".gguf"):
            raise ReelbenchError(_GGUF.format(rest or name, Path(rest or name).stem))
        near = perhaps(backend, [*BACKENDS, *registered(GROUP)]) if colon else ""
        raise ReelbenchError(
            f"There is no model {name!r}{near}; write backend:name with one of these backends: "
            f"{_known_backends()} (for example baseline:random), or name a model's card, a file "
            "that ends in .yaml."
        )
    _, example, usual = BACKENDS.get(backend, ("", "any-name", {}))
    if not rest:
        such = f", such as {backend}:{example}" if example else ""
        raise ReelbenchError(f"Which model? Write {backend}:NAME{such}.")
    return Card(name=name, backend=backend, model=rest, **usual)


def _card_of(path: Path) -> Card:
    fields, lines = read_card(path)
    backend = fields.get("backend", "openai")
    if isinstance(backend, str) and split_file(backend):
        backend = fields["backend"] = str(path.parent / backend)
    if not isinstance(backend, str) or not _is_known(backend):
        raise ReelbenchError(
            f"{path}: the backend of a card is one of {_known_backends()}, not {backend}."
        )
    fields = (BACKENDS[backend][2] if backend in BACKENDS else {}) | fields
    if backend == "cascade":
        fields["model"] = _beside(path, fields.get("model", ""))
        if fields.get("fuser"):
            fields["fuser"] = _beside(path, fields["fuser"])
    if isinstance(fields.get("captioners"), list):
        fields["captioners"] = [_beside(path, name) for name in fields["captioners"]]
    return make_card(path, fields, lines)


def _is_known(backend: str) -> bool:
    return backend in BACKENDS or split_file(backend) is not None or backend in registered(GROUP)


def _known_backends() -> str:
    return ", ".join([*BACKENDS, *registered(GROUP), "or a Python file"])


def _own_model(card: Card) -> ChatModel:
    """Return the model of a card whose backend is from outside."""
    backend = card.backend
    own = split_file(backend)
    module = load_file(own[0]) if own else load_registered(registered(GROUP)[backend])
    load: Callable[[Card], ChatModel] | None = getattr(module, "load", None)
    if not callable(load):
        raise ReelbenchError(
            f"{backend} has no function load(card), which a backend must have: it returns the "
            "model of a card."
        )
    return OwnModel(load(card), backend, digest_of_module(module) if own else "")


def _beside(path: Path, name: Any) -> Any:
    """Return a name as it is; the path of a card as seen from the card that names it."""
    return str(path.parent / name) if isinstance(name, str) and name.endswith(CARDS) else name
