"""The servers of several models: each command is run once, and all of them end together."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from reelbench.models.base import ChatModel
from reelbench.models.cascade import members_of
from reelbench.models.secrets import redacted

if TYPE_CHECKING:  # what speaks HTTP takes time to import, and most models have no server
    from reelbench.models.remote import RemoteModel
    from reelbench.models.server import ModelServer


def servers_of(models: Iterable[ChatModel]) -> list["ModelServer"]:
    """Return the servers that the cards of models start, of the members of cascades included."""
    found = (model.server for model in _served(models) if model.server is not None)
    return list(dict.fromkeys(found))


def commands_of(models: Iterable[ChatModel]) -> dict[str, list[str]]:
    """Return the commands that start servers, by the models' names, for a record: without keys."""
    cards = {model.card.name: model.card for model in members_of(models) if model.card.serve}
    return {name: [redacted(word) for word in card.serve] for name, card in cards.items()}


class Servers:
    """The servers of the models of a session."""

    def __init__(self, models: Iterable[ChatModel], folder: Path) -> None:
        """Let models whose cards name the same command share a server; logs are in the folder."""
        shared: dict[object, ModelServer] = {}
        for model in _served(models):
            if own := model.server:
                server = shared.setdefault(own.identity, own)
                server.permitted |= own.permitted
                server.startup = max(server.startup, own.startup)
                server.folder = folder
                model.share(server)
        self._all = list(shared.values())

    def end_all_but(self, models: Iterable[ChatModel]) -> None:
        """End the servers that these models do not use: a GPU rarely has room for two."""
        needed = servers_of(models)
        for server in self._all:
            if server not in needed:
                server.end()

    def close(self) -> None:
        """End all of them."""
        self.end_all_but(())


def _served(models: Iterable[ChatModel]) -> list["RemoteModel"]:
    return [model for model in members_of(models) if hasattr(model, "server")]  # type: ignore[misc]
