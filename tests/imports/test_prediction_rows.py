"""Numbers in a file of predictions are ids or rows: the file decides, or a warning says so."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support import make_item, write_rows

from reelbench.base.errors import ReelbenchError
from reelbench.data.benchmark import Benchmark, BenchmarkError
from reelbench.data.items import Item, freeze
from reelbench.interop.predictions import read_anyones
from reelbench.score.predictions import outcomes_in

COUNT = 8
KEYS = "ABCDDBCA"


def item(number: int, **fields: Any) -> Item:
    plain = {
        "id": str(number),
        "options": tuple(f"thing {number}{letter}" for letter in "abcd"),
        "answer": (KEYS[number - 1],),
    }
    return make_item(number, **(plain | fields))


@pytest.fixture
def benchmark(save: Callable[..., Path]) -> Benchmark:
    return Benchmark.load(save(*map(item, range(1, COUNT + 1))))


def right_answers(path: Path, benchmark: Benchmark, **options: Any) -> tuple[int, str]:
    """How many answers are right, and what was said."""
    rows, notes = read_anyones(path, benchmark, **options)
    (found,) = outcomes_in(rows, benchmark).values()
    keys = {each.id: set(each.answer) for each in benchmark.items}
    right = sum(set(one.answer or ()) == keys[name] for name, one in found.items())
    return right, " ".join(notes)


def by_rows(**more: Callable[[Item], Any]) -> list[dict[str, Any]]:
    """Right answers by rows from 0, of which the first is not there: each number is an id too."""
    found = []
    for place in range(1, COUNT):
        one = item(place + 1)
        others = {name: of(one) for name, of in more.items()}
        found.append({"index": place, "prediction": one.answer[0], **others})
    return found


def test_numbers_that_fit_both_are_ids_with_a_warning_or_rows_on_request(
    benchmark: Benchmark, tmp_path: Path
) -> None:
    path = write_rows(tmp_path / "x.csv", by_rows())
    right, talk = right_answers(path, benchmark)
    assert right < COUNT - 1
    assert "warning: The numbers in 'index' fit ids of items, and numbers of rows as well" in talk
    assert "--column row=index" in talk
    right, talk = right_answers(path, benchmark, columns={"row": "index"})
    assert (right, "by the items' order, from 0" in talk) == (COUNT - 1, True)
    assert "which: the items' order, from 0, and not the items' order, from 1." in talk
    with pytest.raises(ReelbenchError, match="id or row, and not both"):
        read_anyones(path, benchmark, columns={"row": "index", "id": "index"})
    with pytest.raises(BenchmarkError, match="no column 'line'"):
        read_anyones(path, benchmark, columns={"row": "line"})


@pytest.mark.parametrize(
    ("sign", "column", "of"),
    [
        ("the questions", "question", lambda one: f"{one.question}\nAnswer with a letter."),
        ("the keys", "answer", lambda one: one.answer[0]),
        ("the options", "options", lambda one: "\n".join(one.options)),
        ("the texts", "prediction", lambda one: one.options["ABCD".index(one.answer[0])]),
    ],
)
@pytest.mark.parametrize("shift", [0, 1])
def test_what_the_rows_say_decides(
    sign: str, column: str, of: Callable[[Item], Any], shift: int,
    benchmark: Benchmark, tmp_path: Path,
) -> None:  # fmt: skip
    rows = by_rows(**{column: of})
    for row in rows:
        row["index"] += 1 - shift  # ids, or rows from 0
    right, talk = right_answers(write_rows(tmp_path / "x.csv", rows), benchmark)
    assert (right, "warning" in talk) == (COUNT - 1, False)
    assert ("by the items' order, from 0" in talk) == bool(shift)
    if shift and column != "question":  # numbers with other questions are no ids from the start
        assert sign in talk
        assert "show that they are rows" in talk


def test_a_file_with_all_ids_or_other_ids_is_not_doubted(
    benchmark: Benchmark, tmp_path: Path
) -> None:
    rows = [{"id": n, "prediction": KEYS[n - 1]} for n in range(1, COUNT + 1)]
    right, talk = right_answers(write_rows(tmp_path / "all.csv", rows), benchmark)
    assert (right, "warning" in talk) == (COUNT, False)
    right, talk = right_answers(write_rows(tmp_path / "last.csv", rows[3:]), benchmark)
    assert (right, "warning" in talk) == (COUNT - 3, False)  # there is no row 8 from 0
    right, talk = right_answers(write_rows(tmp_path / "first.csv", rows[:-1]), benchmark)
    assert (right, "warning" in talk) == (
        COUNT - 1,
        False,
    )  # rows 1 to 6 are there, but the column is called id


def test_unknown_numbers_that_fit_as_rows_are_said_to_do_so(
    benchmark: Benchmark, tmp_path: Path
) -> None:
    nothing = write_rows(tmp_path / "y.csv", [{"id": "0", "prediction": "A"}])
    with pytest.raises(BenchmarkError, match=r"none is of an item.*--column row=id takes"):
        read_anyones(nothing, benchmark)
    rows = [{"id": n, "prediction": KEYS[n]} for n in range(COUNT - 1)]
    path = write_rows(tmp_path / "x.csv", rows)
    with pytest.raises(BenchmarkError, match="--column row=id takes the numbers for those of rows"):
        read_anyones(path, benchmark)
    assert right_answers(path, benchmark, columns={"row": "id"})[0] == COUNT - 1


def test_ids_from_0_are_doubted_where_rows_from_1_fit(
    save: Callable[..., Path], tmp_path: Path
) -> None:
    benchmark = Benchmark.load(save(*(item(n, id=str(n - 1)) for n in range(1, COUNT + 1))))
    rows = [{"number": n, "prediction": KEYS[n - 1]} for n in range(1, COUNT)]
    path = write_rows(tmp_path / "x.csv", rows)
    assert "and nothing in the file tells which" in right_answers(path, benchmark)[1]
    keyed = write_rows(tmp_path / "y.csv", [{**row, "gt": row["prediction"]} for row in rows])
    assert right_answers(keyed, benchmark)[0] == COUNT - 1


@pytest.mark.parametrize("file", ["q.csv", "q.csv.gz", "q.xlsx#Sheet 1"])
def test_rows_are_those_of_the_source_where_items_were_left_out(
    file: str, save: Callable[..., Path], tmp_path: Path
) -> None:
    items = [
        item(n, id=f"x{n}", provenance=freeze({"import": {"file": file, "line": n + 1}}))
        for n in range(1, COUNT + 1)
        if n != 3
    ]
    rows = [{"index": n - 1, "prediction": KEYS[n - 1]} for n in (2, 4, 6)]
    benchmark = Benchmark.load(save(*items))
    path = write_rows(tmp_path / "x.csv", rows)
    right, talk = right_answers(path, benchmark, columns={"row": "index"})
    assert right == len(rows)
    assert "its row in the source below a header, from 0, and not the items' order" in talk


@pytest.mark.parametrize(("form", "right"), [("q{:03}", COUNT), ("Q{}", COUNT), ("Item-{}", COUNT)])
def test_a_word_before_the_number_of_an_id_is_no_matter(
    form: str, right: int, benchmark: Benchmark, tmp_path: Path
) -> None:
    rows = [
        {"item": form.format(n), "system": f"my model {m}", "Predicted": KEYS[n - 1]}
        for n in range(1, COUNT + 1)
        for m in "ab"
    ]
    found, _ = read_anyones(write_rows(tmp_path / "x.csv", rows), benchmark)
    assert [model for model, _ in found] == ["my model a", "my model b"]
    assert [len(by_item) for by_item in found.values()] == [right, right]


def test_two_words_before_numbers_are_names_and_a_prompt_is_no_model(
    benchmark: Benchmark, tmp_path: Path
) -> None:
    rows = [
        {"id": f"{'ab'[n % 2]}{n}", "system": "You watch a video and answer.", "pred": "A"}
        for n in range(1, COUNT + 1)
    ]
    with pytest.raises(BenchmarkError, match="none is of an item"):
        read_anyones(write_rows(tmp_path / "x.csv", rows), benchmark)
    for row in rows:
        row["id"] = row["id"][1:]
    found, _ = read_anyones(write_rows(tmp_path / "y.csv", rows), benchmark)
    assert list(found) == [("y", "protocol")]


def test_all_that_is_wrong_with_a_file_is_listed_at_once(
    benchmark: Benchmark, tmp_path: Path
) -> None:
    (tmp_path / "x.csv").write_text("id,prediction\n1,A\n1,B\n77,A\n2,A,more\n")
    (tmp_path / "y.csv").write_text("id,prediction\n3,A\n88,A\n3,B\n")
    with pytest.raises(BenchmarkError) as error:
        read_anyones([tmp_path / "x.csv", tmp_path / "y.csv"], benchmark)
    places = [f"{Path(each.file).name}:{each.line}" for each in error.value.problems]
    assert places == ["x.csv:3", "x.csv:4", "x.csv:5", "y.csv:3", "y.csv:4"]
