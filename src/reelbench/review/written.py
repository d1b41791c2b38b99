"""The items that people write: put together from what they typed, and checked as they type."""

from collections.abc import Iterator, Mapping
from typing import Any

from reelbench.base.files import json_line
from reelbench.data.item_rules import item_from_line
from reelbench.data.items import Item
from reelbench.data.question_rules import asks_yes_no, evidence_outside, lists_options
from reelbench.data.written import AUTHOR, TASK
from reelbench.review.errors import ActionError
from reelbench.review.protocol import ReviewProtocol
from reelbench.review.subjects import Subject

FIELDS = ("kind", "question", "options", "answer", "reference", "evidence", "tags")


def written_item(
    protocol: ReviewProtocol,
    subject: Subject,
    record: Any,
    key: str,
    author: str,
    seconds: float | None = None,
) -> Item:
    """Return the item that a person wrote about a video; refuse one that has errors.

    ``seconds`` is how long the video is, where that is known.
    """
    item, problems = check_written(protocol, subject, record, key, author, seconds)
    errors = [each for each in problems if each["level"] == "error"]
    if item is None or errors:
        raise ActionError("; ".join(each["message"] for each in errors), errors)
    return item


def check_written(
    protocol: ReviewProtocol,
    subject: Subject,
    record: Any,
    key: str = "new",
    author: str = "",
    seconds: float | None = None,
) -> tuple[Item | None, list[dict[str, str]]]:
    """Return the item, where there is one, and what is wrong with it or worth a second look."""
    if not isinstance(record, dict) or not set(record) <= {*FIELDS, "id"}:
        return None, [_problem("item", f"An item has {', '.join(FIELDS)}.")]
    made = {name: record[name] for name in FIELDS if record.get(name) not in (None, "", [], {})}
    made["id"] = record.get("id") or f"{protocol.name}-{key[:12]}"
    made["media"] = [each.to_record() for each in subject.media]
    made["provenance"] = {AUTHOR: author, "protocol": protocol.name}
    if subject.task:
        made["provenance"][TASK] = subject.task
    item, found = item_from_line(json_line(made).strip().encode())
    problems = [
        _problem(each.field, f"{each.field}: found {each.found}, expected {each.expected}")
        for each in found
        if not each.is_warning
    ]
    problems += _protocol_problems(protocol, made)
    problems += _tag_problems(protocol, made.get("tags", {}))
    if item and seconds is not None and "evidence" in protocol.checks:
        problems += _evidence_problems(item, seconds)
    return item, problems


def _protocol_problems(
    protocol: ReviewProtocol, made: Mapping[str, Any]
) -> Iterator[dict[str, str]]:
    kind, question = made.get("kind"), str(made.get("question", ""))
    if protocol.kinds and kind not in protocol.kinds:
        yield _problem("kind", f"The kind is one of {', '.join(protocol.kinds)}.")
    count = len(made.get("options", ()))
    fewest, most = protocol.options
    if kind in ("single", "multi") and not fewest <= count <= most:
        yield _problem("options", f"Give {fewest} to {most} options.")
    written = [str(each).strip().casefold() for each in made.get("options", ())]
    if len(set(written)) < count:
        yield _problem("options", "Two options are the same.")
    if protocol.evidence and not made.get("evidence"):
        yield _problem("evidence", "Set the first and the last time of the evidence.")
    if "yes_no" in protocol.checks and kind == "open" and asks_yes_no(question):
        yield _problem("question", "A question that yes or no answers is not allowed here.")
    if "options_in_stem" in protocol.checks and lists_options(question):
        yield _problem("question", "The question lists options: ask without them.", "warning")


def _evidence_problems(item: Item, seconds: float) -> Iterator[dict[str, str]]:
    if outside := evidence_outside(item.evidence, seconds):
        yield _problem("evidence", outside)


def _tag_problems(protocol: ReviewProtocol, tags: Any) -> Iterator[dict[str, str]]:
    for tag in protocol.tags:
        values = tags.get(tag.name, []) if isinstance(tags, dict) else []
        values = values if isinstance(values, list) else [values]
        if tag.needed and not values:
            yield _problem(f"tags.{tag.name}", f"Choose {tag.name}.")
        if len(values) > 1 and not tag.several:
            yield _problem(f"tags.{tag.name}", f"{tag.name}: choose one.")
        elif any(value not in tag.choices for value in values):
            yield _problem(f"tags.{tag.name}", f"{tag.name}: choose from the list.")


def _problem(field: str, message: str, level: str = "error") -> dict[str, str]:
    return {"field": field, "message": message, "level": level}
