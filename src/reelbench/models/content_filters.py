"""What servers say where their content filter blocks a request, and not the model."""

import re
from collections.abc import Iterator
from typing import Any

from reelbench.base.limits import LimitError, decode_json

# Codes and types of errors, in lower case and without signs between the words.
_BLOCKED = frozenset(
    {
        "contentfilter",  # Azure OpenAI, with the next one inside it
        "responsibleaipolicyviolation",
        "contentpolicyviolation",  # OpenAI
        "datainspectionfailed",  # DashScope
    }
)
_INSIDE = ("innererror", "inner_error", "provider_specific_fields")  # Azure, and it by a proxy
# LiteLLM names its errors before the message, those around them first; their code is "400".
_LITELLM = re.compile(r"(?:litellm\.\w+Error:\s*)*?litellm\.ContentPolicyViolationError\b")
_USAGE_POLICY = re.compile(r"\busage polic(?:y|ies)\b", re.I)
_MOST_BYTES = 20_000  # what is longer is no error


def is_blocked(http: int, body: bytes) -> bool:
    """Whether an answer says that a content filter blocked the request.

    The same request would be blocked again: it is a refusal, and not a call that failed.
    """
    if not 400 <= http < 500 or len(body) > _MOST_BYTES:
        return False
    try:
        data = decode_json(body)
    except (LimitError, ValueError):
        return False
    found = data.get("error", data) if isinstance(data, dict) else None
    return any(map(_is_block, _errors_in(found)))


def _errors_in(found: Any) -> Iterator[dict[str, Any]]:
    """Yield an error and those inside it."""
    waiting = [found]
    while waiting:
        error = waiting.pop()
        if isinstance(error, dict):
            yield error
            waiting += [error.get(field) for field in _INSIDE]


def _is_block(error: dict[str, Any]) -> bool:
    codes = (error.get(field) for field in ("code", "type"))
    words = {str(code).lower().replace("_", "").replace("-", "") for code in codes}
    message = str(error.get("message", ""))
    if "invalidprompt" in words and _USAGE_POLICY.search(message):
        return True  # OpenAI; the code alone may be about the form of a request
    return bool(words & _BLOCKED) or _LITELLM.match(message) is not None
