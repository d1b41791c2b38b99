"""Speaker diarization: pyannote's segmentation of ten-second windows, voices clustered over all.

Bredin, "pyannote.audio 2.1 speaker diarization pipeline", 2023, with the powerset classes of
Plaquet and Bredin, "Powerset multi-class cross entropy loss for neural speaker diarization", 2023.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from reelbench.annotate.common.audio import (
    Mask,
    Mono,
    bridged,
    common,
    mono_sound,
    runs,
    within,
)
from reelbench.annotate.common.sessions import one_thread_session
from reelbench.annotate.common.voice_pieces import grouped
from reelbench.annotate.operator import Clip, Labels, Operator, Value
from reelbench.annotate.operators.sound import speech_in
from reelbench.annotate.operators.voices import Embedding, embed
from reelbench.data.items import Span
from reelbench.media.edit.audio import SPEECH_RATE

# The model hears 10 s and says, for 589 frames, which of three speakers speak, two at most.
_WINDOW, _STEP = 10 * SPEECH_RATE, 5 * SPEECH_RATE
_HOP, _FIELD = 270, 991  # samples between two frames, and those that a frame is about
_LOCAL = 3
_CLASSES = ((), (0,), (1,), (2,), (0, 1), (0, 2), (1, 2))
_GAP = 0.3  # seconds; a shorter pause does not end a turn
_SHORTEST = 0.2  # seconds
_CLEAR = 2.0  # seconds of a voice, from which on its embedding can be relied on
_AROUND_SPEECH = 0.1  # seconds by which speech may reach beyond what the label of sound says


@dataclass(frozen=True)
class WindowSpeaker:
    """One of the speakers of one window."""

    window: int
    active: Mask  # by frame
    seconds: float  # heard well
    voice: Embedding


@dataclass(frozen=True)
class Turns(Operator):
    """Finds speakers s1, s2, ... by first appearance, and their turns, which may overlap."""

    name: ClassVar[str] = "turns"
    may_use: ClassVar[tuple[str, ...]] = ("sound",)
    weights: ClassVar[tuple[str, ...]] = ("turns", "voice")
    same: float = 0.65  # cosine from which on voices are one: same .79-.92, others .31-.62 seen

    def __call__(self, clip: Clip, labels: Labels) -> Value:
        """Return the number of speakers of a clip, and their turns."""
        samples = mono_sound(clip)
        around = [(s - _AROUND_SPEECH, e + _AROUND_SPEECH) for s, e in speech_in(clip, labels)]
        found = _spans(_pieces(samples, bridged(around, 0.0)), self.same)
        whole = [(0.0, len(samples) / SPEECH_RATE)]
        spans = sorted((common(own, whole) for own in found), key=lambda own: own[0])
        turns = sorted(
            (start, end, number) for number, own in enumerate(spans, 1) for start, end in own
        )
        return {
            "speakers": len(spans),
            "turns": [
                {"start": round(start, 4), "end": round(end, 4), "speaker": f"s{number}"}
                for start, end, number in turns
            ],
        }


def _pieces(samples: Mono, speech: list[Span]) -> list[WindowSpeaker]:
    """Return every speaker of every window of ten seconds."""
    found: list[WindowSpeaker] = []
    rest = max(0, len(samples) - _WINDOW)
    for number in range(-(-rest // _STEP) + 1):
        begin = number * _STEP
        if not _has_speech(begin, speech):
            continue
        heard = samples[begin : begin + _WINDOW]
        window = np.pad(heard, (0, _WINDOW - len(heard)))
        active = _segmented(window) & within(_moments(begin), speech)[:, None]
        for speaker in range(_LOCAL):
            others = np.asarray(np.delete(active, speaker, axis=1).any(axis=1), bool)
            for own in _parts(active[:, speaker], others):
                alone = own & ~others
                clear = alone if _seconds(alone) >= _CLEAR else own
                voice = embed(np.concatenate([_samples(window, run) for run in runs(clear)]))
                found.append(WindowSpeaker(number, own, _seconds(clear), voice))
    return found


def _parts(own: Mask, others: Mask) -> list[Mask]:
    """Split what one speaker of a window says where a pause may hide a change of speakers.

    The model takes two similar voices for one; separated, they are distinguished. What is too short
    for that stays together.
    """
    spans = [np.zeros(len(own), bool) for _ in runs(own)]
    for mask, (begin, end) in zip(spans, runs(own), strict=True):
        mask[begin:end] = True
    long = [mask for mask in spans if _seconds(mask & ~others) >= _CLEAR]
    short = own & ~np.any([np.zeros(len(own), bool), *long], axis=0)
    return [*long, short] if _seconds(short) >= _SHORTEST else long


def _has_speech(begin: int, speech: list[Span]) -> bool:
    """Whether anything is said in the window that begins with this sample."""
    start, end = begin / SPEECH_RATE, (begin + _WINDOW) / SPEECH_RATE
    return any(s < end and e > start for s, e in speech)


def _seconds(mask: Mask) -> float:
    return float(mask.sum()) * _HOP / SPEECH_RATE


def _samples(window: Mono, run: tuple[int, int]) -> Mono:
    middle = (_FIELD - _HOP) // 2
    return window[run[0] * _HOP + middle : run[1] * _HOP + middle]


def _moments(begin: int) -> NDArray[np.float64]:
    """Return the moment in the middle of each frame of a window."""
    frames = (_WINDOW - _FIELD) // _HOP + 1
    return (begin + np.arange(frames) * _HOP + _FIELD / 2) / SPEECH_RATE


def _segmented(window: Mono) -> Mask:
    """Return which of the speakers of a window speak, one row a frame."""
    output = _model().run(None, {"input": np.ascontiguousarray(window[None, None])})[0][0]
    table = np.array([[speaker in each for speaker in range(_LOCAL)] for each in _CLASSES])
    return np.asarray(table[output.argmax(axis=1)], bool)


def _spans(pieces: list[WindowSpeaker], same: float) -> list[list[Span]]:
    """Return the turns of each person: those of windows, with each voice known from the others."""
    if not pieces:
        return []
    people = _people(pieces, same)
    frames = (max(p.window for p in pieces) * _STEP + _WINDOW) // _HOP + 1
    heard, windows = np.zeros((max(people) + 1, frames)), np.zeros(frames)
    size = len(pieces[0].active)
    # Windows overlap by half. Of two that disagree, the one with the moment nearer to its middle
    # is believed, for it knows more of what comes before and after.
    weight = np.minimum(np.arange(size), np.arange(size)[::-1]) + 1.0
    for window in sorted({piece.window for piece in pieces}):
        here = slice(round(window * _STEP / _HOP), round(window * _STEP / _HOP) + size)
        windows[here] += weight
        own = np.zeros((len(heard), size), bool)
        for piece, person in zip(pieces, people, strict=True):
            if piece.window == window:
                own[person] |= piece.active
        heard[:, here] += own * weight
    spans = [_turns((each > 0) & (2 * each >= windows)) for each in heard]
    return [own for own in spans if own]


def _turns(active: Mask) -> list[Span]:
    middle = (_FIELD - _HOP) / 2
    spans = [
        ((begin * _HOP + middle) / SPEECH_RATE, (end * _HOP + middle) / SPEECH_RATE)
        for begin, end in runs(active)
    ]
    return [(start, end) for start, end in bridged(spans, _GAP) if end - start >= _SHORTEST]


def _people(pieces: list[WindowSpeaker], same: float) -> list[int]:
    """Return the person of each piece: clear ones are clustered, others join the nearest."""
    voices = np.array([piece.voice for piece in pieces], np.float64)
    clear = np.array([piece.seconds >= _CLEAR for piece in pieces])
    if not clear.any():
        clear[:] = True
    groups = grouped(voices[clear], same)
    count = int(groups.max()) + 1
    middles = np.array([voices[clear][groups == each].mean(axis=0) for each in range(count)])
    middles /= np.linalg.norm(middles, axis=1, keepdims=True)
    nearest = (voices @ middles.T).argmax(axis=1)
    nearest[clear] = groups
    return [int(group) for group in nearest]


def _model() -> Any:
    return one_thread_session("turns")
