"""Align what is LOW: the mechanical part of an editor's work, and nothing else."""

import json
from pathlib import Path

import msgspec

from reelbench.benchmark import tidy_line
from reelbench.files import write_atomically
from reelbench.item_rules import item_from_line
from reelbench.items import Item, Json
from reelbench.make.lint.lint import items_path
from reelbench.make.lint.options import misaligned_texts


def fix(path: Path | str) -> int:
    """Rewrite the lines that have a LOW finding; return how many changed.

    Every other line stays as it is, byte for byte, and so does each field that is not aligned.
    """
    file = items_path(Path(path))
    changed = 0
    lines: list[bytes] = []
    with file.open("rb") as source:
        for number, line in enumerate(source, 1):
            content, oddities = tidy_line(line, number)
            aligned = _align(content)
            if oddities or aligned != content:
                changed += 1
            if aligned:
                ending = b"\n" if oddities or line.endswith(b"\n") else b""
                lines.append((aligned + ending) if oddities or aligned != content else line)
    if changed:
        write_atomically(file, b"".join(lines))
    return changed


def _align(content: bytes) -> bytes:
    item, problems = item_from_line(content) if content else (None, [])
    if item is None or problems:
        return content
    changes = _changes(item)
    if not changes:
        return content
    fields = msgspec.json.decode(content, type=dict[str, msgspec.Raw])
    texts = {name: bytes(raw).decode() for name, raw in fields.items()}
    texts |= {name: json.dumps(value, ensure_ascii=False) for name, value in changes.items()}
    pairs = [f"{json.dumps(name, ensure_ascii=False)}: {text}" for name, text in texts.items()]
    return ("{" + ", ".join(pairs) + "}").encode()


def _changes(item: Item) -> dict[str, Json]:
    changes: dict[str, Json] = {}
    if item.question != item.question.strip():
        changes["question"] = item.question.strip()
    trimmed = [option.strip() for option in item.options]
    if trimmed != list(item.options):
        changes["options"] = trimmed
    if item.kind != "open":
        for field, right in misaligned_texts(item):
            exact = right.strip() if isinstance(right, str) else [text.strip() for text in right]
            changes[field] = exact
    return changes
