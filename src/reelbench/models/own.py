"""Models of backends from outside: what they lack is an error when they are loaded."""

import inspect
from collections.abc import Mapping
from typing import Any

from reelbench.base.errors import ReelbenchError
from reelbench.models.base import ChatModel, Request, Response
from reelbench.models.card import Card

_NEEDED = ("card", "is_random", "parameters", "ask", "stop_retrying", "close")


class OwnModel:
    """A model that a user's ``load(card)`` returned, whose replies are checked.

    ``source`` is the hash of its backend's file, and part of each request's key: an edited backend
    is asked again.
    """

    def __init__(self, model: ChatModel, backend: str, source: str = "") -> None:
        lacking = [name for name in _NEEDED if not hasattr(model, name)]
        if lacking:
            raise ReelbenchError(
                f"load(card) of {backend} returned {model!r:.60}, which has no "
                f"{', '.join(lacking)}: return a model, whose class may derive from SimpleModel."
            )
        self._model, self._backend, self._source = model, backend, source

    @property
    def card(self) -> Card:
        """The card of the model."""
        return self._model.card

    @property
    def is_random(self) -> bool:
        """Whether its replies are drawn at random."""
        return self._model.is_random

    @property
    def parameters(self) -> Mapping[str, Any]:
        """What decides its replies: its own parameters, and the hash of its backend's file."""
        own = {"backend_sha256": self._source} if self._source else {}
        return {**self._model.parameters, **own}

    async def ask(self, request: Request) -> Response:
        """Answer a request."""
        response: object = self._model.ask(request)
        if inspect.isawaitable(response):
            response = await response
            if isinstance(response, Response):
                return response
        raise ReelbenchError(
            f"The ask of {self._backend} must be `async def` and return a Response; it returned "
            f"{response!r:.60}."
        )

    def stop_retrying(self) -> None:
        """Stop waiting for retries."""
        self._model.stop_retrying()

    async def close(self) -> None:
        """Release connections and other resources."""
        await self._model.close()
