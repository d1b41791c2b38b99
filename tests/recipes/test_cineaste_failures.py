"""Killed, refused or out of budget, a make of Cinéaste loses nothing and pays for nothing twice."""

import contextlib
import os
import random
import signal
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from actors import perform, roles
from filming import NO_REPAIR, Studio, Told, bytes_of, check_funnel, funnel, lines
from servers import Reply, completion, json_reply, serving
from support import pending_signals, starting, wait_until

KILLS = 8
Start = Callable[..., Any]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Start commands as processes that begin at once; what they say is in ``told``."""
    with starting(perform, tmp_path / "told") as started:
        yield started


class TestKilled:
    def test_killed_anywhere_it_ends_the_same_and_pays_for_nothing_twice(
        self, studio: Studio, made: tuple[Path, Told], start: Start, tmp_path: Path
    ) -> None:
        connections, chance, out = 4, random.Random(6), studio.fresh("killed")
        cards = studio.root / "slow"
        with serving(studio.actors, latency=0.01) as server:
            words = roles(cards, server.url, connections=connections)
            words += ["--source", str(studio.source), "--out", str(out), *NO_REPAIR]
            for number in range(KILLS):
                process = start("make", "cineaste", *words)
                aim = len(server.calls) + chance.randint(1, 45)
                deadline = time.monotonic() + (chance.uniform(0.1, 1) if number % 4 == 0 else 60)
                while len(server.calls) < aim and time.monotonic() < deadline:
                    assert process.is_alive(), (tmp_path / "told").read_text()
                    time.sleep(0.002)
                process.kill()
                process.join()
            process = start("make", "cineaste", *words)
            process.join()
        assert process.exitcode == 0, (tmp_path / "told").read_text()
        for name in ("items.jsonl", "benchmark.yaml", "funnel.json", "rejects.jsonl"):
            assert (out / name).read_bytes() == (made[0] / name).read_bytes(), name
        with contextlib.closing(sqlite3.connect(out / "make" / "journal.sqlite")) as journal:
            (answers,) = journal.execute("SELECT COUNT(*) FROM responses").fetchone()
            (keys,) = journal.execute("SELECT COUNT(DISTINCT key) FROM responses").fetchone()
        assert answers == keys == made[1].calls.total()
        assert len(server.calls) <= answers + KILLS * connections

    def test_ctrl_c_ends_it_soon_and_loses_nothing(
        self, studio: Studio, made: tuple[Path, Told], start: Start, tmp_path: Path
    ) -> None:
        out, told_to_stop = studio.fresh("stopped"), threading.Event()

        def held(body: dict[str, Any], number: int) -> Reply | None:
            if number >= 40:  # a good part of it is done, and the rest is not
                told_to_stop.wait(200)
            return studio.actors(body, number)

        with serving(held) as server:
            words = roles(studio.root / "stopped cards", server.url, connections=4)
            words += ["--source", str(studio.source), "--out", str(out), *NO_REPAIR]
            process = start("make", "cineaste", *words)
            wait_until(lambda: len(server.calls) > 40 or not process.is_alive())
            os.kill(process.pid, signal.SIGINT)
            wait_until(lambda: not pending_signals(process.pid))
            told_to_stop.set()
            process.join()
            told = (tmp_path / "told").read_text()
            assert process.exitcode == 130, told
            assert "Nothing is lost" in told
            assert "Traceback" not in told
            assert studio.command("make", "cineaste", "--out", out, *NO_REPAIR).status == 0
            assert len(server.calls) == made[1].calls.total()
        assert bytes_of(out) == bytes_of(made[0])

    def test_a_second_make_into_the_same_folder_is_told_so(
        self, studio: Studio, start: Start
    ) -> None:
        out, second_is_over = studio.fresh("shared"), threading.Event()

        def held(body: dict[str, Any], number: int) -> Reply | None:
            second_is_over.wait(200)
            return studio.actors(body, number)

        with serving(held) as server:
            words = roles(studio.root / "shared cards", server.url, connections=2)
            process = start("make", "cineaste", *words, "--source", studio.source, "--out", out)
            wait_until(lambda: server.calls or not process.is_alive())
            told = studio.make(out, words=words)
            assert process.is_alive()
            second_is_over.set()
        assert told.status == 2
        assert "is in use" in told.err
        assert "Traceback" not in told.err


class TestFailures:
    def test_a_question_that_cannot_be_asked_is_undecided_until_it_can(
        self, studio: Studio, made: tuple[Path, Told], unfiltered: Path
    ) -> None:
        victim = lines(made[0] / "items.jsonl")[3]

        def failing(model: str, prompt: str) -> Any:
            if model == "blind" and victim["question"] in prompt:
                return json_reply({"error": {"message": "out of order"}}, 500)
            return None

        with studio.interrupted(failing):
            told = studio.make(unfiltered)
        assert told.status == 1
        assert f"{victim['id']} in independence: error" in told.err
        assert "out of order" in told.err
        (row,) = funnel(unfiltered)["undecided"]
        assert (row["id"], row["stage"], row["status"]) == (victim["id"], "independence", "error")
        ids = {line["id"] for name in ("rejects.jsonl", "items.jsonl")
               for line in lines(unfiltered / name)}  # fmt: skip
        assert victim["id"] not in ids
        check_funnel(unfiltered)
        again = studio.make(unfiltered)
        assert again.status == 0
        assert again.calls == {"blind": 5, "veracity": 5}
        assert bytes_of(unfiltered) == bytes_of(made[0])

    def test_a_refusal_rejects_with_the_models_words_and_is_not_asked_again(
        self, studio: Studio, made: tuple[Path, Told], unfiltered: Path
    ) -> None:
        victim = lines(made[0] / "items.jsonl")[0]

        def refusing(model: str, prompt: str) -> Any:
            if model == "veracity" and victim["question"] in prompt:
                return completion(None, message={"refusal": "I do not speak of ribbons."})
            return None

        with studio.interrupted(refusing):
            assert studio.make(unfiltered).status == 0
        rejects = lines(unfiltered / "rejects.jsonl")
        (reject,) = [line for line in rejects if line["id"] == victim["id"]]
        assert (reject["stage"], reject["reason"]) == ("veracity", "refused")
        assert any("I do not speak of ribbons." in words for words in reject["words"])
        check_funnel(unfiltered)
        assert not studio.make(unfiltered).calls

    def test_a_description_that_fails_leaves_its_film_undecided(
        self, studio: Studio, made: tuple[Path, Told]
    ) -> None:
        out = studio.fresh("undescribed")

        def failing(model: str, prompt: str) -> Any:
            if model == "captioner" and "Film birch" in prompt and "Title 2" in prompt:
                return json_reply({"error": {"message": "no"}}, 400)
            return None

        with studio.interrupted(failing):
            told = studio.make(out)
        assert told.status == 1
        assert {row["id"] for row in funnel(out)["undecided"]} == {"birch"}
        assert {item["media"][0]["path"] for item in lines(out / "items.jsonl")} == {
            "media/ash.mp4"
        }
        check_funnel(out)
        again = studio.make(out)
        assert (again.status, again.calls["captioner"], again.calls["writer"]) == (0, 1, 5)
        assert bytes_of(out) == bytes_of(made[0])

    def test_too_small_a_budget_leaves_rows_undecided_and_a_larger_one_goes_on(
        self, studio: Studio, made: tuple[Path, Told], unfiltered: Path
    ) -> None:
        told = studio.make(unfiltered, "--budget", "6000tokens")
        assert told.status == 1
        assert 0 < told.calls.total() <= 60
        assert {row["status"] for row in funnel(unfiltered)["undecided"]} == {"over_budget"}
        assert "over_budget" in told.err
        check_funnel(unfiltered)
        same = studio.make(unfiltered)  # the budget is remembered, and is for all calls together
        assert same.status == 1
        assert told.calls.total() + same.calls.total() <= 60
        larger = studio.make(unfiltered, "--budget", "1usd")
        assert larger.status == 0, larger.err
        assert bytes_of(unfiltered) == bytes_of(made[0])
        assert (told.calls + same.calls + larger.calls).total() == (
            made[1].calls["blind"] + made[1].calls["veracity"]
        )

    def test_a_writer_who_gives_no_json_is_asked_again_and_then_rejected_with_its_words(
        self, studio: Studio
    ) -> None:
        out = studio.fresh("chatty")

        def chatting(model: str, prompt: str) -> Any:
            if model == "writer" and "questions on Temporal Ordering" in prompt:
                return completion("What a fine film! I would rather talk about it.")
            return None

        with studio.interrupted(chatting):
            told = studio.make(out, "--limit", 1, "--until", "check")
        assert told.status == 0, told.err
        assert told.calls["writer"] == 4 + 4  # once more from the start, each with one repair
        (reject,) = lines(out / "rejects.jsonl")
        assert (reject["stage"], reject["category"]) == ("write", "Temporal Ordering")
        assert "I would rather talk about it" in reject["words"][0]
        check_funnel(out)
