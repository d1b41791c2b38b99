"""Takes one speaker out of a sound: only what is heard during the speaker's turns is changed.

Every way of doing it gets the same turns and leaves the same samples alone, so that they can be
compared. Sound is handed through in pieces: memory does not grow with its length.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reelbench.annotate.common.audio import bridged, without
from reelbench.annotate.common.separation import (
    FRAMES,
    hop_at,
    sound_of_spectra,
    spectra_of,
    voice_shares,
)
from reelbench.base.errors import ReelbenchError
from reelbench.data.items import Span
from reelbench.media.edit.write import Samples

_EDGE = 32  # spectra at each end of what a network hears, which only give context
_SMOOTHED = 9  # spectra, a fifth of a second
# Of the share that is not voice: higher ones take more of the voice, and of the rest. On mixes, 1
# left 4 of 348 words and 2 left 1, for half a decibel of the music.
_POWER = 2
# Where what is left is this far below the voice, it is hardly anything but the voice's own trace.
_TRACE_DB = 20.0
_STEEPNESS = 3.0  # dB that it is turned down for each dB that it is further below


@dataclass(frozen=True)
class VoiceRemoval:
    """How a speaker is removed: ``method`` is one of ``METHODS``, times are in seconds."""

    method: str = "separate"
    margin: float = 0.15  # before and after a turn, unless someone else speaks there
    fade: float = 0.02  # within which it begins and ends
    # dB by which "attenuate" turns the sound down: after 60, nine of ten words can be recognised
    # once it is turned up again, after 90 none.
    depth: float = 90.0

    def __post_init__(self) -> None:
        """Raise ``ReelbenchError`` for an unknown method and for times that cannot be."""
        if self.method not in METHODS:
            known = ", ".join(METHODS)
            raise ReelbenchError(f"The method {self.method!r} is unknown; the known ones: {known}.")
        if min(self.margin, self.fade, self.depth) < 0:
            raise ReelbenchError("The margin, fade and depth of a removal must not be below 0.")


def removal_spans(
    turns: Iterable[Span], others: Iterable[Span], margin: float, end: float
) -> list[Span]:
    """Return what is to be changed: the turns of a speaker, with margins where no one else speaks.

    Where another speaks at the same time as the speaker, both are in the turn.
    """
    own = bridged(turns, 0.0)
    wide = bridged(((start - margin, over + margin) for start, over in own), 0.0)
    free = without(wide, without(bridged(others, 0.0), own))
    return [(max(0.0, start), min(end, over)) for start, over in free if start < end and over > 0]


def without_speaker(
    pieces: Iterable[Samples], rate: int, spans: Sequence[Span], removal: VoiceRemoval
) -> Iterator[Samples]:
    """Yield sound with a speaker removed within spans, as long as the given sound.

    Samples outside the spans are the given ones, bit for bit.
    """
    change, context, step = METHODS[removal.method](rate, removal)
    for begin, heard, count in sound_windows(pieces, step, context):
        middle = heard[:, context : context + count]
        strength = _strength(begin, count, rate, spans, removal.fade)
        if not strength.any():
            yield middle
            continue
        changed = change(heard)[:, context : context + count]
        yield np.where(strength > 0, middle + strength * (changed - middle), middle)


def sound_windows(
    pieces: Iterable[Samples], step: int, context: int = 0
) -> Iterator[tuple[int, Samples, int]]:
    """Yield sound in equal steps, each with what is around it.

    With each come the number of its first sample and how many samples of the sound it has; beyond
    the ends, there is silence.
    """
    held: Samples | None = None
    begin = 0
    for piece in pieces:
        if held is None:
            held = np.zeros((len(piece), context), np.float32)
        held = np.concatenate([held, piece], axis=1)
        while held.shape[1] >= step + 2 * context:
            yield begin, held[:, : step + 2 * context], step
            held, begin = held[:, step:], begin + step
    while held is not None and held.shape[1] > context:
        count = min(step, held.shape[1] - context)
        window = held[:, : step + 2 * context]
        yield begin, np.pad(window, ((0, 0), (0, step + 2 * context - window.shape[1]))), count
        held, begin = held[:, step:], begin + step


def _strength(
    begin: int, count: int, rate: int, spans: Sequence[Span], fade: float
) -> NDArray[np.float32]:
    """Return how much each sample is changed, from 0 to 1: fades are within the spans."""
    strength = np.zeros(count, np.float32)
    for start, end in spans:
        first, last = round(start * rate) - begin, round(end * rate) - begin
        if last <= 0 or first >= count:
            continue
        places = np.arange(max(first, 0), min(last, count))
        edge = np.minimum(places - first + 1, last - places)
        rising = np.minimum(1.0, edge / max(1.0, fade * rate))
        strength[places] = np.maximum(strength[places], rising)
    return strength


Change = Callable[[Samples], Samples]
_SECOND = 1.0


def _attenuating(rate: int, removal: VoiceRemoval) -> tuple[Change, int, int]:
    factor = np.float32(10 ** (-removal.depth / 20))
    return lambda heard: heard * factor, 0, round(_SECOND * rate)


def _muting(rate: int, _: VoiceRemoval) -> tuple[Change, int, int]:
    return np.zeros_like, 0, round(_SECOND * rate)


def _separating(rate: int, _: VoiceRemoval) -> tuple[Change, int, int]:
    hop = hop_at(rate)
    return lambda heard: _without_voices(heard, hop), _EDGE * hop, (FRAMES - 2 * _EDGE) * hop


def _without_voices(heard: Samples, hop: int) -> Samples:
    spectra = spectra_of(heard, hop)
    shares = voice_shares(spectra)
    rest = spectra * (1 - shares) ** _POWER
    power = [(np.abs(part) ** 2).sum((0, 2)) for part in (rest, spectra * shares)]
    left, voice = (np.convolve(each, np.ones(_SMOOTHED), "same") + 1e-12 for each in power)
    below = np.maximum(0.0, -_TRACE_DB - 10 * np.log10(left / voice))
    gains = (10 ** (-_STEEPNESS * below / 20)).astype(np.float32)
    return sound_of_spectra(rest * gains[None, :, None], hop)


# The change of sound, the samples that it must hear before and after, and those it changes at once.
METHODS: dict[str, Callable[[int, VoiceRemoval], tuple[Change, int, int]]] = {
    "attenuate": _attenuating,
    "mute": _muting,
    "separate": _separating,
}
