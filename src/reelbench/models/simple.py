"""The base class of a model that a user writes: all of ``ChatModel`` but ``ask``."""

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

from reelbench.models.base import Request, Response
from reelbench.models.card import Card

if TYPE_CHECKING:
    from collections.abc import Mapping


class SimpleModel(ABC):
    """A model without connections or retries: implement ``ask``.

    Its replies are kept in the journal, under keys that contain its name and ``parameters``: put
    whatever decides its replies into ``parameters``.
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
