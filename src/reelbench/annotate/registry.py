"""The registry of operators: the label, module, class and description of each.

A module is imported when its label is requested. Operators from outside are named by their file,
``FILE.py:NAME``, or by their label where an installed package registers it.
"""

from importlib import import_module
from pathlib import Path
from typing import Any

from reelbench.annotate.operator import Operator
from reelbench.base.errors import ReelbenchError
from reelbench.base.extensions import load_from_file, load_registered, registered, split_file
from reelbench.base.files import digest_of_file
from reelbench.base.parameters import is_like

OPERATORS: dict[str, tuple[str, str, str]] = {
    # collect
    "format": ("format", "Format", "size, duration, frame rate, codecs: the file's properties"),
    "shots": ("shots", "Shots", "shots and the cuts between them"),
    "motion": ("motion", "Motion", "amount of motion, by optical flow"),
    "fingerprint": ("fingerprint", "Fingerprint", "a perceptual hash, for finding the same video"),
    "unsafe": ("unsafe", "Unsafe", "probability that frames are not safe for work"),
    "language": ("language", "Language", "the language that is spoken or written"),
    # people
    "faces": ("faces", "Faces", "faces, with five points each"),
    "face_ratio": ("face_ratio", "FaceRatio", "the share of frames with a face"),
    "tracks": ("tracks", "Tracks", "people tracked through shots and identified by their faces"),
    "bodies": ("bodies", "Bodies", "the body of each person"),
    "count": ("count", "Count", "number of people, in total and over time"),
    "demographics": ("demographics", "Demographics", "age and gender of each person"),
    "emotion": ("emotion", "Emotion", "facial emotion of each person"),
    "mouth": ("mouth", "Mouth", "shape of each mouth over time"),
    "speaker": ("speaker", "Speaker", "which of the visible people speaks, and when"),
    "appearance": ("appearance", "Appearance", "a description of each person in words"),
    # things
    "objects": ("objects", "Objects", "dogs, cars and other objects, tracked"),
    # sound
    "sound": ("sound", "SoundEvents", "speech, singing, music, silence"),
    "transcript": ("transcript", "Transcript", "speech as text, with the time of each word"),
    "turns": ("turns", "Turns", "who speaks when"),
    "voices": ("voices", "Voices", "an embedding of each voice"),
    "pitch": ("pitch", "Pitch", "pitch of voices"),
    "loudness": ("loudness", "Loudness", "loudness, in total and over time"),
    "speech_emotion": ("speech_emotion", "SpeechEmotion", "emotion of voices"),
    "voice_demographics": (
        "voice_demographics",
        "VoiceDemographics",
        "gender and age of voices",
    ),
    # text and quality
    "text": ("text", "ScreenText", "text on the screen (OCR)"),
    "quality": ("quality", "Quality", "sharpness, noise, exposure and other measures of quality"),
    # describe
    "caption": ("caption", "Caption", "a description of the clip by a model"),
}

GROUP = "reelbench.operators"  # of entry points, by which packages add operators
_FROM_FILES: dict[str, type[Operator]] = {}  # by label, once they are named


def load_operator(name: str, **parameters: Any) -> Operator:
    """Return an operator by its label, with these parameters, or by ``FILE.py:NAME``."""
    operator_class = _class_of(label_of(name))
    name = operator_class.name
    present = {former: now for now, former in operator_class.former_names.items()}
    parameters = {present.get(key, key): value for key, value in parameters.items()}
    defaults = operator_class().parameters
    for parameter, value in parameters.items():
        if parameter not in defaults:
            known = ", ".join(f"{name}.{each}" for each in defaults) or "none"
            raise ReelbenchError(
                f"The operator {name} has no parameter {parameter!r}; its parameters: {known}."
            )
        default = defaults[parameter]
        counts = isinstance(default, int | float) and not isinstance(default, bool) and default > 0
        if not is_like(default, value) or (counts and value <= 0):
            expected = "a number above 0" if counts else f"a value like its default, {default!r}"
            raise ReelbenchError(f"{name}.{parameter} cannot be {value!r}: expected {expected}.")
    return operator_class(**parameters)


def in_order(names: list[str]) -> list[str]:
    """Return labels and all that they need, each after those it needs or uses."""
    done: list[str] = []

    def add(name: str, above: tuple[str, ...]) -> None:
        assert name not in above, f"{name} needs itself"
        for needed in load_operator(name).needs:
            add(needed, (*above, name))
        if name not in done:
            done.append(name)

    for name in map(label_of, names):
        add(name, ())
    # What others may use comes before them, where it was asked for.
    return sorted(done, key=lambda name: _depth(name, frozenset(done)))


def label_of(name: str) -> str:
    """Return the label that a name means: itself, or that of the operator of ``FILE.py:NAME``."""
    own = split_file(name)
    if own is None:
        return name
    path, attribute = own
    operator_class = load_from_file(path, attribute, _is_operator, "an Operator")
    return _registered(operator_class, path)


def load_own(file: str, attribute: str, parameters: dict[str, Any]) -> Operator:
    """Return an operator of a file; by this, worker processes unpickle it."""
    return load_operator(f"{file}:{attribute}", **parameters)


def _registered(operator_class: type[Operator], path: Path) -> str:
    """Register the class of a file and return its label; raise if the label is taken."""
    place = f"{path}:{operator_class.__name__}"
    label = getattr(operator_class, "name", None)
    if not isinstance(label, str) or not label.isidentifier():
        raise ReelbenchError(
            f'{place} has no valid name of its label: write `name: ClassVar[str] = "my_label"` in '
            "the class, in letters, digits and underscores."
        )
    _check_lists(operator_class, place)
    if label in OPERATORS or _FROM_FILES.get(label, operator_class) is not operator_class:
        raise ReelbenchError(
            f"{place} has the name {label!r}, which another operator has: change its `name`."
        )
    if label not in _FROM_FILES:
        operator_class.source = digest_of_file(path)
        file, attribute = str(path.absolute()), operator_class.__name__

        def reduce(operator: Operator) -> tuple[Any, ...]:
            return load_own, (file, attribute, operator.parameters)

        # Worker processes cannot import a module that is only a file: they load the file.
        operator_class.__reduce__ = reduce  # type: ignore[assignment, method-assign]
        _FROM_FILES[label] = operator_class
    return label


def _class_of(label: str) -> type[Operator]:
    if label in OPERATORS:
        module, kind, _ = OPERATORS[label]
        home = import_module(f"reelbench.annotate.operators.{module}")
        ours: type[Operator] = getattr(home, kind)
        return ours
    if label in _FROM_FILES:
        return _FROM_FILES[label]
    others = registered(GROUP)
    if label not in others:
        known = ", ".join([*OPERATORS, *_FROM_FILES, *others])
        raise ReelbenchError(
            f"Unknown label {label!r}; the known ones: {known}. For an operator of your own, write "
            "its file: FILE.py:NAME."
        )
    found = load_registered(others[label])
    if not _is_operator(found) or getattr(found, "name", None) != label:
        raise ReelbenchError(
            f"{others[label].value}, which a package registers as the operator {label!r}, is not "
            f"an Operator with the name {label!r}: fix or uninstall that package."
        )
    operator_class: type[Operator] = found
    _check_lists(operator_class, others[label].value)
    return operator_class


def _check_lists(operator_class: type[Operator], place: str) -> None:
    for name in ("needs", "may_use", "weights"):
        value: object = getattr(operator_class, name)
        if isinstance(value, str) or not isinstance(value, tuple | list):
            raise ReelbenchError(
                f"{place} has {name} = {value!r}, which is not a tuple of names: write "
                f'`{name}: ClassVar[tuple[str, ...]] = ("format",)`.'
            )


def _is_operator(value: object) -> bool:
    return isinstance(value, type) and issubclass(value, Operator)


def _depth(name: str, wanted: frozenset[str]) -> int:
    operator = load_operator(name)
    below = [each for each in (*operator.needs, *operator.may_use) if each in wanted]
    return 1 + max((_depth(each, wanted) for each in below), default=0)
