"""A model's card: how to reach it, what input it takes, its limits and its price."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

import msgspec

from reelbench.base.errors import ReelbenchError
from reelbench.base.files import canonical_json
from reelbench.base.yaml_files import YamlError, read_yaml
from reelbench.data.fields import Fault, Rule, field_faults, found_as, is_text, line_of
from reelbench.data.items import NOTHING, Problem


class Price(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The price of a million tokens, in US dollars."""

    input: float
    output: float

    def of(self, input_tokens: float, output_tokens: float) -> float:
        """Return the cost of so many tokens, in US dollars."""
        return (input_tokens * self.input + output_tokens * self.output) / 1e6


_MOST_NUMBER = 1e300  # nobody means a larger one, and a float holds it
FREE = Price(input=0, output=0)


class Card(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What is known about one model; a YAML file can set every field."""

    name: str  # of the model in the results
    backend: str = "openai"
    model: str = ""  # the server's name for it; the same as name by default
    endpoint: str = ""  # the URL of its server
    key: str = ""  # the environment variable that holds the key, never the key itself
    parameters: dict[str, Any] = {}  # sent with each request; part of what decides a reply

    # The command that starts its server where none answers at the endpoint, with the slots {port},
    # {host}, {model} and {folder} (of the card); its health address, found where it is not given;
    # seconds until it must be ready; and variables of its environment.
    serve: list[str] = []
    health: str = ""
    startup: float = 600.0
    environment: dict[str, str] = {}

    sees: bool = True  # takes pictures
    hears: bool = False  # takes sound
    # Instead of frames it gets video: the item's part, cut out, without its sound, which is sent
    # apart ("clip"), or the whole file with the start and end of the part ("file"). A local model
    # (hf) gets the frames all the same, as one video with their times ("frames").
    video: Literal["", "clip", "file", "frames"] = ""
    frames: int = 0  # in one request at most; 0 for any number
    schemas: bool = True  # whether its server takes a JSON schema for the reply
    captioners: list[str] = []  # of a cascade: the models that describe the media to it
    fuser: str = ""  # of a cascade: who joins several captions into one; who answers, if left out
    batch: int = (
        0  # requests that a local model answers together; 0 for as many as its memory holds
    )
    workers: int = 0  # processes of a local model; 0 for one per GPU, and for none without a GPU

    connections: int = 16  # requests in flight at the same time
    timeout: float = 300.0  # seconds for one request
    retries: int = 5  # after the first try
    backoff: float = 1.0  # seconds before the first retry; twice as long before each next one
    requests_per_minute: float = 0  # at most; 0 for any number
    tokens_per_minute: float = 0

    tier: str = ""  # a group of models, such as strong, over which tables may have a mean
    price: Price | None = None
    frame_tokens: int = 0  # tokens of one frame, where our estimate is not good enough
    reply_tokens: int = 0  # tokens of a usual reply, for forecasts

    def __post_init__(self) -> None:
        """Refuse values that a card cannot have."""
        values = {name: getattr(self, name) for name in self.__struct_fields__}
        if faults := list(_faults(values)):
            raise ValueError("; ".join(f"{f}: found {x}, expected {e}" for _, f, x, e in faults))


def read_card(path: Path) -> tuple[dict[str, Any], dict[str, int]]:
    """Return the fields of a card, unchecked, and the lines they are on in its YAML file."""
    try:
        content, lines = read_yaml(path)
    except YamlError as error:
        if error.code == "UNREADABLE" and not error.line:
            raise ReelbenchError(f"{path} cannot be read: {error.found}.") from None
        raise _invalid(path, f"{path}: {error}") from None
    if not isinstance(content, dict):
        raise _invalid(path, f"found {found_as(content)}, expected at least `name: ...`")
    return content, lines


def make_card(path: Path, fields: dict[str, Any], lines: Mapping[str, int] = NOTHING) -> Card:
    """Return the card with these fields; one error lists all that is wrong with them."""
    if isinstance(fields.get("serve"), list):
        fields = {**fields, "serve": [_as_word(word, path) for word in fields["serve"]]}
    faults = [(*fault, str(path), line_of(fault[1], lines)) for fault in _faults(fields)]
    if faults:
        raise _invalid(path, *(str(Problem(*fault)) for fault in faults))
    return msgspec.convert(fields, Card)


def _invalid(path: Path, *problems: str) -> ReelbenchError:
    return ReelbenchError("\n  ".join([f"{path} is not a valid model card:", *problems]))


def _faults(fields: Mapping[Any, Any]) -> Iterator[Fault]:
    if not _is_variable(fields.get("key", "")):
        fields = {**fields, "key": "***"}  # it may be the key itself, which is never shown
    yield from field_faults(fields, _CARD, strict=True, closed=True)
    price = fields.get("price")
    price = msgspec.structs.asdict(price) if isinstance(price, Price) else price
    if isinstance(price, dict):
        yield from field_faults(price, _PRICE, "price.", strict=True, closed=True)
    if fields.get("workers") and fields.get("backend", "openai") != "hf":
        found = found_as(fields["workers"])
        yield "BAD_FIELD", "workers", found, "none, unless the backend is hf"
    if fields.get("video") == "frames" and fields.get("backend", "openai") != "hf":
        yield "BAD_FIELD", "video", "frames", '"", clip or file, unless the backend is hf'
    for name in ("captioners", "fuser"):
        if fields.get(name) and fields.get("backend", "openai") != "cascade":
            yield "BAD_FIELD", name, found_as(fields[name]), _NO_CASCADE
    if _are_names(fields.get("serve")) and fields["serve"]:
        yield from _serve_faults(fields, fields["serve"])


def _serve_faults(fields: Mapping[Any, Any], words: list[str]) -> Iterator[Fault]:
    """Yield what is wrong with a command that is well written otherwise."""
    for word in words:
        if re.fullmatch(r"\{\w*\}", word) and word not in _SLOTS:
            yield "BAD_FIELD", "serve", word, f"a word, or one of {', '.join(_SLOTS)}"
    if fields.get("backend", "openai") != "openai":
        yield "BAD_FIELD", "serve", found_as(words), "none, unless the backend is openai"
    if not fields.get("endpoint") and not any("{port}" in word for word in words):
        expected = '"{port}" in it, or the address of the server as endpoint'
        yield "BAD_FIELD", "serve", "a command without a port", expected


def _as_word(word: Any, path: Path) -> Any:
    """Return a word of a command as text: YAML reads 8000 as a number and {port} as a mapping."""
    if type(word) in (int, float):
        return str(word)
    if isinstance(word, dict) and len(word) == 1 and next(iter(word.values())) is None:
        word = f"{{{next(iter(word))}}}"
    folder = str(path.resolve().parent)
    return word.replace("{folder}", folder) if isinstance(word, str) else word


def _is_environment(value: Any) -> bool:
    return isinstance(value, dict) and all(
        isinstance(name, str)
        and re.fullmatch(r"[^\W\d]\w*", name)
        and isinstance(text, str)
        and "\0" not in text
        for name, text in value.items()
    )


def _are_words(value: Any) -> bool:
    return _are_names(value) and not any("\0" in word for word in value)


def _is_path_of_url(value: Any) -> bool:
    return isinstance(value, str) and bool(re.fullmatch(r"(/\S*)?", value))


def _is_variable(value: Any) -> bool:
    return isinstance(value, str) and bool(re.fullmatch(r"([A-Z_][A-Z0-9_]*)?", value))


def _is_json(value: Any) -> bool:
    if not isinstance(value, dict) or not all(isinstance(name, str) for name in value):
        return False
    try:
        return bool(canonical_json(value))
    except (TypeError, ValueError):
        return False


def _are_names(value: Any) -> bool:
    return isinstance(value, list) and all(map(is_text, value))


def _is_number(value: Any) -> bool:
    return type(value) in (int, float) and abs(value) < _MOST_NUMBER


def _whole(least: int, most: int) -> Rule:
    expected = f"a whole number from {least} to {most}"
    return False, lambda value: type(value) is int and least <= value <= most, expected


_TEXT: Rule = (False, lambda value: isinstance(value, str), "text")
_TRUE_OR_FALSE: Rule = (False, lambda value: isinstance(value, bool), "true or false")
_SECONDS: Rule = (False, lambda value: _is_number(value) and value > 0, "seconds, more than 0")
_RATE: Rule = (False, lambda value: _is_number(value) and value >= 0, "a number; 0 for no limit")
_DOLLARS: Rule = (True, _RATE[1], "dollars for a million tokens")
_DOLLAR_PAIR = f"{_DOLLARS[2]}, such as {{input: 2.5, output: 10}}"
_VIDEOS = ("", "clip", "file", "frames")
_SLOTS = ("{port}", "{host}", "{model}", "{folder}")
_COMMAND = 'a list of words, such as [vllm, serve, Qwen/Qwen2.5-VL-7B-Instruct, --port, "{port}"]'
_VARIABLES = 'names and texts, such as {CUDA_VISIBLE_DEVICES: "0"}, numbers in quotation marks'
_VARIABLE = "the name of an environment variable, such as OPENAI_API_KEY, that holds the key"
_PRICE = {"input": _DOLLARS, "output": _DOLLARS}
_NO_CASCADE = "none, or beside it `backend: cascade` and `model:`, the model that answers"
_CARD: dict[str, Rule] = {
    "name": (True, is_text, "the name of the model in the results"),
    "backend": _TEXT,
    "model": _TEXT,
    "endpoint": (False, _TEXT[1], "a URL, such as http://localhost:8000/v1"),
    "key": (False, _is_variable, _VARIABLE),
    "tier": _TEXT,
    "parameters": (False, _is_json, "a mapping of names to values that JSON has"),
    "serve": (False, _are_words, _COMMAND),
    "health": (False, _is_path_of_url, "a path that begins with /, such as /health"),
    "startup": _SECONDS,
    "environment": (False, _is_environment, _VARIABLES),
    "sees": _TRUE_OR_FALSE,
    "hears": _TRUE_OR_FALSE,
    "video": (False, lambda value: value in _VIDEOS, '"", clip, file or frames'),
    "frames": _whole(0, 10_000),
    "schemas": _TRUE_OR_FALSE,
    "captioners": (False, _are_names, "a list of models, such as [openai:gpt-4o, eye.yaml]"),
    "fuser": _TEXT,
    "batch": _whole(0, 1000),
    "workers": _whole(0, 1000),
    "connections": _whole(1, 1000),
    "timeout": _SECONDS,
    "retries": _whole(0, 20),
    "backoff": _SECONDS,
    "requests_per_minute": _RATE,
    "tokens_per_minute": _RATE,
    "price": (False, lambda value: isinstance(value, dict | Price | None), _DOLLAR_PAIR),
    "frame_tokens": _whole(0, 1_000_000),
    "reply_tokens": _whole(0, 1_000_000),
}
