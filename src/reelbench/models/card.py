"""A card: how to reach a model, what it can take in, and what it may be asked and may cost."""

import math
import re
from pathlib import Path
from typing import Any, Literal

import msgspec

from reelbench.base.errors import ReelbenchError
from reelbench.base.files import canonical_json
from reelbench.base.yaml_files import YamlError, read_yaml


class Price(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What a million tokens cost, in US dollars."""

    input: float
    output: float

    def __post_init__(self) -> None:
        """Refuse numbers that cannot be meant."""
        for name in ("input", "output"):
            if not 0 <= getattr(self, name) < math.inf:
                raise ValueError(f"price.{name} is {getattr(self, name)}: write dollars")

    def of(self, input_tokens: float, output_tokens: float) -> float:
        """What so many tokens cost."""
        return (input_tokens * self.input + output_tokens * self.output) / 1e6


FREE = Price(input=0, output=0)


class Card(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What is known about one model. All of it can be said in a YAML file."""

    name: str  # what it is called in the results
    backend: str = "openai"
    model: str = ""  # what its server calls it; the name if nothing is said
    endpoint: str = ""  # where its server is
    key: str = ""  # the environment variable that holds the key, never the key itself
    parameters: dict[str, Any] = {}  # sent with each request; part of what decides a reply

    sees: bool = True  # pictures
    hears: bool = False  # sound
    video: Literal["", "clip", "file"] = ""  # gets this instead of frames: the part that is meant,
    # cut out and silent, its sound apart; or the whole file, with where to look and listen
    frames: int = 0  # in one request at most; 0 for any number
    schemas: bool = True  # whether its server can be told the JSON that is wanted
    captioners: list[str] = []  # of a cascade: the models that tell it what they see and hear
    batch: int = 8  # requests that a local model answers together

    connections: int = 16  # requests under way at the same time
    timeout: float = 300.0  # seconds for one request
    retries: int = 5  # after the first try
    backoff: float = 1.0  # seconds before the first retry; twice as long before each next one
    requests_per_minute: float = 0  # at most; 0 for any number
    tokens_per_minute: float = 0

    price: Price | None = None
    frame_tokens: int = 0  # that a frame costs, where our estimate is not good enough
    reply_tokens: int = 0  # of a usual reply, for forecasts

    def __post_init__(self) -> None:
        """Refuse numbers that cannot be meant."""
        if not self.name.strip():
            raise ValueError("name is empty: say what the model is called in the results")
        if self.key and not re.fullmatch(r"[A-Z_][A-Z0-9_]*", self.key):
            raise ValueError(
                "key is not the name of an environment variable, such as OPENAI_API_KEY: put the "
                "key itself there, and its name here"
            )
        try:
            canonical_json(self.parameters)
        except (TypeError, ValueError) as error:
            raise ValueError(f"parameters holds what JSON does not have: {error}") from None
        for name, least, most in _WHOLE:
            if not least <= getattr(self, name) <= most:
                number = getattr(self, name)
                raise ValueError(f"{name} is {number}: write a number from {least} to {most}")
        for name in ("timeout", "backoff"):
            if not 0 < getattr(self, name) < math.inf:
                raise ValueError(f"{name} is {getattr(self, name)}: write a number of seconds")
        for name in ("requests_per_minute", "tokens_per_minute"):
            if not 0 <= getattr(self, name) < math.inf:
                raise ValueError(f"{name} is {getattr(self, name)}: write a number, 0 for no limit")


_WHOLE = (
    ("connections", 1, 1000),
    ("retries", 0, 20),
    ("batch", 1, 1000),
    ("frames", 0, 10_000),
    ("frame_tokens", 0, 1_000_000),
    ("reply_tokens", 0, 1_000_000),
)


def read_card(path: Path) -> dict[str, Any]:
    """Read the fields of a card from a YAML file."""
    try:
        content, _ = read_yaml(path)
    except YamlError as error:
        if error.code == "UNREADABLE":
            raise ReelbenchError(f"{path} cannot be read ({error.found}).") from None
        raise ReelbenchError(_no_card(path, error)) from None
    if not isinstance(content, dict):
        raise ReelbenchError(_no_card(path, "it holds no fields"))
    return content


def make_card(path: Path, fields: dict[str, Any]) -> Card:
    """Check the fields of a card."""
    try:
        return msgspec.convert(fields, Card)
    except (ValueError, msgspec.ValidationError) as error:
        raise ReelbenchError(_no_card(path, error)) from error


def _no_card(path: Path, reason: object) -> str:
    fields = ", ".join(Card.__struct_fields__)
    return (
        f"{path} is not a model's card: {reason}. A card is YAML with the fields {fields}; only "
        "name must be there."
    )
