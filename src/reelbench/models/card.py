"""A card: how to reach a model, and how it is to be asked."""

import math
from pathlib import Path
from typing import Any

import msgspec
import yaml

from reelbench.errors import ReelbenchError


class Card(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What is known about one model. All of it can be said in a YAML file."""

    name: str  # what it is called in the results
    backend: str = "openai"
    model: str = ""  # what its server calls it; the name if nothing is said
    endpoint: str = ""  # where its server is
    key: str = ""  # the environment variable that holds the key, never the key itself
    sees: bool = True
    parameters: dict[str, Any] = {}  # sent with each request; part of what decides a reply
    connections: int = 16  # requests under way at the same time
    timeout: float = 300.0  # seconds for one request
    retries: int = 5  # after the first try
    backoff: float = 1.0  # seconds before the first retry; twice as long before each next one

    def __post_init__(self) -> None:
        """Refuse numbers that cannot be meant."""
        if not 1 <= self.connections <= 1000:
            raise ValueError(f"connections is {self.connections}: write a number from 1 to 1000")
        if not 0 <= self.retries <= 20:
            raise ValueError(f"retries is {self.retries}: write a number from 0 to 20")
        for name in ("timeout", "backoff"):
            if not 0 < getattr(self, name) < math.inf:
                raise ValueError(f"{name} is {getattr(self, name)}: write a number of seconds")


def read_card(path: Path) -> Card:
    """Read a card from a YAML file."""
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
        return msgspec.convert(content, Card)
    except OSError as error:
        raise ReelbenchError(f"{path} cannot be read ({error.strerror}).") from error
    except (yaml.YAMLError, ValueError, msgspec.ValidationError) as error:
        fields = ", ".join(Card.__struct_fields__)
        raise ReelbenchError(
            f"{path} is not a model's card: {error}. A card is YAML with the fields {fields}; only "
            "name must be there."
        ) from error
