"""Conversations as the text that a model was trained on, whatever its chat template can do."""

from collections.abc import Mapping, Sequence
from typing import Any

from jinja2.exceptions import TemplateError

Turn = Mapping[str, Any]  # a role, and its content: text, or parts


def chat_text(processor: Any, turns: Sequence[Turn]) -> str:
    """Return turns in a model's chat template, ready for the reply.

    Instructions of a system go into the first turn of the user where a template has no place for
    them. A tokenizer without a template, of a model that was trained on plain text alone, gets
    the texts.
    """
    if not has_template(processor) and all(isinstance(turn["content"], str) for turn in turns):
        return "\n\n".join(turn["content"] for turn in turns) + "\n\n"
    try:
        return _templated(processor, turns)
    except TemplateError:
        joined = _without_system(turns)
        if joined == list(turns):
            raise
        return _templated(processor, joined)


def has_template(processor: Any) -> bool:
    """Whether a processor or tokenizer has a chat template."""
    return bool(getattr(processor, "chat_template", None))


def _templated(processor: Any, turns: Sequence[Turn]) -> str:
    text: str = processor.apply_chat_template(
        [dict(turn) for turn in turns], tokenize=False, add_generation_prompt=True
    )
    return text


def _without_system(turns: Sequence[Turn]) -> list[Turn]:
    found: list[Turn] = []
    before: Any = None
    for turn in turns:
        if turn["role"] == "system":
            before = turn["content"] if before is None else _both(before, turn["content"])
        elif turn["role"] == "user" and before is not None:
            found.append({**turn, "content": _both(before, turn["content"])})
            before = None
        else:
            found.append(turn)
    return found if before is None else [*found, {"role": "user", "content": before}]


def _both(first: Any, second: Any) -> Any:
    if isinstance(first, str) and isinstance(second, str):
        return f"{first}\n\n{second}"
    return [*_parts(first), *_parts(second)]


def _parts(content: Any) -> list[Any]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else list(content)
