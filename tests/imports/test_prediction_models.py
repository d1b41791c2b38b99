"""The column that names the model is said, and a tag of the questions is not taken for it."""

from collections.abc import Callable
from pathlib import Path

import pytest
from support import make_item, write_rows

from reelbench.data.benchmark import Benchmark, BenchmarkError
from reelbench.interop.predictions import read_anyones

TAGS = ("cardiovascular", "nervous", "digestive")
COUNT = 9


@pytest.fixture
def benchmark(save: Callable[..., Path]) -> Benchmark:
    return Benchmark.load(save(*map(make_item, range(1, COUNT + 1))))


def models(path: Path, benchmark: Benchmark, **columns: str) -> tuple[dict[str, int], str]:
    """The number of answers of each model, and what was said."""
    rows, notes = read_anyones(path, benchmark, columns=columns)
    return {model: len(by_item) for (model, _), by_item in rows.items()}, " ".join(notes)


@pytest.mark.parametrize("column", ["system", "llm"])
def test_a_tag_of_the_questions_is_no_model(
    column: str, benchmark: Benchmark, tmp_path: Path
) -> None:
    rows = [{"id": f"q-{n}", column: TAGS[n % 3], "pred": "A"} for n in range(1, COUNT + 1)]
    path = write_rows(tmp_path / "x.csv", rows)
    found, talk = models(path, benchmark)
    assert found == {"x": COUNT}
    assert f"Column {column!r} has other values for other items" in talk
    assert "Model:" not in talk
    found, talk = models(path, benchmark, model=column)
    assert found == dict.fromkeys(TAGS, 3)
    assert f"Model: column {column!r}." in talk


def test_a_tag_beside_the_models_is_no_doubt(benchmark: Benchmark, tmp_path: Path) -> None:
    rows = [
        {"id": f"q-{n}", "system": TAGS[n % 3], "model": model, "pred": "A"}
        for n in range(1, COUNT + 1)
        for model in "ab"
    ]
    found, talk = models(write_rows(tmp_path / "x.csv", rows), benchmark)
    assert found == {"a": COUNT, "b": COUNT}
    assert "Model: column 'model'." in talk
    assert "'system'" not in talk


@pytest.mark.parametrize("missing", [0, 3])
def test_systems_that_answered_most_of_the_items_are_models(
    missing: int, benchmark: Benchmark, tmp_path: Path
) -> None:
    rows = [
        {"id": f"q-{n}", "system": system, "pred": "A"}
        for system in ("one", "two")
        for n in range(1, COUNT + 1)
        if system == "one" or n > missing
    ]
    found, talk = models(write_rows(tmp_path / "x.csv", rows), benchmark)
    assert found == {"one": COUNT, "two": COUNT - missing}
    assert "Model: column 'system'." in talk


def test_one_system_is_the_model_however_few_it_answered(
    benchmark: Benchmark, tmp_path: Path
) -> None:
    rows = [{"id": "q-2", "system": "my model", "pred": "A"}]
    found, talk = models(write_rows(tmp_path / "x.csv", rows), benchmark)
    assert found == {"my model": 1}
    assert "Model: column 'system'." in talk


def test_two_predictions_for_one_item_name_the_column_that_may_tell_them_apart(
    benchmark: Benchmark, tmp_path: Path
) -> None:
    rows = [{"id": f"q-{n}", "system": "one", "pred": "A"} for n in range(1, COUNT + 1)]
    rows += [{"id": f"q-{n}", "system": "two", "pred": "B"} for n in (1, 2)]
    path = write_rows(tmp_path / "x.csv", rows)
    with pytest.raises(
        BenchmarkError, match="--column model=system takes it for the model"
    ) as error:
        models(path, benchmark)
    assert [problem.code for problem in error.value.problems].count("MODEL") == 1
    assert models(path, benchmark, model="system")[0] == {"one": COUNT, "two": 2}
