"""The status of a row of anyone's predictions, by its own word or by what it shows."""

import re
from collections.abc import Mapping
from typing import Any

from reelbench.models.base import STATUSES, Status

# Words of other programs, in any case, beside our own.
_WORDS: Mapping[str, Status] = {
    **{status: status for status in STATUSES},
    "success": "ok", "done": "ok", "completed": "ok", "200": "ok",
    "fail": "error", "failed": "error", "failure": "error", "exception": "error",
    "timed out": "timeout", "timed_out": "timeout",
}  # fmt: skip
KNOWN_STATUSES = f"one of {', '.join(_WORDS)}, or an HTTP code 4xx or 5xx"
_HTTP_ERROR = re.compile("[45][0-9][0-9]")

# What programs write in place of a reply when a call failed, as its beginning.
_FAILED = (
    "Failed to obtain answer", "Fail to obtain answer",  # VLMEvalKit
    "[LMMS_EVAL_REQUEST_FAILED", "[LMMS_EVAL_BUDGET_EXCEEDED",  # lmms-eval
    "invalid_request_error",  # OpenAI's, as TempCompass and others keep it
)  # fmt: skip
_WHY = frozenset({"finishreason", "stopreason", "donereason"})  # columns that say why a reply ended
_LIMITS = frozenset({"length", "max_tokens", "max_output_tokens", "model_length",
                     "model_context_window_exceeded"})  # fmt: skip


def is_failure(text: str) -> bool:
    """Return whether a program wrote this where a call failed, in place of a reply."""
    return text.strip() == "API Error" or text.strip().startswith(_FAILED)


def was_cut(values: Mapping[str, Any]) -> bool:
    """Return whether a column or an envelope says that its reply ended at a limit of tokens."""
    return any(
        _reason(value) in _LIMITS
        for name, value in values.items()
        if "".join(filter(str.isalnum, name.rsplit("/", 1)[-1])).casefold() in _WHY
    )


def _reason(value: Any) -> str:
    """A reason as servers spell it: ``length``, ``FinishReason.MAX_TOKENS``, ``["length"]``."""
    while isinstance(value, list) and len(value) == 1:
        value = value[0]
    return value.rsplit(".", 1)[-1].casefold() if isinstance(value, str) else ""


def status_of(word: Any) -> Status | None:
    """Return the status that a word or an HTTP code means; None for one that is not known."""
    text = str(word).strip().casefold().removesuffix(".0")
    return "error" if _HTTP_ERROR.fullmatch(text) else _WORDS.get(text)


def with_status(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row with the status that it shows: null in place of a reply is a failed call."""
    if "status" in row:  # a word that is not known is left for the check of rows
        return {**row, "status": status_of(row["status"]) or row["status"]}
    reply = row.get("response", "")
    if reply is None and not row.get("parsed"):
        return {**row, "status": "error", "error": row.get("error") or "no reply"}
    if isinstance(reply, str) and is_failure(reply):
        return {**row, "response": None, "status": "error", "error": reply.strip()}
    return {**row, "status": "truncated"} if was_cut(row) else row
