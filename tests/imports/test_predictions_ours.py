"""Files in our own form are read as before, among anyone's."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from support import make_item

from reelbench.base.errors import ReelbenchError
from reelbench.data.benchmark import Benchmark, BenchmarkError
from reelbench.interop.predictions import read_anyones
from reelbench.score.predictions import read_rows

ROWS = [
    {"id": "q-1", "model": "m", "condition": "c", "order": 0, "status": "ok", "response": "B", "parsed": ["B"]},
    {"id": "q-1", "model": "m", "condition": "c", "order": 1, "permutation": [1, 0, 2, 3], "response": "A"},
    {"id": "q-2", "model": "m", "condition": "c", "status": "timeout", "response": None, "error": "late"},
    {"id": "q-2", "model": "n", "condition": "c", "round": 1, "response": "So it is C.", "judge": "j", "parsed": ["C"]},
]  # fmt: skip


@pytest.fixture
def benchmark(save: Callable[..., Path]) -> Benchmark:
    return Benchmark.load(save(make_item(1), make_item(2)))


def write(path: Path, *rows: object) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.mark.parametrize("rows", [ROWS, ROWS[2:3], [{"id": "q-1", "response": "B"}]])
def test_nothing_changes_and_nothing_is_said(
    rows: list[object], benchmark: Benchmark, tmp_path: Path
) -> None:
    path = write(tmp_path / "p.jsonl", *rows)
    assert read_anyones(path, benchmark) == (read_rows(path, benchmark), [])


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ({"id": "q-9", "parsed": ["A"]}, "p.jsonl:2: id: found 'q-9', expected the id of an item"),
        ({"id": "q-2", "parsed": "A"}, "p.jsonl:2: parsed: found 'A', expected a list of letters"),
        ({"id": "q-2", "response": 3}, "p.jsonl:2: response: found 3, expected text or null"),
        ({"id": "q-1", "parsed": ["C"]}, "p.jsonl:2: id: found 'q-1' twice for p, order 0"),
    ],
)
def test_what_is_wrong_is_told_as_before(
    row: object, words: str, benchmark: Benchmark, tmp_path: Path
) -> None:
    path = write(tmp_path / "p.jsonl", {"id": "q-1", "parsed": ["A"]}, row)
    with pytest.raises(BenchmarkError) as caught:
        read_anyones(path, benchmark)
    assert words in str(caught.value)


def test_ours_and_theirs_are_scored_together(benchmark: Benchmark, tmp_path: Path) -> None:
    ours = write(tmp_path / "ours.jsonl", *ROWS)
    (tmp_path / "theirs.csv").write_text("qid,pred\nq-1,B\nq-2,C\n")
    rows, notes = read_anyones([ours, tmp_path / "theirs.csv"], benchmark)
    assert list(rows) == [("m", "c"), ("n", "c"), ("theirs", "protocol")]
    assert all(note.startswith(str(tmp_path / "theirs.csv")) for note in notes)
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "theirs.csv").write_text("qid,pred\nq-1,B\n")
    with pytest.raises(BenchmarkError, match="a name of its own, or a field model"):
        read_anyones([tmp_path / "a" / "theirs.csv", tmp_path / "theirs.csv"], benchmark)


def test_a_missing_file_and_a_folder_are_told(benchmark: Benchmark, tmp_path: Path) -> None:
    with pytest.raises(ReelbenchError, match="does not exist"):
        read_anyones(tmp_path / "absent.csv", benchmark)
    (tmp_path / "empty.jsonl").write_text("\n")
    with pytest.raises(BenchmarkError, match=r"empty.jsonl: file: found nothing"):
        read_anyones(tmp_path / "empty.jsonl", benchmark)
    with pytest.raises(ReelbenchError, match=r"a folder without samples_\*\.jsonl"):
        read_anyones(tmp_path, benchmark)


def test_unknown_flags_are_refused(benchmark: Benchmark, tmp_path: Path) -> None:
    path = write(tmp_path / "p.jsonl", *ROWS)
    with pytest.raises(ReelbenchError, match="--answers-as takes one of reply, index"):
        read_anyones(path, benchmark, answers_as="letters")
    with pytest.raises(ReelbenchError, match="--column takes id, prediction"):
        read_anyones(path, benchmark, columns={"pred": "x"})
    with pytest.raises(BenchmarkError, match="no column 'x', expected one of 'id, model"):
        read_anyones(path, benchmark, columns={"prediction": "x"})
