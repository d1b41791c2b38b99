"""Things, text and quality, found by the real models in real clips."""

import json
import socket
from pathlib import Path

import av
import numpy as np
import pytest
from support import SHARED
from videos import make_video, pictures

from reelbench.annotate.operator import Clip, NotApplicable
from reelbench.annotate.operators.detections import Detections
from reelbench.annotate.operators.objects import CLUTTER, Objects
from reelbench.annotate.operators.quality import _BRISQUE_FOLDERS, Quality
from reelbench.annotate.operators.text import ScreenText, TextLine, merged
from reelbench.base.errors import ReelbenchError
from reelbench.media.decode.decode import every_frame
from reelbench.media.decode.probe import probe
from reelbench.media.edit.degrade import degrade_video
from reelbench.media.edit.write import even, video_writer

OPERATORS = [Objects(rate=1), ScreenText(), Quality()]


def _clip(path: Path) -> Clip:
    return Clip(path, "", probe(path))


def _real(name: str, folder: Path | None = None, span: tuple[float, float] | None = None) -> Clip:
    path = SHARED / "data" / "video" / name
    if not path.exists():
        pytest.skip("needs the clips of ../shared")
    if span and folder:
        return _clip(_part(path, folder / f"part-{name}.mp4", span))
    return _clip(path)


def _part(path: Path, out: Path, span: tuple[float, float]) -> Path:
    with video_writer(out, probe(path).frame_rate, 16, None) as writer:
        for time, image in every_frame(path, *span):
            writer.show(even(image), time - span[0])
    return out


def _made(out: Path, images: list[np.ndarray]) -> Clip:
    with video_writer(out, 25, 16, None) as writer:
        for number, image in enumerate(images):
            writer.show(image, number / 25)
    return _clip(out)


def _silent(_: object, *__: object, **___: object) -> None:
    raise AssertionError("it touched the network")


def test_the_caption_is_read_without_the_network_and_with_its_time(monkeypatch):
    monkeypatch.setattr(socket.socket, "connect", _silent)
    monkeypatch.setattr(socket, "getaddrinfo", _silent)
    label = ScreenText()(_real("speech_two_faces.mp4"), {})
    line = next(line for line in label["lines"] if "OBAMA" in line["text"])
    assert line["text"] == "PRESIDENT OBAMA STATEMENT ON IRAN"
    assert line["start"] == pytest.approx(3, abs=1)
    assert line["end"] == pytest.approx(8.75, abs=0.1)
    left, top, right, bottom = next(
        each["box"] for each in label["frames"][-1]["lines"] if "OBAMA" in each["text"]
    )
    assert (left, top, right, bottom) == pytest.approx((25, 205, 295, 222), abs=8)


def test_a_title_card_is_read(tmp_path):
    label = ScreenText()(_real("animation_trailer.mp4", tmp_path, (18.0, 21.0)), {})
    assert "A (slightly overweight) bunny" in [line["text"] for line in label["lines"]]


def test_a_still_picture_is_read_once(tmp_path):
    clip = _made(tmp_path / "still.mp4", pictures(1) * 60)
    assert len(ScreenText()(clip, {})["frames"]) == 1


def test_readings_of_one_line_are_joined_and_the_majority_is_believed():
    box, other = (10.0, 10.0, 100.0, 20.0), (10.0, 50.0, 100.0, 60.0)
    looks = [
        (0.0, [TextLine("Revenge is corning", box, 0.8)]),
        (1.0, [TextLine("Revenge is coming", box, 0.9), TextLine("Fin", other, 0.9)]),
        (2.0, []),
        (3.0, [TextLine("Revenge is coming", box, 0.95)]),
        (4.0, [TextLine("The end", box, 0.9)]),
    ]
    assert merged(looks, 4.5) == [
        {"text": "Revenge is coming", "start": 0.0, "end": 4.0, "score": 0.95},
        {"text": "Fin", "start": 1.0, "end": 2.0, "score": 0.9},
        {"text": "The end", "start": 4.0, "end": 4.5, "score": 0.9},
    ]


def test_people_are_followed_as_they_walk(tmp_path):
    clip = _real("pedestrians.avi", tmp_path, (4.0, 10.0))
    label = Objects()(clip, {"detections": Detections()(clip, {})})
    people = [track for track in label["tracks"] if track["class"] == "person"]
    longest = max(people, key=lambda track: track["end"] - track["start"])
    assert 4 <= len(people) <= 20
    assert longest["end"] - longest["start"] >= 4
    assert people[0]["id"] == "person-1"
    for track in label["tracks"]:
        for each in track["boxes"]:
            left, top, right, bottom = each["box"]
            assert -1 <= left < right <= clip.info.width + 1
            assert -1 <= top < bottom <= clip.info.height + 1


def test_a_track_ends_at_a_cut(tmp_path):
    clip = _real("speech_two_faces.mp4", tmp_path, (0.0, 4.0))
    found = {"detections": Detections()(clip, {})}
    whole = Objects(classes=("person",))(clip, found)["tracks"]
    cut = Objects(classes=("person",))(clip, found | {"shots": {"cuts": [2.0]}})["tracks"]
    assert any(track["start"] < 2.0 <= track["end"] for track in whole)
    assert cut
    assert not any(track["start"] < 2.0 <= track["end"] for track in cut)


def test_only_known_classes_can_be_asked_for(tmp_path):
    clip = _clip(make_video(tmp_path / "a.mp4", seconds=0.2))
    with pytest.raises(ReelbenchError, match="has no class 'unicorn'"):
        Objects(classes=("dog", "unicorn"))(clip, {"detections": Detections()(clip, {})})
    assert {"fork", "toothbrush"} <= CLUTTER
    assert not {"person", "dog", "car"} & CLUTTER


def test_the_clean_clip_is_the_better_one_by_the_measures_that_apply():
    clean, bad = (Quality()(_real(f"carphone_{k}.mp4"), {}) for k in ("pristine", "distorted"))
    for name in ("sharpness", "contrast", "colourfulness"):
        assert clean[name]["mean"] > bad[name]["mean"], name
    assert 2 * clean["blockiness"]["mean"] < bad["blockiness"]["mean"]
    if "brisque" in clean:
        assert clean["brisque"]["mean"] < bad["brisque"]["mean"]


@pytest.mark.parametrize(
    ("damage", "names"),
    [
        ("shake", ("shake", "mean")),
        ("flicker", ("flicker", "mean")),
        ("freeze", ("freeze", "share")),
        ("freeze", ("freeze", "longest")),
        ("stutter", ("freeze", "share")),
        ("dropped frames", ("dropped", "unevenness")),
    ],
)
def test_what_happens_between_frames_is_seen_in_a_written_file(tmp_path, damage, names):
    source = _real("single_face.mp4").path
    values = []
    for severity in (0.0, 0.3, 0.7):
        out = tmp_path / f"{severity}.mp4"
        degrade_video(source, out, damage, severity)
        values.append(Quality(rate=0.5)(_clip(out), {})[names[0]][names[1]])
    assert values[0] < values[1] < values[2], values


def test_a_freeze_is_told_with_its_times(tmp_path):
    images = pictures(30)
    clip = _made(tmp_path / "freeze.mp4", images + images[-1:] * 50 + pictures(20))
    freeze = Quality()(clip, {})["freeze"]
    assert np.array(freeze["spans"]) == pytest.approx(np.array([[29 / 25, 79 / 25]]), abs=0.1)
    assert freeze["share"] == pytest.approx(0.5, abs=0.03)


def test_a_missing_model_of_brisque_is_said_and_never_fetched(tmp_path, monkeypatch):
    monkeypatch.setattr(socket.socket, "connect", _silent)
    clip = _clip(make_video(tmp_path / "a.mp4", seconds=0.2))
    label = Quality(brisque=str(tmp_path / "nowhere"))(clip, {})
    assert "brisque" not in label
    assert "apt-get install opencv-doc" in label["notes"][0]
    (tmp_path / "brisque_model_live.yml").write_text("other")
    (tmp_path / "brisque_range_live.yml").write_text("other")
    other = Quality(brisque=str(tmp_path))(clip, {})
    assert "are other versions" in other["notes"][0]


def test_brisque_is_worse_for_a_blurred_clip(tmp_path):
    if not any(Path(folder, "brisque_model_live.yml").exists() for folder in _BRISQUE_FOLDERS):
        pytest.skip("needs BRISQUE's model (on Debian: apt-get install opencv-doc)")
    source = _real("single_face.mp4")
    degrade_video(source.path, tmp_path / "blurred.mp4", "defocus", 0.5)
    scores = [
        Quality()(clip, {})["brisque"]["mean"] for clip in (source, _clip(tmp_path / "blurred.mp4"))
    ]
    assert scores[1] > scores[0] + 10


@pytest.mark.parametrize("operator", OPERATORS, ids=lambda one: one.name)
def test_the_same_clip_gets_the_same_bytes(operator):
    clip = _real("single_face.mp4")
    first, second = (json.dumps(operator(clip, {})) for _ in range(2))
    assert first == second


@pytest.mark.parametrize("operator", OPERATORS, ids=lambda one: one.name)
def test_odd_clips_are_labelled_or_refused_in_a_sentence(operator, tmp_path):
    json.dumps(operator(_made(tmp_path / "one.mp4", pictures(1)), {}))
    json.dumps(operator(_clip(make_video(tmp_path / "r.mp4", seconds=1, rotation=90)), {}))
    broken = make_video(tmp_path / "broken.mp4", seconds=2)
    data = bytearray(broken.read_bytes())
    middle = len(data) // 2
    data[middle : middle + 2000] = bytes(2000)
    broken.write_bytes(data)
    json.dumps(operator(_clip(broken), {}))
    with av.open(str(tmp_path / "sound.wav"), "w") as container:
        stream = container.add_stream("pcm_s16le", rate=16000)
        frame = av.AudioFrame.from_ndarray(np.zeros((1, 16000), np.int16), "s16", "mono")
        frame.rate = 16000
        container.mux(stream.encode(frame))
    with pytest.raises(NotApplicable, match="no video"):
        operator(_clip(tmp_path / "sound.wav"), {})
