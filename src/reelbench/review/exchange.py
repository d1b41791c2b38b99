"""Queues for teams that work in Label Studio, and candidates from elsewhere."""

import getpass
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

from reelbench.base.errors import ReelbenchError
from reelbench.base.files import write_atomically
from reelbench.data.failure_types import typed_tag
from reelbench.data.items import LETTERS
from reelbench.interop.label_studio import (
    REJECT,
    TYPE,
    LabelStudioAnnotation,
    LabelStudioProject,
    config_xml,
    read_annotations,
    tasks_json,
)
from reelbench.review.actions import Action
from reelbench.review.candidates import import_candidates
from reelbench.review.people import ALL, Person
from reelbench.review.protocol import ReviewProtocol
from reelbench.review.queue import ReviewQueue
from reelbench.review.review import Review
from reelbench.review.subjects import Subject

FOLDER_NAME = "label-studio"  # among the exports


@dataclass(slots=True)
class ImportReport:
    """What came of an import: how much was taken, and a sentence for each thing that was not."""

    taken: Counter[str] = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)


def label_studio_names(review: Review) -> list[str]:
    """Return the names of the files for Label Studio."""
    with review.reading():
        return [name for queue in _asking(review) for name in _names(queue)]


def label_studio_files(review: Review) -> dict[str, str]:
    """Return tasks and configuration of every queue that has questions, by name of the file."""
    files: dict[str, str] = {}
    with review.reading():
        for queue in _asking(review):
            items = [each.item for each in queue.subjects().values() if each.item]
            project = project_of(queue.protocol)
            texts = tasks_json(project, items), config_xml(project, items)
            files |= dict(zip(_names(queue), texts, strict=True))
    return files


def _asking(review: Review) -> list[ReviewQueue]:
    """Return the queues in which people are asked about items, by name."""
    queues = sorted(review.queues.values(), key=lambda queue: queue.name)
    about_items = (
        q for q in queues if q.protocol.page != "write" and not q.protocol.is_about_prompts
    )
    return [queue for queue in about_items if queue.subjects()]


def _names(queue: ReviewQueue) -> tuple[str, str]:
    return f"{FOLDER_NAME}/{queue.name}.json", f"{FOLDER_NAME}/{queue.name}.xml"


def write_label_studio(review: Review, out: Path) -> list[Path]:
    """Write tasks and configurations into a folder; return the paths."""
    files = label_studio_files(review)
    if not files:
        raise ReelbenchError(f"No queue of {review.root} has questions to put to people.")
    for name, text in files.items():
        (out / name).parent.mkdir(parents=True, exist_ok=True)
        write_atomically(out / name, text)
    return [out / name for name in files]


def import_file(review: Review, path: Path) -> ImportReport:
    """Take in a file: annotations of Label Studio, or lines of items as candidates."""
    content = path.read_bytes()
    if content.lstrip().startswith(b"["):
        return import_annotations(review, path)
    person = Person(getpass.getuser(), "organiser")
    new = import_candidates(review, person, content, path.name)
    return ImportReport(Counter(candidates=new))


def project_of(protocol: ReviewProtocol) -> LabelStudioProject:
    """Return what a protocol asks, as Label Studio is told."""
    return LabelStudioProject(
        protocol.name,
        protocol.page,
        protocol.failure_tags,
        {axis.name: axis.categories for axis in protocol.axes},
        {axis.name: axis.anchors for axis in protocol.axes},
        protocol.open_types,
    )


def import_annotations(review: Review, path: Path) -> ImportReport:
    """Keep what people said in Label Studio as if they had said it here; twice is once."""
    annotations, problems = read_annotations(path.read_bytes(), path.name)
    report = ImportReport(problems=[str(problem) for problem in problems])
    for each in annotations:
        try:
            for kind, body in _actions(review, each):
                _keep(review, each, kind, body)
                report.taken[kind] += 1
        except ReelbenchError as error:
            report.problems.append(f"{each.who} on {each.item}: {error}")
    return report


def _keep(review: Review, each: LabelStudioAnnotation, kind: str, body: dict[str, Any]) -> None:
    key = sha256(f"{each.key} {kind}".encode()).hexdigest()[:32]
    if each.seconds is not None:
        body["seconds"] = each.seconds
    action = Action(id=key, type=kind, item=each.item, digest=each.digest, body=body)
    review.act(_person(each), each.queue, action)


def _person(each: LabelStudioAnnotation) -> Person:
    return Person(each.who, "organiser", (ALL,))  # nothing was handed out to them here


def _actions(review: Review, each: LabelStudioAnnotation) -> Iterator[tuple[str, dict[str, Any]]]:
    queue = review.queue(each.queue)
    subject = queue.subjects().get(each.item)
    if subject is None or subject.item is None:
        raise ReelbenchError("there is no such item in the queue.")
    comment = {"comment": " ".join(each.values.get("comment", ()))}
    if queue.protocol.page == "rate":
        yield "rated", {"rating": _rating(queue, each.values), **comment}
        return
    answer = _answer(queue, subject, each)
    yield "answered", answer
    if queue.protocol.page == "verify":
        yield "verdict", {**_verdict(queue, subject, each), **comment}


def _rating(queue: ReviewQueue, values: Mapping[str, Sequence[str]]) -> dict[str, int]:
    given = {axis.name: values.get(axis.name, ("",))[0] for axis in queue.protocol.axes}
    return {name: int(value) for name, value in given.items() if value.isdecimal()}


def _answer(queue: ReviewQueue, subject: Subject, each: LabelStudioAnnotation) -> dict[str, Any]:
    written = " ".join(each.values.get("written", ()))
    if written:
        return {"written": written}
    letters = each.values.get("answer", ())
    return {"choice": _places(queue.order(subject, each.who), letters)}


def _places(order: Sequence[int], letters: Sequence[str]) -> list[int]:
    """Return where options were shown, whose letters are those of the benchmark."""
    known = list(LETTERS[: len(order)])
    if unknown := [letter for letter in letters if letter not in known]:
        raise ReelbenchError(f"the item has no option {', '.join(unknown)}.")
    return [order.index(known.index(letter)) for letter in letters]


def _tags(protocol: ReviewProtocol, values: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the tags, each with its type where one is named; naming one chooses its tag."""
    chosen = list(values.get("tags", ()))
    if not protocol.open_types:
        return chosen
    types = {tag: " ".join(values.get(f"{TYPE}{tag}", ())) for tag in protocol.failure_tags}
    chosen += [tag for tag, kind in types.items() if kind and tag not in chosen]
    return [typed_tag(tag, types.get(tag, "")) for tag in chosen]


def _verdict(queue: ReviewQueue, subject: Subject, each: LabelStudioAnnotation) -> dict[str, Any]:
    """Return the verdict: who keeps an item and answered otherwise than its key changes the key."""
    item = subject.item
    assert item is not None
    if REJECT in each.values.get("decision", ()):
        return {"decision": "reject", "tags": _tags(queue.protocol, each.values)}
    letters = sorted(each.values.get("answer", ()))
    written = " ".join(each.values.get("written", ()))
    if item.kind == "open" or (not written and letters == sorted(item.answer)):
        return {"decision": "accept"}
    order = queue.order(subject, each.who)
    if not written:
        return {"decision": "change", "changes": {"answer": _places(order, letters)}}
    options = [item.options[place] for place in order]
    changes = {"options": [*options, written], "answer": [len(options)]}
    return {"decision": "change", "changes": changes}
