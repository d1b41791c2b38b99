"""A preview shows what labels say, with any of them, and keeps the sound."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from support import SHARED
from videos import make_video

from reelbench.annotate.preview.overlay import PEOPLE, Scenes
from reelbench.annotate.preview.preview import write_preview
from reelbench.base.errors import ReelbenchError
from reelbench.media.decode.decode import frames_at
from reelbench.media.decode.probe import MediaInfo, probe
from reelbench.media.edit.audio import read_audio

TALK = SHARED / "data" / "video" / "speech_two_faces.mp4"
INFO = MediaInfo("mp4", 4.0, 4.0, width=320, height=180, frame_rate=25.0, codec="h264")


def still(*box: float) -> list[dict[str, Any]]:
    return [{"time": n / 8, "box": list(box), "score": 0.9} for n in range(33)]


LABELS: dict[str, Any] = {
    "shots": {"cuts": [2.0], "shots": [[0.0, 2.0], [2.0, 4.0]]},
    "tracks": {
        "people": [
            {"id": "p1", "tracks": [{"shot": 0, "start": 0.0, "end": 4.0, "boxes": still(40, 60, 80, 110)}]},
            {"id": "p2", "tracks": [{"shot": 0, "start": 0.0, "end": 4.0, "boxes": still(180, 60, 220, 110)}]},
        ]
    },
    "bodies": {"people": [{"id": "p1", "boxes": still(30, 50, 100, 170)}]},
    "demographics": {"people": [{"id": "p1", "age": 34.4, "gender": "woman"}]},
    "emotion": {"people": [{"id": "p1", "emotion": "neutral", "at": [[3.0, "happy", 0.8]]}]},
    "speaker": {"people": [{"id": "p2", "speaks": True, "spans": [[1.0, 2.0]]}]},
    "objects": {"tracks": [{"id": "dog-1", "class": "dog", "start": 0, "end": 4, "boxes": still(240, 120, 300, 170)}]},
    "sound": {
        "spans": [{"start": 0.0, "end": 2.5, "kind": "speech", "score": 0.9}, {"start": 2.5, "end": 4.0, "kind": "music", "score": 0.9}],
        "shares": {"speech": 0.625, "music": 0.375},
    },
    "transcript": {
        "language": "en",
        "text": "hello there",
        "segments": [{"start": 1.0, "end": 2.0, "text": "hello there", "words": [{"start": 1.0, "end": 1.4, "word": " hello"}, {"start": 1.5, "end": 2.0, "word": " there"}]}],
    },
    "turns": {"speakers": 1, "turns": [{"start": 1.0, "end": 2.0, "speaker": "s1"}]},
}  # fmt: skip


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("preview")
    make_video(folder / "clip.mp4", sound=4.0)
    write_preview(folder / "clip.mp4", LABELS, folder / "p.mp4", folder / "p.png")
    write_preview(folder / "clip.mp4", {}, folder / "bare.mp4", folder / "bare.png")
    return folder


def test_it_lasts_as_long_and_sounds_as_the_clip(shown: Path) -> None:
    before, after = probe(shown / "clip.mp4"), probe(shown / "p.mp4")
    assert after.frame_count == before.frame_count
    assert after.duration == pytest.approx(before.duration, abs=0.05)
    heard, kept = (read_audio(shown / name, end=3.0)[0] for name in ("clip.mp4", "p.mp4"))
    assert np.abs(kept).max() > 0.5 * np.abs(heard).max() > 0
    # The same sound at the same time: it would not match itself at any other.
    spectra = [np.abs(np.fft.rfft(sound)) for sound in (heard, kept)]
    assert np.corrcoef(*spectra)[0, 1] > 0.9


def test_boxes_are_drawn_where_the_labels_say(shown: Path) -> None:
    frame = frames_at(shown / "p.mp4", [3.0])[0].image
    bare = frames_at(shown / "bare.mp4", [3.0])[0].image
    assert bare.shape[:2] == (540, 960)
    assert frame.shape[1] == 960
    assert frame.shape[0] > 540 + 60  # subtitles and timeline come below
    scale = 960 / 320
    # Lines keep much of a person's colour through the encoder.
    edge = frame[round(85 * scale), round(40 * scale) : round(40 * scale) + 3].astype(int)
    assert np.abs(edge - PEOPLE[0]).mean(axis=1).min() < 60
    edge = frame[round(85 * scale), round(180 * scale) : round(180 * scale) + 3].astype(int)
    assert np.abs(edge - PEOPLE[1]).mean(axis=1).min() < 60
    # And between the boxes nothing is drawn.
    quiet = (
        slice(round(80 * scale), round(105 * scale)),
        slice(round(110 * scale), round(170 * scale)),
    )
    assert np.abs(frame[quiet].astype(int) - bare[quiet]).mean() < 8


def test_the_mark_of_who_speaks_is_there_only_then() -> None:
    scenes = Scenes(LABELS, INFO)
    talking = {mark.words: mark.speaks for mark in scenes.marks(1.5) if mark.kind == "face"}
    assert talking == {"p1 · woman 34 · neutral": False, "p2": True}
    later = {mark.words: mark.speaks for mark in scenes.marks(3.0) if mark.kind == "face"}
    assert later == {"p1 · woman 34 · happy": False, "p2": False}


def test_words_appear_as_they_are_said() -> None:
    scenes = Scenes(LABELS, INFO)
    assert scenes.subtitle(0.5) is None
    first, second = scenes.subtitle(1.2), scenes.subtitle(1.8)
    assert first
    assert second
    assert (first.words, first.begun, second.begun) == (("hello", "there"), 1, 2)
    assert first.colour == PEOPLE[1]  # of the one who speaks
    assert scenes.subtitle(3.0) is None


def test_shots_and_sounds_are_told_for_each_moment() -> None:
    scenes = Scenes(LABELS, INFO)
    assert [scenes.shot(time) for time in (0.0, 1.99, 2.0, 3.9)] == [1, 1, 2, 2]
    assert [scenes.sound(time) for time in (0.0, 2.4, 2.5, 3.9)] == [
        "speech",
        "speech",
        "music",
        "music",
    ]


def test_boxes_move_between_their_moments_but_not_over_cuts() -> None:
    def at(time: float, cuts: list[float]) -> float | None:
        boxes = [
            {"time": 1.0, "box": [0, 0, 10, 10], "score": 1},
            {"time": 1.5, "box": [100, 0, 110, 10], "score": 1},
        ]
        labels = {
            "bodies": {"people": [{"id": "p1", "boxes": boxes}]},
            "shots": {"cuts": cuts, "shots": []},
        }
        marks = Scenes(labels, INFO).marks(time)
        return marks[0].box[0] if marks else None

    assert at(1.25, []) == pytest.approx(50.0)
    assert at(1.1, [1.25]) == 0
    assert at(1.4, [1.25]) == 100
    assert at(1.2, [1.25]) is None
    assert at(3.0, []) is None


def test_the_sheet_shows_every_shot(shown: Path) -> None:
    with Image.open(shown / "p.png") as sheet:
        assert sheet.size[0] == 1560
        assert len(sheet.getcolors(2**24) or []) > 1000
    with Image.open(shown / "bare.png") as bare:
        assert bare.size[0] == 1560


@pytest.mark.parametrize("name", sorted(LABELS))
def test_any_label_alone_is_enough(shown: Path, tmp_path: Path, name: str) -> None:
    scenes = Scenes({name: LABELS[name]}, INFO)
    for time in (0.0, 1.5, 3.99):
        scenes.marks(time), scenes.subtitle(time), scenes.sound(time)
    scenes.rows(), scenes.facts()


def test_a_broken_and_a_turned_clip_are_shown_as_far_as_they_go(tmp_path: Path) -> None:
    whole = make_video(
        tmp_path / "a.mp4", seconds=2.0, rotation=90, options={"g": "10", "threads": "1"}
    )
    data = bytearray(whole.read_bytes())
    data[len(data) // 2 : len(data) // 2 + 3000] = np.random.default_rng(1).bytes(3000)
    (tmp_path / "b.mp4").write_bytes(data)
    write_preview(tmp_path / "b.mp4", LABELS, tmp_path / "p.mp4", tmp_path / "p.png")
    made = probe(tmp_path / "p.mp4")
    assert 0 < made.frame_count < 50
    assert made.height > made.width


def test_a_clip_without_a_picture_is_refused(tmp_path: Path) -> None:
    from reelbench.media.edit.audio import write_wav

    write_wav(tmp_path / "a.wav", np.zeros((1, 8000), np.float32), 8000)
    with pytest.raises(ReelbenchError, match="contains no video"):
        write_preview(tmp_path / "a.wav", LABELS, tmp_path / "p.mp4", tmp_path / "p.png")
    assert not (tmp_path / "p.mp4").exists()


@pytest.mark.skipif(not TALK.exists(), reason="../shared/data/video is not there")
def test_a_real_clip_keeps_its_sound_and_length(tmp_path: Path) -> None:
    write_preview(TALK, LABELS, tmp_path / "p.mp4", tmp_path / "p.png")
    before, after = probe(TALK), probe(tmp_path / "p.mp4")
    assert after.frame_count == before.frame_count
    assert after.has_audio
    heard, kept = (read_audio(path, end=8.0)[0] for path in (TALK, tmp_path / "p.mp4"))
    assert np.corrcoef(heard, kept)[0, 1] > 0.9
