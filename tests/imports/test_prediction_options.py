"""Columns of options are no keys, and a letter means another option in another order."""

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from support import make_item, write_rows

from reelbench.data.benchmark import Benchmark, BenchmarkError
from reelbench.interop.predictions import read_anyones

OPTIONS = make_item().options
SHUFFLED = (*OPTIONS[1:], OPTIONS[0])


@pytest.fixture
def benchmark(save: Callable[..., Path]) -> Benchmark:
    return Benchmark.load(save(*map(make_item, range(1, 5))))


def columns(names: Sequence[str], options: Sequence[str] = OPTIONS) -> dict[str, str]:
    return dict(zip(names, options, strict=True))


@pytest.mark.parametrize("names", ["ABCD", "abcd"])
def test_a_column_of_options_that_is_called_a_is_no_key(
    names: str, benchmark: Benchmark, tmp_path: Path
) -> None:
    rows = [{"id": f"q-{n}", **columns(names), "prediction": "B"} for n in range(1, 5)]
    _, notes = read_anyones(write_rows(tmp_path / "x.csv", rows), benchmark)
    assert not any("warning" in note for note in notes)
    unanswered = [{name: row[name] for name in ("id", *names)} for row in rows]
    with pytest.raises(BenchmarkError, match="a column with predictions: name it"):
        read_anyones(write_rows(tmp_path / "y.csv", unanswered), benchmark)


def test_the_key_beside_columns_of_options_is_compared(
    benchmark: Benchmark, tmp_path: Path
) -> None:
    rows = [
        {"id": f"q-{n}", **columns("ABCD"), "answer": "C", "prediction": "B"} for n in range(1, 5)
    ]
    _, notes = read_anyones(write_rows(tmp_path / "x.csv", rows), benchmark)
    assert "warning: of 4 keys in the file (column 'answer'), 0 are those" in notes[-1]


def test_a_beside_q_is_the_key(benchmark: Benchmark, tmp_path: Path) -> None:
    rows = [
        {"id": f"q-{n}", "q": f"What happens in scene {n}?", "a": "C", "prediction": "B"}
        for n in range(1, 5)
    ]
    _, notes = read_anyones(write_rows(tmp_path / "x.csv", rows), benchmark)
    assert "warning: of 4 keys in the file (column 'a'), 0 are those" in notes[-1]


def test_one_letter_for_options_in_two_orders_is_two_predictions(
    benchmark: Benchmark, tmp_path: Path
) -> None:
    rows = [{"id": "q-1", **columns("ABCD", order), "pred": "A"} for order in (OPTIONS, SHUFFLED)]
    with pytest.raises(BenchmarkError, match=r"x.csv:3: id: found 'q-1' twice for x"):
        read_anyones(write_rows(tmp_path / "x.csv", rows), benchmark)
    same = write_rows(tmp_path / "y.csv", [rows[1], rows[1]])
    _, notes = read_anyones(same, benchmark)
    assert "Rows that say the same once more, counted once: 1 ('q-1')." in notes[-1]
