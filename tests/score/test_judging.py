"""Judges read anyone's predictions as they read those of a run, and are paid once."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from servers import Reply, completion, serving
from support import blind_benchmark, make_item, run_here

UNREADABLE = "Well, that furry thing made a lot of noise."


def write(path: Path, *rows: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def judge(body: dict[str, Any], _: int) -> Reply:
    """Grades what is open, and takes what makes noise for the dog."""
    if "score" in json.dumps(body.get("response_format", {})):
        return completion('{"reason": "so", "score": 2}')
    return completion('{"choice": "B"}')


@pytest.fixture
def score(tmp_path: Path) -> Callable[..., int]:
    """Score predictions of three closed items and an open one, with these words more."""
    opened = make_item(4, kind="open", options=(), answer=(), reference="A dog.")
    blind_benchmark(tmp_path / "b", *(make_item(n) for n in (1, 2, 3)), opened, rubric="points")

    def run(*words: object) -> int:
        out = ("--out", tmp_path / "scores.json")
        return run_here("score", "--benchmark", tmp_path / "b", *out, *words)

    return run


def results(folder: Path) -> dict[str, Any]:
    scores = json.loads((folder / "scores.json").read_text())
    return {row["model"]: row for row in scores["results"]} | {"judged": scores["judged"]}


def card(folder: Path, url: str) -> Path:
    path = folder / "judge.yaml"
    path.write_text(json.dumps({"name": "judge", "endpoint": url, "retries": 0}))
    return path


def test_what_rules_cannot_read_and_what_is_open(
    score: Callable[..., int], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = write(
        tmp_path / "theirs.jsonl",
        {"id": "q-1", "response": UNREADABLE},
        {"id": "q-2", "response": "I'm sorry, but I can't help with that."},
        {"id": "q-3", "response": UNREADABLE[:-7], "status": "truncated"},
        {"id": "q-4", "response": "A dog that barks."},
    )
    words = "--predictions", file, "--judge"
    with serving(judge) as server:
        assert score(*words, card(tmp_path, server.url)) == 0
        first, paid = (tmp_path / "scores.json").read_bytes(), len(server.requests)
        assert paid == 2 * 5
        assert score(*words, card(tmp_path, server.url)) == 0
        assert len(server.requests) == paid
    assert (tmp_path / "scores.json").read_bytes() == first
    found = results(tmp_path)
    row = found["theirs"]
    assert (row["correct"], row["answered"], row["read_by_judge"]) == (1, 1, 1)
    assert (row["unread"], row["refused_in_words"], row["cut_off"]) == (0, 1, 1)
    assert [(each["judge"], each["score"], each["judged"]) for each in found["judged"]] == [
        ("judge", 2.0, 1)
    ]
    kept = (tmp_path / "scores-judging" / "judgements.jsonl").read_text().splitlines()
    assert [json.loads(line)["id"] for line in kept] == ["q-1", "q-4"]
    assert "2 judgements are in" in capsys.readouterr().err


def test_who_has_read_an_answer_is_believed(score: Callable[..., int], tmp_path: Path) -> None:
    row = {"id": "q-1", "response": UNREADABLE, "parsed": ["A"]}
    with serving(judge) as server:
        score(
            "--predictions", write(tmp_path / "p.jsonl", row), "--judge", card(tmp_path, server.url)
        )
        assert server.requests == []


def test_a_judge_that_fails_is_told_and_decides_nothing(
    score: Callable[..., int], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = write(tmp_path / "p.jsonl", {"id": "q-1", "response": UNREADABLE})
    with serving(lambda *_: (500, {}, b"down")) as server:
        assert score("--predictions", file, "--judge", card(tmp_path, server.url)) == 1
    assert "5 of 5 rounds of judge failed" in capsys.readouterr().err
    assert results(tmp_path)["p"]["answered"] == 0


def test_several_files_stand_in_one_table(score: Callable[..., int], tmp_path: Path) -> None:
    one = write(tmp_path / "one.jsonl", *({"id": f"q-{n}", "parsed": ["B"]} for n in (1, 2, 3)))
    two = write(tmp_path / "two.jsonl", *({"id": f"q-{n}", "response": "A"} for n in (1, 2, 3)))
    assert (
        score("--predictions", one, "--predictions", two, "--items", tmp_path / "items.json") == 0
    )
    found = results(tmp_path)
    assert (found["one"]["correct"], found["two"]["correct"]) == (3, 0)
    assert json.loads((tmp_path / "items.json").read_text())["models"] == ["one", "two"]


@pytest.mark.parametrize(("words", "told"), [
    (["--judge", "baseline:random", "--predictions", "one"], "baseline:random cannot judge"),
    (["--predictions", "one", "--predictions", "one"], "one.jsonl: file: found one, expected a name"),
    (["--predictions", "one", "--predictions", "empty"], "empty.jsonl: file: found nothing"),
])  # fmt: skip
def test_wrong_use_is_told(
    words: list[str], told: str, score: Callable[..., int], tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    files = {
        "one": write(tmp_path / "one.jsonl", {"id": "q-1", "response": "A"}),
        "empty": write(tmp_path / "empty.jsonl"),
    }
    assert score(*(files.get(word, word) for word in words)) == 2
    assert told in capsys.readouterr().err


def test_judges_need_a_place_for_what_they_say(
    tmp_path: Path, score: Callable[..., int], capsys: pytest.CaptureFixture[str]
) -> None:
    file = write(tmp_path / "p.jsonl", {"id": "q-1", "response": UNREADABLE})
    words = "--benchmark", tmp_path / "b", "--predictions", file, "--judge", "openai:x"
    assert run_here("score", *words) == 2
    assert "--judge needs --out" in capsys.readouterr().err


def test_what_says_nothing_counts_as_the_lowest_grade(
    score: Callable[..., int], tmp_path: Path
) -> None:
    """A model that is silent where it does not know is not better than one that tries."""
    files = [
        write(tmp_path / "blank.jsonl", {"id": "q-4", "response": " "}),
        write(tmp_path / "cut.jsonl", {"id": "q-4", "response": "", "status": "truncated"}),
        write(tmp_path / "closed.jsonl", {"id": "q-1", "response": "B"}),
        write(tmp_path / "good.jsonl", {"id": "q-4", "response": "A dog."}),
    ]
    words = [word for file in files for word in ("--predictions", file)]
    with serving(judge) as server:
        score(*words, "--judge", card(tmp_path, server.url))
        assert len(server.requests) == 5
    found = {row["model"]: (row["score"], row["unanswered"]) for row in results(tmp_path)["judged"]}
    assert found == {"blank": (0, 1), "cut": (0, 1), "good": (2, 0)}  # closed: not asked


def test_a_judge_changes_nothing_that_it_has_not_judged(
    score: Callable[..., int], tmp_path: Path
) -> None:
    """Null is what somebody's parser says; that ours could read it is another matter."""
    file = write(tmp_path / "p.jsonl", {"id": "q-1", "response": "B", "parsed": None})
    with serving(judge) as server:
        for words in ([], ["--judge", card(tmp_path, server.url)]):
            assert score("--predictions", file, *words) == 0
            assert results(tmp_path)["p"]["answered"] == 0
        assert server.requests == []


def test_a_judge_that_is_named_twice_judges_once(score: Callable[..., int], tmp_path: Path) -> None:
    file = write(tmp_path / "p.jsonl", {"id": "q-4", "response": "A dog."})
    with serving(judge) as server:
        path = card(tmp_path, server.url)
        score("--predictions", file, "--judge", path, "--judge", path)
    assert results(tmp_path)["judged"][0]["valid_rounds"] == 5


def test_judges_keep_to_a_budget(score: Callable[..., int], tmp_path: Path) -> None:
    file = write(tmp_path / "p.jsonl", {"id": "q-4", "response": "A dog."})
    with serving(judge) as server:
        words = "--predictions", file, "--judge", card(tmp_path, server.url)
        assert score(*words, "--budget", "1tokens") == 1
        assert server.requests == []


def test_two_files_of_one_name_are_two_models(
    score: Callable[..., int], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for folder in ("x", "y"):
        (tmp_path / folder).mkdir()
    one = write(tmp_path / "x" / "p.jsonl", {"id": "q-1", "response": "B"})
    two = write(tmp_path / "y" / "p.jsonl", {"id": "q-2", "response": "B"})
    assert score("--predictions", one, "--predictions", two) == 2
    assert "a name of its own, or a field model in every line" in capsys.readouterr().err
    write(one, {"id": "q-1", "response": "B", "model": "x"})
    write(two, {"id": "q-2", "response": "B", "model": "y"})
    assert score("--predictions", one, "--predictions", two) == 0
    assert {"x", "y"} <= set(results(tmp_path))


def test_files_are_written_before_anything_is_printed(
    tmp_path: Path, score: Callable[..., int]
) -> None:
    """Who reads with `| head` hangs up early."""
    file = write(tmp_path / "p.jsonl", {"id": "q-1", "response": "B"})
    words = ["score", "--benchmark", tmp_path / "b", "--predictions", file, "--json",
             "--out", tmp_path / "s.json", "--tables", tmp_path / "t"]  # fmt: skip
    command = [sys.executable, "-m", "reelbench", *map(str, words)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout
        process.stdout.close()
    assert (tmp_path / "s.json").exists()
    assert (tmp_path / "t" / "leaderboard.csv").exists()
