"""A cascade: who sees and hears tells, who reads answers, and nobody is told more than they need."""

import asyncio
import base64
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from servers import Server, completion, serving

from reelbench.base.errors import ReelbenchError
from reelbench.client.budget import Ledger
from reelbench.client.client import Client
from reelbench.client.journal import open_journal
from reelbench.models.base import (
    AudioPart,
    ChatModel,
    ImagePart,
    Message,
    Request,
    Response,
    TextPart,
    VideoPart,
)
from reelbench.models.cascade import Cascade, members_of
from reelbench.models.load import load_model

FRAME, NOISE = b"\xff\xd8 a frame", b"RIFF a noise"
CLIP = (TextPart("0.5 s"), ImagePart(FRAME, "image/jpeg", 0.5), AudioPart(NOISE, "audio/wav", 2.0))


def asking(question: str, *shown: Any, **more: Any) -> Request:
    parts = (*(shown or CLIP), TextPart(question))
    return Request(f"key of {question}", (Message("user", parts),), "open", question, **more)


class Studio:
    """A cascade of three, each behind a server of its own."""

    def __init__(self, folder: Path, eye: Server, ear: Server, mind: Server) -> None:
        self.folder, self.eye, self.ear, self.mind = folder, eye, ear, mind
        plain = "retries: 0\n"
        self.write("eye", f"{plain}endpoint: {eye.url}\n")
        self.write("ear", f"{plain}endpoint: {ear.url}\nsees: false\nhears: true\n")
        self.write("mind", f"{plain}endpoint: {mind.url}\nsees: false\n")
        self.card = self.write(
            "trio",
            f"backend: cascade\ncaptioners: [eye.yaml, ear.yaml]\nmodel: {folder / 'mind.yaml'}\n",
        )

    def write(self, name: str, fields: str) -> Path:
        path = self.folder / f"{name}.yaml"
        path.write_text(f"name: {name}\n{fields}")
        return path

    def asked(self, *requests: Request, client: Client | None = None) -> list[Response]:
        """Ask these at once, by way of an asker where there is one."""

        async def all_at_once() -> list[Response]:
            model = load_model(str(self.card))
            assert isinstance(model, Cascade)
            if client:
                model.relay = client.ask
            ask = (lambda request: client.ask(model, request)) if client else model.ask
            try:
                return await asyncio.gather(*map(ask, requests))
            finally:
                for member in members_of([model]):
                    await member.close()

        return asyncio.run(all_at_once())


@pytest.fixture
def studio(tmp_path: Path) -> Iterator[Studio]:
    with ExitStack() as stack:
        texts = ("I see a door.", "I hear a bell.", "B")
        servers = [stack.enter_context(serving(lambda *_, t=text: completion(t))) for text in texts]
        yield Studio(tmp_path, *servers)


def content(server: Server, number: int = -1) -> list[dict[str, Any]]:
    """What the last request to a server says."""
    body = server.requests[number]
    (message,) = body["messages"]
    assert message["role"] == "user"
    return list(message["content"])


class TestWhoIsToldWhat:
    def test_captioners_get_the_media_and_not_the_question(self, studio: Studio) -> None:
        assert studio.asked(asking("Who rang?"))[0].text == "B"
        eye, ear = content(studio.eye), content(studio.ear)
        frame = "data:image/jpeg;base64," + base64.b64encode(FRAME).decode()
        assert eye[:2] == [
            {"type": "text", "text": "0.5 s"},
            {"type": "image_url", "image_url": {"url": frame}},
        ]
        noise = {"data": base64.b64encode(NOISE).decode(), "format": "wav"}
        assert {"type": "input_audio", "input_audio": noise} in ear
        assert "input_audio" not in str(eye)
        assert "image_url" not in str(ear)
        for told in (eye, ear):
            assert "Who rang?" not in str(told)
            assert told[-1]["text"].startswith("Describe what is shown and heard")

    def test_the_answerer_gets_captions_and_the_question_and_no_media(self, studio: Studio) -> None:
        studio.asked(asking("Who rang?"))
        told = content(studio.mind)
        assert {part["type"] for part in told} == {"text"}
        texts = [part["text"] for part in told]
        assert texts == ["What is seen and heard:\nB", "Who rang?"]

    def test_captions_are_fused_by_a_call_that_is_told_no_question(self, studio: Studio) -> None:
        studio.asked(asking("Who rang?"))
        texts = [part["text"] for part in content(studio.mind, 0)]
        assert texts[:2] == ["What eye tells:\nI see a door.", "What ear tells:\nI hear a bell."]
        assert "one account" in texts[2]
        assert "Who rang?" not in str(texts)

    def test_by_another_model_where_the_card_names_one(self, studio: Studio) -> None:
        studio.write("scribe", f"endpoint: {studio.eye.url}\nsees: false\n")
        fields = "backend: cascade\ncaptioners: [eye.yaml, ear.yaml]\nmodel: mind.yaml\n"
        studio.card = studio.write("trio", f"{fields}fuser: scribe.yaml\n")
        studio.asked(asking("Who rang?"))
        assert [body["model"] for body in studio.eye.requests] == ["eye", "scribe"]
        assert content(studio.mind)[0]["text"] == "What is seen and heard:\nI see a door."

    def test_one_caption_is_told_as_it_is(self, studio: Studio) -> None:
        studio.asked(asking("Who rang?", AudioPart(NOISE, "audio/wav", 2.0)))
        (body,) = studio.mind.requests
        assert body["messages"][0]["content"][0]["text"] == "What ear tells:\nI hear a bell."

    def test_captioners_read_no_transcript(self, studio: Studio) -> None:
        studio.asked(asking("Who rang?", *CLIP, TextPart("What is said:\n[0.0 s] A secret.")))
        assert "secret" not in str([studio.eye.requests, studio.ear.requests])
        assert "secret" in str(content(studio.mind))

    def test_a_captioner_is_not_asked_about_what_it_cannot_take(self, studio: Studio) -> None:
        (response,) = studio.asked(asking("Who?", AudioPart(NOISE, "audio/wav", 2.0)))
        assert response.status == "ok"
        assert studio.eye.requests == []
        assert "eye" not in str(content(studio.mind))

    def test_nor_is_any_about_words_alone(self, studio: Studio) -> None:
        studio.asked(asking("Who?", TextPart("Subtitles: hello")))
        assert studio.eye.requests == studio.ear.requests == []
        assert [part["text"] for part in content(studio.mind)] == ["Subtitles: hello", "Who?"]

    def test_a_schema_is_for_the_answerer(self, studio: Studio) -> None:
        studio.asked(asking("Who?", *CLIP, schema={"type": "object"}))
        assert "response_format" not in studio.eye.requests[0]
        assert "response_format" not in studio.mind.requests[0]
        last = studio.mind.requests[-1]["response_format"]
        assert last["json_schema"]["schema"] == {"type": "object"}


class TestFailures:
    @pytest.mark.parametrize(("reply", "status", "error"), [
        ((500, {}, b"no film"), "error", "ear: HTTP 500: no film"),
        (completion(None, message={"refusal": "I will not."}), "refused", "ear: I will not."),
    ])  # fmt: skip
    def test_of_a_captioner(self, reply: Any, status: Any, error: str, studio: Studio) -> None:
        studio.ear.answer = lambda *_: reply
        assert studio.asked(asking("Who?")) == [Response(status, error=error)]
        assert studio.mind.requests == []

    def test_of_the_answerer(self, studio: Studio) -> None:
        studio.mind.answer = lambda *_: (500, {}, b"no idea")
        (response,) = studio.asked(asking("Who?"))
        assert (response.status, response.text) == ("error", None)
        assert "no idea" in str(response.error)


class TestThroughAJournal:
    def test_each_captioner_is_asked_once_about_a_clip(self, studio: Studio) -> None:
        requests = [asking(f"Who {number}?") for number in range(3)]
        with open_journal(studio.folder / "journal.sqlite") as journal:
            responses = studio.asked(*requests, client=Client(journal))
            assert {response.status for response in responses} == {"ok"}
            assert len(studio.mind.requests) == 1 + 3  # fused once, then asked
            studio.asked(*requests, asking("Who 4?"), client=Client(journal))
        assert (len(studio.eye.requests), len(studio.ear.requests)) == (1, 1)
        assert len(studio.mind.requests) == 1 + 4

    def test_and_once_more_about_another(self, studio: Studio) -> None:
        """Another part of the same file is another clip."""
        clips = [VideoPart(b"mp4", "video/mp4", 5.0, start, start + 5) for start in (0.0, 5.0)]
        with open_journal(studio.folder / "journal.sqlite") as journal:
            requests = [asking(f"Who {place}?", clip) for place, clip in enumerate(clips)]
            studio.asked(*requests, client=Client(journal))
        assert len(studio.eye.requests) == 2

    def test_tokens_are_counted_where_they_were_taken(self, studio: Studio) -> None:
        ledger = Ledger()
        with open_journal(studio.folder / "journal.sqlite") as journal:
            studio.asked(asking("Who?"), client=Client(journal, ledger))
        taken = {name: spent.input_tokens for name, spent in ledger.spent.items()}
        assert taken == {"eye": 100, "ear": 100, "mind": 200, "trio": 0}

    def test_a_caption_that_failed_is_asked_for_again(self, studio: Studio) -> None:
        studio.eye.answer = lambda _, n: completion("I see.") if n else (500, {}, b"")
        with open_journal(studio.folder / "journal.sqlite") as journal:
            for status in ("error", "ok"):
                assert studio.asked(asking("Who?"), client=Client(journal))[0].status == status
        assert len(studio.eye.requests) == 2


class TestCards:
    def loaded(self, path: Path) -> ChatModel:
        return load_model(str(path))

    def test_what_it_takes_in_is_what_its_captioners_do(self, studio: Studio) -> None:
        card = self.loaded(studio.card).card
        assert (card.name, card.sees, card.hears) == ("trio", True, True)

    def test_of_the_limits_on_frames_the_least(self, studio: Studio) -> None:
        studio.write("eye", f"endpoint: {studio.eye.url}\nframes: 8\n")
        studio.write("ear", f"endpoint: {studio.ear.url}\nframes: 4\nsees: false\n")
        assert self.loaded(studio.card).card.frames == 8

    def test_other_members_are_other_parameters(self, studio: Studio) -> None:
        before = dict(self.loaded(studio.card).parameters)
        studio.write("mind", f"endpoint: {studio.mind.url}\nparameters: {{seed: 7}}\n")
        assert dict(self.loaded(studio.card).parameters) != before

    def test_cards_lie_beside_the_card_that_names_them(
        self,
        studio: Studio,
        tmp_path_factory: pytest.TempPathFactory,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        """From wherever it is run, for captioners and for the model that answers."""
        monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))
        fields = "backend: cascade\ncaptioners: [eye.yaml]\nmodel: mind.yaml\n"
        model = self.loaded(studio.write("duo", fields))
        assert [member.card.name for member in members_of([model])] == ["duo", "eye", "mind"]

    @pytest.mark.parametrize("fields", [
        "", "captioners: [eye.yaml]\n", "model: mind.yaml\n", "captioners: []\nmodel: mind.yaml\n",
    ])  # fmt: skip
    def test_without_one_of_its_parts(self, fields: str, studio: Studio) -> None:
        path = studio.write("half", f"backend: cascade\n{fields}")
        with pytest.raises(ReelbenchError, match="half: the card of a cascade needs captioners"):
            self.loaded(path)

    def test_none_by_its_name_alone(self) -> None:
        with pytest.raises(ReelbenchError, match="the card of a cascade needs captioners"):
            load_model("cascade:trio")

    def test_none_within_another(self, studio: Studio) -> None:
        fields = (
            f"backend: cascade\ncaptioners: [trio.yaml]\nmodel: {studio.folder / 'mind.yaml'}\n"
        )
        with pytest.raises(ReelbenchError, match="cannot be a captioner or the model"):
            self.loaded(studio.write("outer", fields))

    def test_a_captioner_that_is_not_there(self, studio: Studio) -> None:
        fields = "backend: cascade\ncaptioners: [nobody.yaml]\nmodel: mind.yaml\n"
        with pytest.raises(ReelbenchError, match=r"nobody\.yaml cannot be read"):
            self.loaded(studio.write("lonely", fields))
