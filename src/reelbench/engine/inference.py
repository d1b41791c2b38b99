"""Local models on a Ray cluster: an actor with the weights for each of its GPUs."""

import asyncio
import os
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from reelbench.base.errors import ReelbenchError
from reelbench.base.progress import counted
from reelbench.base.workers import thread_settings
from reelbench.engine.cluster import RayEngine
from reelbench.models.base import Request, Response
from reelbench.models.card import Card
from reelbench.models.local.engines import EngineLostError
from reelbench.models.local.workers import end_if_broken, loading_failure, silence_bars
from reelbench.weights import import_extra

if TYPE_CHECKING:
    from reelbench.models.local.pipeline import InferencePipeline

_MOST_CPUS = 4  # reserved beside a GPU: what prepares uses no more threads
Answer = tuple[list[Response], int, int | None, list[str]]


class RayEngines:
    """Engines on the cluster at an address, or on one that is started here and ended in the end."""

    def __init__(self, address: str | None = None) -> None:
        self._cluster = RayEngine(address)
        self._ray = import_extra("ray", "ray")

    def count(self, card: Card) -> int:
        """Return how many engines a model has at most: one for each GPU, or for each machine."""
        machines = self._machines()
        gpus = int(sum(machine.get("GPU", 0) for machine in machines))
        if "device_map" in card.parameters:
            gpus = sum(machine.get("GPU", 0) > 0 for machine in machines)
        return card.workers or gpus or max(1, len(machines))

    def place(self, card: Card) -> str:
        """Return where they are, in words."""
        machines = counted(len(self._machines()), "machine")
        return f"on a Ray cluster of {machines}, in {counted(self.count(card), 'actor')}"

    def start(self, card: Card, _number: int, say: Callable[[str], None]) -> "ActorEngine":
        """Return one that is to be loaded, on a machine that has room for it."""
        machines = self._machines()
        most = max(machines, key=lambda machine: machine.get("GPU", 0), default={})
        gpus = most.get("GPU", 0)
        cpus = most.get("CPU", 1.0)
        if gpus:
            share = cpus / gpus
            gpus = gpus if "device_map" in card.parameters else 1
        else:
            share = cpus * len(machines) // self.count(card)
        options = {
            "num_gpus": gpus,
            "num_cpus": max(1, min(share, _MOST_CPUS)),
            "scheduling_strategy": "SPREAD",
            "max_restarts": 0,  # the pool starts another, and asks again what this one had
        }
        return ActorEngine(self._ray, card, options, say)

    def close(self) -> None:
        """Leave the cluster."""
        self._cluster.close()

    def _machines(self) -> list[dict[str, float]]:
        return [node["Resources"] for node in self._ray.nodes() if node["Alive"]]


class ActorEngine:
    """An actor with a pipeline, as one engine of a model."""

    def __init__(
        self, ray: Any, card: Card, options: dict[str, Any], say: Callable[[str], None]
    ) -> None:
        self.capacity = 1
        self.peak_memory: int | None = None
        self._ray, self._card, self._say = ray, card, say
        self._signs, self._is_asked = 0, False
        actor = ray.remote(PipelineActor).options(**options)
        self._actor = actor.remote(int(options["num_cpus"]))

    def load(self) -> None:
        """Load the weights, once there is a machine for them."""
        try:
            loaded = self._ray.get(self._actor.load.remote(self._card))
        except self._ray.exceptions.RayError as error:
            raise EngineLostError(_ending(error)) from None
        failure, self.capacity, messages = loaded
        if failure:
            self.abandon()
            raise ReelbenchError(failure)
        self._repeat(messages)

    def submit(self, requests: Sequence[Request]) -> "Future[list[Response]]":
        """Return the responses to come; they fail with ``EngineLostError`` if it is lost."""
        future: Future[list[Response]] = Future()

        def settle(done: "Future[Answer]") -> None:
            error = done.exception()
            if error is not None:
                future.set_exception(EngineLostError(_ending(error)))
                return
            responses, self.capacity, self.peak_memory, messages = done.result()
            self._repeat(messages)
            future.set_result(responses)

        self._actor.answer.remote(list(requests)).future().add_done_callback(settle)
        return future

    @property
    def signs(self) -> int:
        """The newest that is known of a number that changes as long as work is done.

        Whoever looks makes it ask for a newer one.
        """

        def note(done: "Future[int]") -> None:
            self._is_asked = False
            if not done.exception():
                self._signs = done.result()

        if not self._is_asked:
            self._is_asked = True
            self._actor.signs.remote().future().add_done_callback(note)
        return self._signs

    def stop(self) -> None:
        """Answer what is being generated; what waits is not asked."""
        self._actor.stop.remote()

    def abandon(self) -> None:
        """End at once, whatever is under way."""
        with suppress(Exception):  # it may be gone already
            self._ray.kill(self._actor)

    def _repeat(self, messages: Sequence[str]) -> None:
        for message in messages:
            self._say(message)


class PipelineActor:
    """What runs on a machine of the cluster: a pipeline, which is asked many things at a time."""

    def __init__(self, threads: int) -> None:
        os.environ.update(thread_settings(threads))  # before PyTorch is loaded
        self._messages: list[str] = []
        self._pipeline: InferencePipeline | None = None

    async def load(self, card: Card) -> tuple[str, int, list[str]]:
        """Load the weights; return why that failed, and how many requests keep it busy."""
        silence_bars()
        try:
            from reelbench.models.local.pipeline import InferencePipeline

            self._pipeline = await asyncio.to_thread(InferencePipeline, card, self._messages.append)
        except Exception as error:  # of whatever library
            return loading_failure(error), 0, []
        return "", self._pipeline.capacity, self._new_messages()

    async def answer(self, requests: list[Request]) -> Answer:
        """Return the responses, and what has changed meanwhile."""
        assert self._pipeline is not None, "it is loaded"
        future = self._pipeline.submit(requests)
        future.add_done_callback(end_if_broken)
        responses = await asyncio.wrap_future(future)
        pipeline = self._pipeline
        return responses, pipeline.capacity, pipeline.peak_memory, self._new_messages()

    async def signs(self) -> int:
        """Return a number that grows as long as work is done."""
        return self._pipeline.signs if self._pipeline is not None else 0

    async def stop(self) -> None:
        """Answer what is being generated; what waits is not asked."""
        if self._pipeline is not None:
            self._pipeline.stop()

    def _new_messages(self) -> list[str]:
        messages, self._messages[:] = [*self._messages], []
        return messages


def _ending(error: BaseException) -> str:
    """Return how an actor ended, as a predicate."""
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return f"was lost by Ray ({lines[0].rstrip('.')})"
