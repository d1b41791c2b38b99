"""Operators that can ask a model: beside the journal, so that nothing is paid for twice."""

import asyncio
from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from reelbench.annotate.operator import Clip, Labels, Operator, Value
from reelbench.base.errors import ReelbenchError
from reelbench.base.files import digest_of
from reelbench.client.client import Client
from reelbench.evaluate.prompt import fill
from reelbench.models.base import ChatModel, Message, Part, Request, TextPart, token_limit


@dataclass(frozen=True)
class Asks(Operator):
    """An operator with a part for a model."""

    model: str = ""  # who tells it; filled in when one is named

    @abstractmethod
    async def ask(self, clip: Clip, labels: Labels, client: Client, model: ChatModel) -> Value:
        """Look at a clip with the help of a model."""


def prompt_of(name: str, **slots: str) -> str:
    """Fill in one of the prompts of operators."""
    return fill((files(__package__) / "prompts" / f"{name}.md").read_text("utf-8"), slots)


async def ask_for_text(
    client: Client, model: ChatModel, prompt: str, shown: Any, make: Callable[[], Sequence[Part]]
) -> str:
    """Ask for a text; what is shown is made only for who has not answered yet.

    ``shown`` says what decides it, as plain data.
    """
    content = {
        "model": model.card.name,
        "parameters": dict(model.parameters),
        "prompt": prompt,
        "shown": shown,
    }
    key = digest_of(content)
    parts: Sequence[Part] = ()
    if client.journal.answer(key) is None:
        parts = await asyncio.to_thread(make)
    message = Message("user", (*parts, TextPart(prompt)))
    response = await client.ask(model, Request(key, (message,), "open", prompt))
    if response.status == "truncated":
        raise ReelbenchError(f"{model.card.name}: {response.error}: raise {token_limit(model)}")
    if response.status != "ok":
        raise ReelbenchError(response.error or f"{model.card.name} said nothing")
    return str(response.text).strip()
