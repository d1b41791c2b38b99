"""The transcript: from the subtitles beside a clip, or else by Whisper from its speech."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from reelbench.annotate.common.audio import bridged, mono_sound
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


@dataclass(frozen=True)
class Transcript(Operator):
    """Transcribes speech, with the times of words; a subtitle file is preferred to Whisper."""

    name: ClassVar[str] = "transcript"
    may_use: ClassVar[tuple[str, ...]] = ("sound",)
    weights: ClassVar[tuple[str, ...]] = ("whisper_base",)
    subtitles: bool = True  # whether a file beside the clip counts
    language: str = ""  # such as "en"; found out where it is not given
    beam: int = 5
    whisper: str = "whisper_base"  # or whisper_large_v3, for who has its weights

    def __call__(self, clip: Clip, labels: Labels) -> Value:
        """Return the transcript of a clip."""
        beside = subtitles_beside(clip.path) if self.subtitles else None
        if beside is not None:
            segments: list[dict[str, Any]] = [
                {"start": cue.start, "end": cue.end, "text": cue.text, "words": []}
                for cue in read_subtitles(beside)
            ]
            return _label("subtitles", self.language or None, segments)
        speech = speech_in(clip, labels)
        if not speech:
            return _label("model", None, [])
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
        segments = [
            _segment(each, speech) for each in found if each.compression_ratio <= _MOST_REPETITION
        ]
        return _label("model", info.language, segments)


def subtitles_beside(path: Path) -> Path | None:
    """Return the file of subtitles of the same name, where there is one."""
    beside = (path.with_suffix(ending) for ending in SUBTITLE_ENDINGS)
    return next((file for file in beside if file.is_file()), None)


def _with_margins(spans: list[Span]) -> list[Span]:
    return [(max(0.0, start - _MARGIN), end + _MARGIN) for start, end in spans]


def _label(source: str, language: str | None, segments: list[dict[str, Any]]) -> Value:
    return {
        "source": source,
        "language": language,
        "text": " ".join(segment["text"] for segment in segments if segment["text"]),
        "segments": segments,
    }


def _segment(heard: Any, speech: list[Span]) -> dict[str, Any]:
    words = [
        {
            "start": round(_onset(float(word.start), float(word.end), speech), 4),
            "end": round(float(word.end), 4),
            "word": word.word.strip(),
            "probability": round(float(word.probability), 4),
        }
        for word in heard.words or ()
    ]
    return {
        "start": words[0]["start"] if words else round(float(heard.start), 4),
        "end": round(float(heard.end), 4),
        "text": heard.text.strip(),
        "words": words,
    }


def _onset(start: float, end: float, speech: list[Span]) -> float:
    """Return when a word begins: Whisper counts the silence before it in, speech does not."""
    begun = next((span for span in speech if span[1] > start), None)
    return begun[0] if begun and start < begun[0] < end else start


def _whisper(folder: Path) -> Any:
    model = import_extra("faster_whisper", "annotate").WhisperModel
    # One thread: sums in another order are other words, now and then.
    return model(str(folder), device="cpu", compute_type="int8", cpu_threads=1, num_workers=1)
