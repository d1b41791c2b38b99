"""The frames of a clip, encoded and ready to be sent: decoded once and cached.

This is the only way from a file to what a model sees. Decoding is done by a worker process with a
time and memory limit; the result goes into the frame store, from which every later question, model
and option order is served without opening a decoder.
"""

import functools
import math
import os
import threading
from dataclasses import asdict, dataclass
from pathlib import Path
from weakref import WeakValueDictionary

import av

from reelbench.base.errors import ReelbenchError
from reelbench.base.files import digest_of
from reelbench.data.items import Span
from reelbench.media.decode.decode import Frame, iterate_frames
from reelbench.media.decode.images import encode_picture, media_type_of, resized, resized_shape
from reelbench.media.decode.isolated import run_isolated
from reelbench.media.decode.keyframes import key_frame_times
from reelbench.media.decode.probe import MediaInfo, probe
from reelbench.media.decode.sample import parse_sampling
from reelbench.media.decode.store import Entry, FrameStore, default_store
from reelbench.media.decode.timeline import frame_times
from reelbench.media.digests import Identity, identity_of, media_digest
from reelbench.media.errors import MediaError, refuse_no_file

_MOST_BYTES = 10**9  # of the encoded frames of one clip
_ROUNDED_UP = 1.0  # seconds by which an item's end may lie beyond the file's: 12 for 11.3
VERSION = 2  # raise it when a change alters which frames come, or their bytes


@dataclass(frozen=True, slots=True)
class FrameSpec:
    """Which frames of a video to return, at which size and encoding; all of it decides the key."""

    sampling: str
    start: float | None = None
    end: float | None = None
    evidence: tuple[Span, ...] = ()
    shared_by: int = 1  # media that share the sampling's budget
    size: str = ""  # "long:768" or "short:360": the side to shrink to; empty for as it is
    encoding: str = "jpeg:90"  # or "png", "webp": both lossless
    accept_damage: bool = False  # take what there is of a file that ends early or is damaged


@dataclass(frozen=True, slots=True)
class EncodedFrame:
    """One encoded frame, the time it was requested for and the time it is displayed from."""

    time: float
    shown_at: float
    data: bytes


@dataclass(frozen=True, slots=True)
class ClipFrames:
    """The frames of a ``FrameSpec``, and warnings about them."""

    pictures: tuple[EncodedFrame, ...]
    media_type: str
    warnings: tuple[str, ...] = ()


def frames_of(path: Path, spec: FrameSpec, store: FrameStore | None = None) -> ClipFrames:
    """Return the frames of a spec, from the store or decoded now; raise ``MediaError`` if it fails.

    It may be called from any number of threads: equal requests at the same time are decoded once,
    and a file that failed is not tried again by this process.
    """
    store = store or default_store()
    identity, key = _key(path, spec)
    entry = store.get(key)
    if entry is None:
        entry = _decoded_once(key, identity, path, spec, store)
    moments = zip(entry.facts["times"], entry.facts["shown_at"], entry.pieces, strict=True)
    pictures = tuple(EncodedFrame(time, shown_at, data) for time, shown_at, data in moments)
    return ClipFrames(pictures, entry.facts["media_type"], tuple(entry.facts["warnings"]))


def _key(path: Path, spec: FrameSpec) -> tuple[Identity, str]:
    """Hash all that decides the frames: the video's bytes, the spec and the decoder."""
    if math.isnan(spec.start or 0.0) or math.isnan(spec.end or 0.0) or spec.shared_by < 1:
        raise ReelbenchError(
            f"{spec} is not valid: start and end must be numbers, and shared_by at least 1."
        )
    try:
        refuse_no_file(path)
        identity = identity_of(path)
        digest = media_digest(path)
    except OSError as error:
        raise MediaError(path, error.strerror or str(error)) from error
    wanted = asdict(spec) | {"sampling": parse_sampling(spec.sampling).text}
    decoder = [VERSION, av.__version__, ".".join(map(str, av.library_versions["libavcodec"]))]
    return identity, digest_of([digest, wanted, decoder])


class _InProgress:
    """What this process is decoding, and what it failed to decode."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._locks: WeakValueDictionary[str, threading.Lock] = WeakValueDictionary()
        self.failures: dict[str, MediaError] = {}

    def lock(self, key: str) -> threading.Lock:
        with self._guard:
            return self._locks.setdefault(key, threading.Lock())


@functools.cache
def _in_progress(_process: int) -> _InProgress:
    return _InProgress()  # not a fork's: its locks may be held by threads that it has not got


def _decoded_once(
    key: str, identity: Identity, path: Path, spec: FrameSpec, store: FrameStore
) -> Entry:
    in_progress = _in_progress(os.getpid())
    with in_progress.lock(key):
        if key in in_progress.failures:
            raise MediaError(path, in_progress.failures[key].reason)
        entry = store.get(key)  # by who was here before
        if entry is None:
            try:
                entry = run_isolated(_decode, path, spec)
            except MediaError as error:
                in_progress.failures[key] = error
                raise
            if identity_of(path) != identity:
                raise MediaError(path, "changed while it was read: run again when it is complete")
            store.put(key, entry)
        return entry


def decoded_frames(path: Path, spec: FrameSpec) -> list[Frame]:
    """Return the frames of a spec in their full size, decoded in this process."""
    times = _times(path, probe(path, counting=False), spec)
    return list(iterate_frames(path, times, skip_damage=spec.accept_damage))


def _decode(path: Path, spec: FrameSpec) -> Entry:
    """Decode and encode frame by frame, so that only encoded ones are in memory."""
    media_type = media_type_of(spec.encoding)
    info = probe(path, counting=False)
    warnings = _checked(path, info, spec)
    times = _times(path, info, spec)
    asked, shown, pieces, size = [], [], [], 0
    for frame in iterate_frames(path, times, skip_damage=spec.accept_damage):
        asked.append(round(frame.time, 6))
        shown.append(round(frame.shown_at, 6))
        pieces.append(encode_picture(resized(frame.image, spec.size), spec.encoding))
        size += len(pieces[-1])
        if size > _MOST_BYTES:
            most = f"{_MOST_BYTES / 1e9:g} GB"
            raise MediaError(
                path,
                f"its frames take over {most}: choose fewer or smaller ones by sampling and "
                "frame_size",
            )
    if not pieces:
        raise MediaError(path, "none of the requested frames can be decoded")
    if len(pieces) < len(times):
        lacking = len(times) - len(pieces)
        warnings.append(f"{lacking} of {len(times)} frames are damaged and were left out")
    facts = {"times": asked, "shown_at": shown, "warnings": warnings, "media_type": media_type}
    return Entry(facts, tuple(pieces))


def _checked(path: Path, info: MediaInfo, spec: FrameSpec) -> list[str]:
    if not info.has_video:
        raise MediaError(path, "contains no video")
    return shortfalls(path, info, spec)


def shortfalls(path: Path, info: MediaInfo, spec: FrameSpec) -> list[str]:
    """Raise ``MediaError`` for a file that lacks a part of what a spec asks for.

    With ``accept_damage`` it returns the reasons as warnings instead. Frames, sound and subtitles
    of a file are all checked here.
    """
    found = f"{info.cut}: fetch it again" if info.cut else ""
    asked = spec.end or 0.0
    if not found and not info.is_image and asked > info.end + _ROUNDED_UP:
        found = (
            f"ends at {info.end:.2f} s, but is requested up to {asked:g} s: correct start and end"
        )
    if found and not spec.accept_damage:
        raise MediaError(path, f"{found}, or set accept_damage: true in the protocol")
    return [found] if found else []


@dataclass(frozen=True, slots=True)
class Plan:
    """The number and size of the frames of a spec, and the length of the video they cover."""

    count: int
    width: int
    height: int
    seconds: float
    has_audio: bool


def planned_frames(path: Path, spec: FrameSpec) -> Plan:
    """Return number and size of the frames of a spec, without decoding any."""
    refuse_no_file(path)
    return run_isolated(_plan, path, spec)


def _plan(path: Path, spec: FrameSpec) -> Plan:
    info = probe(path, counting=False)
    if info.is_image:
        return Plan(1, *resized_shape(info.width, info.height, spec.size), 1.0, False)
    seconds = sum(end - start for start, end in spans_of(path, info, spec))
    if not info.has_video:
        return Plan(0, 0, 0, seconds, info.has_audio)
    _checked(path, info, spec)
    shape = resized_shape(info.width, info.height, spec.size)
    sampling = parse_sampling(spec.sampling).shared_by(spec.shared_by)
    # Which are chosen by what they show is known after decoding; their number, at most, before.
    count = sampling.count if sampling.choice else len(_times(path, info, spec))
    return Plan(count or 0, *shape, seconds, info.has_audio)


def spans_of(path: Path, info: MediaInfo, spec: FrameSpec) -> list[Span]:
    """Return the parts of a video that a spec covers; raise ``MediaError`` if there are none."""
    start, end = max(0.0, spec.start or 0.0), info.duration
    if spec.end is not None:
        end = min(end, spec.end)
    if start >= end:
        asked = f"from {start} to {'its end' if spec.end is None else f'{spec.end} s'}"
        raise MediaError(
            path, f"lasts {info.duration:.2f} s, so there is nothing {asked}: correct start and end"
        )
    spans = parse_sampling(spec.sampling).spans(start, end, spec.evidence)
    if not spans:
        raise MediaError(path, f"the sampling {spec.sampling} selects no part of it")
    return spans


def _times(path: Path, info: MediaInfo, spec: FrameSpec) -> list[float]:
    if info.is_image:
        return [0.0]
    sampling = parse_sampling(spec.sampling).shared_by(spec.shared_by)
    spans = spans_of(path, info, spec)
    if sampling.choice == "query":
        raise MediaError(path, f"the sampling {spec.sampling} needs a question")
    if sampling.choice:
        return key_frame_times(path, spans, sampling.count or 1, spec.accept_damage)
    try:
        times = sampling.times(spans, frame_times(path) if sampling.counts_frames else ())
    except ReelbenchError as error:
        raise MediaError(path, str(error)) from None
    if not times:
        raise MediaError(path, f"the sampling {spec.sampling} selects no frame of it")
    return times
