"""Anyone's file becomes a benchmark: each column is taken for what it is, and odd rows are named."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from dry_imports import imported, taken, write

from reelbench.base.errors import ReelbenchError
from reelbench.data.benchmark import Benchmark
from reelbench.interop.imports import import_benchmark, read_mapping

HEAD = ["video", "question", "A", "B", "C", "answer"]
ROWS = [
    ["a.mp4", "What is seen first?", "a dog", "a cat", "a hen", "B"],
    ["b.mp4", "Who runs?", "the boy", "the girl", "nobody", "A"],
]


def test_a_plain_table_needs_no_word_from_anyone(tmp_path: Path) -> None:
    result = imported(tmp_path, [HEAD, *ROWS])
    first = result.items[0]
    assert (first.id, first.kind, first.question) == ("q-0001", "single", "What is seen first?")
    assert (first.options, first.answer) == (("a dog", "a cat", "a hen"), ("B",))
    assert first.media[0].path == "media/a.mp4"
    assert first.provenance["import"] == {"file": "questions.csv", "line": 2}
    assert (result.odd_rows, result.doubts) == ((), ())


# Held apart from what recognition was tuned on: names, languages and shapes.
UNSEEN: dict[str, tuple[Any, dict[str, str]]] = {
    "other words": (
        [
            ["Clip File", "Query", "Choice 1", "Choice 2", "Choice 3", "Right Answer", "Topic"],
            ["x/1.webm", "How often?", "once", "twice", "never", "twice", "time"],
            ["x/2.webm", "Which way?", "left", "right", "up", "left", "space"],
            ["x/3.webm", "How long?", "long", "short", "not", "not", "time"],
            ["x/4.webm", "Which hand?", "left", "right", "both", "both", "space"],
        ],
        {"Clip File": "video", "Query": "question", "Choice 2": "options", "Topic": "tag Topic",
         "Right Answer": "answer as text"},
    ),
    "spanish": (
        [
            ["Archivo", "Pregunta", "opcion_a", "opcion_b", "Respuesta", "Inicio", "Fin"],
            ["1.mp4", "¿Qué es?", "perro", "gato", "b", "0:05", "0:10"],
            ["2.mp4", "¿Quién?", "ella", "él", "a", "1:05", "1:10"],
        ],
        {"Archivo": "video", "Pregunta": "question", "Respuesta": "answer as letter", "Fin": "end"},
    ),
    "objects": (
        [
            {"uid": 7, "clip": {"path": "7.mp4"}, "qa": {"q": "What?", "choices": ["a", "b"]}, "gt": 1},
            {"uid": 8, "clip": {"path": "8.mp4"}, "qa": {"q": "Who?", "choices": ["c", "d"]}, "gt": 0},
        ],
        {"uid": "id", "clip": "video", "qa.q": "question", "qa.choices": "options", "gt": "answer as index"},
    ),
    "nothing named": (
        [
            ["f1", "f2", "f3", "f4", "f5", "f6"],
            ["1.avi", "What colour is the car?", "red", "blue", "grey", "blue"],
            ["2.avi", "What does the child hold?", "a ball", "a cup", "a toy", "a toy"],
        ],
        {"f1": "video", "f2": "question", "f4": "options", "f6": "answer as text"},
    ),
    "a reply beside the key": (
        [
            ["qid", "video_id", "question", "candidates", "prediction", "correct_choice", "split"],
            ["1", "v1", "What?", "['a', 'b']", "A", "1", "dev"],
            ["2", "v2", "Who?", "['c', 'd']", "A", "0", "test"],
        ],
        {"qid": "id", "video_id": "video", "candidates": "options", "correct_choice": "answer as index",
         "split": "tag split"},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", UNSEEN)
def test_columns_are_known_by_names_and_values(name: str, tmp_path: Path) -> None:
    rows, expected = UNSEEN[name]
    found = taken(imported(tmp_path, rows))
    assert expected.items() <= found.items(), found
    assert "prediction" not in found


def test_ids_that_count_per_video_get_the_video_before_them(tmp_path: Path) -> None:
    rows = [["qid", *HEAD], *([str(n % 2), *row] for n, row in enumerate([*ROWS, *ROWS]))]
    rows[3][1] = rows[4][1] = "c.mp4"
    result = imported(tmp_path, rows)
    assert [item.id for item in result.items] == ["a.mp4_0", "b.mp4_1", "c.mp4_0", "c.mp4_1"]


def test_ids_that_come_again_are_made_unique_and_said(tmp_path: Path) -> None:
    rows = [["id", *HEAD], *(["7", *ROWS[0]] for _ in range(3)), ["7-2", *ROWS[1]]]
    result = imported(tmp_path, rows)
    assert [item.id for item in result.items] == ["7", "7-3", "7-4", "7-2"]
    assert any("2 ids occurred before" in note for note in result.notes)
    assert result.items[1].provenance["import"]["id"] == "7"


def test_ids_of_several_files_are_told_apart_by_the_files(tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    for name in ("easy", "hard"):
        write(source / f"{name}.csv", [["id", *HEAD], ["1", *ROWS[0]], ["2", *ROWS[1]]])
    write(source / "predictions.csv", [["id", "model", "pred"], *([n, "m", "A"] for n in range(9))])
    result = import_benchmark(source, tmp_path / "made", dry_run=True)
    assert [item.id for item in result.items] == ["easy-1", "easy-2", "hard-1", "hard-2"]
    assert any("predictions.csv" in note for note in result.notes)


def test_rows_that_are_no_items_are_named_and_stop_no_other(tmp_path: Path) -> None:
    odd = [
        ["", "No video?", "x", "y", "", "A"],
        ["c.mp4", "", "x", "y", "", "A"],
        ["c.mp4", "One option?", "x", "", "", "A"],
        ["c.mp4", "A gap?", "x", "", "z", "A"],
        ["c.mp4", "No key?", "x", "y", "", ""],
        ["c.mp4", "Too far?", "x", "y", "", "C"],
        ["c.mp4", "Fewer options?", "x", "y", "", "B"],
    ]
    write(tmp_path / "q.csv", [HEAD, *ROWS, *odd])
    result = import_benchmark(tmp_path / "q.csv", tmp_path / "made")
    assert len(result.items) == 3
    with (tmp_path / "made/import/odd_rows.csv").open() as file:
        rows = list(csv.DictReader(file))
    reasons = ["no video", "no question", "option B has no text", "option B has no text", "no answer",
               "beyond the last option, B"]  # fmt: skip
    assert [int(row["line"]) for row in rows] == [4, 5, 6, 7, 8, 9]
    for row, reason in zip(rows, reasons, strict=True):
        assert reason in row["reason"]


def test_no_spreadsheet_takes_a_text_of_an_odd_row_for_a_formula(tmp_path: Path) -> None:
    head = ["id", *HEAD]
    rows = [[str(place), *row] for place, row in enumerate(ROWS)]
    write(tmp_path / "q.csv", [head, *rows, ['=HYPERLINK("x")', "c.mp4", "", "x", "y", "", "A"]])
    import_benchmark(tmp_path / "q.csv", tmp_path / "made", settings={"id": "id"})
    with (tmp_path / "made/import/odd_rows.csv").open() as file:
        assert [row["id"] for row in csv.DictReader(file)] == ['\'=HYPERLINK("x")']


def test_a_column_without_a_name_is_taken_for_nothing(tmp_path: Path) -> None:
    row = {"": "a.mp4", "question": "Who?", "options": ["x", "y"], "answer": "A"}
    (tmp_path / "q.json").write_text(json.dumps([row, row]))
    with pytest.raises(ReelbenchError, match="no column was found for the video"):
        import_benchmark(tmp_path / "q.json", tmp_path / "made")


def test_a_doubt_about_the_key_is_said_with_what_decides_it(tmp_path: Path) -> None:
    rows = [
        ["clip", "q", "choices", "label"],
        ["a.mp4", "What?", "x|y|z|w", "1"],
        ["b.mp4", "Who?", "x|y|z|w", "2"],
    ]
    result = imported(tmp_path, rows)
    assert [item.answer for item in result.items] == [("B",), ("C",)]
    assert "--set answer_as=" in result.doubts[0]
    decided = imported(tmp_path, rows, settings={"answer_as": "index1"})
    assert [item.answer for item in decided.items] == [("A",), ("B",)]
    assert decided.doubts == ()


@pytest.mark.parametrize(
    ("answers", "options", "kinds"),
    [
        (["yes", "No"], None, ["yesno", "yesno"]), ([True, False], None, ["yesno", "yesno"]),
        (["a dog", "two cats"], None, ["open", "open"]), (["a dog", "no"], None, ["open", "yesno"]),
        (["A", "A,C"], ["x", "y", "z"], ["single", "multi"]), ([["A", "B"], ["C"]], ["x", "y", "z"], ["multi", "single"]),
        (["Yes", "No"], ["Yes", "No"], ["yesno", "yesno"]),
    ],
)  # fmt: skip
def test_kinds_are_found(
    answers: list[Any], options: list[str] | None, kinds: list[str], tmp_path: Path
) -> None:
    rows = [
        {"video": "v.mp4", "question": "What?", "answer": answer}
        | ({"options": options} if options else {})
        for answer in answers
    ]
    assert [item.kind for item in imported(tmp_path, rows).items] == kinds


def test_a_column_says_which_questions_take_several_options(tmp_path: Path) -> None:
    rows = [
        {"video": "v.mp4", "question": "What?", "options": ["x", "y"], "answer": "A", "type": kind}
        for kind in ("multi-select", "single", "multi-select")
    ]
    result = imported(tmp_path, rows)
    assert [item.kind for item in result.items] == ["multi", "single", "multi"]
    assert result.items[0].tags == {"type": "multi-select"}


def test_times_and_evidence_become_seconds(tmp_path: Path) -> None:
    rows = [
        [*HEAD, "start", "end", "evidence"],
        [*ROWS[0], "0:10", "1:30", "[[12, 13.5]]"],
        [*ROWS[1], "", "", ""],
        [*ROWS[1], "30", "10", ""],
        [*ROWS[1], "0:10", "0:20", "0:30-0:40"],
    ]
    result = imported(tmp_path, rows)
    media = result.items[0].media[0]
    assert (media.start, media.end, result.items[0].evidence) == (10, 90, ((12, 13.5),))
    assert result.items[1].media[0].start is None
    assert [row.line for row in result.odd_rows] == [4]
    assert any("evidence outside" in note for note in result.notes)


def test_right_and_wrong_columns_are_shuffled_the_same_way_each_time(tmp_path: Path) -> None:
    rows = [["video", "question", "correct", "wrong 1", "wrong 2"]]
    rows += [["v.mp4", f"Which one is {n}?", f"r{n}", f"v{n}", f"w{n}"] for n in range(40)]
    result = imported(tmp_path, rows)
    assert all(item.correct == (f"r{n}",) for n, item in enumerate(result.items))
    assert {item.answer for item in result.items} == {("A",), ("B",), ("C",)}
    assert imported(tmp_path, rows).items == result.items


def test_two_columns_with_answers_are_compared(tmp_path: Path) -> None:
    rows = [[*HEAD, "answer_idx"], [*ROWS[0], "1"], [*ROWS[1], "2"], [*ROWS[1], "0"]]
    uses = {use.column: use.why for use in imported(tmp_path, rows).columns}
    assert "another option in 1 of 3 rows" in uses["answer_idx"]


def test_a_mapping_that_was_used_gives_the_same_bytes_again(tmp_path: Path) -> None:
    rows = [["nr", *HEAD, "topic"], *([n, *ROWS[n % 2], "t"] for n in range(6))]
    source = tmp_path / "source"
    source.mkdir()
    write(source / "q.csv", rows)
    write(source / "other.csv", [["name", "size"], ["x", "1"]])
    import_benchmark(source, tmp_path / "one", name="same")
    import_benchmark(source, tmp_path / "one", name="same")  # again: nothing changes
    used = tmp_path / "one/import/mapping.yaml"
    import_benchmark(source, tmp_path / "two", mapping=used, name="same")
    for name in ("items.jsonl", "benchmark.yaml", "import/mapping.yaml"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()
    assert len(Benchmark.load(tmp_path / "one").items) == 6


def test_splits_and_tags_are_declared(tmp_path: Path) -> None:
    rows = [[*HEAD, "split", "task"]]
    rows += [[*ROWS[n % 2], "dev" if n < 2 else "test", f"t{n % 2}"] for n in range(4)]
    manifest = imported(tmp_path, rows).manifest
    assert dict(manifest.splits) == {"dev": {}, "test": {}}
    assert manifest.taxonomy == {"task": ("t0", "t1")}


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([["question", "A", "B", "answer"], ["What?", "x", "y", "A"]], "--set video=COLUMN"),
        ([["a.mp4", "What is it?", "x", "y", "A"], ["b.mp4", "Who is it?", "u", "v", "B"]], "look like a row"),
        ([HEAD, ["a.mp4", "What?", "x", "y", "", ""]], "no row became an item: no answer"),
        ([HEAD], "rows|empty|no row"),
    ],
)  # fmt: skip
def test_a_file_that_cannot_be_understood_is_refused_with_what_to_do(
    rows: list[list[str]], message: str, tmp_path: Path
) -> None:
    with pytest.raises(ReelbenchError, match=message):
        imported(tmp_path, rows)


def test_all_faults_of_a_mapping_are_listed_with_their_lines(tmp_path: Path) -> None:
    path = tmp_path / "map.yaml"
    path.write_text(
        "titel: x\nfields:\n  questoin: q\n  options: 3\nanswer_as: number\n"
        "kind: {column: type}\nprotocol: {orders: 0}\nconstants: {split: test}\n"
    )
    with pytest.raises(ReelbenchError) as error:
        read_mapping(path)
    text = str(error.value)
    for part in ("map.yaml:1: titel", "map.yaml:3: fields.questoin", "'question' is meant", "map.yaml:4: fields.options",
                 "map.yaml:5: answer_as", "kind.values", "orders", "constants.split"):  # fmt: skip
        assert part in text, part


def test_columns_of_a_mapping_that_a_file_lacks_are_all_named(tmp_path: Path) -> None:
    (tmp_path / "map.yaml").write_text(
        "fields: {video: clip, question: question, answer: key}\ntags: {t: '{task}-{level}'}\n"
    )
    with pytest.raises(ReelbenchError, match="'clip', 'key', 'task', 'level'"):
        imported(tmp_path, [HEAD, *ROWS], mapping=tmp_path / "map.yaml")


def test_a_mapping_with_templates_constants_and_the_file_name(tmp_path: Path) -> None:
    (tmp_path / "map.yaml").write_text(
        "fields: {id: '{file.stem}/{video}', video: 'clips/{video}', question: question,\n"
        "  options: [A, B, C], answer: answer}\n"
        "constants: {tags.split: test}\ntags: {source: file.name}\nkind: single\n"
    )
    (first, _) = imported(tmp_path, [HEAD, *ROWS], mapping=tmp_path / "map.yaml").items
    assert (first.id, first.media[0].path) == ("questions/a.mp4", "media/clips/a.mp4")
    assert first.tags == {"source": "questions.csv", "split": "test"}


def test_an_answer_in_words_that_is_another_option_makes_the_row_odd(tmp_path: Path) -> None:
    rows = [[*HEAD, "answer_text"], [*ROWS[0], "a cat"], [*ROWS[1], "nobody"]]
    result = imported(tmp_path, rows)
    assert [item.reference for item in result.items] == ["a cat"]
    assert result.odd_rows[0].reason == "the answer is A, but 'nobody' is option C"


@pytest.mark.parametrize("answer", ["option_b", "Option B", "b", "(B) y", "B) y"])
def test_an_answer_may_name_the_column_of_an_option(answer: str, tmp_path: Path) -> None:
    rows = [["video", "question", "option_a", "option_b", "correct_option"]]
    rows += [["v.mp4", "Which?", "x", "y", answer], ["v.mp4", "Who?", "x", "y", "option_a"]]
    assert imported(tmp_path, rows).items[0].answer == ("B",)


def test_lists_of_answers_without_any_key_are_references(tmp_path: Path) -> None:
    rows = [
        {"video": "v.mp4", "question": "What?", "answers": ["a dog", "dog"]},
        {"video": "v.mp4", "question": "Who?", "answers": ["a man"]},
    ]
    result = imported(tmp_path, rows)
    assert [item.reference for item in result.items] == ["a dog; dog", "a man"]


def test_items_of_ours_come_back_as_they_were(tmp_path: Path) -> None:
    rows = [
        {"id": "q1", "kind": "multi", "media": [{"path": "media/a.mp4", "start": 1, "end": 2.5}], "question": "What?",
         "options": ["a", "b"], "answer": ["B"], "evidence": [[1, 2]], "tags": {"topic": "x"}},
        {"id": "q2", "kind": "open", "media": [{"path": "media/b.mp4"}], "question": "How?", "reference": "so",
         "tags": {"topic": "y"}},
    ]  # fmt: skip
    (tmp_path / "items.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    made = import_benchmark(tmp_path / "items.jsonl", tmp_path / "made", dry_run=True)
    records = [item.replace(provenance={}).to_record() for item in made.items]
    assert json.loads(json.dumps(records)) == rows


def test_columns_of_a_published_form_in_a_file_of_another_do_no_harm(tmp_path: Path) -> None:
    head = ["video", "duration", "question", "answer", "question_type", "A", "B"]  # as MLVU has
    rows = [head, *(["v.mp4", "12", f"What is {n}?", "B", "t", "x", "y"] for n in range(4))]
    result = imported(tmp_path, rows)
    assert [item.answer for item in result.items] == [("B",)] * 4


def test_a_dict_by_video_is_known_by_the_files_that_its_keys_name(tmp_path: Path) -> None:
    media = tmp_path / "films"
    media.mkdir()
    for name in ("one.mp4", "two.mp4", "0.mp4", "1.mp4"):
        (media / name).write_bytes(b"\0\0\0\x20ftypisom" + name.encode())
    questions = {
        "one": [{"q": "What happens first?", "choices": ["a jump", "a run"], "gt": 1}],
        "two": [{"q": "Who runs?", "choices": ["a dog", "a cat"], "gt": 0}],
    }
    (tmp_path / "by video.json").write_text(json.dumps(questions))
    result = import_benchmark(tmp_path / "by video.json", tmp_path / "out", media=media)
    assert [item.media[0].path for item in result.items] == ["media/one.mp4", "media/two.mp4"]
    assert [item.answer for item in result.items] == [("B",), ("A",)]
    (why,) = [use.why for use in result.columns if use.field == "video"]
    assert why == f"100% of its values are names of files in {media}"
    # Without them nothing is guessed: numbers of options are names of files as well.
    (tmp_path / "none.json").write_text(
        json.dumps([row for rows in questions.values() for row in rows])
    )
    with pytest.raises(ReelbenchError, match="no column was found for the video"):
        import_benchmark(tmp_path / "none.json", tmp_path / "nothing", media=media)
