"""What the operators on sound share: the samples of a clip, and spans of time."""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from math import inf
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from reelbench.annotate.operator import Clip, NotApplicable
from reelbench.data.items import Span
from reelbench.media.edit.audio import SPEECH_RATE, stream_audio
from reelbench.media.edit.write import Samples
from reelbench.media.errors import MediaError

Mono: TypeAlias = NDArray[np.float32]
Mask: TypeAlias = NDArray[np.bool_]
SILENT_DB = -100.0  # the level of digital silence, since JSON has no minus infinity


def mono_sound(clip: Clip) -> Mono:
    """Return the sound of a clip as one channel at 16 kHz; raise ``NotApplicable`` without any."""
    mono: Mono = sound_channels(clip, SPEECH_RATE, 1)[0]
    return mono


def sound_channels(clip: Clip, rate: int, channels: int) -> Samples:
    """Return the sound of a clip, one row per channel; raise ``NotApplicable`` without any."""
    if not clip.info.has_audio:
        raise NotApplicable("The clip has no sound.")
    return _decoded(clip.path, clip.digest, rate, channels)


@lru_cache(maxsize=1)  # operators follow each other on the same clip; a long one fills memory
def _decoded(path: Path, digest: str, rate: int, channels: int) -> Samples:  # noqa: ARG001
    pieces: list[Samples] = []
    try:
        pieces.extend(stream_audio(path, rate, channels))
    except MediaError as error:
        if not pieces:  # else it breaks off in the middle, and what comes before is as good as any
            raise NotApplicable(f"The clip's sound cannot be decoded: {error.reason}.") from None
    samples = np.concatenate([np.empty((channels, 0), np.float32), *pieces], axis=1)
    if not samples.shape[1]:
        raise NotApplicable("The clip's sound track is empty.")
    samples = np.asarray(np.nan_to_num(samples, nan=0.0, posinf=1.0, neginf=-1.0), np.float32)
    samples.setflags(write=False)  # it is shared
    return samples


def level_db(samples: Samples, rate: int, step: float) -> NDArray[np.float64]:
    """Return the level of each ``step`` seconds, all channels together, in dB of full scale."""
    length = max(1, round(step * rate))
    count = -(-samples.shape[1] // length)
    power = np.zeros(count)
    for number in range(count):
        piece = samples[:, number * length : (number + 1) * length]
        power[number] = np.mean(np.square(piece, dtype=np.float64))
    return np.asarray(10 * np.log10(np.maximum(power, 10 ** (SILENT_DB / 10))))


def runs(mask: Mask) -> list[tuple[int, int]]:
    """Return begin and end (exclusive) of each run of True."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], mask, [False]]).astype(np.int8)))
    return [(int(begin), int(end)) for begin, end in edges.reshape(-1, 2)]


def bridged(spans: Iterable[Span], gap: float) -> list[Span]:
    """Return spans sorted, with those joined that are at most ``gap`` seconds apart."""
    joined: list[Span] = []
    for start, end in sorted(spans):
        if joined and start - joined[-1][1] <= gap:
            joined[-1] = (joined[-1][0], max(joined[-1][1], end))
        else:
            joined.append((start, end))
    return joined


def common(spans: Sequence[Span], others: Sequence[Span]) -> list[Span]:
    """Return the intersection of two lists of spans, each sorted and without overlaps."""
    both: list[Span] = []
    mine, theirs = 0, 0
    while mine < len(spans) and theirs < len(others):
        start = max(spans[mine][0], others[theirs][0])
        end = min(spans[mine][1], others[theirs][1])
        if start < end:
            both.append((start, end))
        if spans[mine][1] < others[theirs][1]:
            mine += 1
        else:
            theirs += 1
    return both


def without(spans: Sequence[Span], others: Sequence[Span]) -> list[Span]:
    """Return sorted spans with the parts removed that overlap others."""
    merged = bridged(others, 0.0)
    edges = [-inf, *(moment for span in merged for moment in span), inf]
    return common(spans, list(zip(edges[::2], edges[1::2], strict=True)))


def within(times: NDArray[np.float64], spans: Iterable[Span]) -> Mask:
    """Return for each of the sorted times whether it lies in one of the spans."""
    mask = np.zeros(len(times), bool)
    for start, end in spans:
        mask[np.searchsorted(times, start) : np.searchsorted(times, end)] = True
    return mask


def parts(samples: Mono, spans: Sequence[Span]) -> Mono:
    """Return the samples of spans, concatenated."""
    cut = [samples[round(s * SPEECH_RATE) : round(e * SPEECH_RATE)] for s, e in spans]
    return np.concatenate([np.empty(0, np.float32), *cut])


def turns_of(turns: dict[str, Any]) -> dict[str, list[Span]]:
    """Return the spans of each speaker of a ``turns`` label, in the order of the speakers."""
    spans: dict[str, list[Span]] = {}
    for turn in turns["turns"]:
        spans.setdefault(turn["speaker"], []).append((turn["start"], turn["end"]))
    return dict(sorted(spans.items(), key=lambda each: int(each[0].removeprefix("s"))))
