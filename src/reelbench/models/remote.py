"""What all models behind a server share: a key, parameters, retries and rate limits."""

import base64
import os
import re
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar
from urllib.parse import urlsplit

import msgspec

from reelbench.base.errors import ReelbenchError
from reelbench.models.base import AudioPart, ImagePart, Request, Response, VideoPart
from reelbench.models.calls import Caller, CallOutcome
from reelbench.models.card import Card
from reelbench.models.secrets import redacted, remember_secret
from reelbench.models.server import ModelServer
from reelbench.models.tokens import request_tokens


class RemoteModel(ABC):
    """A model behind a server; subclasses implement the API of a provider."""

    is_random = False
    endpoint: ClassVar[str]  # the URL of the provider's server
    endpoint_variable: ClassVar[str] = ""  # the environment variable that may name another URL
    key_variable: ClassVar[str]
    usual: ClassVar[Mapping[str, Any]] = {}  # default parameters; null in a card removes one

    def __init__(self, card: Card) -> None:
        elsewhere = os.environ.get(self.endpoint_variable, "") if self.endpoint_variable else ""
        if card.serve:  # its own server, wherever that will be
            elsewhere = "http://localhost/v1"
        endpoint = card.endpoint or elsewhere or self.endpoint
        if not endpoint.startswith(("http://", "https://")):
            raise ReelbenchError(
                f"The endpoint of {card.name} is {endpoint!r}: write a URL that begins with "
                "http:// or https://."
            )
        # A server that a card names gets the key that the card names, and no other.
        own = card.endpoint or card.serve
        variable = card.key or ("" if own else self.key_variable)
        secret = os.environ.get(variable, "").strip() if variable else ""
        # Forecasts ask no model and need no key: `check_keys` is called before asking.
        lacks = not secret and (card.key or endpoint == self.endpoint)
        message = f"{card.name} needs a key: put it in the environment variable {variable}."
        self.missing_key = message if lacks else ""
        remember_secret(urlsplit(endpoint).password or "")
        chosen = {**self.usual, **card.parameters}
        self.card = card
        self._chosen = {name: value for name, value in chosen.items() if value is not None}
        self._model = card.model or card.name
        self._endpoint = endpoint.rstrip("/")
        self._headers = self.credentials(secret)
        self._caller = Caller(card, secret, self._advice(variable))
        self._refuses_seeds = ""  # what the server said of the first one, where it takes none
        self.server: ModelServer | None = None
        if card.serve:
            self.share(ModelServer(card, self._headers))

    @property
    def parameters(self) -> Mapping[str, Any]:
        """The server's name for the model, and what is sent with each request.

        Not where the server is: the same model at another address gives the same replies.
        """
        return {"model": self._model, **self._chosen}

    def share(self, server: ModelServer) -> None:
        """Use a server that a card starts, and that is ready whenever a call is tried."""
        self.server = server
        self._caller.ready, self._caller.unreached = server.ready, server.unreached

    async def ask(self, request: Request) -> Response:
        """Send a request and return the response."""
        if self._refuses_seeds and request.seed is not None:
            return Response("error", error=self._refuses_seeds, unasked=True)
        if self.server is not None and (fault := await self.server.ready()):
            return Response("error", error=fault, unasked=True)
        tokens = sum(request_tokens(self.card, request)) if self.card.tokens_per_minute else 0
        payload = msgspec.json.encode(await self.payload(request))
        outcome = await self._caller.post(self._address, payload, self._headers, tokens)
        if self.server is not None and outcome.status == "ok":
            self.server.answered()
        if _is_refused_seed(request, outcome):
            advice = "if it takes no seed, write parameters: {seed: null} in the card of"
            self._refuses_seeds = f"{outcome.error}; {advice} {self.card.name}"
            outcome = replace(outcome, error=self._refuses_seeds)
        return self.read(outcome)

    def _address(self) -> str:
        """Where a try goes: a server that was started again may be elsewhere than before."""
        if self.server is not None:
            self._endpoint = self.server.url
        return self.url()

    def read(self, outcome: CallOutcome) -> Response:
        """Return the response in the result of a call."""
        if outcome.status != "ok":
            return Response(outcome.status, error=outcome.error, unasked=outcome.unasked)
        return replace(
            self.read_reply(outcome.data), cached_tokens=self.cached_tokens(outcome.data)
        )

    def _advice(self, variable: str) -> str:
        """Return what to check where the server never answers."""
        places = " or ".join(filter(None, ("endpoint: in its card", self.endpoint_variable)))
        key = f"the key in {variable}" if variable else "whether it needs a key (key: in its card)"
        return (
            f"Check that the server runs and that this is its address ({places})"
            f"{self.usual_path()}; {key}; and its name for the model, {self._model!r}.\n"
        )

    def usual_path(self) -> str:
        """Return how the URL of such a server usually ends, where this one ends differently."""
        return ""

    def stop_retrying(self) -> None:
        """Stop waiting for retries: what would be tried again has failed."""
        self._caller.stop_retrying()
        if self.server is not None:
            self.server.stop_waiting()

    async def close(self) -> None:
        """Close the connections."""
        await self._caller.close()

    @abstractmethod
    def credentials(self, secret: str) -> dict[str, str]:
        """Return the headers that carry the key."""

    @abstractmethod
    def url(self) -> str:
        """Return the URL that requests are sent to."""

    @abstractmethod
    async def payload(self, request: Request) -> Mapping[str, Any]:
        """Return the body of a request in the provider's format."""

    @abstractmethod
    def read_reply(self, data: Mapping[str, Any]) -> Response:
        """Return the response in an answer: a reply, a refusal or an error."""

    @abstractmethod
    def cached_tokens(self, data: Mapping[str, Any]) -> int | None:
        """Return how many tokens of the input the server had in its cache, where it says so."""


def seed_parameter(request: Request) -> dict[str, int]:
    """Return the seed of a request as the parameter of that name; nothing where it has none."""
    return {} if request.seed is None else {"seed": request.seed}


def _is_refused_seed(request: Request, outcome: CallOutcome) -> bool:
    """Whether a server said that it takes no seed."""
    refused = request.seed is not None and outcome.http in (400, 422)
    return refused and re.search(r"\bseed\b", outcome.error, re.IGNORECASE) is not None


def encoded(part: ImagePart | AudioPart | VideoPart) -> str:
    """Return the bytes of a part in base64."""
    return base64.b64encode(part.data).decode()


def count_at(data: Mapping[str, Any], *path: str) -> int | None:
    """Return the count of tokens at a path of names in an answer; None where there is none."""
    found: Any = data
    for name in path:
        found = found.get(name) if isinstance(found, dict) else None
    return token_count(found)


def token_count(*values: Any) -> int | None:
    """Add the counts that a server gave; None where the first is no count."""
    counts = [value for value in values if type(value) is int and value >= 0]
    return sum(counts) if counts and values[0] in counts else None


def no_reply(what: str, data: object) -> Response:
    """Return the response for an answer that is not what the API promises."""
    return Response("error", error=f"the answer is not a {what}: {redacted(str(data))[:200]}")
