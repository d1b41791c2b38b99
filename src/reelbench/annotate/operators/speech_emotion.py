"""The emotion of voices, by a model that the user provides: no package ships one that works."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any, ClassVar, TypeAlias

from reelbench.annotate.common.audio import Mono, mono_sound, parts
from reelbench.annotate.operator import Clip, Labels, NotApplicable, Operator, Value
from reelbench.annotate.operators.sound import speech_in
from reelbench.base.errors import ReelbenchError
from reelbench.media.edit.audio import SPEECH_RATE

# Takes the samples of one turn and their rate; returns the score of each emotion.
Listener: TypeAlias = Callable[[Mono, int], Mapping[str, float]]


@dataclass(frozen=True)
class SpeechEmotion(Operator):
    """Classifies the emotion of each turn, or of each span of speech, by a model of the user.

    ``model`` is ``package.module:function``: a function of samples (NumPy, one channel, 16 kHz) and
    their rate that returns a score for each emotion. There is none by default.
    """

    name: ClassVar[str] = "speech_emotion"
    may_use: ClassVar[tuple[str, ...]] = ("sound", "turns")
    model: str = ""

    @property
    def lacks(self) -> str:
        """The model."""
        missing = (
            "there is no model of speech emotion by default; set your own with "
            "--set speech_emotion.model=package.module:function"
        )
        return "" if self.model else missing

    def __call__(self, clip: Clip, labels: Labels) -> Value:
        """Return the emotion of each turn."""
        if self.lacks:
            raise NotApplicable(f"{self.lacks[0].upper()}{self.lacks[1:]}.")
        listen = _function(self.model)
        samples = mono_sound(clip)
        return {
            "model": self.model,
            "turns": [
                {"start": start, "end": end, "speaker": speaker, **self._emotion(listen, heard)}
                for start, end, speaker in _turns(clip, labels)
                if len(heard := parts(samples, [(start, end)]))
            ],
        }

    def _emotion(self, listen: Listener, heard: Mono) -> dict[str, Any]:
        scores = {str(name): round(float(x), 4) for name, x in listen(heard, SPEECH_RATE).items()}
        if not scores:
            raise ReelbenchError(
                f"{self.model} returned no scores: it must return a score for each emotion."
            )
        return {"emotion": max(sorted(scores), key=scores.__getitem__), "scores": scores}


def _turns(clip: Clip, labels: Labels) -> list[tuple[float, float, str | None]]:
    if "turns" in labels:
        return [(each["start"], each["end"], each["speaker"]) for each in labels["turns"]["turns"]]
    return [(start, end, None) for start, end in speech_in(clip, labels)]


def _function(name: str) -> Listener:
    module, _, attribute = name.partition(":")
    try:
        found: Listener = getattr(import_module(module), attribute)
    except (ImportError, AttributeError, ValueError) as error:
        raise ReelbenchError(
            f"speech_emotion.model {name!r} cannot be loaded ({error}): write it as "
            "package.module:function."
        ) from error
    return found
