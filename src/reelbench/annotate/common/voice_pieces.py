"""Short pieces of speech with the voice of each, and which of them are one voice."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reelbench.annotate.common.audio import Mono, bridged, common, level_db, parts, without
from reelbench.data.items import Span
from reelbench.media.edit.audio import SPEECH_RATE

Vectors = NDArray[np.float64]
_SHORTEST, _LONGEST = 1.5, 2.5  # seconds; a piece ends at the quietest moment between them
_LEAST = 0.6  # seconds of a voice that can be told from others at all
_CLEAR = 1.2  # seconds of a voice from which on it can found a group
_KNOWN = 10.0  # seconds of a voice whose mean is that of the voice, and not of what was said
_STEP = 0.05  # seconds over which a level is measured


@dataclass(frozen=True)
class VoicePiece:
    """A piece of one turn: who speaks by the label ``turns``, and how the voice sounds."""

    start: float
    end: float
    speaker: str
    alone: bool  # whether nobody else speaks
    voice: NDArray[np.float32] | None  # of length 1; None where it is too short
    level: float = 0.0  # dB of full scale

    @property
    def seconds(self) -> float:
        """How long it is."""
        return self.end - self.start


def cut_turns(
    samples: Mono,
    turns: Mapping[str, Sequence[Span]],
    embed: Callable[[Mono], NDArray[np.float32]],
) -> list[VoicePiece]:
    """Return all turns in pieces, in order of time; where two speak at once, both have one."""
    levels = level_db(samples[None], SPEECH_RATE, _STEP)
    found = []
    for speaker, own in turns.items():
        others = bridged([span for who, s in turns.items() if who != speaker for span in s], 0.0)
        for alone, spans in ((True, without(own, others)), (False, common(own, others))):
            for start, end in (piece for span in spans for piece in _cut(span, levels)):
                heard = parts(samples, [(start, end)])
                voice = embed(heard) if end - start >= _LEAST else None
                power = float(np.mean(np.square(heard, dtype=np.float64))) if len(heard) else 0.0
                level = 10 * np.log10(max(power, 1e-10))
                found.append(VoicePiece(start, end, speaker, alone, voice, round(level, 2)))
    return sorted(found, key=lambda piece: (piece.start, piece.end, piece.speaker))


def _cut(span: Span, levels: NDArray[np.float64]) -> Iterator[Span]:
    """Yield a span in pieces that end where it is quiet: between voices there is mostly a pause."""
    start, end = span
    while end - start > _LONGEST + _LEAST:
        first, last = (round((start + seconds) / _STEP) for seconds in (_SHORTEST, _LONGEST))
        quiet = (first + int(np.argmin(levels[first:last])) + 0.5) * _STEP
        yield start, quiet
        start = quiet
    yield start, end


def group_voices(pieces: Sequence[VoicePiece], same: float, again: float) -> NDArray[np.intp]:
    """Return the group of each piece; pieces of one group are one voice, the largest is 0.

    Clear pieces are clustered until groups are less alike than ``same`` on average; groups whose
    mean is as near as ``again`` to that of a long one join it. Other pieces join the nearest, or,
    where they are too short to have a voice, what most of their speaker's pieces are.
    """
    heard = [n for n, piece in enumerate(pieces) if piece.voice is not None]
    clear = [n for n in heard if pieces[n].alone and pieces[n].seconds >= _CLEAR] or heard
    if not clear:
        speakers = np.unique([piece.speaker for piece in pieces], return_inverse=True)[1]
        return _numbered(speakers, np.array([piece.seconds for piece in pieces]))
    voices = np.array([pieces[n].voice for n in clear], np.float64)
    seconds = np.array([pieces[n].seconds for n in clear])
    groups = _merged(voices, seconds, grouped(voices, same), again)
    middles = _means(voices, seconds, groups)
    for _ in range(2):  # what was clustered early may lie nearer to what another became
        groups = np.asarray((voices @ middles.T).argmax(axis=1), np.intp)
        groups = _numbered(groups, seconds)
        middles = _means(voices, seconds, groups)
    return _joined(pieces, dict(zip(clear, groups.tolist(), strict=True)), middles)


def grouped(voices: Vectors, same: float) -> NDArray[np.intp]:
    """Group embeddings until no two groups are, on average, as near as one voice is to itself."""
    if len(voices) == 1:
        return np.zeros(1, np.intp)
    from scipy.cluster.hierarchy import fcluster, linkage  # a second and 60 MB: only who needs it

    tree = linkage(voices, "average", "cosine")
    found = fcluster(np.maximum(tree, 0), 1 - same, "distance")
    return np.asarray(found - 1, np.intp)


def _merged(
    voices: Vectors, seconds: Vectors, groups: NDArray[np.intp], again: float
) -> NDArray[np.intp]:
    """Join groups to one that is well known: over other sounds, one voice falls into several."""
    while True:
        groups = _numbered(groups, seconds)
        middles = _means(voices, seconds, groups)
        alike = np.triu(middles @ middles.T, 1)
        known = [float(seconds[groups == n].sum()) >= _KNOWN for n in range(len(middles))]
        alike[~np.array(known)] = -1.0  # the longer of two comes first
        if alike.max() < again:
            return groups
        one, other = np.unravel_index(int(alike.argmax()), alike.shape)
        groups = np.where(groups == other, one, groups)


def _numbered(groups: NDArray[np.intp], seconds: Vectors) -> NDArray[np.intp]:
    """Number groups by how long they speak, the longest 0."""
    names = np.unique(groups)
    total = [-float(seconds[groups == name].sum()) for name in names]
    order = {int(names[n]): rank for rank, n in enumerate(np.argsort(total, kind="stable"))}
    return np.array([order[int(group)] for group in groups], np.intp)


def _means(voices: Vectors, seconds: Vectors, groups: NDArray[np.intp]) -> Vectors:
    """Return the mean voice of each group, of length 1; long pieces count more."""
    sums = np.array([seconds[groups == n] @ voices[groups == n] for n in range(groups.max() + 1)])
    return np.asarray(sums / (np.linalg.norm(sums, axis=1, keepdims=True) + 1e-12))


def _joined(
    pieces: Sequence[VoicePiece], known: dict[int, int], middles: Vectors
) -> NDArray[np.intp]:
    """Return the group of all pieces, given that of the clear ones."""
    usual: dict[str, dict[int, float]] = {}
    for number, group in known.items():
        by_group = usual.setdefault(pieces[number].speaker, {})
        by_group[group] = by_group.get(group, 0.0) + pieces[number].seconds
    out = np.zeros(len(pieces), np.intp)
    for number, piece in enumerate(pieces):
        own = usual.get(piece.speaker)
        if number in known:
            out[number] = known[number]
        elif piece.voice is not None and (piece.alone or own is None):
            out[number] = int((middles @ piece.voice).argmax())
        else:  # a mixture of voices is like none of them: its turn goes by who has it
            out[number] = min(own, key=lambda each: -own[each]) if own else 0
    return out
