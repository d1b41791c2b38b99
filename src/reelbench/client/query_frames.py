"""Frames that are chosen by a question: those whose picture fits its text best.

Candidates are spread over the clip as for key frames. Each is scored against the question by an
embedding of texts and pictures; those with the highest scores are shown, in the order of the clip.
Equal pictures are shown once; of equal scores, the earlier wins.
"""

from dataclasses import replace
from pathlib import Path
from typing import Any

from reelbench.base.errors import ReelbenchError
from reelbench.media.decode.frames import ClipFrames, FrameSpec, frames_of, spans_of
from reelbench.media.decode.isolated import probe_isolated
from reelbench.media.decode.keyframes import candidate_times
from reelbench.media.decode.sample import parse_sampling
from reelbench.models.text_image import picture_scores, text_image_digest

_SIZE = "long:448"  # of candidates: no embedding looks at larger ones


def asks_for_query(spec: FrameSpec) -> bool:
    """Whether the frames of a spec are chosen by a question."""
    return parse_sampling(spec.sampling).choice == "query"


def query_record(query: str) -> dict[str, Any]:
    """Return what decides the frames beside the spec: the question, and the weights by hash."""
    if not query.strip():
        raise ReelbenchError("The sampling query:N needs a question: choose keyframes:N.")
    return {"text": query, "weights": text_image_digest()}


def resolved(path: Path, spec: FrameSpec, query: str) -> FrameSpec:
    """Return a spec with the times of its frames, where a question chooses them."""
    if not asks_for_query(spec):
        return spec
    sampling = parse_sampling(spec.sampling).shared_by(spec.shared_by)
    info = probe_isolated(path)
    count = 1 if info.is_image else sampling.count or 1
    times = [0.0] if info.is_image else candidate_times(spans_of(path, info, spec), count)
    found = frames_of(path, _at(spec, times, size=_SIZE))
    scores = picture_scores(query, [picture.data for picture in found.pictures])
    return _at(spec, _best(found, scores, count))


def _best(found: ClipFrames, scores: list[float], count: int) -> list[float]:
    ranked = sorted(zip(scores, found.pictures, strict=True), key=lambda e: (-e[0], e[1].time))
    chosen: dict[bytes, float] = {}
    for _, picture in ranked:
        if len(chosen) < count:
            chosen.setdefault(picture.data, picture.time)
    return sorted(chosen.values())


def _at(spec: FrameSpec, times: list[float], size: str | None = None) -> FrameSpec:
    text = ",".join(f"{time:.6f}" for time in times)
    size = spec.size if size is None else size
    return replace(spec, sampling=f"times:{text}", evidence=(), shared_by=1, size=size)
