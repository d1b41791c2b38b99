"""Made-up replies for forecasts: of the form asked for, about as long as expected, all different.

A list has as many entries as ``x-count`` in its schema says, or else as few as the schema allows.
"""

import json
import random
from collections.abc import Iterator, Mapping
from typing import Any

_WORDS = 8  # of a text in JSON of which no length is known
_WORDS_PER_TOKEN = 0.75  # of English


def imagined_text(rng: random.Random, tokens: int) -> str:
    """Return a text of about so many tokens."""
    return _text(rng, max(1, round(tokens * _WORDS_PER_TOKEN)))


def imagined_json(schema: Mapping[str, Any], rng: random.Random, tokens: int = 0) -> str:
    """Return JSON that fits a schema; its texts make it about so many tokens long."""
    texts = sum(1 for _ in _texts(schema))
    words = round(tokens * _WORDS_PER_TOKEN / texts) if tokens and texts else _WORDS
    return json.dumps(_value(schema, rng, max(1, words)))


def _texts(schema: Mapping[str, Any]) -> Iterator[None]:
    """Yield once for each text that will be made up."""
    for part in _parts(_first(schema)):
        yield from _texts(part)
    if _type(schema) == "string" and "enum" not in schema and "const" not in schema:
        yield None


def _parts(schema: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    if _type(schema) == "object":
        return list(schema.get("properties", {}).values())
    if _type(schema) == "array":
        return [_entry(schema)] * _count(schema)
    return []


def _value(schema: Mapping[str, Any], rng: random.Random, words: int) -> Any:
    schema = _first(schema)
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return rng.choice(schema["enum"])
    kind = _type(schema)
    if kind == "object":
        properties = schema.get("properties", {})
        return {name: _value(part, rng, words) for name, part in properties.items()}
    if kind == "array":
        return [_value(_entry(schema), rng, words) for _ in range(_count(schema))]
    if kind in ("integer", "number"):
        return _number(schema, kind, rng)
    if kind == "boolean":
        return rng.random() < 0.5
    return None if kind == "null" else _text(rng, words)


def _first(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """Take the first of several forms that are allowed."""
    for name in ("anyOf", "oneOf"):
        if schema.get(name):
            return _first(schema[name][0])
    return schema


def _type(schema: Mapping[str, Any]) -> str:
    kind = _first(schema).get("type", "string")
    return str(kind[0] if isinstance(kind, list) else kind)


def _entry(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    entry = schema.get("items", {})
    return entry if isinstance(entry, Mapping) else {}


def _count(schema: Mapping[str, Any]) -> int:
    least = int(schema.get("minItems", 1))
    return min(max(int(schema.get("x-count", 0)), least), int(schema.get("maxItems", 10**6)))


def _number(schema: Mapping[str, Any], kind: str, rng: random.Random) -> float:
    least = schema.get("minimum", 1)
    most = schema.get("maximum", least)
    return rng.randint(int(least), int(most)) if kind == "integer" else rng.uniform(least, most)


def _text(rng: random.Random, words: int) -> str:
    return " ".join(f"word{rng.randrange(10**6)}" for _ in range(words))
