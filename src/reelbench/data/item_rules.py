"""Reads a line of ``items.jsonl``: what its fields may hold, and a problem for anything else."""

import json
import re
from collections.abc import Callable, Iterator
from typing import NoReturn

import msgspec
from msgspec import structs

from reelbench.base.json_faults import json_fault
from reelbench.base.limits import MOST_LINE, LimitError, check_line
from reelbench.base.times import with_seconds
from reelbench.data.field_names import beside_misspelt, with_misspelt
from reelbench.data.items import (
    LETTERS,
    NOTHING,
    SOURCE_CLIPS,
    FrozenDict,
    Item,
    Json,
    Media,
    Problem,
    freeze,
    shown,
)
from reelbench.data.paths import path_escapes

MIN_OPTIONS, MAX_OPTIONS = 2, len(LETTERS)
MAX_MEDIA = 2
LATEST_SECOND = 1e9  # thirty years: later than that is a wrong unit

# What a person would call the type of each field.
_EXPECTED = {
    "id": "text on one line, not blank",
    "kind": "one of single, multi, yesno, open",
    "media": 'a list of {"path": text, "start": seconds, "end": seconds}, start and end optional',
    "question": "text, not blank",
    "options": "a list of texts, none blank",
    "answer": 'a list of letters such as ["B"]',
    "reference": "text",
    "evidence": 'a list of [start, end] in seconds, or in times such as "1:23.5"',
    "tags": "an object of texts or lists of texts",
    "context": "an object",
    "provenance": "an object",
}
_TIME = 'seconds, such as 83.5, or a time, such as "1:23.5"'
_REQUIRED = ("id", "kind", "media", "question")


def _frozen(kind: type, value: Json) -> Json:
    if kind is not FrozenDict or not isinstance(value, dict):
        raise msgspec.ValidationError("Expected `object`")
    return freeze(value)


_item = msgspec.json.Decoder(Item, dec_hook=_frozen).decode
_raw_fields = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode


def item_from_line(line: bytes) -> tuple[Item | None, list[Problem]]:
    """Return the item of a line, and everything that is wrong with it or looks misspelt.

    An item is returned beside the problems when all its types are right, so that the linter can
    still check one whose answer or times are wrong. No item with a problem that is more than a
    warning is ever run or scored.
    """
    try:
        check_line(line)
        item = _decode(line)
    except LimitError as error:
        return None, [_too_much(error)]
    except (ValueError, KeyError, RecursionError) as error:  # all that msgspec and json raise
        unexplained = Problem("NOT_JSON", "line", str(error), "a plain JSON object")
        return None, list(_reasons(line)) or [unexplained]
    problems: list[Problem] = []
    for check in _CHECKS:
        check(item, problems)
    # Pairs of a hundred thousand options are more than any tool can look at.
    if len(item.options) > MAX_OPTIONS:
        return None, problems
    return item, with_misspelt(item, problems)


def _decode(line: bytes) -> Item:
    try:
        item = _item(line)
    except msgspec.ValidationError:
        item = _item_with_unknown_fields(line)
    if _may_repeat_a_name(line, item):
        _strictly(line.decode())
        item = _item_with_unknown_fields(line)
    return item


def _item_with_unknown_fields(line: bytes) -> Item:
    record = _raw_fields(line)
    media = msgspec.json.decode(record["media"], type=list[dict[str, msgspec.Raw]])
    _read_times(record, media)
    extra, media_extra = _take_unknown(record, Item), [_take_unknown(m, Media) for m in media]
    item = _item(msgspec.json.encode({**record, "media": media}))
    complete = [structs.replace(m, extra=e) for m, e in zip(item.media, media_extra, strict=True)]
    return structs.replace(item, extra=extra, media=tuple(complete))


def _read_times(record: dict[str, msgspec.Raw], media: list[dict[str, msgspec.Raw]]) -> None:
    """Put seconds where a time such as "1:23.5" is written, in raw JSON."""
    for holder, name in [*((m, n) for m in media for n in ("start", "end")), (record, "evidence")]:
        if name in holder and b":" in bytes(holder[name]):
            value = with_seconds(msgspec.json.decode(holder[name]))
            holder[name] = msgspec.Raw(msgspec.json.encode(value))


def _take_unknown(record: dict[str, msgspec.Raw], kind: type[msgspec.Struct]) -> FrozenDict:
    unknown = [name for name in record if name == "extra" or name not in kind.__struct_fields__]
    return freeze({name: msgspec.json.decode(record.pop(name)) for name in unknown}) or NOTHING


def _may_repeat_a_name(line: bytes, item: Item) -> bool:
    """Return, cheaply, whether a line may name a field twice, from the number of its names.

    JSON readers silently keep the last of two equal names, so a doubtful line is read again
    strictly. Doubtful are also escapes, which can put a quote and a colon into a text or spell a
    name in two ways, and white space before a colon.
    """
    if b"\\" in line or b"\r" in line or b'" :' in line or b'"\t:' in line or b'"*"' in line:
        return True
    names = _names_in(item.extra)
    for field in (item.options, item.answer, item.evidence):
        names += bool(field)
    for nested in (item.tags, item.context, item.provenance):
        names += bool(nested) + _names_in(nested)
    for media in item.media:
        names += 1 + (media.start is not None) + (media.end is not None) + _names_in(media.extra)
    names += len(_REQUIRED) + (item.reference is not None)
    return line.count(b'":') != names


def _names_in(value: Json) -> int:
    """Count the field names in a value, at every depth."""
    if type(value) is FrozenDict:
        deeper = [part for part in value.values() if type(part) in _DEEP] if value else None
        return len(value) + (sum(map(_names_in, deeper)) if deeper else 0)
    return sum(map(_names_in, value)) if type(value) is tuple else 0


_DEEP = frozenset({FrozenDict, tuple})


class _BadLineError(ValueError):
    """A line that is no JSON object as all readers understand it."""


def _strictly(line: str) -> Json:
    """Decode JSON, refusing what JSON readers disagree about."""
    return json.loads(line, object_pairs_hook=_object, parse_constant=_constant)


def _object(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    names = [name for name, _ in pairs]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise _BadLineError(f"{twice!r} twice", "each field once")
    return dict(pairs)


def _constant(name: str) -> NoReturn:
    raise _BadLineError(name, "a finite number, since JSON has no other")


def _reasons(line: bytes) -> Iterator[Problem]:
    """Explain why a line was refused, which may be slow: its form first, then each field's type."""
    record, problems = decode_strictly(line)
    yield from problems or _type_problems(record)


def _too_much(error: LimitError) -> Problem:
    return Problem("NOT_JSON", "line", str(error), "a plain JSON object")


def decode_strictly(line: bytes, most: int = MOST_LINE) -> tuple[Json, list[Problem]]:
    """Return the value of a line of JSON, or the problem that says why it cannot be decoded."""
    try:
        check_line(line, most)
        record = _strictly(line.decode())
        if b"\\u" in line:  # half a pair comes from an escape alone
            json.dumps(record, ensure_ascii=False).encode()
    except _BadLineError as error:
        found, expected = error.args
    except UnicodeDecodeError as error:
        found = f"byte 0x{line[error.start]:02X} at column {error.start + 1}"
        return None, [Problem("ENCODING", "line", found, "UTF-8")]
    except UnicodeEncodeError:
        found, expected = "half a surrogate pair", "complete characters"
    except json.JSONDecodeError as error:
        fault, _, column = json_fault(error)
        found = f"{shown(line.decode())} ({fault} at column {column})"
        expected = "one complete JSON object"
    except LimitError as error:
        return None, [_too_much(error)]
    except ValueError as error:  # such as an integer of ten thousand digits
        found, expected = str(error), "a plain JSON object"
    else:
        return record, []
    return None, [Problem("NOT_JSON", "line", found, expected)]


def _type_problems(record: Json) -> Iterator[Problem]:
    if not isinstance(record, dict):
        yield Problem("NOT_JSON", "line", shown(record), "a JSON object")
        return
    types = {field.name: field.type for field in structs.fields(Item)}
    problems = []
    for name, kind in types.items():
        if name not in record and name in _REQUIRED:
            problems.append(Problem("MISSING_FIELD", name, "nothing", _EXPECTED[name]))
        if name not in record or name not in _EXPECTED:
            continue
        try:
            msgspec.convert(_known(name, record[name]), kind, dec_hook=_frozen)
        except msgspec.ValidationError as error:
            problems.append(_type_problem(name, record[name], str(error)))
    yield from beside_misspelt(record, problems)


def _type_problem(name: str, value: Json, reason: str) -> Problem:
    place = _place(reason)
    if reason.startswith("Object missing required field `path`"):
        return Problem("MISSING_FIELD", f"{name}{place}.path", "nothing", _EXPECTED["media"])
    found = shown(_at(value, place))
    expected = _TIME if place.endswith((".start", ".end")) else _EXPECTED[name]
    return Problem("BAD_FIELD", name + place, found, expected)


def _known(name: str, value: Json) -> Json:
    """Leave out the fields of media that are not ours, and read times: they are no fault."""
    if name == "evidence":
        return with_seconds(value)
    if name != "media" or not isinstance(value, list):
        return value
    return [_known_medium(medium) if isinstance(medium, dict) else medium for medium in value]


def _known_medium(medium: dict[str, Json]) -> dict[str, Json]:
    ours = {name: medium[name] for name in ("path", "start", "end") if name in medium}
    return {name: value if name == "path" else with_seconds(value) for name, value in ours.items()}


def _place(message: str) -> str:
    found = re.search(r"`\$(.*)`$", message)
    return found[1] if found else ""


def _at(value: Json, place: str) -> Json:
    for name, index in re.findall(r"\.(\w+)|\[(\d+)\]", place):
        value = value[name] if name else value[int(index)]
    return value


def _check_texts(item: Item, problems: list[Problem]) -> None:
    if not item.id.strip() or not item.id.isprintable():
        problems.append(Problem("BAD_FIELD", "id", shown(item.id), _EXPECTED["id"]))
    if not item.question.strip():
        found = shown(item.question)
        problems.append(Problem("BAD_FIELD", "question", found, _EXPECTED["question"]))
    if not all(map(str.strip, item.options)):
        found = shown(item.options)
        problems.append(Problem("BAD_FIELD", "options", found, _EXPECTED["options"]))


def _check_tags(item: Item, problems: list[Problem]) -> None:
    for name, value in item.tags.items():
        for part in value if type(value) is tuple else (value,):
            if type(part) not in _TAG_TYPES:
                found = shown(value)
                expected = "text or a list of texts"
                problems.append(Problem("BAD_FIELD", f"tags.{name}", found, expected))
                break


_TAG_TYPES = frozenset({str, int, float, bool})


def _check_media(item: Item, problems: list[Problem]) -> None:
    if not 1 <= len(item.media) <= MAX_MEDIA:
        problems.append(Problem("MEDIA_COUNT", "media", f"{len(item.media)} media", "1 or 2"))
    for place, media in enumerate(item.media):
        reason = path_escapes(media.path)
        if reason:
            found = f"{shown(media.path)} ({reason})"
            expected = "a relative path inside the benchmark's folder, such as media/a.mp4"
            problems.append(Problem("MEDIA_PATH", f"media[{place}].path", found, expected))
        start, end = media.start or 0, LATEST_SECOND if media.end is None else media.end
        if not 0 <= start < end <= LATEST_SECOND:
            found = f"{shown(media.start)} to {shown(media.end)}"
            problems.append(Problem("MEDIA_WINDOW", f"media[{place}]", found, "0 <= start < end"))


def _check_source_clips(item: Item, problems: list[Problem]) -> None:
    named = item.extra.get(SOURCE_CLIPS, ("",))
    if type(named) is not tuple or not named or any(type(clip) is not str for clip in named):
        expected = 'a list of the names of clips, such as ["scene-01"]'
        problems.append(Problem("BAD_FIELD", SOURCE_CLIPS, shown(named), expected))


def _check_options(item: Item, problems: list[Problem]) -> None:
    count = len(item.options)
    if item.kind == "open":
        right, expected = count == 0, "none for an open question"
    elif item.kind == "yesno":
        right, expected = count == 2, "2 for a yes/no question"
    else:
        right = MIN_OPTIONS <= count <= MAX_OPTIONS
        expected = f"{MIN_OPTIONS} to {MAX_OPTIONS}"
    if not right:
        problems.append(Problem("OPTION_COUNT", "options", f"{count} options", expected))


def _check_answer(item: Item, problems: list[Problem]) -> None:
    if item.kind == "open":
        if item.answer:
            found = shown(item.answer)
            expected = "no letters for an open question: write its answer into reference"
            problems.append(Problem("BAD_FIELD", "answer", found, expected))
        elif not (item.reference or "").strip():
            problems.append(Problem("NO_ANSWER", "reference", "nothing", "text, not blank"))
        return
    if not item.answer:
        code = "MULTI_0_ANSWER" if item.kind == "multi" else "NO_ANSWER"
        problems.append(Problem(code, "answer", "no letter", _EXPECTED["answer"]))
        return
    beyond = [letter for letter in item.answer if len(letter) != 1 or letter not in item.letters]
    if beyond and item.options:
        expected = f"letters from A to {item.letters[-1]}"
        problems.append(Problem("INVALID_LABEL", "answer", shown(beyond), expected))
    if len(set(item.answer)) < len(item.answer):
        problems.append(Problem("BAD_FIELD", "answer", shown(item.answer), "each letter once"))
    if item.kind != "multi" and len(item.answer) > 1:
        expected = f"one letter for kind {item.kind}"
        problems.append(Problem("ANSWER_COUNT", "answer", shown(item.answer), expected))


def _check_evidence(item: Item, problems: list[Problem]) -> None:
    for place, span in enumerate(item.evidence):
        if not 0 <= span[0] < span[1] <= LATEST_SECOND:
            code, expected = "EVIDENCE_SPAN", "0 <= start < end"
        elif not any([_holds(media, span) for media in item.media]):
            windows = " or ".join(_window(media) for media in item.media)
            code, expected = "EVIDENCE_OUTSIDE", f"inside the media: {windows}"
        else:
            continue
        problems.append(Problem(code, f"evidence[{place}]", shown(span), expected))


def _holds(media: Media, span: tuple[float, float]) -> bool:
    return span[0] >= (media.start or 0) and (media.end is None or span[1] <= media.end)


def _window(media: Media) -> str:
    end = "its end" if media.end is None else f"{media.end} s"
    return f"{media.start or 0} s to {end}"


_CHECKS: tuple[Callable[[Item, list[Problem]], None], ...] = (
    _check_texts,
    _check_tags,
    _check_media,
    _check_source_clips,
    _check_options,
    _check_answer,
    _check_evidence,
)
