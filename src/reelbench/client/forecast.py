"""Count the requests of an operation without sending them."""

from collections.abc import Callable
from dataclasses import dataclass

from reelbench.client.client import Client
from reelbench.client.journal import Journal
from reelbench.models.base import ChatModel, Request, Response
from reelbench.models.card import Card
from reelbench.models.tokens import request_tokens


@dataclass
class CallForecast:
    """What one step would ask one model."""

    step: str
    card: Card
    requests: int = 0
    input_tokens: int = 0
    output_tokens: int = 0

    @property
    def usd(self) -> float | None:
        """What it would cost; None where the card has no price."""
        price = self.card.price
        return price.of(self.input_tokens, self.output_tokens) if price else None


class ForecastClient(Client):
    """Counts each request instead of sending it, and returns a text of the usual length.

    It counts into ``forecasts``, under the name ``step``.
    """

    def __init__(
        self, journal: Journal, forecasts: dict[tuple[str, str], CallForecast], step: str
    ) -> None:
        super().__init__(journal)
        self.placeholders = True
        self._forecasts, self._step = forecasts, step
        self._imagined: dict[str, Response] = {}

    async def _wait_and_call(
        self, model: ChatModel, key: str, make: Callable[[], Request | Response]
    ) -> Response:
        if key not in self._imagined:
            made = make()
            if isinstance(made, Response):
                return made
            card = model.card
            row = self._forecasts.setdefault(
                (self._step, card.name), CallForecast(self._step, card)
            )
            taken, given = request_tokens(card, made)
            row.requests += 1
            row.input_tokens += taken
            row.output_tokens += given
            self._imagined[key] = Response("ok", "word " * given)
        return self._imagined[key]
