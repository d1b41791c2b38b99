"""Measures on a video whose narrator was removed: words and level that are left, and what was lost.

Everything is held against the video as it was: the words that the narrator spoke, and the sound.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reelbench.annotate.common.audio import SILENT_DB, bridged, common, within
from reelbench.annotate.common.segment_words import segment_words
from reelbench.annotate.common.voice_removal import sound_windows
from reelbench.annotate.operator import Value
from reelbench.base.text import words
from reelbench.data.items import Span
from reelbench.media.edit.audio import SPEECH_RATE, stream_audio

# Seconds by which a word may be heard earlier or later than it was said: the times of words, found
# twice, differ by half a second at most; those in subtitles are spread over their line.
_NEAR = 1.0


@dataclass(frozen=True, slots=True)
class TimedWord:
    """A word, in small letters and without signs, and the middle of the time it is spoken in."""

    time: float
    text: str


@dataclass(frozen=True, slots=True)
class SoundChange:
    """How the sound of a clip was changed, in dB; None where there is no such sound.

    ``inside`` and ``outside`` are the changes of the level within the narrator's turns and beside
    them; ``error`` is the level of what differs beside them, against what was there.
    """

    inside: float | None
    outside: float | None
    error: float | None


def timed_words(transcript: Value) -> list[TimedWord]:
    """Return the words of a transcript."""
    segments = transcript["segments"]
    return spoken_words([word for segment in segments for word in segment_words(segment)])


def spoken_words(given: Sequence[Any]) -> list[TimedWord]:
    """Return words that have start, end and text, in order of time."""
    found = [
        TimedWord((each["start"] + each["end"]) / 2, text)
        for each in given
        for text in words(each["word"])
        if any(map(str.isalnum, text))
    ]
    return sorted(found, key=lambda word: word.time)


def words_left(before: Sequence[TimedWord], after: Sequence[TimedWord], clip: Span) -> list[bool]:
    """Return for each word spoken in a clip whether it is still heard, near its time, in order.

    The words that are heard may be others' or made up; each stands for one that was spoken at most.
    """
    spoken = [word for word in before if clip[0] <= word.time < clip[1]]
    heard = [word for word in after if clip[0] - _NEAR <= word.time < clip[1] + _NEAR]
    # The longest common subsequence, with pairs that are near in time: by rows, from the end.
    table = np.zeros((len(spoken) + 1, len(heard) + 1), np.int32)
    for row in range(len(spoken) - 1, -1, -1):
        for column in range(len(heard) - 1, -1, -1):
            best = max(table[row + 1, column], table[row, column + 1])
            paired = table[row + 1, column + 1] + _are_one(spoken[row], heard[column])
            table[row, column] = max(best, paired)
    found = [False] * len(spoken)
    row = column = 0
    while row < len(spoken) and column < len(heard):
        if table[row, column] == table[row + 1, column]:
            row += 1
        elif table[row, column] == table[row, column + 1]:
            column += 1
        else:
            found[row] = True
            row, column = row + 1, column + 1
    return found


def _are_one(spoken: TimedWord, heard: TimedWord) -> bool:
    return spoken.text == heard.text and abs(spoken.time - heard.time) <= _NEAR


def sound_changes(
    source: Path, made: Path, spans: Sequence[Span], clips: Sequence[Span]
) -> list[SoundChange]:
    """Return for each clip how its sound was changed within spans, and beside them."""
    # By clip: within or beside, and the power of the source, of what was made and of what differs.
    sums = np.zeros((len(clips), 2, 3))
    counts = np.zeros((len(clips), 2))
    end = max((over for _, over in clips), default=0.0)
    streams = [
        sound_windows(stream_audio(path, SPEECH_RATE, 1, 0.0, end), SPEECH_RATE)
        for path in (source, made)
    ]
    for (begin, old, count), (_, new, _) in zip(*streams, strict=True):
        times = (begin + np.arange(count) + 0.5) / SPEECH_RATE
        was, now = old[0, :count].astype(np.float64), new[0, :count].astype(np.float64)
        powers = np.stack([was**2, now**2, (now - was) ** 2])
        inside = within(times, spans)
        for number, span in enumerate(clips):
            if span[0] < times[-1] and span[1] > times[0]:
                here = within(times, [span])
                for place, mask in enumerate((here & inside, here & ~inside)):
                    sums[number, place] += powers[:, mask].sum(1)
                    counts[number, place] += mask.sum()
    return [_change(*each) for each in zip(sums, counts, strict=True)]


def _change(sums: NDArray[np.float64], counts: NDArray[np.float64]) -> SoundChange:
    heard = sums[:, 0] > counts * 10 ** (SILENT_DB / 10)
    inside, outside = (_ratio(part[1], part[0]) for part in sums)
    return SoundChange(
        inside if heard[0] else None,
        outside if heard[1] else None,
        _ratio(sums[1, 2], sums[1, 0]) if heard[1] else None,
    )


def _ratio(power: float, against: float) -> float:
    return round(float(10 * np.log10(max(power, 1e-12) / max(against, 1e-12))), 1)


def seconds_in(spans: Sequence[Span], others: Sequence[Span]) -> float:
    """Return for how many seconds both are the case."""
    both = common(bridged(spans, 0.0), bridged(others, 0.0))
    return round(sum(end - start for start, end in both), 2)
