"""What is said about people, on real clips, by the real models."""

from functools import cache
from pathlib import Path

import numpy as np
import pytest
from support import SHARED
from videos import make_video

from reelbench.annotate.common import crops
from reelbench.annotate.operator import Clip, NotApplicable, Value
from reelbench.annotate.operators.appearance import PALETTE, Appearance, _colours, _lab, sentence
from reelbench.annotate.operators.demographics import Demographics
from reelbench.annotate.operators.emotion import EMOTIONS, Emotion
from reelbench.annotate.operators.mouth import Mouth
from reelbench.annotate.operators.speaker import Speaker
from reelbench.annotate.registry import in_order, load_operator
from reelbench.media.decode.probe import MediaInfo, probe

VIDEOS = SHARED / "data" / "video"
shared = pytest.mark.skipif(not VIDEOS.is_dir(), reason=f"the clips of {VIDEOS} are not here")
ABOUT_PEOPLE = (Demographics(), Emotion(), Mouth(), Appearance())


@cache
def clip(name: str) -> Clip:
    return Clip(VIDEOS / name, name, probe(VIDEOS / name))


@cache
def labels(name: str) -> dict[str, Value]:
    """All that is said about people on a clip of one shot, by real operators."""
    wanted = ["demographics", "emotion", "mouth", "appearance"]
    if clip(name).info.has_audio:
        wanted.append("speaker")
    known: dict[str, Value] = {"shots": {"cuts": []}}
    for label in in_order(wanted):
        if label not in known:
            known[label] = load_operator(label)(clip(name), known)
    return known


def of(name: str, label: str) -> dict[str, Value]:
    return {person["id"]: person for person in labels(name)[label]["people"]}


@shared
def test_the_one_in_front_speaks_and_the_other_is_silent() -> None:
    speaker = of("speech_two_faces.mp4", "speaker")
    assert {person: each["speaks"] for person, each in speaker.items()} == {"p1": False, "p2": True}
    assert sum(end - start for start, end in speaker["p2"]["spans"]) > 4
    assert speaker["p2"]["confidence"] > 0.95
    assert abs(speaker["p2"]["lag"]) <= 0.08
    # Whatever is said of p1, it never comes near.
    assert max(score for _, score in speaker["p1"]["at"]) < 0.2


@shared
def test_lips_are_measured_about_as_often_as_asked() -> None:
    mouth = of("speech_two_faces.mp4", "mouth")
    silent, speaking = (np.array(mouth[person]["at"]) for person in ("p1", "p2"))
    assert len(silent) > 90  # 8.7 s of 12 frames a second
    assert speaking[:, 1].std() > 2 * silent[:, 1].std()
    # A smile shows teeth, and stays.
    smile = np.array(
        Mouth()(clip("single_face.mp4"), _without_sound("single_face.mp4"))["people"][0]["at"]
    )
    assert smile[smile[:, 0] < 0.4, 1].max() < 0.03
    assert smile[smile[:, 0] > 1.2, 1].min() > 0.1


def _without_sound(name: str) -> dict[str, Value]:
    return {label: value for label, value in labels(name).items() if label != "sound"}


@shared
def test_mouths_are_not_looked_at_where_nobody_is_heard() -> None:
    assert [person["at"] for person in labels("expressions.mp4")["mouth"]["people"]] == [[]]
    assert not of("expressions.mp4", "speaker")["p1"]["speaks"]


@shared
@pytest.mark.parametrize(
    ("name", "person", "gender", "between"),
    [
        ("speech_two_faces.mp4", "p1", "male", (50, 80)),  # white hair, about 70
        ("speech_two_faces.mp4", "p2", "male", (40, 65)),  # grey hair, about 50
        ("expressions.mp4", "p1", "female", (20, 38)),
        ("single_face.mp4", "p1", "male", (25, 40)),
        ("carphone_pristine.mp4", "p1", "male", (20, 45)),
    ],
)
def test_age_and_gender_are_plausible(
    name: str, person: str, gender: str, between: tuple[int, int]
) -> None:
    said = of(name, "demographics")[person]
    assert said["guess"]["gender"] == gender
    assert said["gender"] in (gender, None)
    assert (said["gender"] is None) == (said["confidence"]["gender"] < 0.85)
    assert between[0] <= said["age"] <= between[1]
    assert said["age_range"][0] <= said["age"] <= said["age_range"][1]
    assert said["faces"] == 9


@shared
@pytest.mark.parametrize(
    ("name", "person", "group"),
    [("expressions.mp4", "p1", "adult"), ("single_face.mp4", "p1", "adult")],
)
def test_who_is_clearly_seen_has_gender_and_age_group(name: str, person: str, group: str) -> None:
    said = of(name, "demographics")[person]
    assert said["gender"] is not None
    assert said["age_group"] == said["guess"]["age_group"] == group


@shared
def test_who_must_be_surer_says_nothing_and_keeps_the_guess() -> None:
    known = labels("single_face.mp4")
    [person] = Demographics(least_confidence=0.99)(clip("single_face.mp4"), known)["people"]
    assert person["gender"] is person["age_group"] is None
    assert person["guess"] == {"gender": "male", "age_group": "adult"}
    [person] = Emotion(least_confidence=0.99)(clip("single_face.mp4"), known)["people"]
    assert person["emotion"] is None
    assert person["guess"] == "happiness"
    name = "speech_two_faces.mp4"
    for person in Appearance(least_confidence=0.99)(clip(name), labels(name))["people"]:
        assert person["guess"]["clothes"]
        assert person["facts"]["clothes"] is person["facts"]["hair"] is None
        assert "clothes" not in person["text"]
        assert "hair" not in person["text"]


@shared
def test_an_emotion_of_half_the_clip_is_not_that_of_the_person() -> None:
    # She weeps for six seconds and smiles at the end: no one word holds, and none is said.
    said = of("expressions.mp4", "emotion")["p1"]
    assert said["emotion"] is None
    assert said["confidence"] < 0.8


@shared
def test_expressions_are_named_as_one_sees_them() -> None:
    at = of("expressions.mp4", "emotion")["p1"]["at"]

    def share(word: str, start: float, end: float) -> float:
        within = [name for time, name, _ in at if start <= time < end]
        return within.count(word) / len(within)

    assert share("sadness", 0, 6) > 0.8
    assert share("happiness", 13, 20) > 0.9
    smile = of("single_face.mp4", "emotion")["p1"]["at"]
    assert [name for time, name, _ in smile if time < 0.4] == ["neutral"] * 2
    assert {name for time, name, _ in smile if time > 1} == {"happiness"}


@shared
def test_scores_of_emotions_are_probabilities() -> None:
    said = of("expressions.mp4", "emotion")["p1"]
    assert set(said["scores"]) == set(EMOTIONS)
    assert sum(said["scores"].values()) == pytest.approx(1, abs=1e-3)
    assert said["scores"][said["guess"]] == max(said["scores"].values())


@shared
def test_people_are_described_by_what_can_be_seen() -> None:
    both = of("speech_two_faces.mp4", "appearance")
    assert both["p1"]["facts"]["position"] == "left"
    assert both["p1"]["guess"]["hair"]["tone"] == "light"
    assert both["p2"]["guess"]["hair"]["tone"] == "dark"
    for person in both.values():
        assert person["facts"]["clothes"][0]["colour"] == "black"
        assert person["facts"]["motion"] == "still"
        assert "black" in person["text"]
    assert of("expressions.mp4", "appearance")["p1"]["facts"]["distance"] == "near"


@shared
@pytest.mark.parametrize("operator", ABOUT_PEOPLE, ids=lambda each: each.name)
def test_the_same_is_said_each_time(operator: object) -> None:
    name = "carphone_pristine.mp4"
    assert operator(clip(name), labels(name)) == labels(name)[operator.name]


@shared
def test_clips_without_sound_have_mouths_too() -> None:
    assert len(of("carphone_pristine.mp4", "mouth")["p1"]["at"]) > 40


# Made-up labels, and clips that nobody would choose.


def made_up(points: bool = True, height: float = 60.0) -> dict[str, Value]:
    """One person in the middle of a small picture, where the label says that there is a face."""
    box = [100.0, 40.0, 100.0 + height * 0.75, 40.0 + height]
    five = [[115.0, 65.0], [132.0, 65.0], [123.0, 76.0], [116.0, 86.0], [131.0, 86.0]]
    times = [0.0, 0.2, 0.4, 0.6]
    faces = [{"box": box, "score": 0.9, "points": five}] if points else []
    boxes = [{"time": time, "box": box, "score": 0.9 if points else None} for time in times]
    track = {"shot": 0, "start": 0.0, "end": 0.6, "boxes": boxes}
    return {
        "faces": {
            "width": 320,
            "height": 180,
            "rate": 5,
            "frames": [{"time": t, "faces": faces} for t in times],
        },
        "tracks": {"people": [{"id": "p1", "tracks": [track]}]},
    }


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Clip:
    path = tmp_path_factory.mktemp("made") / "made.mp4"
    make_video(path)
    return Clip(path, "", probe(path))


@pytest.mark.parametrize("operator", ABOUT_PEOPLE, ids=lambda each: each.name)
def test_nobody_followed_is_nobody_described(made: Clip, operator: object) -> None:
    with pytest.raises(NotApplicable, match="no tracked people"):
        operator(made, made_up() | {"tracks": {"people": []}})


@pytest.mark.parametrize("operator", ABOUT_PEOPLE, ids=lambda each: each.name)
@pytest.mark.parametrize(
    "known", [made_up(points=False), made_up(height=4.0)], ids=["guessed", "tiny"]
)
def test_someone_seen_too_badly_is_listed_with_nothing(
    made: Clip, operator: object, known: dict[str, Value]
) -> None:
    [person] = operator(made, known)["people"]
    assert person["id"] == "p1"
    assert not person.get("age")
    assert not person.get("emotion")
    assert not person.get("at")
    assert person.get("text", "A person.").startswith("A person")


@pytest.mark.parametrize("operator", ABOUT_PEOPLE, ids=lambda each: each.name)
def test_a_picture_without_the_face_that_is_claimed_breaks_nothing(
    made: Clip, operator: object
) -> None:
    [person] = operator(made, made_up())["people"]
    assert person["id"] == "p1"


def test_a_face_is_laid_on_the_layout_however_it_is_turned() -> None:
    layout = np.array([[0.3, 0.3], [0.7, 0.3], [0.5, 0.5], [0.35, 0.7], [0.65, 0.7]])
    turn = np.array([[np.cos(0.7), np.sin(0.7)], [-np.sin(0.7), np.cos(0.7)]])
    points = (layout * 40) @ turn + (90, 60)
    image = np.zeros((180, 320, 3), np.uint8)
    for x, y in points:
        image[round(y) - 1 : round(y) + 2, round(x) - 1 : round(x) + 2] = 255
    face = crops.aligned(image, points, layout, 80)
    for x, y in layout * 80:
        assert face[round(y), round(x), 0] > 150
    # Shrunk, a pixel is the mean of what lies in it.
    assert crops.aligned(image, points, layout, 8).mean() == pytest.approx(face.mean(), rel=0.3)


def test_every_colour_of_the_palette_is_called_by_its_name() -> None:
    for name, codes in PALETTE.items():
        for code in codes:
            image = np.full((40, 40, 3), tuple(bytes.fromhex(code)), np.uint8)
            assert _colours([_lab(image, (0, 0, 40, 40))])[0] == {"colour": name, "share": 1.0}
    assert (
        _colours([_lab(np.zeros((40, 40, 3), np.uint8), (0, 39, 40, 90))]) == []
    )  # below the picture


def test_a_sentence_leaves_out_what_is_not_known() -> None:
    facts: Value = {
        "clothes": [],
        "hair": None,
        "position": None,
        "distance": None,
        "motion": None,
        "direction": None,
    }
    assert sentence(facts) == "A person."
    facts |= {"position": "left", "clothes": [{"colour": "red"}, {"colour": "white"}]}
    facts |= {"motion": "moving", "direction": "nearer"}
    assert sentence(facts) == "A person on the left, in red and white clothes, who comes nearer."


def test_a_clip_of_music_has_no_speaker() -> None:
    music = {
        "spans": [{"start": 0.0, "end": 9.0, "kind": "music", "score": 1.0}],
        "shares": {"music": 1.0},
    }
    moving = [[n * 0.08, 0.1 * (n % 2), 0.5, 0.2, 1.0] for n in range(100)]
    known = {
        "sound": music,
        "mouth": {"people": [{"id": "p1", "at": moving}]},
        "tracks": {"people": [{"id": "p1"}]},
    }
    [person] = Speaker()(Clip(Path("x"), "", MediaInfo("mp4", 9.0, 9.0)), known)["people"]
    assert (person["speaks"], person["longest_run"]) == (False, 0)
