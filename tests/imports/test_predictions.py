"""Anyone's predictions are scored: how they were read is said, and no row is lost in silence."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from support import SHARED, make_item, reelbench

from reelbench.base.errors import ReelbenchError
from reelbench.data.benchmark import Benchmark, BenchmarkError
from reelbench.data.items import Item, Media, freeze
from reelbench.interop.predictions import read_anyones
from reelbench.score.predictions import outcomes_in
from reelbench.score.score import score_rows

KEY = {"q-1": "B", "q-2": "B", "q-3": "B", "q-4": "B"}
WANTED = {"q-1": "B", "q-2": "A", "q-3": "D", "q-4": "C"}
NUMBERS = {name: "ABCD".index(letter) for name, letter in WANTED.items()}
Save = Callable[..., Path]


@pytest.fixture
def benchmark(save: Save) -> Benchmark:
    return Benchmark.load(save(*map(make_item, range(1, 5))))


def read_letters(path: Path, benchmark: Benchmark, **options: Any) -> dict[str, str]:
    """The answers of the only model in a file, by item."""
    rows, _ = read_anyones(path, benchmark, **options)
    (found,) = outcomes_in(rows, benchmark).values()
    return {name: "".join(sorted(outcome.answer or ())) for name, outcome in found.items()}


def write_json(path: Path, value: object) -> Path:
    path.write_text(json.dumps(value))
    return path


def write_lines(path: Path, rows: list[dict[str, object]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def write_sheet(path: Path, rows: list[dict[str, object]]) -> Path:
    book = openpyxl.Workbook()
    book.active.append(list(rows[0]))
    for row in rows:
        book.active.append(list(row.values()))
    book.save(path)
    return path


@pytest.mark.parametrize(
    "content",
    [
        WANTED,
        {name: f"({letter})" for name, letter in WANTED.items()},
        NUMBERS,
        {name: number + 1 for name, number in NUMBERS.items()},
        {name: [letter] for name, letter in WANTED.items()},
        {name: {"prediction": number, "answer": 1} for name, number in NUMBERS.items()},
        {"results": [{"question_id": n, "pred": x, "gt": "B"} for n, x in WANTED.items()]},
        {"args": {"model": "x"}, "logs": [{"qid": n, "model_answer": x} for n, x in WANTED.items()]},
        [{"id": int(n[2:]), "output": x, "answer": "B"} for n, x in WANTED.items()],
        [{"Question ID": f"Q_00{n[2:]}", "Model Output": f"It is {x}."} for n, x in WANTED.items()],
        [{"question": f"What happens in scene {n[2:]}?", "prediction": x} for n, x in WANTED.items()],
        [{"idx": i, "question": f"What happens in scene {n[2:]}?", "response": x} for i, (n, x) in enumerate(WANTED.items())],
        [{"sample": n, "text": "no", "prediction": x} for n, x in WANTED.items()],
        {"id": list(WANTED), "prediction": list(WANTED.values())},
        [{"video": "v", "questions": [{"question_id": n, "response": x}]} for n, x in WANTED.items()],
        {"v": {"one": [{"qid": n, "pred": x} for n, x in WANTED.items()], "two": [{"qid": "q-1", "pred": "B"}]}},
        [{"custom_id": n, "response": {"status_code": 200, "body": {"choices": [{"message": {"content": x}}]}}} for n, x in WANTED.items()],
        [{"doc_id": i, "target": "1", "resps": [[[-1.0 if letter == x else -2.0, "False"]] for letter in "ABCD"]} for i, x in enumerate(WANTED.values())],
        [{"id": n, "response": str(x)} for n, x in NUMBERS.items()],
        [{"doc_id": i, "target": "B", "filtered_resps": [x]} for i, x in enumerate(WANTED.values())],
    ],
)  # fmt: skip
def test_json_of_many_shapes_gives_the_same_answers(
    content: object, benchmark: Benchmark, tmp_path: Path
) -> None:
    assert read_letters(write_json(tmp_path / "x.json", content), benchmark) == WANTED


@pytest.mark.parametrize("form", ["csv", "tsv", "jsonl", "xlsx"])
def test_tables_are_read_by_their_columns(form: str, benchmark: Benchmark, tmp_path: Path) -> None:
    rows = [{"index": n, "answer": "B", "prediction": x} for n, x in WANTED.items()]
    path = tmp_path / f"mine.{form}"
    if form == "xlsx":
        write_sheet(path, rows)
    elif form == "jsonl":
        write_lines(path, rows)
    else:
        sign = "," if form == "csv" else "\t"
        path.write_text("\n".join(sign.join(row) for row in [rows[0], *map(dict.values, rows)]))
    rows_read, notes = read_anyones(path, benchmark)
    assert list(rows_read) == [("mine", "protocol")]
    assert read_letters(path, benchmark) == WANTED
    assert "4 of 4 rows match items. Ids: column 'index'" in notes[-1]
    assert "Predictions: column 'prediction', read as replies" in notes[-1]


def test_a_log_of_lmms_eval_is_matched_by_place_and_named_by_its_results(
    benchmark: Benchmark, tmp_path: Path
) -> None:
    folder = tmp_path / "lab__model-7b"
    folder.mkdir()
    rows = [
        {"doc_id": i, "target": "B", "filtered_resps": [f"{x}."], "doc_hash": "e3", "score": {"pred_answer": x, "answer": "B"}, "input": f"What happens in scene {i + 1}?\nA. ...\nAnswer:"}
        for i, x in enumerate(WANTED.values())
    ]  # fmt: skip
    write_lines(folder / "20260102_030405_samples_task.jsonl", rows[::-1])
    read, notes = read_anyones(tmp_path, benchmark)
    assert list(read) == [("lab/model-7b", "protocol")]
    assert "column 'doc_id', by the items' order, from 0" in notes[-1]
    write_json(folder / "20260102_030405_results.json", {"model_name": "lab/Model-7B"})
    read, _ = read_anyones(folder, benchmark)
    ((asked, found),) = outcomes_in(read, benchmark).items()
    assert asked[0] == "lab/Model-7B"
    assert {name: "".join(outcome.answer or ()) for name, outcome in found.items()} == WANTED


def test_a_log_whose_places_are_other_questions_is_refused(
    benchmark: Benchmark, tmp_path: Path
) -> None:
    rows = [
        {"doc_id": i, "target": "C", "filtered_resps": [x], "input": "Who sings?"}
        for i, x in enumerate(WANTED.values())
    ]
    path = write_lines(tmp_path / "samples_task.jsonl", rows)
    with pytest.raises(
        BenchmarkError, match=r"4 ids of which none is of an item, such as '0', '1'"
    ):
        read_anyones(path, benchmark)


def test_numbers_without_end_are_no_numbers(benchmark: Benchmark, tmp_path: Path) -> None:
    name = benchmark.items[0].id
    (tmp_path / "a.csv").write_text(f"id,pred,order\n{name},A,{'9' * 5000}\n")
    assert read_letters(tmp_path / "a.csv", benchmark) == {name: "A"}
    (tmp_path / "a.csv").write_text(f"index,pred\n{'9' * 5000},A\n1,B\n")
    with pytest.raises(BenchmarkError, match="none is of an item"):
        read_letters(tmp_path / "a.csv", benchmark)


def test_rows_are_found_by_the_line_that_items_were_imported_from(
    save: Save, tmp_path: Path
) -> None:
    items = [
        make_item(n, provenance=freeze({"import": {"id": f"{n}-a", "line": n + 10}}))
        for n in range(1, 5)
    ]
    benchmark = Benchmark.load(save(*items))
    by_id = write_json(tmp_path / "a.json", {f"{n[2:]}-a": x for n, x in WANTED.items()})
    assert read_letters(by_id, benchmark) == WANTED
    rows = [{"doc_id": i + 10, "target": 1, "resps": [[x]]} for i, x in enumerate(WANTED.values())]
    assert read_letters(write_lines(tmp_path / "b.jsonl", rows), benchmark) == WANTED


def test_a_result_of_vlmevalkit_is_matched_by_question_and_video(
    save: Save, tmp_path: Path
) -> None:
    items = [
        make_item(n, question="What is done here?", media=(Media(f"media/v{n}.mp4"),))
        for n in range(1, 5)
    ]
    benchmark = Benchmark.load(save(*items))
    rows = [
        {"index": i + 70, "video": f"v{n[2:]}", "question": "What is done here?", "answer": "B", "A": "a door opens", "prediction": x}
        for i, (n, x) in enumerate(WANTED.items())
    ]  # fmt: skip
    rows[2]["prediction"] = "Failed to obtain answer via API."
    folder = tmp_path / "Qwen2-VL-7B" / "T20260102"
    folder.mkdir(parents=True)
    path = write_sheet(folder / "Qwen2-VL-7B_Video-MME_8frame.xlsx", rows)
    read, notes = read_anyones(path, benchmark)
    ((asked, found),) = outcomes_in(read, benchmark).items()
    assert asked == ("Qwen2-VL-7B", "protocol")
    assert "the question's words and the video in 'video'" in notes[-2]
    assert "Rows of failed calls, counted as unanswered: 1 ('q-3')." in notes[-1]
    assert [turn.status for turn in found["q-3"].turns] == ["error"]
    assert found["q-4"].answer == {"C"}


class TestNumbers:
    """Numbers are read in one way over the whole file, and that is said."""

    @pytest.mark.parametrize(
        ("content", "words"),
        [
            (NUMBERS, "numbers of options from 0 (a 0 is among them)"),
            ({"q-1": 1, "q-2": 4}, "numbers of options from 1 (a 4 for 4 options is among them)"),
            ({"q-1": 0, "q-2": -1}, "numbers of options from 0"),
            ({"q-1": {"pred": 1, "answer": 1}, "q-2": {"pred": 2, "answer": 1}}, "from 0"),
            ({"q-1": {"pred": 1, "answer": 2}, "q-2": {"pred": 2, "answer": 2}}, "from 1"),
        ],
    )
    def test_what_decides_is_said(
        self, content: object, words: str, benchmark: Benchmark, tmp_path: Path
    ) -> None:
        _, notes = read_anyones(write_json(tmp_path / "x.json", content), benchmark)
        assert words in " ".join(notes)

    def test_where_both_fit_it_is_asked_for(self, benchmark: Benchmark, tmp_path: Path) -> None:
        path = write_json(tmp_path / "x.json", {"q-1": 1, "q-2": 2, "q-3": 3, "q-4": 1})
        with pytest.raises(
            ReelbenchError, match=r"--answers-as index \(from 0\), --answers-as ind"
        ):
            read_anyones(path, benchmark)
        assert read_letters(path, benchmark, answers_as="index1")["q-1"] == "A"
        assert read_letters(path, benchmark, answers_as="index")["q-1"] == "B"

    def test_numbers_of_no_option_are_refused(self, benchmark: Benchmark, tmp_path: Path) -> None:
        path = write_json(tmp_path / "x.json", {"q-1": 0, "q-2": 7})
        with pytest.raises(ReelbenchError, match=r"q-2 has 4 options, and the file 7"):
            read_anyones(path, benchmark)
        with pytest.raises(BenchmarkError, match=r"a list of letters among ABCD"):
            read_anyones(path, benchmark, answers_as="index")

    def test_numbers_that_are_texts_of_options_and_places_are_asked_for(
        self, save: Save, tmp_path: Path
    ) -> None:
        options = ("0", "1", "2", "3")
        benchmark = Benchmark.load(save(make_item(1, options=options), make_item(2, options=options[::-1])))  # fmt: skip
        path = write_json(tmp_path / "x.json", {"q-1": 0, "q-2": 0})
        with pytest.raises(ReelbenchError, match=r"--answers-as reply \(texts\)"):
            read_anyones(path, benchmark)
        assert read_letters(path, benchmark, answers_as="reply") == {"q-1": "A", "q-2": "D"}

    def test_truths_answer_yes_and_no(self, save: Save, tmp_path: Path) -> None:
        items = [make_item(n, kind="yesno", options=("Yes", "No")[:: 1 if n == 1 else -1]) for n in (1, 2)]  # fmt: skip
        benchmark = Benchmark.load(save(*items))
        truths = write_json(tmp_path / "x.json", {"q-1": True, "q-2": True})
        assert read_letters(truths, benchmark) == {"q-1": "A", "q-2": "B"}
        words = write_json(tmp_path / "x.json", {"q-1": "True", "q-2": "false"})
        assert read_letters(words, benchmark) == {"q-1": "A", "q-2": "A"}
        bits = write_json(tmp_path / "x.json", {"q-1": 1, "q-2": 0})
        with pytest.raises(ReelbenchError, match=r"--answers-as truth \(1 for yes\)"):
            read_anyones(bits, benchmark)

    def test_several_choices_come_as_lists_texts_or_letters(
        self, save: Save, tmp_path: Path
    ) -> None:
        items: list[Item] = [make_item(n, kind="multi", answer=("A", "C")) for n in range(1, 5)]
        benchmark = Benchmark.load(save(*items))
        content = {
            "q-1": ["A", "C"],
            "q-2": "AC",
            "q-3": ["a door opens", "it snows"],
            "q-4": "A, C",
        }
        assert set(read_letters(write_json(tmp_path / "x.json", content), benchmark).values()) == {"AC"}  # fmt: skip
        content = {"q-1": [0, 2], "q-2": [0, 2], "q-3": [0, 2], "q-4": [2, 0]}
        assert set(read_letters(write_json(tmp_path / "x.json", content), benchmark).values()) == {"AC"}  # fmt: skip


class TestOptions:
    """Letters and numbers mean the options as the file has them."""

    SHOWN = ("it snows", "a bell rings", "a door opens", "a dog barks")  # C, D, A, B of the items

    @pytest.mark.parametrize(
        ("columns", "given"),
        [
            ({"options": list(SHOWN)}, "letters"),
            ({"candidates": json.dumps(SHOWN)}, "numbers"),
            (dict(zip("ABCD", SHOWN, strict=True)), "letters"),
            ({f"a{n}": text for n, text in enumerate(SHOWN)}, "numbers"),
            ({"input": "What happens?\n" + "\n".join(f"{x}. {o}" for x, o in zip("ABCD", SHOWN, strict=True)) + "\nAnswer with the letter."}, "letters"),
        ],
    )  # fmt: skip
    def test_another_order_is_taken_into_account(
        self, columns: dict[str, object], given: str, benchmark: Benchmark, tmp_path: Path
    ) -> None:
        shown = {"A": "C", "B": "D", "C": "A", "D": "B"}  # where the benchmark's letters stand
        rows = [
            {"qid": n, **columns, "answer": "D" if given == "letters" else 3, "pred": shown[x] if given == "letters" else "ABCD".index(shown[x])}
            for n, x in WANTED.items()
        ]  # fmt: skip
        path = write_lines(tmp_path / "x.jsonl", rows)
        assert read_letters(path, benchmark) == WANTED
        _, notes = read_anyones(path, benchmark)
        assert "In 4 rows the options stand in another order" in notes[0]
        assert not any("warning" in note for note in notes)

    def test_keys_that_are_not_the_benchmarks_are_told(
        self, benchmark: Benchmark, tmp_path: Path
    ) -> None:
        rows = [
            {"qid": n, "pred": x, "answer": "C" if n == "q-1" else "B"} for n, x in WANTED.items()
        ]
        _, notes = read_anyones(write_lines(tmp_path / "x.jsonl", rows), benchmark)
        assert "warning: of 4 keys in the file (column 'answer'), 3 are those of the" in notes[-1]

    def test_none_may_be_an_option(self, save: Save, tmp_path: Path) -> None:
        options = ("Red", "None")
        items = [make_item(1, options=options), make_item(2), make_item(3, kind="open", options=(), answer=(), reference="none")]  # fmt: skip
        benchmark = Benchmark.load(save(*items))
        path = write_json(tmp_path / "x.json", {"q-1": "none", "q-2": "none", "q-3": "none"})
        rows, _ = read_anyones(path, benchmark)
        (found,) = outcomes_in(rows, benchmark).values()
        assert found["q-1"].answer == {"B"}
        assert [found[name].turns[0].replied for name in ("q-2", "q-3")] == [False, True]


class TestNothingIsLost:
    """Rows that give no prediction are counted and named."""

    def test_the_key_is_never_taken_for_the_prediction(
        self, benchmark: Benchmark, tmp_path: Path
    ) -> None:
        rows = [{"id": n, "answer": x, "gt": x} for n, x in KEY.items()]
        path = write_lines(tmp_path / "x.jsonl", rows)
        with pytest.raises(BenchmarkError, match=r"'answer' is taken for the key.*--column prediction="):  # fmt: skip
            read_anyones(path, benchmark)
        assert read_letters(path, benchmark, columns={"prediction": "answer"}) == KEY

    def test_unknown_ids_are_all_listed_or_left_out_on_request(
        self, benchmark: Benchmark, tmp_path: Path
    ) -> None:
        path = write_json(tmp_path / "x.json", {**WANTED, "z-1": "A", "z-2": "B"})
        with pytest.raises(BenchmarkError) as caught:
            read_anyones(path, benchmark)
        assert [problem.found for problem in caught.value.problems] == ["'z-1'", "'z-2'"]
        _, notes = read_anyones(path, benchmark, skip_unmatched=True)
        assert "Rows about no item of the benchmark, left out: 2 ('z-1', 'z-2')." in notes[-1]  # fmt: skip

    def test_rows_that_come_twice_and_empty_ones_are_told(
        self, benchmark: Benchmark, tmp_path: Path
    ) -> None:
        rows: list[dict[str, object]] = [{"qid": n, "pred": x} for n, x in WANTED.items()]
        same = write_lines(tmp_path / "x.jsonl", [*rows[:3], rows[0], {"qid": "q-4", "pred": None}])
        _, notes = read_anyones(same, benchmark)
        assert "Rows that say the same once more, counted once: 1 ('q-1')." in notes[-2]
        assert "Rows of failed calls, counted as unanswered: 1 ('q-4')." in notes[-1]
        other = write_lines(tmp_path / "y.jsonl", [*rows, {"qid": "q-1", "pred": "A"}])
        with pytest.raises(BenchmarkError, match=r"y.jsonl:5: id: found 'q-1' twice for y"):
            read_anyones(other, benchmark)

    def test_broken_lines_stop_the_score_by_name(
        self, benchmark: Benchmark, tmp_path: Path
    ) -> None:
        (tmp_path / "x.csv").write_text("qid,pred\nq-1,A\nq-2,A,B\nq-3,B\n")
        with pytest.raises(BenchmarkError, match=r"x.csv:3: row: found 3 cells, expected 2"):
            read_anyones(tmp_path / "x.csv", benchmark)

    def test_a_file_without_ids_or_of_another_benchmark_is_refused_in_a_sentence(
        self, benchmark: Benchmark, tmp_path: Path
    ) -> None:
        (tmp_path / "x.csv").write_text("q-1,A\nq-2,B\n")
        with pytest.raises(
            BenchmarkError, match=r"expected a first line with the names of the col"
        ):
            read_anyones(tmp_path / "x.csv", benchmark)
        (tmp_path / "x.csv").write_text("pred\nA\nB\n")
        with pytest.raises(BenchmarkError, match=r"a column with ids of items.*--column id="):
            read_anyones(tmp_path / "x.csv", benchmark)
        with pytest.raises(BenchmarkError, match=r"2 ids of which none is of an item, such as 'x', 'y', expected ids such as 'q-1'"):  # fmt: skip
            read_anyones(write_json(tmp_path / "y.json", {"x": "A", "y": "B"}), benchmark)


def test_models_and_conditions_come_from_columns(benchmark: Benchmark, tmp_path: Path) -> None:
    lines = [f"{n},{model},{c},{x}" for n, x in WANTED.items() for model in ("a", "b") for c in ("short", "long")]  # fmt: skip
    (tmp_path / "x.csv").write_text("\n".join(["qid,Model Name,condition,pred", *lines]))
    rows, _ = read_anyones(tmp_path / "x.csv", benchmark)
    assert sorted(rows) == [("a", "long"), ("a", "short"), ("b", "long"), ("b", "short")]


def test_the_command_says_how_it_read_the_file(save: Save, tmp_path: Path) -> None:
    folder = save(*map(make_item, range(1, 5)))
    path = write_json(tmp_path / "theirs.json", {"q-1": 1, "q-2": 2})
    done = reelbench("score", "--benchmark", folder, "--predictions", path)
    assert done.returncode == 2
    assert "--answers-as index1" in done.stderr
    done = reelbench("score", "--benchmark", folder, "--predictions", path, "--answers-as", "index", "--column", "prediction=value")  # fmt: skip
    assert done.returncode == 0
    assert "2 of 2 rows match items" in done.stderr
    assert "25.0%" in done.stdout


def test_predictions_of_nextqa_give_its_published_accuracy(tmp_path: Path) -> None:
    source = SHARED / "data" / "nextqa"
    if not source.is_dir():
        pytest.skip("the shared data are not here")
    from reelbench.interop.records import read_records

    questions = [record.values for record in read_records(source / "val.csv.gz").records]
    items = [
        make_item(
            id=f"{row['video']}_{row['qid']}",
            media=(Media(f"media/{row['video']}.mp4"),),
            question=row["question"],
            options=tuple(row[f"a{n}"] for n in range(5)),
            answer=("ABCDE"[int(row["answer"])],),
        )
        for row in questions
    ]
    (tmp_path / "items.jsonl").write_text("".join(f"{item.to_line()}\n" for item in items))
    (tmp_path / "benchmark.yaml").write_text("name: nextqa\nversion: '1'\n")
    benchmark = Benchmark.load(tmp_path)
    rows, notes = read_anyones(source / "HGA-bert-ft-h256-val.json.gz", benchmark)
    (found,) = outcomes_in(rows, benchmark).values()
    right = sum(found[item.id].answer == set(item.answer) for item in items)
    assert round(100 * right / len(items), 2) == 49.74
    assert "4,996 of 4,996 rows match items" in notes[-1]
    first = {asked: dict(list(by_item.items())[:2000]) for asked, by_item in rows.items()}
    (row,) = score_rows(benchmark, first).scores["results"]
    assert (row["items"], row["all_items"], row["accuracy"]) == (2000, 4996, 0.5015)
