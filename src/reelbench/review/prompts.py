"""Changes of prompts that people decide about: what a page shows of one, and how they edit it."""

from typing import Any

import msgspec

from reelbench.data.items import Item
from reelbench.make.parts.prompt_changes import CHANGE, NEW_TEXT, slot_fault
from reelbench.review.errors import ActionError


def shown_change(item: Item) -> dict[str, Any]:
    """Return what a page shows of a change: both prompts, the reason, and the drafts behind it."""
    change: dict[str, Any] = msgspec.to_builtins(item.context[CHANGE])
    return {**change, "after": item.reference}


def edited_prompt(item: Item, changes: Any) -> dict[str, str]:
    """Return the prompt as a person edited it; refuse one that cannot be used."""
    text = changes.get(NEW_TEXT) if isinstance(changes, dict) and len(changes) == 1 else None
    if not isinstance(text, str):
        raise ActionError("A change of a prompt is its new text.")
    text = text.replace("\r\n", "\n").rstrip() + "\n"
    if text.split() == (item.reference or "").split():
        raise ActionError("Nothing is changed: accept it, or change something.")
    if fault := slot_fault(item.context[CHANGE]["before"], text):
        raise ActionError(f"The prompt cannot be used like that: {fault}.")
    return {NEW_TEXT: text}
