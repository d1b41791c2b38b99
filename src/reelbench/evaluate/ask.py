"""From an item to a request: its prompt, its option order, its media and its key."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from reelbench.client.media_input import MediaInput, RenderedMedia
from reelbench.data.benchmark import Benchmark
from reelbench.data.items import Item
from reelbench.evaluate.condition import Condition, option_orders
from reelbench.evaluate.item_media import item_media
from reelbench.evaluate.prompt import Prompt, PromptSet
from reelbench.models.base import ChatModel, Message, Request, TextPart
from reelbench.models.cascade import Cascade
from reelbench.models.keys import request_key


@dataclass(frozen=True, slots=True)
class Ask:
    """One question to one model, not yet asked."""

    item: Item
    model: ChatModel
    condition: Condition
    number: int  # of the option order
    order: tuple[int, ...]
    round: int
    prompt: Prompt
    media: MediaInput
    key: str

    @property
    def options(self) -> tuple[str, ...]:
        """The options in the order they are asked."""
        return tuple(self.item.options[place] for place in self.order)

    def request(self, shown: RenderedMedia) -> Request:
        """Return the request, with the media in front of the question."""
        message = Message("user", (*shown.parts, TextPart(self.text(shown.frame_counts))))
        return Request(self.key, (message,), self.item.kind, self.item.question, self.options)

    def text(self, frames: Sequence[int]) -> str:
        """Return the prompt for so many frames of each video."""
        # Of a cascade only the captioners get frames: the prompt of who answers mentions none.
        return self.prompt.with_frames(() if isinstance(self.model, Cascade) else frames)


def plan(
    benchmark: Benchmark,
    models: Sequence[ChatModel],
    conditions: Mapping[Condition, PromptSet],
    digests: Mapping[str, str | None],
    seed: int,
) -> Iterator[Ask]:
    """Yield everything there is to ask, condition by condition and item by item."""
    files = {benchmark.root / name: digest for name, digest in digests.items()}
    for condition, prompts in conditions.items():
        rounds = range(condition.protocol.rounds)
        for item in benchmark.items:
            shown = _shown(benchmark, item, condition, models)
            for number, order in enumerate(option_orders(item, condition.protocol, seed)):
                prompt = prompts.render(item, order)
                seeded = [seed, number] if number else 0
                if condition.protocol.orders == "circular":
                    seeded = 0  # its options' order is all in the prompt
                for turn in rounds:
                    for model, media in shown:
                        key = request_key(
                            model,
                            prompt.unfilled,
                            media=media.record(files.__getitem__),
                            order=seeded,
                            round=turn,
                            draw=(seed, item.id),
                        )
                        yield Ask(item, model, condition, number, order, turn, prompt, media, key)


def _shown(
    benchmark: Benchmark, item: Item, condition: Condition, models: Sequence[ChatModel]
) -> list[tuple[ChatModel, MediaInput]]:
    """Return the media for each model; models that take the same input share them."""
    everything = item_media(benchmark.root, item, condition.protocol)
    known: dict[tuple[Any, ...], MediaInput] = {}
    shown = []
    for model in models:
        card = model.card
        senses = (card.sees, card.hears, card.video, card.frames)
        if senses not in known:
            known[senses] = everything.for_card(card, item.id)
        shown.append((model, known[senses]))
    return shown
