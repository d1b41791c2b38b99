"""A writer whose keys are the longest options passes every filter of Cinéaste, and is repaired."""

import contextlib
import json
import re
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from actors import Actors, on_stage, perform, roles, tiny_videos, write_movie
from filming import Studio, Told, bytes_of, check_funnel, lines, stage_of
from servers import serving
from support import starting, wait_until

from reelbench.lint import lint_benchmark

NAME = "repair-shortcuts"
FINE = {"fine": 1.0, "guessable": 0.0, "false": 0.0}
QUESTIONS = 6
SHORTCUTS = {"KEY_POSITION", "KEY_LENGTH", "KEY_NUMBER", "KEY_WORDING"}


@pytest.fixture(scope="module")
def wordy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Studio]:
    """Two films, and a writer whose keys are mostly the longest options."""
    root = tmp_path_factory.mktemp("wordy")
    actors = Actors(questions=QUESTIONS, shares=FINE, longest=0.65)
    for name in ("ash", "birch"):
        write_movie(root / "movies", name, tiny_videos(root / "videos"))
    with on_stage(root, actors) as (server, words):
        yield Studio(root, actors, server, words)


@pytest.fixture(scope="module")
def filtered(wordy: Studio) -> Path:
    """A make up to the filters, which all 60 questions pass."""
    out = wordy.root / "filtered"
    told = wordy.make(out, "--until", "veracity")
    assert (told.status, stage_of(out, "veracity")["out"]) == (0, 60), told.err
    return out


@pytest.fixture(scope="module")
def repaired(wordy: Studio, filtered: Path) -> tuple[Path, Told]:
    """The rest of that make."""
    out = Path(shutil.copytree(filtered, wordy.root / "repaired"))
    told = wordy.make(out)
    assert told.status == 0, told.err
    return out, told


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., Any]]:
    with starting(perform, tmp_path / "told") as started:
        yield started


def rewritten(out: Path) -> list[dict[str, Any]]:
    return [i for i in lines(out / "items.jsonl") if "rewritings" in i["provenance"].get(NAME, {})]


def shortcuts(out: Path) -> set[str]:
    found = lint_benchmark(out, check_media=False).findings
    return {finding.tag for finding in found} & SHORTCUTS


def forecast(told: Told) -> dict[str, int]:
    """Requests by stage, of all its models."""
    asked: dict[str, int] = {}
    for line in told.out.splitlines():
        row = re.split(r"\s{2,}", line.strip())
        if len(row) > 5 and row[0] != "stage":
            asked[row[0]] = asked.get(row[0], 0) + int(row[4].replace(",", ""))
    return asked


def test_without_it_all_filters_let_the_shortcut_through(wordy: Studio, filtered: Path) -> None:
    out = Path(shutil.copytree(filtered, wordy.fresh("without")))
    told = wordy.make(out, "--without", NAME)
    assert (told.status, sum(told.calls.values())) == (0, 0), told.err
    assert len(lines(out / "items.jsonl")) == 60
    assert "KEY_LENGTH" in shortcuts(out)


def test_with_it_the_key_is_the_longest_as_often_as_chance(repaired: tuple[Path, Told]) -> None:
    out, told = repaired
    table = json.loads((out / "tables.json").read_text())[0]
    row = next(row for row in table["rows"] if row[0] == "the longest option")
    _, items, chance, before, low, _, p, after, low_after, high_after, p_after = row
    assert (items, chance) == (60, 0.2)
    assert 0.6 < before < 0.7
    assert low > chance
    assert low_after < chance < high_after
    assert after < 0.3
    assert p == "<0.001"
    assert float(p_after) >= 0.05
    assert f"the longest option was right in {100 * before:.1f}% (" in told.err
    page = (out / "made.html").read_text()
    assert "Shortcuts before and after repair" in page
    assert "the longest option" in page
    assert shortcuts(out) == set()
    assert len(lines(out / "items.jsonl")) == 60
    check_funnel(out)


def test_each_rewritten_question_was_asked_of_both_filters_again(
    repaired: tuple[Path, Told],
) -> None:
    out, told = repaired
    count = len(rewritten(out))
    assert told.calls["blind"] == told.calls["veracity"] == 5 * count
    assert told.calls["writer"] >= count
    for item in rewritten(out):
        assert item["provenance"]["independence"]["right"] == 0
        assert item["provenance"]["veracity"]["right"] == 5
        new = {each["text"] for each in item["provenance"][NAME]["rewritings"][0]["options"]}
        assert new <= set(item["options"])


def test_a_second_run_asks_nothing_and_writes_the_same(
    wordy: Studio, repaired: tuple[Path, Told]
) -> None:
    out = Path(shutil.copytree(repaired[0], wordy.fresh("again")))
    told = wordy.make(out)
    assert (told.status, sum(told.calls.values())) == (0, 0), told.err
    assert bytes_of(out) == bytes_of(repaired[0])
    assert "the longest option was right in" in told.err


def test_killed_while_it_repairs_it_ends_the_same_and_pays_for_nothing_twice(
    wordy: Studio, filtered: Path, repaired: tuple[Path, Told], start: Callable[..., Any]
) -> None:
    out, connections = Path(shutil.copytree(filtered, wordy.fresh("killed"))), 4
    with serving(wordy.actors, latency=0.01) as server:
        words = roles(wordy.root / "slow", server.url, connections=connections)
        for calls in (9, 60):
            process = start("make", "cineaste", *words, "--out", str(out))
            seen = len(server.calls)
            wait_until(lambda seen=seen, calls=calls: len(server.calls) >= seen + calls)
            process.kill()
            process.join()
        told = wordy.command("make", "cineaste", *words, "--out", out)
        assert told.status == 0, told.err
        asked = len(server.calls)
    for name in ("items.jsonl", "benchmark.yaml", "funnel.json", "rejects.jsonl", "tables.json"):
        assert (out / name).read_bytes() == (repaired[0] / name).read_bytes(), name
    with contextlib.closing(sqlite3.connect(out / "make" / "journal.sqlite")) as journal:
        (answers,) = journal.execute("SELECT COUNT(*) FROM responses").fetchone()
    with contextlib.closing(sqlite3.connect(repaired[0] / "make" / "journal.sqlite")) as journal:
        assert journal.execute("SELECT COUNT(*) FROM responses").fetchone() == (answers,)
    assert asked <= sum(repaired[1].calls.values()) + 2 * connections


def test_a_forecast_of_what_the_filters_let_through_is_what_is_then_asked(
    wordy: Studio, filtered: Path, repaired: tuple[Path, Told]
) -> None:
    asked = forecast(wordy.make(filtered, "--dry-run"))
    assert set(asked) == {NAME}
    # One round, in which every reply is good: a rewriting, and five answers to each filter.
    outcomes = json.loads((repaired[0] / "tables.json").read_text())[1]["rows"]
    assert asked[NAME] == (1 + 5 + 5) * sum(count for _, count in outcomes)
    assert forecast(wordy.make(repaired[0], "--dry-run")) == {}


def test_a_forecast_of_questions_that_are_not_written_expects_a_share(wordy: Studio) -> None:
    told = wordy.make(wordy.fresh("never"), "--dry-run")
    assert "repair-shortcuts is expected to have 25% of the items rewritten" in told.err
    asked = forecast(told)
    rows = [re.split(r"\s{2,}", line.strip()) for line in told.out.splitlines()]
    came = next(int(row[1]) for row in rows if row[0] == NAME)
    assert 0.1 * came * 11 < asked[NAME] < 0.5 * came * 11
    assert NAME not in forecast(wordy.make(wordy.fresh("never"), "--dry-run", "--without", NAME))


@pytest.mark.parametrize(
    ("change", "said"),
    [("most=0", "repair-shortcuts.most is 0"), ("unlikely=2", "repair-shortcuts.unlikely is 2")],
)
def test_what_cannot_be_set_is_said(
    wordy: Studio, repaired: tuple[Path, Told], change: str, said: str
) -> None:
    told = wordy.make(repaired[0], "--set", f"{NAME}.{change}")
    assert (told.status, sum(told.calls.values())) == (2, 0)
    assert said in told.err
