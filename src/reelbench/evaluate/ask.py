"""From an item to a request: which question, in which order, with which frames, under which key."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

from PIL import Image

from reelbench.benchmark import Benchmark
from reelbench.evaluate.condition import Condition, option_order
from reelbench.evaluate.prompt import PromptSet
from reelbench.files import digest_of
from reelbench.items import Item, Media
from reelbench.media.decode import frames_at
from reelbench.media.errors import MediaError
from reelbench.media.probe import probe
from reelbench.models.base import ChatModel, Message, Part, Picture, Request, Text

_JPEG_QUALITY = 90


@dataclass(frozen=True, slots=True)
class Ask:
    """One question to one model, not yet asked."""

    item: Item
    model: ChatModel
    condition: Condition
    number: int  # of the option order
    order: tuple[int, ...]
    prompt: str
    key: str

    def request(self, frames: Sequence[Part]) -> Request:
        """Make the request, with the frames in front of the question where the model sees."""
        parts = (*(frames if self.model.sees else ()), Text(self.prompt))
        options = tuple(self.item.options[place] for place in self.order)
        message = Message("user", parts)
        return Request(self.key, (message,), self.item.kind, self.item.question, options)


def plan(
    benchmark: Benchmark,
    models: Sequence[ChatModel],
    condition: Condition,
    prompts: PromptSet,
    digests: Mapping[str, str | None],
    seed: int,
) -> Iterator[Ask]:
    """Yield everything there is to ask, item by item."""
    for item in benchmark.items:
        for number in range(condition.orders):
            order = option_order(item, number, seed)
            prompt = prompts.render(item, order)
            for model in models:
                key = _key(item, model, condition, number, prompt, digests, seed)
                yield Ask(item, model, condition, number, order, prompt, key)


def _key(
    item: Item,
    model: ChatModel,
    condition: Condition,
    number: int,
    prompt: str,
    digests: Mapping[str, str | None],
    seed: int,
) -> str:
    """Hash what decides the reply, and nothing else: not the run's folder, not who asks."""
    content: dict[str, Any] = {
        "model": model.name,
        "parameters": dict(model.parameters),
        "prompt": prompt,
        "order": [seed, number] if number else 0,
        "round": 0,
    }
    if model.draws:
        content["draw"] = [seed, item.id]
    if model.sees:
        content["media"] = [[digests[m.path], m.start, m.end] for m in item.media]
        content["frames"] = [condition.sampling.text, condition.timestamps, _JPEG_QUALITY]
    return digest_of(content)


def frames_of(benchmark: Benchmark, media: Sequence[Media], condition: Condition) -> list[Part]:
    """Decode the frames of an item's media as the parts of a message."""
    parts: list[Part] = []
    for number, medium in enumerate(media, 1):
        if len(media) > 1:
            parts.append(Text(f"Video {number}:"))
        for picture in _pictures(benchmark.media_file(medium), medium, condition):
            if condition.timestamps:
                parts.append(Text(f"{picture.time:.1f} s"))
            parts.append(picture)
    return parts


def _pictures(path: Path, media: Media, condition: Condition) -> Iterator[Picture]:
    duration = probe(path).duration
    start, end = media.start or 0.0, duration if media.end is None else min(media.end, duration)
    if start >= end:
        raise MediaError(path, f"ends at {duration:.2f} s, before the item's start at {start} s")
    for frame in frames_at(path, condition.sampling.times(start, end)):
        data = BytesIO()
        Image.fromarray(frame.image).save(data, "JPEG", quality=_JPEG_QUALITY)
        yield Picture(data.getvalue(), "image/jpeg", frame.time)
