"""What all models behind a server share: a key, parameters, patience and a pace."""

import base64
import os
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar
from urllib.parse import urlsplit

import msgspec

from reelbench.base.errors import ReelbenchError
from reelbench.models.base import AudioPart, ImagePart, Request, Response, VideoPart
from reelbench.models.calls import Caller, CallOutcome
from reelbench.models.card import Card
from reelbench.models.secrets import redacted, remember_secret
from reelbench.models.tokens import request_tokens


class RemoteModel(ABC):
    """A model behind an endpoint. Those who speak its language fill in the rest."""

    is_random = False
    endpoint: ClassVar[str]  # where its provider's server is
    endpoint_variable: ClassVar[str] = ""  # which may say that it is elsewhere
    key_variable: ClassVar[str]
    usual: ClassVar[Mapping[str, Any]] = {}  # parameters that a card does not say; null leaves out

    def __init__(self, card: Card) -> None:
        elsewhere = os.environ.get(self.endpoint_variable, "") if self.endpoint_variable else ""
        endpoint = card.endpoint or elsewhere or self.endpoint
        if not endpoint.startswith(("http://", "https://")):
            raise ReelbenchError(f"The endpoint of {card.name} is {endpoint!r}: write an URL.")
        # A server that a card names gets the key that the card names, and no other.
        variable = card.key or ("" if card.endpoint else self.key_variable)
        secret = os.environ.get(variable, "").strip() if variable else ""
        # Forecasts ask nobody and need no key: who is about to ask calls `check_keys`.
        lacks = not secret and (card.key or endpoint == self.endpoint)
        message = f"{card.name} needs a key: put it in the variable {variable}."
        self.missing_key = message if lacks else ""
        remember_secret(urlsplit(endpoint).password or "")
        chosen = {**self.usual, **card.parameters}
        self.card = card
        self._chosen = {name: value for name, value in chosen.items() if value is not None}
        self._model = card.model or card.name
        self._endpoint = endpoint.rstrip("/")
        self._headers = self.credentials(secret)
        self._caller = Caller(card, secret, self._advice(variable))

    @property
    def parameters(self) -> Mapping[str, Any]:
        """The server's name for the model, and what is sent with each request.

        Not where the server is: the same model at another address gives the same replies.
        """
        return {"model": self._model, **self._chosen}

    async def ask(self, request: Request) -> Response:
        """Send the messages, and read the reply."""
        tokens = sum(request_tokens(self.card, request)) if self.card.tokens_per_minute else 0
        payload = msgspec.json.encode(await self.payload(request))
        outcome = await self._caller.post(self.url(), payload, self._headers, tokens)
        return self.read(outcome)

    def read(self, outcome: CallOutcome) -> Response:
        """Turn what came into a response."""
        if outcome.status != "ok":
            return Response(outcome.status, error=outcome.error, unasked=outcome.unasked)
        return self.read_reply(outcome.data)

    def _advice(self, variable: str) -> str:
        """Say what to check where the server never answers."""
        places = " or ".join(filter(None, ("endpoint: in its card", self.endpoint_variable)))
        key = f"the key in {variable}" if variable else "whether it wants a key (key: in its card)"
        return (
            f"Check that the server runs and that this is its address ({places})"
            f"{self.usual_path()}; {key}; and its name for the model, {self._model!r}.\n"
        )

    def usual_path(self) -> str:
        """Say how the address of such a server usually ends, where this one ends otherwise."""
        return ""

    def stop_retrying(self) -> None:
        """Wait for nothing any more: what would have to be tried again has failed."""
        self._caller.stop_retrying()

    async def close(self) -> None:
        """Hang up."""
        await self._caller.close()

    @abstractmethod
    def credentials(self, secret: str) -> dict[str, str]:
        """Return the headers that say who asks."""

    @abstractmethod
    def url(self) -> str:
        """Return where a request is sent to."""

    @abstractmethod
    async def payload(self, request: Request) -> Mapping[str, Any]:
        """Return a request as the provider wants it."""

    @abstractmethod
    def read_reply(self, data: Mapping[str, Any]) -> Response:
        """Read a reply, a refusal, or something that is neither."""


def encoded(part: ImagePart | AudioPart | VideoPart) -> str:
    """Return the bytes of a part in base64."""
    return base64.b64encode(part.data).decode()


def token_count(*values: Any) -> int | None:
    """Add the counts that a server gave; None where the first is no count."""
    counts = [value for value in values if type(value) is int and value >= 0]
    return sum(counts) if counts and values[0] in counts else None


def no_reply(what: str, data: object) -> Response:
    """Say that a server's answer is not what it should be."""
    return Response("error", error=f"an answer that is no {what}: {redacted(str(data))[:200]}")
