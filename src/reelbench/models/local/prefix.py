"""Requests about the same media as tokens: those they share, computed once, and those of each.

A chat template and a processor turn one request into tokens in which each frame has become
hundreds. Those of another request about the same media are the same up to the last token of the
media, and differ in the text behind it, so that text alone is tokenised for the others. Where that
cannot be shown to be what the processor would have made, there is no sharing.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from reelbench.models.base import Request
from reelbench.models.local.inputs import decoded, processed, prompt_text, token_ids
from reelbench.models.local.weights import LoadedModel

# Architectures whose replies with shared tokens are the same as without, in float32: tests-models
# proves it for each. Others are asked without sharing.
PROVEN = frozenset(
    {
        *("aya_vision", "gemma3", "glm4v", "idefics3", "internvl", "llava", "llava_next"),
        *("llava_next_video", "llava_onevision", "mistral3", "qwen2_5_omni_thinker"),
        *("qwen2_5_vl", "qwen2_audio", "qwen2_vl", "qwen3_omni_moe_thinker", "qwen3_vl"),
        *("qwen3_vl_moe", "video_llava"),
    }
)

_PER_TOKEN = ("input_ids", "attention_mask", "token_type_ids", "mm_token_type_ids")


@dataclass(frozen=True, slots=True)
class TokenGroup:
    """Requests with the tokens that they share, and the media that those stand for."""

    requests: Sequence[Request]
    shared: Sequence[int]
    own: Sequence[Sequence[int]]  # the tokens of each request behind the shared ones
    inputs: Mapping[str, Any] = field(default_factory=dict)  # of the model, for the shared tokens

    def only(self, places: Sequence[int]) -> "TokenGroup":
        """Return the group of some of its requests."""
        requests = [self.requests[place] for place in places]
        return replace(self, requests=requests, own=[self.own[place] for place in places])

    def with_inputs(self, inputs: Mapping[str, Any]) -> "TokenGroup":
        """Return the group with other tensors of its media."""
        return replace(self, inputs=inputs)


def is_proven(loaded: LoadedModel) -> bool:
    """Whether replies of this architecture are proven to be the same with shared tokens."""
    return loaded.is_text or loaded.architecture in PROVEN


def token_group(loaded: LoadedModel, requests: Sequence[Request]) -> TokenGroup | None:
    """Return requests about the same media as tokens; None where they cannot share any."""
    texts = [prompt_text(loaded, request) for request in requests]
    if loaded.is_text or not any(map(_shows, requests)):
        return TokenGroup(requests, [], token_ids(loaded, texts))
    found = processed(loaded, texts[:1], [decoded(loaded, requests[0])])
    whole = found["input_ids"][0].tolist()
    plain = token_ids(loaded, texts)
    end = _with_closing(loaded, plain, min(_end_of_media(loaded, tokens) for tokens in plain))
    own = [tokens[end:] for tokens in plain]
    split = len(whole) - len(own[0])
    if (
        not end
        or whole[split:] != own[0]
        or any(tokens[:end] != plain[0][:end] for tokens in plain)
        or not all(own)
        or any(token in loaded.placeholders for tokens in own for token in tokens)
    ):
        return None
    inputs = {
        name: value[:, :split] if name in _PER_TOKEN else value
        for name, value in found.items()
        if name not in ("input_ids", "attention_mask")
    }
    return TokenGroup(requests, whole[:split], own, inputs)


def _shows(request: Request) -> bool:
    return any(part for part in request.parts if not hasattr(part, "text"))


def _end_of_media(loaded: LoadedModel, tokens: Sequence[int]) -> int:
    """Return the place behind the last token that stands for media; 0 where there is none."""
    return max((n + 1 for n, each in enumerate(tokens) if each in loaded.placeholders), default=0)


def _with_closing(loaded: LoadedModel, rows: Sequence[Sequence[int]], end: int) -> int:
    """Return the place behind the special tokens that close media: some positions count them."""
    closing = set(loaded.tokenizer.all_special_ids) - loaded.placeholders
    while (
        end
        and all(end + 1 < len(row) and row[end] == rows[0][end] for row in rows)
        and rows[0][end] in closing
    ):
        end += 1
    return end
