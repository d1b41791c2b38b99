"""How well things are followed and counted whose boxes are known."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from measuring.world import SEED, boxes_at, cuts_of, rendered, scenes, table
from reelbench.annotate.common.tracking import Detection, Track, best_pairs, join, overlaps, shot_at
from reelbench.annotate.registry import load_operator
from reelbench.world.scene import Scene


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
        rate = rate or load_operator("detections").parameters["rate"]
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
                counts.append(counted(folder, rate, missed, jitter))
    head = ("as in", "missed", "jitter", "covered", "shapes in shots", "fragments", "switches")
    table("tracking.join on true boxes with noise", head, rows)
    columns = ("missed", "jitter", "error at a moment", "error of most at once", "said", "true")
    table("count, fed with those of objects", columns, counts)


def counted(folder: Path, rate: float, missed: float, jitter: float) -> tuple[float, ...]:
    """How far the label of count is off: mean errors, and people in all, said and true."""
    moments, most, said, true = [], [], 0, 0
    for scene, clip in rendered(folder):
        frames = [
            {
                "time": time,
                "found": [{"class": "person", "box": x.box, "score": x.score} for x in found],
            }
            for time, found in seen(scene, rate, missed, jitter)
        ]
        known: dict[str, dict[str, Any]] = {
            "tracks": {"people": []},
            "detections": {"frames": frames},
            "shots": {"cuts": cuts_of(scene)},
        }
        label = load_operator("count")(clip, known)
        real = [len(boxes_at(scene, moment)) for moment, _ in label["at"]]
        moments += [abs(n - r) for (_, n), r in zip(label["at"], real, strict=True)]
        most.append(abs(label["most_at_once"] - max(real)))
        said, true = said + label["guess"], true + len(scene.actors)
    return missed, jitter, float(np.mean(moments)), float(np.mean(most)), said, true
