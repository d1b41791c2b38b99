"""The baselines do what their names say, on what a request shows and nothing else."""

import asyncio
import json
from collections import Counter
from pathlib import Path

from reelbench.data.benchmark import Benchmark
from reelbench.data.items import Kind
from reelbench.models.base import Request
from reelbench.models.load import load_model


def ask(model: str, options: tuple[str, ...], kind: Kind = "single", key: str = "k") -> str | None:
    request = Request(key, (), kind, "What is it?", options)
    return asyncio.run(load_model(model).ask(request)).text


def test_random_is_uniform_and_repeatable() -> None:
    options = ("a", "b", "c", "d")
    draws = Counter(ask("baseline:random", options, key=str(n)) for n in range(800))
    assert set(draws) == set("ABCD")
    assert all(150 < count < 250 for count in draws.values())
    assert ask("baseline:random", options, key="x") == ask("baseline:random", options, key="x")


def test_random_draws_every_set_of_a_multi_select() -> None:
    draws = {ask("baseline:random", ("a", "b", "c"), "multi", str(n)) for n in range(300)}
    assert draws == {"A", "B", "C", "A, B", "A, C", "B, C", "A, B, C"}


def test_longest_option() -> None:
    assert ask("baseline:longest", ("a", "ccc", "bb", "ddd")) == "B"


def test_pixels_sees_what_can_be_seen_and_guesses_the_rest(small_demo: Path) -> None:
    items = {item.id: item for item in Benchmark.load(small_demo / "benchmark").items}
    right: dict[tuple[str, str], list[bool]] = {}
    for line in (small_demo / "run" / "predictions.jsonl").read_text().splitlines():
        row = json.loads(line)
        item = items[row["id"]]
        sense = "hearing" if "hearing" in item.tags["senses"] else item.tags["category"]
        group = "seen" if sense not in ("hearing", "reading") else sense
        right.setdefault((row["model"], group), []).append(row["parsed"] == sorted(item.answer))

    def accuracy(model: str, group: str) -> float:
        return sum(right[model, group]) / len(right[model, group])

    assert len(right["baseline:pixels", "seen"]) > 30
    assert accuracy("baseline:pixels", "seen") > 0.9
    assert accuracy("baseline:random", "seen") < 0.5
    assert accuracy("baseline:pixels", "hearing") < 0.6
