"""Ask a model through the journal: what was answered is not asked again, by anyone.

Equal requests at the same time are one call. A response is in the journal before it counts, and
what would be over the budget is not asked at all.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from reelbench.asking.spend import Ledger
from reelbench.journal import Journal
from reelbench.models.base import ChatModel, Request, Response
from reelbench.models.tokens import request_tokens

OVER_BUDGET = Response("over_budget", error="the budget is spent: run again with a larger one")


@dataclass
class Counts:
    """Where the answers came from."""

    asked: int = 0  # now
    known: int = 0  # were answered before
    repeated: int = 0  # were answered now, to the same request of another


class Stopped(Exception):  # noqa: N818 - it is no error
    """Nothing more is to be asked."""


class Asker:
    """One for a run: all its calls go through here."""

    def __init__(self, journal: Journal, ledger: Ledger | None = None) -> None:
        self.journal, self.ledger = journal, ledger or Ledger()
        self.counts = Counts()
        self.stopping = asyncio.Event()
        self._now: set[str] = set()
        self._flights: dict[str, asyncio.Future[Response]] = {}
        self._places: dict[str, asyncio.Semaphore] = {}

    async def ask(self, model: ChatModel, request: Request) -> Response:
        """Ask a request that is at hand."""
        return await self.ask_for(model, request.key, lambda: request)

    async def ask_for(
        self, model: ChatModel, key: str, make: Callable[[], Request | Response]
    ) -> Response:
        """Ask what ``make`` makes when its turn comes; a failure to make it is a response too."""
        if key in self._flights:
            response = await asyncio.shield(self._flights[key])
            self.counts.repeated += response.status == "ok"
            return response
        known = self.journal.answer(key)
        if known is not None:
            self.counts.repeated += key in self._now
            self.counts.known += key not in self._now
            return known
        flight = self._flights[key] = asyncio.get_running_loop().create_future()
        try:
            response = await self._in_turn(model, key, make)
        except BaseException as error:
            # Who waits for it is not what was stopped: it only gets no answer.
            flight.set_exception(Stopped() if isinstance(error, asyncio.CancelledError) else error)
            flight.exception()  # so that nobody need be there to hear it
            raise
        else:
            flight.set_result(response)
            return response
        finally:
            del self._flights[key]

    async def _in_turn(
        self, model: ChatModel, key: str, make: Callable[[], Request | Response]
    ) -> Response:
        name, connections = model.card.name, model.card.connections
        async with self._places.setdefault(name, asyncio.Semaphore(connections)):
            if self.stopping.is_set():
                raise Stopped
            return await self._called(model, key, make())

    async def _called(self, model: ChatModel, key: str, made: Request | Response) -> Response:
        """Call, and write down what came of it; what is not called for leaves nothing."""
        if isinstance(made, Response):
            return made
        card = model.card
        estimate = request_tokens(card, made) if self.ledger.bounded else None
        share = self.ledger.reserve(card, estimate or (0, 0))
        if share is None:
            return OVER_BUDGET
        response = Response("error", error="never asked")
        guess: tuple[int, int] | None = None
        try:
            response = await model.ask(made)
        finally:
            if response.status == "ok" and response.input_tokens is None:
                guess = estimate = estimate or request_tokens(card, made)
            self.ledger.settle(card, share, estimate or (0, 0), response)
        if response.status != "over_budget":  # as what it asks of others may be
            self.journal.record(key, card.name, response, guess)
            self._now.add(key)
            self.counts.asked += 1
        return response
