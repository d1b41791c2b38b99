"""From an item to a request: which question, in which order, with which frames, under which key."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from reelbench.benchmark import Benchmark
from reelbench.evaluate.condition import Condition, option_order
from reelbench.evaluate.prompt import PromptSet
from reelbench.files import digest_of
from reelbench.items import Item, Media
from reelbench.media.frames import Wish, frames_of
from reelbench.models.base import ChatModel, Message, Part, Picture, Request, Text


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
        content["media"] = [digests[media.path] for media in item.media]
        content["frames"] = [asdict(wish_for(media, item, condition)) for media in item.media]
        content["timestamps"] = condition.timestamps
    return digest_of(content)


def wish_for(media: Media, item: Item, condition: Condition) -> Wish:
    """What a condition asks to see of one of an item's media."""
    return Wish(
        sampling=condition.sampling.text,
        start=media.start,
        end=media.end,
        evidence=item.evidence if condition.sampling.evidence else (),
        shared_by=len(item.media),
        size=condition.frame_size,
        encoding=condition.frame_encoding,
        accept_damage=condition.accept_damage,
    )


def frames_for(
    benchmark: Benchmark, item: Item, condition: Condition
) -> tuple[list[Part], list[str]]:
    """Return the frames of an item's media as the parts of a message, and warnings about them."""
    parts: list[Part] = []
    warnings: list[str] = []
    for number, media in enumerate(item.media, 1):
        if len(item.media) > 1:
            parts.append(Text(f"Video {number}:"))
        clip = frames_of(benchmark.media_file(media), wish_for(media, item, condition))
        warnings += [f"{media.path}: {warning}" for warning in clip.warnings]
        for picture in clip.pictures:
            if condition.timestamps:
                parts.append(Text(f"{picture.time:.1f} s"))
            parts.append(Picture(picture.data, clip.media_type, picture.time))
    return parts, warnings
