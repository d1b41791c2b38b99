"""Ways to ask a local model all questions of a benchmark, each timed without the loading."""

import contextlib
import json
import resource
import statistics
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

from inference.busy import sampled
from inference.shape import NEW_TOKENS
from reelbench.data.benchmark import Benchmark
from reelbench.evaluate.item_media import item_media
from reelbench.evaluate.run import run_benchmark
from reelbench.models.base import Message, Request, TextPart
from reelbench.models.card import Card
from reelbench.models.local.engines import InferenceEngine, LocalEngines
from reelbench.models.local.inputs import decoded, processed, prompt_text
from reelbench.models.local.model import LocalModel
from reelbench.models.local.weights import LoadedModel

SETTINGS = {"max_new_tokens": NEW_TOKENS, "do_sample": False}


@dataclass
class Measured:
    """One way: seconds for all questions, and how busy the GPU was meanwhile."""

    name: str
    requests: int = 0
    seconds: float = 0.0
    trace: list[tuple[float, float]] = field(
        default_factory=list
    )  # seconds from its start, percent
    replies: list[str] = field(default_factory=list)
    peak: float = 0.0  # GiB on the device

    @property
    def busy(self) -> float:
        """How busy the GPU was, in percent, but for the first and last second."""
        inner = [p for at, p in self.trace if 1 <= at <= self.seconds - 1]
        return statistics.mean(inner) if inner else float("nan")


@contextlib.contextmanager
def measuring(found: Measured) -> Iterator[None]:
    """Time a block, with all that the GPU has to do for it."""
    with sampled() as samples:
        began = time.monotonic()
        yield
        if torch.cuda.is_available():
            torch.cuda.synchronize()
        found.seconds = time.monotonic() - began
    found.trace = [(at - began, percent) for at, percent in samples]


def card_of(folder: Path, device: str, **parameters: Any) -> Card:
    """Return the card of the model."""
    own = {**SETTINGS, "device": device, **parameters}
    return Card(name="m", backend="hf", model=str(folder), parameters=own)


def plain_loop(loaded: LoadedModel, benchmark: Benchmark) -> Measured:
    """Decode, process, generate, one question after the other, as common harnesses do."""
    found = Measured("a plain loop, batch 1", len(benchmark.items))
    with measuring(found), torch.inference_mode():
        for item in benchmark.items:
            inputs = _inputs(loaded, [_request(benchmark, item)])
            found.replies += _replies(loaded, loaded.model.generate(**inputs, **SETTINGS), inputs)
    return found


def bare_generate(loaded: LoadedModel, benchmark: Benchmark, batch: int) -> Measured:
    """Only ``generate``, on inputs that are ready."""
    found = Measured(f"bare generate, batch {batch}", len(benchmark.items))
    requests = [_request(benchmark, item) for item in benchmark.items]
    parts = [requests[at : at + batch] for at in range(0, len(requests), batch)]
    ready = [_inputs(loaded, part, "cpu") for part in parts]
    with torch.inference_mode():
        loaded.model.generate(**_moved(loaded, ready[0]), **SETTINGS)  # warms up
        with measuring(found):
            for each in ready:
                inputs = _moved(loaded, each)
                rows = loaded.model.generate(**inputs, **SETTINGS)
                found.replies += _replies(loaded, rows, inputs)
    return found


def ours(folder: Path, device: str, benchmark: Benchmark, out: Path, **parameters: Any) -> Measured:
    """A whole run with us, from decoding to predictions, but for the loading of the weights."""
    own = parameters.pop("batch", 0)
    path = out.with_suffix(".yaml")
    card = card_of(folder, device, **parameters)
    fields = {"name": "m", "backend": f"{Path(__file__).with_name('timed.py')}", "batch": own}
    path.write_text(json.dumps({**fields, "model": card.model, "parameters": card.parameters}))
    name = "ours, frames anew for each" if parameters.get("share_prefix") is False else "ours"
    found = Measured(f"{name}{f', batch {own}' if own else ''}", len(benchmark.items))
    with sampled() as samples:
        state = run_benchmark(benchmark, [str(path)], out)
        ended = time.monotonic()
    assert state.done == len(benchmark.items), state.failures[:1]
    began = LoadedAt.latest
    found.seconds = ended - began
    found.trace = [(at - began, percent) for at, percent in samples if at >= began]
    rows = [json.loads(line) for line in (out / "predictions.jsonl").read_text().splitlines()]
    found.replies = [row["response"] for row in rows]
    return found


class LoadedAt:
    """When a model was loaded last."""

    latest = 0.0


class TimedEngines(LocalEngines):
    """Engines on this machine that note when they are loaded."""

    def start(self, card: Card, number: int, say: Callable[[str], None]) -> InferenceEngine:
        """Return one that is to be loaded."""
        engine = super().start(card, number, say)
        load = engine.load

        def timed() -> None:
            load()
            LoadedAt.latest = time.monotonic()

        engine.load = timed  # type: ignore[method-assign]
        return engine


class TimedModel(LocalModel):
    """A local model that notes when it is loaded."""

    def __init__(self, card: Card) -> None:
        super().__init__(card)
        self.source = TimedEngines()


def memory_over(folder: Path, benchmark: Benchmark, out: Path) -> Iterator[tuple[int, float]]:
    """Yield how much memory this process holds after each tenth of the questions."""
    seen: list[tuple[int, float]] = []
    ended = threading.Event()

    def watch() -> None:
        while not ended.wait(0.05):
            with contextlib.suppress(OSError, ValueError, KeyError):  # it is being written
                done = json.loads((out / "status.json").read_text())["done"]
                pages = int(Path("/proc/self/statm").read_text().split()[1])
                seen.append((done, pages * resource.getpagesize() / 2**20))

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        ours(folder, "cpu", benchmark, out)
    finally:
        ended.set()
        watcher.join()
    total = len(benchmark.items)
    for tenth in range(1, 11):
        reached = [each for each in seen if each[0] >= total * tenth // 10]
        if reached:
            yield reached[0]


def _request(benchmark: Benchmark, item: Any) -> Request:
    media = item_media(benchmark.root, item, benchmark.manifest.protocol)
    shown = media.for_card(Card(name="m", backend="hf"), item.id).render()
    options = "\n".join(
        f"{letter}. {text}" for letter, text in zip("ABCD", item.options, strict=True)
    )
    text = TextPart(f"{item.question}\n{options}")
    return Request(item.id, (Message("user", (*shown.parts, text)),), item.kind, item.question)


def _inputs(loaded: LoadedModel, requests: Sequence[Request], device: str = "") -> dict[str, Any]:
    texts = [prompt_text(loaded, request) for request in requests]
    made = dict(processed(loaded, texts, [decoded(loaded, each) for each in requests]))
    return made if device else _moved(loaded, made)


def _moved(loaded: LoadedModel, inputs: dict[str, Any]) -> dict[str, Any]:
    model = loaded.model
    return {
        name: value.to(model.device, model.dtype if value.is_floating_point() else None)
        for name, value in inputs.items()
    }


def _replies(loaded: LoadedModel, rows: Any, inputs: dict[str, Any]) -> list[str]:
    new = rows[:, inputs["input_ids"].shape[1] :].tolist()
    return [loaded.tokenizer.decode(row, skip_special_tokens=True) for row in new]
