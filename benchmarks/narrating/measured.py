"""What is left of a narrator, and what was lost of everything else, on sound of known parts."""

import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from narrating.mixes import RATE, SECONDS, Mix
from reelbench.annotate.annotate import operators_for
from reelbench.annotate.common.audio import within
from reelbench.annotate.common.narrator_left import TimedWord, timed_words, words_left
from reelbench.annotate.common.voice_removal import VoiceRemoval, removal_spans, without_speaker
from reelbench.annotate.operator import Clip, Value
from reelbench.data.items import NOTHING, Span
from reelbench.media.decode.probe import probe
from reelbench.media.digests import media_digest
from reelbench.media.edit.audio import write_wav
from reelbench.media.edit.write import Samples

CLIP = 10.0  # seconds
BEAM = 1  # of Whisper; with the usual 5 it takes three times as long
MOST_LEFT, MOST_WORDS = 0.15, 1  # as in the stage check-narrator


Heard = tuple[Sequence[TimedWord], Sequence[TimedWord]]
_CLIPS = [(start, start + CLIP) for start in np.arange(0, SECONDS, CLIP)]


@dataclass(frozen=True)
class Measure:
    """One way of removing, on one mix."""

    method: str
    mix: str
    kind: str
    words: int  # that the narrator speaks
    left: int
    strained: int  # words recognised where the turns alone are played, each as loud as can be
    flagged: int  # clips of ten seconds
    clips: int  # in which the narrator speaks
    fall: float  # dB of the narrator's own sound, within the turns
    rest: float  # dB by which the level differs from that of the rest, within the turns
    sdr: float  # dB, scale-invariant, of what is left against the rest
    outside: float  # dB of what differs outside the turns
    pace: float  # CPU seconds for each second


def measures(
    mix: Mix,
    removals: Sequence[VoiceRemoval],
    spoken: Sequence[TimedWord],
    of_rest: Heard,
) -> list[Measure]:
    """Return the measures of each method, of the mix as it is, and of the rest alone.

    ``of_rest`` are the words that are recognised in the rest alone.
    """
    nothing, plainly = np.zeros_like(mix.rest), heard_in(mix.sound)
    found = [
        measure("as it is", mix, mix.sound, spoken, 0.0, mix.narrator, (plainly, plainly)),
        measure("rest alone", mix, mix.rest, spoken, 0.0, nothing, of_rest),
    ]
    for removal in removals:
        began = time.process_time()
        made = removed(mix.sound, mix.turns, removal)
        pace = (time.process_time() - began) / SECONDS
        found.append(measure(removal.method, mix, made, spoken, pace, None))
    return found


def removed(sound: Samples, turns: Sequence[Span], removal: VoiceRemoval) -> Samples:
    """Return a sound without the voice in some turns."""
    spans = removal_spans(turns, [], removal.margin, sound.shape[1] / RATE)
    return np.concatenate(list(without_speaker([sound], RATE, spans, removal)), axis=1)


def measure(
    method: str,
    mix: Mix,
    made: Samples,
    spoken: Sequence[TimedWord],
    pace: float,
    left: Samples | None,
    heard: Heard | None = None,
) -> Measure:
    """Return the measures of a sound that was made from a mix.

    ``left`` is what is left of the narrator, where that is known; else it is estimated: the part
    of the sound that goes with the narrator's own.
    """
    times = (np.arange(made.shape[1]) + 0.5) / RATE
    inside = within(times, mix.turns)
    outside = ~within(times, [(start - 0.2, end + 0.2) for start, end in mix.turns])
    after, strained = heard_twice(made, mix.turns) if heard is None else heard
    counts = [words_left(spoken, after, clip) for clip in _CLIPS]
    narrated = [each for each in counts if each]
    return Measure(
        method,
        mix.name,
        mix.kind,
        sum(map(len, narrated)),
        sum(map(sum, narrated)),
        sum(sum(words_left(spoken, strained, clip)) for clip in _CLIPS),
        sum(sum(each) > max(MOST_WORDS, MOST_LEFT * len(each)) for each in narrated),
        len(narrated),
        _fall(mix, made, inside) if left is None else _db(left, inside) - _db(mix.narrator, inside),
        _db(made, inside) - _db(mix.rest, inside),
        _sdr(made[:, inside], mix.rest[:, inside]),
        _db(made - mix.sound, outside) - _db(mix.sound, outside),
        pace,
    )


def _fall(mix: Mix, made: Samples, inside: np.ndarray) -> float:
    """Return by how many dB the narrator fell: the least-squares share of each tone that is left.

    Over tones of the narrator's and of the rest's, what was made is fitted by both.
    """
    parts = [_tones(each[0, inside]) for each in (mix.narrator, mix.rest, made)]
    voice, rest, got = parts
    a, b, c = (np.abs(voice) ** 2).sum(), (np.abs(rest) ** 2).sum(), (voice.conj() * rest).sum()
    p, q = (voice.conj() * got).sum(), (rest.conj() * got).sum()
    share = (p * b - q * c) / (a * b - np.abs(c) ** 2 + 1e-12)
    return float(20 * np.log10(max(abs(share), 1e-6)))


def _tones(sound: np.ndarray) -> np.ndarray:
    count = len(sound) // 1024
    return np.fft.rfft(sound[: count * 1024].reshape(count, 1024) * np.hanning(1024))


def _db(sound: Samples, mask: np.ndarray) -> float:
    return float(10 * np.log10(np.mean(np.square(sound[:, mask], dtype=np.float64)) + 1e-12))


def _sdr(made: Samples, truth: Samples) -> float:
    one, other = made.ravel().astype(np.float64), truth.ravel().astype(np.float64)
    scale = one @ other / (other @ other + 1e-12)
    noise = np.sum((one - scale * other) ** 2)
    return float(10 * np.log10((scale**2 * (other @ other) + 1e-12) / (noise + 1e-12)))


def heard_twice(sound: Samples, turns: Sequence[Span]) -> Heard:
    """Return the words that are recognised in a sound, and with all that can be done to hear them.

    For the latter, the turns alone are played, each as loud as can be.
    """
    return heard_in(sound), heard_in(_turns_alone(sound, turns), turns)


def _turns_alone(sound: Samples, turns: Sequence[Span]) -> Samples:
    """Return the turns of a sound, each turned up, and silence between them."""
    alone = np.zeros_like(sound)
    for start, end in turns:
        part = slice(round(start * RATE), round(end * RATE))
        alone[:, part] = 0.5 * sound[:, part] / max(float(np.abs(sound[:, part]).max()), 1e-9)
    return alone


def heard_in(sound: Samples, speech: Sequence[Span] = ()) -> list[TimedWord]:
    """Return the words that are recognised in a sound, by the operators that a recipe uses.

    With ``speech``, these spans are listened to, whether they sound like speech or not.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.wav"
        write_wav(path, np.clip(sound, -1, 1), RATE)
        spans = [{"start": start, "end": end, "kind": "speech"} for start, end in speech]
        given = {"sound": {"spans": spans}} if speech else {}
        names = ("transcript",) if speech else ("sound", "transcript")
        return timed_words(labels_of(path, *names, language="en", given=given)["transcript"])


def labels_of(
    path: Path, *names: str, language: str = "", given: Mapping[str, Value] = NOTHING
) -> dict[str, Value]:
    """Return labels of a file; a transcript is made from its sound."""
    clip = Clip(path, media_digest(path), probe(path))
    found: dict[str, Value] = dict(given)
    settings = {"subtitles": False, "beam": BEAM, "language": language}
    for operator in operators_for(list(names), {"transcript": settings}):
        found[operator.name] = operator(clip, found)
    return found
