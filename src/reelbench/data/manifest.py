"""``benchmark.yaml``: the name, splits, protocol, conditions and tables of a benchmark."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

import yaml

from reelbench.base.errors import ReelbenchError
from reelbench.base.spelling import closest_name
from reelbench.base.yaml_files import YamlError, read_yaml
from reelbench.data.fields import Fault, Rule, field_faults, found_as, is_text, line_of
from reelbench.data.items import NOTHING, Json, Problem, freeze, shown, thaw
from reelbench.data.table_rules import are_texts, is_mapping, table_faults

METRICS = ("accuracy",)
MODALITIES = ("T", "A+T", "V+T", "V+A+T")
MOST_ORDERS = 1000


@dataclass(frozen=True, slots=True)
class Protocol:
    """How the benchmark is to be run: sampling, prompt, option orders, modalities and so on."""

    sampling: str = "uniform:16"
    prompt: str = "default"
    orders: int | str = 1  # seeded orders of the options; or "circular": each option in each place
    timestamps: bool = False
    modalities: str = "V+T"  # what of V (video), A (audio) and T (text) a model gets
    subtitles: bool = False  # as text, beside whatever else is shown
    rounds: int = 1  # how often the same is asked
    fixed_last: tuple[str, ...] = ("None of the above",)  # options that stay last in every order
    frame_size: str = ""  # such as "long:768"; empty for as they are
    frame_encoding: str = "jpeg:90"  # or "png", "webp": both lossless
    sound_encoding: str = "wav"  # or "mp3": a sixth of the size
    accept_damage: bool = False  # show what there is of a file that is cut or damaged
    rubric: str = "points"  # by which a judge grades replies to open questions
    metrics: tuple[str, ...] = ("accuracy",)
    extra: Mapping[str, Json] = NOTHING

    def to_record(self) -> dict[str, Json]:
        """Return it as plain data; rarely used fields only where they differ from their default."""
        default, always = Protocol(), ("sampling", "prompt", "orders", "timestamps", "metrics")
        names = [part.name for part in fields(self) if part.name != "extra"]
        written = [n for n in names if n in always or getattr(self, n) != getattr(default, n)]
        return {**{name: getattr(self, name) for name in written}, **self.extra}


@dataclass(frozen=True, slots=True)
class Manifest:
    """The content of ``benchmark.yaml``."""

    name: str
    version: str
    title: str = ""
    licence: str = ""
    taxonomy: Mapping[str, Json] = NOTHING
    splits: Mapping[str, Json] = NOTHING
    protocol: Protocol = field(default_factory=Protocol)
    conditions: Mapping[str, Json] = NOTHING  # other ways of asking, by name: what they change
    tables: Mapping[str, Json] = NOTHING  # of results, by name: which items are in which column
    extra: Mapping[str, Json] = NOTHING

    def to_record(self) -> dict[str, Json]:
        """Return the manifest as plain data, in the order a person would write it."""
        return {
            "name": self.name,
            "version": self.version,
            **{name: getattr(self, name) for name in ("title", "licence") if getattr(self, name)},
            **{name: getattr(self, name) for name in ("taxonomy", "splits") if getattr(self, name)},
            "protocol": self.protocol.to_record(),
            **({"conditions": self.conditions} if self.conditions else {}),
            **({"tables": self.tables} if self.tables else {}),
            **self.extra,
        }

    def to_yaml(self) -> str:
        """Return the text of a ``benchmark.yaml`` with this content."""
        return yaml.safe_dump(thaw(self.to_record()), sort_keys=False, allow_unicode=True)


def read_manifest(path: Path) -> tuple[Manifest | None, list[Problem]]:
    """Return the content of a ``benchmark.yaml`` (None if it is not valid) and all its problems."""
    try:
        record, lines = read_yaml(path)
    except YamlError as error:
        found, expected, field = error.found, error.expected, "line" if error.line else "file"
        if not path.exists():
            expected = "a file with at least the lines `name: ...` and `version: ...`"
            other = path.with_suffix(".yml")
            found += f" (only {other.name}: rename it)" if other.exists() else ""
        return None, [Problem(error.code, field, found, expected, str(path), error.line)]
    problems = [
        Problem(code, name, found, expected, str(path), line_of(name, lines))
        for code, name, found, expected in _faults(record)
    ]
    if any(not problem.is_warning for problem in problems):
        return None, problems
    return _manifest(freeze(record)), problems


def _manifest(record: Mapping[str, Json]) -> Manifest:
    protocol = record.get("protocol", NOTHING)
    if "modalities" in protocol:
        protocol = {**protocol, "modalities": in_usual_order(protocol["modalities"])}
    return Manifest(
        **{name: value for name, value in record.items() if name in _TOP and name != "protocol"},
        protocol=Protocol(
            **{name: value for name, value in protocol.items() if name in _PROTOCOL},
            extra=freeze({n: v for n, v in protocol.items() if n not in _PROTOCOL}),
        ),
        extra=freeze({name: value for name, value in record.items() if name not in _TOP}),
    )


def _is_count(value: Any) -> bool:
    return type(value) is int and 1 <= value <= MOST_ORDERS


def _are_metrics(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(name in METRICS for name in value)


def _foreign(value: Any, inside: tuple[int, ...] = ()) -> str | None:
    """Describe the first part of a value that JSON cannot represent; None where there is none."""
    if isinstance(value, dict | list):
        if id(value) in inside:
            return "an alias to itself"
        names = value if isinstance(value, dict) else ()
        if odd := [name for name in names if not isinstance(name, str)]:
            return f"the name {odd[0]!r}, which is not text"
        parts = value.values() if isinstance(value, dict) else value
        faults = (_foreign(part, (*inside, id(value))) for part in parts)
        return next((fault for fault in faults if fault), None)
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, str) and not _encodable(value):
        return "half a surrogate pair"
    return None if isinstance(value, str | int | float | bool | None) else shown(str(value))


def _encodable(text: str) -> bool:
    return not any("\ud800" <= character <= "\udfff" for character in text)


_TEXT: Rule = (False, is_text, 'text (put a number in quotes: "1.0")')
_YES_OR_NO: Rule = (False, lambda value: isinstance(value, bool), "true or false")
_MAPPING: Rule = (False, is_mapping, "a mapping with text as keys")
_TOP: dict[str, Rule] = {
    "name": (True, *_TEXT[1:]),
    "version": (True, *_TEXT[1:]),
    "title": _TEXT,
    "licence": _TEXT,
    "taxonomy": _MAPPING,
    "splits": _MAPPING,
    "protocol": _MAPPING,
    "conditions": _MAPPING,
    "tables": _MAPPING,
}
_PROTOCOL: dict[str, Rule] = {
    "sampling": (False, is_text, "text, such as uniform:16 for 16 frames, or fps:2"),
    "prompt": (
        False,
        is_text,
        "default, reasoned, qbench, humanvbench, or a folder in the benchmark",
    ),
    "orders": (
        False,
        lambda value: _is_count(value) or value == "circular",
        f"a whole number from 1 to {MOST_ORDERS}, or circular",
    ),
    "timestamps": _YES_OR_NO,
    "modalities": (
        False,
        lambda value: isinstance(value, str) and in_usual_order(value) in MODALITIES,
        "one of " + ", ".join(MODALITIES),
    ),
    "subtitles": _YES_OR_NO,
    "rounds": (False, _is_count, f"a whole number from 1 to {MOST_ORDERS}"),
    "fixed_last": (False, are_texts, "a list of the options' texts"),
    "frame_size": (
        False,
        lambda value: isinstance(value, str),
        "text, such as long:768 or short:360",
    ),
    "frame_encoding": (False, is_text, "jpeg:90 or another quality, png or webp"),
    "sound_encoding": (False, is_text, "wav or mp3"),
    "accept_damage": _YES_OR_NO,
    "rubric": (False, is_text, "points, quality, criteria, or a folder in the benchmark"),
    "metrics": (False, _are_metrics, "a list with some of: " + ", ".join(METRICS)),
}
assert set(_TOP) | {"extra"} == {part.name for part in fields(Manifest)}


def _faults(record: Any) -> Iterator[Fault]:
    if not isinstance(record, dict):
        yield "BAD_FIELD", "file", found_as(record), "a mapping with name and version"
        return
    foreign = [(str(name), fault) for name, value in record.items() if (fault := _foreign(value))]
    foreign += [(str(name), str(name)) for name in record if not isinstance(name, str)]
    for name, fault in foreign:
        yield "BAD_FIELD", name, fault, "text, numbers, lists and mappings (dates in quotes)"
    if foreign:
        return
    yield from field_faults(record, _TOP, strict=True)
    protocol = record.get("protocol", {})
    if is_mapping(protocol):
        yield from field_faults(protocol, _PROTOCOL, "protocol.", strict=True)
    conditions = record.get("conditions", {})
    for name, changes in conditions.items() if is_mapping(conditions) else ():
        if not is_mapping(changes):
            yield "BAD_FIELD", f"conditions.{name}", found_as(changes), "a mapping of fields"
        else:
            yield from _condition_faults(name, changes)
    tables = record.get("tables", {})
    for name, table in tables.items() if is_mapping(tables) else ():
        yield from table_faults(f"tables.{name}", name, table)


def _condition_faults(name: str, changes: Mapping[str, Any]) -> Iterator[Fault]:
    for field_name, value in changes.items():
        if field_name not in _PROTOCOL or field_name == "metrics":
            known = [field for field in _PROTOCOL if field != "metrics"]
            close = closest_name(field_name, known)
            expected = f"perhaps {close!r}: " if close else ""
            expected += "one of " + ", ".join(known)
            yield "BAD_FIELD", f"conditions.{name}", shown(field_name), expected
            continue
        if not choices(field_name, value):
            yield "BAD_FIELD", f"conditions.{name}.{field_name}", "nothing", "at least one value"
        for choice in choices(field_name, value):
            changed = {field_name: choice}
            yield from field_faults(changed, _PROTOCOL, f"conditions.{name}.", strict=True)


def choices(field_name: str, value: Any) -> list[Any]:
    """Return the values that a condition gives a field: several, where it has a list of them."""
    spans = isinstance(value, list | tuple) and field_name != "fixed_last"
    values = list(value) if spans else [value]
    return [in_usual_order(each) for each in values] if field_name == "modalities" else values


def in_usual_order(modalities: Any) -> Any:
    """Return modalities in their canonical spelling, such as V+A+T; any other value unchanged."""
    letters = sorted(str(modalities).upper().replace(" ", "").split("+"))
    known = {tuple(sorted(each.split("+"))): each for each in MODALITIES}
    return known.get(tuple(letters), modalities)


def changed_protocol(protocol: Protocol, name: str, changes: Mapping[str, Any]) -> Protocol:
    """Return a protocol with some fields changed; raise ``ReelbenchError`` for invalid changes."""
    check_changes(name, changes)
    changed = replace(protocol, **freeze(dict(changes)))
    return replace(changed, modalities=in_usual_order(changed.modalities))


def check_changes(name: str, changes: Mapping[str, Any]) -> None:
    """Raise ``ReelbenchError`` for fields or values that a condition cannot have."""
    faults = list(_condition_faults(name, changes))
    if faults:
        message = "; ".join(f"{where}: found {found}, expected {expected}"
                         for _, where, found, expected in faults)  # fmt: skip
        raise ReelbenchError(f"The condition {name!r} is not valid: {message}.")
