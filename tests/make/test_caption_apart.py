"""Captions made apart: who sees is told nothing of the sound, who hears is shown no picture."""

import json
from pathlib import Path
from typing import Any

import pytest
from mmou_actors import CAPTIONERS, HEARD, SEEN, OmniModels, fused, told
from parts import Studio, pictures
from servers import Reply
from support import make_item
from videos import make_video

from reelbench.base.errors import ReelbenchError
from reelbench.data.items import Item, Media
from reelbench.make.parts.caption import caption_apart
from reelbench.make.pipeline.stage import Rejected

STAGE = caption_apart("uniform:4")
HEARS = {"hears": True, "sees": False}
SUBTITLES = "1\n00:00:00,000 --> 00:00:01,000\nA secret is told.\n"


def captioned(
    folder: Path, models: OmniModels, rows: int = 1, **cards: dict[str, Any]
) -> tuple[Any, list[dict[str, Any]]]:
    folder.mkdir(exist_ok=True)
    make_video(folder / "a.mp4", seconds=1, sound=1, rate=5)
    (folder / "a.srt").write_text(SUBTITLES)
    plain: dict[str, dict[str, Any]] = {"sound-captioner": HEARS}
    named = {role: [{"name": role, **(plain | cards).get(role, {})}] for role in CAPTIONERS}
    studio = Studio(folder, models, named)
    items = [make_item(n, media=(Media("a.mp4"),)) for n in range(rows)]
    passed, _ = studio.take(items, STAGE)
    return passed[0], models.bodies


def of(bodies: list[dict[str, Any]], model: str) -> list[dict[str, Any]]:
    return [body for body in bodies if body["model"] == model]


def kinds(body: dict[str, Any]) -> set[str]:
    return {part["type"] for message in body["messages"] for part in message["content"]}


def test_pictures_without_sound_or_transcript_and_sound_without_pictures(tmp_path: Path) -> None:
    passed, bodies = captioned(tmp_path, OmniModels())
    (seen,), (heard,) = of(bodies, "picture-captioner"), of(bodies, "sound-captioner")
    assert pictures(seen) == 4
    assert kinds(seen) == {"text", "image_url"}
    assert kinds(heard) == {"text", "input_audio"}
    assert "secret" not in json.dumps([seen, heard])
    (item,) = passed.out
    assert item.context["visual_caption"] == told(SEEN)
    assert item.context["audio_caption"] == told(HEARD)


def test_both_are_fused_by_a_call_into_what_items_keep_as_context(tmp_path: Path) -> None:
    passed, bodies = captioned(tmp_path, OmniModels())
    (joined,) = of(bodies, "fuser")
    assert kinds(joined) == {"text"}
    (item,) = passed.out
    prompt = joined["messages"][0]["content"][0]["text"]
    assert item.context["caption"].startswith(fused(prompt)["caption"])
    for part in ("Visuals: ", "Speech: ", "Sound: ", "Music: "):
        assert part in item.context["caption"]
    assert item.provenance["caption"] == {"models": {role: role for role in CAPTIONERS}}


def test_a_video_is_captioned_once_whatever_is_asked_of_it(tmp_path: Path) -> None:
    models = OmniModels()
    passed, _ = captioned(tmp_path, models, rows=5)
    assert len(passed.out) == 5
    assert models.asked == dict.fromkeys(CAPTIONERS, 1)


GERMAN = "Ein Mann geht langsam durch den Garten und betrachtet jede einzelne Blume sehr genau."


@pytest.mark.parametrize(
    ("bad", "why"),
    [
        (json.dumps({"caption": "  "}), "does not match"),
        (json.dumps({"caption": GERMAN}), "it is not in English"),
    ],
    ids=["empty", "in another language"],
)
def test_a_bad_caption_is_sent_back_and_then_rejected(bad: str, why: str, tmp_path: Path) -> None:
    def instead(model: str, _prompt: str) -> Reply | str | None:
        return bad if model == "sound-captioner" else None

    models = OmniModels(instead=instead)
    passed, bodies = captioned(tmp_path, models)
    (result,) = passed.results
    assert isinstance(result.rejected, Rejected)
    assert result.rejected.reason == "no usable caption"
    assert why in result.rejected.detail
    assert result.rejected.words == (bad,)
    repairs = of(bodies, "sound-captioner")[1]["messages"]
    assert why in repairs[-1]["content"][0]["text"]


@pytest.mark.parametrize(
    ("role", "card", "sense"),
    [
        ("sound-captioner", {"hears": False}, "hears"),
        ("picture-captioner", {"sees": False}, "sees"),
    ],
)
def test_a_captioner_without_the_sense_is_refused(
    role: str, card: dict[str, Any], sense: str, tmp_path: Path
) -> None:
    with pytest.raises(ReelbenchError, match=f"cannot be the {role}.*{sense}: true"):
        captioned(tmp_path, OmniModels(), **{role: card})


def test_an_item_of_two_videos_is_none_of_its(tmp_path: Path) -> None:
    named = {role: [role] for role in CAPTIONERS}
    item = make_item(1, media=(Media("a.mp4"), Media("a.mp4")))
    make_video(tmp_path / "a.mp4", seconds=1, rate=5)
    why, _ = Studio(tmp_path, OmniModels(), named).work(STAGE, item)
    assert not isinstance(why, Item)
    assert why.reason == "more than one video"
