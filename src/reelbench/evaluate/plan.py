"""The plan of a run: everything there is to ask, made anew whenever it is walked.

A plan holds the items, the models and the conditions, and no question: its size does not depend on
how many models are asked, in how many orders and rounds. All walks yield the same questions.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from reelbench.base.files import json_fields
from reelbench.client.media_input import MediaInput
from reelbench.data.benchmark import Benchmark
from reelbench.data.items import Item
from reelbench.evaluate.ask import Ask
from reelbench.evaluate.condition import Condition, option_orders, order_count
from reelbench.evaluate.item_media import item_media
from reelbench.evaluate.prompt import PromptSet
from reelbench.models.base import ChatModel
from reelbench.models.card import Card
from reelbench.models.keys import ModelFields, PromptKeys


@dataclass(frozen=True)
class RunPlan:
    """All questions of a run; ``digests`` are the hashes of the media by their path."""

    benchmark: Benchmark
    models: Sequence[ChatModel]
    conditions: Mapping[Condition, PromptSet]
    digests: Mapping[str, str | None]
    seed: int

    def __len__(self) -> int:
        """Return the number of questions, without making them."""
        of_a_model = sum(
            condition.protocol.rounds * order_count(item, condition.protocol)
            for condition in self.conditions
            for item in self.benchmark.items
        )
        return of_a_model * len(self.models)

    def __iter__(self) -> Iterator[Ask]:
        """Yield the questions, condition by condition and item by item."""
        for condition in self.conditions:
            for item in self.benchmark.items:
                yield from self.asks(condition, item, self._shown(condition, item))

    def by_clip(self) -> Iterator["ClipQuestions"]:
        """Yield the questions that share their media together: clip by clip of each video.

        Their order is that of the plan.
        """
        root = self.benchmark.root
        videos: dict[tuple[str, ...], list[Item]] = {}
        names: dict[str, str] = {}  # one text for all items of a video
        for item in self.benchmark.items:
            paths = [media.path for media in item.media]
            files = tuple(names.setdefault(path, str(root / path)) for path in paths)
            videos.setdefault(files, []).append(item)
        for files in sorted(videos):
            clips: dict[tuple[Any, ...], ClipQuestions] = {}
            for condition in self.conditions:
                for item in videos[files]:
                    self._add_to(clips, condition, item)
            yield from (clips[order] for order in sorted(clips))

    def of(self, models: Sequence[ChatModel]) -> "RunPlan":
        """Return the plan of some of the models, with the same keys."""
        part, chosen = replace(self, models=models), {id(model) for model in models}
        # As they were before anything was asked, whatever a model that is loaded adds to its card.
        part.__dict__["_asked"] = [each for each in self._asked if id(each[0]) in chosen]
        return part

    def check(self) -> None:
        """Raise an error where a model cannot be asked an item, before anything is asked."""
        cards = [model.card for model in self.models]
        limited = any(card.frames or card.video for card in cards)
        for condition in self.conditions:
            # What else can be wrong is wrong with every item, but for those without a question.
            every = limited or condition.sampling.choice is not None
            for item in self.benchmark.items if every else self.benchmark.items[:1]:
                self._shown(condition, item)

    def _add_to(
        self, clips: dict[tuple[Any, ...], "ClipQuestions"], condition: Condition, item: Item
    ) -> None:
        alike: dict[tuple[Any, ...], _Shown] = {}
        for senses, (media, fields) in self._shown(condition, item).items():
            alike.setdefault(media.order, {})[senses] = media, fields
        for order, shown in alike.items():
            media, _ = next(iter(shown.values()))
            clip = clips.setdefault(order, ClipQuestions(self, media, []))
            clip.parts.append((condition, item, shown))

    def asks(self, condition: Condition, item: Item, shown: "_Shown") -> Iterator[Ask]:
        """Yield the questions about an item to the models that take what is shown of it."""
        protocol = condition.protocol
        draw = json_fields({"draw": [self.seed, item.id]})
        models = [each for each in self._asked if each[1] in shown]
        for number, order in enumerate(option_orders(item, protocol, self.seed)):
            prompt = self.conditions[condition].render(item, order)
            # The order of a circle is all in the prompt.
            seeded = [self.seed, number] if number and protocol.orders != "circular" else 0
            text = prompt.unfilled
            keys = {each: PromptKeys(text, shown[each][1], seeded) for each in shown}
            for turn in range(protocol.rounds):
                for model, senses, fields in models:
                    key = keys[senses].key(fields, turn, draw)
                    media, _ = shown[senses]
                    yield Ask(item, model, condition, number, order, turn, prompt, media, key)

    def _shown(self, condition: Condition, item: Item) -> "_Shown":
        """Return the media for each model; models that take the same input share them."""
        everything = item_media(self.benchmark.root, item, condition.protocol)
        shown: _Shown = {}
        for model, senses, _ in self._asked:
            if senses not in shown:
                media = everything.for_card(model.card, item.id)
                shown[senses] = media, json_fields(media.record(self._files.__getitem__))
        return shown

    @cached_property
    def _files(self) -> dict[Path, str | None]:
        return {self.benchmark.root / name: digest for name, digest in self.digests.items()}

    @cached_property
    def _asked(self) -> list[tuple[ChatModel, "_Senses", ModelFields]]:
        """The models, each with what decides the media it takes, and with its part of a key."""
        return [(each, _senses(each.card), ModelFields(each, self.seed)) for each in self.models]


_Senses = tuple[Any, ...]
_Shown = dict[_Senses, tuple[MediaInput, dict[str, str]]]  # the media, and their fields of a key


def _senses(card: Card) -> _Senses:
    """Return all of a card that ``MediaInput.for_card`` goes by."""
    return card.sees, card.hears, card.video, card.frames, card.backend == "baseline"


@dataclass(frozen=True, slots=True)
class ClipQuestions:
    """The questions that are asked with the same media."""

    plan: RunPlan
    media: MediaInput
    parts: list[tuple[Condition, Item, _Shown]]

    def __iter__(self) -> Iterator[Ask]:
        """Yield the questions."""
        for part in self.parts:
            yield from self.plan.asks(*part)
