"""A model behind an endpoint: asked as the published format says, patiently, and never without end."""

import asyncio
import base64
import json
import time
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest
from servers import Call, Reply, completion, hosting, serving, without_waiting
from support import wait_until

from reelbench.base.errors import ReelbenchError
from reelbench.models.base import (
    AudioPart,
    ImagePart,
    Message,
    Part,
    Request,
    Response,
    TextPart,
    VideoPart,
)
from reelbench.models.calls import Gate
from reelbench.models.card import Card
from reelbench.models.load import load_model
from reelbench.models.openai import OpenAIModel

SECRET = "sk-never-to-be-seen-1234567890"
PARTS = (TextPart("0.5 s"), ImagePart(b"\xff\xd8jpeg", "image/jpeg", 0.5), TextPart("Which?"))
REQUEST = Request("k" * 64, (Message("user", PARTS),), "single", "Which?", ("a", "b"))


def asked(url: str, count: int = 1, request: Request = REQUEST, **card: Any) -> list[Response]:
    """Ask a model at this address so many times at once."""
    settings = {"name": "m", "endpoint": url, "retries": 3, "backoff": 0.001}
    model = OpenAIModel(Card(**(settings | card)))

    async def all_at_once() -> list[Response]:
        try:
            return await asyncio.gather(*(model.ask(request) for _ in range(count)))
        finally:
            await model.close()

    return asyncio.run(all_at_once())


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)


def test_the_wire_format() -> None:
    with serving(lambda *_: completion("B")) as server:
        card = {"model": "qwen", "key": "OPENAI_API_KEY"}
        (response,) = asked(server.url, **card, parameters={"max_tokens": 9, "top_p": None})
    assert response == Response("ok", "B", input_tokens=100, output_tokens=3)
    (body,) = server.requests
    picture = "data:image/jpeg;base64," + base64.b64encode(b"\xff\xd8jpeg").decode()
    assert body == {
        "model": "qwen",
        "temperature": 0,
        "max_tokens": 9,
        "messages": [{"role": "user", "content": [
            {"type": "text", "text": "0.5 s"},
            {"type": "image_url", "image_url": {"url": picture}},
            {"type": "text", "text": "Which?"},
        ]}],
    }  # fmt: skip
    assert server.headers[0]["Authorization"] == f"Bearer {SECRET}"


DATA = base64.b64encode(b"data").decode()


@pytest.mark.parametrize(("part", "said"), [
    (AudioPart(b"data", "audio/wav", 1.0), {"type": "input_audio", "input_audio": {"data": DATA, "format": "wav"}}),
    (AudioPart(b"data", "audio/mp3", 1.0), {"type": "input_audio", "input_audio": {"data": DATA, "format": "mp3"}}),
    (VideoPart(b"data", "video/mp4", 1.0), {"type": "video_url", "video_url": {"url": f"data:video/mp4;base64,{DATA}"}}),
])  # fmt: skip
def test_sound_and_video(part: Part, said: dict[str, Any]) -> None:
    with serving(lambda *_: completion("B")) as server:
        asked(server.url, request=Request("k", (Message("user", (part,)),), "open", ""))
    assert server.requests[0]["messages"][0]["content"] == [said]


def test_a_schema() -> None:
    schema = {"type": "object", "properties": {"score": {"type": "integer"}}}
    with serving(lambda *_: completion("{}")) as server:
        asked(
            server.url, request=Request("k", (Message("user", PARTS),), "open", "", schema=schema)
        )
    shape = {"name": "reply", "strict": True, "schema": schema}
    assert server.requests[0]["response_format"] == {"type": "json_schema", "json_schema": shape}


def test_a_body_of_some_megabytes() -> None:
    large = Request(
        "k", (Message("user", (VideoPart(bytes(2 * 10**6), "video/mp4", 1.0),)),), "open", ""
    )
    with serving(lambda *_: completion("B")) as server:
        assert asked(server.url, request=large)[0].text == "B"


@pytest.mark.parametrize(("reply", "response"), [
    (completion("A", reason="length"), Response("truncated", "A", "cut off at the limit of tokens", 100, 3)),
    (completion(None, reason="length"), Response("truncated", "", "cut off at the limit of tokens", 100, 3)),
    (completion("The answer is B", reason="error"), Response("error", None, "the server ended the reply (finish_reason error)", 100, 3)),
    (completion("B", reason="abort"), Response("error", None, "the server ended the reply (finish_reason abort)", 100, 3)),
    (completion(None), Response("ok", "", None, 100, 3)),
    (completion("B", reason=None), Response("ok", "B", None, 100, 3)),
    (completion(None, message={"refusal": "I will not."}), Response("refused", None, "I will not.", 100, 3)),
    (completion("", reason="content_filter"), Response("refused", None, "stopped by the server's content filter", 100, 3)),
    (completion([{"type": "text", "text": "B"}]), Response("ok", "B", input_tokens=100, output_tokens=3)),
])  # fmt: skip
def test_replies(reply: Reply, response: Response) -> None:
    with serving(lambda *_: reply) as server:
        assert asked(server.url) == [response]


BUSY: Reply = (429, {}, b'{"error": "slow down"}')


@pytest.mark.parametrize(("fault", "words"), [
    (BUSY, "HTTP 429"),
    ((500, {}, b"<html>oops</html>"), "HTTP 500"),
    ((503, {}, b""), "HTTP 503"),
    ((200, {}, b"<html>a proxy's page</html>"), "not a JSON object"),
    ((200, {}, b'{"choices": [{"mess'), "not a JSON object"),
    ((200, {}, b""), "not a JSON object"),
    ((200, {}, b"[1, 2]"), "not a JSON object"),
    (None, "ClientPayloadError"),
])  # fmt: skip
class TestFaults:
    def test_a_fault_that_passes(self, fault: Reply | None, words: str) -> None:
        with serving(lambda _, n: fault if n < 2 else completion("B")) as server:
            assert asked(server.url)[0].text == "B"
        assert len(server.requests) == 3

    def test_a_fault_that_stays(self, fault: Reply | None, words: str) -> None:
        with serving(lambda *_: fault) as server:
            (response,) = asked(server.url)
        assert response.status == "error"
        assert response.text is None
        assert words in (response.error or "")
        assert len(server.requests) == 3 + 1


@pytest.mark.parametrize("status", [400, 401, 403, 404, 422, 302])
def test_what_no_patience_helps_is_not_tried_again(status: int) -> None:
    with serving(lambda *_: (status, {"Location": "/elsewhere"}, b"no")) as server:
        (response,) = asked(server.url)
    assert response.status == "error"
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    "data",
    [
        b"{}",
        b'{"choices": []}',
        b'{"choices": [{"message": 3}]}',
        b'{"choices": [{"message": {"content": 7}}]}',
    ],
)
def test_json_that_is_no_completion(data: bytes) -> None:
    with serving(lambda *_: (200, {}, data)) as server:
        (response,) = asked(server.url)
    assert response.status == "error"
    assert "the answer is not a " in (response.error or "")


def test_a_server_that_takes_for_ever() -> None:
    with serving(lambda *_: completion("B"), latency=600.0) as server:
        (response,) = asked(server.url, timeout=0.1, retries=1)
    assert response == Response("timeout", error="no answer in 0.1 s")


def test_nobody_there() -> None:
    (response,) = asked("http://127.0.0.1:9/v1", retries=1)
    assert response.status == "error"
    assert "Connect" in (response.error or "")


class TestPatience:
    def waited(self, header: str, monkeypatch: pytest.MonkeyPatch) -> list[float]:
        pauses = without_waiting(monkeypatch)
        busy: Reply = (429, {"Retry-After": header}, b"")
        with serving(lambda _, n: completion("B") if n else busy) as server:
            assert asked(server.url)[0].status == "ok"
        return pauses

    def test_seconds(self, monkeypatch: pytest.MonkeyPatch) -> None:
        assert self.waited("7", monkeypatch) == [pytest.approx(7, abs=1)]

    def test_a_date(self, monkeypatch: pytest.MonkeyPatch) -> None:
        soon = format_datetime(datetime.now(UTC) + timedelta(seconds=90), usegmt=True)
        (pause,) = self.waited(soon, monkeypatch)
        assert 30 < pause <= 90

    @pytest.mark.parametrize("header", ["soon", "nan", "-5", ""])
    def test_nonsense_is_our_own_pace(self, header: str, monkeypatch: pytest.MonkeyPatch) -> None:
        (pause,) = self.waited(header, monkeypatch)
        assert 0 < pause <= 0.001


class TestConnections:
    def test_no_more_than_the_card_says(self) -> None:
        def crowded(*_: Any) -> Reply:
            wait_until(lambda: server.most_inside >= 4)  # however slow this machine is
            return completion("B")

        with serving(crowded, latency=0.02) as server:
            responses = asked(server.url, count=40, connections=4)
        assert {response.status for response in responses} == {"ok"}
        assert server.most_inside == 4

    def test_fewer_after_a_refusal_and_slowly_more_again(self) -> None:
        async def crowd(gate: Gate, answers: int) -> None:
            """So many answers, while as many are inside as can be."""
            for _ in range(answers):
                gate._inside = int(gate.width)
                gate.widen(0.1)

        gate = Gate(64)
        assert gate.width == 8
        asyncio.run(crowd(gate, 8))
        assert gate.width == 16  # twice as many, for as long as all goes well
        for _ in range(16):
            gate.narrow(0)  # all that were under way: one refusal
        assert gate.width == 8
        asyncio.run(crowd(gate, 8))
        assert 8.5 < gate.width < 9.1
        asyncio.run(crowd(gate, 10_000))
        assert gate.width == 64
        for ticket in range(1, 11):
            gate.narrow(ticket)
        assert gate.width == 1

    def test_no_more_where_more_only_wait_for_each_other(self) -> None:
        """A server that works on eight at a time: what comes above that waits in its queue."""
        gate = Gate(1000)
        for _ in range(20_000):
            gate._inside = int(gate.width)
            gate.widen(0.1 * max(1.0, gate.width / 8))
        assert 8 <= gate.width < 100

    def test_few_that_are_under_way_say_nothing_about_more(self) -> None:
        gate = Gate(64)
        gate._inside = 2
        for _ in range(100):
            gate.widen(0.1)
        assert gate.width == 8

    def test_a_busy_server_is_asked_less(self) -> None:
        """It refuses whoever comes while three are inside; in the end all are answered."""
        with serving(lambda *_: completion("B"), latency=0.01) as server:
            server.answer = lambda *_: BUSY if server.inside > 3 else completion("B")
            responses = asked(server.url, count=60, connections=32, retries=12)
        assert {response.status for response in responses} == {"ok"}


class TestRates:
    """So many a minute: 1200 are one in 50 ms."""

    def seconds(self, count: int, busy: int = 0, **card: Any) -> float:
        """From before the first question until the last arrives; so many are refused at first."""
        request = Request("k", (Message("user", (TextPart("word" * 80),)),), "open", "")
        with serving(lambda _, n: BUSY if n < busy else completion("B")) as server:
            began = time.monotonic()
            responses = asked(server.url, count, request, retries=busy, **card)
        assert {response.status for response in responses} == {"ok"}
        assert len(server.calls) == count + busy
        return max(call.when for call in server.calls) - began

    def test_requests(self) -> None:
        assert self.seconds(8, requests_per_minute=1200) > 7 * 0.05 - 0.01

    def test_tokens(self) -> None:
        """Of 80 words and a reply of 20 tokens: 100 a time, 2000 a second."""
        assert self.seconds(8, tokens_per_minute=120_000, reply_tokens=20) > 7 * 0.05 - 0.01

    def test_the_narrower_of_both(self) -> None:
        card = {"requests_per_minute": 1e6, "tokens_per_minute": 120_000, "reply_tokens": 20}
        assert self.seconds(5, **card) > 4 * 0.05 - 0.01

    def test_retries_count_too(self) -> None:
        assert self.seconds(1, busy=5, requests_per_minute=1200) > 5 * 0.05 - 0.01

    def test_who_had_to_wait_for_a_connection_does_not_come_all_at_once(self) -> None:
        """One answer takes as long as all others would have been due; these keep their distance."""

        def slowly(call: Call) -> Reply:
            time.sleep(0 if call.number else 0.3)
            return completion("B")

        with hosting(slowly) as server:
            asked(server.url, count=6, connections=1, requests_per_minute=1200)
        first, *_, last = (call.when for call in server.calls)
        assert last - first > 0.3 + 3 * 0.05  # of four: they are told apart when they are sent


class TestKeys:
    def test_they_are_in_no_error(self) -> None:
        with serving(lambda *_: (401, {}, f"bad key {SECRET}".encode())) as server:
            (response,) = asked(server.url, key="OPENAI_API_KEY")
        assert SECRET not in str(response)
        assert "bad key ***" in (response.error or "")

    def test_nor_is_a_part_of_one_where_an_error_is_cut(self) -> None:
        for before in range(270, 300, 3):
            words = b"x" * before + SECRET.encode() + b"y" * 300
            with serving(lambda *_, words=words: (401, {}, words)) as server:
                (response,) = asked(server.url, key="OPENAI_API_KEY")
            assert SECRET[:6] not in str(response)

    def test_nor_in_an_answer_that_is_none(self) -> None:
        with serving(lambda *_: (200, {}, f'{{"seen": "{SECRET}"}}'.encode())) as server:
            (response,) = asked(server.url, key="OPENAI_API_KEY")
        assert SECRET not in str(response)

    def test_a_key_with_a_newline_behind_it(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("A_KEY", f"{SECRET}\n")
        with serving(lambda *_: completion("B")) as server:
            assert asked(server.url, key="A_KEY")[0].status == "ok"
        assert server.headers[0]["Authorization"] == f"Bearer {SECRET}"

    def test_none_where_one_is_needed(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delenv("OPENAI_API_KEY")
        with pytest.raises(
            ReelbenchError, match="put it in the environment variable OPENAI_API_KEY"
        ):
            load_model("openai:gpt-4o")

    def test_a_server_of_a_card_gets_no_key_that_the_card_does_not_name(self) -> None:
        with serving(lambda *_: completion("B")) as server:
            assert asked(server.url)[0].status == "ok"
        assert "Authorization" not in server.headers[0]

    def test_a_gateway_named_in_the_environment(self, monkeypatch: pytest.MonkeyPatch) -> None:
        with serving(lambda *_: completion("B")) as server:
            monkeypatch.setenv("OPENAI_BASE_URL", server.url)
            model = load_model("openai:gpt-4o")

            async def once() -> Response:
                try:
                    return await model.ask(REQUEST)
                finally:
                    await model.close()

            assert asyncio.run(once()).status == "ok"
        assert server.requests[0]["model"] == "gpt-4o"
        assert server.headers[0]["Authorization"] == f"Bearer {SECRET}"


def test_json_of_a_request_is_what_was_meant() -> None:
    """Texts with quotes, newlines and characters outside ASCII arrive as they are."""
    odd = 'He said "no\n\\" – 影片 \U0001f3ac'
    request = Request("k", (Message("user", (TextPart(odd),)),), "single", odd, ())
    with serving(lambda body, _: completion(body["messages"][0]["content"][0]["text"])) as server:
        model = OpenAIModel(Card(name="m", endpoint=server.url))

        async def once() -> Response:
            try:
                return await model.ask(request)
            finally:
                await model.close()

        assert asyncio.run(once()).text == odd
    assert json.dumps(server.requests[0])
