"""The operators that collect, as far as they need no optional packages."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from videos import make_video, pictures

from reelbench.annotate.operator import Clip, NotApplicable, Value
from reelbench.annotate.operators.fingerprint import (
    BLANK,
    Fingerprint,
    frame_hash,
    near_duplicate_clips,
    same_scenes,
)
from reelbench.annotate.operators.format import Format
from reelbench.annotate.operators.language import Language
from reelbench.annotate.operators.motion import Motion
from reelbench.annotate.operators.shots import Shots
from reelbench.annotate.operators.unsafe import Unsafe
from reelbench.annotate.registry import load_operator
from reelbench.base.errors import ReelbenchError
from reelbench.media.decode.probe import AudioInfo, MediaInfo, probe

SOUND_ALONE = Clip(
    Path("a.wav"), "", MediaInfo("wav", 2.0, 2.0, audio=(AudioInfo("pcm", 8000, 1),))
)


def clip_of(path: Path) -> Clip:
    return Clip(path, "", probe(path))


def test_format_tells_upright_size_and_sound(tmp_path: Path) -> None:
    value = Format()(clip_of(make_video(tmp_path / "a.mp4", sound=2.0, rotation=90)), {})
    assert (value["width"], value["height"], value["frames"]) == (180, 320, 100)
    assert value["seconds"] == pytest.approx(4.0)
    assert value["audio"][0]["sample_rate"] == 16000
    assert value["cut"] == ""


def test_format_of_sound_alone_has_no_picture() -> None:
    value = Format()(SOUND_ALONE, {})
    assert (value["width"], value["frame_rate"], len(value["audio"])) == (0, 0.0, 1)


@pytest.mark.parametrize("operator", [Shots(), Motion(), Fingerprint(), Unsafe()])
def test_who_looks_says_so_where_there_is_no_picture(operator: Shots) -> None:
    with pytest.raises(NotApplicable, match="The clip has no video"):
        operator(SOUND_ALONE, {})


def test_an_unknown_detector_is_refused_with_those_there_are() -> None:
    with pytest.raises(
        ReelbenchError,
        match=r"shots\.detector cannot be 'magic': expected one of transnet, content, adaptive",
    ):
        load_operator("shots", detector="magic")


def test_a_hash_keeps_through_scale_and_light_and_differs_between_pictures() -> None:
    grey = pictures(1, 320, 180)[0].mean(axis=2).astype(np.uint8)
    other = pictures(30, 320, 180)[-1].mean(axis=2).astype(np.uint8)  # the same upside down
    one = frame_hash(grey)
    assert len(one) == 16
    assert _bits(one, frame_hash(grey[::2, ::2])) <= 6
    assert _bits(one, frame_hash((grey * 0.6 + 20).astype(np.uint8))) <= 2
    assert _bits(one, frame_hash(other)) >= 20


def _bits(one: str, other: str) -> int:
    return (int(one, 16) ^ int(other, 16)).bit_count()


def test_a_frame_that_shows_nothing_has_no_hash() -> None:
    grain = np.random.default_rng(1).integers(16, 19, (90, 160)).astype(np.uint8)
    assert frame_hash(np.zeros((90, 160), np.uint8)) == frame_hash(grain) == BLANK


def test_a_piece_of_a_clip_is_found_where_it_begins() -> None:
    whole = _random(1, 12)
    piece = {"rate": 1.0, "hashes": [_flipped(h, 5) for h in whole["hashes"][4:9]]}
    found = near_duplicate_clips({"piece": piece, "whole": whole, "other": _random(2, 12)})
    assert [(t.longer, t.shorter, t.distance, t.offset) for t in found] == [
        ("whole", "piece", 5.0, 4.0)
    ]


def test_the_distance_decides() -> None:
    one = _random(1, 5)
    near = {"rate": 1.0, "hashes": [_flipped(h, 10) for h in one["hashes"]]}
    assert near_duplicate_clips({"a": one, "b": near}, distance=10)
    assert not near_duplicate_clips({"a": one, "b": near}, distance=9)


def test_black_clips_are_not_twins() -> None:
    black = {"rate": 1.0, "hashes": [BLANK] * 5}
    mixed = {"rate": 1.0, "hashes": [*_random(1, 1)["hashes"], *[BLANK] * 4]}
    assert near_duplicate_clips({"a": black, "b": black, "c": mixed}) == []
    assert near_duplicate_clips({}) == []


def test_fingerprints_at_several_rates_are_refused() -> None:
    with pytest.raises(ValueError, match="several rates"):
        near_duplicate_clips({"a": _random(1, 2), "b": _random(1, 2) | {"rate": 2.0}})


def test_clips_show_one_scene_by_three_seconds_that_are_alike() -> None:
    whole, other = _random(1, 20), _random(2, 9)
    hashes = whole["hashes"]
    prints = {
        "b whole": whole,
        "a overlap": {"hashes": [*other["hashes"][:3], *hashes[:3]], "rate": 1.0},
        "c backwards": {"hashes": hashes[14:10:-1], "rate": 1.0},
        "d one second": {"hashes": hashes[7:8], "rate": 1.0},
        "e too little": {"hashes": [*hashes[8:10], *_random(3, 4)["hashes"]], "rate": 1.0},
        "f alone": _random(4, 5),
    }
    expected = dict.fromkeys(["a overlap", "b whole", "c backwards", "d one second"], "a overlap")
    expected |= {name: name for name in ("e too little", "f alone")}
    assert same_scenes(prints) == expected
    assert same_scenes(dict(reversed(prints.items()))) == expected
    assert same_scenes(prints, distance=0) == expected
    assert same_scenes({}) == {}


def test_black_clips_are_no_scene() -> None:
    black: Value = {"hashes": [BLANK] * 9, "rate": 1.0}
    assert same_scenes({"a": black, "b": black}) == {"a": "a", "b": "b"}


def test_scenes_of_three_clips_are_one_by_way_of_the_second() -> None:
    one, two = _random(1, 8)["hashes"], _random(2, 8)["hashes"]
    prints = {"x": one, "y": [*one[4:], *two[:4]], "z": two}
    found = same_scenes({name: {"hashes": each, "rate": 1.0} for name, each in prints.items()})
    assert set(found.values()) == {"x"}


def _random(seed: int, count: int) -> Value:
    numbers = np.random.default_rng(seed).integers(0, 2**63, count)
    return {"rate": 1.0, "hashes": [f"{int(number):016x}" for number in numbers]}


def _flipped(digits: str, bits: int) -> str:
    mask = sum(1 << (place * 6 % 64) for place in range(bits))
    return f"{int(digits, 16) ^ mask:016x}"


def test_a_clip_is_like_its_copy_and_not_like_another(tmp_path: Path) -> None:
    one = Fingerprint()(clip_of(make_video(tmp_path / "a.mp4")), {})
    coarse = {"preset": "ultrafast", "crf": "40", "threads": "1"}
    copy = Fingerprint()(clip_of(make_video(tmp_path / "b.mp4", options=coarse)), {})
    assert len(one["hashes"]) == 4
    assert [(t.longer, t.shorter) for t in near_duplicate_clips({"a": one, "b": copy})] == [
        ("a", "b")
    ]


def test_language_needs_words() -> None:
    clip = replace(SOUND_ALONE)
    with pytest.raises(NotApplicable, match="add one of these labels"):
        Language()(clip, {})
    with pytest.raises(NotApplicable, match="too few words"):
        Language()(clip, {"transcript": {"text": "", "language": "en"}, "text": {"lines": []}})


def test_few_words_have_the_language_that_was_heard() -> None:
    said = {"text": "Hello!", "language": "en", "language_confidence": 0.9}
    assert Language()(SOUND_ALONE, {"transcript": said}) == {
        "spoken": "en",
        "written": None,
        "guess": {"spoken": "en", "written": None},
        "confidence": {"spoken": 0.9, "written": 0.0},
    }
    # An operator in the place of ours that does not say how sure it is.
    del said["language_confidence"]
    assert Language()(SOUND_ALONE, {"transcript": said})["spoken"] is None
