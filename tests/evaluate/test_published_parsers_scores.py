"""``score --parser`` reads replies again, counts guesses, and changes nothing unless asked."""

import csv
import json
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from support import make_item, reelbench, run_here

from reelbench.base.errors import ReelbenchError
from reelbench.data.benchmark import Benchmark
from reelbench.evaluate.published_parsers import PUBLISHED, parsers_named
from reelbench.score.parser_differences import IN_FILE, OURS, ParserScore, compare_parsers, reread
from reelbench.score.predictions import read_rows

Save = Callable[..., Path]
DOORS = ("a red door", "a blue door", "a dog", "a cat")


def written(path: Path, *rows: Mapping[str, Any]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def scored(bench: Path, path: Path, *names: str, seed: int = 0) -> dict[str, ParserScore]:
    """What each parser makes of the one model in a file."""
    benchmark = Benchmark.load(bench)
    rows = read_rows(path, benchmark)
    compared = compare_parsers(benchmark, rows, parsers_named(names), seed)
    return {each.parser: each for each in compared.scores}


@pytest.fixture
def bench(save: Save) -> Path:
    """Six questions, B being right; the fifth has two right options, the sixth none to choose."""
    items = [make_item(number, options=DOORS) for number in range(1, 5)]
    several = make_item(5, kind="multi", options=DOORS, answer=("A", "C"))
    opened = make_item(6, kind="open", options=(), answer=(), reference="a door")
    return save(*items, several, opened)


@pytest.fixture
def predictions(bench: Path, tmp_path: Path) -> Path:
    return written(
        tmp_path / "m.jsonl",
        {"id": "q-1", "response": "Answer: B"},
        {"id": "q-2", "response": "a blue door"},
        {"id": "q-3", "response": "A man enters. The answer is B."},
        {"id": "q-4", "response": "hm"},
        {"id": "q-5", "response": "A, C"},
        {"id": "q-6", "response": "a door"},
    )


def test_each_parser_is_scored_beside_ours(bench: Path, predictions: Path) -> None:
    found = scored(
        bench, predictions, "lmms-eval@before-9ca4445d", "lmms-eval:nextqa", "humanvbench"
    )
    ours, first, guesses, human = found.values()
    assert (ours.parser, ours.items, ours.correct, ours.read, ours.unread) == (OURS, 5, 4, 3, 1)
    # Two As that are a word's or an article, and a small text that is not read.
    assert (first.correct, first.read, first.otherwise, first.only_ours) == (1, 2, 2, 1)
    assert (first.gained, first.lost) == (0, 3)
    assert (guesses.guessed, guesses.read, guesses.unread) == (2, 2, 0)
    assert guesses.only_ours == 1
    assert guesses.correct == 3 + guesses.guessed_right
    assert (human.correct, human.otherwise, human.unread) == (3, 1, 1)
    assert first.interval[0] < 0.2 < first.interval[1]


def test_guesses_go_by_the_seed_and_never_in_silence(bench: Path, predictions: Path) -> None:
    benchmark = Benchmark.load(bench)
    rows = read_rows(predictions, benchmark)
    drawn = [
        reread(rows, benchmark, PUBLISHED["mmmu-pro@8ac826a"], seed).replies for seed in range(400)
    ]
    answers = Counter(read.answer for replies in drawn for read in replies.values() if read.guessed)
    assert set(answers) == {frozenset(letter) for letter in "ABCD"}
    assert min(answers.values()) > 150  # of 800
    assert drawn[3] == reread(rows, benchmark, PUBLISHED["mmmu-pro@8ac826a"], 3).replies
    right = sum(read.guessed and read.answer == frozenset("B") for read in drawn[3].values())
    words = ("score", "--benchmark", bench, "--predictions", predictions, "--seed", 3)
    done = reelbench(*words, "--parser", "mmmu-pro", "--json")
    assert f"guessed 2 of 4 replies, and hit the key {right} time" in done.stderr
    scores = json.loads(done.stdout)
    assert "by the parser mmmu-pro@8ac826a (MMMU-Pro: evaluate.py)" in done.stderr
    assert scores["parser"] == scores["parsers"][1]["parser"] == "mmmu-pro@8ac826a"
    assert scores["results"][0]["correct"] == scores["parsers"][1]["correct"] == 3 + right


def test_letters_without_a_reply_are_kept_and_failures_stay(bench: Path, tmp_path: Path) -> None:
    path = written(
        tmp_path / "m.jsonl",
        {"id": "q-1", "parsed": ["B"]},
        {"id": "q-2", "parsed": ["B"], "response": ""},
        {"id": "q-3", "status": "timeout", "response": None},
        {"id": "q-4", "status": "truncated", "response": "It may be A, or"},
        {"id": "q-5", "parsed": ["A", "C"]},
    )
    benchmark = Benchmark.load(bench)
    rows = read_rows(path, benchmark)
    compared = compare_parsers(benchmark, rows, [PUBLISHED["lmms-eval@before-9ca4445d"]], 0)
    ours, theirs = compared.scores
    assert (ours.correct, ours.replies, ours.read) == (3, 1, 0)
    assert (theirs.correct, theirs.replies, theirs.only_theirs) == (3, 1, 1)
    assert list(compared.sentences()) == [
        "Kept with their letters, having no reply: 2 rows.",
        "Read by our parser, since the published ones take one letter: 1 reply to questions with "
        "several right ones.",
    ]


def test_a_reply_is_read_in_the_order_in_which_its_options_were_shown(
    bench: Path, tmp_path: Path
) -> None:
    order = {"order": 1, "permutation": [1, 0, 3, 2]}
    path = written(
        tmp_path / "m.jsonl",
        {"id": "q-1", "response": "A", **order},
        {"id": "q-2", "response": "a blue door", **order},
        {"id": "q-3", "response": "A", "order": 0},
        {"id": "q-3", "response": "A", **order},
        {"id": "q-3", "response": "A", "order": 2, "permutation": [1, 2, 3, 0]},
    )
    found = scored(bench, path, "lmms-eval", "humanvbench")
    assert [found[name].correct for name in found] == [3, 2, 3]


def test_letters_of_the_file_stand_beside_ours_where_they_differ(
    bench: Path, tmp_path: Path
) -> None:
    path = written(
        tmp_path / "m.jsonl",
        {"id": "q-1", "response": "Answer: B", "parsed": ["A"]},
        {"id": "q-2", "response": "no idea", "parsed": ["B"], "judge": "j"},
    )
    found = scored(bench, path, "vlmevalkit")
    assert list(found) == [OURS, IN_FILE, "vlmevalkit@a67ace50"]
    # What a judge read for us is ours.
    assert [found[name].correct for name in found] == [2, 1, 1]
    assert (found[IN_FILE].otherwise, found[IN_FILE].lost) == (1, 1)


def test_the_command_lists_what_differs(bench: Path, predictions: Path, tmp_path: Path) -> None:
    out, table = tmp_path / "scores.json", tmp_path / "differences.csv"
    words = ("score", "--benchmark", bench, "--predictions", predictions, "--out", out)
    done = reelbench(*words, "--parser", "all", "--differences", table)
    assert done.returncode == 0, done.stderr
    assert "verdicts changed" in done.stdout
    scores = json.loads(out.read_text())
    assert (scores["parser"], scores["results"][0]["correct"]) == (OURS, 4)
    assert [each["parser"] for each in scores["parsers"]] == [OURS, *PUBLISHED]
    rows = list(csv.DictReader(table.read_text().splitlines()))
    (one,) = [
        row for row in rows if row["id"] == "q-1" and row["parser"] == "lmms-eval@before-9ca4445d"
    ]
    assert [one[name] for name in ("key", "ours", "theirs", "our verdict", "their verdict")] == [
        "B", "B", "A", "right", "wrong",
    ]  # fmt: skip
    assert one["reply"] == "Answer: B"
    guessed = {row["parser"] for row in rows if row["guessed"] == "yes"}
    assert guessed == {
        "lmms-eval:nextqa@0.7.2", "lmms-eval:longvideobench@0.7.2", "vlmevalkit:guess@a67ace50",
        "mmmu-pro@8ac826a",
    }  # fmt: skip


def test_a_run_keeps_its_scores_and_needs_none_of_it(own_demo: Path) -> None:
    run = own_demo / "run"
    before = (run / "scores.json").read_bytes()
    done = reelbench("score", run, "--parser", "vlmevalkit", "--parser", "mmou")
    assert done.returncode == 0, done.stderr
    assert "2 others, all as ours" in done.stdout
    assert (run / "scores.json").read_bytes() == before
    assert run_here("score", run) == 0
    assert (run / "scores.json").read_bytes() == before


def test_help_lists_every_parser() -> None:
    listed = reelbench("score", "--help").stdout
    assert all(f"  {name} " in listed for name in PUBLISHED)


@pytest.mark.parametrize(("words", "said"), [
    (("--parser", "vlmeval-kit2"), "perhaps vlmevalkit is meant"),
    (("--differences", "d.csv"), "name one with --parser"),
    (("--parser", "mmou", "--judge", "openai:x"), "leave one of them out"),
])  # fmt: skip
def test_wrong_use_is_told(
    words: tuple[str, ...], said: str, bench: Path, predictions: Path
) -> None:
    import argparse

    from reelbench.cli.score import configure, main

    parser = argparse.ArgumentParser()
    configure(parser)
    options = parser.parse_args([
        "--benchmark", str(bench), "--predictions", str(predictions), *words
    ])  # fmt: skip
    with pytest.raises(ReelbenchError, match=said):
        main(options)
