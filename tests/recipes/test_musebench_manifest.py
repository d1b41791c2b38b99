"""How MuseBench is asked: what models that hear and others get, and what the prompt tells."""

from pathlib import Path

import pytest
from support import make_item

from reelbench.data.items import Item, Media
from reelbench.evaluate.condition import PROTOCOL as OWN
from reelbench.evaluate.condition import conditions_for
from reelbench.evaluate.item_media import item_media
from reelbench.evaluate.prompt import load_prompts
from reelbench.interop.musebench.manifest import musebench_manifest
from reelbench.models.card import Card


def an_item(folder: Path, key: str = "AB") -> Item:
    (folder / "media").mkdir(exist_ok=True)
    (folder / "media/e1.vtt").write_text("WEBVTT\n\n00:10.000 --> 00:12.000\nsung words\n")
    media = (Media("media/e1.mp4", 10.0, 40.0),)
    options = tuple(f"o{n}" for n in range(6))
    return make_item(1, kind="multi", media=media, options=options, answer=tuple(key))


def test_who_hears_gets_the_sound_and_others_its_transcript(tmp_path: Path) -> None:
    item = an_item(tmp_path)
    protocol = musebench_manifest("t", [item]).protocol
    media = item_media(tmp_path, item, protocol)
    spec = media.clips[0].spec
    assert (spec.sampling, spec.start, spec.end) == ("fps:1", 10.0, 40.0)
    hearing = media.for_card(Card(name="h", hears=True, frames=8))
    assert (hearing.audio, hearing.subtitles) == ("mp3", "never")
    assert hearing.clips[0].spec.sampling == "fps:1,max=8"
    deaf = media.for_card(Card(name="d"))
    assert (deaf.audio, deaf.subtitles) == ("", "always")
    assert deaf.clips[0].subtitles == tmp_path / "media/e1.vtt"


@pytest.mark.parametrize(("condition", "frames", "audio", "read"), [
    ("video-only", True, "", "never"), ("audio-only", False, "mp3", "never"), ("text-only", False, "", "never"),
])  # fmt: skip
def test_modalities_are_taken_away_one_by_one(
    condition: str, frames: bool, audio: str, read: str, tmp_path: Path
) -> None:
    item = an_item(tmp_path)
    (asked,) = conditions_for(musebench_manifest("t", [item]), None, [condition])
    media = item_media(tmp_path, item, asked.protocol).for_card(Card(name="h", hears=True))
    assert (media.frames, media.audio, media.subtitles) == (frames, audio, read)


def test_samplings_are_conditions_of_as_many_frames() -> None:
    manifest = musebench_manifest("t", [])
    found = conditions_for(manifest, None, [OWN, "samplings", "query"])
    assert [(each.name, each.sampling.text) for each in found] == [
        ("protocol", "fps:1"),
        ("samplings/sampling=uniform:8", "uniform:8"),
        ("samplings/sampling=keyframes:8", "keyframes:8"),
        ("query", "query:8"),
    ]


def test_the_prompt_tells_single_from_multi_and_never_how_many_are_right(tmp_path: Path) -> None:
    two, four = an_item(tmp_path), an_item(tmp_path, "ABCD")
    prompts = load_prompts(musebench_manifest("t", [two]).protocol.prompt, tmp_path)
    texts = [prompts.render(item, tuple(range(6))).with_frames((8,)) for item in (two, four)]
    assert texts[0] == texts[1]
    assert "all that are" in texts[0]
    single = two.replace(kind="single", answer=["A"])
    assert "Exactly one" in prompts.render(single, tuple(range(6))).with_frames((8,))
