"""Correct what LOW findings report, and nothing else."""

import json
from pathlib import Path

import msgspec
from msgspec import structs

from reelbench.base.errors import ReelbenchError
from reelbench.base.files import write_atomically
from reelbench.base.limits import MOST_LINE, bounded_lines
from reelbench.data.benchmark import tidy_line
from reelbench.data.item_rules import item_from_line
from reelbench.data.items import Item, Json, freeze
from reelbench.lint.lint import items_path
from reelbench.lint.options import misaligned_texts


def fix(path: Path | str) -> int:
    """Rewrite the lines that have a LOW finding; return how many changed.

    Every other line keeps its bytes, and so does each value that is right.
    """
    file = items_path(Path(path))
    if not file.is_file():
        raise ReelbenchError(f"{file} does not exist, so there is nothing to fix.")
    changed = 0
    lines: list[bytes] = []
    with file.open("rb") as source:
        for number, line in enumerate(bounded_lines(source), 1):
            if len(line) > MOST_LINE:
                raise ReelbenchError(
                    f"{file}:{number} is longer than {MOST_LINE >> 20} MiB: shorten it."
                )
            content, oddities = tidy_line(line, number)
            aligned = _align(content)
            if not oddities and aligned == content:
                lines.append(line)
                continue
            changed += 1
            if aligned:
                lines.append(aligned + b"\n")
    if changed:
        write_atomically(file, b"".join(lines))
    return changed


def aligned(item: Item) -> Item:
    """Return a valid item with what LOW findings report corrected."""
    changes = _changes(item, sound=True)
    own = {name: value for name, value in changes.items() if name in item.__struct_fields__}
    extra = {name: value for name, value in changes.items() if name not in own}
    return structs.replace(item, **own, extra=freeze({**item.extra, **extra})) if changes else item


def _align(content: bytes) -> bytes:
    item, problems = item_from_line(content) if content else (None, [])
    changes = _changes(item, sound=all(p.is_warning for p in problems)) if item else {}
    if not changes:
        return content
    fields = msgspec.json.decode(content, type=dict[str, msgspec.Raw])
    texts = {name: bytes(raw).decode() for name, raw in fields.items()}
    texts |= {name: json.dumps(value, ensure_ascii=False) for name, value in changes.items()}
    pairs = [f"{json.dumps(name, ensure_ascii=False)}: {text}" for name, text in texts.items()]
    return ("{" + ", ".join(pairs) + "}").encode()


def _changes(item: Item, sound: bool) -> dict[str, Json]:
    """Return the new values of fields; those of an answer only if the item is valid."""
    changes: dict[str, Json] = {}
    trimmed = tuple(option.strip() for option in item.options)
    if item.question != item.question.strip():
        changes["question"] = item.question.strip()
    if trimmed != item.options:
        changes["options"] = trimmed
    if sound and item.kind != "open":
        changes |= dict(misaligned_texts(structs.replace(item, options=trimmed)))
    return changes
