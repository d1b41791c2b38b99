"""A run asks once, loses nothing, and goes on after a crash."""

import json
import os
import re
import signal
from pathlib import Path
from typing import Any

import pytest
from commands import CapturedCommand
from support import blind_benchmark, make_item, reelbench

from reelbench.base.errors import ReelbenchError
from reelbench.client.journal import open_journal
from reelbench.data.benchmark import Benchmark
from reelbench.data.items import freeze
from reelbench.data.manifest import Protocol
from reelbench.evaluate.run import run_benchmark
from reelbench.evaluate.vote import majority

BLIND = ["baseline:random", "baseline:longest"]


def predictions(out: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (out / "predictions.jsonl").read_text().splitlines()]


ITEMS = tuple(make_item(n, question=f"Question {n}?", media=make_item(1).media) for n in range(8))


class TestFolder:
    def test_it_holds_what_the_contract_says(self, small_demo: Path) -> None:
        run = small_demo / "run"
        names = {path.name for path in run.iterdir()}
        assert {
            "run.json",
            "journal.sqlite",
            "predictions.jsonl",
            "scores.json",
            "report.html",
            "status.json",
        } <= names
        rows = predictions(run)
        assert all(
            set(row) >= {"id", "model", "condition", "order", "status", "response", "parsed"}
            for row in rows
        )
        status = json.loads((run / "status.json").read_text())
        assert status["state"] == "done"
        assert status["done"] == status["total"] == len(rows)
        record = json.loads((run / "run.json").read_text())
        assert record["benchmark"]["digest"] == Benchmark.load(small_demo / "benchmark").digest
        assert record["benchmark"]["path"] == "../benchmark"

    def test_nothing_of_the_construction_reaches_a_model(self, tmp_path: Path) -> None:
        from reelbench.client.media_input import NO_MEDIA
        from reelbench.evaluate.condition import Condition
        from reelbench.evaluate.plan import RunPlan
        from reelbench.evaluate.prompt import load_prompts
        from reelbench.models.load import load_model

        hidden = freeze({"note": "SECRET"})
        item = make_item(1, context=hidden, provenance=hidden, reference="SECRET", tags=hidden)
        benchmark = blind_benchmark(tmp_path, item)
        condition = Condition.of(Protocol(), "protocol", {})
        prompts = {condition: load_prompts("default", tmp_path)}
        model = load_model("baseline:pixels")
        (ask,) = RunPlan(benchmark, [model], prompts, {"media/1.mp4": "x"}, seed=0)
        assert "SECRET" not in repr(ask.request(NO_MEDIA))


class TestResume:
    def test_the_second_run_asks_nothing_and_changes_nothing(self, own_demo: Path) -> None:
        files = ["run.json", "predictions.jsonl", "scores.json", "report.html"]
        before = {name: (own_demo / "run" / name).read_bytes() for name in files}
        done = reelbench("run", own_demo / "benchmark", "--out", own_demo / "run")
        assert done.returncode == 0
        assert ": 0 asked now, 162 answered before." in done.stderr
        assert {name: (own_demo / "run" / name).read_bytes() for name in files} == before

    def test_only_an_edited_question_is_asked_again(self, tmp_path: Path) -> None:
        benchmark = blind_benchmark(tmp_path / "b", *ITEMS)
        assert run_benchmark(benchmark, BLIND, tmp_path / "run").counts.asked == 16
        edited = blind_benchmark(tmp_path / "b", *ITEMS[:-1], make_item(7, question="New?"))
        assert run_benchmark(edited, [], tmp_path / "run").counts.asked == 2

    def test_renamed_items_cost_nothing(self, tmp_path: Path) -> None:
        benchmark = blind_benchmark(tmp_path / "b", *ITEMS)
        run_benchmark(benchmark, ["baseline:longest"], tmp_path / "run")
        renamed = [
            make_item(n + 50, question=f"Question {n}?", media=ITEMS[0].media) for n in range(8)
        ]
        again = blind_benchmark(tmp_path / "b", *renamed)
        assert run_benchmark(again, [], tmp_path / "run").counts.asked == 0

    def test_a_new_model_joins_the_others(self, tmp_path: Path) -> None:
        benchmark = blind_benchmark(tmp_path / "b", *ITEMS)
        run_benchmark(benchmark, BLIND[:1], tmp_path / "run")
        assert run_benchmark(benchmark, BLIND[1:], tmp_path / "run").counts.asked == 8
        assert {row["model"] for row in predictions(tmp_path / "run")} == set(BLIND)

    def test_kill_9_and_go_on(self, small_demo: Path, tmp_path: Path) -> None:
        benchmark, out = small_demo / "benchmark", tmp_path / "run"
        models = [
            "--model",
            "baseline:random",
            "--model",
            "baseline:longest",
            "--model",
            "baseline:pixels",
        ]
        twentieth = (signal.SIGKILL, "reelbench.client.journal.Journal.record", 20)
        process = CapturedCommand("run", benchmark, "--out", out, *models, interrupted=twentieth)
        assert process.wait() == -signal.SIGKILL
        assert not (out / "predictions.jsonl").exists()
        resumed = reelbench("run", benchmark, "--out", out, *models)
        assert resumed.returncode == 0, resumed.stderr
        asked = int(re.search(r"(\d+) asked now", resumed.stderr)[1])
        assert asked == len(predictions(out)) - 20
        for name in ("predictions.jsonl", "scores.json"):
            assert (out / name).read_bytes() == (small_demo / "run" / name).read_bytes()

    def test_another_benchmark_is_refused(self, small_demo: Path, tmp_path: Path) -> None:
        benchmark = blind_benchmark(tmp_path / "b", *ITEMS)
        run_benchmark(benchmark, BLIND, tmp_path / "run")
        with pytest.raises(ReelbenchError, match=r"holds a run of blind, not of reelbench-demo"):
            run_benchmark(Benchmark.load(small_demo / "benchmark"), BLIND, tmp_path / "run")


class TestFailures:
    def test_a_broken_video_costs_its_own_questions(self, own_demo: Path, tmp_path: Path) -> None:
        root = own_demo / "benchmark"
        (root / "media" / "scene-02.mp4").write_bytes(b"broken")
        (root / "media" / "scene-03.mp4").unlink()
        done = reelbench(
            "run",
            root,
            "--model",
            "baseline:pixels",
            "--model",
            "baseline:random",
            "--out",
            tmp_path / "run",
        )
        assert done.returncode == 1
        assert "scene-02.mp4: cannot be decoded" in done.stderr
        rows = predictions(tmp_path / "run")
        failed = [row for row in rows if row["status"] == "error"]
        assert {row["model"] for row in failed} == {"baseline:pixels"}
        assert all(row["parsed"] is None and row["response"] is None for row in failed)
        scores = json.loads((tmp_path / "run" / "scores.json").read_text())
        pixels = next(row for row in scores["results"] if row["model"] == "baseline:pixels")
        assert pixels["statuses"]["error"] == len(failed) == pixels["items"] - pixels["answered"]
        status = json.loads((tmp_path / "run" / "status.json").read_text())
        assert len(status["failures"]) == len(failed)

    def test_a_failure_is_asked_again(self, own_demo: Path, tmp_path: Path) -> None:
        root, video = own_demo / "benchmark", own_demo / "benchmark" / "media" / "scene-02.mp4"
        whole = video.read_bytes()
        video.unlink()
        first = run_benchmark(Benchmark.load(root), ["baseline:pixels"], tmp_path / "run")
        video.write_bytes(whole)
        second = run_benchmark(Benchmark.load(root), [], tmp_path / "run")
        assert second.counts.asked == len(first.failures) > 0
        assert second.failures == []

    def test_two_runs_on_one_folder(self, tmp_path: Path) -> None:
        benchmark = blind_benchmark(tmp_path / "b", *ITEMS)
        (tmp_path / "run").mkdir()
        with (
            open_journal(tmp_path / "run" / "journal.sqlite"),
            pytest.raises(ReelbenchError, match="another run"),
        ):
            run_benchmark(benchmark, BLIND, tmp_path / "run")

    def test_open_questions_are_not_answered_by_letters(self, tmp_path: Path) -> None:
        item = make_item(1, kind="open", options=(), answer=(), reference="A dog barks.")
        state = run_benchmark(blind_benchmark(tmp_path / "b", item), BLIND, tmp_path / "run")
        assert [failure["status"] for failure in state.failures] == ["refused", "refused"]

    @pytest.mark.parametrize(("models", "words"), [
        ([], "name at least one"), (["gpt"], "backend:name"), (["baseline:best"], "longest"),
    ])  # fmt: skip
    def test_no_such_model(self, models: list[str], words: str, tmp_path: Path) -> None:
        with pytest.raises(ReelbenchError, match=words):
            run_benchmark(blind_benchmark(tmp_path / "b", *ITEMS), models, tmp_path / "run")


class TestOrders:
    def test_orders_are_seeded_and_answers_are_options_not_letters(self, tmp_path: Path) -> None:
        options = ("tiny", "a much longer option", "small", "mini")
        items = [make_item(n, options=options, question=f"Question {n}?") for n in range(6)]
        benchmark = blind_benchmark(tmp_path / "b", *items, orders=4)
        run_benchmark(benchmark, ["baseline:longest"], tmp_path / "run")
        rows = predictions(tmp_path / "run")
        assert len(rows) == 24
        assert {tuple(row["parsed"]) for row in rows} == {("B",)}
        assert len({row["response"] for row in rows}) > 1
        assert all("permutation" not in row for row in rows if row["order"] == 0)
        run_benchmark(benchmark, ["baseline:longest"], tmp_path / "again")
        assert predictions(tmp_path / "again") == rows

    def test_majority(self) -> None:
        a, b = frozenset("A"), frozenset("B")
        assert majority([b, a, a]) == a
        assert majority([None, b]) == b
        assert majority([b, a]) == b
        assert majority([None]) is None


class TestPrompts:
    def test_a_benchmark_brings_its_own(self, tmp_path: Path) -> None:
        (tmp_path / "b" / "prompts" / "terse").mkdir(parents=True)
        (tmp_path / "b" / "prompts" / "terse" / "single.md").write_text(
            "{{options}}\n{{question}} {x}"
        )
        from reelbench.evaluate.prompt import load_prompts

        prompts = load_prompts("prompts/terse", tmp_path / "b", {"single"})
        prompt = prompts.render(make_item(1, question="Why {{options}}?"), (1, 0, 2, 3))
        text = prompt.with_frames([16])
        assert text.splitlines()[:2] == ["A. a dog barks", "B. a door opens"]
        assert text.endswith("Why {{options}}? {x}")

    @pytest.mark.parametrize(
        ("name", "words"),
        [
            ("../b", "is not inside"),
            ("absent", "a built-in one \\(default, humanvbench, qbench, reasoned\\)"),
        ],
    )
    def test_no_such_prompt(self, name: str, words: str, tmp_path: Path) -> None:
        benchmark = blind_benchmark(tmp_path / "b", *ITEMS, prompt=name)
        with pytest.raises(ReelbenchError, match=words):
            run_benchmark(benchmark, BLIND, tmp_path / "run")

    def test_an_unknown_slot(self, tmp_path: Path) -> None:
        (tmp_path / "b" / "mine").mkdir(parents=True)
        (tmp_path / "b" / "mine" / "single.md").write_text("{{answer}}")
        benchmark = blind_benchmark(tmp_path / "b", *ITEMS, prompt="mine")
        with pytest.raises(ReelbenchError, match=r"slot \{\{answer\}\}"):
            run_benchmark(benchmark, BLIND, tmp_path / "run")


class TestAskedOnce:
    def test_the_same_question_about_the_same_video(self, tmp_path: Path) -> None:
        twins = [make_item(n, question="Why?", media=ITEMS[0].media) for n in range(3)]
        benchmark = blind_benchmark(tmp_path / "b", *twins)
        state = run_benchmark(benchmark, ["baseline:longest"], tmp_path / "run")
        assert (state.counts.asked, state.counts.repeated, state.done) == (1, 2, 3)

    def test_a_draw_is_made_for_every_item(self, tmp_path: Path) -> None:
        twins = [make_item(n, question="Why?") for n in range(40)]
        benchmark = blind_benchmark(tmp_path / "b", *twins)
        assert run_benchmark(benchmark, ["baseline:random"], tmp_path / "run").counts.asked == 40
        assert len({row["response"] for row in predictions(tmp_path / "run")}) == 4


class TestRunRecord:
    def test_damage_is_repaired_by_naming_the_models(self, tmp_path: Path) -> None:
        benchmark = blind_benchmark(tmp_path / "b", *ITEMS)
        run_benchmark(benchmark, BLIND, tmp_path / "run")
        for damage in ("", "{", "[]", "{}", '{"models": 3}'):
            (tmp_path / "run" / "run.json").write_text(damage)
            with pytest.raises(ReelbenchError, match="naming its models with --model"):
                run_benchmark(benchmark, [], tmp_path / "run")
            assert run_benchmark(benchmark, BLIND, tmp_path / "run").counts.asked == 0

    def test_a_wrong_model_leaves_no_folder(self, tmp_path: Path) -> None:
        benchmark = blind_benchmark(tmp_path / "b", *ITEMS)
        with pytest.raises(ReelbenchError, match="backends"):
            run_benchmark(benchmark, ["oracle:delphi"], tmp_path / "run")
        assert not (tmp_path / "run").exists()

    def test_from_within_a_running_loop(self, tmp_path: Path) -> None:
        import asyncio

        async def notebook() -> int:
            return run_benchmark(
                blind_benchmark(tmp_path / "b", *ITEMS), BLIND, str(tmp_path / "run")
            ).counts.asked

        assert asyncio.run(notebook()) == 16


def test_media_that_never_end_are_refused(tmp_path: Path) -> None:
    benchmark = blind_benchmark(tmp_path / "b", make_item(1))
    (tmp_path / "b" / "media").mkdir()
    os.mkfifo(tmp_path / "b" / "media" / "1.mp4")
    state = run_benchmark(benchmark, ["baseline:pixels"], tmp_path / "run")
    assert "not a file" in state.failures[0]["error"]


@pytest.mark.parametrize(("text", "words"), [
    ("{{options}}", "single.md lacks the slot {{question}}"),
    ("{{question}}", "single.md lacks the slot {{options}}"),
    (b"{{question}} {{options}} \xff", "single.md cannot be read: 'utf-8' codec"),
    (None, "single.md is missing"),
])  # fmt: skip
def test_prompts_are_checked_before_any_work(
    text: str | bytes | None, words: str, tmp_path: Path
) -> None:
    (tmp_path / "b" / "mine").mkdir(parents=True)
    if text is not None:
        content = text if isinstance(text, bytes) else text.encode()
        (tmp_path / "b" / "mine" / "single.md").write_bytes(content)
    benchmark = blind_benchmark(tmp_path / "b", *ITEMS, prompt="mine")
    with pytest.raises(ReelbenchError) as caught:
        run_benchmark(benchmark, BLIND, tmp_path / "run")
    assert words in str(caught.value)
