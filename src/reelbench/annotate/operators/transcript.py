"""The transcript: from the subtitles beside a clip, or else by Whisper from its speech."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from reelbench.annotate.common.audio import bridged, mono_sound
from reelbench.annotate.common.calibration import unless_unsure
from reelbench.annotate.operator import Clip, Labels, Operator, Value
from reelbench.annotate.operators.sound import speech_in
from reelbench.base.files import digest_of_file
from reelbench.data.items import Span
from reelbench.data.paths import SUBTITLE_ENDINGS
from reelbench.media.edit.audio import SPEECH_RATE
from reelbench.media.subtitles import read_subtitles
from reelbench.weights import import_extra, loaded

_GAP = 2.0  # seconds; speech with shorter pauses is heard at once, as it was meant
_MARGIN = 0.2  # seconds around speech: first and last sounds are soft
_MOST_TOKENS = 224  # in half a minute, as in OpenAI's own; else a loop goes on for twice as long
_MOST_REPETITION = 2.4  # of the text's size to its compressed size; Whisper repeats itself in noise
_AT_EDGE = 0.15  # seconds from the start or end of a clip, within which speech runs into it
_NEAR_EDGE = 1.0  # seconds from there, within which a doubtful word counts as cut off, too
_MOST_DROPPED = 3  # words at each edge


@dataclass(frozen=True)
class Transcript(Operator):
    """Transcribes speech, with the times of words; a subtitle file is preferred to Whisper.

    Where speech runs into the start or the end of a clip, its first or last word may be cut off,
    and Whisper then makes up another: it is dropped, with the doubtful ones beside it. A language
    that Whisper is not sure of is null.
    """

    name: ClassVar[str] = "transcript"
    version: ClassVar[int] = 3
    may_use: ClassVar[tuple[str, ...]] = ("sound",)
    weights: ClassVar[tuple[str, ...]] = ("whisper_base",)
    subtitles: bool = True  # whether a file beside the clip counts
    language: str = ""  # such as "en"; found out where it is not given
    beam: int = 5
    whisper: str = "whisper_base"  # or whisper_large_v3, for who has its weights
    edges: bool = True  # whether words that the edges of the clip cut off are dropped
    doubtful: float = 0.6  # probability below which a word beside them is dropped, too
    least_confidence: float = 0.5  # of the language, which is null below it

    def __call__(self, clip: Clip, labels: Labels) -> Value:
        """Return the transcript of a clip."""
        beside = subtitles_beside(clip.path) if self.subtitles else None
        if beside is not None:
            segments: list[dict[str, Any]] = [
                {"start": cue.start, "end": cue.end, "text": cue.text, "words": []}
                for cue in read_subtitles(beside)
            ]
            language = self.language or None
            return _label("subtitles", language, float(bool(language)), segments, [], 1.0)
        speech = speech_in(clip, labels)
        if not speech:
            return _label("model", None, 0.0, [], [], 0.0)
        return self._heard(clip, speech)

    @property
    def uses(self) -> tuple[str, ...]:
        """The weights of the chosen Whisper model."""
        return (self.whisper,)

    def beside(self, clip: Clip) -> str | None:
        """Return the hash of the subtitles beside the clip, where they are used."""
        beside = subtitles_beside(clip.path) if self.subtitles else None
        return None if beside is None else digest_of_file(beside)

    def _heard(self, clip: Clip, speech: list[Span]) -> Value:
        stretches = bridged(_with_margins(speech), _GAP)
        samples = mono_sound(clip)
        end = len(samples) / SPEECH_RATE
        # No chance in it: one temperature, and no words carried over from one stretch to the next.
        found, info = loaded(self.whisper, _whisper).transcribe(
            samples,
            language=self.language or None,
            beam_size=self.beam,
            temperature=0.0,
            condition_on_previous_text=False,
            word_timestamps=True,
            vad_filter=False,
            max_new_tokens=_MOST_TOKENS,
            clip_timestamps=[min(moment, end) for span in stretches for moment in span],
        )
        heard = [each for each in found if each.compression_ratio <= _MOST_REPETITION]
        words = [word for segment in heard for word in segment.words or ()]
        cut = cut_off(words, speech, end, self.doubtful) if self.edges else (0, 0)
        kept = words[cut[0] : len(words) - cut[1]]
        places = {id(word) for word in kept}
        segments = [_segment(each, speech, places) for each in heard]
        return _label(
            "model",
            unless_unsure(info.language, info.language_probability, self.least_confidence),
            info.language_probability,
            [segment for segment in segments if segment["words"]],
            [_word(word, speech) for word in words if id(word) not in places],
            float(np.mean([word.probability for word in kept])) if kept else 0.0,
        )


def subtitles_beside(path: Path) -> Path | None:
    """Return the file of subtitles of the same name, where there is one."""
    beside = (path.with_suffix(ending) for ending in SUBTITLE_ENDINGS)
    return next((file for file in beside if file.is_file()), None)


def _with_margins(spans: list[Span]) -> list[Span]:
    return [(max(0.0, start - _MARGIN), end + _MARGIN) for start, end in spans]


def cut_off(
    words: Sequence[Any], speech: Sequence[Span], end: float, doubtful: float
) -> tuple[int, int]:
    """Return how many of the first and of the last words the edges of a clip may have cut off."""
    first = last = 0
    if words and any(start <= _AT_EDGE for start, _ in speech):
        first = _dropped([(word.start, word.probability) for word in words], doubtful)
    if words and any(over >= end - _AT_EDGE for _, over in speech):
        back = [(end - word.end, word.probability) for word in reversed(words)]
        last = _dropped(back, doubtful)
    return first, min(last, len(words) - first)


def _dropped(words: Sequence[tuple[float, float]], doubtful: float) -> int:
    """Count words at an edge, given how far each is from it and how probable."""
    count = 0
    for number, (far, probability) in enumerate(words[:_MOST_DROPPED]):
        touches = number == 0 and far <= 2 * _AT_EDGE  # Whisper's times are that rough
        if not touches and not (far <= _NEAR_EDGE and probability < doubtful):
            break
        count += 1
    return count


def _label(
    source: str,
    language: str | None,
    language_confidence: float,
    segments: list[dict[str, Any]],
    dropped: list[dict[str, Any]],
    confidence: float,
) -> Value:
    return {
        "source": source,
        "language": language,
        "language_confidence": round(language_confidence, 4),
        "text": " ".join(segment["text"] for segment in segments if segment["text"]),
        "confidence": round(confidence, 4),
        "segments": segments,
        "dropped": dropped,
    }


def _segment(heard: Any, speech: list[Span], kept: set[int]) -> dict[str, Any]:
    raw = [word for word in heard.words or () if id(word) in kept]
    words = [_word(word, speech) for word in raw]
    whole = len(raw) == len(heard.words or ())
    return {
        "start": words[0]["start"] if words else round(float(heard.start), 4),
        "end": round(float(heard.end), 4) if whole or not words else words[-1]["end"],
        # Words come with the blanks before them, where their language has any.
        "text": heard.text.strip() if whole else "".join(word.word for word in raw).strip(),
        "words": words,
    }


def _word(word: Any, speech: list[Span]) -> dict[str, Any]:
    return {
        "start": round(_onset(float(word.start), float(word.end), speech), 4),
        "end": round(float(word.end), 4),
        "word": word.word.strip(),
        "probability": round(float(word.probability), 4),
    }


def _onset(start: float, end: float, speech: list[Span]) -> float:
    """Return when a word begins: Whisper counts the silence before it in, speech does not."""
    begun = next((span for span in speech if span[1] > start), None)
    return begun[0] if begun and start < begun[0] < end else start


def _whisper(folder: Path) -> Any:
    model = import_extra("faster_whisper", "annotate").WhisperModel
    # One thread: sums in another order are other words, now and then.
    return model(str(folder), device="cpu", compute_type="int8", cpu_threads=1, num_workers=1)
