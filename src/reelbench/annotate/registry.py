"""The registry of operators: the label, module, class and description of each.

A module is imported when its label is requested. Operators from outside are named by their file,
``FILE.py:NAME``, or by their label where an installed package registers it; under a label of ours,
they are put in the place of our operator.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

from reelbench.annotate.operator import Operator
from reelbench.base.errors import ReelbenchError
from reelbench.base.extensions import load_from_file, load_registered, registered, split_file
from reelbench.base.files import digest_of_file
from reelbench.base.parameters import is_like, read_like
from reelbench.weights.own import absolute_reference
from reelbench.weights.registry import find

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
    "detections": ("detections", "Detections", "people and things in frames, for other labels"),
    "tracks": ("tracks", "Tracks", "people tracked through shots and identified by their faces"),
    "bodies": ("bodies", "Bodies", "the body of each person"),
    "count": ("count", "Count", "number of people, in total and over time"),
    "demographics": ("demographics", "Demographics", "age and gender of each person"),
    "emotion": ("emotion", "Emotion", "facial emotion of each person"),
    "mouth": ("mouth", "Mouth", "shape of each mouth over time"),
    "speaker": ("speaker", "Speaker", "which of the visible people speaks, and when"),
    "appearance": ("appearance", "Appearance", "a description of each person in words"),
    "expression": ("expression", "Expression", "a description of each face by a model"),
    # things
    "objects": ("objects", "Objects", "dogs, cars and other objects, tracked"),
    # sound
    "sound": ("sound", "SoundEvents", "speech, singing, music, silence"),
    "transcript": ("transcript", "Transcript", "speech as text, with the time of each word"),
    "turns": ("turns", "Turns", "who speaks when"),
    "voices": ("voices", "Voices", "an embedding of each voice"),
    "narrator": ("narrator", "Narrator", "the voice that narrates, its turns and words"),
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
    "narration_text": (
        "narration_text",
        "NarrationText",
        "subtitles in the picture that repeat the narrator",
    ),
    "quality": ("quality", "Quality", "sharpness, noise, exposure and other measures of quality"),
    # describe
    "caption": ("caption", "Caption", "a description of the clip by a model"),
}

ALL = "all"  # in place of the names of all labels
GROUP = "reelbench.operators"  # of entry points, by which packages add operators
_FROM_FILES: dict[str, type[Operator]] = {}  # by label, once they are named
_MODEL = "model"  # sets other weights: LABEL.model, or LABEL.model.WEIGHTS where it has several


def load_operator(name: str, **parameters: Any) -> Operator:
    """Return an operator by its label, with these parameters, or by ``FILE.py:NAME``.

    ``operator`` puts another in its place, ``FILE.py:NAME`` or the name of an entry point;
    ``model`` puts other weights in the place of its own, by a name of the registry or by a path.
    """
    label = label_of(name)
    other = parameters.pop("operator", "")
    operator_class = _replacement(label, str(other)) if other else _class_of(label)
    present = {former: now for now, former in operator_class.former_names.items()}
    parameters = {present.get(key, key): value for key, value in parameters.items()}
    defaults = operator_class().parameters
    models = {
        key: parameters.pop(key)
        for key in list(parameters)
        if key.partition(".")[0] == _MODEL and _MODEL not in defaults
    }
    chosen = _checked(label, defaults, parameters, bool(operator_class().uses))
    operator = operator_class(**chosen)
    return replace(operator, replaced=_replaced(operator, models)) if models else operator


def _checked(
    label: str, defaults: Mapping[str, Any], parameters: Mapping[str, Any], has_weights: bool
) -> dict[str, Any]:
    """Return parameters as their defaults are written; raise for an unknown one or a wrong type."""
    chosen = {}
    for parameter, given in parameters.items():
        if parameter not in defaults:
            own = [*defaults, *([_MODEL] if has_weights and _MODEL not in defaults else [])]
            known = ", ".join(f"{label}.{each}" for each in own) or "none"
            raise ReelbenchError(
                f"The operator {label} has no parameter {parameter!r}; its parameters: {known}."
            )
        default = defaults[parameter]
        value = read_like(default, given)
        counts = isinstance(default, int | float) and not isinstance(default, bool) and default > 0
        if not is_like(default, value) or (counts and value <= 0):
            expected = "a number above 0" if counts else f"a value like its default, {default!r}"
            if isinstance(default, tuple | list):
                expected = 'a list, such as a,b or ["a", "b"]'
            raise ReelbenchError(f"{label}.{parameter} cannot be {given!r}: expected {expected}.")
        chosen[parameter] = value
    return chosen


def _replaced(operator: Operator, models: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """Return which weights of an operator are replaced, and by what."""
    label = operator.name
    own = [name for name in operator.uses if not find(name).part_of]
    if not own:
        raise ReelbenchError(
            f"{label}.{_MODEL}: the operator {label} loads no weights that can be replaced; "
            f"replace all of it with {label}.operator=FILE.py:NAME."
        )
    found = {}
    for key, value in models.items():
        name = key.partition(".")[2] or (own[0] if len(own) == 1 else "")
        if name not in own:
            forms = " or ".join(f"{label}.{_MODEL}.{each}=PATH" for each in own)
            raise ReelbenchError(f"The operator {label} loads {' and '.join(own)}: write {forms}.")
        if not isinstance(value, str):
            raise ReelbenchError(
                f"{label}.{key} cannot be {value!r}: expected the name of weights, or the path of "
                "a file or folder."
            )
        found[name] = absolute_reference(value)
    return tuple(sorted(found.items()))


def in_order(
    names: list[str], parameters: Mapping[str, Mapping[str, Any]] | None = None
) -> list[str]:
    """Return labels and all that they need, each after those it needs or uses.

    ``parameters`` has, by label, the operator in the place of another: it may need other labels.
    """
    done: list[str] = []
    classes: dict[str, Operator] = {}

    def operator_of(label: str) -> Operator:
        if label not in classes:
            other = (parameters or {}).get(label, {}).get("operator")
            classes[label] = load_operator(label, **({"operator": other} if other else {}))
        return classes[label]

    def add(name: str, above: tuple[str, ...]) -> None:
        if name in above:
            raise ReelbenchError(
                f"The labels {' and '.join(sorted((name, above[-1])))} need each other: change "
                "`needs` of the operator that is yours."
            )
        for needed in operator_of(name).needs:
            add(needed, (*above, name))
        if name not in done:
            done.append(name)

    def depth(name: str) -> int:
        operator = operator_of(name)
        below = [each for each in (*operator.needs, *operator.may_use) if each in done]
        return 1 + max(map(depth, below), default=0)

    for name in map(label_of, names):
        add(name, ())
    # What others may use comes before them, where it was asked for.
    return sorted(done, key=depth)


def with_all(
    names: Sequence[str], parameters: Mapping[str, Mapping[str, Any]], has_model: bool
) -> tuple[list[str], dict[str, str]]:
    """Return labels with ``all`` replaced by those it stands for, and what is skipped, and why.

    It stands for all built-in labels but those for which the user must provide something first.
    """
    if ALL not in names:
        return list(names), {}
    from reelbench.annotate.ask_model import ModelOperator  # which imports much

    skipped: dict[str, str] = {}
    chosen: list[str] = []
    for label in OPERATORS:
        operator = load_operator(label, **parameters.get(label, {}))
        if operator.lacks and not (has_model and isinstance(operator, ModelOperator)):
            skipped[label] = operator.lacks
        else:
            chosen.append(label)
    others = [name for name in names if name != ALL and name not in chosen]
    return [*chosen, *others], {k: v for k, v in skipped.items() if k not in others}


def label_of(name: str) -> str:
    """Return the label that a name means: itself, or that of the operator of ``FILE.py:NAME``."""
    own = split_file(name)
    if own is None:
        return name
    operator_class = _of_file(*own)
    label, place = operator_class.name, f"{own[0]}:{operator_class.__name__}"
    if label in OPERATORS:
        raise ReelbenchError(
            f"{place} has the name {label!r}, which another operator has: change its `name`, or "
            f"put it in the place of the other with --set {label}.operator={place}"
        )
    if _FROM_FILES.setdefault(label, operator_class) is not operator_class:
        raise ReelbenchError(
            f"{place} has the name {label!r}, which another operator has: change its `name`."
        )
    return label


def load_own(file: str, attribute: str, parameters: dict[str, Any]) -> Operator:
    """Return an operator of a file; by this, worker processes unpickle it."""
    return _of_file(Path(file), attribute)(**parameters)


def _of_file(path: Path, attribute: str) -> type[Operator]:
    """Return the class of a file, ready to be sent to workers; raise if it is not complete."""
    found: type[Operator] = load_from_file(path, attribute, _is_operator, "an Operator")
    place = f"{path}:{found.__name__}"
    label = getattr(found, "name", None)
    if not isinstance(label, str) or not label.isidentifier():
        raise ReelbenchError(
            f'{place} has no valid name of its label: write `name: ClassVar[str] = "my_label"` in '
            "the class, in letters, digits and underscores."
        )
    _check_lists(found, place)
    if "source" not in vars(found):
        found.source = digest_of_file(path)
        file, name = str(path.absolute()), found.__name__

        def reduce(operator: Operator) -> tuple[Any, ...]:
            return load_own, (file, name, {**operator.parameters, "replaced": operator.replaced})

        # Worker processes cannot import a module that is only a file: they load the file.
        found.__reduce__ = reduce  # type: ignore[assignment, method-assign]
    return found


def _replacement(label: str, spec: str) -> type[Operator]:
    """Return the class that a user puts in the place of the operator of a label."""
    own, others = split_file(spec), registered(GROUP)
    if own is not None:
        found = _of_file(*own)
    elif spec in others:
        found = _of_package(others[spec])
    else:
        known = ", ".join(others) or "none"
        raise ReelbenchError(
            f"{label}.operator={spec} names no operator: write FILE.py:NAME, or the name of an "
            f"entry point that a package registers under {GROUP} (now: {known})."
        )
    if found.name != label:
        raise ReelbenchError(
            f"{label}.operator={spec} makes the label {found.name!r}: write "
            f'`name: ClassVar[str] = "{label}"` in its class, so that it makes {label!r}.'
        )
    return found


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
    found = _of_package(others[label])
    if found.name != label:
        raise ReelbenchError(
            f"{others[label].value}, which a package registers as the operator {label!r}, is not "
            f"an Operator with the name {label!r}: fix or uninstall that package."
        )
    return found


def _of_package(point: EntryPoint) -> type[Operator]:
    """Return the class of an entry point; raise if it is no operator."""
    found = load_registered(point)
    if not _is_operator(found) or not isinstance(getattr(found, "name", None), str):
        raise ReelbenchError(
            f"{point.value}, which a package registers as the operator {point.name!r}, is not "
            f"an Operator with the name of a label: fix or uninstall that package."
        )
    operator_class: type[Operator] = found
    _check_lists(operator_class, point.value)
    if operator_class.name in OPERATORS and "source" not in vars(operator_class):
        # Labels that it makes are not those of the operator in whose place it is.
        operator_class.source = point.value
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
