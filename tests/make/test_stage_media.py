"""A stage shows and plays models all that a run can, and pays for each thing once."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from parts import Studio
from servers import Reply, Server, completion
from support import make_item
from videos import make_video

from reelbench.client.media_input import MediaInput
from reelbench.data.items import Media
from reelbench.data.manifest import Protocol
from reelbench.evaluate.item_media import item_media
from reelbench.make.pipeline.context import StageContext
from reelbench.media.errors import MediaError

SCHEMA = {"type": "object", "required": ["n"]}
CARDS: dict[str, Any] = {
    "seer": {"name": "seer"},
    "hearer": {"name": "hearer", "hears": True},
    "watcher": {"name": "watcher", "hears": True, "video": "clip"},
    "reader": {"name": "reader", "sees": False},
}
SHOWN = {
    "seer": ["text", "image_url", "text", "text", "image_url", "text"],
    "hearer": ["text", "image_url", "input_audio", "text", "image_url", "text"],
    "watcher": ["text", "video_url", "input_audio", "text", "video_url", "text"],
    "reader": ["text", "text", "text", "text"],
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    make_video(tmp_path / "a.mp4", seconds=0.6, rate=5, sound=0.6)
    make_video(tmp_path / "b.mp4", seconds=0.6, rate=5)
    (tmp_path / "a.srt").write_text("1\n00:00:00,000 --> 00:00:00,500\nGood evening.\n")
    return tmp_path


def both(folder: Path) -> MediaInput:
    return MediaInput.of(folder / "a.mp4", folder / "b.mp4", sampling="uniform:2", audio=True)


def reply(body: Any, _: int) -> Reply:
    return completion('{"n": 1}' if "response_format" in body else "B")


Work = Callable[[StageContext, MediaInput | None, int], Awaitable[Any]]
ITEM = make_item(1)
WAYS: dict[str, Work] = {
    "text": lambda ctx, media, turn: ctx.text("one", "Say it.", media, round=turn),
    "json": lambda ctx, media, turn: ctx.json("one", "Say it.", SCHEMA, media=media, round=turn),
    "choice": lambda ctx, media, turn: ctx.choice(
        ctx.model("one"), ITEM, range(4), "Say it.", turn, media
    ),
}


def asked(folder: Path, work: Callable[[StageContext], Awaitable[Any]], card: str) -> Server:
    return Studio(folder, reply, {"one": [CARDS[card]]}).with_context(work)[1]


def content(server: Server, number: int = 0) -> list[dict[str, Any]]:
    parts: list[dict[str, Any]] = server.requests[number]["messages"][0]["content"]
    return parts


@pytest.mark.parametrize("card", CARDS)
@pytest.mark.parametrize("way", WAYS)
def test_a_model_is_shown_and_played_what_it_takes_in(way: str, card: str, folder: Path) -> None:
    server = asked(folder, lambda ctx: WAYS[way](ctx, both(folder), 0), card)
    parts = content(server)
    assert [part["type"] for part in parts] == SHOWN[card]
    texts = [part["text"] for part in parts if part["type"] == "text"]
    read = ["What is said:\n[0.0 s] Good evening."] * (card in ("seer", "reader"))
    assert texts == ["Video 1:", *read, "Video 2:", "Say it."]


@pytest.mark.parametrize("way", WAYS)
def test_the_same_is_asked_once_and_each_round_and_other_bytes_again(
    way: str, folder: Path
) -> None:
    async def work(ctx: StageContext) -> None:
        for turn in (0, 0, 1, 0):
            await WAYS[way](ctx, both(folder), turn)
        for media in (None, MediaInput.of(folder / "b.mp4", sampling="uniform:2")):
            await WAYS[way](ctx, media, 0)

    assert len(asked(folder, work, "seer").requests) == 4
    assert asked(folder, work, "seer").requests == [], "nor by who comes later"
    make_video(folder / "b.mp4", seconds=0.8, rate=5)
    assert len(asked(folder, work, "seer").requests) == 3


@pytest.mark.parametrize("way", WAYS)
def test_a_file_that_is_not_there_costs_no_call(way: str, folder: Path) -> None:
    async def work(ctx: StageContext) -> None:
        with pytest.raises(MediaError, match="no such file"):
            await WAYS[way](ctx, MediaInput.of(folder / "none.mp4"), 0)

    assert asked(folder, work, "seer").requests == []


def test_an_item_is_shown_as_a_run_under_a_protocol_shows_it(folder: Path) -> None:
    item = make_item(1, media=(Media("a.mp4", 0.2, 0.4), Media("b.mp4")))
    protocol = Protocol(sampling="uniform:2", modalities="V+A+T", timestamps=True)
    media = item_media(folder, item, protocol)
    server = asked(folder, lambda ctx: ctx.text("one", "Say it.", media), "hearer")
    assert [part.get("text", part["type"]) for part in content(server)] == [
        "Video 1:", "0.3 s", "image_url", "input_audio", "Video 2:", "0.3 s", "image_url", "Say it.",
    ]  # fmt: skip
