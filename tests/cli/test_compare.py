"""``reelbench compare`` holds runs, files, models and conditions against each other, item by item."""

import csv
import io
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from support import blind_benchmark, make_item, run_here

from reelbench.data.benchmark import Benchmark
from reelbench.data.items import Item, Media, freeze
from reelbench.evaluate.run import run_benchmark

ITEMS = [
    make_item(n, media=(Media(f"media/{n // 3}.mp4"),), tags=freeze({"skill": "ab"[n % 2]}))
    for n in range(36)
]
Said = pytest.CaptureFixture[str]


def write_rows(path: Path, wrong: dict[tuple[str, str], set[int]], items: int = 36) -> None:
    """Write predictions: of each model and condition, these items are wrong and all others right."""
    rows = [
        {"id": f"q-{n}", "model": m, "condition": c, "parsed": ["A" if n in some else "B"]}
        for (m, c), some in wrong.items()
        for n in range(items)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def run_of(folder: Path, benchmark: Benchmark, wrong: dict[tuple[str, str], set[int]]) -> Path:
    run_benchmark(benchmark, ["baseline:random"], folder)
    write_rows(folder / "predictions.jsonl", wrong, len(benchmark.items))
    return folder


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two runs of one benchmark. Read them, do not write to them."""
    folder = tmp_path_factory.mktemp("compare")
    benchmark = blind_benchmark(folder / "b", *ITEMS, modalities="T")
    first = {("m", "protocol"): {*range(18)}, ("m", "other"): {0}, ("n", "protocol"): {0, 1}}
    run_of(folder / "old", benchmark, first | {("n", "other"): {0, 1}})
    run_of(folder / "new", benchmark, {("m", "protocol"): {0, 1, 20}})
    return folder


def compared(said: Said, *words: object) -> Any:
    """What the command prints as JSON."""
    assert run_here("compare", *words, "--json") == 0
    return json.loads(said.readouterr().out)


def sides(record: Any) -> list[tuple[str, ...]]:
    fields = ("model", "condition")
    return [tuple(pair[side][f] for side in ("first", "second") for f in fields)
            for pair in record["pairs"]]  # fmt: skip


def test_two_runs_are_compared_by_the_model_that_both_have(
    runs: Path, tmp_path: Path, capsys: Said
) -> None:
    changed = tmp_path / "changed.csv"
    assert run_here("compare", runs / "old", runs / "new", "--items", changed) == 0
    out, talk = capsys.readouterr()
    heading, row = out.splitlines()
    assert heading.split()[:2] == ["first", "second"]
    assert row.split()[:5] == ["old", "new", "50.0%", "91.7%", "-41.7"]
    assert row.split()[-4:-2] == ["1", "16"]
    assert "the first less the second" in talk
    rows = list(csv.DictReader(io.StringIO(changed.read_text())))
    assert {row["Item"] for row in rows if row["Change"] == "right to wrong"} == {"q-20"}
    assert len(rows) == 17
    assert (rows[0]["Key"], rows[0]["First answer"], rows[0]["Second answer"]) == ("B", "B", "A")


def test_the_pair_is_the_models_pair_of_the_scores(runs: Path, capsys: Said) -> None:
    record = compared(capsys, runs / "old", "--model", "m", "--model", "n", "--by", "skill")
    (pair,) = record["pairs"]
    assert (pair["first"]["model"], pair["second"]["model"]) == ("m", "n")
    assert run_here("score", runs / "old", "--json") == 0
    (same,) = json.loads(capsys.readouterr().out)["comparison"]["pairs"]
    for name in ("difference", "interval", "standard_error", "p", "needed_items", "needed_videos"):
        assert pair[name] == same[name]
    assert [(each["value"], each["items"]) for each in record["by"]] == [("a", 18), ("b", 18)]
    again = compared(capsys, runs / "old", "--model", "m", "--model", "n", "--by", "Skill")
    assert (again["tag"], again["by"]) == ("skill", record["by"])


@pytest.mark.parametrize(("words", "expected"), [
    ((), [("m", "protocol", "n", "protocol")]),
    (("--condition", "other"), [("m", "other", "n", "other")]),
    (("--condition", "protocol", "--condition", "other"),
     [("m", "protocol", "m", "other"), ("n", "protocol", "n", "other")]),
    (("--condition", "other", "--condition", "protocol", "--model", "m"),
     [("m", "other", "m", "protocol")]),
    (("--model", "n", "--model", "m"), [("n", "protocol", "m", "protocol")]),
    (("--model", "m"), [("m", "protocol", "m", "other")]),
])  # fmt: skip
def test_one_run_is_compared_by_what_is_named(
    runs: Path, capsys: Said, words: tuple[str, ...], expected: list[tuple[str, ...]]
) -> None:
    assert sides(compared(capsys, runs / "old", *words)) == expected


def test_files_of_predictions_are_compared_as_runs_are(
    runs: Path, tmp_path: Path, capsys: Said
) -> None:
    for name, wrong in (("x", {0}), ("y", {1, 2})):
        rows = [{"id": f"q-{n}", "parsed": ["A" if n in wrong else "B"]} for n in range(36)]
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    paths = [tmp_path / "x.jsonl", tmp_path / "y.jsonl"]
    record = compared(capsys, *paths, "--benchmark", runs / "b")
    assert record["pairs"][0]["correct"] == [35, 34]
    assert sides(record) == [("x", "protocol", "y", "protocol")]
    assert run_here("compare", *paths) == 2
    assert "--benchmark" in capsys.readouterr().err
    record = compared(capsys, runs / "new", paths[0], "--benchmark", runs / "b")
    assert record["pairs"][0]["correct"] == [33, 35]


def test_a_file_whose_model_no_other_has_is_compared_all_the_same(
    runs: Path, tmp_path: Path, capsys: Said
) -> None:
    for name, model in (("x", "m"), ("y", "m"), ("z", "other")):
        write_rows(tmp_path / f"{name}.jsonl", {(model, "protocol"): {0}})
    files = [tmp_path / f"{name}.jsonl" for name in "xyz"]
    record = compared(capsys, "--benchmark", runs / "b", "--predictions", *files)
    pairs = [(pair["first"]["source"], pair["second"]["source"]) for pair in record["pairs"]]
    assert pairs == [("x.jsonl", "y.jsonl"), ("x.jsonl", "z.jsonl"), ("y.jsonl", "z.jsonl")]


def test_models_that_differ_are_named_without_their_files(
    runs: Path, tmp_path: Path, capsys: Said
) -> None:
    for name in "xy":
        write_rows(tmp_path / f"{name}.jsonl", {(name, "protocol"): {0}})
    files = [tmp_path / "x.jsonl", tmp_path / "y.jsonl"]
    assert run_here("compare", *files, "--benchmark", runs / "b") == 0
    assert capsys.readouterr().out.splitlines()[1].split()[:2] == ["x", "y"]
    with pytest.raises(SystemExit):
        run_here("compare", *files, "--prediction-files")
    assert "usage: reelbench compare" in capsys.readouterr().err
    assert run_here("compare", "--benchmark", runs / "b") == 2
    assert "Name what to compare" in capsys.readouterr().err


@pytest.fixture(scope="module")
def versions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Version 2 has another key for q-0, lost q-1 and got a new item."""
    folder = tmp_path_factory.mktemp("versions")
    changed: list[Item] = [make_item(0, media=ITEMS[0].media, answer=("C",)), *ITEMS[2:]]
    changed.append(make_item(99))
    for name, items in (("v1", ITEMS), ("v2", changed)):
        benchmark = blind_benchmark(folder / name, *items, modalities="T")
        run_benchmark(benchmark, ["baseline:random"], folder / f"run-{name}")
    return folder


class TestTwoVersions:
    def test_what_both_have_unchanged_is_compared_and_that_is_said(
        self, versions: Path, capsys: Said
    ) -> None:
        record = compared(capsys, versions / "run-v1", versions / "run-v2")
        assert record["pairs"][0]["items"] == 34
        (note,) = record["notes"]
        assert "34 items that both have unchanged are compared (1 changed, 2 are in one" in note

    def test_a_page_of_both_has_the_history_and_the_last_version(
        self, versions: Path, tmp_path: Path, capsys: Said
    ) -> None:
        page = tmp_path / "page.html"
        words = ["--out", page, "--tables", tmp_path / "t"]
        assert run_here("report", versions / "run-v1", versions / "run-v2", *words) == 0
        assert (
            "run-v1 is of blind 1 as it was: it is in the history alone" in capsys.readouterr().err
        )
        assert '<section id="history">' in page.read_text()
        rows = list(csv.DictReader(io.StringIO((tmp_path / "t" / "history.csv").read_text())))
        assert [(row["Run"], row["Items"]) for row in rows] == [("run-v1", "36"), ("run-v2", "36")]
        assert (rows[0]["Items compared"], rows[1]["Items compared"]) == ("", "34")
        board = list(csv.DictReader(io.StringIO((tmp_path / "t" / "leaderboard.csv").read_text())))
        assert [row["Model"] for row in board] == ["baseline:random", "chance"]

    def test_a_version_that_is_gone_is_refused_with_what_to_do(
        self, versions: Path, tmp_path: Path, capsys: Said
    ) -> None:
        copy = Path(shutil.copytree(versions, tmp_path / "copy"))
        shutil.rmtree(copy / "v1")
        shutil.copytree(copy / "v2", copy / "v1")
        runs = [copy / "run-v1", copy / "run-v2"]
        assert run_here("compare", *runs) == 2
        assert "has changed since" in capsys.readouterr().err
        both = ["--benchmark", copy / "v2", "--benchmark", versions / "v1"]
        assert compared(capsys, *runs, *both)["pairs"][0]["items"] == 34


@pytest.mark.parametrize(("words", "sentence"), [
    (("old", "old"), "named twice"),
    (("old", "--model", "nobody"), "There is no model nobody"),
    (("old", "--condition", "nowhere"), "There is no condition nowhere"),
    (("new",), "nothing to compare"),
    (("old", "--by", "colour"), "No item has the tag 'colour'; the tags are skill"),
    (("b",), "no run.json"),
])  # fmt: skip
def test_what_cannot_be_compared_is_said(
    runs: Path, capsys: Said, words: tuple[str, ...], sentence: str
) -> None:
    named = [runs / word if (runs / word).exists() else word for word in words]
    assert run_here("compare", *named) == 2
    assert sentence in capsys.readouterr().err


def test_open_questions_alone_are_not_compared(tmp_path: Path, capsys: Said) -> None:
    blind_benchmark(tmp_path / "b", make_item(1, kind="open", options=(), answer=(), reference="x"))
    for name in "xy":
        (tmp_path / f"{name}.jsonl").write_text('{"id": "q-1", "response": "a dog"}\n')
    paths = [tmp_path / "x.jsonl", tmp_path / "y.jsonl"]
    assert run_here("compare", *paths, "--benchmark", tmp_path / "b") == 2
    assert "open questions alone" in capsys.readouterr().err


def test_other_ways_of_asking_under_one_name_are_said(
    runs: Path, tmp_path: Path, capsys: Said
) -> None:
    again = Path(shutil.copytree(runs, tmp_path / "again")) / "new"
    record = json.loads((again / "run.json").read_text())
    record["conditions"][0]["sampling"] = "uniform:99"
    (again / "run.json").write_text(json.dumps(record))
    notes = compared(capsys, runs / "old", again)["notes"]
    assert any("sampling is" in note and "uniform:99 in new" in note for note in notes)
    page = tmp_path / "page.html"
    assert run_here("report", runs / "new", again, "--out", page) == 0
    text = page.read_text()
    assert "protocol (again/new)" in text  # the condition, and so the model keeps its name
    assert '<section id="conditions">' in text


def test_one_model_in_two_runs_stands_twice_on_a_page_with_its_history(
    runs: Path, tmp_path: Path
) -> None:
    page = tmp_path / "page.html"
    words = ["--out", page, "--tables", tmp_path / "t"]
    assert run_here("report", runs / "old", runs / "new", *words) == 0
    board = list(csv.DictReader(io.StringIO((tmp_path / "t" / "leaderboard.csv").read_text())))
    found = {(row["Model"], row["Condition"]): row["Accuracy"] for row in board}
    assert found["m (new)", "protocol"] == "91.7%"
    assert found["m (old)", "protocol"] == "50.0%"
    assert found["n", "protocol"] == "94.4%"
    first, second = csv.DictReader(io.StringIO((tmp_path / "t" / "history.csv").read_text()))
    assert (first["Run"], second["Run"], second["Change, points"]) == ("old", "new", "+41.7")
    assert (second["Right to wrong"], second["Wrong to right"]) == ("1", "16")
    assert first["Started (UTC)"].startswith("20")


def test_predictions_alone_make_a_page(runs: Path, tmp_path: Path, capsys: Said) -> None:
    write_rows(tmp_path / "x.jsonl", {("x", "protocol"): {0}, ("y", "protocol"): {1, 2}})
    page = tmp_path / "page.html"
    assert run_here("report", "--benchmark", runs / "b", "--predictions", tmp_path / "x.jsonl") == 2
    assert "needs --out too" in capsys.readouterr().err
    words = ["report", "--benchmark", runs / "b", "--predictions", tmp_path / "x.jsonl"]
    assert run_here(*words, "--out", page) == 0
    text = page.read_text()
    assert "97.2%" in text
    assert "x.jsonl, sha256" in text
    assert "2 models" in text
    first = page.read_bytes()
    assert run_here(*words, "--out", page) == 0
    assert page.read_bytes() == first
    capsys.readouterr()
    assert run_here(*words) == 2
    assert "--out" in capsys.readouterr().err
    assert run_here("report") == 2
