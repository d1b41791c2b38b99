"""How well measures of quality follow the damage they are about, on real clips."""

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import spearmanr

from measuring.world import clip_of, table
from reelbench.annotate.registry import load_operator
from reelbench.media.decode.decode import Image
from reelbench.media.decode.frames import FrameSpec, decoded_frames
from reelbench.media.decode.stream import scan_frames
from reelbench.media.edit.degrade import degrade_images
from reelbench.media.edit.write import even, video_writer
from reelbench.media.measure.quality import DAMAGES, quality

SEVERITIES = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
SECONDS, LONGEST = 4.0, 360
CLIPS = ("expressions.mp4", "single_face.mp4", "speech_two_faces.mp4", "pedestrians.avi",
         "video2.mp4", "video4.mp4", "carphone_pristine.mp4")  # fmt: skip
# What the operator says that is about a damage.
SAID = {
    "over-exposure": ("exposure", "mean"),
    "under-exposure": ("exposure", "mean"),
    "freeze": ("freeze", "share"),
    "stutter": ("freeze", "share"),
    "dropped frames": ("dropped", "unevenness"),
}


def damaged(folder: Path) -> None:
    """Rank correlation of severity with the measure, in the whole video and in 16 frames."""
    rows = []
    for name, damage in DAMAGES.items():
        for kind in (*damage.kinds, *(["dropped frames"] if name == "stutter" else [])):
            found = [_correlated(folder / clip, kind, name) for clip in CLIPS]
            whole, few = np.array(found).T
            numbers = [np.median(whole), whole.min(), np.median(few), few.min()]
            rows.append(
                [kind, ".".join(_said(kind, damage.quality)), *(f"{n:.2f}" for n in numbers)]
            )
    heads = ["damage", "quality", "median", "worst", "in 16 frames", "worst"]
    table(f"Rank correlation with severity, {len(CLIPS)} clips of {SECONDS:g} s", heads, rows)


def _correlated(clip: Path, kind: str, name: str) -> tuple[float, float]:
    damage = DAMAGES[name]
    images = [even(image) for _, image in scan_frames(clip, None, LONGEST, end=SECONDS)]
    whole, few = [], []
    with tempfile.TemporaryDirectory() as folder:
        for severity in SEVERITIES:
            path = Path(folder) / f"{severity}.mp4"
            _write(degrade_images(images, kind, severity, seed=1), path)
            said: Any = load_operator("quality")(clip_of(path), {})
            for part in _said(kind, damage.quality):
                said = said[part]
            whole.append(damage.worse * float(said))
            shown = [frame.image for frame in decoded_frames(path, FrameSpec("uniform:16"))]
            few.append(damage.worse * quality(damage.quality, shown))
    return _spearman(whole), _spearman(few)


def _said(kind: str, quality: str) -> tuple[str, ...]:
    return SAID.get(kind, (quality, "mean"))


def _write(images: Sequence[Image], path: Path) -> None:
    rate = len(images) / SECONDS
    with video_writer(path, rate, 14) as writer:
        for number, image in enumerate(images):
            writer.show(image, number / rate)


def _spearman(values: Sequence[float]) -> float:
    return float(spearmanr(SEVERITIES, values).statistic) if np.ptp(values) else 0.0
