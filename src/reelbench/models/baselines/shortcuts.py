"""Baselines that never look at the video."""

from collections.abc import Mapping
from typing import Any

import msgspec

from reelbench.base.seeds import rng_for
from reelbench.data.items import LETTERS
from reelbench.models.base import Request, Response
from reelbench.models.card import FREE, Card
from reelbench.models.simple import SimpleModel


class Offline(SimpleModel):
    """A model that holds nothing and costs nothing."""

    sees = False
    parameters: Mapping[str, Any] = {}

    def __init__(self, card: Card) -> None:
        self.card = msgspec.structs.replace(card, sees=self.sees, price=FREE)

    async def ask(self, request: Request) -> Response:
        """Choose among the options."""
        return answer_with(self.choose(request))

    def choose(self, request: Request) -> list[int]:  # noqa: ARG002 - for those who look at it
        """Return the places of the options that it takes: none, unless it knows better."""
        return []


class RandomChoice(Offline):
    """Draws an option, or a non-empty set of options, each with the same chance."""

    is_random = True

    def choose(self, request: Request) -> list[int]:
        """Draw from the request's own hash: the same request, the same draw."""
        return random_choice(request)


class FirstOption(Offline):
    """Takes the first option: what keys that are not shuffled give away."""

    def choose(self, request: Request) -> list[int]:
        """Choose the first."""
        return [0] if request.options else []


class LongestOption(Offline):
    """Takes the longest option: what a benchmark with wordy keys gives away."""

    def choose(self, request: Request) -> list[int]:
        """Choose the longest option; of several, the first."""
        lengths = [len(option) for option in request.options]
        return [lengths.index(max(lengths))] if lengths else []


def random_choice(request: Request) -> list[int]:
    """Return the places of the options that chance picks for this request."""
    rng = rng_for("random choice", request.key)
    count = len(request.options)
    if request.kind != "multi":
        return [rng.randrange(count)] if count else []
    subset = rng.randrange(1, 2**count)
    return [place for place in range(count) if subset >> place & 1]


def answer_with(places: list[int]) -> Response:
    """Reply as a terse chat model would: ``B``, or ``A, C``."""
    if not places:
        return Response("refused", error="This baseline answers closed questions only.")
    text = ", ".join(LETTERS[place] for place in places)
    return Response("ok", text, input_tokens=0, output_tokens=0)
