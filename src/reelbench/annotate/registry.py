"""Every operator there is: its label, the module and class that make it, and what it says.

Data only: a module is imported when its label is asked for. Operators from outside are named by
their file, ``FILE.py:NAME``, or by their label where an installed package registers it.
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
    """Return labels with all that they need, each after what it needs."""
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
    """Return an operator of a file: how a worker process comes by one that it is sent."""
    return load_operator(f"{file}:{attribute}", **parameters)


def _registered(operator_class: type[Operator], path: Path) -> str:
    """Keep the class of a file for its label; refuse a label that is another's."""
    place = f"{path}:{operator_class.__name__}"
    label = getattr(operator_class, "name", None)
    if not isinstance(label, str) or not label.isidentifier():
        raise ReelbenchError(
            f'{place} names no label: write `name: ClassVar[str] = "my_label"` in the class, in '
            "letters, digits and underscores."
        )
    _check_lists(operator_class, place)
    if label in OPERATORS or _FROM_FILES.get(label, operator_class) is not operator_class:
        raise ReelbenchError(
            f"{place} makes the label {label!r}, which another operator makes: change its `name`."
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
            f"There is no label {label!r}; there are {known}. An operator of your own is named by "
            "its file: FILE.py:NAME."
        )
    found = load_registered(others[label])
    if not _is_operator(found) or getattr(found, "name", None) != label:
        raise ReelbenchError(
            f"{others[label].value}, which a package registers as the operator {label!r}, is no "
            f"Operator whose name is {label!r}: mend or uninstall that package."
        )
    operator_class: type[Operator] = found
    _check_lists(operator_class, others[label].value)
    return operator_class


def _check_lists(operator_class: type[Operator], place: str) -> None:
    for name in ("needs", "may_use", "weights"):
        value: object = getattr(operator_class, name)
        if isinstance(value, str) or not isinstance(value, tuple | list):
            raise ReelbenchError(
                f"{place} has {name} = {value!r}, which is no tuple of names: write "
                f'`{name}: ClassVar[tuple[str, ...]] = ("format",)`.'
            )


def _is_operator(value: object) -> bool:
    return isinstance(value, type) and issubclass(value, Operator)


def _depth(name: str, wanted: frozenset[str]) -> int:
    operator = load_operator(name)
    below = [each for each in (*operator.needs, *operator.may_use) if each in wanted]
    return 1 + max((_depth(each, wanted) for each in below), default=0)
