"""What a run keeps from call to call, and what it is careful with."""

import json
import os
import signal
import threading
from pathlib import Path
from typing import Any

import pytest
from commands import CapturedCommand
from servers import Server, completion, serving
from support import blind_benchmark, make_item, pending_signals, wait_until

from reelbench.base.errors import ReelbenchError
from reelbench.client.budget import _MOST_FAILED_FIRST_CALLS, Budget
from reelbench.data.benchmark import Benchmark
from reelbench.evaluate.folder import read_run
from reelbench.evaluate.run import run_benchmark
from reelbench.report.report import report_run

COUNT = 12
GRADE = '{"reason": "so", "score": 2}'


@pytest.fixture
def benchmark(tmp_path: Path) -> Benchmark:
    items = [make_item(n, media=make_item(1).media, question=f"Why {n}?") for n in range(COUNT)]
    return blind_benchmark(tmp_path / "b", *items, modalities="T")


def card(folder: Path, server: Server, name: str = "m", **fields: Any) -> str:
    path = folder / f"{name}.yaml"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps({"name": name, "endpoint": server.url, "sees": False} | fields))
    return str(path)


class TestBudget:
    def test_a_run_keeps_it_until_told_otherwise(
        self, benchmark: Benchmark, tmp_path: Path
    ) -> None:
        with serving(lambda *_: completion("B")) as server:
            model = card(tmp_path, server)
            run_benchmark(benchmark, [model], tmp_path / "r", budget=Budget(tokens=320))
            asked = len(server.requests)
            assert 0 < asked < COUNT
            run_benchmark(benchmark, [], tmp_path / "r")
            assert len(server.requests) == asked
            run_benchmark(benchmark, [], tmp_path / "r", budget=Budget())
            assert len(server.requests) == COUNT
        assert "budget" not in read_run(tmp_path / "r")

    def test_replies_far_longer_than_we_guess_do_not_break_it(
        self, benchmark: Benchmark, tmp_path: Path
    ) -> None:
        """What an answer takes is seen on one before many are asked."""
        usage = {"prompt_tokens": 20, "completion_tokens": 5000}
        price = {"input": 1, "output": 10}
        with serving(lambda *_: completion("B", usage=usage), latency=0.02) as server:
            model = card(tmp_path, server, connections=32, price=price)
            state = run_benchmark(benchmark, [model], tmp_path / "r", budget=Budget(usd=0.2))
        assert len(server.requests) == 3  # each is five cents
        assert state.ledger.spent["m"].usd == pytest.approx(0.15, abs=0.001)

    def test_a_server_that_is_down_is_not_waited_for_one_by_one(
        self, benchmark: Benchmark, tmp_path: Path
    ) -> None:
        def no(*_: Any) -> Any:
            if len(server.requests) > _MOST_FAILED_FIRST_CALLS:  # the first are asked one by one
                wait_until(lambda: server.most_inside > 1)
            return 400, {}, b"no"

        with serving(no) as server:
            model = card(tmp_path, server, connections=8)
            run_benchmark(benchmark, [model], tmp_path / "r", budget=Budget(tokens=1e6))
            assert len(server.requests) == COUNT
            assert server.most_inside > 1


class TestCards:
    def test_they_are_moved_together_with_the_run(
        self, benchmark: Benchmark, tmp_path: Path
    ) -> None:
        with serving(lambda *_: completion("B")) as server:
            model = card(tmp_path / "here", server)
            run_benchmark(benchmark, [model], tmp_path / "here" / "r")
            (tmp_path / "here").rename(tmp_path / "there")
            again = run_benchmark(benchmark, [], tmp_path / "there" / "r")
        assert (again.counts.asked, again.counts.known) == (0, COUNT)

    def test_what_is_left_out(self, benchmark: Benchmark, tmp_path: Path) -> None:
        models = ["baseline:random", "baseline:first"]
        run_benchmark(benchmark, models, tmp_path / "r", conditions=["protocol", "few orders=2"])
        run_benchmark(benchmark, [], tmp_path / "r", without=["baseline:first", "few"])
        record = read_run(tmp_path / "r")
        assert [model["name"] for model in record["models"]] == ["baseline:random"]
        assert [condition["name"] for condition in record["conditions"]] == ["protocol"]

    def test_two_of_one_name(self, benchmark: Benchmark, tmp_path: Path) -> None:
        with serving(lambda *_: completion("B")) as server:
            model = card(tmp_path, server)
            judge = card(tmp_path, server, "other", model="x")
            Path(judge).write_text(Path(judge).read_text().replace('"other"', '"m"'))
            with pytest.raises(ReelbenchError, match="Two models are called m"):
                run_benchmark(benchmark, [model], tmp_path / "r", judges=[judge])

    def test_a_key_in_place_of_its_name_is_not_repeated(self, tmp_path: Path) -> None:
        with serving(lambda *_: completion("B")) as server:
            model = card(tmp_path, server, key="sk-proj-REALSECRET123")
            benchmark = blind_benchmark(tmp_path / "b", make_item(1))
            with pytest.raises(ReelbenchError, match="environment variable") as error:
                run_benchmark(benchmark, [model], tmp_path / "r")
        assert "REALSECRET" not in str(error.value)

    def test_a_key_as_short_as_a_word_does_not_change_replies(
        self, benchmark: Benchmark, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("LOCAL_KEY", "none")
        with serving(lambda *_: completion("B, none of the others")) as server:
            model = card(tmp_path, server, key="LOCAL_KEY")
            run_benchmark(benchmark, [model], tmp_path / "r")
        rows = (tmp_path / "r" / "predictions.jsonl").read_text()
        assert rows.count("B, none of the others") == COUNT


class TestJudging:
    def start(self, benchmark: Path, model: str, out: Path, *more: str) -> CapturedCommand:
        words = ["--model", model, "--judge", model, "--out", out]
        return CapturedCommand("run", benchmark, *words, *more)

    def opened(self, root: Path) -> Benchmark:
        item = make_item(1, kind="open", options=(), answer=(), reference="A dog.")
        return blind_benchmark(root, item, modalities="T")

    def test_ctrl_c_loses_no_round_that_was_paid_for(self, tmp_path: Path) -> None:
        judging = threading.Event()

        def answer(body: dict[str, Any], _: int) -> Any:
            if "response_format" not in body:
                return completion("A dog.")
            judging.wait(200)
            return completion(GRADE)

        self.opened(tmp_path / "b")
        with serving(answer) as server:
            model = card(tmp_path, server)
            process = self.start(tmp_path / "b", model, tmp_path / "r")
            wait_until(lambda: len(server.requests) >= 6 or process.poll() is not None)
            os.kill(process.pid, signal.SIGINT)
            wait_until(lambda: not pending_signals(process.pid))
            judging.set()
            process.communicate()
            assert len(server.requests) == 6
            assert run_benchmark(
                Benchmark.load(tmp_path / "b"), [], tmp_path / "r"
            ).judging.asked == 0  # fmt: skip
            assert len(server.requests) == 6

    def test_what_was_judged_stays_when_a_later_call_is_stopped(self, tmp_path: Path) -> None:
        stuck = threading.Event()

        def answer(body: dict[str, Any], _: int) -> Any:
            if body["model"] == "slow":
                stuck.wait(200)
            return completion(GRADE if "response_format" in body else "A dog.")

        benchmark = self.opened(tmp_path / "b")
        with serving(answer) as server:
            model = card(tmp_path, server)
            run_benchmark(benchmark, [model], tmp_path / "r", judges=[model])
            before = (tmp_path / "r" / "judgements.jsonl").read_bytes()
            slow = card(tmp_path, server, "slow")
            process = self.start(tmp_path / "b", slow, tmp_path / "r")
            wait_until(lambda: any(body["model"] == "slow" for body in server.requests))
            os.kill(process.pid, signal.SIGINT)
            wait_until(lambda: not pending_signals(process.pid))
            stuck.set()
            process.communicate()
        assert before in (tmp_path / "r" / "judgements.jsonl").read_bytes()

    def test_a_reply_that_ends_in_half_a_character(self, tmp_path: Path) -> None:
        def answer(body: dict[str, Any], _: int) -> Any:
            return completion("{\ud83d" if "response_format" in body else "A dog.")

        benchmark = self.opened(tmp_path / "b")
        with serving(answer) as server:
            model = card(tmp_path, server)
            state = run_benchmark(benchmark, [model], tmp_path / "r", judges=[model])
            asked = len(server.requests)
            run_benchmark(benchmark, [], tmp_path / "r")
            assert len(server.requests) == asked == 1 + 5 * 4
        assert state.judged == 1


def test_a_page_of_a_run_of_an_earlier_version(benchmark: Benchmark, tmp_path: Path) -> None:
    run_benchmark(benchmark, ["baseline:first"], tmp_path / "r")
    record = json.loads((tmp_path / "r" / "run.json").read_text())
    for condition in record["conditions"]:
        for name in ("modalities", "rounds", "subtitles", "changes"):
            del condition[name]
    (tmp_path / "r" / "run.json").write_text(json.dumps(record))
    assert "Why 3?" in report_run(benchmark, tmp_path / "r").read_text()
