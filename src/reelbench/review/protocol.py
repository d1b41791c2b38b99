"""A protocol says what people do in a queue, and by which numbers: one YAML file each.

The built-in ones, in ``protocols/``, are those of the papers. A benchmark's own lie in its folder
``review/``, and each of them is a queue.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any

import msgspec

from reelbench.base.errors import ReelbenchError
from reelbench.base.files import digest_of
from reelbench.base.spelling import closest_name
from reelbench.base.yaml_files import YamlError, read_yaml
from reelbench.data.failure_types import MARK
from reelbench.data.fields import Fault, Rule, field_faults, found_as, is_text, one_of
from reelbench.data.items import KINDS, shown
from reelbench.interop.mmou.taxonomy import LISTS
from reelbench.interop.musebench.taxonomy import CATEGORIES, SUBDOMAINS
from reelbench.review.people import ROLES, Role
from reelbench.score.agreement import WEIGHTS

PAGES = ("write", "verify", "rate", "answer")
ITEM_SOURCES = ("benchmark", "candidates", "all", "media", "prompts")
SHOWABLE = ("tags", "context", "provenance")
DISPUTES = ("discuss", "drop")
_LISTS = {  # that a protocol may name instead of writing them out
    **LISTS,
    "musebench:categories": list(CATEGORIES),
    "musebench:subdomains": [name for parts in SUBDOMAINS.values() for name in parts],
}
CHECKS = ("yes_no", "options_in_stem", "evidence")


@dataclass(frozen=True, slots=True)
class Axis:
    """One thing that is rated, from ``lowest`` to ``highest``; anchors say what numbers mean."""

    name: str
    lowest: int = 0
    highest: int = 5
    about: str = ""
    anchors: Mapping[str, str] = field(default_factory=dict)

    @property
    def categories(self) -> list[str]:
        """All ratings that can be given."""
        return [str(number) for number in range(self.lowest, self.highest + 1)]


@dataclass(frozen=True, slots=True)
class TagChoice:
    """One tag that a writer gives an item: which values there are, and how many it takes."""

    name: str
    choices: tuple[str, ...]
    several: bool = False
    needed: bool = True


@dataclass(frozen=True, slots=True)
class Sample:
    """Which items are looked at: a share of all, or a count of each value of a tag."""

    share: float = 1.0
    count: int = 0
    per: str = ""  # the tag whose values are sampled alike


@dataclass(frozen=True, slots=True)
class ReviewProtocol:
    """What a queue asks of people. Fields that a page does not use are left at their defaults."""

    name: str
    page: str
    title: str
    items: str
    stage: str = ""  # of a recipe: only the candidates that wait there
    where: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # values of tags they have
    instructions: str = ""
    role: Role = "annotator"  # who may work in it
    reviewers: int = 1  # people per item
    per_day: int = 0  # items or videos per person and day; 0: as many as they like
    per_day_with: tuple[str, ...] = ()  # other queues whose videos count for the same day
    watch: str = ""  # "full": nothing is saved before every second was played
    expertise: str = ""  # the tag of an item that must be among a person's expertise
    sample: Sample = Sample()
    show: tuple[str, ...] = ()  # entries of an item that one sees with its key, as context.intent
    # write
    pairs: bool = False  # two videos per question
    gap: float = 0.0  # seconds of grey between them
    kinds: tuple[str, ...] = ()
    options: tuple[int, int] = (2, 26)
    tags: tuple[TagChoice, ...] = ()
    evidence: bool = False  # a first and last time is needed
    checks: tuple[str, ...] = ()
    questions: tuple[tuple[float | None, int], ...] = ()  # up to so many seconds, at least so many
    # verify, where ``tags`` can be changed
    agree: str = "all"  # of the reviewers; or "majority"
    author_agrees: bool = False  # whether a writer's key counts as one more that must agree
    dispute: str = "discuss"
    failure_tags: tuple[str, ...] = ()
    open_types: bool = False  # whether reviewers name the type of a failure under its tag
    written_answers: bool = True  # whether one may write an option that is not there
    rounds: int = 0  # in a row without a new failure tag or type, after which a category is done
    # rate
    axes: tuple[Axis, ...] = ()
    weights: str = "linear"
    calibration: Sample = Sample(share=0.0)
    # answer
    back: bool = False
    shuffle: bool = True
    condition: str = "protocol"

    def fewest_questions(self, seconds: float) -> int:
        """Return how many questions a video of this length should have; 0 where nothing is said."""
        fitting = (least for up_to, least in self.questions if up_to is None or seconds < up_to)
        return next(fitting, 0)

    @property
    def is_about_prompts(self) -> bool:
        """Whether people decide about changes of prompts, and not about items."""
        return self.items == "prompts"

    @property
    def digest(self) -> str:
        """The hash of all that it says."""
        return digest_of(msgspec.to_builtins(self))


def built_in_protocols() -> dict[str, Path]:
    """Return the files of the protocols that come with Reelbench, by name."""
    folder = Path(str(files("reelbench.review").joinpath("protocols")))
    return {path.stem: path for path in sorted(folder.glob("*.yaml"))}


def find_protocol(name: str) -> Path:
    """Return the file of a protocol, by its path or the name of a built-in one."""
    known = built_in_protocols()
    if name in known:
        return known[name]
    if name.endswith((".yaml", ".yml")):
        return Path(name)
    close = closest_name(name, known)
    raise ReelbenchError(
        f"There is no protocol {name!r}{f' (perhaps {close}?)' if close else ''}: name a YAML "
        f"file, or one of {', '.join(known)}."
    )


def read_protocol(path: Path) -> ReviewProtocol:
    """Read and check the file of a protocol; everything wrong in it is listed."""
    try:
        record, lines = read_yaml(path)
    except YamlError as error:
        raise ReelbenchError(f"{path}: {error}") from None
    record = _with_lists(record)
    faults = list(_faults(record))
    if faults:
        raise ReelbenchError(
            "\n".join(
                f"{path}{f':{lines[name]}' if name in lines else ''}: {name}: found {found}, "
                f"expected {expected}"
                for _, name, found, expected in faults
            )
        )
    return _protocol(path.stem, record)


def _with_lists(record: Any) -> Any:
    """Return the record with the lists that it takes from a taxonomy, such as ``mmou:skills``."""
    if isinstance(record, Mapping):
        return {name: _with_lists(value) for name, value in record.items()}
    return _LISTS.get(record, record) if isinstance(record, str) else record


def _protocol(name: str, record: Mapping[str, Any]) -> ReviewProtocol:
    fields: dict[str, Any] = {"title": name, "items": "candidates", **record, "name": name}
    fields["tags"] = tuple(
        TagChoice(tag, tuple(each["choices"]), each.get("several", False), each.get("needed", True))
        for tag, each in record.get("tags", {}).items()
    )
    fields["axes"] = tuple(
        Axis(
            axis,
            each.get("lowest", 0),
            each.get("highest", 5),
            each.get("about", ""),
            {str(number): text for number, text in each.get("anchors", {}).items()},
        )
        for axis, each in record.get("axes", {}).items()
    )
    fields["where"] = {tag: tuple(values) for tag, values in record.get("where", {}).items()}
    for part in ("sample", "calibration"):
        if part in record:
            fields[part] = _sample(record[part])
    for part in ("kinds", "options", "checks", "failure_tags", "show", "per_day_with"):
        if part in record:
            fields[part] = tuple(record[part])
    fields["questions"] = tuple(
        (each.get("up_to"), each["least"]) for each in record.get("questions", ())
    )
    return ReviewProtocol(**fields)


def _sample(value: Any) -> Sample:
    if isinstance(value, int | float):
        return Sample(share=float(value))
    return Sample(0.0, value["count"], value.get("per", ""))


def _whole(least: int, most: int = 10**6) -> Rule:
    def right(value: Any) -> bool:
        return isinstance(value, int) and not isinstance(value, bool) and least <= value <= most

    return False, right, f"a whole number from {least} to {most}"


def _is_flag(value: Any) -> bool:
    return isinstance(value, bool)


def _are_texts(value: Any) -> bool:
    return isinstance(value, list) and all(map(is_text, value)) and len(set(value)) == len(value)


def _are_entries(value: Any) -> bool:
    return _are_texts(value) and all(each.split(".")[0] in SHOWABLE for each in value)


def _is_sample(value: Any) -> bool:
    if isinstance(value, dict):
        right = isinstance(value.get("count"), int) and value["count"] >= 1
        return right and set(value) <= {"count", "per"} and is_text(value.get("per", "x"))
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1


def _are_options(value: Any) -> bool:
    right = isinstance(value, list) and len(value) == 2 and all(isinstance(n, int) for n in value)
    return right and 2 <= value[0] <= value[1] <= 26


def _are_counts(value: Any) -> bool:
    return isinstance(value, list) and all(
        isinstance(each, dict) and isinstance(each.get("least"), int) and each["least"] >= 1
        and isinstance(each.get("up_to", 1.0), int | float) and set(each) <= {"up_to", "least"}
        for each in value
    )  # fmt: skip


def _is_mapping(value: Any) -> bool:
    return isinstance(value, dict) and all(map(is_text, value))


def _is_filter(value: Any) -> bool:
    return _is_mapping(value) and all(map(_are_texts, value.values()))


_FLAG: Rule = (False, _is_flag, "true or false")
_SAMPLE: Rule = (False, _is_sample, "a share from 0 to 1, or {count: 90, per: TAG}")
_TEXTS: Rule = (False, _are_texts, "a list of texts, each once")
_RULES: dict[str, Rule] = {
    "page": (True, *one_of(PAGES)[1:]),
    "title": (False, is_text, "a title"),
    "items": one_of(ITEM_SOURCES),
    "stage": (False, is_text, "the name of a recipe's stage where candidates wait"),
    "where": (False, _is_filter, "a mapping of tags to lists of values"),
    "instructions": (False, is_text, "a text"),
    "role": one_of(ROLES),
    "reviewers": _whole(1, 100),
    "per_day": _whole(0),
    "per_day_with": _TEXTS,
    "watch": one_of(("full",)),
    "expertise": (False, is_text, "the name of a tag"),
    "sample": _SAMPLE,
    "show": (False, _are_entries, "a list of entries of items, such as context.intent"),
    "pairs": _FLAG,
    "gap": (False, lambda v: isinstance(v, int | float) and 0 <= v <= 60, "seconds, 0 to 60"),
    "kinds": (False, lambda v: _are_texts(v) and set(v) <= set(KINDS), f"some of {KINDS}"),
    "options": (False, _are_options, "the fewest and the most options, such as [2, 4]"),
    "tags": (False, _is_mapping, "a mapping of tags to {choices: [...]}"),
    "evidence": _FLAG,
    "checks": (False, lambda v: _are_texts(v) and set(v) <= set(CHECKS), f"some of {CHECKS}"),
    "questions": (False, _are_counts, "a list of {up_to: SECONDS, least: COUNT}"),
    "agree": one_of(("all", "majority")),
    "author_agrees": _FLAG,
    "dispute": one_of(DISPUTES),
    "failure_tags": _TEXTS,
    "open_types": _FLAG,
    "written_answers": _FLAG,
    "rounds": _whole(0, 100),
    "axes": (False, _is_mapping, "a mapping of names to {lowest, highest, anchors}"),
    "weights": one_of(tuple(WEIGHTS)),
    "calibration": _SAMPLE,
    "back": _FLAG,
    "shuffle": _FLAG,
    "condition": (False, is_text, "the name of a condition"),
}
_TAG_RULES: dict[str, Rule] = {
    "choices": (True, _are_texts, "a list of texts, each once"),
    "several": _FLAG,
    "needed": _FLAG,
}
_AXIS_RULES: dict[str, Rule] = {
    "lowest": _whole(0, 100),
    "highest": _whole(1, 100),
    "about": (False, is_text, "a text"),
    "anchors": (False, lambda v: isinstance(v, dict), "a mapping of numbers to texts"),
}


def _faults(record: Any) -> Iterator[Fault]:
    if not isinstance(record, dict):
        yield "BAD_FIELD", "file", found_as(record), "a mapping that begins with page: NAME"
        return
    yield from field_faults(record, _RULES, strict=True, closed=True)
    for part, rules in (("tags", _TAG_RULES), ("axes", _AXIS_RULES)):
        for name, each in record[part].items() if _is_mapping(record.get(part)) else ():
            if isinstance(each, dict):
                yield from field_faults(each, rules, f"{part}.{name}.", strict=True, closed=True)
            else:
                yield "BAD_FIELD", f"{part}.{name}", found_as(each), "a mapping"
    tags = record.get("failure_tags", ())
    if record.get("open_types") is True and (not tags or any(MARK in str(tag) for tag in tags)):
        expected = f"tags under which types are named, none with {MARK!r} in it"
        yield "BAD_FIELD", "failure_tags", shown(tags), expected
    if record.get("page") == "rate" and not record.get("axes"):
        yield "MISSING_FIELD", "axes", "nothing", "what is rated, with its anchors"
    if record.get("page") == "write" and record.get("items", "media") != "media":
        yield "BAD_FIELD", "items", shown(record["items"]), "media: questions are written of videos"
    if record.get("page") != "verify" and record.get("items") == "prompts":
        yield "BAD_FIELD", "items", "prompts", "another source: prompts are for the page verify"
