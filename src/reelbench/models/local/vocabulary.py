"""The vocabulary of a tokenizer as bytes, for the library that constrains replies to a schema."""

from collections.abc import Sequence
from typing import Any

import llguidance
from llguidance import hf

_SAMPLES = ("1", "a", "{", "0", "x")  # one of them is a token of almost any tokenizer
_LOST = "\ufffd"  # a character of which a token holds a part alone


def read_vocabulary(tokenizer: Any, ends: Sequence[int]) -> llguidance.LLTokenizer:
    """Return the vocabulary of a tokenizer, in which ``ends`` are the tokens that end a reply.

    The library reads byte-level and byte-fallback vocabularies itself; of other tokenizers, each
    token is what it adds to the text before it.
    """
    try:
        return hf.from_tokenizer(tokenizer, eos_token=list(ends))
    except Exception:  # of a tokenizer that it does not know
        vocabulary = llguidance.TokenizerWrapper(_DecodedVocabulary(tokenizer, ends))
        return llguidance.LLTokenizer(vocabulary, eos_token=list(ends))


class _DecodedVocabulary:
    """What the library takes for a tokenizer: the bytes of each token, empty where it has none."""

    def __init__(self, tokenizer: Any, ends: Sequence[int]) -> None:
        special = {*tokenizer.all_special_ids, *ends}
        self.eos_token_id, self.bos_token_id = ends[0], None
        self.special_token_ids = sorted(special)
        before = _plain_token(tokenizer)
        start = _decoded(tokenizer, [before])
        self.tokens = [
            f"<special {token}>".encode()
            if token in special
            else _added(start, _decoded(tokenizer, [before, token]))
            for token in range(max(len(tokenizer), *(end + 1 for end in ends)))
        ]

        self._named = {
            name: token for token, name in enumerate(self.tokens) if token not in special
        }
        self._longest = max(map(len, self._named))

    def __call__(self, text: bytes) -> list[int]:
        """Return the tokens of what must come next, the longest that fits at each place."""
        found: list[int] = []
        place = 0
        while place < len(text):
            ends = range(min(len(text), place + self._longest), place, -1)
            end = next((end for end in ends if text[place:end] in self._named), None)
            if end is None:
                break  # it has no token for this character
            found.append(self._named[text[place:end]])
            place = end
        return found


def _plain_token(tokenizer: Any) -> int:
    """Return a token behind which others have the text that they have inside of a reply."""
    for sample in _SAMPLES:
        tokens = tokenizer.encode(sample, add_special_tokens=False)
        if tokens and _decoded(tokenizer, tokens[-1:] * 2).strip() == sample * 2:
            return int(tokens[-1])
    raise ValueError("its tokenizer does not spell out even single characters")


def _decoded(tokenizer: Any, tokens: list[int]) -> str:
    return str(tokenizer.decode(tokens, clean_up_tokenization_spaces=False))


def _added(start: str, text: str) -> bytes:
    return text[len(start) :].encode() if text.startswith(start) and _LOST not in text else b""
