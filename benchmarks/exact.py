"""How hard exact questions are, by their margin, for three declared observers or who looks.

    python benchmarks/exact.py [--split tune|held|both] [--questions 10] [--families F ...]
    python benchmarks/exact.py --sheets FOLDER [--answers FILE ...]

The same questions are made at each margin, of the families in which a margin turns what is
compared, with two seconds of a clip and 256 pixels. Rules were chosen on the clips of ``tune``;
the figures in docs/recipes/qbench-video.md are those of ``held``. Observers are no people. All
answer by the rules of the baseline ``pixels``: one sees the frames as they are, one sees them
shrunk and saved as poor JPEG, and one, the limited eye, sees them shrunk and with noise of its own
in every pixel (an equivalent input noise, as in Pelli, 1990). Intervals are over clips. It takes
a quarter of an hour of CPU.

With ``--sheets`` the questions are written to be looked at, too: a picture with the frames of each,
and a table to fill in for each of four viewers, in ``shown``; the keys lie beside that folder.
``--answers`` takes the tables that were filled in, and adds viewers to the observers.
"""

import argparse
import io
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
from measuring.viewing import viewed, write_questions, write_sheet
from measuring.world import table
from msgspec import structs
from PIL import Image as Pillow

from reelbench.base.seeds import rng_for, seed_for
from reelbench.data.items import Item
from reelbench.interop.qbench_video.taxonomy import PROTOCOL
from reelbench.media.decode.decode import Image
from reelbench.media.decode.frames import FrameSpec, decoded_frames
from reelbench.media.decode.probe import probe
from reelbench.media.measure.quality import DAMAGES
from reelbench.media.measure.visibility import BANDS
from reelbench.models.base import ImagePart, Message, Part, Request, TextPart
from reelbench.models.baselines.quality import answer_about_quality
from reelbench.recipes.qbench_exact.asking import VISIBILITY, ask
from reelbench.recipes.qbench_exact.clips import Segment
from reelbench.recipes.qbench_exact.plan import FAMILIES, QuestionPlan, damages_of
from reelbench.recipes.qbench_exact.targets import QuestionTargets
from reelbench.recipes.qbench_exact.videos import MadeQuestion, write_videos
from reelbench.score.intervals import Cell, intervals

CLIPS = Path(__file__).parents[2] / "shared" / "data" / "video"
SPLITS = {
    "tune": [*(f"video{n}.mp4" for n in range(1, 6)), "animation_trailer.mp4"],
    "held": ["expressions.mp4", "face_then_none.mov", "pedestrians.avi", "single_face.mp4",
             "speech_two_faces.mp4", "carphone_pristine.mp4"],
}  # fmt: skip
SPLITS["both"] = [*SPLITS["tune"], *SPLITS["held"]]
ASKED = ("first", "times", "odd", "copy", "worse", "which", "together", "spot", "hidden")
MARGINS = (0.2, 0.1, 0.05, 0.02)
SECONDS, LONGEST, TRIES = 2.0, 256, 8
SMALL = 96  # pixels of the longer side, for JPEG
EYE, NOISE = 24, 30.0  # pixels of the longer side; levels: chosen on the clips of ``tune``


def main() -> None:
    """Make the questions, have them answered, and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--clips", type=Path, default=CLIPS)
    parser.add_argument("--split", choices=SPLITS, default="held")
    parser.add_argument("--questions", type=int, default=10, help="of each family")
    parser.add_argument("--families", choices=ASKED, nargs="+", default=ASKED)
    parser.add_argument("--sheets", type=Path, help="a folder for pictures to be looked at")
    parser.add_argument("--answers", type=Path, nargs="+", help="its tables, filled in")
    options = parser.parse_args()
    if not options.clips.is_dir():
        print(f"{options.clips} is not there: name a folder of clips with --clips")
        return
    if options.answers:
        answers = viewed(options.sheets, options.answers)
    else:
        names, shown = SPLITS[options.split], options.sheets and options.sheets / "shown"
        answers = list(_answers(options.clips, names, options.families, options.questions, shown))
        if options.sheets:
            write_questions(options.sheets, answers)
    clips = sorted({row["clip"] for row in answers})
    observers = answers[0]["right"]
    head = ["margin", "questions", "chance", *observers]
    rows = [_row(answers, margin, clips) for margin in MARGINS]
    table(f"Closed questions answered right, {len(clips)} clips", head, rows)
    head = ["family", *(f"{name}, {margin}" for name in observers for margin in MARGINS)]
    table("By family", head, [[f, *_of_family(answers, f)] for f in options.families])
    _by_ends(answers)
    _by_band(answers)
    _by_damage(answers)


def _row(answers: Sequence[dict[str, Any]], margin: float, clips: Sequence[str]) -> list[object]:
    mine = [row for row in answers if row["margin"] == margin]
    numbers = [clips.index(row["clip"]) for row in mine]
    observers = answers[0]["right"]
    cells = [Cell(numbers, [float(row["right"][name]) for row in mine]) for name in observers]
    shares = [
        f"{np.mean(cell.right):.1%} ({e.interval[0]:.0%} to {e.interval[1]:.0%})"
        for cell, e in zip(cells, intervals(cells, len(clips)), strict=True)
    ]
    return [margin, len(mine), f"{np.mean([row['chance'] for row in mine]):.1%}", *shares]


def _of_family(answers: Sequence[dict[str, Any]], family: str) -> Iterator[str]:
    for name in answers[0]["right"]:
        for margin in MARGINS:
            mine = [row for row in answers if (row["family"], row["margin"]) == (family, margin)]
            yield f"{sum(row['right'][name] for row in mine):g} of {len(mine)}"


def _by_ends(answers: Sequence[dict[str, Any]]) -> None:
    """The same questions at both ends of the margin: what the hard end costs, and gives."""
    easy, hard = (
        {(row["family"], row["place"]): row for row in answers if row["margin"] == margin}
        for margin in (max(MARGINS), min(MARGINS))
    )
    both = [(easy[each], hard[each]) for each in hard if each in easy]
    head = ["observer", "questions", *(f"right at {m} alone" for m in (max(MARGINS), min(MARGINS)))]
    rows = []
    for name in answers[0]["right"]:
        apart = [one["right"][name] - other["right"][name] for one, other in both]
        rows.append([name, len(both), sum(a > 0 for a in apart), sum(a < 0 for a in apart)])
    table("The same questions at both ends", head, rows)


def _by_band(answers: Sequence[dict[str, Any]]) -> None:
    """What the item's tag ``visibility`` says of a spot, beside how many are found."""
    spots = [row for row in answers if row["visibility"]]
    bands = {name: [row for row in spots if row["visibility"] == name] for name in BANDS}
    observers = answers[0]["right"]
    rows = [
        [name, len(mine), *(f"{np.mean([r['right'][eye] for r in mine]):.1%}" for eye in observers)]
        for name, mine in bands.items()
        if mine
    ]
    table("Spots, by predicted visibility in JNDs", ["JNDs", "questions", *observers], rows)


def _by_damage(answers: Sequence[dict[str, Any]]) -> None:
    """Which damages could be shown in a spot, and which of these are found in poor JPEG."""
    spots = [row for row in answers if row["visibility"]]
    rows = []
    for damage in sorted({row["damage"] for row in spots}):
        mine = [[r for r in spots if (r["damage"], r["margin"]) == (damage, m)] for m in MARGINS]
        poor = list(OBSERVERS)[1]
        rows.append(
            [damage, *(f"{sum(r['right'][poor] for r in each)} of {len(each)}" for each in mine)]
        )
    table("Spots in poor JPEG, by damage", ["damage", *map(str, MARGINS)], rows)


def _answers(
    folder: Path, names: Sequence[str], families: Sequence[str], number: int, shown: Path | None
) -> Iterator[dict[str, Any]]:
    segments = [each for name in names for each in _segments(folder / name)]
    failed: Counter[float] = Counter()
    with tempfile.TemporaryDirectory() as out:
        for family in families:
            for place in range(number):
                for margin in MARGINS:
                    made = _made(folder, Path(out), segments, family, place, margin)
                    if made is None:
                        failed[margin] += 1
                        continue
                    name = f"{seed_for('sheet', family, place, margin) % 2**32:08x}"
                    row = _answered(Path(out), made, name, shown)
                    viewer = (place + MARGINS.index(margin)) % len(MARGINS) + 1
                    yield row | {"margin": margin, "place": place, "viewer": viewer}
    for margin, count in sorted(failed.items()):
        print(f"margin {margin}: {count} questions that no segment could show")


def _segments(path: Path) -> Iterator[Segment]:
    for number in range(int(probe(path).duration / SECONDS + 1e-6)):
        start = number * SECONDS
        yield Segment(f"{path.name}#{number:04d}", path.name, "", start, start + SECONDS)


def _made(
    folder: Path, out: Path, segments: Sequence[Segment], family: str, place: int, margin: float
) -> MadeQuestion | None:
    """Make a question, of the first segment and damage by chance that can show it."""
    rng = rng_for("difficulty", family, place)
    facts = FAMILIES[family]
    videos = 2 if facts["context"] == "Compare" else 1
    goal, turned = place % facts["keys"], bool(place // 2 % 2)
    plan = QuestionPlan("q", family, "", "", goal, turned, (), margin)
    for attempt in range(TRIES):
        damage, segment = rng.choice(damages_of(family)), rng.choice(segments)
        kind = rng.choice(DAMAGES[damage].kinds)
        tried = structs.replace(plan, damage=damage, kind=kind, segments=((segment,) * videos,))
        if not facts.get("turns"):
            tried = structs.replace(tried, turned=False)
        targets = QuestionTargets(tried, seed_for("difficulty", family, place, attempt))
        paths = [folder / segment.path] * videos
        outs = [out / f"{number}.mp4" for number in range(videos)]
        made = write_videos(paths, (segment,) * videos, targets, outs, LONGEST)
        if isinstance(made, MadeQuestion):
            return made
    return None


def _answered(out: Path, made: MadeQuestion, name: str, shown: Path | None) -> dict[str, Any]:
    context: Any = SimpleNamespace(seed=0, notes=[])
    (item,) = ask([made], context, items=1)
    assert isinstance(item, Item)
    spec = FrameSpec(PROTOCOL.sampling, shared_by=len(made.videos))
    videos = [[f.image for f in decoded_frames(out / v.name, spec)] for v in made.videos]
    if shown:
        write_sheet(shown / f"{name}.png", item, videos)
    return {
        "id": name,
        "question": item.question,
        "options": dict(zip(item.letters, item.options, strict=True)),
        "key": list(item.answer),
        "family": made.order.family,
        "clip": made.videos[0].segment.path,
        "chance": item.chance,
        "damage": made.order.damage,
        "visibility": item.tags.get(VISIBILITY, ""),
        "right": {name: _is_right(item, videos, eye) for name, eye in OBSERVERS.items()},
    }


def _is_right(
    item: Item, videos: Sequence[Sequence[Image]], eye: Callable[[Image, int], Image]
) -> bool:
    parts: list[Part] = []
    for number, images in enumerate(videos, 1):
        parts.append(TextPart(f"Video {number}:"))
        for place, image in enumerate(images):
            png = io.BytesIO()
            Pillow.fromarray(eye(image, 100 * number + place)).save(png, "png", compress_level=1)
            parts.append(ImagePart(png.getvalue(), "image/png", float(place)))
    request = Request("k", (Message("user", tuple(parts)),), item.kind, item.question, item.options)
    return [item.letters[place] for place in answer_about_quality(request)] == list(item.answer)


def _as_it_is(image: Image, _: int) -> Image:
    return image


def _shrunk(image: Image, longest: int) -> Pillow.Image:
    height, width = image.shape[:2]
    scale = min(1.0, longest / max(height, width))
    size = (max(8, round(width * scale)), max(8, round(height * scale)))
    return Pillow.fromarray(image).resize(size, Pillow.Resampling.BOX)


def _poor_jpeg(image: Image, _: int) -> Image:
    saved = io.BytesIO()
    _shrunk(image, SMALL).save(saved, "jpeg", quality=30)
    return np.asarray(Pillow.open(saved).convert("RGB"))


def _limited(image: Image, number: int) -> Image:
    small = np.asarray(_shrunk(image, EYE), np.float32)
    noise = np.random.Generator(np.random.PCG64(seed_for("eye", number)))
    seen = small + NOISE * noise.standard_normal(small.shape, np.float32)
    return np.clip(np.round(seen), 0, 255).astype(np.uint8)


OBSERVERS: dict[str, Callable[[Image, int], Image]] = {
    "pixels": _as_it_is,
    "pixels, 96 pixels as poor JPEG": _poor_jpeg,
    "limited eye": _limited,
}

if __name__ == "__main__":
    main()
