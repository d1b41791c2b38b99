"""The base of a model that a user writes: all of ``ChatModel`` but the asking."""

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

from reelbench.models.base import Request, Response
from reelbench.models.card import Card

if TYPE_CHECKING:
    from collections.abc import Mapping


class SimpleModel(ABC):
    """A model that holds nothing open and never tries again; write ``ask``.

    What it is asked and what it replied is kept in the journal under its name and ``parameters``:
    put there whatever decides its replies.
    """

    is_random = False

    def __init__(self, card: Card) -> None:
        self.card = card
        self.parameters: Mapping[str, Any] = {"model": card.model or card.name, **card.parameters}

    @abstractmethod
    async def ask(self, request: Request) -> Response:
        """Answer a request; failures are responses, not exceptions."""

    def stop_retrying(self) -> None:  # noqa: B027 - nothing to do is right for most
        """Do nothing: it never waits."""

    async def close(self) -> None:  # noqa: B027
        """Do nothing."""
