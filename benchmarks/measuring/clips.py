"""What operators say of real clips, beside the facts that are known of them."""

import tempfile
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from measuring.world import clip_of, table
from reelbench.annotate.operators.fingerprint import near_duplicate_clips
from reelbench.annotate.registry import in_order, load_operator
from reelbench.media.edit.clip import cut_exactly


def said(path: Path, *names: str, **labels: Any) -> dict[str, Any]:
    """What operators say of a clip, with all that they need."""
    clip = clip_of(path)
    for name in in_order(list(names)):
        if name not in labels:
            labels[name] = load_operator(name)(clip, labels)
    return labels


def clips(folder: Path) -> None:
    """Print what is known beside what is said."""
    rows = [*of_pictures(folder), *of_people(folder), *of_things(folder)]
    table("real clips", ("what", "known", "said"), rows)
    listened(folder)


def of_pictures(folder: Path) -> Iterable[tuple[str, str, str]]:
    """Shots, motion, quality, copies, unsafe pictures, text."""
    for detector, known in (("content", "3/1/2"), ("adaptive", "3/1/8"), ("threshold", "1/1/1")):
        operator = load_operator("shots", detector=detector)
        found = [len(operator(clip_of(folder / f"video{n}.mp4"), {})["shots"]) for n in (1, 2, 3)]
        yield f"shots of video1-3, {detector}", known, "/".join(map(str, found))
    motion = {n: said(folder / f"video{n}.mp4", "motion")["motion"]["pixels"] for n in (1, 2, 3)}
    order = sorted(motion, key=lambda n: -motion[n])
    yield "motion of video1-3", "2 > 1 > 3", " > ".join(f"{n} ({motion[n]:.1f})" for n in order)
    clean, bad = (
        said(folder / f"carphone_{each}.mp4", "quality")["quality"]
        for each in ("pristine", "distorted")
    )
    for name in ("sharpness", "contrast", "colourfulness", "blockiness", "noise"):
        both = f"{clean[name]['mean']:.3f}, {bad[name]['mean']:.3f}"
        yield f"{name} of carphone, clean and damaged", "the first is better", both
    prints = {
        path.name: said(path, "fingerprint")["fingerprint"]
        for path in sorted(folder.glob("*.*"))
        if path.suffix in (".mp4", ".mov", ".avi")
    }
    twins = [f"{each.longer} {each.shorter}" for each in near_duplicate_clips(prints)]
    yield "the same video, of all pairs", "carphone; single_face, face_then_none", ", ".join(twins)
    for name in ("animation_trailer", "expressions", "video1", "speech_two_faces"):
        unsafe = said(folder / f"{name}.mp4", "unsafe")["unsafe"]
        yield f"unsafe in {name}", "nothing", f"mean {unsafe['mean']}, most {unsafe['most']}"
    lines = said(folder / "speech_two_faces.mp4", "text")["text"]["lines"]
    read = [each["text"] for each in lines]
    yield "caption", "PRESIDENT OBAMA STATEMENT ON IRAN", "; ".join(read)


def of_people(folder: Path) -> Iterable[tuple[str, str, str]]:
    """Faces, who speaks, and what is said of them; what is known of looks is known by eye."""
    two = folder / "speech_two_faces.mp4"
    labels = said(two, "speaker", "demographics", "turns", "pitch", "transcript")
    tracks = [f"{each['id']}: {len(each['tracks'])}" for each in labels["tracks"]["people"]]
    yield "tracks of faces in speech_two_faces", "p1: 1, p2: 1", ", ".join(tracks)
    speaks = [each["id"] for each in labels["speaker"]["people"] if each["speaks"]]
    yield "who speaks there", "p2, in front", ", ".join(speaks)
    looks = [f"{each['gender']} {each['age']}" for each in labels["demographics"]["people"]]
    yield "age and gender there", "men of about 70 and 50", ", ".join(looks)
    yield "voices there", "1", str(labels["turns"]["speakers"])
    yield "pitch there", "141 Hz by Praat", f"{labels['pitch']['median']} Hz"
    yield "language there", "en", labels["transcript"]["language"]
    shares = {"expressions.mp4": 1.0, "single_face.mp4": 1.0, "face_then_none.mov": 0.375}
    for name, share in shares.items():
        said_of = said(folder / name, "face_ratio")["face_ratio"]
        yield f"share of frames with a face in {name}", str(share), str(said_of["share"])
    expressed = {
        "expressions.mp4": "weeps to 6 s, looks up, worried, to 10 s, then smiles",
        "single_face.mp4": "blank to 0.7 s, then a grin",
    }
    for name, known in expressed.items():
        (person,) = said(folder / name, "emotion")["emotion"]["people"]
        yield f"emotions in {name}", known, in_words(person["at"])


def in_words(at: Sequence[tuple[float, str, float]]) -> str:
    """What is mostly expressed in each second, one after the other."""
    seconds = []
    for _, looks in groupby(at, key=lambda one: int(one[0])):
        names = [name for _, name, _ in looks]
        seconds.append(max(sorted(set(names)), key=names.count))
    return ", ".join(f"{name} {len(list(run))} s" for name, run in groupby(seconds))


def of_things(folder: Path) -> Iterable[tuple[str, str, str]]:
    """Pedestrians and a cartoon, where much goes wrong."""
    with tempfile.TemporaryDirectory() as place:
        part = Path(place) / "part.mp4"
        cut_exactly(folder / "pedestrians.avi", 0.0, 21.0, part)
        people = [
            track
            for track in said(part, "objects")["objects"]["tracks"]
            if track["class"] == "person"
        ]
    there = [
        sum(track["start"] <= moment <= track["end"] for track in people)
        for moment in (2.0, 8.0, 14.0, 20.0)
    ]
    yield "pedestrians at 2, 8, 14 and 20 s", "5, 7, 9, 7 by eye", ", ".join(map(str, there))
    yield "tracks of them in 21 s", "9 at once at most, by eye", str(len(people))
    trailer = folder / "animation_trailer.mp4"
    faces = load_operator("faces", rate=2.0)(clip_of(trailer), {})
    share = said(trailer, "face_ratio", faces=faces)["face_ratio"]["share"]
    yield "share of frames with a face in animation_trailer", "animals", str(share)
    things = [track["class"] for track in said(trailer, "objects")["objects"]["tracks"]]
    found = [f"{name} {number}" for name, number in Counter(things).most_common()]
    yield "things in animation_trailer", "rabbit, squirrels, birds", ", ".join(found)


def listened(folder: Path) -> None:
    """The shares of kinds of sound in every clip that has sound."""
    known = {
        "animation_trailer": "music", "expressions": "silence", "speech_two_faces": "speech",
        "video1": "music", "video2": "music", "video3": "music", "video4": "speech",
        "video5": "speech",
    }  # fmt: skip
    rows = []
    for name, kind in known.items():
        shares = said(folder / f"{name}.mp4", "sound")["sound"]["shares"]
        rows.append((name, kind, *shares.values()))
    head = ("clip", "known", "speech", "singing", "music", "silence", "other")
    table("sound on real clips, in shares of time", head, rows)
