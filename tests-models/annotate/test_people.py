"""Who is in the picture, with the real models, on real clips with known facts."""

import json
from functools import cache
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest
from support import SHARED
from videos import make_video, tone

from reelbench.annotate.common.coco import detect
from reelbench.annotate.common.tracking import Detection
from reelbench.annotate.operator import Clip, NotApplicable, PartOperator
from reelbench.annotate.registry import load_operator
from reelbench.media.decode.decode import frames_at
from reelbench.media.decode.probe import probe
from reelbench.media.decode.stream import scan_frames

VIDEO = SHARED / "data" / "video"
real = pytest.mark.skipif(not VIDEO.exists(), reason="../shared/data/video is not there")


def clip_of(path: Path) -> Clip:
    return Clip(path, "", probe(path))


def said(clip: Clip, *names: str, **labels: Any) -> dict[str, Any]:
    """What operators say, one after the other; labels that are given are not made."""
    for name in names:
        labels[name] = load_operator(name)(clip, labels)
    return labels


@cache
def people_of(name: str) -> dict[str, Any]:
    return said(clip_of(VIDEO / name), "faces", "tracks", "face_ratio", shots={"cuts": []})


def holds(body: list[float], face: list[float]) -> bool:
    x, y = (face[0] + face[2]) / 2, (face[1] + face[3]) / 2
    return body[0] <= x <= body[2] and body[1] <= y <= body[3]


@real
def test_two_faces_are_two_people_all_along() -> None:
    people = people_of("speech_two_faces.mp4")["tracks"]["people"]
    assert [person["id"] for person in people] == ["p1", "p2"]
    for person in people:
        (track,) = person["tracks"]
        assert track["start"] == 0.0
        assert track["end"] > 8.5
        assert sum(box["score"] is not None for box in track["boxes"]) > 0.95 * len(track["boxes"])
    left, right = (person["tracks"][0]["boxes"][0]["box"] for person in people)
    assert left[2] < right[0]


@real
@pytest.mark.parametrize(
    ("name", "low", "high"),
    # In the last, the face is on the screen for 2.4 of 6.4 seconds.
    [("expressions.mp4", 0.95, 1), ("single_face.mp4", 0.95, 1), ("face_then_none.mov", 0.35, 0.5)],
)
def test_share_of_frames_with_a_face(name: str, low: float, high: float) -> None:
    labels = people_of(name)
    assert low <= labels["face_ratio"]["share"] <= high
    assert labels["face_ratio"]["frames"] == len(labels["faces"]["frames"])
    assert len(labels["tracks"]["people"]) == 1


@real
def test_people_are_known_again_after_a_cut() -> None:
    clip, detector = clip_of(VIDEO / "video3.mp4"), load_operator("faces")
    assert isinstance(detector, PartOperator)
    faces = detector.merge(clip, {}, [detector.part(clip, {}, (0.0, 8.0))])
    people = said(clip, "tracks", faces=faces, shots={"cuts": [4.2917]})["tracks"]["people"]
    assert [{track["shot"] for track in person["tracks"]} for person in people] == [{0, 1}, {0, 1}]


@real
def test_a_jolt_of_the_camera_and_hands_before_the_face_do_not_make_new_people() -> None:
    # Two girls; the one behind is hidden for seconds, and once half of her face is seen.
    people = people_of("video4.mp4")["tracks"]["people"]
    assert len(people) <= 3
    boxes = [box for track in people[0]["tracks"] for box in track["boxes"]]
    assert len(boxes) > 170  # of 180 looks
    assert len({box["time"] for box in boxes}) == len(boxes)


@real
def test_faces_are_in_pixels_of_the_full_size_and_listed_for_every_look(tmp_path: Path) -> None:
    image = frames_at(VIDEO / "single_face.mp4", [0.0])[0].image
    faces = []
    for scale in (1, 3):
        path = tmp_path / f"{scale}.png"
        _save(path, np.kron(image, np.ones((scale, scale, 1), np.uint8)))
        label = said(clip_of(path), "faces")["faces"]
        assert (label["width"], label["height"]) == (640 * scale, 360 * scale)
        (frame,) = label["frames"]
        (face,) = frame["faces"]
        faces.append(np.array([*face["box"], *np.ravel(face["points"])]))
    np.testing.assert_allclose(faces[1], faces[0] * 3, atol=12)


@real
def test_one_frame_is_enough_for_a_person(tmp_path: Path) -> None:
    _save(tmp_path / "one.png", frames_at(VIDEO / "single_face.mp4", [0.0])[0].image)
    labels = said(
        clip_of(tmp_path / "one.png"),
        *("faces", "detections", "tracks", "bodies", "count"),
        shots={"cuts": []},
    )
    assert labels["count"]["people"] == labels["count"]["most_at_once"] == 1
    assert len(labels["bodies"]["people"][0]["boxes"]) == 1


@real
def test_a_file_broken_in_the_middle_keeps_the_people_around_the_break(tmp_path: Path) -> None:
    whole = bytearray((VIDEO / "expressions.mp4").read_bytes())
    middle = len(whole) // 2
    whole[middle : middle + 3000] = bytes(3000)
    (tmp_path / "broken.mp4").write_bytes(whole)
    labels = said(clip_of(tmp_path / "broken.mp4"), "faces", "tracks", shots={"cuts": [5.0, 15.0]})
    assert len(labels["tracks"]["people"]) == 1
    assert labels["tracks"]["people"][0]["tracks"][-1]["end"] > 10


@real
def test_the_same_bytes_again() -> None:
    name = "speech_two_faces.mp4"
    again = said(clip_of(VIDEO / name), "faces", "tracks", shots={"cuts": []})
    for label in ("faces", "tracks"):
        assert json.dumps(again[label]) == json.dumps(people_of(name)[label])


@real
def test_embeddings_are_in_the_label_where_asked_for() -> None:
    labels = people_of("speech_two_faces.mp4")
    tracks = load_operator("tracks", embeddings=True)
    people = tracks(clip_of(VIDEO / "speech_two_faces.mp4"), labels)["people"]
    first, second = (np.array(person["embedding"]) for person in people)
    assert first.shape == (128,)
    assert np.linalg.norm(first) == pytest.approx(1, abs=1e-3)
    assert first @ second < 0.35
    assert "embedding" not in labels["tracks"]["people"][0]


@real
def test_bodies_hold_their_faces_and_are_told_apart() -> None:
    clip = clip_of(VIDEO / "speech_two_faces.mp4")
    labels = people_of("speech_two_faces.mp4")
    bodies = said(clip, "detections", "bodies", **labels)["bodies"]["people"]
    for person, body in zip(labels["tracks"]["people"], bodies, strict=True):
        faces = person["tracks"][0]["boxes"]
        assert [box["time"] for box in body["boxes"]] == [box["time"] for box in faces]
        assert all(holds(b["box"], f["box"]) for b, f in zip(body["boxes"], faces, strict=True))
        assert sum(box["score"] is not None for box in body["boxes"]) >= 15
        assert body["confidence"] > 0.8
    assert bodies[0]["boxes"][0]["box"] != bodies[1]["boxes"][0]["box"]


@real
def test_the_detector_finds_people_seen_from_behind_within_the_picture() -> None:
    times = (10.0, 20.0, 70.0)
    for frame in frames_at(VIDEO / "pedestrians.avi", times):
        found = detect(frame.image, ("person",), 0.5)
        assert len(found) >= 4
        for each in found:
            assert each.name == "person"
            assert 0 <= each.box[0] < each.box[2] <= 768
            assert 0 <= each.box[1] < each.box[3] <= 576


@real
def test_people_seen_from_behind_are_counted_by_their_bodies_and_not_for_sure() -> None:
    clip = clip_of(VIDEO / "pedestrians.avi")
    looks = [
        {"time": time, "found": [_plain(each) for each in detect(image, ("person",), 0.3)]}
        for time, image in scan_frames(clip.path, 2.5, 640, end=4.0)
    ]
    labels: dict[str, Any] = {"detections": {"frames": looks}, "tracks": {"people": []}}
    count = said(clip, "count", **labels)["count"]
    assert 3 <= count["most_at_once"] <= 7
    assert count["by_body"] == count["most_at_once"]
    assert count["people"] is None, "who is seen from behind cannot be told apart"
    assert count["confidence"] < 0.8
    assert [time for time, _ in count["at"]] == [look["time"] for look in looks]


def _plain(found: Detection) -> dict[str, Any]:
    return {"class": found.name, "box": list(found.box), "score": found.score}


def test_nobody_is_no_crash(tmp_path: Path) -> None:
    clip = clip_of(make_video(tmp_path / "v.mp4", seconds=1))
    names = ("faces", "detections", "tracks", "face_ratio", "bodies", "count")
    labels = said(clip, *names, shots={"cuts": []})
    assert labels["face_ratio"]["share"] == 0
    assert labels["tracks"]["people"] == labels["bodies"]["people"] == []
    assert labels["count"]["guess"] == 0


def test_sound_alone_has_no_faces(tmp_path: Path) -> None:
    path = tmp_path / "sound.wav"
    with av.open(str(path), "w") as target:
        stream = target.add_stream("pcm_s16le", rate=16000, layout="mono")
        for frame in tone(1.0):
            target.mux(stream.encode(frame))
        target.mux(stream.encode(None))
    with pytest.raises(NotApplicable, match="no video"):
        load_operator("faces")(clip_of(path), {})


def _save(path: Path, image: np.ndarray) -> None:
    from PIL import Image

    Image.fromarray(image).save(path)
