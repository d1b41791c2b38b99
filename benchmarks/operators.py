"""How well operators do, held against truth: rendered scenes, espeak-ng's voices, and real clips.

    python benchmarks/operators.py [--clips FOLDER] [--only SECTION ...]

FOLDER holds real clips with known facts (default: ../shared/data/video; without it that section is
left out). Sections are shots, tracks, course, text, sound, words, turns, small and clips. Seeds are
fixed, so figures come out the same each time. All of it takes four minutes of CPU. The
figures are on the page docs/operators.md. (One long file of tables; each part can be read alone.)
"""

import argparse
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont
from scipy.optimize import linear_sum_assignment
from scipy.stats import spearmanr

from reelbench.annotate.fingerprint import near_duplicate_clips
from reelbench.annotate.operator import Clip
from reelbench.annotate.pitch import Pitch, yin
from reelbench.annotate.registry import in_order, load_operator
from reelbench.annotate.tracking import Detection, Track, best_pairs, join, overlaps, shot_at
from reelbench.media.audio import SPEECH_RATE, read_audio, write_wav
from reelbench.media.clip import cut_exactly
from reelbench.media.compose import compose
from reelbench.media.probe import probe
from reelbench.media.scene import FRAME_RATE, HEIGHT, SOUND_LENGTH, WIDTH, Scene
from reelbench.media.synthesize import draw_frame, synthesize
from reelbench.media.write import written

CLIPS = Path(__file__).parents[2] / "shared" / "data" / "video"
SEED, VIDEOS = 7, 8
FEW = 4  # videos for what takes long
SENTENCES = (
    "The old sailor walked slowly along the river in the morning.",
    "He carried a wooden box with seven letters from his brother.",
    "Nobody in the village knew what was written in them.",
    "On Sunday the children asked him to tell a story about the sea.",
)
Sound = NDArray[np.float32]
Span = tuple[float, float]


def table(title: str, head: Sequence[object], rows: Iterable[Sequence[object]]) -> None:
    """Print a table, and flush it, so that who waits sees something."""
    cells = [[f"{x:.3f}" if isinstance(x, float) else str(x) for x in row] for row in [head, *rows]]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    print(f"\n{title}")
    for row in cells:
        print("  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)))
    sys.stdout.flush()


def clip_of(path: Path) -> Clip:
    """Open a file as the operators want it."""
    return Clip(path, str(path), probe(path))


@cache
def scenes() -> list[Scene]:
    """The scenes that are looked at."""
    return [compose(SEED, f"scene-{number:02d}") for number in range(1, VIDEOS + 1)]


def rendered(folder: Path) -> list[tuple[Scene, Clip]]:
    """The scenes with their videos, rendered once."""
    for scene in scenes():
        if not (folder / f"{scene.name}.mp4").exists():
            synthesize(scene, folder / f"{scene.name}.mp4", folder / f"{scene.name}.json")
    return [(scene, clip_of(folder / f"{scene.name}.mp4")) for scene in scenes()]


def cuts_of(scene: Scene) -> list[float]:
    """When one shot ends and the next begins."""
    return [shot.start for shot in scene.shots[1:]]


def edits(wanted: Sequence[Hashable], got: Sequence[Hashable]) -> int:
    """How many words or letters must be put in, left out or changed."""
    row = list(range(len(got) + 1))
    for number, one in enumerate(wanted, 1):
        above, row = row, [number]
        for place, other in enumerate(got):
            row.append(min(row[-1] + 1, above[place + 1] + 1, above[place] + (one != other)))
    return row[-1]


# Pictures


def shots(folder: Path) -> None:
    """Cuts found within two frames of the true ones."""
    rows = []
    for detector in ("content", "adaptive", "threshold"):
        hits = found = true = 0
        for scene, clip in rendered(folder):
            got = load_operator("shots", detector=detector)(clip, {})["cuts"]
            far = np.abs(np.subtract.outer(np.array(cuts_of(scene)), np.array(got)))
            hits += len(best_pairs(-far, -2.01 / FRAME_RATE))
            found, true = found + len(got), true + len(cuts_of(scene))
        precision, recall = hits / max(found, 1), hits / true
        rows.append((detector, true, found, precision, recall, 2 * hits / (found + true)))
    table("shots on rendered scenes", ("detector", "true", "found", "P", "R", "F1"), rows)


def boxes_at(scene: Scene, moment: float) -> dict[str, tuple[float, float, float, float]]:
    """Where the shapes of a scene are."""
    return {
        actor.shape: (x - radius, y - radius, x + radius, y + radius)
        for actor in scene.actors
        if actor.visible(moment)
        for (x, y), radius in [(actor.position(moment), actor.radius(moment))]
    }


def seen(
    scene: Scene, rate: float, missed: float, jitter: float
) -> list[tuple[float, list[Detection]]]:
    """What a detector would see that misses some boxes, and is off by shares of their size."""
    rng = np.random.default_rng([SEED, round(100 * missed), int(scene.name[-2:])])
    looks = []
    for moment in np.arange(0, scene.duration, 1 / rate).tolist():
        found = []
        for box in boxes_at(scene, moment).values():
            off = rng.normal(0, jitter * (box[2] - box[0]), 4)
            left, top, right, bottom = (np.array(box) + off).tolist()
            if rng.random() >= missed:
                found.append(Detection((left, top, right, bottom), 0.9, "person"))
        looks.append((moment, found))
    return looks


def faults(
    scene: Scene, times: Sequence[float], tracks: Sequence[Track]
) -> tuple[int, int, int, int, int]:
    """Boxes, those covered, shapes in shots, tracks more than these, and changes of shape."""
    spots = [{spot.time: spot.box for spot in track.spots} for track in tracks]
    whole = covered = switches = 0
    followed: dict[tuple[str, int], set[int]] = {}
    last: dict[int, str] = {}
    for moment in times:
        true = boxes_at(scene, moment)
        there = [number for number, boxes in enumerate(spots) if moment in boxes]
        pairs = best_pairs(
            overlaps(list(true.values()), [spots[n][moment] for n in there]).reshape(
                len(true), len(there)
            ),
            0.5,
        )
        whole, covered = whole + len(true), covered + len(pairs)
        for shape in true:
            followed.setdefault((shape, shot_at(moment, cuts_of(scene))), set())
        for row, column in pairs:
            shape, track = list(true)[row], there[column]
            followed[shape, shot_at(moment, cuts_of(scene))].add(track)
            switches += last.get(track, shape) != shape
            last[track] = shape
    extra = sum(max(0, len(tracks) - 1) for tracks in followed.values())
    return whole, covered, len(followed), extra, switches


def tracks(folder: Path) -> None:
    """Following shapes whose boxes are known but for what a detector gets wrong; and counting."""
    rows, counts = [], []
    for name, rate in (("tracks", load_operator("faces").parameters["rate"]), ("objects", 0.0)):
        given = load_operator(name).parameters
        rate = rate or given["rate"]
        names = ("overlap", "gap", "least", "reach")
        settings = {each: given[each] for each in names if each in given}
        for missed, jitter in ((0.0, 0.0), (0.1, 0.05), (0.2, 0.05), (0.2, 0.1)):
            totals = np.zeros(5, int)
            for scene in scenes():
                looks = seen(scene, rate, missed, jitter)
                joined = join(looks, cuts=cuts_of(scene), **settings)
                totals += faults(scene, [moment for moment, _ in looks], joined)
            whole, covered, shapes, extra, switches = totals.tolist()
            as_in = f"{name}, {rate:g} a second"
            rows.append((as_in, missed, jitter, covered / whole, shapes, extra, switches))
            if name == "objects":
                counts.append(counted(folder, rate, missed, jitter, settings))
    head = ("as in", "missed", "jitter", "covered", "shapes in shots", "fragments", "switches")
    table("tracking.join on true boxes with noise", head, rows)
    columns = ("missed", "jitter", "error at a moment", "error of most at once", "said", "true")
    table("count, fed with those of objects", columns, counts)


def counted(
    folder: Path, rate: float, missed: float, jitter: float, settings: dict[str, Any]
) -> tuple[float, ...]:
    """How far the label of count is off: mean errors, and people in all, said and true."""
    moments, most, said, true = [], [], 0, 0
    for scene, clip in rendered(folder):
        joined = join(seen(scene, rate, missed, jitter), cuts=cuts_of(scene), **settings)
        paths = [
            {"class": "person", "boxes": [{"time": s.time, "box": s.box} for s in track.spots]}
            for track in joined
        ]
        frames = [{"time": moment} for moment in np.arange(0, scene.duration, 0.125).tolist()]
        known: dict[str, dict[str, Any]] = {
            "faces": {"frames": frames},
            "tracks": {"people": []},
            "objects": {"tracks": paths},
        }
        label = load_operator("count")(clip, known)
        real = [len(boxes_at(scene, moment)) for moment, _ in label["at"]]
        moments += [abs(n - r) for (_, n), r in zip(label["at"], real, strict=True)]
        most.append(abs(label["most_at_once"] - max(real)))
        said, true = said + label["people"], true + len(scene.actors)
    return missed, jitter, float(np.mean(moments)), float(np.mean(most)), said, true


def course(folder: Path) -> None:
    """When things happen: freezes, pieces of known videos; and how much moves."""
    videos = rendered(folder)
    errors, false = frozen(folder, videos[:FEW])
    shifts, flow, real = [], [], []
    prints = {scene.name: load_operator("fingerprint")(clip, {}) for scene, clip in videos}
    for scene, clip in videos:
        cut_exactly(clip.path, 2.4, 8.4, folder / "piece.mp4")
        piece = load_operator("fingerprint")(clip_of(folder / "piece.mp4"), {})
        twins = near_duplicate_clips({"whole": prints[scene.name], "piece": piece})
        shifts += [abs(each.offset - 2.4) for each in twins]
        at = load_operator("motion")(clip, {"shots": {"cuts": cuts_of(scene)}})["at"]
        flow += [score for _, score in at]
        real += [moved(scene, moment - 0.5, moment) for moment, _ in at]
    rows = [
        ("a freeze of 2 s: found", f"{sum(e < 0.5 for e in errors)} of {FEW}"),
        ("its edges, worst error, s", max(errors)),
        ("freezes that are none", false),
        ("pieces of 6 s known again", f"{len(shifts)} of {VIDEOS}"),
        ("their place, worst error, s", max(shifts, default=np.nan)),
        ("different scenes taken for one", len(near_duplicate_clips(prints))),
        ("motion against true movement, rank correlation", float(spearmanr(flow, real)[0])),
    ]
    table("quality.freeze, fingerprint and motion on rendered scenes", ("what", "figure"), rows)


def frozen(folder: Path, videos: Sequence[tuple[Scene, Clip]]) -> tuple[list[float], int]:
    """How far off freezes are found, and how many are found in videos that have none."""
    errors, false = [], 0
    quality = load_operator("quality", rate=0.5)
    for scene, clip in videos:
        false += len(quality(clip, {})["freeze"]["spans"])
        with written(folder / "frozen.mp4", FRAME_RATE, 20, None) as writer:
            for number in range(scene.duration * FRAME_RATE):
                moment = number / FRAME_RATE
                writer.show(draw_frame(scene, 3.0 if 3 <= moment < 5 else moment), moment)
        spans = quality(clip_of(folder / "frozen.mp4"), {})["freeze"]["spans"]
        near = min(spans, key=lambda span: abs(span[0] - 3), default=[np.inf, np.inf])
        errors.append(max(abs(near[0] - 3.0), abs(near[1] - 4.96)))  # to the last still frame
    return errors, false


def moved(scene: Scene, start: float, end: float) -> float:
    """How far shapes went, by the area that they have."""
    before, after = boxes_at(scene, max(0.0, start)), boxes_at(scene, end)
    ways = [
        float(np.hypot(after[s][0] - before[s][0], after[s][1] - before[s][1]))
        * (after[s][2] - after[s][0]) ** 2
        for s in after
        if s in before
    ]
    return sum(ways)


def text(folder: Path) -> None:
    """Words on the screen of scenes, and print of several sizes."""
    rows = []
    for scene, clip in rendered(folder):
        lines = load_operator("text")(clip, {})["lines"]
        for word in scene.of_kind("word"):
            line = min(lines, key=lambda each: edits(word.detail, each["text"]), default=None)
            if line is None:
                rows.append((scene.name, word.detail, "", ""))
                continue
            end = word.time + scene.word_length
            off = max(abs(line["start"] - word.time), abs(line["end"] - end))
            rows.append((scene.name, word.detail, line["text"], off))
            lines.remove(line)
        rows += [(scene.name, "-", each["text"], "") for each in lines]
    table("text on rendered scenes", ("video", "shown", "read", "time off, s"), rows)
    sizes = (6, 8, 10, 12, 16)
    with written(folder / "print.mp4", FRAME_RATE, 20, None) as writer:
        for number in range(len(sizes) * len(SENTENCES) * FRAME_RATE):
            second = number // FRAME_RATE
            shown = printed(SENTENCES[second % 4], sizes[second // 4])
            writer.show(shown, number / FRAME_RATE)
    frames = load_operator("text")(clip_of(folder / "print.mp4"), {})["frames"]
    read = {int(frame["time"]): " ".join(x["text"] for x in frame["lines"]) for frame in frames}
    errors = [
        [
            edits(sentence, read.get(4 * place + number, "")) / len(sentence)
            for number, sentence in enumerate(SENTENCES)
        ]
        for place in range(len(sizes))
    ]
    by_size = [(size, float(np.mean(each))) for size, each in zip(sizes, errors, strict=True)]
    table("text of a size, in pixels of a picture 640 wide", ("size", "character error"), by_size)


@cache
def printed(sentence: str, size: int) -> NDArray[np.uint8]:
    """A sentence on a busy background."""
    rng = np.random.default_rng([SEED, size])
    coarse = Image.fromarray(rng.integers(40, 120, (18, 32, 3), np.uint8))
    picture = coarse.resize((WIDTH, HEIGHT), Image.Resampling.BICUBIC)
    font = ImageFont.load_default(size)
    ImageDraw.Draw(picture).text((20, HEIGHT * 0.8), sentence, (250, 250, 250), font=font)
    return np.asarray(picture)


# Sound


def say(folder: Path, voice: str, words: str, speed: int = 160) -> Sound:
    """Speech of espeak-ng, without the silence around it."""
    command = ["espeak-ng", "-v", voice, "-s", str(speed), "-w", str(folder / "say.wav"), words]
    subprocess.run(command, check=True)
    heard = read_audio(folder / "say.wav")[0]
    loud = np.flatnonzero(np.abs(heard) > 0.01)
    return np.asarray(heard[loud[0] : loud[-1] + 1], np.float32)


def silence(seconds: float) -> Sound:
    """Nothing."""
    return np.zeros(round(seconds * SPEECH_RATE), np.float32)


def tune(seconds: float) -> Sound:
    """A plucked melody."""
    out = np.zeros(round(seconds * SPEECH_RATE))
    for beat in range(int(seconds * 4)):
        begin = beat * SPEECH_RATE // 4
        times = np.arange(min(SPEECH_RATE, len(out) - begin)) / SPEECH_RATE
        pitch = 261.6 * 2 ** ((0, 4, 7, 12, 9, 5, 2, 7)[(beat * 3 + beat // 4) % 8] / 12)
        waves = [np.sin(2 * np.pi * pitch * n * times) / n for n in range(1, 6)]
        out[begin : begin + len(times)] += 0.12 * np.sum(waves, axis=0) * np.exp(-5 * times)
    return out.astype(np.float32)


def laid(folder: Path, parts: Sequence[tuple[str, Sound]]) -> tuple[Clip, list[str]]:
    """A clip of parts one after the other, and the name of what is heard each hundredth."""
    write_wav(folder / "laid.wav", np.concatenate([part for _, part in parts])[None], SPEECH_RATE)
    ends = np.cumsum([len(part) for _, part in parts]) / SPEECH_RATE
    moments = np.arange(0, ends[-1], 0.01)
    clip = Clip(folder / "laid.wav", str(time.monotonic_ns()), probe(folder / "laid.wav"))
    return clip, [parts[place][0] for place in np.searchsorted(ends, moments, side="right")]


def drawn(spans: Iterable[Span], count: int) -> NDArray[np.bool_]:
    """Say of each hundredth of a second whether it is in one of the spans."""
    moments = np.arange(count) * 0.01
    inside = [(moments >= start) & (moments < end) for start, end in spans]
    return np.asarray(np.any([moments < 0, *inside], axis=0))


def kinds(label: dict[str, Any], count: int) -> dict[str, NDArray[np.bool_]]:
    """Say for each kind of sound, and each hundredth of a second, whether it is heard."""
    names = ("speech", "singing", "music", "silence", "other")
    spans = {
        name: [(s["start"], s["end"]) for s in label["spans"] if s["kind"] == name]
        for name in names
    }
    return {name: drawn(each, count) for name, each in spans.items()}


def sound(folder: Path) -> None:
    """What is heard in scenes, which have no speech; and speech and music that are known."""
    states = ("silence", "hum", *SOUND_LENGTH)
    heard: dict[str, list[list[bool]]] = {state: [] for state in states}
    for scene, clip in rendered(folder):
        count = scene.duration * 100
        said = kinds(load_operator("sound")(clip, {}), count)
        state = np.where(drawn(scene.hum, count), "hum", "silence").astype(object)
        for event in scene.events:
            if event.sound:
                state[drawn([(event.time, event.time + SOUND_LENGTH[event.sound])], count)] = (
                    event.sound
                )
        for place, name in enumerate(state):
            heard[name].append([bool(each[place]) for each in said.values()])
    names = ("speech", "singing", "music", "silence", "other")
    rows = [
        (state, f"{len(each) / 100:.1f}", *np.mean(each, axis=0).tolist())
        for state, each in heard.items()
        if each
    ]
    table("sound on rendered scenes: what is said of what is heard", ("true", "s", *names), rows)
    clip, truth = laid(
        folder,
        [
            ("silence", silence(1.0)), ("speech", say(folder, "en-us", SENTENCES[0])),
            ("silence", silence(1.0)), ("music", tune(5.0)), ("silence", silence(1.2)),
            ("speech", say(folder, "en-us+f3", SENTENCES[1])), ("music", tune(4.0)),
            ("silence", silence(2.0)), ("speech", say(folder, "en-gb", SENTENCES[2])),
        ],
    )  # fmt: skip
    said = kinds(load_operator("sound")(clip, {}), len(truth))
    rows = []
    for kind in ("speech", "music", "silence"):
        true = np.array(truth) == kind
        hits = int((said[kind] & true).sum())
        precision, recall = hits / said[kind].sum(), hits / true.sum()
        rows.append((kind, precision, recall, 2 * hits / (said[kind].sum() + true.sum())))
    table("sound on espeak-ng and a melody", ("kind", "P", "R", "F1"), rows)


def words(folder: Path) -> None:
    """Word error rate at several speeds."""
    plain = " ".join(SENTENCES)
    rows = []
    for voice in ("en-us", "en-us+f3"):
        for speed in (120, 160, 200, 240):
            said = say(folder, voice, plain, speed)
            clip, _ = laid(folder, [("", silence(0.5)), ("", said), ("", silence(0.5))])
            label = load_operator("transcript")(clip, {})
            wanted, got = (
                "".join(c for c in each.lower() if c.isalpha() or c == " ").split()
                for each in (plain, label["text"])
            )
            spoken = [word for segment in label["segments"] for word in segment["words"]]
            off = abs(spoken[0]["start"] - 0.5) if spoken else float("nan")
            rows.append((voice, speed, edits(wanted, got) / len(wanted), off))
    table(
        "transcript of espeak-ng", ("voice", "words a minute", "word error", "first word off"), rows
    )


def turns(folder: Path) -> None:
    """Two voices in turn: the share of speech that is given to the wrong one, or to none."""
    pairs = [
        ("en-us", "en-us+f3"), ("en-us+m7", "en-us"), ("en-us+m3", "en-us+f4"),
        ("en-us+f2", "en-us+f4"), ("en-us", "en-gb"), ("en-us", "en-us+m1"),
    ]  # fmt: skip
    rows = []
    for pair in pairs:
        parts = []
        for number, sentence in enumerate(SENTENCES * 2):
            parts += [(pair[number % 2], say(folder, pair[number % 2], sentence))]
            parts += [("", silence(0.35))]
        clip, truth = laid(folder, parts)
        labels: dict[str, Any] = {}
        for name in ("sound", "turns", "pitch", "voice_demographics"):
            labels[name] = load_operator(name)(clip, labels)
        said = labels["turns"]
        genders = [each["gender"] or "-" for each in labels["voice_demographics"]["speakers"]]
        rows.append(
            (" and ".join(pair), said["speakers"], wrong_share(said, truth), ", ".join(genders))
        )
    table("turns of two voices of espeak-ng", ("voices", "found", "error", "gender said"), rows)


def wrong_share(label: dict[str, Any], truth: Sequence[str]) -> float:
    """Moments at which others are said to speak than do, to those of speech, at the best naming."""
    names = sorted({turn["speaker"] for turn in label["turns"]})
    voices = sorted({name for name in truth if name})
    real = np.array([[each == voice for each in truth] for voice in voices])
    spans = [
        [(t["start"], t["end"]) for t in label["turns"] if t["speaker"] == name] for name in names
    ]
    said = np.array([drawn(each, len(truth)) for each in spans]).reshape(len(names), -1)
    rows, columns = linear_sum_assignment(-(real.astype(int) @ said.astype(int).T))
    wrong = np.delete(said, columns, axis=0).any(axis=0)
    for number in range(len(voices)):
        given = said[columns[rows == number]].any(axis=0)
        wrong |= given != real[number]
    return float(wrong.sum() / real.any(axis=0).sum())


def small(folder: Path) -> None:
    """Pitch and loudness of known tones, and the language of known sentences."""
    times = np.arange(2 * SPEECH_RATE) / SPEECH_RATE
    errors, voiced = [], []
    for hertz in np.geomspace(70, 450, 24).tolist():
        harmonics = [np.sin(2 * np.pi * hertz * n * times) / n for n in range(1, 9)]
        noise = np.random.default_rng([SEED, round(hertz)]).normal(0, 0.02, len(times))
        wave = (0.2 * np.sum(harmonics, axis=0) + noise).astype(np.float32)
        settings = Pitch()
        limits = settings.lowest, settings.highest, settings.periodic
        found = yin(wave, np.arange(20, 180), *limits)
        voiced.append(float(np.mean(~np.isnan(found))))
        errors.append(float(np.nanmedian(np.abs(found / hertz - 1))))
    tone = np.sin(2 * np.pi * 997 * np.arange(5 * 48_000) / 48_000) / 10
    write_wav(folder / "tone.wav", tone[None].astype(np.float32), 48_000)
    lufs = load_operator("loudness")(clip_of(folder / "tone.wav"), {})["lufs"]
    sentences = {
        "en": "Where is the dog going now? I have no idea.",
        "fr": "Où va le chien maintenant ? Je n'en sais rien du tout.",
        "de": "Wohin geht der Hund jetzt? Ich habe keine Ahnung.",
        "es": "¿Adónde va el perro ahora? No tengo la menor idea.",
        "it": "Dove va il cane adesso? Non ne ho la minima idea.",
        "nl": "Waar gaat de hond nu heen? Ik heb geen idee.",
        "pl": "Dokąd idzie teraz ten pies? Nie mam pojęcia.",
        "tr": "Köpek şimdi nereye gidiyor? Hiçbir fikrim yok.",
        "ru": "Куда теперь идёт собака? Понятия не имею.",
        "ja": "犬は今どこへ行くのですか。まったくわかりません。",
    }
    clip = clip_of(folder / "tone.wav")
    written_in = {
        code: load_operator("language")(clip, {"text": {"lines": [{"text": sentence}]}})["written"]
        for code, sentence in sentences.items()
    }
    right = [code for code, said in written_in.items() if said == code]
    rows = [
        ("pitch of 24 tones, 70 to 450 Hz: worst error, %", 100 * max(errors)),
        ("share of moments with a pitch, least", min(voiced)),
        ("loudness of a tone of -23.01 LUFS", lufs),
        ("languages of one sentence each", f"{len(right)} of {len(sentences)}"),
    ]
    table("pitch, loudness, language", ("what", "figure"), rows)


# Real clips, with the facts that are known of them


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


SECTIONS: dict[str, Callable[[Path], None]] = {
    part.__name__: part for part in (shots, tracks, course, text, sound, words, turns, small)
}


def main() -> None:
    """Measure, and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--clips", type=Path, default=CLIPS, help="real clips with known facts")
    parser.add_argument("--only", nargs="+", choices=[*SECTIONS, "clips"])
    options = parser.parse_args()
    wanted = options.only or [*SECTIONS, "clips"]
    with tempfile.TemporaryDirectory() as folder:
        for name in wanted:
            began = time.monotonic()
            if name in SECTIONS:
                SECTIONS[name](Path(folder))
            elif options.clips.is_dir():
                clips(options.clips)
            print(f"  ({name}: {time.monotonic() - began:.0f} s)")


if __name__ == "__main__":
    main()
