"""Ask a model through the journal: what was answered once is not asked again.

Equal requests at the same time are one call. A response is in the journal before it counts, and
what would be over the budget is not asked at all.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any

from reelbench.base.files import whole_text
from reelbench.base.limits import MOST_TOKENS
from reelbench.client.budget import Ledger
from reelbench.client.journal import Journal
from reelbench.client.media_input import NO_MEDIA, PromptMedia, RenderedMedia, frame_times
from reelbench.data.items import Kind
from reelbench.models.base import EMPTY_REPLY, ChatModel, Message, Request, Response, TextPart
from reelbench.models.keys import request_key
from reelbench.models.secrets import redacted
from reelbench.models.servers import servers_of
from reelbench.models.tokens import request_tokens

OVER_BUDGET = Response(
    "over_budget", error="the budget is spent: run again with a larger --budget", unasked=True
)
_RENDERED = 8  # requests whose media are in memory


@dataclass
class Counts:
    """How many answers were asked for now, or known."""

    asked: int = 0  # now
    known: int = 0  # from the journal
    repeated: int = 0  # the same request was answered a moment ago


class Stopped(Exception):  # noqa: N818 - it is no error
    """The client was stopped: it sends no more requests."""


class Client:
    """Asks models through a journal and within a budget; all calls of a session use one."""

    def __init__(self, journal: Journal, ledger: Ledger | None = None, seed: int = 0) -> None:
        self.journal, self.ledger = journal, ledger or Ledger()
        self.seed = seed  # of the run or make, from which those of requests derive
        self.counts = Counts()
        self.stopping = asyncio.Event()
        self.draining = False  # whether Ctrl-C is taken care of
        # Why a model is asked no more, by name: no budget left, or a server that never answers.
        self.refused: dict[str, Response] = {}
        self.placeholders = False  # whether media are only planned, for a forecast
        self._began = journal.last_number  # what is recorded behind it was answered now
        self._in_flight: dict[str, asyncio.Future[Response]] = {}
        self._connections: dict[int, asyncio.Semaphore] = {}
        self._models: dict[int, ChatModel] = {}
        self._first_calls: dict[str, asyncio.Lock] = {}
        self._rendering = asyncio.Semaphore(_RENDERED)

    def stop(self) -> None:
        """Send no more requests, and stop waiting for retries."""
        self.stopping.set()
        for model in self._models.values():
            model.stop_retrying()

    @asynccontextmanager
    async def rendered(self, media: PromptMedia) -> AsyncIterator[RenderedMedia]:
        """Decode the media of a prompt; only a few are in memory at the same time."""
        async with self._rendering:
            render = media.placeholders if self.placeholders else media.render
            yield await asyncio.to_thread(render)

    async def ask_prompt(
        self,
        model: ChatModel,
        prompt: str,
        media: PromptMedia | None = None,
        *,
        question: str = "",
        kind: Kind = "open",
        options: tuple[str, ...] = (),
        round: int = 0,
        draw: Sequence[Any] = (),
        repeated: bool = False,
    ) -> Response:
        """Return the response to a prompt with media, which are decoded only if it is asked now.

        ``question``, ``kind`` and ``options`` repeat the prompt's content for baselines, which read
        no prose; ``round``, ``draw`` and ``repeated`` are those of ``request_key``.
        """
        record = await asyncio.to_thread(media.record) if media else {}
        key = request_key(
            model,
            prompt,
            media=record,
            round=round,
            draw=draw,
            seed=self.seed,
            repeated=repeated,
        )
        async with AsyncExitStack() as stack:
            shown = NO_MEDIA
            if media and self.journal.answer(key) is None:
                shown = await stack.enter_async_context(self.rendered(media))
            message = Message("user", (*shown.parts, TextPart(prompt)))
            request = Request(key, (message,), kind, question or prompt, options)
            return await self.ask(model, request)

    async def ask(self, model: ChatModel, request: Request) -> Response:
        """Return the response to a request."""
        return await self.ask_for(model, request.key, lambda: request)

    async def ask_for(
        self, model: ChatModel, key: str, make: Callable[[], Request | Response]
    ) -> Response:
        """Return the response to the request that ``make`` returns when its turn comes.

        ``make`` may return a response instead, where the request cannot be made.
        """
        if key in self._in_flight:
            response = await asyncio.shield(self._in_flight[key])
            self.counts.repeated += response.replied
            return response
        known = self.journal.answer(key)
        if known is not None:
            repeated = self.journal.is_recorded_after(self._began, key)
            self.counts.repeated += repeated
            self.counts.known += not repeated
            return known
        flight = self._in_flight[key] = asyncio.get_running_loop().create_future()
        try:
            response = await self._wait_and_call(model, key, make)
        except BaseException as error:
            # Who waits for it is not what was stopped: it only gets no answer.
            flight.set_exception(Stopped() if isinstance(error, asyncio.CancelledError) else error)
            flight.exception()  # so that nobody need be there to hear it
            raise
        else:
            flight.set_result(response)
            return response
        finally:
            del self._in_flight[key]

    async def _wait_and_call(
        self, model: ChatModel, key: str, make: Callable[[], Request | Response]
    ) -> Response:
        self._models[id(model)] = model
        limit = asyncio.Semaphore(model.card.connections)
        async with self._connections.setdefault(id(model), limit):
            if self.stopping.is_set():
                raise Stopped
            made = make()
            if isinstance(made, Response):
                return made  # no call is made
            if not self.ledger.bounded or self.ledger.knows(model.card):
                return await self._call(model, key, made)
            # Until the cost of one reply is known, no other request may spend on an estimate.
            async with self._first_calls.setdefault(model.card.name, asyncio.Lock()):
                if not self.ledger.knows(model.card):
                    return await self._call(model, key, made)
            return await self._call(model, key, made)

    async def _call(self, model: ChatModel, key: str, request: Request) -> Response:
        """Call the model and record its response."""
        card = model.card
        await _server_started(model)  # which takes minutes that are not those of a reply
        estimate = request_tokens(card, request) if self.ledger.bounded else None
        share = self.ledger.reserve(card, estimate or (0, 0))
        if share is None:
            self.refused[card.name] = OVER_BUDGET
            return OVER_BUDGET
        response = Response("error", error="never asked")
        guess: tuple[int, int] | None = None
        began = time.monotonic()
        try:
            response = _tidy(await model.ask(request))
        finally:
            if response.replied and response.input_tokens is None:
                guess = estimate = estimate or request_tokens(card, request)
            seconds = round(time.monotonic() - began, 3)
            self.ledger.settle(card, share, estimate or (0, 0), response, seconds)
        if response.unasked and self.stopping.is_set():
            raise Stopped
        if not response.unasked:
            frames = frame_times(request.parts)
            shown = frames if any(frames) else ()
            self.journal.record(key, card.name, response, guess, seconds, shown)
            self.counts.asked += 1
        elif response.status == "error" and card.backend != "cascade":  # which may do without one
            self.refused[card.name] = response
        return response


async def _server_started(model: ChatModel) -> None:
    """Wait for the server that a card starts; where it cannot be asked, ``model.ask`` says so."""
    for server in servers_of([model]) if model.card.serve else ():
        await server.ready()


def _tidy(response: Response) -> Response:
    """Remove keys, half characters and impossible counts from a response before it is recorded.

    An empty reply becomes an error, whichever model gave it: it is asked for again.
    """
    text = response.text and redacted(whole_text(response.text))
    error = response.error and redacted(whole_text(response.error))
    taken, given = _count(response.input_tokens), _count(response.output_tokens)
    cached = None if taken is None else _count(response.cached_tokens, taken)
    tidy = replace(
        response,
        text=text,
        error=error,
        input_tokens=taken,
        output_tokens=given,
        cached_tokens=cached,
    )
    if tidy.status == "ok" and not (text or "").strip():
        return replace(tidy, status="error", text=None, error=EMPTY_REPLY)
    return tidy


def _count(tokens: int | None, most: int = MOST_TOKENS) -> int | None:
    """Return a server's count of tokens, if it is possible."""
    return tokens if tokens is not None and 0 <= tokens <= most else None
