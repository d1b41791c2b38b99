"""Label Studio: tasks and a labeling configuration out, annotations back in.

The formats are those of https://labelstud.io/guide/task_format and https://labelstud.io/tags.
Videos are named as Label Studio serves local files: start it with
``LABEL_STUDIO_LOCAL_FILES_SERVING_ENABLED=true`` and
``LABEL_STUDIO_LOCAL_FILES_DOCUMENT_ROOT`` set to the benchmark's folder.
"""

import xml.etree.ElementTree as ET
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

from reelbench.base.files import pretty_json
from reelbench.base.limits import decode_json
from reelbench.data.items import Item, Problem, shown

FILES = "/data/local-files/?d="  # where Label Studio has the files of its document root
KEEP, REJECT = "keep", "reject"
TYPE = "type of "  # before a failure tag: the control in which its type is named


@dataclass(frozen=True, slots=True)
class LabelStudioProject:
    """What people are asked about items there: the controls of the labeling configuration."""

    name: str
    page: str  # "verify", "rate" or "answer"
    failure_tags: Sequence[str] = ()
    axes: Mapping[str, Sequence[str]] = field(default_factory=dict)  # their categories
    anchors: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    open_types: bool = False  # whether types of failures are named under their tags


@dataclass(frozen=True, slots=True)
class LabelStudioAnnotation:
    """What one person said about one item; ``values`` holds texts by the name of the control."""

    item: str
    queue: str
    digest: str
    who: str
    key: str  # the same each time that it is read
    seconds: float | None
    values: Mapping[str, tuple[str, ...]]


def tasks_json(project: LabelStudioProject, items: Sequence[Item]) -> str:
    """Return the tasks to import: a list of objects with ``data``."""
    return pretty_json([{"data": _data(project, item)} for item in items])


def _data(project: LabelStudioProject, item: Item) -> dict[str, Any]:
    data: dict[str, Any] = {
        "item": item.id,
        "queue": project.name,
        "digest": item.content_digest,
        "question": item.question,
        "options": [
            {"value": text, "alias": letter}
            for letter, text in zip(item.letters, item.options, strict=True)
        ],
    }
    for number, medium in enumerate(item.media, 1):
        name = "video" if number == 1 else f"video{number}"
        data[name] = FILES + quote(medium.path)
        if medium.start is not None or medium.end is not None:
            data[f"{name}_part"] = [medium.start, medium.end]
    if project.page == "rate":
        data["key"] = ", ".join(item.correct) or item.reference or ""
    return data


def config_xml(project: LabelStudioProject, items: Sequence[Item]) -> str:
    """Return the labeling configuration: videos, question, options, and what is asked."""
    view = ET.Element("View")
    for number in range(1, max((len(item.media) for item in items), default=1) + 1):
        name = "video" if number == 1 else f"video{number}"
        ET.SubElement(view, "Video", name=name, value=f"${name}")
    ET.SubElement(view, "Header", value="$question")
    if project.page == "rate":
        ET.SubElement(view, "Header", value="$key")
        for axis, categories in project.axes.items():
            _add_axis(view, axis, categories, project.anchors.get(axis, {}))
    else:
        _add_answer(view, items)
    if project.page == "verify":
        _add_choices(view, "decision", (KEEP, REJECT))
        if project.failure_tags:
            _add_choices(view, "tags", project.failure_tags, several=True)
        for tag in project.failure_tags if project.open_types else ():
            ET.SubElement(view, "Header", value=f"{TYPE}{tag}")
            _add_text(view, f"{TYPE}{tag}", rows=1)
    if project.page != "answer":
        _add_text(view, "comment")
    ET.indent(view)
    return ET.tostring(view, encoding="unicode") + "\n"


def _add_answer(view: ET.Element, items: Sequence[Item]) -> None:
    if any(item.options for item in items):
        several = any(item.kind == "multi" for item in items)
        choice = "multiple" if several else "single-radio"
        names = {"name": "answer", "toName": "video", "choice": choice, "value": "$options"}
        ET.SubElement(view, "Choices", names)
    _add_text(view, "written")


def _add_axis(
    view: ET.Element, name: str, categories: Sequence[str], anchors: Mapping[str, str]
) -> None:
    """Ask with stars where the scale begins at one; stars know no zero."""
    ET.SubElement(view, "Header", value=name)
    if categories[0] == "1":
        tag = {"name": name, "toName": "video", "maxRating": categories[-1], "required": "true"}
        ET.SubElement(view, "Rating", tag)
        return
    choices = _add_choices(view, name, categories)
    for choice in choices:
        if choice.get("value") in anchors:
            choice.set("hint", anchors[choice.get("value", "")])


def _add_choices(
    view: ET.Element, name: str, values: Sequence[str], several: bool = False
) -> ET.Element:
    choice = {"choice": "multiple"} if several else {"choice": "single-radio", "required": "true"}
    choices = ET.SubElement(view, "Choices", {"name": name, "toName": "video", **choice})
    for value in values:
        ET.SubElement(choices, "Choice", value=value)
    return choices


def _add_text(view: ET.Element, name: str, rows: int = 3) -> None:
    ET.SubElement(view, "TextArea", name=name, toName="video", maxSubmissions="1", rows=str(rows))


def read_annotations(
    text: str | bytes, name: str
) -> tuple[list[LabelStudioAnnotation], list[Problem]]:
    """Return what people said in a file that Label Studio exported, and all that is wrong in it."""
    try:
        tasks = decode_json(text)
    except ValueError as error:
        return [], [Problem("NOT_JSON", "file", str(error), "a JSON export", name)]
    if not isinstance(tasks, list):
        return [], [Problem("BAD_FIELD", "file", shown(tasks), "a list of tasks", name)]
    found: list[LabelStudioAnnotation] = []
    problems: list[Problem] = []
    for number, task in enumerate(tasks, 1):
        for each in _annotations(task, f"task {number}", name):
            if isinstance(each, Problem):
                problems.append(each)
            else:
                found.append(each)
    return found, problems


def _annotations(task: Any, place: str, name: str) -> Iterator[LabelStudioAnnotation | Problem]:
    data = task.get("data") if isinstance(task, dict) else None
    named = {key: data.get(key) for key in ("item", "queue")} if isinstance(data, dict) else {}
    if not isinstance(data, dict) or not all(isinstance(each, str) for each in named.values()):
        expected = "data with item and queue, as they were exported"
        yield Problem("MISSING_FIELD", place, shown(data), expected, name)
        return
    annotations = task.get("annotations", [])
    for number, each in enumerate(annotations if isinstance(annotations, list) else [], 1):
        here = f"{place}, annotation {number}"
        if not isinstance(each, dict) or not isinstance(each.get("result"), list):
            yield Problem("BAD_FIELD", here, shown(each), "an object with result", name)
        elif not each.get("was_cancelled"):
            yield _annotation(data, each)


def _annotation(data: Mapping[str, Any], record: Mapping[str, Any]) -> LabelStudioAnnotation:
    who = _who(record.get("completed_by"))
    seconds = record.get("lead_time")
    key = f"{record.get('unique_id') or record.get('id')} {data['queue']} {data['item']} {who}"
    return LabelStudioAnnotation(
        item=data["item"],
        queue=data["queue"],
        digest=str(data.get("digest", "")),
        who=who,
        key=key,
        seconds=float(seconds) if isinstance(seconds, int | float) else None,
        values=dict(_values(record["result"])),
    )


def _who(value: Any) -> str:
    """Return a name for who annotated: an address, or else a number."""
    if isinstance(value, dict):
        value = value.get("email") or value.get("id")
    return value if isinstance(value, str) and value.strip() else f"label-studio-{value}"


def _values(result: Sequence[Any]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield what each control says; regions and other things of no use here are left out."""
    for each in result:
        value = each.get("value") if isinstance(each, dict) else None
        kind, name = (each.get("type"), each.get("from_name")) if value else ("", "")
        if not isinstance(name, str) or not isinstance(value, dict):
            continue
        given = value.get({"textarea": "text"}.get(str(kind), str(kind)))
        texts = given if isinstance(given, list) else [] if given is None else [given]
        yield name, tuple(str(text).strip() for text in texts)
