"""A trained judge as a model that can be asked: in batches, each different prompt once."""

from collections.abc import Mapping
from typing import Any

import msgspec

from reelbench.base.errors import ReelbenchError
from reelbench.base.extras import install_command
from reelbench.base.files import canonical_json
from reelbench.models.base import Request, Response, TextPart
from reelbench.models.card import Card
from reelbench.models.judge.batched import BatchedModel
from reelbench.models.judge.folder import (
    JudgeFolder,
    base_digest,
    load_tokenizer,
    load_weights,
    read_folder,
)
from reelbench.models.judge.grammar import ReplyPart, reply_parts
from reelbench.models.judge.prompt import PromptTooLongError, prompt_tokens

_PARAMETERS = {"temperature", "device", "base"}
_PLACES = {"device", "base"}  # where it is, which decides no reply: the base model's hash does


class TrainedJudge(BatchedModel):
    """A judge on this machine; its replies always fit the schema that they are asked for in."""

    def __init__(self, card: Card, folder: JudgeFolder) -> None:
        super().__init__(card, schemas=True)
        self.folder = folder
        self.is_random = bool(card.parameters.get("temperature"))
        self._known: dict[str, Response] = {}
        self._digest = folder.digest  # of files, which are read once

    @property
    def parameters(self) -> Mapping[str, Any]:
        """Which weights, and how they are asked; not where, nor how many at a time."""
        own = {name: v for name, v in self.card.parameters.items() if name not in _PLACES}
        return {"model": self.card.model, "judge": self._digest, **own}

    def make_engine(self) -> "JudgeEngine":
        """Load the weights."""
        return JudgeEngine(self.folder, self.card.parameters)

    def _answer(self, requests: list[Request]) -> list[Response]:
        """Answer prompts that are the same once: without a temperature, so are the replies."""
        if self.is_random:
            return super()._answer(requests)
        names = [canonical_json([_text(each), each.schema]) for each in requests]
        new = {name: each for name, each in zip(names, requests, strict=True)
               if name not in self._known}  # fmt: skip
        found = dict(zip(new, super()._answer(list(new.values())), strict=True)) if new else {}
        self._known |= {name: response for name, response in found.items() if response.replied}
        return [found.get(name) or self._known[name] for name in names]


class JudgeEngine:
    """The weights, the tokenizer, and the grammars of the schemas that were asked for."""

    def __init__(self, folder: JudgeFolder, parameters: Mapping[str, Any]) -> None:
        from reelbench.models.judge.decode import Decoder

        self._folder = folder
        self._temperature = float(parameters.get("temperature") or 0.0)
        self._tokenizer = load_tokenizer(folder)
        weights = load_weights(folder, str(parameters.get("device") or ""))
        self._decoder = Decoder(weights, self._tokenizer)
        self._grammars: dict[str, Any] = {}

    def generate(self, requests: list[Request]) -> list[Response]:
        """Return the replies to requests, all of them valid."""
        found: dict[int, Response] = {}
        asked: list[tuple[int, list[int], Any]] = []
        for place, request in enumerate(requests):
            try:
                tokens = prompt_tokens(self._tokenizer, _text(request), self._folder)
                asked.append((place, tokens, self._grammar(request)))
            except ReelbenchError as error:
                found[place] = Response("error", error=str(error))
        replies = self._decoder.write(
            [tokens for _, tokens, _ in asked],
            [grammar for _, _, grammar in asked],
            self._temperature,
            [requests[place].key for place, _, _ in asked],
        ) if asked else []  # fmt: skip
        for (place, tokens, _), reply in zip(asked, replies, strict=True):
            found[place] = Response("ok", reply.text, None, len(tokens), reply.tokens)
        return [found[place] for place in range(len(requests))]

    def _grammar(self, request: Request) -> Any:
        schema = request.schema or self._folder.schema
        if not schema:
            raise PromptTooLongError(
                "this judge writes JSON alone, and neither the request nor its folder has a schema"
            )
        name = canonical_json(schema)
        if name not in self._grammars:
            parts: list[ReplyPart] = reply_parts(schema)
            self._grammars[name] = self._decoder.grammar(parts, self._folder.reason_tokens)
        return self._grammars[name]


def _text(request: Request) -> str:
    """What is asked; a judge that writes valid JSON is never asked to repair it."""
    return "\n\n".join(part.text for part in request.parts if isinstance(part, TextPart))


def load(card: Card) -> TrainedJudge:
    """Return the judge of a card; its weights are loaded later."""
    for package in ("torch", "transformers", "peft"):
        try:
            __import__(package)
        except ImportError as error:
            raise ReelbenchError(
                f"{card.name} needs PyTorch, transformers and peft ({package} is missing): "
                f"{install_command('train')}"
            ) from error
    if unknown := set(card.parameters) - _PARAMETERS:
        raise ReelbenchError(
            f"{card.name}: a trained judge has no parameter {', '.join(sorted(unknown))}; it has "
            f"{', '.join(sorted(_PARAMETERS))}."
        )
    folder = read_folder(card.model)
    if base := card.parameters.get("base"):  # the base model was moved
        folder = msgspec.structs.replace(folder, base=str(base))
    if not folder.adapter:
        folder = msgspec.structs.replace(folder, base_digest=base_digest(folder.base))
    return TrainedJudge(card, folder)
