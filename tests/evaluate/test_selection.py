"""Part of a benchmark: by tags, or a number of items; run, score and report say which it is."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from servers import completion, serving
from support import make_item, run_here

from reelbench.base.errors import ReelbenchError
from reelbench.data.benchmark import Benchmark
from reelbench.data.items import freeze
from reelbench.data.manifest import Protocol
from reelbench.data.selection import Selection, parse_where, selection_from
from reelbench.evaluate.folder import read_run
from reelbench.evaluate.run import run_benchmark
from reelbench.score.score import score_runs

Save = Callable[..., Path]
COUNT = 20


@pytest.fixture
def root(save: Save) -> Path:
    """Twenty items: five of motion among others of colour, two with several answers, one with two skills."""
    items = [
        make_item(
            number,
            tags=freeze(
                {
                    "category": "motion" if number % 4 == 0 else "colour",
                    "skill": ["see", "count"] if number == 3 else "see",
                    "a=b": "c=d" if number == 7 else "x",
                }
            ),
            kind="multi" if number > 17 else "single",
            answer=("A" if number % 2 else "B",),
        )
        for number in range(COUNT)
    ]
    return save(*items, protocol=Protocol(modalities="T"))


def run(root: Path, out: Path, *words: object) -> int:
    return run_here("run", root, "--model", "baseline:first", "--out", out, *words)


def read(path: Path) -> Any:
    return json.loads(path.read_text())


def asked(out: Path) -> set[str]:
    return {json.loads(line)["id"] for line in (out / "predictions.jsonl").read_text().splitlines()}


class TestSelection:
    def test_a_larger_limit_adds_items_and_drops_none(self, root: Path) -> None:
        benchmark = Benchmark.load(root)
        before: set[str] = set()
        for limit in range(1, COUNT + 3):
            part = benchmark.select(Selection(limit=limit, seed=3))
            names = {item.id for item in part.items}
            assert before <= names
            assert len(names) == min(limit, COUNT)
            before = names

    def test_a_draw_depends_on_seed_and_ids_alone(self, root: Path) -> None:
        def drawn(seed: int) -> list[str]:
            part = Benchmark.load(root).select(Selection(limit=6, seed=seed))
            return [item.id for item in part.items]

        zero, one = drawn(0), drawn(1)
        assert zero != one
        lines = (root / "items.jsonl").read_text().splitlines(keepends=True)
        (root / "items.jsonl").write_text("".join(reversed(lines)))
        assert drawn(0) == zero[::-1]  # in the order of the file, but the same ones

    @pytest.mark.parametrize(
        ("conditions", "count"),
        [
            (["category=motion"], 5),
            (["category=motion", "category=colour"], 20),
            (["category=colour", "kind=multi"], 2),
            (["skill=count"], 1),
            (["id=q-3", "id=q-4"], 2),
            (["video=media/5.mp4"], 1),
            (["a=b=c=d"], 1),
            (["Category=motion"], 5),
            (["A=B=c=d"], 1),
            (["KIND=multi", " Category =colour"], 2),
        ],
    )
    def test_several_tags_all_fit_and_of_several_values_any_does(
        self, root: Path, conditions: list[str], count: int
    ) -> None:
        benchmark = Benchmark.load(root)
        where = parse_where(conditions, benchmark.items)
        assert len(benchmark.select(Selection(where=where)).items) == count

    def test_a_tag_in_another_case_is_meant_where_it_is_the_only_one(self) -> None:
        items = [make_item(1, tags={"Skill": "a", "Kind": "b", "kind": "c"})]
        assert parse_where(["skill=a"], items) == {"Skill": ("a",)}
        assert parse_where(["kind=c", "Kind=b"], items) == {"kind": ("c",), "Kind": ("b",)}
        assert parse_where(["KIND=b"], items) == {"KIND": ("b",)}  # either may be meant

    @pytest.mark.parametrize(
        ("condition", "message"),
        [
            ("categori=motion", "perhaps 'category' is meant; its tags: a=b, category, skill;"),
            ("category=Motion", "perhaps 'motion' is meant; what there is: colour (15), motion"),
            ("category=", "what there is: colour (15), motion (5)"),
            ("kind=video", "what there is: multi (2), single (18)"),
            ("motion", "write tag=value"),
            ("=motion", "write tag=value"),
        ],
    )
    def test_what_is_not_there_gets_a_sentence_with_what_is(
        self, root: Path, condition: str, message: str, capsys: pytest.CaptureFixture[str]
    ) -> None:
        out = root.parent / "run"
        assert run(root, out, "--where", condition) == 2
        assert message in capsys.readouterr().err
        assert not out.exists()

    def test_conditions_that_no_item_meets_together(self, root: Path) -> None:
        where = {"category": "motion", "kind": "multi"}
        with pytest.raises(ReelbenchError, match="where category=motion and kind=multi"):
            Benchmark.load(root).select(Selection(where=where))

    def test_it_is_read_back_as_it_was_written(self) -> None:
        inner = Selection(split="dev", where={"b": ["y", "x"], "a": "z"})
        outer = Selection(limit=5, seed=7, within=inner)
        assert selection_from({"selection": outer.to_record()}) == outer
        assert selection_from({"split": "dev"}) == Selection(split="dev")  # as it once was
        assert selection_from({}) == Selection()
        for broken in ({"limit": "10"}, {"limit": 0}, {"where": ["x"]}, ["x"], {"within": 3}):
            with pytest.raises(ReelbenchError):
                selection_from({"selection": broken})

    def test_a_damaged_record_is_a_sentence_with_its_file(self, root: Path, tmp_path: Path) -> None:
        out = tmp_path / "run"
        assert run(root, out, "--limit", 3) == 0
        text = (out / "run.json").read_text()
        (out / "run.json").write_text(text.replace('"limit": 3', '"limit": "3"'))
        with pytest.raises(ReelbenchError, match=r"run\.json is damaged"):
            read_run(out)

    def test_names_that_a_terminal_would_obey_are_spelled_out(self, save: Save) -> None:
        hostile = "\x1b[2Jred"
        benchmark = Benchmark.load(save(make_item(1, tags=freeze({"colour": hostile}))))
        with pytest.raises(ReelbenchError) as error:
            benchmark.select(Selection(where={"colour": "red"}))
        part = benchmark.select(Selection(where={"colour": hostile}))
        assert (str(error.value) + part.selection.in_words()).isprintable()

    @pytest.mark.parametrize("limit", ["0", "-1", "ten", "1.5", "²", "9" * 400])
    def test_a_limit_that_is_none_is_refused(
        self, root: Path, limit: str, capsys: pytest.CaptureFixture[str]
    ) -> None:
        with pytest.raises(SystemExit):
            run(root, root.parent / "run", f"--limit={limit}")
        assert "neither a whole number from 1 on nor `all`" in capsys.readouterr().err


class TestRun:
    def test_it_asks_the_chosen_items_alone_and_every_result_says_so(
        self, root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        out = tmp_path / "run"
        words = ("--where", "category=colour", "--where", "kind=single", "--limit", 4, "--seed", 2)
        assert run(root, out, *words, "--dry-run") == 0
        chosen = "4 of 20 items: where category=colour and kind=single, limit 4, seed 2"
        dry = capsys.readouterr()
        assert f"{chosen}.\n" in dry.err
        assert dry.out.splitlines()[1].split()[:3] == ["baseline:first", "protocol", "4"]
        assert not out.exists()
        assert run(root, out, *words) == 0
        assert f"{chosen}.\n" in capsys.readouterr().err
        assert len(asked(out)) == 4
        record = {
            "where": {"category": ["colour"], "kind": ["single"]},
            "limit": 4,
            "seed": 2,
        }
        assert read(out / "run.json")["benchmark"]["selection"] == record
        about = read(out / "scores.json")["benchmark"]
        assert (about["selection"], about["items"], about["all_items"]) == (record, 4, 20)
        page = (out / "report.html").read_text()
        assert f"<span>{chosen}</span>" in page
        assert f"<dt>Items</dt><dd>{chosen}</dd>" in page

    def test_try_ten_and_then_all_costs_the_others_alone(
        self, root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        out = tmp_path / "run"
        card = tmp_path / "m.yaml"
        with serving(lambda *_: completion("B")) as server:
            card.write_text(json.dumps({"name": "m", "endpoint": server.url, "sees": False}))
            first = ("run", root, "--model", card, "--out", out, "--limit", 10, "--seed", 5)
            assert run_here(*first) == 0
            ten = asked(out)
            assert "10 items not asked because of --limit" in capsys.readouterr().err
            assert run_here("run", root, "--out", out) == 0  # keeps the limit
            assert (len(server.requests), asked(out)) == (10, ten)
            assert run_here("run", root, "--out", out, "--limit", 13) == 0
            assert (len(server.requests), len(asked(out))) == (13, 13)
            assert ten < asked(out)
            assert run_here("run", root, "--out", out, "--limit", "all") == 0
            assert (len(server.requests), len(asked(out))) == (COUNT, COUNT)
        assert "20 of 20" not in capsys.readouterr().err  # all items, as if there had been no limit
        record = read(out / "run.json")["benchmark"]
        assert "selection" not in record
        assert record["digest"] == Benchmark.load(root).digest

    def test_a_run_goes_on_with_no_other_items(
        self, root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        out = tmp_path / "run"
        assert run(root, out, "--where", "category=colour", "--limit", 6) == 0
        before = (out / "run.json").read_bytes()
        capsys.readouterr()
        for words, message in [
            (("--limit", 5), "a limit can be raised, not lowered"),
            (("--where", "category=motion"), "leave --where out"),
            (("--limit", 7, "--seed", 1), "leave --seed out"),
        ]:
            assert run(root, out, *words) == 2
            assert message in capsys.readouterr().err
        assert (out / "run.json").read_bytes() == before
        assert run(root, out, "--where", "category=colour", "--limit", 6) == 0
        assert run(root, out, "--limit", "all") == 0  # of those with the tag
        assert len(asked(out)) == 15
        whole = tmp_path / "whole"
        assert run(root, whole) == 0
        assert run(root, whole, "--limit", 5) == 2
        assert "holds a run of all items, not of limit 5, seed 0" in capsys.readouterr().err

    def test_items_that_were_not_drawn_may_change(self, root: Path, tmp_path: Path) -> None:
        out = tmp_path / "run"
        part = Benchmark.load(root).select(Selection(limit=5))
        run_benchmark(part, ["baseline:first"], out)
        others = {f"q-{number}" for number in range(COUNT)} - {item.id for item in part.items}
        text = (root / "items.jsonl").read_text()
        edited = text.replace(f"scene {min(others)[2:]}?", "the edited scene?")
        (root / "items.jsonl").write_text(edited)
        assert run_here("score", out) == 0
        drawn = part.items[0].id[2:]
        (root / "items.jsonl").write_text(text.replace(f"scene {drawn}?", "the edited scene?"))
        assert run_here("score", out) == 2


class TestScore:
    def test_part_of_a_run_is_scored_apart(
        self, root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        out = tmp_path / "run"
        assert run(root, out, "--limit", 12) == 0
        before = (out / "scores.json").read_bytes()
        capsys.readouterr()
        part = ("--where", "category=colour")
        assert run_here("score", out, *part, "--out", tmp_path / "part.json") == 0
        assert run_here("report", out, *part) == 0
        about = read(tmp_path / "part.json")["benchmark"]
        words = f"{about['items']} of 20 items: where category=colour, within: limit 12, seed 0"
        assert f"{words}.\n" in capsys.readouterr().err
        assert 0 < about["items"] < 12
        assert (out / "scores.json").read_bytes() == before
        assert words in (out / "report-category-colour.html").read_text()

    @pytest.mark.parametrize("words", [(), ("--limit", 8), ("--where", "category=motion")])
    def test_the_scores_of_a_run_are_written_anew(
        self, root: Path, tmp_path: Path, words: tuple[object, ...]
    ) -> None:
        out = tmp_path / "run"
        assert run(root, out, *words) == 0
        before = (out / "scores.json").read_bytes()
        (out / "scores.json").unlink()
        assert run_here("score", out) == 0
        assert (out / "scores.json").read_bytes() == before

    def test_runs_of_other_items_are_scored_by_what_they_share_and_only_if_asked(
        self, root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        few, many = tmp_path / "few", tmp_path / "many"
        assert run(root, few, "--limit", 8) == 0
        assert run_here("run", root, "--model", "baseline:longest", "--out", many) == 0
        both = ("report", few, many, "--out", tmp_path / "both.html")
        capsys.readouterr()
        assert run_here(*both) == 2
        said = capsys.readouterr().err
        assert "all runs asked with --limit 8, add --common" in said
        assert "(all runs asked 8 items)" in said
        assert run_here(*both, "--limit", 8) == 0
        assert "8 of 20 items: limit 8, seed 0" in (tmp_path / "both.html").read_text()
        assert run_here(*both, "--limit", 9) == 2
        assert "not all of those of limit 9, seed 0: choose items" in capsys.readouterr().err
        scores = score_runs(Benchmark.load(root), [few, many], scope="common").scores
        assert {row["items"] for row in scores["results"]} == {8}
        assert run_here(*both, "--common") == 0

    def test_only_a_choice_that_works_is_advised(
        self, root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        """What a limit draws of all is no part of what has a tag: there --common is all there is."""
        few, tagged, single = (tmp_path / name for name in ("few", "tagged", "single"))
        assert run(root, few, "--limit", 8) == 0
        assert run(root, tagged, "--where", "category=motion") == 0
        assert run(root, single, "--where", "kind=single") == 0
        page = ("--out", tmp_path / "both.html")
        shared = len(asked(few) & asked(tagged))
        assert 0 < shared < 5
        capsys.readouterr()
        assert run_here("report", few, tagged, *page) == 2
        said = capsys.readouterr().err
        assert "choose items" not in said
        assert (
            f"add --common for the items that every model answered (all runs asked {shared}" in said
        )
        assert run_here("report", few, tagged, *page, "--common") == 0
        assert run_here("report", tagged, single, *page) == 2
        flags = "--where category=motion"
        both = asked(tagged) <= asked(single)
        flags += "" if both else " --where kind=single"
        assert f"choose items that all runs asked with {flags}," in capsys.readouterr().err
        assert run_here("report", tagged, single, *page, *flags.split()) == 0

    def test_runs_that_share_no_item_are_not_told_to_share(
        self, root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        one, other = tmp_path / "one", tmp_path / "other"
        assert run(root, one, "--where", "category=motion") == 0
        assert run(root, other, "--where", "category=colour") == 0
        assert run_here("report", one, other, "--out", tmp_path / "both.html") == 2
        said = capsys.readouterr().err
        assert "No item is in all of these runs: leave a run out, or report each alone." in said

    def test_anyones_predictions_are_scored_by_tags(self, root: Path, tmp_path: Path) -> None:
        theirs, out = tmp_path / "theirs.jsonl", tmp_path / "scores.json"
        theirs.write_text("".join(f'{{"id": "q-{n}", "response": "B"}}\n' for n in range(COUNT)))
        words = ("--benchmark", root, "--predictions", theirs, "--out", out)
        assert run_here("score", *words, "--where", "category=motion") == 0
        (row,) = read(out)["results"]
        assert (row["items"], row["correct"]) == (5, 5)


class TestOpenItems:
    def test_without_a_judge_that_is_announced_before_and_after_and_on_the_page(
        self, save: Save, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        opened = [
            make_item(number, kind="open", options=(), answer=(), reference="A dog.")
            for number in (1, 2)
        ]
        root, out = save(*opened, protocol=Protocol(modalities="T")), tmp_path / "run"
        card = tmp_path / "m.yaml"
        grade = '{"reason": "so", "score": 2}'

        def answer(body: dict[str, Any], _: int) -> Any:
            return completion(grade if "response_format" in body else "A dog.")

        with serving(answer) as server:
            card.write_text(json.dumps({"name": "m", "endpoint": server.url, "sees": False}))
            assert run_here("run", root, "--model", card, "--out", out) == 0
            before, _, after = capsys.readouterr().err.partition("2 open items: no judge")
            assert before == "warning: "
            assert "2 open items: no judge has graded them; add --judge NAME" in after
            assert "<span>2 open items: no judge</span>" in (out / "report.html").read_text()
            asked_first = len(server.requests)
            assert run_here("run", root, "--out", out, "--judge", card) == 0
            assert len(server.requests) == asked_first + 2 * 5  # rounds of the judge alone
        assert "no judge" not in capsys.readouterr().err
        assert "no judge" not in (out / "report.html").read_text()
