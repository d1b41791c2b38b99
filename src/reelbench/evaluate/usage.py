"""``usage.json``: what each model took under each condition, in seconds, tokens and memory."""

from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from reelbench.base.files import pretty_json
from reelbench.base.limits import decode_json
from reelbench.evaluate.ask import Ask

USAGE_FILE = "usage.json"
_COUNTED = ("seconds", "input_tokens", "output_tokens", "cached_tokens")


class UsageSums:
    """Sums over the calls whose replies count, by model and condition.

    A call that serves two conditions counts for both. Seconds are those of the calls, one after the
    other, however many were in flight. Memory is the most that a local model has held on its
    device; a run that goes on without loading it keeps what is in the ``earlier`` file.
    """

    def __init__(self, earlier: Path) -> None:
        self._sums: dict[tuple[str, str], dict[str, float]] = {}
        self._memory = _memory(earlier)

    def add(self, ask: Ask, taken: Mapping[str, float | None] | None) -> None:
        """Count the call whose reply answers a question, if it has one."""
        if taken is None:
            return
        name, condition = ask.model.card.name, ask.condition.name
        counts = self._sums.setdefault((name, condition), defaultdict(float))
        counts["calls"] += 1
        for field in _COUNTED:
            value = taken[field]
            if value is not None:
                counts[field] += value
        most = getattr(ask.model, "peak_memory", None)
        self._memory[name] = max(self._memory.get(name, 0), most or 0)

    @property
    def text(self) -> str:
        """The content of the file."""
        memory = self._memory
        rows = [
            {
                "model": name,
                "condition": condition,
                **{field: round(value, 3) for field, value in counts.items()},
                **({"memory_bytes": memory[name]} if memory.get(name) else {}),
            }
            for (name, condition), counts in sorted(self._sums.items())
        ]
        return pretty_json(rows)


def read_usage(out: Path) -> dict[tuple[str, str], dict[str, float]]:
    """Return what each model took under each condition of a run; empty where it is not known.

    ``minutes`` and ``memory_gb`` are added to what the file has.
    """
    found = {}
    for row in _rows(out / USAGE_FILE):
        numbers = {k: v for k, v in row.items() if type(v) in (int, float)}
        if "seconds" in numbers:
            numbers["minutes"] = numbers["seconds"] / 60
        if "memory_bytes" in numbers:
            numbers["memory_gb"] = numbers["memory_bytes"] / 2**30
        found[row["model"], row["condition"]] = numbers
    return found


def _memory(path: Path) -> dict[str, int]:
    return {row["model"]: row["memory_bytes"] for row in _rows(path) if "memory_bytes" in row}


def _rows(path: Path) -> list[dict[str, Any]]:
    try:
        rows = decode_json(path.read_text(encoding="utf-8"))
        return [row for row in rows if isinstance(row["model"] + row["condition"], str)]
    except (OSError, ValueError, KeyError, TypeError):
        return []  # of an earlier version, or one that was killed
