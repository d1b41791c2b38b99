"""What a local model runs on: one engine, or one for each GPU, in processes of their own."""

import os
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from reelbench.base.progress import counted
from reelbench.base.workers import cores
from reelbench.models.base import Request, Response
from reelbench.models.card import Card

if TYPE_CHECKING:
    from concurrent.futures import Future

    from reelbench.models.local.pipeline import InferencePipeline

VISIBLE = "CUDA_VISIBLE_DEVICES"


class EngineLostError(Exception):
    """An engine that has ended by itself: the message says how, as a predicate."""


class InferenceEngine(Protocol):
    """A loaded model that answers groups of requests; its methods may be called in any thread."""

    @property
    def capacity(self) -> int:
        """How many requests keep it busy: it is given no more at a time."""

    @property
    def peak_memory(self) -> int | None:
        """The bytes that it has held on its device at most; None where that is not measured."""

    def load(self) -> None:
        """Load the weights, which takes a while; raise ``EngineLostError`` where it ends."""

    def submit(self, requests: Sequence[Request]) -> "Future[list[Response]]":
        """Return the responses to come; they fail with ``EngineLostError`` if it is lost."""

    @property
    def signs(self) -> int:
        """A number that changes as long as work is done: a layer computed, something prepared."""

    def stop(self) -> None:
        """Answer what is being generated; what waits is not asked."""

    def abandon(self) -> None:
        """End at once, whatever is under way; raise ``EngineLostError`` if it does not end."""


class EngineSource(Protocol):
    """Where the engines of a model run."""

    def count(self, card: Card) -> int:
        """Return how many engines a model has at most."""

    def place(self, card: Card) -> str:
        """Return where they are, in words, such as "on 2 GPUs"."""

    def start(self, card: Card, number: int, say: Callable[[str], None], /) -> InferenceEngine:
        """Return one that is to be loaded."""


class LocalEngines:
    """Engines on this machine: a process for each GPU, or without any GPU in this process."""

    def count(self, card: Card) -> int:
        """Return how many engines a model has at most."""
        return len(environments(card, gpu_count(card), os.environ))

    def place(self, card: Card) -> str:
        """Return where they are, in words."""
        count, gpus = self.count(card), gpu_count(card)
        if not gpus:
            return "on the CPU" + (f", in {counted(count, 'process', 'processes')}" * (count > 1))
        return f"on {counted(gpus, 'GPU')}, in {counted(count, 'process', 'processes')}"

    def start(self, card: Card, number: int, say: Callable[[str], None]) -> InferenceEngine:
        """Return one that is to be loaded."""
        places = environments(card, gpu_count(card), os.environ)
        environment = places[number]
        if environment is None:
            return PipelineHere(card, say)
        from reelbench.models.local.workers import PipelineProcess

        return PipelineProcess(card, max(1, cores() // len(places)), environment, say)


class PipelineHere:
    """A pipeline in this process."""

    def __init__(self, card: Card, say: Callable[[str], None]) -> None:
        self._card, self._say = card, say
        self._pipeline: InferencePipeline | None = None

    @property
    def capacity(self) -> int:
        """How many requests keep it busy."""
        return self._pipeline.capacity if self._pipeline else 1

    @property
    def peak_memory(self) -> int | None:
        """The bytes that it has held on its device at most; None where that is not measured."""
        return self._pipeline.peak_memory if self._pipeline else None

    def load(self) -> None:
        """Load the weights."""
        from reelbench.models.local.pipeline import InferencePipeline
        from reelbench.models.local.workers import silence_bars

        silence_bars()
        self._pipeline = InferencePipeline(self._card, self._say)

    def submit(self, requests: Sequence[Request]) -> "Future[list[Response]]":
        """Return the responses to come."""
        assert self._pipeline is not None, "it is loaded"
        return self._pipeline.submit(requests)

    @property
    def signs(self) -> int:
        """A number that always changes: who hangs in this process cannot be ended without it."""
        return time.monotonic_ns()

    def stop(self) -> None:
        """Answer what is being generated; what waits is not asked."""
        if self._pipeline is not None:
            self._pipeline.stop()

    def abandon(self) -> None:
        """End after the batch that is under way, and do not wait for that."""
        if self._pipeline is not None:
            self._pipeline.abandon()
            self._pipeline = None


def environments(card: Card, gpus: int, here: Mapping[str, str]) -> list[Mapping[str, str] | None]:
    """Return what each process of a model has in its environment; None is this process itself."""
    if not gpus and not card.workers:
        return [None]
    if not gpus or str(card.parameters.get("device", "cuda")) != "cuda":  # such as cuda:1
        return [{} for _ in range(card.workers or 1)]
    names = visible_gpus(gpus, here)
    if "device_map" not in card.parameters:
        return [{VISIBLE: names[number % gpus]} for number in range(card.workers or gpus)]
    count = card.workers or 1
    size = max(1, gpus // count)
    starts = [number % (gpus // size) * size for number in range(count)]
    return [{VISIBLE: ",".join(names[start : start + size])} for start in starts]


def gpu_count(card: Card) -> int:
    """Return how many GPUs of this machine a model may use."""
    if str(card.parameters.get("device", "cuda")).partition(":")[0] != "cuda":
        return 0
    import torch

    return int(torch.cuda.device_count())


def visible_gpus(count: int, environment: Mapping[str, str]) -> list[str]:
    """Return the names by which a process can be given one of the GPUs that are visible here."""
    names = [name.strip() for name in environment.get(VISIBLE, "").split(",") if name.strip()]
    return names[:count] if len(names) >= count else [str(number) for number in range(count)]
