"""What ``reelbench make filters`` promises: the filters of all recipes, on anyone's benchmark."""

import json
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from actors import said_to
from filtering import SECRET, VIDEOS, Bench, fingerprints, planted, planted_bench
from support import make_item

from reelbench.data.benchmark import Benchmark
from reelbench.data.items import Media


@pytest.fixture
def bench(tmp_path: Path, videos: Path) -> Iterator[Bench]:
    with planted_bench(tmp_path, videos) as found:
        yield found


class TestEachFilter:
    def test_context_independence_drops_what_is_answered_blind(self, bench: Bench) -> None:
        told = bench.filter(*bench.role("blind"))
        assert told.status == 0, told.err
        assert told.kept == bench.of_kind("fine", "false")
        assert told.calls == {"blind": 5 * 12}
        assert set(told.rejects) == bench.of_kind("guessable")
        for reject in told.rejects.values():
            assert reject["reason"] == "answerable without context"
            assert len(reject["words"]) == 5
        for item in Benchmark.load(told.folder).items:
            assert item.provenance["independence"]["right"] == 0
        assert (
            "veracity was left out: no model for role veracity: add --model veracity=NAME."
            in told.err
        )

    def test_who_is_blind_reads_nothing_but_question_and_options(self, bench: Bench) -> None:
        bench.filter(*bench.role("blind"))
        for body in bench.server.requests:
            assert "image" not in json.dumps(body)
            assert "ferry crosses" not in said_to(body)
            assert "dog sleeps" not in said_to(body)

    def test_each_of_five_answers_is_asked_for_with_a_seed_of_its_own(self, bench: Bench) -> None:
        told = bench.filter(*bench.role("blind"))
        seeds = [body["seed"] for body in bench.server.requests]
        assert len(seeds) == len(set(seeds)) == told.calls["blind"] == 60
        again = bench.filter(*bench.role("blind"), "--seed", 1, out=bench.root / "other")
        assert again.calls["blind"] == 60
        assert not set(seeds) & {body["seed"] for body in bench.server.requests[60:]}
        record = json.loads((told.folder / "make" / "make.json").read_text())
        assert record["models"]["blind"][0]["sends_seeds"]

    def test_several_may_be_blind_and_one_who_knows_is_enough(self, bench: Bench) -> None:
        told = bench.filter(*bench.role("blind", "fool"), *bench.role("blind", "blind"))
        assert told.kept == bench.of_kind("fine", "false")
        assert told.calls == {"blind": 60, "fool": 60}

    def test_a_baseline_may_be_blind_and_drops_what_it_wins_beyond_chance(
        self, bench: Bench
    ) -> None:
        """All that it wins would be too much: then its rule would always be wrong."""
        few, many = ("x", "yy", "zzz"), 60
        bench.save(
            *(
                planted(
                    bench.actors, n, id=f"b-{n:02d}", question=f"Which of them is number {n}?",
                    options=(*few[: n % 2 * 3], "a" * (9 if n % 2 else 1), *few[n % 2 * 3 :]),
                    answer=("D" if n % 2 else "A",),
                )
                for n in range(many)
            )
        )  # fmt: skip
        told = bench.filter("--model", "blind=baseline:longest")
        assert told.status == 0, told.err
        assert not told.calls
        items = Benchmark.load(told.folder).items
        wins = sum(
            item.provenance["independence"]["models"]["baseline:longest"] == 5 for item in items
        )
        assert wins / len(items) == pytest.approx(0.25, abs=0.05)
        assert wins > 5
        assert {line["stage"] for line in told.rejects.values()} == {"shortcuts"}

    def test_an_ensemble_of_three_is_counted_together(self, bench: Bench) -> None:
        three = [*bench.role("ensemble", "knows-1"), *bench.role("ensemble", "fool"),
                 *bench.role("ensemble", "blind")]  # fmt: skip
        told = bench.filter(*three)
        assert told.calls == {"knows-1": 12, "fool": 12, "blind": 12}
        assert told.kept == bench.of_kind("fine", "false")  # one of three is right, or two
        item = Benchmark.load(told.folder).items[0]
        assert item.provenance["ensemble"]["models"] == {"knows-1": 1, "fool": 0, "blind": 0}
        stricter = bench.filter(*three, "--set", "ensemble.drop_at=0.3")
        assert not stricter.calls
        assert stricter.status == 1
        assert "No item is left" in stricter.err
        assert not (stricter.folder / "items.jsonl").exists()
        milder = bench.filter(*three, "--set", "ensemble.drop_at=0.7")
        assert not milder.calls
        assert len(milder.kept) == 12

    def test_veracity_reads_the_context_from_a_file_or_from_the_item(self, bench: Bench) -> None:
        told = bench.filter(*bench.role("veracity"))
        assert told.status == 0, told.err
        assert told.kept == bench.of_kind("fine", "guessable")
        asked = [said_to(body) for body in bench.server.requests]
        assert len(asked) == 60
        by_question = {item.question: item for item in bench.items}
        for text in asked:
            item = next(item for question, item in by_question.items() if question in text)
            assert ("ferry crosses" in text) == ("file" in item.context)
            assert ("dog sleeps" in text) == ("text" in item.context)
        for reject in told.rejects.values():
            assert reject["reason"] == "context contradicts the key"
            assert reject["facts"]["right"] == 0

    def test_a_watcher_sees_frames_and_nothing_else(self, bench: Bench) -> None:
        told = bench.filter(*bench.role("watcher"), "--set", "visual-only.sampling=uniform:2")
        assert told.status == 0, told.err
        assert told.kept == bench.of_kind("fine", "false")
        assert told.calls == {"watcher": 12}
        assert {reject["reason"] for reject in told.rejects.values()} == {
            "solved by pictures alone"
        }
        for body in bench.server.requests:
            kinds = Counter(part["type"] for part in body["messages"][-1]["content"])
            assert kinds["image_url"] == 2
            assert set(kinds) == {"image_url", "text"}
            assert SECRET not in said_to(body)

    def test_a_listener_hears_and_does_not_see(self, bench: Bench) -> None:
        told = bench.filter(*bench.role("listener", hears=True))
        assert told.status == 0, told.err
        assert told.kept == bench.of_kind("fine", "guessable")
        assert {reject["reason"] for reject in told.rejects.values()} == {"solved by sound alone"}
        for body in bench.server.requests:
            kinds = {part["type"] for part in body["messages"][-1]["content"]}
            assert "input_audio" in kinds
            assert "image_url" not in kinds

    def save_faulty(self, bench: Bench) -> None:
        """Save the items with three more, each of which fails a filter that asks no model."""
        first = bench.items[0]
        key = first.correct[0]
        long = f"{key} because the storm that came up in the night had torn away all the ropes"
        options = tuple(long if option == key else option for option in first.options)
        bench.save(
            *bench.items,
            planted(bench.actors, 20, id="long", options=options, answer=first.answer),
            planted(bench.actors, 21, id="twice", options=(*("the same",) * 2, "a cup", "a bell", "it")),
            planted(bench.actors, 0, id="z-again"),
        )  # fmt: skip

    def test_what_needs_no_model_runs_without_one(self, bench: Bench) -> None:
        self.save_faulty(bench)
        told = bench.filter(all_stages=True)
        assert told.status == 0, told.err
        assert not told.calls
        assert set(told.rejects) == {"long", "twice", "z-again"}
        assert told.rejects["long"]["stage"] == "key-length"
        assert told.rejects["twice"]["stage"] == "lint"
        for name in ("independence", "ensemble", "veracity", "visual-only", "audio-only"):
            assert f"{name} was left out" in told.err
        stages = ["lint", "near-duplicates", "key-length", "shortcuts", "key-positions", "collect"]
        assert list(told.stages) == stages

    def test_what_needs_no_model_is_told_to_report_by_set(self, bench: Bench) -> None:
        self.save_faulty(bench)
        stages = ["lint", "near-duplicates", "key-length", "shortcuts"]
        words = [word for name in stages for word in ("--set", f"{name}.drop=false")]
        told = bench.filter(*words, all_stages=True)
        assert told.status == 0, told.err
        assert told.kept == {item.id for item in bench.items}
        assert not told.rejects
        assert [told.stages[name]["rejected"] for name in stages] == [0] * 4
        flagged = {
            (item.id, stage)
            for item in Benchmark.load(told.folder).items
            for stage in stages
            if "flagged" in item.provenance.get(stage, {})
        }
        assert flagged >= {("twice", "lint"), ("long", "key-length")}
        assert told.stages["key-length"]["rate"] == round(1 / 15, 6)
        before = fingerprints(told.folder)
        assert bench.filter(all_stages=True).kept == told.kept
        assert fingerprints(told.folder) == before

    def test_open_questions_pass_and_yes_or_no_is_asked(self, bench: Bench) -> None:
        yes = planted(
            bench.actors, 30, id="yes", kind="yesno", options=("Yes", "No"), answer=("A",)
        )
        bench.actors.planted[yes.question] = ("guessable", "Yes")
        free = make_item(
            id="free", kind="open", options=(), answer=(), reference="a bell", media=(Media(VIDEOS[0]),)
        )  # fmt: skip
        bench.save(yes, free)
        told = bench.filter(*bench.role("blind"), *bench.role("ensemble", "knows-1"))
        assert told.kept == {"free"}
        assert set(told.rejects) == {"yes"}
        assert told.calls == {"blind": 5}


class TestTogether:
    def test_all_filters_one_after_the_other(self, bench: Bench) -> None:
        words = [*bench.role("blind"), *bench.role("veracity"), *bench.role("watcher"),
                 *bench.role("ensemble", "fool"), *bench.role("listener", hears=True),
                 "--set", "visual-only.sampling=uniform:2"]  # fmt: skip
        told = bench.filter(*words, all_stages=True)
        assert told.status == 0, told.err
        assert told.kept == bench.of_kind("fine")
        stages = list(told.stages.values())
        assert [stage["stage"] for stage in stages] == [
            "lint", "near-duplicates", "key-length", "independence", "ensemble", "veracity", "visual-only",
            "audio-only", "shortcuts", "key-positions", "collect",
        ]  # fmt: skip
        for before, after in pairwise(stages):
            assert before["out"] == after["in"]
        for stage in stages:
            assert stage["in"] == stage["passed"] + stage["rejected"] + stage["undecided"]
        assert len(told.rejects) == sum(stage["rejected"] for stage in stages)
        for name in ("independence", "ensemble", "veracity", "visual-only", "audio-only"):
            low, high = told.stages[name]["interval"]
            assert 0 <= low <= told.stages[name]["rate"] <= high <= 1
            assert 1 <= told.stages[name]["videos"] <= told.stages[name]["in"]
        facts = Benchmark.load(told.folder).items[0].provenance
        assert {"independence", "ensemble", "veracity", "visual-only", "audio-only"} <= set(facts)
        before = fingerprints(told.folder)
        again = bench.filter(*words, all_stages=True)
        assert (again.status, again.calls) == (0, {})
        assert fingerprints(told.folder) == before

    def test_a_forecast_says_what_is_then_asked_and_writes_nothing(self, bench: Bench) -> None:
        words = [
            *bench.role("blind"),
            *bench.role("watcher"),
            "--set",
            "visual-only.sampling=uniform:2",
        ]
        told = bench.filter(*words, "--dry-run")
        assert told.status == 0, told.err
        assert not told.calls
        assert not told.folder.exists()
        rows = {line.split()[0]: line.split() for line in told.out.splitlines()}
        assert rows["independence"][4] == "60"
        assert bench.filter(*words).calls["blind"] == 60

    def test_the_command_fills_a_folder_with_the_prompts_of_the_filters(self, bench: Bench) -> None:
        folder = bench.root / "prompts"
        told = bench.filter(*bench.role("blind"), "--prompts", folder)
        assert told.status == 0, told.err
        assert {"independence.md", "veracity.md", "answer.md"} <= {p.name for p in folder.iterdir()}
        edited = folder / "independence.md"
        edited.write_text(edited.read_text() + "\nBe quick.\n")
        assert bench.filter(*bench.role("blind"), "--prompts", folder).calls == {"blind": 60}
