"""Every operator there is: its label, the module and class that make it, and what it says.

Data only: a module is imported when its label is asked for.
"""

from importlib import import_module
from typing import Any

from reelbench.annotate.operator import Operator
from reelbench.base.errors import ReelbenchError
from reelbench.base.parameters import is_like

OPERATORS: dict[str, tuple[str, str, str]] = {
    # collect
    "format": ("format", "Format", "size, length, rate, sound: what the file says of itself"),
    "shots": ("shots", "Shots", "where one shot ends and the next begins"),
    "motion": ("motion", "Motion", "how much moves, by optical flow"),
    "fingerprint": ("fingerprint", "Fingerprint", "a perceptual hash, for finding the same video"),
    "unsafe": ("unsafe", "Unsafe", "how likely it is that frames are not safe for work"),
    "language": ("language", "Language", "the language that is spoken or written"),
    # people
    "faces": ("faces", "Faces", "faces, with five points each"),
    "face_ratio": ("face_ratio", "FaceRatio", "the share of frames with a face"),
    "tracks": ("tracks", "Tracks", "people followed through shots and told apart by their faces"),
    "bodies": ("bodies", "Bodies", "the body of each person"),
    "count": ("count", "Count", "how many people there are"),
    "demographics": ("demographics", "Demographics", "age and gender of each person"),
    "emotion": ("emotion", "Emotion", "what each face expresses"),
    "mouth": ("mouth", "Mouth", "how each mouth moves"),
    "speaker": ("speaker", "Speaker", "who of those in the picture speaks"),
    "appearance": ("appearance", "Appearance", "how each person looks, in words"),
    # things
    "objects": ("objects", "Objects", "dogs, cars and other things, followed like people"),
    # sound
    "sound": ("sound", "SoundEvents", "speech, singing, music, silence"),
    "transcript": ("transcript", "Transcript", "what is said, with the time of each word"),
    "turns": ("turns", "Turns", "who speaks when"),
    "voices": ("voices", "Voices", "an embedding of each voice"),
    "pitch": ("pitch", "Pitch", "how high voices are"),
    "loudness": ("loudness", "Loudness", "how loud it is"),
    "speech_emotion": ("speech_emotion", "SpeechEmotion", "what voices express"),
    "voice_demographics": ("voice_demographics", "VoiceDemographics", "age and gender of voices"),
    # text and quality
    "text": ("text", "ScreenText", "what is written on the screen"),
    "quality": ("quality", "Quality", "sharpness, noise, exposure and other measures of quality"),
    # describe
    "caption": ("caption", "Caption", "what happens, in the words of a model"),
}


def load_operator(name: str, **parameters: Any) -> Operator:
    """Return an operator with these parameters; raise a sentence for one that is not there."""
    if name not in OPERATORS:
        raise ReelbenchError(f"There is no label {name!r}; there are {', '.join(OPERATORS)}.")
    module, kind, _ = OPERATORS[name]
    home = import_module(f"reelbench.annotate.operators.{module}")
    operator_class: type[Operator] = getattr(home, kind)
    usual = operator_class().parameters
    for parameter, value in parameters.items():
        if parameter not in usual:
            known = ", ".join(f"{name}.{each}" for each in usual) or "nothing"
            raise ReelbenchError(f"There is no {name}.{parameter} to set; there is {known}.")
        default = usual[parameter]
        counts = isinstance(default, int | float) and not isinstance(default, bool) and default > 0
        if not is_like(default, value) or (counts and value <= 0):
            raise ReelbenchError(
                f"{name}.{parameter} is {default!r} by default and cannot be {value!r}."
            )
    return operator_class(**parameters)


def in_order(names: list[str]) -> list[str]:
    """Return labels with all that they need, each after what it needs."""
    done: list[str] = []

    def add(name: str, above: tuple[str, ...]) -> None:
        assert name not in above, f"{name} needs itself"
        for needed in load_operator(name).needs:
            add(needed, (*above, name))
        if name not in done:
            done.append(name)

    for name in names:
        add(name, ())
    # What others may use comes before them, where it was asked for.
    return sorted(done, key=lambda name: _depth(name, frozenset(done)))


def _depth(name: str, wanted: frozenset[str]) -> int:
    operator = load_operator(name)
    below = [each for each in (*operator.needs, *operator.may_use) if each in wanted]
    return 1 + max((_depth(each, wanted) for each in below), default=0)
