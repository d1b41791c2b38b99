"""A score is over the items that were asked: not over what nobody asked, nor over answers alone."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from support import blind_benchmark, make_item, run_here

from reelbench.base.files import pretty_json
from reelbench.data.benchmark import Benchmark
from reelbench.data.items import Media
from reelbench.report.report import write_report
from reelbench.report.tables import named_tables
from reelbench.score.coverage import Scope
from reelbench.score.predictions import read_predictions, read_rows
from reelbench.score.score import analyse_items, score_predictions, score_rows

ITEMS, ASKED, ANSWERED, RIGHT = 4996, 2000, 1850, 1106


def answer(number: int, right: bool, model: str = "theirs", **more: Any) -> dict[str, Any]:
    return {"id": f"q-{number}", "model": model, "parsed": ["B" if right else "A"], **more}


def failed(number: int, model: str = "theirs") -> dict[str, Any]:
    return {"id": f"q-{number}", "model": model, "status": "error", "response": None}


def write(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A benchmark of 4,996 items, and predictions for 2,000: 1,850 answered and 1,106 right."""
    folder = tmp_path_factory.mktemp("large")
    media = [(Media(f"media/{n}.mp4"),) for n in range(570)]
    blind_benchmark(folder / "b", *(make_item(n, media=media[n % 570]) for n in range(ITEMS)))
    rows = [answer(n, n < RIGHT) if n < ANSWERED else failed(n) for n in range(ASKED)]
    write(folder / "theirs.jsonl", rows)
    return folder


@pytest.mark.parametrize(("flags", "share", "answered"), [
    ((), "55.3%", "1850 of 2000"),
    (("--asked",), "55.3%", "1850 of 2000"),
    (("--all",), "22.1%", "1850 of 4996"),
    (("--common",), "59.8%", "1850 of 1850"),
])  # fmt: skip
def test_predictions_for_a_part_of_the_items(
    flags: tuple[str, ...],
    share: str,
    answered: str,
    large: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    words = ("--benchmark", large / "b", "--predictions", large / "theirs.jsonl", *flags)
    assert run_here("score", *words) == 0
    said = capsys.readouterr()
    (row,) = [line for line in said.out.splitlines() if line.startswith("theirs")]
    assert share in row
    assert answered in row
    partly = share == "55.3%"
    assert ("2000 of 4996" in row) is partly
    assert ("warning: 2,000 of 4,996 items: 55.3% (theirs, protocol)." in said.err) is partly


def test_the_part_is_named_in_the_file_in_every_table_and_on_the_page(
    large: Path, tmp_path: Path
) -> None:
    benchmark = Benchmark.load(large / "b")
    full = write(tmp_path / "full.jsonl", [answer(n, n % 2 == 0, "full") for n in range(ITEMS)])
    scored = score_rows(benchmark, read_rows([large / "theirs.jsonl", full], benchmark))
    theirs, other = scored.scores["results"]
    assert (theirs["model"], theirs["items"], theirs["all_items"]) == ("theirs", ASKED, ITEMS)
    assert (theirs["accuracy"], theirs["failed"], theirs["missing"]) == (0.553, 150, 2996)
    assert (other["items"], other["accuracy"]) == (ITEMS, 0.5)
    (pair,) = scored.scores["comparison"]["pairs"]
    assert pair["items"] == ASKED
    assert pair["difference"] == pytest.approx(0.5 - 0.553)
    tables = {name: table.to_csv() for name, table in named_tables(scored.scores).items()}
    assert "2000,4996,62.8%" in tables["leaderboard"]  # at most, had no call failed
    assert '"55.3 (2,000 of 4,996)"' in tables["by-kind"]
    page = write_report(scored, tmp_path / "page.html").read_text()
    assert "2,000 of 4,996 items: 55.3% (theirs, protocol). The others were not asked" in page
    assert "asked 2,000 of 4,996" in page
    assert "each pair is compared on the items that both were asked" in page


def test_models_that_were_asked_different_items_are_in_no_pair_rank_or_letter(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    benchmark = blind_benchmark(tmp_path / "b", *(make_item(n) for n in range(8)))
    rows = [answer(n, n != 1, "first") for n in range(4)]
    rows += [answer(n, n != 5, "second") for n in range(4, 8)]
    scores = score_predictions(benchmark, write(tmp_path / "p.jsonl", rows))
    assert [row["accuracy"] for row in scores["results"]] == [0.75, 0.75]
    assert scores["comparison"]["pairs"] == []
    models = scores["comparison"]["models"]
    assert [(each["rank"], each["rank_interval"], each["letters"]) for each in models] == [
        (None, None, []), (None, None, []),
    ]  # fmt: skip
    words = ("--benchmark", tmp_path / "b", "--predictions", tmp_path / "p.jsonl")
    assert run_here("score", *words) == 0
    said, sentence = capsys.readouterr(), "first and second were asked no item in common."
    assert f"warning: Not compared: {sentence}" in said.err
    assert "etters" not in said.out + said.err
    scored = score_rows(benchmark, read_rows([tmp_path / "p.jsonl"], benchmark))
    assert "Rank" not in named_tables(scored.scores)["leaderboard"].columns
    page = write_report(scored, tmp_path / "page.html").read_text()
    assert f"Not compared: {sentence}" in page
    assert "share a letter" not in page


def test_what_was_over_the_budget_was_not_asked(tmp_path: Path) -> None:
    benchmark = blind_benchmark(tmp_path / "b", *(make_item(n) for n in range(4)))
    rows = [answer(0, True), answer(1, False)]
    rows += [failed(n) | {"status": "over_budget"} for n in (2, 3)]
    (row,) = score_predictions(benchmark, write(tmp_path / "p.jsonl", rows))["results"]
    assert (row["items"], row["all_items"], row["accuracy"]) == (2, 4, 0.5)


class TestSilentModel:
    """One of eleven models never answered: it is named, and is no part of any comparison."""

    def scored(
        self, folder: Path, silent: bool, scope: Scope = "asked"
    ) -> tuple[Mapping[str, Any], str]:
        items = [make_item(n, media=(Media(f"{n // 3}.mp4"),)) for n in range(36)]
        benchmark = blind_benchmark(folder / "b", *items)
        rows = [answer(n, n % 11 > m, f"m{m:02}") for m in range(10) for n in range(36)]
        rows += [failed(n, "silent") for n in range(36)] if silent else []
        path = write(folder / "p.jsonl", rows)
        outcomes = read_predictions([path], benchmark)
        scores = score_predictions(benchmark, path, scope=scope)
        return scores, pretty_json(analyse_items(benchmark, outcomes, 0, scope))

    @pytest.mark.parametrize("scope", ["asked", "all"])
    def test_it_changes_no_comparison_and_no_item(self, scope: Scope, tmp_path: Path) -> None:
        (scores, items), (without, same_items) = (
            self.scored(tmp_path / name, silent, scope)
            for name, silent in (("with", True), ("without", False))
            if (tmp_path / name).mkdir() is None
        )
        assert len(scores["comparison"]["pairs"]) == 45  # of 10 models
        assert scores["comparison"] == without["comparison"]
        assert scores["items"] == without["items"]
        assert items == same_items
        assert "over the models that answered it" in json.loads(items)["policy"]
        assert json.loads(items)["items"][0]["difficulty"] < 1

    def test_it_is_said_to_have_no_score_and_has_no_rank(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        self.scored(tmp_path, True)
        words = ("--benchmark", tmp_path / "b", "--predictions", tmp_path / "p.jsonl")
        assert run_here("score", *words, "--tables", tmp_path / "tables") == 0
        (row,) = [x for x in capsys.readouterr().out.splitlines() if x.startswith("silent")]
        assert " ".join(row.split()) == "silent protocol no score: 36 of 36 failed 0 of 36"
        assert "silent" not in (tmp_path / "tables" / "pairs.csv").read_text()
        assert run_here("compare", tmp_path / "p.jsonl", "--benchmark", tmp_path / "b") == 0
        said = capsys.readouterr()
        assert "silent" not in said.out
        assert "silent of p.jsonl answered nothing and is in no pair." in said.err
        rows = (tmp_path / "p.jsonl").read_text().splitlines()
        silent = [json.loads(row) for row in rows if json.loads(row)["model"] == "silent"]
        more = [json.dumps(row | {"condition": "other"}) for row in silent]
        (tmp_path / "p.jsonl").write_text("\n".join([*rows, *more]))
        words = ("--benchmark", tmp_path / "b", "--condition", "protocol")
        assert run_here("compare", tmp_path / "p.jsonl", *words) == 0
        assert capsys.readouterr().err.count("answered nothing") == 1  # not of other conditions


@pytest.mark.parametrize(("count", "best"), [(14, "80.0%"), (16, "86.7%")])
def test_failed_calls_are_no_cliff(
    count: int, best: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of 30 calls some fail, 10 are right: the score stands, with what it would be at most."""
    blind_benchmark(tmp_path / "b", *(make_item(n) for n in range(30)))
    rows = [failed(n) if n >= 30 - count else answer(n, n < 10) for n in range(30)]
    path = write(tmp_path / "p.jsonl", rows)
    assert run_here("score", "--benchmark", tmp_path / "b", "--predictions", path) == 0
    said = capsys.readouterr()
    assert "33.3%" in said.out
    assert f"theirs: {count} failed; at most {best} had no call failed" in said.err


@pytest.mark.parametrize("flag", ["--asked", "--all", "--common"])
def test_people_are_compared_on_what_they_were_shown(
    flag: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    blind_benchmark(tmp_path / "b", *(make_item(n) for n in range(8)))
    rows = [answer(n, n != 0, "m") for n in range(8)]
    rows += [answer(n, True, "human:ann") for n in range(3)]
    path = write(tmp_path / "p.jsonl", rows)
    assert run_here("compare", path, "--benchmark", tmp_path / "b", flag, "--json") == 0
    ((pair),) = json.loads(capsys.readouterr().out)["pairs"]
    assert (pair["items"], pair["correct"]) == (3, [3, 2])


def test_replies_of_which_none_can_be_read_are_told_with_the_first(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    benchmark = blind_benchmark(tmp_path / "b", *(make_item(n) for n in range(4)))
    lists = [{"id": f"q-{n}", "model": "lists", "response": "[0.1, 0.9]"} for n in range(4)]
    some = [{**row, "model": "some"} for row in lists[:3]] + [answer(3, True, "some")]
    path = write(tmp_path / "p.jsonl", lists + some)
    assert run_here("score", "--benchmark", tmp_path / "b", "--predictions", path) == 0
    sentence = "lists, protocol: none of 4 replies could be read as an option, the first: "
    said = capsys.readouterr().err
    assert f"warning: {sentence}'[0.1, 0.9]'." in said
    assert "some, protocol: none" not in said
    scored = score_rows(benchmark, read_rows([path], benchmark))
    assert sentence in write_report(scored, tmp_path / "page.html").read_text()


@pytest.mark.parametrize(("flag", "items", "difference"), [
    ("--asked", 4, -0.25), ("--all", 8, 0.375), ("--common", 3, 0.0),
])  # fmt: skip
def test_files_are_compared_on_what_both_were_asked(
    flag: str, items: int, difference: float, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    blind_benchmark(tmp_path / "b", *(make_item(n) for n in range(8)))
    all_rows = [answer(n, n != 0, "all") for n in range(8)]
    all_rows[3] = failed(3, "all")
    some = [answer(n, n != 0, "some") for n in range(4)]
    files = [write(tmp_path / "a.jsonl", all_rows), write(tmp_path / "b.jsonl", some)]
    assert run_here("compare", *files, "--benchmark", tmp_path / "b", flag, "--json") == 0
    ((pair),) = json.loads(capsys.readouterr().out)["pairs"]
    sign = 1 if pair["first"]["model"] == "all" else -1
    assert (pair["items"], sign * pair["difference"]) == (items, difference)
