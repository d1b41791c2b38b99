"""Anthropic's messages: what is sent, what comes back, and what is refused before anything is sent."""

import asyncio
import base64
from pathlib import Path
from typing import Any

import pytest
from servers import Reply, anthropic_message, hosting, json_reply, without_waiting

from reelbench.base.errors import ReelbenchError
from reelbench.models.base import ImagePart, Message, Request, Response, TextPart
from reelbench.models.load import load_model

SECRET = "sk-ant-never-to-be-seen-1234567890"
PARTS = (TextPart("0.5 s"), ImagePart(b"\xff\xd8jpeg", "image/jpeg", 0.5), TextPart("Which?"))
REQUEST = Request("k" * 64, (Message("user", PARTS),), "single", "Which?", ("a", "b"))
BUSY = json_reply({"type": "error", "error": {"type": "rate_limit_error", "message": "slow"}}, 429)


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", SECRET)
    monkeypatch.delenv("ANTHROPIC_BASE_URL", raising=False)


@pytest.fixture
def ask(tmp_path: Path) -> Any:
    """Ask a model of a card at this address."""

    def asked(url: str, request: Request = REQUEST, more: str = "") -> Response:
        path = tmp_path / "card.yaml"
        path.write_text(
            f"name: m\nbackend: anthropic\nmodel: claude-x\nendpoint: {url}\n"
            f"key: ANTHROPIC_API_KEY\nretries: 3\nbackoff: 0.001\n{more}"
        )

        async def once() -> Response:
            model = load_model(str(path))
            try:
                return await model.ask(request)
            finally:
                await model.close()

        return asyncio.run(once())

    return asked


class TestWhatIsSent:
    def test_to_where_and_by_whom(self, ask: Any) -> None:
        with hosting(lambda _: anthropic_message("B")) as server:
            assert ask(server.url).text == "B"
        (call,) = server.calls
        assert (call.method, call.path) == ("POST", "/v1/messages")
        assert call.headers["x-api-key"] == SECRET
        assert call.headers["anthropic-version"] == "2023-06-01"
        assert call.headers["content-type"] == "application/json"
        assert "authorization" not in call.headers

    def test_messages(self, ask: Any) -> None:
        """The published format wants max_tokens; newer models refuse a temperature."""
        with hosting(lambda _: anthropic_message("B")) as server:
            ask(server.url)
        data = base64.b64encode(b"\xff\xd8jpeg").decode()
        assert server.requests == [{
            "model": "claude-x",
            "max_tokens": 4096,
            "messages": [{"role": "user", "content": [
                {"type": "text", "text": "0.5 s"},
                {"type": "image", "source": {"type": "base64", "media_type": "image/jpeg", "data": data}},
                {"type": "text", "text": "Which?"},
            ]}],
        }]  # fmt: skip

    def test_what_the_system_says_stands_apart(self, ask: Any) -> None:
        said = (
            Message("system", (TextPart("Be brief."),)),
            Message("user", (TextPart("Which?"),)),
            Message("assistant", (TextPart("C"),)),
            Message("user", (TextPart("Sure?"),)),
        )
        with hosting(lambda _: anthropic_message("B")) as server:
            ask(server.url, Request("k", said, "open", ""))
        (body,) = server.requests
        assert body["system"] == [{"type": "text", "text": "Be brief."}]
        assert [message["role"] for message in body["messages"]] == ["user", "assistant", "user"]

    def test_parameters_of_a_card(self, ask: Any) -> None:
        with hosting(lambda _: anthropic_message("B")) as server:
            ask(server.url, more="parameters: {max_tokens: 9, temperature: 0.5}\n")
        assert server.requests[0]["max_tokens"] == 9
        assert server.requests[0]["temperature"] == 0.5

    def test_a_schema_beside_other_wishes_about_the_output(self, ask: Any) -> None:
        schema = {"type": "object", "properties": {"score": {"type": "integer"}}}
        request = Request("k", (Message("user", (TextPart("?"),)),), "open", "", schema=schema)
        with hosting(lambda _: anthropic_message("{}")) as server:
            ask(server.url, request, "parameters: {output_config: {effort: low}}\n")
        shape = {"type": "json_schema", "schema": schema}
        assert server.requests[0]["output_config"] == {"effort": "low", "format": shape}


THINKING = {"type": "thinking", "thinking": "It could be C.", "signature": "EqQB"}
REDACTED = {"type": "redacted_thinking", "data": "EmwK"}
CACHED = {"input_tokens": 100, "cache_creation_input_tokens": 20, "cache_read_input_tokens": 5,
          "output_tokens": 3}  # fmt: skip
BLOCKED = {"type": "refusal", "category": "cyber", "explanation": "Not this."}


@pytest.mark.parametrize(("reply", "response"), [
    (anthropic_message(THINKING, REDACTED, "B"), Response("ok", "B", None, 100, 3)),
    (anthropic_message("A or", " B"), Response("ok", "A or B", None, 100, 3)),
    (anthropic_message("A", stop_reason="max_tokens"), Response("truncated", "A", "cut off at the limit of tokens", 100, 3)),
    (anthropic_message("A", stop_reason="model_context_window_exceeded"), Response("truncated", "A", "cut off at the limit of tokens", 100, 3)),
    (anthropic_message(THINKING, stop_reason="max_tokens"), Response("truncated", "", "cut off at the limit of tokens", 100, 3)),
    (anthropic_message(), Response("ok", "", None, 100, 3)),
    (anthropic_message("B", usage=CACHED), Response("ok", "B", None, 125, 3, cached_tokens=5)),
    (anthropic_message("B", usage={**CACHED, "cache_read_input_tokens": None}), Response("ok", "B", None, 120, 3)),
    (anthropic_message("B", usage=None), Response("ok", "B")),
    (anthropic_message(stop_reason="refusal", stop_details=BLOCKED), Response("refused", None, "Not this.", 100, 3)),
    (anthropic_message("I", stop_reason="refusal", stop_details=None), Response("refused", None, "refused by the model", 100, 3)),
])  # fmt: skip
def test_replies(reply: Reply, response: Response, ask: Any) -> None:
    with hosting(lambda _: reply) as server:
        assert ask(server.url) == response


@pytest.mark.parametrize("body", [
    {},
    {"type": "error", "error": {"type": "overloaded_error", "message": "later"}},
    {"content": None},
    {"content": [{"type": "text"}]},
    {"content": [{"type": "text", "text": 7}]},
    {"content": ["B"]},
    {"choices": [{"message": {"content": "B"}}]},
])  # fmt: skip
def test_json_that_is_no_message(body: Any, ask: Any) -> None:
    with hosting(lambda _: json_reply(body)) as server:
        response = ask(server.url)
    assert (response.status, response.text) == ("error", None)
    assert "the answer is not a message" in response.error


class TestPatience:
    @pytest.mark.parametrize("status", [429, 500, 529])
    def test_a_fault_that_passes(self, status: int, ask: Any) -> None:
        overloaded = json_reply({"type": "error"}, status, retry_after="0.01")
        with hosting(
            lambda call: overloaded if call.number < 2 else anthropic_message("B")
        ) as server:
            assert ask(server.url).text == "B"
        assert len(server.calls) == 3

    def test_the_wish_of_the_server(self, ask: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        pauses = without_waiting(monkeypatch)
        busy = json_reply({"type": "error"}, 529, retry_after="17")
        with hosting(lambda call: anthropic_message("B") if call.number else busy) as server:
            assert ask(server.url).status == "ok"
        assert pauses == [pytest.approx(17, abs=1)]

    def test_a_fault_that_stays(self, ask: Any) -> None:
        with hosting(lambda _: BUSY) as server:
            response = ask(server.url)
        assert response.status == "error"
        assert "HTTP 429" in response.error
        assert len(server.calls) == 3 + 1

    def test_a_request_that_is_wrong_is_not_sent_again(self, ask: Any) -> None:
        with hosting(lambda _: json_reply({"type": "error"}, 400)) as server:
            assert ask(server.url).status == "error"
        assert len(server.calls) == 1


class TestKeys:
    @pytest.mark.parametrize("status", [200, 401, 429])
    def test_they_are_in_no_error(self, status: int, ask: Any) -> None:
        with hosting(lambda _: json_reply({"seen": f"x-api-key {SECRET}"}, status)) as server:
            response = ask(server.url)
        assert response.status == "error"
        assert "x-api-key ***" in response.error
        assert SECRET not in str(response)

    def test_none_where_one_is_needed(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delenv("ANTHROPIC_API_KEY")
        with pytest.raises(
            ReelbenchError, match="put it in the environment variable ANTHROPIC_API_KEY"
        ):
            load_model("anthropic:claude-opus-4-5")

    def test_a_gateway_named_in_the_environment(self, monkeypatch: pytest.MonkeyPatch) -> None:
        async def once() -> Response:
            model = load_model("anthropic:claude-y")
            try:
                return await model.ask(REQUEST)
            finally:
                await model.close()

        with hosting(lambda _: anthropic_message("B")) as server:
            monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
            assert asyncio.run(once()).status == "ok"
        assert server.paths() == ["POST /v1/messages"]
        assert server.requests[0]["model"] == "claude-y"
        assert server.calls[0].headers["x-api-key"] == SECRET


@pytest.mark.parametrize("line", ["hears: true", "video: clip", "video: file"])
def test_a_card_that_promises_too_much(line: str, ask: Any) -> None:
    with pytest.raises(ReelbenchError, match="take pictures, neither sound nor video"):
        ask("http://127.0.0.1:9", more=line + "\n")
