"""Baselines that never look at the video."""

from collections.abc import Mapping
from typing import Any

from reelbench.items import LETTERS
from reelbench.models.base import Request, Response
from reelbench.seeds import rng_for


class Offline:
    """A model that holds nothing."""

    connections = 1

    async def close(self) -> None:
        """Do nothing."""


class RandomChoice(Offline):
    """Draws an option, or a non-empty set of options, each with the same chance."""

    name = "baseline:random"
    sees = False
    draws = True
    parameters: Mapping[str, Any] = {}

    async def ask(self, request: Request) -> Response:
        """Draw from the request's own hash: the same request, the same draw."""
        return answer_with(random_choice(request))


class LongestOption(Offline):
    """Takes the longest option: what a benchmark with wordy keys gives away."""

    name = "baseline:longest-option"
    sees = False
    draws = False
    parameters: Mapping[str, Any] = {}

    async def ask(self, request: Request) -> Response:
        """Choose the longest option; of several, the first."""
        lengths = [len(option) for option in request.options]
        return answer_with([lengths.index(max(lengths))] if lengths else [])


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
    return Response("ok", ", ".join(LETTERS[place] for place in places))
