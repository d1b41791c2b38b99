"""An item is one question: media, question, options, answer, tags.

The nouns of ``items.jsonl`` and how they are written back without loss. How a line is read, and
what its fields may hold, is in ``item_rules.py``.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, NoReturn, get_args

import msgspec

from reelbench.base.files import digest_of

Kind = Literal["single", "multi", "yesno", "open"]
Json = Any  # plain JSON data, with tuples for lists and FrozenDict for dicts
Seconds = int | float  # kept apart, so that 10 is not written back as 10.0
Span = tuple[Seconds, Seconds]

KINDS: tuple[Kind, ...] = get_args(Kind)
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
PAIR = "pair"  # the field that links the two items of one question, with options and without
SOURCE_CLIPS = (
    "source_clips"  # the field with the names of the clips that an item's videos were made from
)


class FrozenDict(dict[str, Json]):
    """A dict that refuses changes (unlike a mappingproxy it can be sent to a worker process)."""

    __slots__ = ()

    def _refuse(self, *_: object, **__: object) -> NoReturn:
        raise TypeError("an item is immutable: make a changed copy with item.replace(...)")

    __setitem__ = __delitem__ = __ior__ = _refuse
    clear = pop = popitem = setdefault = update = _refuse

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(frozenset(self.items()))

    def __reduce__(self) -> tuple[type["FrozenDict"], tuple[dict[str, Json]]]:
        return FrozenDict, (dict(self),)


NOTHING = FrozenDict()
# ``extra`` is filled by the reader alone: in a file, unknown fields stand among the others.
NOT_OURS: FrozenDict = msgspec.field(default=NOTHING, name="*")


_LEAVES = frozenset({str, int, float, bool, type(None)})


def freeze(value: Json) -> Json:
    """Return plain JSON data with immutable types: ``FrozenDict`` for dicts, tuples for lists."""
    if isinstance(value, dict):
        return FrozenDict([(k, v if type(v) in _LEAVES else freeze(v)) for k, v in value.items()])
    if isinstance(value, list | tuple):
        return tuple([v if type(v) in _LEAVES else freeze(v) for v in value])
    return value


def thaw(value: Json) -> Json:
    """Return frozen data as the dicts and lists that YAML knows."""
    if isinstance(value, Mapping):
        return {name: thaw(part) for name, part in value.items()}
    return [thaw(part) for part in value] if isinstance(value, tuple | list) else value


class Media(msgspec.Struct, frozen=True, gc=False, forbid_unknown_fields=True):
    """One video, sound or image of an item, or the part of it from ``start`` to ``end`` seconds."""

    path: str
    start: Seconds | None = None
    end: Seconds | None = None
    extra: FrozenDict = NOT_OURS

    def to_record(self) -> dict[str, Json]:
        """Return the medium as plain data, fields in the order of the file format."""
        record: dict[str, Json] = {"path": self.path}
        if self.start is not None:
            record["start"] = self.start
        if self.end is not None:
            record["end"] = self.end
        return {**record, **self.extra}


class Item(msgspec.Struct, frozen=True, gc=False, forbid_unknown_fields=True):
    """One question. Unknown fields are in ``extra`` and are written back unchanged."""

    id: str
    kind: Kind
    media: tuple[Media, ...]
    question: str
    options: tuple[str, ...] = ()
    answer: tuple[str, ...] = ()
    reference: str | None = None
    evidence: tuple[Span, ...] = ()
    tags: FrozenDict = NOTHING
    context: FrozenDict = NOTHING
    provenance: FrozenDict = NOTHING
    extra: FrozenDict = NOT_OURS

    @property
    def letters(self) -> str:
        """The letters of the options, ``"ABCD"`` for four."""
        return LETTERS[: len(self.options)]

    @property
    def has_letters_as_options(self) -> bool:
        """Whether options are letters that a video shows, each in the place of its letter."""
        return self.options[:2] == tuple(LETTERS[:2])

    @property
    def correct(self) -> tuple[str, ...]:
        """The texts of the right options, in the order of the answer."""
        return tuple(self.options[LETTERS.index(letter)] for letter in self.answer)

    @property
    def source_clips(self) -> tuple[str, ...]:
        """The clips that its videos were made from, by name; empty where it does not say."""
        named = self.extra.get(SOURCE_CLIPS)
        return tuple(map(str, named)) if isinstance(named, tuple) else ()

    def is_counterpart_of(self, other: "Item") -> bool:
        """Whether both are made of one question, the one with options and the other without."""
        linked = self.extra.get(PAIR)
        kinds = (self.kind == "open") != (other.kind == "open")
        return kinds and linked is not None and linked == other.extra.get(PAIR)

    def tag(self, name: str) -> tuple[str, ...]:
        """All values of one tag as text; empty where the item does not carry it."""
        value = self.tags.get(name, ())
        return tuple(map(str, value)) if isinstance(value, tuple) else (str(value),)

    def replace(self, **fields: Any) -> "Item":
        """Return the item with other values in some fields; plain lists and dicts will do."""
        return msgspec.structs.replace(
            self, **{name: freeze(value) for name, value in fields.items()}
        )

    def to_record(self) -> dict[str, Json]:
        """Return the item as plain data in the order of the file format, without empty fields."""
        record: dict[str, Json] = {"id": self.id, "kind": self.kind}
        record["media"] = [media.to_record() for media in self.media]
        record["question"] = self.question
        for name in ("options", "answer", "evidence", "tags", "context", "provenance"):
            if getattr(self, name):
                record[name] = getattr(self, name)
            if name == "answer" and self.reference is not None:
                record["reference"] = self.reference
        return {**record, **self.extra}

    @property
    def chance(self) -> float:
        """The chance that a blind guess is right: one option, or one non-empty set of them."""
        return 1 / (2 ** len(self.options) - 1 if self.kind == "multi" else len(self.options))

    def to_line(self) -> str:
        """Write the item as its line of ``items.jsonl``, without the newline."""
        return json.dumps(self.to_record(), ensure_ascii=False, allow_nan=False)

    @property
    def digest(self) -> str:
        """The hash of the item's content, independent of the layout of its line."""
        return digest_of(self.to_record())

    @property
    def content_digest(self) -> str:
        """The hash of what people see and decide about: of all but the provenance."""
        return digest_of({**self.to_record(), "provenance": {}})


@dataclass(frozen=True, slots=True)
class Problem:
    """One fault of one field: its place, what was found and what was expected."""

    code: str
    field: str
    found: str
    expected: str
    file: str = ""
    line: int = 0

    @property
    def is_warning(self) -> bool:
        """Whether the file can be read all the same, without loss or doubt."""
        return self.code in _HARMLESS

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}" if self.line else self.file
        return f"{place}: {self.field}: found {self.found}, expected {self.expected}"


_HARMLESS = frozenset({"BYTE_ORDER_MARK", "CRLF", "BLANK_LINE", "UNKNOWN_FIELD"})


def shown(value: Json, limit: int = 60) -> str:
    """Return a value as it is shown in errors: on one line, shortened to ``limit`` characters."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    text = re.sub(r"\s+", " ", text)
    text = text if len(text) <= limit else text[: limit - 1] + "…"
    return f"{text!r}" if isinstance(value, str) else text
