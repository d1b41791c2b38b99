"""Write replies that fit a schema, many at a time: a model chooses only where there is a choice.

Each reply walks through the parts of its grammar. At a fixed part the next token is given; at a
choice it is one of those that begin a value; in a free text it is one that a JSON string can hold,
or the one that ends the text, which is forced at the limit. So no reply is invalid or cut off.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from reelbench.base.errors import ReelbenchError
from reelbench.base.seeds import seed_for
from reelbench.models.judge.grammar import UNSAFE, Choice, Fixed, FreeText, ReplyPart, fill_parts

Tokens = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class WrittenReply:
    """A reply, and the number of tokens that it took."""

    text: str
    tokens: int


def encode_part(tokenizer: Any, text: str) -> list[int]:
    """Return the tokens of one part of a reply, the same in training and in serving."""
    return list(tokenizer.encode(text, add_special_tokens=False))


def safe_tokens(tokenizer: Any) -> list[int]:
    """Return the tokens that may stand in a free text."""
    special = {*tokenizer.all_special_ids, *tokenizer.added_tokens_decoder}
    names = list(range(len(tokenizer)))
    texts = tokenizer.batch_decode([[name] for name in names])
    return [
        name
        for name, text in zip(names, texts, strict=True)
        if name not in special
        and text
        and not UNSAFE & set(text)
        and all(sign.isprintable() or sign == "\ufffd" for sign in text)
    ]


class TokenGrammar:
    """The parts of a reply as tokens of one tokenizer."""

    def __init__(
        self, tokenizer: Any, parts: Sequence[ReplyPart], most_text: int, safe: Sequence[int]
    ) -> None:
        self.parts, self.most_text, self.safe = parts, most_text, safe
        self.tokenizer = tokenizer
        fixed = [
            tuple(encode_part(tokenizer, part.text)) if isinstance(part, Fixed) else ()
            for part in parts
        ]
        self.ends = [tokens[:1] for tokens in (*fixed[1:], ())]  # what ends a part that is not
        self.fixed: list[Tokens] = []
        self.values: list[dict[Tokens, Any]] = []
        for number, part in enumerate(parts):
            self.fixed.append(fixed[number][1 if number else 0 :])
            texts = zip(part.texts, part.values, strict=True) if isinstance(part, Choice) else ()
            values = {(*encode_part(tokenizer, text), *self.ends[number]): v for text, v in texts}
            if isinstance(part, Choice) and len(values) < len(part.values):
                raise ReelbenchError(
                    f"The tokenizer of this judge has the same tokens for different values of "
                    f"{'.'.join(part.path)}, so that it cannot tell them apart: name another base "
                    "model."
                )
            self.values.append(values)

    @property
    def opening(self) -> Tokens:
        """What every reply begins with."""
        return self.fixed[0]


@dataclass
class _Writer:
    """One reply under way."""

    grammar: TokenGrammar
    part: int = 1
    written: list[int] = field(default_factory=list)  # of the part
    given: list[int] = field(default_factory=list)  # still to come of a fixed part
    found: dict[tuple[str, ...], Any] = field(default_factory=dict)
    tokens: int = 0

    @property
    def done(self) -> bool:
        return self.part >= len(self.grammar.parts) and not self.given

    def allowed(self) -> tuple[str, Tokens]:
        """Return which tokens may come: the given one, some, or all that are safe and some."""
        if self.given or self.done:
            return "some", tuple(self.given[:1])
        grammar, number = self.grammar, self.part
        if isinstance(grammar.parts[number], FreeText):
            if len(self.written) >= grammar.most_text:
                return "some", grammar.ends[number]
            return "text", grammar.ends[number] if self.written else ()
        begun = tuple(self.written)
        place = len(begun)
        following = {t[place] for t in grammar.values[number] if t[:place] == begun}
        return "some", tuple(sorted(following))

    def take(self, token: int) -> None:
        """Go on by one token."""
        if self.done:
            return
        self.tokens += 1
        if self.given:
            self.given.pop(0)
            return
        part, number = self.grammar.parts[self.part], self.part
        if isinstance(part, FreeText) and token in self.grammar.ends[number]:
            self.found[part.path] = self.grammar.tokenizer.decode(self.written)
            self._next()
            return
        self.written.append(token)
        values = self.grammar.values[number]
        if isinstance(part, Choice) and tuple(self.written) in values:
            self.found[part.path] = values[tuple(self.written)]
            self._next()

    def _next(self) -> None:
        """Come to the part after the fixed one that follows, whose first token was just taken."""
        self.given = list(self.grammar.fixed[self.part + 1])
        self.part += 2
        self.written = []


class Decoder:
    """Writes replies with a model."""

    def __init__(self, model: Any, tokenizer: Any) -> None:
        import torch

        self._torch, self._model, self._tokenizer = torch, model, tokenizer
        self._device = model.device
        self._vocabulary = int(model.get_output_embeddings().weight.shape[0])
        self._masks: dict[tuple[str, Tokens], Any] = {}
        self._safe: list[int] | None = None

    def grammar(self, parts: Sequence[ReplyPart], most_text: int) -> TokenGrammar:
        """Return the grammar of replies with these parts."""
        if self._safe is None:
            self._safe = safe_tokens(self._tokenizer)
        return TokenGrammar(self._tokenizer, parts, most_text, self._safe)

    def write(
        self,
        prompts: Sequence[Sequence[int]],
        grammars: Sequence[TokenGrammar],
        temperature: float = 0.0,
        seeds: Sequence[object] = (),
    ) -> list[WrittenReply]:
        """Return the replies to prompts; drawn at random if there is a temperature."""
        torch = self._torch
        writers = [_Writer(grammar, tokens=len(grammar.opening)) for grammar in grammars]
        rows = [[*p, *g.opening] for p, g in zip(prompts, grammars, strict=True)]
        tokens, attention = self._padded(rows)
        positions = (attention.cumsum(1) - 1).clamp(min=0)
        noise = [_generator(torch, seed) for seed in seeds] if temperature else []
        past = None
        with torch.inference_mode():
            while not all(writer.done for writer in writers):
                made = self._model(
                    input_ids=tokens,
                    attention_mask=attention,
                    position_ids=positions,
                    past_key_values=past,
                    use_cache=True,
                    logits_to_keep=1,
                )
                past = made.past_key_values
                logits = made.logits[:, -1].float().nan_to_num()  # broken weights end, too
                if temperature:
                    drawn = [_gumbel(torch, each, logits.shape[1]) for each in noise]
                    logits = logits / temperature + torch.stack(drawn).to(logits.device)
                masks = torch.stack([self._mask(writer) for writer in writers])
                chosen = (logits + masks).argmax(1)
                for writer, token in zip(writers, chosen.tolist(), strict=True):
                    writer.take(token)
                tokens = chosen[:, None]
                attention = torch.cat([attention, torch.ones_like(tokens)], 1)
                positions = positions[:, -1:] + 1
        return [
            WrittenReply(fill_parts(writer.grammar.parts, writer.found), writer.tokens)
            for writer in writers
        ]

    def _padded(self, rows: Sequence[Sequence[int]]) -> tuple[Any, Any]:
        torch = self._torch
        most = max(map(len, rows))
        pad = self._tokenizer.pad_token_id or 0
        tokens = torch.tensor([[pad] * (most - len(row)) + list(row) for row in rows])
        shown = torch.tensor([[0] * (most - len(row)) + [1] * len(row) for row in rows])
        return tokens.to(self._device), shown.to(self._device)

    def _mask(self, writer: _Writer) -> Any:
        """Nought for what may come, and less than any logit for what may not."""
        kind, some = writer.allowed()
        if (kind, some) not in self._masks:
            mask = self._torch.full((self._vocabulary,), float("-inf"))
            mask[list(some)] = 0.0
            if kind == "text":
                mask[list(writer.grammar.safe)] = 0.0
            elif not some:  # it is done: whatever comes is not read
                mask[:] = 0.0
            self._masks[kind, some] = mask.to(self._device)
        return self._masks[kind, some]


def _generator(torch: Any, seed: object) -> Any:
    return torch.Generator().manual_seed(seed_for("judge", seed) >> 1)


def _gumbel(torch: Any, generator: Any, size: int) -> Any:
    uniform = torch.rand(size, generator=generator).clamp(1e-20, 1 - 1e-7)
    return -torch.log(-torch.log(uniform))
