"""Ask for JSON: send its schema, check the reply, ask for one repair, try once more, give up.

A reply is never trusted to be what was asked for. Every call goes through the journal, so that
asking again costs nothing and ends the same.
"""

import asyncio
import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from typing import Any

import jsonschema
from referencing import Registry

from reelbench.base.files import canonical_json, whole_data
from reelbench.base.limits import check_depth
from reelbench.client.client import Client
from reelbench.client.media_input import PromptMedia, RenderedMedia
from reelbench.client.reply_text import without_reasoning
from reelbench.models.base import (
    EMPTY_REPLY,
    ChatModel,
    Message,
    Request,
    Response,
    Status,
    TextPart,
)
from reelbench.models.keys import request_key

TRIES = 2  # times that it is asked from the start, each with one repair
_FENCED = re.compile(r"```(?:json)?\s*\n(.*?)```", re.DOTALL | re.IGNORECASE)
_SHOWN = 300  # characters of what is wrong


@dataclass(frozen=True, slots=True)
class Structured:
    """The JSON that a model replied with, or why there is none."""

    data: Any = None
    failure: str = ""
    status: Status = "ok"  # of the last call
    words: str = field(default="", compare=False)  # of the last reply
    nearly: Any = field(default=None, compare=False)  # JSON in it that fails its schema or check
    calls: int = field(default=1, compare=False)  # that were made


Check = Callable[[Any], str]  # returns what is wrong with JSON that fits its schema; "" if right


async def ask_json(
    client: Client,
    model: ChatModel,
    prompt: str,
    schema: Mapping[str, Any],
    purpose: str,
    round: int = 0,
    *,
    media: PromptMedia | None = None,
    check: Check = lambda _: "",
    repeated: bool = False,
) -> Structured:
    """Return JSON that fits a schema, from up to two tries with one repair each.

    ``round`` tells apart what is asked several times, which ``repeated`` announces. ``check`` looks
    at what a schema cannot say. ``media`` are decoded only if they are to be sent.
    """
    result = Structured(failure="never asked", status="error")
    record = await asyncio.to_thread(media.record) if media else {}
    async with AsyncExitStack() as stack:
        shown: RenderedMedia | None = None
        calls = 0
        for attempt in range(TRIES):
            messages = [_first_message(model, prompt, schema)]
            for repair in (False, True):
                request = _request(
                    model,
                    messages,
                    schema,
                    media=record,
                    purpose=purpose,
                    round=round,
                    attempt=(attempt, repair),
                    seed=client.seed,
                    repeated=repeated,
                )
                if media and shown is None and client.journal.answer(request.key) is None:
                    shown = await stack.enter_async_context(client.rendered(media))
                response = await client.ask(model, _with_media(request, shown))
                calls += 1
                result = replace(_checked(response, schema, check), calls=calls)
                if response.error == EMPTY_REPLY:
                    break  # there is nothing to repair
                if result.data is not None or response.status != "ok":
                    return result
                messages += [
                    Message("assistant", (TextPart(response.text or ""),)),
                    Message("user", (TextPart(_complaint(result.failure)),)),
                ]
    return result


def first_request(
    model: ChatModel,
    prompt: str,
    schema: Mapping[str, Any],
    purpose: str,
    round: int = 0,
    *,
    seed: int = 0,
    repeated: bool = False,
) -> Request:
    """Return the first request that ``ask_json`` sends with a client of this seed."""
    messages = [_first_message(model, prompt, schema)]
    asked = {"purpose": purpose, "round": round, "seed": seed, "repeated": repeated}
    return _request(model, messages, schema, **asked)


def _first_message(model: ChatModel, prompt: str, schema: Mapping[str, Any]) -> Message:
    """Return the prompt, with the schema as text where the server does not take one."""
    if not model.card.schemas:
        plain = canonical_json(plain_schema(schema))
        prompt = f"{prompt}\n\nThe JSON must fit this schema:\n{plain}"
    return Message("user", (TextPart(prompt),))


def _with_media(request: Request, shown: RenderedMedia | None) -> Request:
    """Put what is shown before the prompt."""
    if shown is None:
        return request
    first, *others = request.messages
    first = Message(first.role, (*shown.parts, *first.parts))
    return replace(request, messages=(first, *others))


def _request(
    model: ChatModel, messages: Sequence[Message], schema: Mapping[str, Any], **decides: Any
) -> Request:
    sent = plain_schema(schema) if model.card.schemas else None
    key = request_key(model, messages, schema=sent, **decides)
    return Request(key, tuple(messages), "open", "", schema=sent)


def _complaint(failure: str) -> str:
    return f"That is not the JSON asked for: {failure}. Reply with the corrected JSON alone."


def _checked(response: Response, schema: Mapping[str, Any], check: Check) -> Structured:
    words = response.text or ""
    if not response.replied:
        failure = response.error or response.status
        return Structured(failure=failure, status=response.status, words=words)
    try:
        data = whole_data(find_json(words))
    except (ValueError, RecursionError) as error:
        # What was cut off would be cut off again: no complaint makes a limit larger.
        failure = str(error) if response.status == "ok" else f"{error}: {response.error}"
        return Structured(failure=failure, status=response.status, words=words)
    # Nothing is fetched, whatever a schema refers to.
    validator = jsonschema.Draft202012Validator(accepted_schema(schema), registry=Registry())
    errors = validator.iter_errors(data)
    faults = sorted(fault for error in errors for fault in _faults(error))
    if fault := "; ".join(faults)[:_SHOWN] or check(data):
        return Structured(failure=fault, status=response.status, words=words, nearly=data)
    return Structured(data, words=words)


def _faults(error: jsonschema.ValidationError) -> list[str]:
    """Return what is wrong; of what fits no alternative, by the one that it was meant for."""
    if not error.context:
        return [f"{_where(error)}{error.message}"]
    alternatives: dict[Any, list[jsonschema.ValidationError]] = {}
    for each in error.context:
        alternatives.setdefault(each.schema_path[0], []).append(each)
    # One whose fixed values differ, such as its kind, was not meant.
    nearest = min(
        alternatives.values(),
        key=lambda own: (sum(each.validator in ("const", "enum") for each in own), len(own)),
    )
    return [fault for each in nearest for fault in _faults(each)]


def _where(error: jsonschema.ValidationError) -> str:
    path = ".".join(map(str, error.absolute_path))
    return f"{path}: " if path else ""


def find_json(reply: str) -> Any:
    """Return the JSON object or list in a reply that may have words or a fence around it.

    Where there are two different ones, or what looks like the start of one is never finished,
    there is none: which of them is meant would be a guess.
    """
    text = without_reasoning(reply)
    if not text:
        raise ValueError("the reply is empty")
    for candidate in [text, *reversed(_FENCED.findall(text)[-_MOST_FENCES:])]:
        try:
            value = _DECODER.decode(candidate.strip())
            check_depth(candidate)
            return value
        except (ValueError, RecursionError):
            continue
    found: list[Any] = []
    place = failures = 0
    while failures <= _MOST_FAILURES and (match := _START.search(text, place)):
        try:
            value, place = _DECODER.raw_decode(text, match.start())
        except RecursionError:
            raise ValueError("the reply nests without end") from None
        except ValueError:
            if _SURELY.match(text, match.start()):
                raise ValueError("there is no complete JSON in the reply") from None
            place, failures = match.end(), failures + 1
            continue
        check_depth(text[match.start() : place])
        found.append(value)
    # Beside an object, lists are words in brackets.
    found = [value for value in found if isinstance(value, dict)] or found
    if not found:
        raise ValueError("there is no complete JSON in the reply")
    if any(value != found[0] for value in found):
        raise ValueError("there are two different pieces of JSON in the reply")
    return found[0]


def _no_number(word: str) -> float:
    raise ValueError(f"{word} is no number of JSON")


def _finite(word: str) -> float | None:
    """A number that no float can hold is none, which no schema of ours takes for one."""
    number = float(word)
    return number if math.isfinite(number) else None


_DECODER = json.JSONDecoder(parse_constant=_no_number, parse_float=_finite)
_MOST_FENCES = 100
_START = re.compile(r"[{\[]")
_MOST_FAILURES = 100  # brackets that begin no JSON; each costs as much as what stands before it
_SURELY = re.compile(r"""\{\s*"|\[\s*[{"]""")  # words in brackets begin otherwise


def accepted_schema(schema: Any) -> Any:
    """Return the schema that replies are checked by: its ``x-accepts`` take the place of fields.

    Strict servers want every field named and required; what models add or leave out all the same
    may be as good.
    """
    if isinstance(schema, Mapping):
        schema = {**schema, **schema.get("x-accepts", {})}
        return {name: accepted_schema(value) for name, value in schema.items()}
    return [accepted_schema(part) for part in schema] if isinstance(schema, list) else schema


def plain_schema(schema: Any) -> Any:
    """Return a schema without our own ``x-`` fields, which strict servers refuse."""
    if isinstance(schema, Mapping):
        return {
            name: {each: plain_schema(inner) for each, inner in value.items()}
            if name == "properties" and isinstance(value, Mapping)
            else plain_schema(value)
            for name, value in schema.items()
            if not str(name).startswith("x-")
        }
    return [plain_schema(part) for part in schema] if isinstance(schema, list) else schema
