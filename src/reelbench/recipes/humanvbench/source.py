"""From raw videos to clips of people: the filters of appendix K, in its order."""

import asyncio
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from reelbench.annotate.operator import Value
from reelbench.base.errors import ReelbenchError
from reelbench.base.files import digest_of, digest_of_file
from reelbench.make.parts.source_videos import SourceVideo, source_root
from reelbench.make.pipeline.context import StageContext
from reelbench.make.pipeline.stage import Rejected
from reelbench.media.decode.isolated import run_isolated
from reelbench.media.digests import media_digest
from reelbench.media.edit.clip import cut_exactly
from reelbench.media.errors import MediaError
from reelbench.recipes.humanvbench.rows import CLIPS, PERSON, ShotClip
from reelbench.score.rounding import percent

AESTHETICS = "aesthetics"  # the label of a user's own operator: a score
_EDGE = 0.02  # seconds: clips are this far from a cut, so that no frame of the next shot is in them
_LIMIT = 900  # seconds that writing a clip may take, on a slow machine


async def suitable(
    video: SourceVideo,
    ctx: StageContext,
    *,
    least_width: int,
    least_height: int,
    most_unsafe: float,
    least_aesthetics: float,
) -> list[SourceVideo]:
    """Let through videos of a size, that are safe and, where a user's operator tells, look well.

    No package has a model of aesthetics: its label is that of an operator of the user's own.
    """
    if not video.has_video:
        raise Rejected("no picture", "It has no video stream.")
    labels = ctx.labels(video)
    width, height = labels["format"]["width"], labels["format"]["height"]
    if width < least_width or height < least_height:
        raise Rejected("resolution", f"It has {width} x {height} pixels.")
    if (unsafe := labels["unsafe"]["mean"]) > most_unsafe:
        raise Rejected("unsafe", f"The mean probability is {unsafe:.2f}.", facts={"unsafe": unsafe})
    if least_aesthetics:
        score = _aesthetics(labels)
        if score < least_aesthetics:
            raise Rejected("aesthetics", f"Its score is {score:.2f}.", facts={"aesthetics": score})
    return [video]


def _aesthetics(labels: Mapping[str, Value]) -> float:
    if AESTHETICS not in labels:
        raise ReelbenchError(
            f"suitable.least_aesthetics is set, and no operator makes the label {AESTHETICS}: name "
            "yours with --set label-videos.labels=format,unsafe,shots,FILE.py:CLASS, whose label "
            "holds a score."
        )
    return float(labels[AESTHETICS]["score"])


async def cut(video: SourceVideo, ctx: StageContext, *, longest: float) -> list[ShotClip]:
    """Write each shot as a clip; a longer shot than ``longest`` seconds becomes several."""
    shots = ctx.labels(video)["shots"]["shots"]
    path = source_root(ctx) / video.id
    clips = []
    for start, end in [part for shot in shots for part in parts_of(shot[0], shot[1], longest)]:
        name = digest_of(["clip", video.sha256, start, end])[:16]
        out = ctx.out / CLIPS / f"{name}.mp4"
        out.parent.mkdir(parents=True, exist_ok=True)
        try:
            await asyncio.to_thread(run_isolated, cut_exactly, path, start, end, out, limit=_LIMIT)
        except MediaError as error:
            raise Rejected("media", str(error)) from error
        clips.append(
            ShotClip(name, f"{CLIPS}/{out.name}", digest_of_file(out), video.id, start, end)
        )
    return clips


def parts_of(start: float, end: float, longest: float) -> list[tuple[float, float]]:
    """Return equal parts of a shot, none longer than ``longest``, off its cuts by a moment."""
    first = start + _EDGE if start else start
    count = max(1, -(-int((end - first) * 1000) // int(longest * 1000)))
    edges = [round(first + (end - first) * number / count, 3) for number in range(count + 1)]
    return [(a, b) for a, b in pairwise(edges) if b - a > _EDGE]


def clip_exists(clip: ShotClip, ctx: StageContext) -> bool:
    """Whether the file of a clip is still there, as it was written."""
    path = ctx.out / clip.clip
    return path.is_file() and media_digest(path) == clip.sha256


def whole_video(video: SourceVideo, _ctx: StageContext) -> Sequence[ShotClip]:
    """Return a video as one clip, for forecasts: its shots are not known."""
    name = digest_of(["clip", video.sha256])[:16]
    return [ShotClip(name, f"{CLIPS}/{name}.mp4", "", video.id, 0.0, video.seconds)]


async def with_people(
    clip: ShotClip,
    ctx: StageContext,
    *,
    subject: str,
    least_seconds: float,
    least_motion: float,
    least_face_ratio: float,
) -> list[ShotClip]:
    """Let through clips that are long enough, move, and show a face, or the subject, throughout."""
    labels = ctx.labels(clip)
    if clip.seconds < least_seconds:
        raise Rejected("too short", f"It lasts {clip.seconds:.1f} s.")
    if (motion := labels["motion"]["pixels"]) < least_motion:
        raise Rejected("hardly any motion", f"{motion:.2f} pixels.", facts={"motion": motion})
    if subject == PERSON:
        share, what = labels["face_ratio"]["share"], "face"
    else:
        share, what = seen_share(labels["objects"], subject), subject
    least = least_face_ratio if subject == PERSON else 0.0
    if share < least or share == 0:
        detail = f"A {what} is seen in {percent(share, 0)} of the frames."
        raise Rejected(f"too few frames with a {what}", detail, facts={"share": share})
    return [clip]


def seen_share(objects: Mapping[str, Any], subject: str) -> float:
    """Return the share of a clip during which an object of a class is tracked, at the most."""
    tracks = [track for track in objects["tracks"] if track["class"] == subject]
    seconds = max((box["time"] for t in objects["tracks"] for box in t["boxes"]), default=0.0)
    longest = max((track["end"] - track["start"] for track in tracks), default=0.0)
    return min(1.0, longest / seconds) if seconds else 0.0
