"""What `--column row=NAME` takes for numbers of rows, from where they are counted, and what not."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from support import make_item, write_rows

from reelbench.data.benchmark import Benchmark, BenchmarkError
from reelbench.data.items import Item, freeze
from reelbench.interop.predictions import read_anyones
from reelbench.score.predictions import outcomes_in

COUNT = 10
Save = Callable[..., Path]


def item(number: int, **fields: Any) -> Item:
    options = tuple(f"thing {number}{letter}" for letter in "abcd")
    return make_item(number, **({"id": f"scene-{number:03}x", "options": options} | fields))


@pytest.fixture
def benchmark(save: Save) -> Benchmark:
    return Benchmark.load(save(*map(item, range(1, COUNT + 1))))


def read(path: Path, benchmark: Benchmark, **options: Any) -> tuple[dict[str, list[str]], str]:
    """The items that each model answered, and what was said."""
    rows, notes = read_anyones(path, benchmark, **options)
    found = {model: list(each) for (model, _), each in outcomes_in(rows, benchmark).items()}
    return found, " ".join(notes)


SIGNS: dict[str, Callable[[Item], Mapping[str, object]]] = {
    "question": lambda one: {"question": one.question},
    "options": lambda one: {"options": "\n".join(one.options)},
    "option columns": lambda one: dict(
        zip(("optA", "optB", "optC", "optD"), one.options, strict=True)
    ),
    "text": lambda one: {"prediction": one.options[2]},
}


@pytest.mark.parametrize("sign", SIGNS)
@pytest.mark.parametrize("first", [0, 1])
def test_rows_are_counted_from_where_the_file_shows_it(
    first: int, sign: str, benchmark: Benchmark, tmp_path: Path
) -> None:
    chosen = benchmark.items[1 - first : 6 - first]
    rows = [{"index": n, "prediction": "A", **SIGNS[sign](one)} for n, one in enumerate(chosen, 1)]
    found, talk = read(write_rows(tmp_path / "x.csv", rows), benchmark, columns={"row": "index"})
    assert found == {"x": [one.id for one in chosen]}
    assert (f"from {first}" in talk, "warning" in talk) == (True, False)


def test_where_nothing_decides_rows_are_counted_from_0_with_a_warning(
    benchmark: Benchmark, tmp_path: Path
) -> None:
    rows = [{"row": n, "prediction": "A"} for n in range(1, 6)]
    found, talk = read(write_rows(tmp_path / "x.csv", rows), benchmark, columns={"row": "row"})
    assert found == {"x": [one.id for one in benchmark.items[1:6]]}
    assert "warning: rows can be counted in 2 ways" in talk
    rows.append({"row": 0, "prediction": "A"})
    _, talk = read(write_rows(tmp_path / "y.csv", rows), benchmark, columns={"row": "row"})
    assert "warning" not in talk


@pytest.mark.parametrize(("file", "header"), [("q.csv", 1), ("q.jsonl", 0)])
def test_rows_of_the_source_are_counted_from_1_where_the_file_shows_it(
    file: str, header: int, save: Save, tmp_path: Path
) -> None:
    lines = {n: {"import": {"file": file, "line": n + header}} for n in range(1, COUNT + 1)}
    kept = [item(n, provenance=freeze(lines[n])) for n in lines if n not in (2, 3)]
    benchmark = Benchmark.load(save(*kept))
    rows = [{"row": n, "prediction": "A", "question": item(n).question} for n in (1, 4, 5, 8)]
    path = write_rows(tmp_path / "x.csv", rows)
    found, talk = read(path, benchmark, columns={"row": "row"})
    assert found == {"x": [item(n).id for n in (1, 4, 5, 8)]}
    assert "warning" not in talk


@pytest.mark.parametrize("form", ["scene-{:03}x", "q-{:04}", "clip9_{}"])
def test_a_number_in_a_name_is_no_row(form: str, save: Save, tmp_path: Path) -> None:
    benchmark = Benchmark.load(save(*(item(n, id=form.format(n)) for n in range(1, COUNT + 1))))
    ids = [one.id for one in benchmark.items[:5]]
    path = write_rows(tmp_path / "x.csv", [{"sample": each, "prediction": "A"} for each in ids])
    found, talk = read(path, benchmark)
    assert (found, "warning" in talk) == ({"x": ids}, False)
    with pytest.raises(BenchmarkError, match="none is of an item") as caught:
        read(path, benchmark, columns={"row": "sample"})
    assert "--column row=" not in str(caught.value)


@pytest.mark.parametrize("form", ["q{}", "-{}", "{}.5"])
def test_unknown_names_with_numbers_are_not_said_to_be_rows(
    form: str, benchmark: Benchmark, tmp_path: Path
) -> None:
    rows = [{"id": form.format(n), "prediction": "A"} for n in (1, 2, 3, 5)]
    with pytest.raises(BenchmarkError) as caught:
        read(write_rows(tmp_path / "x.csv", rows), benchmark)
    assert "--column row=" not in str(caught.value)


def test_a_number_with_a_point_and_a_zero_is_that_of_a_row(
    benchmark: Benchmark, tmp_path: Path
) -> None:
    rows = [{"row": f"{n}.0", "prediction": "A"} for n in (0, 3)]
    found, _ = read(write_rows(tmp_path / "x.csv", rows), benchmark, columns={"row": "row"})
    assert found == {"x": [benchmark.items[n].id for n in (0, 3)]}


def restarting(count: int) -> list[dict[str, object]]:
    """Questions that are counted anew on each of two videos, with one answer to all."""
    places = [(video, number) for video in "ab" for number in range(1, count + 1)]
    return [
        {"question_no": number, "clip_name": video, "prediction": "A"} for video, number in places
    ]


def test_numbers_that_begin_anew_are_no_rows(benchmark: Benchmark, tmp_path: Path) -> None:
    path = write_rows(tmp_path / "x.csv", restarting(3))
    with pytest.raises(BenchmarkError, match="none is of an item") as caught:
        read(path, benchmark)
    assert "--column row=" not in str(caught.value)
    with pytest.raises(BenchmarkError) as caught:
        read(path, benchmark, columns={"row": "question_no"})
    assert [(each.code, each.line) for each in caught.value.problems] == [
        ("DUPLICATE", line) for line in (5, 6, 7)
    ]
    assert "found 1 once more, as in line 2 with other contents" in str(caught.value)


@pytest.mark.parametrize("more", [[], [{"number": 2, "prediction": "A", "seconds": 9}]])
def test_numbers_that_come_again_are_not_advised_to_be_rows(
    more: list[dict[str, object]], save: Save, tmp_path: Path
) -> None:
    benchmark = Benchmark.load(save(*(item(n, id=str(n)) for n in range(1, COUNT + 1))))
    rows = [{"number": n, "prediction": "A", "seconds": n} for n in range(1, 4)]
    _, talk = read(write_rows(tmp_path / "x.csv", [*rows, *more]), benchmark)
    assert "fit ids of items, and numbers of rows as well" in talk
    assert ("--column row=number" in talk) == (not more)


@pytest.mark.parametrize("apart", ["model", "system", "condition", "round"])
def test_numbers_may_come_again_for_another_model_condition_or_round(
    apart: str, benchmark: Benchmark, tmp_path: Path
) -> None:
    rows = [
        {"number": n, apart: value, "prediction": "A", "seconds": value}
        for value in (1, 2)
        for n in range(COUNT - 1)
    ]
    path = write_rows(tmp_path / "x.csv", [*rows, rows[0]])
    found, talk = read(path, benchmark, columns={"row": "number"})
    assert {len(items) for items in found.values()} == {COUNT - 1}
    assert "Rows that say the same once more, counted once: 1" in talk
    with pytest.raises(BenchmarkError, match="--column row=number takes"):
        read(path, benchmark)


def test_one_unknown_column_is_told_of_once(benchmark: Benchmark, tmp_path: Path) -> None:
    path = write_rows(tmp_path / "x.csv", restarting(3))
    with pytest.raises(BenchmarkError) as caught:
        read(path, benchmark, columns={"row": "question_no", "model": "who"})
    assert [each.code for each in caught.value.problems].count("NO_COLUMN") == 1
