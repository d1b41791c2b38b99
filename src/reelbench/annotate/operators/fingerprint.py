"""A perceptual hash for each second, by which copies of the same video are found.

A hash has a bit for each of the 64 lowest frequencies of a frame's brightness (a cosine transform),
above or below their median: scaling, re-encoding, noise, and brightness or contrast leave most bits
unchanged, other pictures share half of them. A copy with up to 4% cropped off each side is found;
one that is cropped more, mirrored, rotated or framed is not.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from reelbench.annotate.operator import Clip, Labels, NotApplicable, PartOperator, Value
from reelbench.data.items import Span
from reelbench.media.decode.decode import Image
from reelbench.media.decode.stream import scan_frames

BLANK = "0" * 16  # of a frame that shows nothing, such as a black one
ALIKE = 12  # bits of 64; copies were seen 0 to 11 apart, the nearest frames of other clips 18
_SIDE = 9  # waves in each direction, of which the slowest 64 are taken
_LEAST_CONTRAST = 2.0  # of 256 levels; below it the waves are noise
_PROBES = 5  # frames of a clip that are looked for in the others, before it is compared in full
_SLACK = 6  # bits by which a single frame may be further off than all are on average
_SCENE = 3.0  # seconds that two clips of one scene show alike, or all that one of them shows
_BLOCK = 256  # hashes compared with all others at a time

Hashes = NDArray[np.uint64]


@dataclass(frozen=True)
class Fingerprint(PartOperator):
    """Hashes a frame of each second; ``near_duplicate_clips`` compares the hashes."""

    name = "fingerprint"

    rate: float = 1.0  # frames hashed in each second; for all clips the same

    def part(self, clip: Clip, labels: Labels, span: Span) -> list[str]:
        """Return the hashes, each as 16 hexadecimal digits."""
        if not clip.info.has_video:
            raise NotApplicable("The clip has no video to compute a fingerprint of.")
        return [
            frame_hash(image) for _, image in scan_frames(clip.path, self.rate, 128, True, *span)
        ]

    def merge(self, clip: Clip, labels: Labels, parts: Sequence[list[str]]) -> Value:
        """Return the hashes of a clip."""
        hashes = list(chain(*parts))
        if not hashes:
            raise NotApplicable("No frame of the clip can be decoded.")
        return {"hashes": hashes, "rate": self.rate}


def frame_hash(image: Image) -> str:
    """Return the hash of a grey picture of any size and shape."""
    grey = image.astype(np.float64)
    if grey.std() < _LEAST_CONTRAST:
        return BLANK
    height, width = grey.shape
    waves = _cosines(height) @ grey @ _cosines(width).T
    rows, columns = _slowest()
    chosen = waves[rows, columns]
    bits = chosen > np.median(chosen)
    return np.packbits(bits).tobytes().hex()


@lru_cache(maxsize=64)
def _cosines(length: int) -> NDArray[np.float64]:
    """The slowest waves over so many pixels, one a row."""
    places = (np.arange(length) + 0.5) / length
    return np.asarray(np.cos(np.pi * np.arange(_SIDE)[:, None] * places) / length)


@lru_cache(maxsize=1)
def _slowest() -> tuple[list[int], list[int]]:
    """The 64 slowest pairs of waves, less the very first, which is the brightness alone."""
    pairs = [(row, column) for row in range(_SIDE) for column in range(_SIDE)]
    pairs.sort(key=lambda pair: (pair[0] ** 2 + pair[1] ** 2, pair))
    chosen = pairs[1:65]
    return [row for row, _ in chosen], [column for _, column in chosen]


@dataclass(frozen=True, slots=True, order=True)
class DuplicateClips:
    """Two clips of which the shorter is contained in the longer, judged by its frames."""

    longer: str
    shorter: str
    distance: float  # mean bits of 64 by which their frames differ
    offset: float  # seconds into the longer at which the shorter begins


def near_duplicate_clips(
    fingerprints: Mapping[str, Value], distance: float = ALIKE
) -> list[DuplicateClips]:
    """Return the pairs of clips that show the same video, or one a part of the other.

    Blank frames are not compared; a clip of blank frames alone is in no pair.
    """
    clips = {name: _Clip(value) for name, value in fingerprints.items()}
    rates = {clip.rate for clip in clips.values()}
    if len(rates) > 1:
        raise ValueError(f"fingerprints at several rates cannot be compared: {sorted(rates)}")
    # The longest first, and of equals the first by name: each is looked for in those before it.
    order = sorted(clips, key=lambda name: (-len(clips[name].hashes), name))
    every = np.concatenate([np.empty(0, np.uint64), *(clips[name].hashes for name in order)])
    begins = np.cumsum([0, *(len(clips[name].hashes) for name in order)])
    found = []
    for place, name in enumerate(order):
        best: dict[int, tuple[float, int]] = {}  # of each earlier clip: distance, and place in it
        for position in _positions(clips[name], every[: begins[place]], distance):
            other = int(np.searchsorted(begins, position, side="right")) - 1
            shift = position - int(begins[other])
            off = _apart(clips[name], clips[order[other]], shift)
            if off <= distance:
                best[other] = min(best.get(other, (off, shift)), (off, shift))
        for other, (off, shift) in best.items():
            offset = shift / clips[name].rate
            found.append(DuplicateClips(order[other], name, round(off, 2), round(offset, 4)))
    return sorted(found)


class _Clip:
    """The hashes of a clip as numbers, and which of them are not blank."""

    def __init__(self, value: Value) -> None:
        self.hashes: Hashes = np.array([int(h, 16) for h in value["hashes"]], np.uint64)
        self.rate = float(value["rate"])
        self.informative = self.hashes != 0


def _positions(clip: _Clip, every: Hashes, distance: float) -> Iterator[int]:
    """Where in all hashes a clip may begin, by a few of its frames alone."""
    informative = np.flatnonzero(clip.informative)
    if not len(informative) or not len(every):
        return
    spread = np.linspace(0, len(informative) - 1, min(_PROBES, len(informative)))
    picked = informative[spread.round().astype(int)]
    begins: set[int] = set()
    for frame in picked.tolist():
        near = np.bitwise_count(every ^ clip.hashes[frame]) <= distance + _SLACK
        begins.update((np.flatnonzero(near) - frame).tolist())
    yield from sorted(begin for begin in begins if begin >= 0)


def _apart(shorter: _Clip, longer: _Clip, shift: int) -> float:
    """Mean bits by which frames differ where neither is blank; 64 where too few are left."""
    window = longer.hashes[shift : shift + len(shorter.hashes)]
    if shift < 0 or len(window) < len(shorter.hashes):
        return 64.0
    both = shorter.informative & longer.informative[shift : shift + len(window)]
    # Most of what tells anything in the one must do so in the other.
    if not both.any() or both.sum() < 0.8 * shorter.informative.sum():
        return 64.0
    return float(np.bitwise_count(window ^ shorter.hashes)[both].mean())


def same_scenes(fingerprints: Mapping[str, Value], distance: float = ALIKE) -> dict[str, str]:
    """Return, for each clip, the first by name of those that show one scene with it, or itself.

    Two clips show one scene where three seconds or more of each are alike, in any order, or all of
    a shorter one: copies, pieces, excerpts that overlap, and what one camera saw at other times.
    """
    clips = {name: _Clip(value) for name, value in sorted(fingerprints.items())}
    every = np.concatenate([np.empty(0, np.uint64), *(clip.hashes for clip in clips.values())])
    begins = np.cumsum([0, *(len(clip.hashes) for clip in clips.values())])
    names = list(clips)
    leader = {name: name for name in names}
    for place, name in enumerate(names):
        alike = _alike(clips[name], every[: begins[place]], distance)
        found = np.searchsorted(begins, np.flatnonzero(alike.any(axis=0)), side="right") - 1
        for other in sorted(set(found.tolist())):
            shared = alike[:, begins[other] : begins[other + 1]]
            informative = (clips[each].informative.sum() for each in (name, names[other]))
            least = min(_SCENE * clips[name].rate, *informative)
            if min(shared.any(axis=1).sum(), shared.any(axis=0).sum()) >= least:
                first, second = sorted([leader[name], leader[names[other]]])
                leader = {each: first if led == second else led for each, led in leader.items()}
    return leader


def _alike(clip: _Clip, others: Hashes, distance: float) -> NDArray[np.bool_]:
    """Whether each frame of a clip is like each of the others; a blank one is like none."""
    found = np.zeros((len(clip.hashes), len(others)), np.bool_)
    for begin in range(0, len(clip.hashes), _BLOCK):
        apart = np.bitwise_count(clip.hashes[begin : begin + _BLOCK, None] ^ others)
        found[begin : begin + _BLOCK] = apart <= distance
    found[~clip.informative] = False
    found[:, others == 0] = False
    return found
