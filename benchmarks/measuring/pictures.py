"""How well pictures are understood: shots, what happens when, text on the screen."""

from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont
from scipy.stats import spearmanr

from measuring.world import (
    FEW,
    SEED,
    SENTENCES,
    VIDEOS,
    boxes_at,
    clip_of,
    cuts_of,
    edits,
    rendered,
    table,
)
from reelbench.annotate.common.tracking import best_pairs
from reelbench.annotate.operator import Clip
from reelbench.annotate.operators.fingerprint import near_duplicate_clips
from reelbench.annotate.registry import load_operator
from reelbench.media.edit.clip import cut_exactly
from reelbench.media.edit.write import video_writer
from reelbench.world.render import draw_frame
from reelbench.world.scene import FRAME_RATE, HEIGHT, WIDTH, Scene


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
        with video_writer(folder / "frozen.mp4", FRAME_RATE, 20, None) as writer:
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
    with video_writer(folder / "print.mp4", FRAME_RATE, 20, None) as writer:
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
