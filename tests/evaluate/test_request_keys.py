"""The keys of a run's questions: what changes them, and what does not."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs
from support import blind_benchmark, make_item

from reelbench.data.items import Item, Media
from reelbench.data.manifest import Protocol
from reelbench.evaluate.condition import Condition
from reelbench.evaluate.plan import RunPlan
from reelbench.evaluate.prompt import load_prompts
from reelbench.models.card import Card
from reelbench.models.openai import OpenAIModel

ITEM = make_item(1)
DIGESTS = {ITEM.media[0].path: "bytes of the video", "media/b.mp4": "of another"}
CARD = Card(name="m", hears=True)


def keys(
    folder: Path,
    item: Item = ITEM,
    card: Card = CARD,
    digests: Mapping[str, str] = DIGESTS,
    seed: int = 0,
    name: str = "protocol",
    **changes: Any,
) -> set[str]:
    benchmark = blind_benchmark(folder, item)
    condition = Condition.of(Protocol(), name, changes)
    prompts = {condition: load_prompts(condition.protocol.prompt, folder, {item.kind})}
    return {
        ask.key
        for ask in RunPlan(
            benchmark,
            [OpenAIModel(structs.replace(card, endpoint="http://x"))],
            prompts,
            digests,
            seed,
        )
    }


@pytest.mark.parametrize("changes", [
    {"sampling": "uniform:8"}, {"sampling": "fps:1"}, {"frame_size": "long:64"}, {"frame_encoding": "png"},
    {"timestamps": True}, {"modalities": "T"}, {"modalities": "V+A+T"}, {"modalities": "A+T"},
    {"prompt": "reasoned"}, {"accept_damage": True},
    {"card": Card(name="n", hears=True)}, {"card": Card(name="m", parameters={"seed": 1})},
    {"card": Card(name="m", sees=False)}, {"card": Card(name="m", video="clip")}, {"card": Card(name="m", video="file")},
    {"card": Card(name="m", frames=4)}, {"digests": {ITEM.media[0].path: "other bytes"}},
    {"item": structs.replace(ITEM, question="Another?")},
    {"item": structs.replace(ITEM, options=tuple(reversed(ITEM.options)))},
    {"item": structs.replace(ITEM, media=(Media(ITEM.media[0].path, 1.0, 2.0),))},
    {"item": structs.replace(ITEM, media=(Media("media/b.mp4"),))},
    {"item": structs.replace(ITEM, media=(*ITEM.media, Media("media/b.mp4")))},
], ids=str)  # fmt: skip
def test_what_decides_a_reply_is_another_key(changes: Any, tmp_path: Path) -> None:
    assert not keys(tmp_path, **changes) & keys(tmp_path)


@pytest.mark.parametrize("changes", [
    {"modalities": "V+A+T"}, {"modalities": "A+T"},
], ids=str)  # fmt: skip
def test_so_is_the_encoding_of_what_is_heard(changes: Any, tmp_path: Path) -> None:
    assert not keys(tmp_path, sound_encoding="mp3", **changes) & keys(tmp_path, **changes)


def test_each_round_and_each_order_is_another_key(tmp_path: Path) -> None:
    assert len(keys(tmp_path, rounds=3, orders=2)) == 6
    assert keys(tmp_path, rounds=3) > keys(tmp_path)


def test_an_order_by_another_seed_is_asked_again_and_the_first_order_is_not(tmp_path: Path) -> None:
    assert len(keys(tmp_path, orders=2) & keys(tmp_path, orders=2, seed=1)) == 1


@pytest.mark.parametrize("changes", [
    {"name": "another name"}, {"seed": 5}, {"item": structs.replace(ITEM, id="q-other")},
    {"item": structs.replace(ITEM, answer=("B",))}, {"card": Card(name="m", hears=True, connections=2)},
    {"sound_encoding": "mp3"}, {"rubric": "quality"},
], ids=str)  # fmt: skip
def test_what_decides_nothing_is_the_same_key(changes: Any, tmp_path: Path) -> None:
    assert keys(tmp_path, **changes) == keys(tmp_path)


def test_the_folder_decides_nothing(tmp_path: Path) -> None:
    assert keys(tmp_path / "here") == keys(tmp_path / "there")
