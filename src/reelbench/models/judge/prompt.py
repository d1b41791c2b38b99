"""The prompt of a judge as tokens, the same in training and in serving.

A prompt that is too long loses a part of its caption, from the side that the judge declares. What
is asked, the reference and the reply are never cut: a prompt that is too long without any caption
is refused.
"""

import re
from typing import Any

from reelbench.base.errors import ReelbenchError
from reelbench.models.judge.folder import JudgeFolder

CUT = "…"  # stands where a caption was cut
_CAPTION = re.compile(r"\{\{\s*caption\s*\}\}")
_SLOT = re.compile(r"\{\{\s*\w+\s*\}\}")


class PromptTooLongError(ReelbenchError):
    """A prompt that does not fit, however short its caption is cut."""


def prompt_tokens(tokenizer: Any, text: str, folder: JudgeFolder) -> list[int]:
    """Return the tokens of a prompt as a chat with one turn, its caption cut where it must be."""
    tokens = _chat(tokenizer, text)
    span = caption_span(text, folder.prompt) if len(tokens) > folder.most_tokens else None
    if span:
        start, end = span
        caption = tokenizer.encode(text[start:end], add_special_tokens=False)
        keep = len(caption) - (len(tokens) - folder.most_tokens)
        while len(tokens) > folder.most_tokens and keep >= 0:
            kept = _kept(tokenizer, caption, keep, folder.truncate)
            tokens = _chat(tokenizer, text[:start] + kept + text[end:])
            keep -= max(1, len(tokens) - folder.most_tokens)
    if len(tokens) > folder.most_tokens:
        raise PromptTooLongError(
            f"a prompt of {len(tokens):,} tokens is longer than the {folder.most_tokens:,} that "
            "this judge takes, and only captions are cut: train it with a larger --most-tokens"
        )
    return tokens


def caption_span(text: str, template: str) -> tuple[int, int] | None:
    """Return where the caption stands in a prompt; None where the prompt is not of the template.

    It is looked for from the end, where a rubric shows what a model replied between tags that a
    reply cannot close: what is found is never more than the caption.
    """
    slot = _CAPTION.search(template)
    if slot is None:
        return None
    before = _SLOT.split(template[: slot.start()])[-1]
    after = _SLOT.split(template[slot.end() :])[0].rstrip() or "\n"
    end = text.rfind(after)
    start = text.rfind(before, 0, end) if end > 0 else -1
    return (start + len(before), end) if start >= 0 else None


def _kept(tokenizer: Any, caption: list[int], keep: int, side: str) -> str:
    if keep <= 0:
        return CUT
    kept = caption[-keep:] if side == "start" else caption[:keep]
    text = str(tokenizer.decode(kept)).strip("\ufffd ")
    return f"{CUT} {text}" if side == "start" else f"{text} {CUT}"


def _chat(tokenizer: Any, text: str) -> list[int]:
    if not tokenizer.chat_template:
        return list(tokenizer.encode(f"{text}\n\n"))
    turn = [{"role": "user", "content": text}]
    found = tokenizer.apply_chat_template(
        turn, tokenize=True, add_generation_prompt=True, return_dict=False, enable_thinking=False
    )
    return list(found)
