"""Captions: a model tells a clip part by part, and is paid once for each."""

import os
import shutil
import signal
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from actors import said_to, write_card
from annotating import Given, Start, write_sound
from servers import Reply, Server, completion, json_reply, serving
from support import pending_signals, wait_until
from videos import make_video

from reelbench.models.load import load_model


class Teller:
    """A model that tells from when on it looked."""

    def __call__(self, body: dict[str, Any], _number: int) -> Reply:
        start = said_to(body).split(" s to ")[0].rsplit(" ", 1)[-1]
        return completion(f"Told from {start}.")


def pictures_in(body: dict[str, Any]) -> int:
    content = body["messages"][-1]["content"]
    return sum(part["type"] == "image_url" for part in content if isinstance(part, dict))


@pytest.fixture
def film(given: Given) -> str:
    """A clip of three and a bit seconds."""
    make_video(given.clips / "film.mp4", seconds=3.2, rate=5)
    return "film.mp4"


WINDOW = ("--set", "caption.window=1")


class TestCaption:
    @pytest.fixture
    def server(self) -> Iterator[Server]:
        with serving(Teller()) as server:
            yield server

    def model(self, given: Given, server: Server, **more: Any) -> tuple[str, str]:
        card = write_card(given.out.with_name("cards"), "teller", server.url, **more)
        return "--model", f"captioner={card}"

    def test_a_clip_is_told_part_by_part(self, given: Given, film: str, server: Server) -> None:
        model = self.model(given, server)
        assert given.command("caption,transcript", *WINDOW, "--set", "caption.rate=2", *model) == 0
        value = given.labels(film)["caption"]["value"]
        assert value["model"] == "teller"
        assert [(part["start"], part["end"]) for part in value["parts"]] == [
            (0, 1),
            (1, 2),
            (2, 3.2),
        ]
        assert [part["text"] for part in value["parts"]] == [
            "Told from 0.",
            "Told from 1.",
            "Told from 2.",
        ]
        assert value["text"] == "Told from 0.\nTold from 1.\nTold from 2."
        prompts = [said_to(request) for request in server.requests]
        assert len(prompts) == 3
        assert "(this is the beginning)" in prompts[0]
        assert "Told from 0." in prompts[1]
        assert "Told from 0. Told from 1." in prompts[2]
        heard = ["The dog barked.", "And then the bell rang.", "Nobody came."]
        for place, prompt in enumerate(prompts):
            assert [text in prompt for text in heard] == [n == place for n in range(3)]
        assert [pictures_in(request) for request in server.requests] == [2, 2, 3]

    def test_a_second_run_asks_nothing(self, given: Given, film: str, server: Server) -> None:
        model = self.model(given, server)
        assert given.command("caption", *WINDOW, *model) == 0
        before, calls = given.written(), len(server.calls)
        assert given.command("caption", *WINDOW, *model) == 0
        assert len(server.calls) == calls == 3
        assert given.written() == before

    def test_nothing_is_said_where_nothing_was_heard(
        self, given: Given, film: str, server: Server
    ) -> None:
        assert given.command("caption", *WINDOW, *self.model(given, server)) == 0
        assert all("(nothing)" in said_to(request) for request in server.requests)

    def test_only_parts_with_other_words_are_told_again(
        self, given: Given, film: str, server: Server
    ) -> None:
        words = ("caption,transcript", *WINDOW, *self.model(given, server))
        assert given.command(*words) == 0
        assert given.command(*words, "--set", "transcript.second=It rained.") == 0
        # What is told of the second part is the same as before, so the third is not asked again.
        assert len(server.calls) == 4
        assert "It rained." in said_to(server.requests[-1])

    def test_guidance_and_another_model_are_other_captions(
        self, given: Given, film: str, server: Server
    ) -> None:
        model = self.model(given, server)
        assert given.command("caption", *model) == 0
        assert given.command("caption", *model, "--set", "caption.guidance=Mind the cat.") == 0
        assert "Mind the cat." in said_to(server.requests[-1])
        assert given.command("caption", *self.model(given, server, parameters={"seed": 5})) == 0
        assert len(server.calls) == 3

    def test_killed_between_parts_no_part_is_paid_for_twice(
        self, given: Given, film: str, start: Start, tmp_path: Path
    ) -> None:
        go_on = threading.Event()
        teller = Teller()

        def answer(body: dict[str, Any], number: int) -> Reply:
            if " 1 s to " in said_to(body):
                go_on.wait(200)
            return teller(body, number)

        with serving(answer) as server:
            model = self.model(given, server)
            words = (
                "annotate",
                given.clips,
                "--labels",
                "caption",
                "--out",
                given.out,
                *WINDOW,
                *model,
            )
            process = start(*words)
            wait_until(lambda: len(server.calls) == 2)  # who asks again has kept what was told
            process.kill()
            process.join()
            go_on.set()
            again = start(*words)
            again.join()
            assert again.exitcode == 0, (tmp_path / "told").read_text()
            asked = [said_to(request) for request in server.requests]
        # Only what was under way when it was killed is asked again.
        assert len(asked) == 4
        assert len(set(asked)) == 3
        assert len(given.labels(film)["caption"]["value"]["parts"]) == 3

    @pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM])
    def test_stopped_while_a_model_thinks_its_reply_is_kept_and_nothing_more_is_asked(
        self, given: Given, film: str, start: Start, tmp_path: Path, sign: int
    ) -> None:
        go_on = threading.Event()
        teller = Teller()

        def answer(body: dict[str, Any], number: int) -> Reply:
            if " 1 s to " in said_to(body):
                go_on.wait(200)
            return teller(body, number)

        with serving(answer) as server:
            words = (*WINDOW, *self.model(given, server))
            process = start(
                "annotate", given.clips, "--labels", "caption", "--out", given.out, *words
            )
            wait_until(lambda: len(server.calls) == 2)
            os.kill(process.pid, sign)
            wait_until(lambda: not pending_signals(process.pid))
            go_on.set()
            process.join()
            told = (tmp_path / "told").read_text()
            assert process.exitcode == 130, told
            assert "Stopped. Nothing is lost" in told
            assert "Traceback" not in told
            assert len(server.calls) == 2
            assert given.command("caption", *words) == 0
            assert len(server.calls) == 3, "the first two parts were told before"

    def test_no_model_is_a_sentence(
        self, given: Given, film: str, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert given.command("caption") in (1, 2)
        told = capsys.readouterr().err
        assert "The label caption needs a model: add --model captioner=NAME." in told
        assert "Traceback" not in told

    def test_a_server_that_fails_costs_that_clip_and_is_named(
        self, given: Given, film: str, capsys: pytest.CaptureFixture[str]
    ) -> None:
        given.add("z.mp4")
        is_well = False
        teller = Teller()

        def answer(body: dict[str, Any], number: int) -> Reply:
            if " 1 s to " in said_to(body) and not is_well:
                return json_reply({"error": {"message": "no such luck"}}, 400)
            return teller(body, number)

        with serving(answer) as server:
            words = ("caption,plain", *WINDOW, *self.model(given, server, retries=0))
            assert given.command(*words) == 1
            told = capsys.readouterr().err
            assert f"{film}: caption: " in told
            assert "no such luck" in told
            assert "Traceback" not in told
            assert given.labels("z.mp4")["caption"]["value"]["text"] == "Told from 0."
            assert "value" in given.labels(film)["plain"]
            is_well, calls = True, len(server.calls)
            assert given.command(*words) == 0
            assert len(server.calls) == calls + 2, "the first part was told before"

    @pytest.mark.parametrize("reply", ["", "   ", None])
    def test_a_model_that_says_nothing_fails(
        self, given: Given, film: str, reply: str | None, capsys: pytest.CaptureFixture[str]
    ) -> None:
        with serving(lambda body, number: completion(reply)) as server:
            assert given.command("caption", *self.model(given, server, retries=0)) == 1
        assert f"{film}: caption: " in capsys.readouterr().err

    def test_sound_has_nothing_to_describe(self, given: Given, server: Server) -> None:
        write_sound(given.clips / "tone.wav")
        assert given.command("caption", *self.model(given, server)) == 0
        assert given.labels("tone.wav")["caption"]["none"] == "The clip has no video to describe."
        assert not server.calls

    def test_who_does_not_see_is_sent_no_frames(
        self, given: Given, film: str, server: Server
    ) -> None:
        assert given.command("caption", *self.model(given, server, sees=False)) == 0
        assert [pictures_in(request) for request in server.requests] == [0]

    @pytest.mark.parametrize(
        "word", ["window=0", "window=-1", "rate=0", "size=huge", "window=long"]
    )
    def test_a_parameter_that_cannot_be_meant_is_a_sentence(
        self, given: Given, film: str, server: Server, word: str, capsys: pytest.CaptureFixture[str]
    ) -> None:
        status = given.command("caption", *self.model(given, server), "--set", f"caption.{word}")
        assert status in (1, 2)
        assert "Traceback" not in capsys.readouterr().err

    def test_equal_clips_are_told_once(self, given: Given, film: str, server: Server) -> None:
        shutil.copy(given.clips / film, given.clips / "same.mp4")
        assert given.command("caption", *WINDOW, *self.model(given, server)) == 0
        assert len(server.calls) == 3
        assert given.labels("same.mp4") == given.labels(film)

    def test_from_a_program(self, given: Given, film: str, server: Server) -> None:
        _, word = self.model(given, server)
        found = given.annotate("caption", captioner=load_model(word.removeprefix("captioner=")))
        assert found.outcomes[film]["caption"]["value"]["text"] == "Told from 0."


class TestCost:
    """What captions cost is known before it is spent, and bounded."""

    @pytest.fixture
    def server(self) -> Iterator[Server]:
        with serving(Teller()) as server:
            yield server

    def model(self, given: Given, server: Server, **more: Any) -> tuple[str, str]:
        card = {"frame_tokens": 100, "reply_tokens": 50, "retries": 0, "price": None, **more}
        path = write_card(given.out.with_name("cards"), "teller", server.url, **card)
        return "--model", f"captioner={path}"

    def test_a_dry_run_counts_every_part_and_asks_and_writes_nothing(
        self, given: Given, film: str, server: Server, capsys: pytest.CaptureFixture[str]
    ) -> None:
        price = {"input": 1_000_000, "output": 2_000_000}
        words = (*WINDOW, *self.model(given, server, price=price))
        assert given.command("caption", *words, "--dry-run") == 0
        heading, row, total = capsys.readouterr().out.splitlines()
        assert heading.split("  ")[0] == "label"
        label, name, calls, taken, given_back, cost = row.split()
        assert (label, name, calls, given_back) == ("caption", "teller", "3", "150")
        assert 400 < int(taken.replace(",", "")) < 1500, "four frames, and the prompts"
        assert total == f"total: {cost}"
        assert float(cost[1:].replace(",", "")) == int(taken.replace(",", "")) + 2 * 150
        assert not server.calls
        assert not given.out.exists()
        assert given.command("caption", *words) == 0
        assert len(server.calls) == 3, "as many as were foreseen"

    def test_what_was_told_before_is_not_counted(
        self, given: Given, film: str, server: Server, capsys: pytest.CaptureFixture[str]
    ) -> None:
        model = self.model(given, server)
        assert given.command("caption", *WINDOW, *model) == 0
        before = given.written()
        given.add("new.mp4")
        capsys.readouterr()
        assert given.command("caption", *WINDOW, *model, "--dry-run") == 0
        assert capsys.readouterr().out.splitlines()[1].split()[:3] == ["caption", "teller", "1"]
        assert given.written() == before

    def test_nothing_is_asked_that_would_be_over_the_budget(
        self, given: Given, film: str, server: Server, capsys: pytest.CaptureFixture[str]
    ) -> None:
        words = (*WINDOW, *self.model(given, server))
        assert given.command("caption", *words, "--budget", "10tokens") == 1
        assert not server.calls
        assert f"{film}: caption: the budget is spent" in capsys.readouterr().err
        assert given.command("caption", *words, "--budget", "1_000_000tokens") == 0
        assert "teller: 3 requests, 300 tokens in and 9 out." in capsys.readouterr().err
        given.add("new.mp4")
        assert given.command("caption", *words, "--budget", "310tokens") == 1, "309 are spent"
        assert len(server.calls) == 3

    def test_a_budget_in_dollars_needs_a_price_before_anything_is_written(
        self, given: Given, film: str, server: Server, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert given.command("caption", *self.model(given, server), "--budget", "5usd") == 2
        assert "teller has no price" in capsys.readouterr().err
        assert not given.out.exists()

    @pytest.mark.parametrize("words", [("--budget", "5usd"), ("--dry-run",)])
    def test_without_a_model_there_is_nothing_to_count(
        self, given: Given, film: str, words: Any, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert given.command("caption", *words) == 2
        told = capsys.readouterr().err
        assert f"{words[0]} is about what a model is asked" in told
        assert "--model captioner=MODEL" in told

    def test_what_needs_labels_that_are_not_made_yet_is_said_not_to_be_counted(
        self, given: Given, film: str, server: Server, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert given.command("appearance", *self.model(given, server), "--dry-run") == 0
        assert "appearance: 1 clip not counted" in capsys.readouterr().err
