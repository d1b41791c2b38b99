"""The key of a request: whatever decides a reply makes another key, and nothing else does."""

import hashlib
from itertools import combinations
from typing import Any

import pytest

from reelbench.base.files import digest_of
from reelbench.models.base import AudioPart, ImagePart, Message, Part, TextPart, VideoPart
from reelbench.models.card import Card
from reelbench.models.keys import request_key
from reelbench.models.load import load_model
from reelbench.models.openai import OpenAIModel


def model(name: str = "m", **card: Any) -> OpenAIModel:
    return OpenAIModel(Card(name=name, **({"endpoint": "http://here"} | card)))


def say(*texts: str) -> list[Message]:
    roles = ("user", "assistant", "user")
    return [Message(role, (TextPart(t),)) for role, t in zip(roles, texts, strict=False)]  # type: ignore[arg-type]


FRAMES = {"media": ["a"], "frames": [{"sampling": "uniform:4"}], "timestamps": False}
ASKED = {
    "as it is": {},
    "another model": {"model": model("n")},
    "other parameters": {"model": model(parameters={"temperature": 1})},
    "another prompt": {"prompt": "Why"},
    "something shown": {"media": FRAMES},
    "other bytes": {"media": FRAMES | {"media": ["b"]}},
    "other frames": {"media": FRAMES | {"frames": [{"sampling": "uniform:5"}]}},
    "timestamps": {"media": FRAMES | {"timestamps": True}},
    "another order": {"order": [0, 1]},
    "another seed of orders": {"order": [1, 1]},
    "another round": {"round": 1},
}
IN_JSON = {
    "a conversation": {"prompt": say("Why?")},
    "another prompt": {"prompt": say("Why")},
    "a repair": {"prompt": say("Why?", "So.", "No."), "attempt": (0, True)},
    "another complaint": {"prompt": say("Why?", "So.", "Not that."), "attempt": (0, True)},
    "another try": {"prompt": say("Why?"), "attempt": (1, False)},
    "another model": {"prompt": say("Why?"), "model": model("n")},
    "a schema": {"prompt": say("Why?"), "schema": {"type": "object"}},
    "another schema": {"prompt": say("Why?"), "schema": {"type": "array"}},
    "another purpose": {"prompt": say("Why?"), "purpose": "rank"},
    "another round": {"prompt": say("Why?"), "round": 1},
    "something shown": {"prompt": say("Why?"), "media": FRAMES},
    "other bytes": {"prompt": say("Why?"), "media": FRAMES | {"media": ["b"]}},
}


def key(**changes: Any) -> str:
    fields = {"model": model(), "prompt": "Why?", **changes}
    return request_key(fields.pop("model"), fields.pop("prompt"), **fields)


@pytest.mark.parametrize("asked", [ASKED, IN_JSON], ids=["text", "json"])
def test_each_thing_that_decides_a_reply_makes_another_key(asked: dict[str, Any]) -> None:
    keys = {name: key(**changes) for name, changes in asked.items()}
    same = [pair for pair in combinations(keys, 2) if keys[pair[0]] == keys[pair[1]]]
    assert same == []


@pytest.mark.parametrize("card", [
    {"connections": 1}, {"timeout": 5.0}, {"retries": 0}, {"price": {"input": 1, "output": 1}},
    {"endpoint": "http://elsewhere"}, {"requests_per_minute": 3},
], ids=lambda card: next(iter(card)))  # fmt: skip
def test_how_a_model_is_reached_decides_nothing(card: Any) -> None:
    assert key(model=model(**card)) == key()


def test_who_replies_at_random_draws_for_each_item_and_seed() -> None:
    random = load_model("baseline:random")
    draws = [key(model=random, draw=draw) for draw in ((0, "q-1"), (0, "q-2"), (1, "q-1"))]
    assert len(set(draws)) == 3
    assert key(draw=(0, "q-1")) == key(draw=(1, "q-2")), "others give the same reply to the same"


PARTS: list[list[Part]] = [
    [TextPart("a")],
    [TextPart("b")],
    [TextPart("a"), TextPart("b")],
    [ImagePart(b"a", "image/png", 0.0)],
    [ImagePart(b"b", "image/png", 0.0)],
    [ImagePart(b"a", "image/jpeg", 0.0)],
    [AudioPart(b"a", "audio/wav", 1.0)],
    [VideoPart(b"a", "video/mp4", 1.0)],
    [VideoPart(b"a", "video/mp4", 1.0, 0.0, 1.0)],
    [VideoPart(b"a", "video/mp4", 1.0, rate=2.0)],
]


def test_rendered_parts_are_known_by_their_bytes_and_by_the_request_they_serve() -> None:
    keys = [request_key(model(), parts) for parts in PARTS]
    keys += [request_key(model("n"), PARTS[0]), request_key(model(), PARTS[0], parent="whole")]
    assert len(set(keys)) == len(keys)
    assert request_key(model(), PARTS[0]) == keys[0]


def test_the_members_of_a_cascade_keep_the_keys_of_earlier_journals() -> None:
    """Else captions that were paid for would be asked for again."""
    picture = ImagePart(b"a", "image/png", 0.0)
    parameters = {"model": "m", "temperature": 0}
    shown = [["image/png", hashlib.sha256(b"a").hexdigest()], ["text", "Tell."]]
    before = digest_of(["m", parameters, shown, "parent"])
    assert request_key(model(), [picture, TextPart("Tell.")], parent="parent") == before
