"""A rubric: how a judge is asked, in Markdown, and what it must reply, as a JSON schema.

The grade is the weighted mean of the numbers in a reply: every number with bounds in the schema
counts, with the weight ``x-weight`` of the schema, by default 1.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema

from reelbench.base.errors import ReelbenchError
from reelbench.base.files import digest_of
from reelbench.base.limits import decode_json
from reelbench.evaluate.prompt import fill, inner_folder, slots_of

CHOICE = "choice"  # the rubric of what a reply chooses, which gives no grade
_SLOTS = {"question", "options", "reference", "response", "caption"}


@dataclass(frozen=True, slots=True)
class Rubric:
    """A rubric: the judge's prompt and the schema of its reply."""

    name: str
    prompt: str
    schema: Mapping[str, Any]

    @property
    def digest(self) -> str:
        """The hash of its prompt and schema."""
        return digest_of([self.prompt, self.schema])

    def render(self, slots: Mapping[str, str]) -> str:
        """Return the prompt with a question and its reply filled in."""
        return fill(self.prompt, slots)

    @property
    def scale(self) -> tuple[float, float]:
        """The worst and the best possible grade."""
        bounds = [(bound, weight) for _, bound, weight in _graded(self.schema)]
        total = sum(weight for _, weight in bounds)
        worst = sum(low * weight for (low, _), weight in bounds) / total
        return worst, sum(high * weight for (_, high), weight in bounds) / total

    @property
    def paths(self) -> list[tuple[str, ...]]:
        """Where the numbers that count stand in a reply."""
        return [path for path, _, _ in _graded(self.schema)]

    def values(self, reply: Any) -> dict[str, float]:
        """Return the numbers of a valid reply by their path, such as ``clarity.score``."""
        found = {}
        for path, _, _ in _graded(self.schema):
            value = reply
            for name in path:
                value = value.get(name) if isinstance(value, dict) else None
            if isinstance(value, int | float):
                found[".".join(path)] = float(value)
        return found

    def grade(self, values: Mapping[str, float]) -> float:
        """Return the weighted mean of a reply's numbers."""
        weights = {".".join(path): weight for path, _, weight in _graded(self.schema)}
        total = sum(weights[name] for name in values)
        return sum(weights[name] * value for name, value in values.items()) / total


Graded = tuple[tuple[str, ...], tuple[float, float], float]


def _graded(schema: Any, path: tuple[str, ...] = ()) -> Iterator[Graded]:
    """Find the numbers of a schema that have bounds, by an ``enum`` or a least and a most."""
    if not isinstance(schema, Mapping):
        return
    numbers = [n for n in schema.get("enum", ()) if type(n) in (int, float)]
    bounds = (min(numbers), max(numbers)) if numbers else None
    if "minimum" in schema and "maximum" in schema:
        bounds = (schema["minimum"], schema["maximum"])
    if bounds and path:
        weight = schema.get("x-weight", 1)
        yield path, bounds, float(weight) if type(weight) in (int, float) else 0.0
    for name, inner in schema.get("properties", {}).items():
        yield from _graded(inner, (*path, name))


def criterion_of(path: Sequence[str]) -> str:
    """Return the criterion that a number of a reply is about: that of ``ratings.clarity.score``."""
    parts = [part for part in path if part not in ("ratings", "score")]
    return ".".join(parts or path)


def load_rubric(name: str, root: Path) -> Rubric:
    """Return a built-in rubric by name, or one in the benchmark by the path of its folder."""
    if name == CHOICE:
        raise ReelbenchError(
            f"The rubric {name!r} reads closed replies and gives no grade: name another as "
            "protocol.rubric."
        )
    ours = files(__package__) / "rubrics"
    names = sorted(entry.name for entry in ours.iterdir() if (entry / "schema.json").is_file())
    folder = ours / name if name in names else inner_folder(name, root, "rubric", names)
    try:
        prompt = (folder / "prompt.md").read_text(encoding="utf-8")
        schema = decode_json((folder / "schema.json").read_text(encoding="utf-8"))
        jsonschema.Draft202012Validator.check_schema(schema)
    except (OSError, ValueError, jsonschema.SchemaError) as error:
        reason = str(error).splitlines()[0]
        raise ReelbenchError(
            f"The rubric {name!r} cannot be used: {reason}. A rubric is a folder with prompt.md "
            "and schema.json, a JSON schema of what the judge replies."
        ) from error
    unknown = slots_of(prompt) - _SLOTS
    if unknown or "response" not in slots_of(prompt):
        raise ReelbenchError(
            f"The rubric {name!r} cannot be used: its prompt.md has the slots "
            f"{', '.join(sorted(slots_of(prompt))) or 'none'}. It may have "
            f"{', '.join(sorted(_SLOTS))}, and must have response."
        )
    if "$ref" in _words(schema) or "pattern" in _words(schema):
        raise ReelbenchError(
            f"The rubric {name!r} cannot be used: its schema.json has $ref or pattern, which are "
            "not safe in files from others: write the schema without them."
        )
    graded = list(_graded(schema))
    if not graded:
        raise ReelbenchError(
            f"The rubric {name!r} cannot be used: no number in its schema.json has an enum, or a "
            "minimum and a maximum, so nothing is graded."
        )
    for path, (low, high), weight in graded:
        if not (low < high and weight > 0):
            raise ReelbenchError(
                f"The rubric {name!r} cannot be used: {'.'.join(path)} in its schema.json needs at "
                "least two values, and an x-weight above 0, if it has one."
            )
    return Rubric(name, prompt, schema)


def _words(schema: Any) -> set[str]:
    """Return all keywords in a schema, without the names of properties."""
    if isinstance(schema, list):
        return {word for part in schema for word in _words(part)}
    if not isinstance(schema, Mapping):
        return set()
    words = set(schema)
    for name, value in schema.items():
        parts = value.values() if name == "properties" and isinstance(value, Mapping) else [value]
        words |= {word for part in parts for word in _words(part)}
    return {"$ref" if word in ("$dynamicRef", "$recursiveRef") else
            "pattern" if word == "patternProperties" else word for word in words}  # fmt: skip


def choice_prompt() -> str:
    """Return the prompt that asks which option a reply chooses."""
    return (files(__package__) / "rubrics" / "choice" / "prompt.md").read_text(encoding="utf-8")
