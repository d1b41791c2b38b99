"""A studio for tests of ``reelbench make cineaste``, and readers of what it makes."""

import contextlib
import hashlib
import io
import json
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import count, pairwise
from pathlib import Path
from typing import Any

from actors import Actors
from servers import Server
from support import run_here

SLUGS = ("visual-reasoning", "state-changes", "temporal-ordering", "cause-and-effect",
         "message-understanding")  # fmt: skip
SRT = "1\n00:00:00,000 --> 00:00:00,400\n<i>Hold on!</i>\n\n2\n00:00:00,500 --> 00:00:00,900\nI can't.\n"
QUESTIONS = 3  # of each category and film
SCENES = 2
# What gives keys away is counted over all questions, and in few it is beyond chance by chance: what
# is then rewritten is in the way of who counts calls. test_cineaste_shortcuts.py is about it.
NO_REPAIR = ("--without", "repair-shortcuts")
WRITTEN = ("items.jsonl", "benchmark.yaml", "funnel.json", "rejects.jsonl", "made.html",
           "funnel.svg", "statistics.json")  # fmt: skip


@dataclass(frozen=True)
class Told:
    """What a command said and did."""

    status: int
    out: str
    err: str
    calls: Counter[str]  # by model


@dataclass
class Studio:
    """Films, actors who play the models, and the command."""

    root: Path
    actors: Actors
    server: Server
    words: list[str]
    _numbers: Iterator[int] = field(default_factory=count)

    @property
    def source(self) -> Path:
        return self.root / "movies"

    def fresh(self, name: str) -> Path:
        return self.root / f"{name}-{next(self._numbers)}"

    def make(self, out: Path, *more: object, **instead: Any) -> Told:
        source, words = instead.get("source", self.source), instead.get("words", self.words)
        return self.command("make", "cineaste", "--source", source, "--out", out, *words, *more)

    def command(self, *words: object) -> Told:
        before, said, told = self.actors.asked.copy(), io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(told):
            status = run_here(*words)
        return Told(status, said.getvalue(), told.getvalue(), self.actors.asked - before)

    @contextlib.contextmanager
    def interrupted(self, by: Callable[[str, str], Any]) -> Iterator[None]:
        self.actors.interrupt = by
        try:
            yield
        finally:
            self.actors.interrupt = None


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def funnel(out: Path) -> dict[str, Any]:
    return dict(json.loads((out / "funnel.json").read_text()))


def stage_of(out: Path, name: str) -> dict[str, Any]:
    return next(dict(stage) for stage in funnel(out)["stages"] if stage["stage"] == name)


def bytes_of(out: Path) -> dict[str, str]:
    return {name: hashlib.sha256((out / name).read_bytes()).hexdigest() for name in WRITTEN}


def asked_by(out: Path) -> set[tuple[str, frozenset[str]]]:
    """The questions of a benchmark with their options, in whatever places those stand."""
    return {(item["question"], frozenset(item["options"])) for item in lines(out / "items.jsonl")}


def of_category(out: Path, category: str) -> set[tuple[str, frozenset[str]]]:
    return {
        (item["question"], frozenset(item["options"]))
        for item in lines(out / "items.jsonl")
        if item["tags"]["category"] == category
    }


def check_funnel(out: Path) -> None:
    """Every row is somewhere, and nowhere twice."""
    record = funnel(out)
    stages = record["stages"]
    sources = record["sources"]
    assert sources["in"] == sources["out"] + sources["rejected"]
    assert sources["out"] == stages[0]["in"]
    for stage in stages:
        assert stage["in"] == stage["passed"] + stage["rejected"] + stage["undecided"], stage
        assert sum(stage["reasons"].values()) == stage["rejected"]
        groups = stage.get("by_category", {}).values()
        if groups:
            assert sum(group["out"] for group in groups) == stage["out"]
        if groups and all("in" in group for group in groups):
            for name in ("in", "passed", "rejected", "undecided"):
                assert sum(group[name] for group in groups) == stage[name]
    for before, after in pairwise(stages):
        assert before["out"] == after["in"]
    rejected = sum(stage["rejected"] for stage in stages) + sources["rejected"]
    rejected += sources.get("without", 0)
    assert len(lines(out / "rejects.jsonl")) == rejected
    assert len(record["undecided"]) == sum(stage["undecided"] for stage in stages)
    if (out / "items.jsonl").exists():
        assert len(lines(out / "items.jsonl")) == stages[-1]["out"]
