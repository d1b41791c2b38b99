"""A budget is kept: what would be over it is not asked, and a larger one finishes the rest."""

import json
import math
from pathlib import Path
from typing import Any

import pytest
from servers import Reply, Server, completion, serving
from support import blind_benchmark, make_item, run_here

from reelbench.base.errors import ReelbenchError
from reelbench.client.budget import Budget, parse_budget
from reelbench.data.benchmark import Benchmark
from reelbench.evaluate.run import run_benchmark

COUNT = 30
TOKENS = 103  # of each answer, as the server counts: 100 in and 3 out
PRICE = {"input": 10.0, "output": 100.0}
USD = (100 * 10 + 3 * 100) / 1e6  # of each answer


def letter(body: dict[str, Any], _: int = 0) -> Reply:
    text = body["messages"][0]["content"][-1]["text"]
    return completion("ABCD"[sum(text.encode()) % 4])


@pytest.fixture
def benchmark(tmp_path: Path) -> Benchmark:
    items = [make_item(n, question=f"Question number {n}?") for n in range(COUNT)]
    return blind_benchmark(tmp_path / "b", *items, modalities="T")


def card(folder: Path, server: Server, name: str = "far", **more: Any) -> str:
    fields = {"name": name, "endpoint": server.url, "backoff": 0.01, "retries": 0, "connections": 2}
    (folder / f"{name}.yaml").write_text(json.dumps(fields | more))
    return str(folder / f"{name}.yaml")


def predictions(out: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (out / "predictions.jsonl").read_text().splitlines()]


def status(out: Path) -> dict[str, Any]:
    return dict(json.loads((out / "status.json").read_text()))


@pytest.mark.parametrize(("budget", "more", "most"), [
    (Budget(tokens=10 * TOKENS + 50), {}, 10),
    (Budget(usd=10.5 * USD), {"price": PRICE}, 10),
    (Budget(tokens=0), {}, 0),
    (Budget(usd=0), {"price": PRICE}, 0),
])  # fmt: skip
def test_it_stops_and_a_larger_one_finishes(
    budget: Budget, more: Any, most: int, benchmark: Benchmark, tmp_path: Path
) -> None:
    with serving(letter) as server:
        model = card(tmp_path, server, **more)
        run_benchmark(benchmark, [model], tmp_path / "free")
        del server.requests[:]
        state = run_benchmark(benchmark, [model], tmp_path / "r", budget=budget)
        asked = len(server.requests)
        assert most - 3 <= asked <= most + 2 or asked == most == 0  # two are under way at a time
        rows = predictions(tmp_path / "r")
        assert [row["status"] for row in rows].count("over_budget") == COUNT - asked
        over = [row for row in rows if row["status"] == "over_budget"]
        assert all((row["response"], row["parsed"]) == (None, None) for row in over)
        assert all("run again with a larger --budget" in row["error"] for row in over)
        assert (state.done, len(state.failures)) == (asked, COUNT - asked)
        again = run_benchmark(benchmark, [], tmp_path / "r", budget=Budget(tokens=1e6))
        assert (again.counts.asked, again.counts.known) == (COUNT - asked, asked)
        assert len(server.requests) == COUNT
    free, ours = (tmp_path / name / "predictions.jsonl" for name in ("free", "r"))
    assert ours.read_bytes() == free.read_bytes()


def test_what_was_spent_is_what_the_server_says_times_the_price(
    benchmark: Benchmark, tmp_path: Path
) -> None:
    with serving(letter) as server:
        model = card(tmp_path, server, price=PRICE)
        run_benchmark(benchmark, [model], tmp_path / "r", budget=Budget(usd=5.5 * USD))
        count = len(server.requests)
        spent = status(tmp_path / "r")["spent"]["far"]
        assert spent.pop("seconds") > 0
        assert spent == {
            "requests": count,
            "input_tokens": 100 * count,
            "output_tokens": 3 * count,
            "usd": pytest.approx(count * USD),
        }
        run_benchmark(benchmark, [], tmp_path / "r", budget=Budget())
    spent = status(tmp_path / "r")["spent"]["far"]
    assert (spent["requests"], spent["usd"]) == (COUNT, pytest.approx(COUNT * USD))


def test_it_is_for_all_of_the_run_not_for_each_call_of_it(
    benchmark: Benchmark, tmp_path: Path
) -> None:
    with serving(letter) as server:
        model = card(tmp_path, server)
        for _ in range(3):
            run_benchmark(benchmark, [model], tmp_path / "r", budget=Budget(tokens=10 * TOKENS))
        assert len(server.requests) <= 12


def test_it_is_for_all_models_together(benchmark: Benchmark, tmp_path: Path) -> None:
    with serving(letter) as server:
        models = [card(tmp_path, server), card(tmp_path, server, "near")]
        run_benchmark(benchmark, models, tmp_path / "r", budget=Budget(tokens=10 * TOKENS))
        assert 7 <= len(server.requests) <= 14


def silent(body: dict[str, Any], number: int) -> Reply:
    """A server that does not say what an answer took."""
    code, headers, content = letter(body)
    return code, headers, json.dumps(json.loads(content) | {"usage": None}).encode()


def test_a_server_that_does_not_count_is_estimated(benchmark: Benchmark, tmp_path: Path) -> None:
    with serving(silent) as server:
        model = card(tmp_path, server)
        run_benchmark(benchmark, [model], tmp_path / "r", budget=Budget(tokens=600))
        asked = len(server.requests)
        assert 3 <= asked < COUNT
        spent = status(tmp_path / "r")["spent"]["far"]
        assert spent["estimated_requests"] == asked
        assert 300 <= spent["input_tokens"] + spent["output_tokens"] <= 600


def test_estimates_are_not_forgotten_when_a_run_goes_on(
    benchmark: Benchmark, tmp_path: Path
) -> None:
    with serving(silent) as server:
        model = card(tmp_path, server)
        run_benchmark(benchmark, [model], tmp_path / "r", budget=Budget(tokens=600))
        asked, spent = len(server.requests), status(tmp_path / "r")["spent"]
        run_benchmark(benchmark, [model], tmp_path / "r", budget=Budget(tokens=600))
        assert len(server.requests) == asked
        names = ("requests", "input_tokens", "output_tokens")
        now = status(tmp_path / "r")["spent"]
        assert [now["far"][name] for name in names] == [spent["far"][name] for name in names]


def test_a_failed_call_takes_nothing_of_it(benchmark: Benchmark, tmp_path: Path) -> None:
    with serving(lambda *_: (400, {}, b"no")) as server:
        model = card(tmp_path, server)
        state = run_benchmark(benchmark, [model], tmp_path / "r", budget=Budget(tokens=200))
        assert len(server.requests) == COUNT
    assert {failure["status"] for failure in state.failures} == {"error"}


def test_media_that_cannot_be_shown_are_no_request(tmp_path: Path) -> None:
    benchmark = blind_benchmark(tmp_path / "b", make_item(1))
    (tmp_path / "b/media").mkdir(exist_ok=True)
    (tmp_path / "b/media/1.mp4").write_bytes(b"no video")
    with serving(letter) as server:
        model = card(tmp_path, server)
        counts = []
        for _ in range(2):
            run_benchmark(benchmark, [model], tmp_path / "r")
            counts.append(status(tmp_path / "r")["spent"].get("far", {}).get("requests", 0))
        assert server.requests == []
    assert counts == [0, 0]


class TestJudges:
    def run(self, folder: Path, server: Server, budget: str) -> int:
        item = make_item(1, kind="open", options=(), answer=(), reference="A dog.")
        blind_benchmark(folder / "b", item, modalities="T")
        words = ["--model", card(folder, server), "--judge", card(folder, server, "judge")]
        return run_here("run", folder / "b", *words, "--budget", budget, "--out", folder / "r")

    def test_judging_is_within_it_and_what_is_left_is_told(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        def answer(body: dict[str, Any], _: int) -> Reply:
            judging = body["model"] == "judge"
            return completion('{"reason": "so", "score": 2}' if judging else "A dog.")

        with serving(answer) as server:
            done = self.run(tmp_path, server, "400tokens")
            told = capsys.readouterr().err
            asked = [body["model"] for body in server.requests]
            assert asked.count("far") == 1
            assert asked.count("judge") < 5
            rounds = json.loads((tmp_path / "r" / "judgements.jsonl").read_text())["rounds"]
            over = [each for each in rounds if each.get("status") == "over_budget"]
            assert len(over) == 5 - asked.count("judge")
            rest = self.run(tmp_path, server, "100000tokens")
            assert (rest, len(server.requests)) == (0, 6)
        assert done == 1, told
        assert "budget" in told


class TestCommand:
    def run(self, folder: Path, model: str, *words: str) -> int:
        return run_here("run", folder / "b", "--model", model, "--out", folder / "r", *words)

    def test_it_names_what_is_left_and_exits_1(
        self, benchmark: Benchmark, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        with serving(letter) as server:
            model = card(tmp_path, server, price=PRICE)
            assert self.run(tmp_path, model, "--budget", f"{5.5 * USD:.6f}usd") == 1
            told = capsys.readouterr().err
            asked = len(server.requests)
            assert asked <= 7
            assert f"{COUNT - asked} over budget" in told
            assert "the budget is spent: run again with a larger --budget" in told
            assert f"${asked * USD:.4f}" in told
            rest = self.run(tmp_path, model, "--budget", "1usd")
            assert (rest, len(server.requests)) == (0, COUNT)

    def test_dollars_need_a_price(
        self, benchmark: Benchmark, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        with serving(letter) as server:
            assert self.run(tmp_path, card(tmp_path, server), "--budget", "5usd") == 2
            assert server.requests == []
        told = capsys.readouterr().err
        assert "far has no price, so a budget in dollars cannot be kept" in told
        assert not (tmp_path / "r").exists()

    def test_nonsense(
        self, benchmark: Benchmark, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert self.run(tmp_path, "baseline:random", "--budget", "plenty") == 2
        assert "The budget 'plenty' cannot be read" in capsys.readouterr().err
        assert not (tmp_path / "r").exists()


def test_judges_need_a_price_too(benchmark: Benchmark, tmp_path: Path) -> None:
    with serving(letter) as server, pytest.raises(ReelbenchError, match="judge has no price"):
        run_benchmark(
            benchmark,
            [card(tmp_path, server, price=PRICE)],
            tmp_path / "r",
            judges=[card(tmp_path, server, "judge")],
            budget=Budget(usd=5),
        )


@pytest.mark.parametrize(("text", "budget"), [
    ("5", Budget(usd=5)), ("2.50usd", Budget(usd=2.5)), ("$5", Budget(usd=5)), ("5 USD", Budget(usd=5)),
    ("5$", Budget(usd=5)), ("2000000tokens", Budget(tokens=2e6)), ("2_000_000 tokens", Budget(tokens=2e6)),
    ("1token", Budget(tokens=1)), (" 0 ", Budget(usd=0)),
])  # fmt: skip
def test_forms(text: str, budget: Budget) -> None:
    assert parse_budget(text) == budget
    assert math.inf in (parse_budget(text).usd, parse_budget(text).tokens)


@pytest.mark.parametrize("text", [
    "", "plenty", "-5", "5eur", "nan", "inf", "1e6tokens", "5..0", "5 usd tokens", "usd", "5,000", "$5tokens",
])  # fmt: skip
def test_no_forms(text: str) -> None:
    with pytest.raises(ReelbenchError, match="cannot be read: write dollars"):
        parse_budget(text)
