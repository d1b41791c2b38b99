"""What a content filter blocks is a refusal, by whatever words a server says it."""

import asyncio
import json
from typing import Any

import pytest
from servers import serving

from reelbench.models.base import Message, Request, Response, TextPart
from reelbench.models.card import Card
from reelbench.models.openai import OpenAIModel

REQUEST = Request(
    "k" * 64, (Message("user", (TextPart("Which?"),)),), "single", "Which?", ("a", "b")
)


def asked(url: str) -> Response:
    model = OpenAIModel(Card(name="m", endpoint=url, retries=2, backoff=0.001))

    async def once() -> Response:
        try:
            return await model.ask(REQUEST)
        finally:
            await model.close()

    return asyncio.run(once())


AZURE = (
    {"message": "The response was filtered", "type": None, "param": "prompt", "code": "content_filter",
     "status": 400, "innererror": {"code": "ResponsibleAIPolicyViolation"}}
)  # fmt: skip

# A proxy repeats what it calls the error, and puts that of the server beside it.
LITELLM = (
    {"message": "litellm.BadRequestError: litellm.ContentPolicyViolationError: "
     "litellm.ContentPolicyViolationError: AzureException - The response was filtered",
     "type": None, "param": None, "code": "400"}
)  # fmt: skip
FLAGGED = "Invalid prompt: your prompt was flagged as potentially violating our usage policy."


@pytest.mark.parametrize(("status", "error"), [
    (400, AZURE),
    (400, LITELLM),
    (400, {"message": "m", "code": "400",
           "provider_specific_fields": {"innererror": {"code": "ResponsibleAIPolicyViolation"}}}),
    (400, {"message": FLAGGED, "type": "invalid_request_error", "code": "invalid_prompt"}),
    (400, {"message": "This is against our Usage Policies", "code": "invalid_prompt"}),
    (400, {"message": "m", "innererror": {"code": "ResponsibleAIPolicyViolation"}}),
    (400, {"message": "rejected by our safety system", "code": "content_policy_violation"}),
    (400, {"code": "data_inspection_failed", "type": "data_inspection_failed", "message": "m"}),
    (400, {"message": "litellm.ContentPolicyViolationError: AzureException", "code": "400"}),
    (403, {"message": "m", "code": "content_policy_violation"}),
])  # fmt: skip
def test_what_a_content_filter_blocks_is_refused_and_not_tried_again(
    status: int, error: dict[str, Any]
) -> None:
    body = json.dumps({"error": error}).encode()
    with serving(lambda *_: (status, {}, body)) as server:
        response = asked(server.url)
    assert (response.status, response.text, len(server.requests)) == ("refused", None, 1)
    assert (response.error or "").startswith(f"HTTP {status}: ")


@pytest.mark.parametrize(("status", "body"), [
    (400, b'{"error": {"code": "invalid_request_error", "message": "no content_filter here"}}'),
    (400, b'{"error": {"code": "invalid_prompt", "message": "Invalid prompt: no messages"}}'),
    (400, b'{"error": {"code": "invalid_value", "message": "see our usage policy"}}'),
    (400, b'{"error": {"message": "litellm.BadRequestError: OpenAIException - no such size"}}'),
    (400, b'{"error": {"message": "litellm.BadRequestError: see '
          b'litellm.ContentPolicyViolationError: of late"}}'),
    (400, b'{"error": {"provider_specific_fields": "content_filter"}}'),
    (400, b'{"error": "content_filter"}'),
    (400, b'["content_filter"]'),
    (400, b"content_filter"),
    (401, b'{"error": {"code": 401}}'),
    (503, b'{"error": {"code": "content_filter"}}'),
])  # fmt: skip
def test_other_errors_are_no_refusals(status: int, body: bytes) -> None:
    with serving(lambda *_: (status, {}, body)) as server:
        assert asked(server.url).status == "error"
