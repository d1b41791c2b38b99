"""Gemini: what is sent, what comes back, and files that are sent ahead, once each."""

import asyncio
import base64
import threading
from collections.abc import Callable
from typing import Any

import pytest
from servers import Call, Reply, Server, gemini_reply, hosting, json_reply, without_waiting

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
from reelbench.models.card import Card
from reelbench.models.google import GoogleModel
from reelbench.models.load import load_model

SECRET = "AIza-never-to-be-seen-1234567890"
CLIP = b"a video that is too large to be sent within a request"
ASK = "POST /v1beta/models/gemini-x:generateContent"


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GEMINI_API_KEY", SECRET)
    monkeypatch.delenv("GOOGLE_GEMINI_BASE_URL", raising=False)


def about(*parts: Part, **more: Any) -> Request:
    return Request(
        "k" * 64, (Message("user", (*parts, TextPart("Which?"))),), "open", "Which?", **more
    )


def asked(url: str, *requests: Request, **card: Any) -> list[Response]:
    """Ask a model at this address all of these at once."""
    settings = {"name": "m", "backend": "google", "model": "gemini-x", "endpoint": url,
                "key": "GEMINI_API_KEY", "retries": 2, "backoff": 0.001}  # fmt: skip

    async def all_at_once() -> list[Response]:
        model = GoogleModel(Card(**(settings | card)))
        try:
            return await asyncio.gather(*map(model.ask, requests))
        finally:
            await model.close()

    return asyncio.run(all_at_once())


class TestWhatIsSent:
    def body(self, *parts: Part, **more: Any) -> dict[str, Any]:
        with hosting(lambda _: gemini_reply("B")) as server:
            assert asked(server.url, about(*parts, **more))[0].text == "B"
        return server.requests[0]

    def test_to_where_and_by_whom(self) -> None:
        with hosting(lambda _: gemini_reply("B")) as server:
            asked(server.url, about())
        assert server.paths() == [ASK]
        assert server.calls[0].headers["x-goog-api-key"] == SECRET
        assert SECRET not in server.calls[0].path

    def test_pictures_and_sound(self) -> None:
        body = self.body(
            TextPart("0.5 s"),
            ImagePart(b"jpeg", "image/jpeg", 0.5),
            AudioPart(b"wave", "audio/wav", 2),
        )
        said = [{"text": "0.5 s"},
                {"inlineData": {"mimeType": "image/jpeg", "data": base64.b64encode(b"jpeg").decode()}},
                {"inlineData": {"mimeType": "audio/wav", "data": base64.b64encode(b"wave").decode()}},
                {"text": "Which?"}]  # fmt: skip
        assert body == {
            "contents": [{"role": "user", "parts": said}],
            "generationConfig": {"temperature": 0},
        }

    @pytest.mark.parametrize(("place", "meant"), [
        ({}, None),
        ({"start": 10.0, "end": 20.5}, {"startOffset": "10s", "endOffset": "20.5s"}),
        ({"start": 0.0, "rate": 2.0}, {"startOffset": "0s", "fps": 2.0}),
        ({"rate": 60.0}, {"fps": 24.0}),
        ({"start": 7384.125, "end": 12345.67}, {"startOffset": "7384.125s", "endOffset": "12345.67s"}),
        ({"start": 0.00004}, {"startOffset": "0.00004s"}),
    ])  # fmt: skip
    def test_which_part_of_a_video_is_meant(self, place: dict[str, Any], meant: Any) -> None:
        """The published form of an offset is seconds in decimals, without an exponent."""
        part = self.body(VideoPart(b"mp4", "video/mp4", 10.0, **place))["contents"][0]["parts"][0]
        data = base64.b64encode(b"mp4").decode()
        assert part.pop("inlineData") == {"mimeType": "video/mp4", "data": data}
        assert part.get("videoMetadata") == meant

    def test_who_says_what(self) -> None:
        said = (
            Message("system", (TextPart("Be brief."),)),
            Message("user", (TextPart("Which?"),)),
            Message("assistant", (TextPart("C"),)),
            Message("user", (TextPart("Sure?"),)),
        )
        with hosting(lambda _: gemini_reply("B")) as server:
            asked(server.url, Request("k", said, "open", ""))
        (body,) = server.requests
        assert body["systemInstruction"] == {"parts": [{"text": "Be brief."}]}
        assert [content["role"] for content in body["contents"]] == ["user", "model", "user"]

    def test_parameters_and_a_schema(self) -> None:
        schema = {"type": "object", "properties": {"score": {"type": "integer"}}}
        with hosting(lambda _: gemini_reply("{}")) as server:
            chosen = {"maxOutputTokens": 9, "temperature": None}
            asked(server.url, about(schema=schema), parameters=chosen)
        assert server.requests[0]["generationConfig"] == {
            "maxOutputTokens": 9,
            "responseMimeType": "application/json",
            "responseJsonSchema": schema,
        }


THOUGHT = {"text": "It could be C.", "thought": True}
USAGE = {"promptTokenCount": 100, "candidatesTokenCount": 3, "thoughtsTokenCount": 40}
NO_CANDIDATE = {"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"},
                "usageMetadata": {"promptTokenCount": 100}}  # fmt: skip


@pytest.mark.parametrize(("reply", "response"), [
    (gemini_reply(THOUGHT, "A or", " B"), Response("ok", "A or B", None, 100, 3)),
    (gemini_reply("A", reason="MAX_TOKENS"), Response("truncated", "A", "cut off at the limit of tokens", 100, 3)),
    (gemini_reply(THOUGHT, reason="MAX_TOKENS"), Response("truncated", "", "cut off at the limit of tokens", 100, 3)),
    (gemini_reply(THOUGHT), Response("ok", "", None, 100, 3)),
    (gemini_reply("A", reason="OTHER"), Response("error", None, "reply stopped: OTHER", 100, 3)),
    (gemini_reply("B", usageMetadata=USAGE), Response("ok", "B", None, 100, 43)),
    (gemini_reply("B", usageMetadata={"promptTokenCount": 9, "thoughtsTokenCount": 5}), Response("ok", "B", None, 9, 5)),
    (gemini_reply("B", usageMetadata={**USAGE, "toolUsePromptTokenCount": 7}), Response("ok", "B", None, 107, 43)),
    (gemini_reply("B", usageMetadata=None), Response("ok", "B")),
    (gemini_reply(reason="SAFETY"), Response("refused", None, "reply stopped: SAFETY", 100, 3)),
    (gemini_reply("I", reason="RECITATION"), Response("refused", None, "reply stopped: RECITATION", 100, 3)),
    (json_reply({"candidates": [{"finishReason": "PROHIBITED_CONTENT"}]}), Response("refused", None, "reply stopped: PROHIBITED_CONTENT")),
    (json_reply(NO_CANDIDATE), Response("refused", None, "prompt blocked: PROHIBITED_CONTENT", 100)),
])  # fmt: skip
def test_replies(reply: Reply, response: Response) -> None:
    with hosting(lambda _: reply) as server:
        assert asked(server.url, about()) == [response]


@pytest.mark.parametrize("body", [
    {}, {"candidates": []}, {"candidates": [3]}, {"candidates": {"a": 1}},
    {"candidates": [{"content": None}]}, {"candidates": [{"content": {"parts": ["B"]}}]},
    {"candidates": [{"content": {"parts": [{"text": 7}]}}]},
])  # fmt: skip
def test_json_that_is_no_candidate(body: Any) -> None:
    with hosting(lambda _: json_reply(body)) as server:
        (response,) = asked(server.url, about())
    assert (response.status, response.text) == ("error", None)
    assert "the answer is not a candidate" in str(response.error)


def test_the_wish_of_the_server_is_in_its_body(monkeypatch: pytest.MonkeyPatch) -> None:
    pauses = without_waiting(monkeypatch)
    spec = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "37.5s"}
    error = {"code": 429, "status": "RESOURCE_EXHAUSTED", "details": [spec]}
    busy = json_reply({"error": error}, 429)
    with hosting(lambda call: gemini_reply("B") if call.number else busy) as server:
        assert asked(server.url, about())[0].text == "B"
    assert pauses == [pytest.approx(37.5, abs=1)]


class TestKeys:
    @pytest.mark.parametrize("status", [200, 400, 429])
    def test_they_are_in_no_error(self, status: int) -> None:
        with hosting(lambda _: json_reply({"seen": f"key {SECRET}"}, status)) as server:
            (response,) = asked(server.url, about())
        assert "key ***" in str(response.error)
        assert SECRET not in str(response)

    def test_none_where_one_is_needed(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delenv("GEMINI_API_KEY")
        with pytest.raises(
            ReelbenchError, match="put it in the environment variable GEMINI_API_KEY"
        ):
            load_model("google:gemini-2.5-pro")


class Files:
    """The published way of sending files ahead: start, upload and finalize, look until ready."""

    def __init__(self, states: Callable[[int], list[str]] = lambda _: ["ACTIVE"]) -> None:
        self.states = states  # of the n-th file, as they are seen one after the other
        self.files: list[list[str]] = []
        self.lock = threading.Lock()
        self.faults: dict[str, Reply] = {}  # what to say at a step instead

    def __call__(self, call: Call) -> Reply:
        step = call.path.split("?")[0].split("/")[1] if call.method == "POST" else "look"
        if step in self.faults:
            return self.faults[step]
        if step == "upload":
            return json_reply(
                {}, x_goog_upload_url=f"http://{call.headers['host']}/there?upload_id=1"
            )
        if step == "v1beta":
            return gemini_reply("B")
        with self.lock:
            if step == "there":
                self.files.append(list(self.states(len(self.files))))
                return json_reply({"file": self.file(len(self.files) - 1)})
            return json_reply(self.file(int(call.path.rpartition("-")[2])))

    def file(self, number: int) -> dict[str, Any]:
        states = self.files[number]
        state = states.pop(0) if len(states) > 1 else states[0]
        return {"name": f"files/f-{number}", "uri": f"https://files/{number}", "state": state}


def shown(server: Server) -> list[Any]:
    """What each question says about its file."""
    return [
        body["contents"][0]["parts"][0]["fileData"]
        for body in server.requests
        if "contents" in body
    ]


class TestFilesSentAhead:
    @pytest.fixture(autouse=True)
    def small(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("reelbench.models.google._INLINE", 20)
        monkeypatch.setattr("reelbench.models.google._POLL", 0.001)

    QUESTION = about(VideoPart(CLIP, "video/mp4", 10.0, 5.0, 15.0))

    def test_start_upload_and_ask(self) -> None:
        with hosting(Files()) as server:
            assert asked(server.url, self.QUESTION)[0].text == "B"
        assert server.paths() == ["POST /upload/v1beta/files", "POST /there?upload_id=1", ASK]
        start, upload, ask = server.calls
        assert {call.headers["x-goog-api-key"] for call in server.calls} == {SECRET}
        assert start.headers["x-goog-upload-protocol"] == "resumable"
        assert start.headers["x-goog-upload-command"] == "start"
        assert start.headers["x-goog-upload-header-content-length"] == str(len(CLIP))
        assert start.headers["x-goog-upload-header-content-type"] == "video/mp4"
        assert upload.headers["x-goog-upload-command"] == "upload, finalize"
        assert upload.headers["x-goog-upload-offset"] == "0"
        assert upload.raw == CLIP
        assert ask.body["contents"][0]["parts"][0] == {
            "fileData": {"fileUri": "https://files/0", "mimeType": "video/mp4"},
            "videoMetadata": {"startOffset": "5s", "endOffset": "15s"},
        }

    def test_what_is_small_is_not(self) -> None:
        with hosting(Files()) as server:
            asked(server.url, about(ImagePart(bytes(20), "image/jpeg", 0.0)))
        assert server.paths() == [ASK]

    def test_a_file_that_is_not_yet_ready(self) -> None:
        states = ["PROCESSING", "PROCESSING", "PROCESSING", "ACTIVE"]
        with hosting(Files(lambda _: states)) as server:
            assert asked(server.url, self.QUESTION)[0].text == "B"
        assert server.paths()[2:] == ["GET /v1beta/files/f-0"] * 3 + [ASK]
        assert server.calls[2].headers["x-goog-api-key"] == SECRET

    def test_many_questions_about_a_file_send_it_once(self) -> None:
        other = about(AudioPart(CLIP + b"!", "audio/wav", 10.0))
        with hosting(Files(lambda _: ["PROCESSING", "ACTIVE"])) as server:
            responses = asked(server.url, *[self.QUESTION] * 12, *[other] * 3)
        assert {response.status for response in responses} == {"ok"}
        assert sorted(call.raw for call in server.calls if "/there" in call.path) == [
            CLIP,
            CLIP + b"!",
        ]
        assert len({str(file) for file in shown(server)}) == 2

    def in_turns(self, url: str, rounds: int, together: int = 1) -> list[list[str]]:
        """Ask from some places at once, in each one question after the other."""

        async def place(model: GoogleModel) -> list[str]:
            return [(await model.ask(self.QUESTION)).status for _ in range(rounds)]

        async def all_places() -> list[list[str]]:
            card = Card(name="m", backend="google", model="gemini-x", endpoint=url, retries=0)
            model = GoogleModel(card)
            try:
                return await asyncio.gather(*(place(model) for _ in range(together)))
            finally:
                await model.close()

        return asyncio.run(all_places())

    def test_after_a_failure_the_next_question_tries_again(self) -> None:
        with hosting(Files(lambda n: ["PROCESSING", "ACTIVE" if n else "FAILED"])) as server:
            assert self.in_turns(server.url, rounds=3) == [["error", "ok", "ok"]]
        assert len([path for path in server.paths() if path == ASK]) == 2
        assert {file["fileUri"] for file in shown(server)} == {"https://files/1"}

    def test_and_all_of_them_together_try_once(self) -> None:
        with hosting(Files(lambda n: ["PROCESSING", "ACTIVE" if n else "FAILED"])) as server:
            assert self.in_turns(server.url, rounds=2, together=4) == [["error", "ok"]] * 4
        assert len([path for path in server.paths() if "/there" in path]) == 2

    @pytest.mark.parametrize(("step", "reply", "words", "calls"), [
        ("upload", json_reply({}, 503), "HTTP 503", 3),
        ("upload", json_reply({}, 403), "HTTP 403", 1),
        ("upload", json_reply({}), "the answer is not a valid upload address", 1),
        ("upload", json_reply({}, x_goog_upload_url="/relative"), "the answer is not a valid upload address", 1),
        ("upload", json_reply({}, x_goog_upload_url="http://"), "", 1),
        ("there", json_reply({}, 500), "HTTP 500", 4),
        ("there", json_reply({}), "the answer is not a ready file", 2),
        ("there", json_reply({"file": "f-0"}), "the answer is not a ready file", 2),
        ("there", json_reply({"file": {"state": "ACTIVE"}}), "the answer is not a ready file", 2),
        ("there", json_reply({"file": {"state": "FAILED", "name": "files/f-0"}}), "FAILED", 2),
        ("look", json_reply({}, 404), "HTTP 404", 3),
        ("look", json_reply({"state": "FAILED", "error": {"message": "no video"}}), "no video", 3),
    ])  # fmt: skip
    def test_failures_on_the_way(self, step: str, reply: Reply, words: str, calls: int) -> None:
        files = Files(lambda _: ["PROCESSING", "ACTIVE"])
        files.faults[step] = reply
        with hosting(files) as server:
            (response,) = asked(server.url, self.QUESTION)
        assert (response.status, response.text) == ("error", None)
        assert words in str(response.error)
        assert ASK not in server.paths()
        assert len(server.calls) == calls

    def test_a_file_that_never_gets_ready(self) -> None:
        with hosting(Files(lambda _: ["PROCESSING"])) as server:
            (response,) = asked(server.url, self.QUESTION, timeout=0.1)
        assert response.status == "timeout"

    def test_a_key_that_a_header_repeats_is_in_no_error(self) -> None:
        files = Files()
        files.faults["upload"] = json_reply({}, x_goog_upload_url=f"there?key={SECRET}")
        with hosting(files) as server:
            (response,) = asked(server.url, self.QUESTION)
        assert response.status == "error"
        assert SECRET not in str(response)

    def test_nothing_goes_on_behind_a_model_that_is_closed(self) -> None:
        async def given_up(url: str) -> set[asyncio.Task[Any]]:
            model = GoogleModel(Card(name="m", backend="google", model="gemini-x", endpoint=url))
            asking = asyncio.create_task(model.ask(self.QUESTION))
            async with asyncio.timeout(30):
                while len(server.calls) < 3:
                    await asyncio.sleep(0.001)
            asking.cancel()
            await asyncio.gather(asking, return_exceptions=True)
            await model.close()
            return asyncio.all_tasks() - {asyncio.current_task()}

        with hosting(Files(lambda _: ["PROCESSING"])) as server:
            assert asyncio.run(given_up(server.url)) == set()
