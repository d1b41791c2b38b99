"""From an item to a request: which question, in which order, with what shown, under which key."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from reelbench.base.files import digest_of
from reelbench.data.benchmark import Benchmark
from reelbench.data.items import Item
from reelbench.evaluate.condition import Condition, option_orders
from reelbench.evaluate.prompt import Prompt, PromptSet
from reelbench.evaluate.show import Show, frames_among, show_for
from reelbench.models.base import ChatModel, Message, Part, Request, TextPart
from reelbench.models.cascade import Cascade


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
    show: Show
    key: str

    @property
    def options(self) -> tuple[str, ...]:
        """The options in the order they are asked."""
        return tuple(self.item.options[place] for place in self.order)

    def request(self, shown: Sequence[Part]) -> Request:
        """Make the request, with what is shown in front of the question."""
        message = Message("user", (*shown, TextPart(self.words(frames_among(shown)))))
        return Request(self.key, (message,), self.item.kind, self.item.question, self.options)

    def words(self, frames: Sequence[int]) -> str:
        """Return the question in its words, where so many frames of each video are shown."""
        # Of a cascade only captioners see: who answers is told of no frames.
        return self.prompt.with_frames(() if isinstance(self.model, Cascade) else frames)


def plan(
    benchmark: Benchmark,
    models: Sequence[ChatModel],
    conditions: Mapping[Condition, PromptSet],
    digests: Mapping[str, str | None],
    seed: int,
) -> Iterator[Ask]:
    """Yield everything there is to ask, condition by condition and item by item."""
    for condition, prompts in conditions.items():
        rounds = range(condition.protocol.rounds)
        for item in benchmark.items:
            shows = _shows(benchmark, item, condition, models)
            for number, order in enumerate(option_orders(item, condition.protocol, seed)):
                prompt = prompts.render(item, order)
                text = prompt.unfilled
                for turn in rounds:
                    for model, show in shows:
                        order_key = [seed, number] if number else 0
                        if condition.protocol.orders == "circular":
                            order_key = 0  # its options' order is all in the prompt
                        content = _content(item, model, text, order_key, turn, seed)
                        key = digest_of(content | show.record(digests))
                        yield Ask(item, model, condition, number, order, turn, prompt, show, key)


def _shows(
    benchmark: Benchmark, item: Item, condition: Condition, models: Sequence[ChatModel]
) -> list[tuple[ChatModel, Show]]:
    """What each model is shown; those with the same senses share it."""
    known: dict[tuple[Any, ...], Show] = {}
    shows = []
    for model in models:
        card = model.card
        senses = (card.sees, card.hears, card.video, card.frames)
        if senses not in known:
            known[senses] = show_for(benchmark, item, condition, card)
        shows.append((model, known[senses]))
    return shows


def _content(
    item: Item, model: ChatModel, prompt: str, order: int | list[int], turn: int, seed: int
) -> dict[str, Any]:
    """What decides the reply beside what is shown: not the run's folder, not who asks."""
    content: dict[str, Any] = {
        "model": model.card.name,
        "parameters": dict(model.parameters),
        "prompt": prompt,
        "order": order,
        "round": turn,
    }
    if model.draws:
        content["draw"] = [seed, item.id]
    return content
