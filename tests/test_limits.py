"""What comes from outside and is too deep, long or large is refused in a sentence, not with a crash."""

import json
import os
import resource
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from servers import completion, serving
from support import blind_benchmark, make_item, run_here

from reelbench.base.errors import ReelbenchError
from reelbench.base.limits import MOST_DEPTH, LimitError, bounded_lines, bounded_text, check_depth
from reelbench.base.yaml_files import load_yaml
from reelbench.client.journal import open_journal
from reelbench.client.structured import find_json
from reelbench.data.benchmark import Benchmark, BenchmarkError, read_items
from reelbench.data.manifest import Manifest, read_manifest
from reelbench.evaluate.condition import conditions_for
from reelbench.evaluate.run import run_benchmark
from reelbench.make.parts.rules import load_rules
from reelbench.models.base import Response
from reelbench.models.load import load_model
from reelbench.score.predictions import read_predictions

DEPTHS = (MOST_DEPTH + 1, 900, 100_000)
BOMB = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{name}: &{name} [{', '.join([f'*{before}'] * 9)}]\n"
    for before, name in zip("abcdefghi", "bcdefghij", strict=True)
)


def nested(depth: int, opened: str = "[", closed: str = "]", inside: str = "1") -> str:
    return opened * depth + inside + closed * depth


@pytest.fixture
def benchmark(tmp_path: Path) -> Benchmark:
    items = [make_item(n, media=make_item(1).media, question=f"Why {n}?") for n in range(3)]
    return blind_benchmark(tmp_path / "b", *items, modalities="T")


def test_depth_is_counted_outside_of_texts_only() -> None:
    check_depth(json.dumps({"text": nested(1000), "more": [[1]] * 1000, "quote": '\\"[' * 100}))
    check_depth(nested(MOST_DEPTH))
    with pytest.raises(LimitError, match=f"deeper than {MOST_DEPTH}"):
        check_depth(nested(MOST_DEPTH + 1))


def test_depth_is_counted_in_linear_time() -> None:
    check_depth('"' + '\\"' * 3_000_000 + "[" * 1000)  # quadratic, it would take days


@pytest.mark.parametrize("depth", DEPTHS)
class TestDeep:
    def test_items(self, benchmark: Benchmark, depth: int, capsys: Any) -> None:
        file = benchmark.root / "items.jsonl"
        lines = file.read_text().splitlines()
        file.write_text("\n".join([*lines, lines[0][:-1] + f', "context": {nested(depth)}}}']))
        with pytest.raises(BenchmarkError, match=r"items.jsonl:4: .*nesting deeper than"):
            Benchmark.load(benchmark.root)
        assert run_here("lint", benchmark.root) == 1
        assert "nesting deeper than" in capsys.readouterr().out

    def test_predictions(self, benchmark: Benchmark, depth: int, tmp_path: Path) -> None:
        path = tmp_path / "p.jsonl"
        path.write_text(f'{{"id": "q-1", "parsed": ["A"], "more": {nested(depth)}}}\n')
        with pytest.raises(ReelbenchError, match="nesting deeper than"):
            read_predictions(path, benchmark)

    def test_yaml(self, tmp_path: Path, depth: int) -> None:
        text = f"name: x\nversion: '1'\nmore: {nested(depth)}\n"
        refuse_everywhere(text, tmp_path, "nesting deeper than")

    def test_answers_of_servers(self, benchmark: Benchmark, tmp_path: Path, depth: int) -> None:
        deep = nested(depth, '{"answer": ', "}", '"B"')
        bodies = [
            deep.encode(),
            f'{{"choices": [{{"message": {deep}}}]}}'.encode(),
            completion(deep)[2],
        ]
        with serving(lambda _, number: (200, {}, bodies[number % 3])) as server:
            card = write_card(tmp_path, server.url, connections=1, retries=0)
            state = run_benchmark(benchmark, [card], tmp_path / "r")
        assert (state.done, len(state.failures)) == (1, 2)
        assert all("deeper than" in failure["error"] for failure in state.failures)

    def test_structured_replies(self, depth: int) -> None:
        deep = nested(depth, '{"a": ', "}")
        for reply in (deep, f"Here it is:\n```json\n{deep}\n```", f'5" screen: {deep} so it is'):
            with pytest.raises(ValueError, match="nest"):
                find_json(reply)


def refuse_everywhere(text: str, folder: Path, reason: str) -> None:
    """Wherever YAML is read, it is refused for the reason."""
    path = folder / "benchmark.yaml"
    path.write_text(text)
    _, (problem, *_) = read_manifest(path)
    assert reason in problem.found
    manifest = Manifest("x", "1")
    for read in (
        lambda: load_model(str(path)),
        lambda: load_rules(path),
        lambda: conditions_for(manifest, path, []),
    ):
        with pytest.raises(ReelbenchError, match=reason):
            read()


def test_aliases_that_multiply(tmp_path: Path) -> None:
    refuse_everywhere(BOMB, tmp_path, "1,000,000 values")
    merged = "a: &a {x: 1, y: 2}\n" + "".join(
        f"{name}: &{name} {{<<: [{', '.join([f'*{before}'] * 9)}], k{name}: 1}}\n"
        for before, name in zip("abcdefghi", "bcdefghij", strict=True)
    )
    refuse_everywhere(merged, tmp_path, "1,000,000 values")


def test_aliases_that_people_use() -> None:
    record, _ = load_yaml("usual: &u {a: 1}\none: {<<: *u, b: 2}\ntwo: [*u, *u]\n")
    assert record["one"] == {"a": 1, "b": 2}
    assert record["two"] == [{"a": 1}, {"a": 1}]


@pytest.mark.parametrize("number", ["0x" + "f" * 10_000, "9" * 4_000, "1" + ":1" * 500])
def test_numbers_that_nobody_means(tmp_path: Path, number: str) -> None:
    refuse_everywhere(f"name: x\nversion: '1'\nmore: {number}\n", tmp_path, "1024 bits")


def test_a_large_file_in_place_of_yaml(tmp_path: Path) -> None:
    path = tmp_path / "card.yaml"
    with path.open("wb") as file:
        file.truncate(5 * 10**9)
    with pytest.raises(ReelbenchError, match="larger than 4 MiB"):
        load_model(str(path))
    with pytest.raises(LimitError, match="not a regular file"):
        bounded_text(Path("/dev/zero"))


@pytest.fixture
def little_memory() -> Iterator[None]:
    """From here on this process may not grow by more than a fifth of a gigabyte."""
    before = resource.getrlimit(resource.RLIMIT_AS)
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    most = pages * os.sysconf("SC_PAGE_SIZE") + 200 * 2**20
    resource.setrlimit(resource.RLIMIT_AS, (most, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


@pytest.mark.usefixtures("little_memory")
class TestLarge:
    def test_zeros(self, tmp_path: Path) -> None:
        with (tmp_path / "items.jsonl").open("wb") as file:
            file.truncate(5 * 10**9)
        (problem,) = read_items(tmp_path / "items.jsonl").problems
        assert "larger than 2 GiB" in problem.found

    def test_one_endless_line(self, tmp_path: Path) -> None:
        path = tmp_path / "items.jsonl"
        with path.open("wb") as file:
            file.truncate(40 * 2**20)
            file.seek(0, os.SEEK_END)
            file.write(b"\n" + make_item(7).to_line().encode())
        read = read_items(path)
        assert [problem.found for problem in read.problems] == ["a line of more than 16 MiB"]
        assert [item.id for item in read.items] == ["q-7"]
        assert read.lines == (2,)

    def test_nothing_but_lines(self, tmp_path: Path) -> None:
        for line in (b"\n", b"x\n", b"{}\n"):
            (tmp_path / "items.jsonl").write_bytes(line * 3 * 10**6)
            read = read_items(tmp_path / "items.jsonl")
            assert "the rest of it is not read" in read.problems[-1].expected
            assert len(read.problems) < 50_000

    def test_a_hundred_thousand_options(self, benchmark: Benchmark) -> None:
        options = tuple(f"option {n}" for n in range(100_000))
        line = make_item(9, options=options).to_line()
        (benchmark.root / "items.jsonl").write_text(f"{make_item(1).to_line()}\n{line}\n")
        with pytest.raises(BenchmarkError, match="100000 options, expected 2 to 26"):
            Benchmark.load(benchmark.root)
        assert run_here("lint", benchmark.root) == 1

    def test_a_pipe_without_end(self) -> None:
        with open("/dev/zero", "rb") as file:
            assert len(next(bounded_lines(file))) == 16 * 2**20 + 1


def test_many_lines_with_cr_are_no_reason_to_stop(tmp_path: Path) -> None:
    lines = [make_item(n).to_line() + "\r\n" for n in range(10_050)]
    (tmp_path / "items.jsonl").write_text("".join(lines), newline="")
    read = read_items(tmp_path / "items.jsonl")
    assert len(read.items) == 10_050
    assert all(problem.is_warning for problem in read.problems)


@pytest.mark.parametrize("count", [2**63 - 1, 2**63, 2**64 - 1, 10**30, -5])
def test_token_counts_that_are_none(benchmark: Benchmark, tmp_path: Path, count: int) -> None:
    usage = {"prompt_tokens": count, "completion_tokens": count}
    with serving(lambda *_: completion("B", usage=usage)) as server:
        model = write_card(tmp_path, server.url)
        first = run_benchmark(benchmark, [model], tmp_path / "r")
        again = run_benchmark(benchmark, [], tmp_path / "r")
    assert (first.done, again.done, again.counts.asked) == (3, 3, 0)
    spent = again.ledger.spent["m"]
    assert spent.estimated == 3
    assert spent.input_tokens + spent.output_tokens < 10_000


def write_card(folder: Path, url: str, **fields: Any) -> str:
    path = folder / "m.yaml"
    path.write_text(json.dumps({"name": "m", "endpoint": url, "backoff": 0.01} | fields))
    return str(path)


def test_a_journal_of_an_earlier_version_with_such_counts(tmp_path: Path) -> None:
    with open_journal(tmp_path / "j.sqlite") as journal:
        for number in range(3):
            journal.record(f"k{number}", "m", Response("ok", "B", None, 2**63 - 1, 2**63 - 1))
        ((_, calls, taken, _, _, _, _),) = journal.taken()
    assert calls == 3
    assert taken == 3 * 10**9
