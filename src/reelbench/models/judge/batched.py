"""A model whose waiting requests are answered together, as many as the card's ``batch``."""

import asyncio
from collections.abc import Mapping
from typing import Any

import msgspec

from reelbench.models.base import Request, Response
from reelbench.models.card import FREE, Card

_USUAL_BATCH = 32


class BatchedModel:
    """A model on this machine, which is loaded when it is first asked."""

    is_random = False

    def __init__(self, card: Card, schemas: bool) -> None:
        self._batch = card.batch or _USUAL_BATCH
        # Twice the batch wait, so that the next batch is there when one is done.
        card = msgspec.structs.replace(
            card,
            connections=min(1000, 2 * self._batch),
            price=card.price or FREE,
            schemas=schemas,
        )
        self.card = card
        self._waiting: list[tuple[Request, asyncio.Future[Response]]] = []
        self._work: asyncio.Task[None] | None = None
        self._engine: Any = None
        self._broken = ""
        self.peak_memory: int | None = None  # bytes on its device, once it has answered on one

    @property
    def parameters(self) -> Mapping[str, Any]:
        """What decides its replies beside the request; part of the request's key."""
        return {"model": self.card.model, **self.card.parameters}

    async def ask(self, request: Request) -> Response:
        """Answer a request with the next batch."""
        future: asyncio.Future[Response] = asyncio.get_running_loop().create_future()
        self._waiting.append((request, future))
        if self._work is None or self._work.done():
            self._work = asyncio.create_task(self._answer_all())
        return await future

    async def _answer_all(self) -> None:
        while self._waiting:
            await asyncio.sleep(0)  # whoever is about to ask joins
            batch = self._waiting[: self._batch]
            del self._waiting[: self._batch]
            responses = await asyncio.to_thread(self._answer, [request for request, _ in batch])
            for (_, future), response in zip(batch, responses, strict=True):
                if not future.done():
                    future.set_result(response)

    def _answer(self, requests: list[Request]) -> list[Response]:
        try:
            if self._broken:
                raise RuntimeError(self._broken)
            if self._engine is None:
                self._engine = self.make_engine()
            responses: list[Response] = self._engine.generate(requests)
            self.peak_memory = getattr(self._engine, "peak_memory", None)
            return responses
        except Exception as error:
            # Of whatever library: it fails these requests. One of them may be at fault.
            if len(requests) > 1 and self._engine is not None:
                return [response for each in requests for response in self._answer([each])]
            message = f"{type(error).__name__}: {error}"
            if self._engine is None:
                self._broken = self._broken or message  # it will not load the next time either
            return [Response("error", error=" ".join(message.split())[:500]) for _ in requests]

    def make_engine(self) -> Any:
        """Load the weights: an object whose ``generate(requests)`` returns responses."""
        raise NotImplementedError

    def stop_retrying(self) -> None:
        """Do nothing: it never waits."""

    async def close(self) -> None:
        """Release the weights."""
        if self._work is not None:
            await asyncio.gather(self._work, return_exceptions=True)
        self._engine = None
