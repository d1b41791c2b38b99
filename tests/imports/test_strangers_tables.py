"""Tables as people have them in many languages: what they hold is found, or its lack is said."""

from pathlib import Path

import openpyxl
import pytest
from dry_imports import imported, keys, taken, write

from reelbench.interop.imports import import_benchmark

TABLES = {
    "Hebrew letters": (
        ["סרטון", "שאלה", "א", "ב", "ג", "תשובה"],
        [["a.mp4", "מה?", "p", "q", "r", "ב"], ["b.mp4", "מי?", "p", "q", "r", "ג"]],
        ["q", "r"],
    ),
    "Arabic letters behind a word": (
        ["الفيديو", "السؤال", "الخيار أ", "الخيار ب", "الخيار ج", "الإجابة"],
        [["a.mp4", "ماذا؟", "p", "q", "r", "ج"], ["b.mp4", "من؟", "p", "q", "r", "أ"]],
        ["r", "p"],
    ),
    "the other Arabic order": (
        ["فيديو", "سؤال", "أ", "ب", "ت", "ث", "الجواب"],
        [["a.mp4", "ماذا؟", *"pqrs", "ث"], ["b.mp4", "من؟", *"pqrs", "ت"]],
        ["s", "r"],
    ),
    "Russian, from 1": (
        ["Видео", "Вопрос", "Вариант 1", "Вариант 2", "Вариант 3", "Правильный ответ"],
        [["a.mp4", "Что?", "p", "q", "r", "3"], ["b.mp4", "Кто?", "p", "q", "r", "1"]],
        ["r", "p"],
    ),
    "German, from 1": (
        ["Videodatei", "Frage", "Option 1", "Option 2", "Option 3", "Richtige Antwort"],
        [["a.mp4", "Was?", "p", "q", "r", "3"], ["b.mp4", "Wer?", "p", "q", "r", "1"]],
        ["r", "p"],
    ),
    "numbers with zeros": (
        ["video", "question", "option_01", "option_02", "option_03", "answer"],
        [["a.mp4", "What?", "p", "q", "r", "C"], ["b.mp4", "Who?", "p", "q", "r", "A"]],
        ["r", "p"],
    ),
    "full-width letters in one cell": (
        ["视频", "问题", "选项", "答案"],
        [
            ["a.mp4", "什么？", "Ａ．狗 Ｂ．猫 Ｃ．鸟", "Ｂ"],
            ["b.mp4", "谁？", "Ａ．安 Ｂ．伯", "Ａ"],
        ],
        ["猫", "安"],
    ),
    "circled numbers": (
        ["video", "question", "options", "answer"],
        [["a.mp4", "What?", "①狗 ②猫 ③鸟", "②"], ["b.mp4", "Who?", "①安 ②伯", "①"]],
        ["猫", "安"],
    ),
    "Hebrew letters in one cell": (
        ["video", "question", "options", "answer"],
        [["a.mp4", "מה?", "א. p\nב. q\nג. r", "ב"], ["b.mp4", "מי?", "א. p\nב. q", "א"]],
        ["q", "p"],
    ),
}


@pytest.mark.parametrize("name", TABLES)
def test_the_key_is_found_in_other_scripts(name: str, tmp_path: Path) -> None:
    head, rows, right = TABLES[name]
    result = imported(tmp_path, [head, *rows])
    assert (keys(result), result.doubts, result.odd_rows) == (right, (), ())


HEAD = ["question", "A", "B", "answer"]
ROWS = [["What?", "x", "y", "A"], ["Who?", "x", "y", "B"]]


@pytest.mark.parametrize("name", ["Zeit", "Wo im Film"])
def test_a_column_of_spans_by_the_clock_is_the_part_of_the_video(name: str, tmp_path: Path) -> None:
    rows = [[*ROWS[0], "a.mp4", "0:01-0:03", "1-3"], [*ROWS[1], "b.mp4", "0:02 - 1:02:05", "2-3"]]
    result = imported(tmp_path, [[*HEAD, "video", name, "rank"], *rows])
    parts = [(item.media[0].start, item.media[0].end) for item in result.items]
    assert parts == [(1, 3), (2, 3725)]
    assert taken(result)[name] == "span"
    assert "rank" not in taken(result)


def test_a_time_that_is_not_known_is_none(tmp_path: Path) -> None:
    head = [*HEAD, "video", "start", "end"]
    rows = [[*ROWS[0], "a.mp4", "0:01", "n/a"], [*ROWS[1], "b.mp4", "-", "62.5s"]]
    result = imported(tmp_path, [head, *rows])
    parts = [(item.media[0].start, item.media[0].end) for item in result.items]
    assert parts == [(1, None), (None, 62.5)]


@pytest.mark.parametrize(
    ("columns", "files"),
    [
        (["left_video", "right_video"], ["a.mp4", "b.mp4"]),
        (["clip before", "clip after"], ["a.mp4", "b.mp4"]),
        (["image", "audio"], ["a.jpg", "b.wav"]),
    ],
)
def test_two_media_of_a_question_are_both_taken(
    columns: list[str], files: list[str], tmp_path: Path
) -> None:
    result = imported(tmp_path, [[*HEAD, *columns], *([*row, *files] for row in ROWS)])
    assert [medium.path for medium in result.items[0].media] == [f"media/{name}" for name in files]


def test_more_videos_that_are_left_out_are_a_doubt(tmp_path: Path) -> None:
    rows = [[*HEAD, "video", "context"], *([*row, "a.mp4", "b.mp4"] for row in ROWS)]
    result = imported(tmp_path, rows)
    assert any("--set video='[video, context]'" in doubt for doubt in result.doubts)


@pytest.mark.parametrize(
    ("head", "answers", "said"),
    [
        (["p", "q", "r"], ["B", "C"], "look like letters of options"),
        (["p", "q", "r"], ["2", "3"], "look like numbers of options"),
        (["options"], ["B", "C"], "'options' has no options that could be read"),
        ([], ["1", "0"], "--set kind=yesno"),
    ],
)
def test_open_questions_that_may_not_be_open_are_a_doubt(
    head: list[str], answers: list[str], said: str, tmp_path: Path
) -> None:
    cells = [f"text {name}" for name in head]
    rows = [["a.mp4", f"What {answer}?", *cells, answer] for answer in answers]
    result = imported(tmp_path, [["video", "question", *head, "answer"], *rows])
    assert {item.kind for item in result.items} == {"open"}
    assert any(said in doubt for doubt in result.doubts), result.doubts


def test_questions_in_lists_under_the_names_of_videos_are_found(tmp_path: Path) -> None:
    rows = {
        name: {"qas": [{"question": "What?", "options": ["x", "y"], "answer": "y"}]}
        for name in ("a.mp4", "b.mp4")
    }
    result = imported(tmp_path, rows)
    assert [item.media[0].path for item in result.items] == ["media/a.mp4", "media/b.mp4"]


@pytest.mark.parametrize("form", ["table", "object"])
def test_answers_in_a_file_beside_the_questions_are_joined(form: str, tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    head = ["qid", "video", "question", "A", "B", "C"]
    rows = [["q1", "a.mp4", "What?", *"xyz"], ["q2", "b.mp4", "Who?", *"xyz"]]
    write(source / "questions.csv", [head, *rows])
    if form == "table":
        write(source / "answers.csv", [["qid", "answer"], ["q2", "C"], ["q1", "B"]])
    else:
        (source / "key.json").write_text('{"q2": "C", "q1": "B"}')
    result = import_benchmark(source, tmp_path / "one")
    assert (keys(result), result.odd_rows) == (["y", "z"], ())
    assert any("The answers were taken from" in note for note in result.notes)
    mapping = tmp_path / "one" / "import" / "mapping.yaml"
    again = import_benchmark(source, tmp_path / "two", mapping=mapping)
    assert again.items == result.items


def test_a_sheet_about_the_table_is_not_taken_for_it(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    book.active.append(["Column", "Meaning"])
    book.active.append(["A, B", "options"])
    sheet = book.create_sheet("Fragen")
    for row in [["Video", "Frage", "A", "B", "Lösung"], ["a.mp4", "Was?", "x", "y", 2]]:
        sheet.append(row)
    book.save(tmp_path / "fragen.xlsx")
    result = import_benchmark(tmp_path / "fragen.xlsx", tmp_path / "made", dry_run=True)
    assert keys(result) == ["y"]
    assert any("Sheets with other columns were left out" in note for note in result.notes)


def test_an_index_within_the_answer_is_no_id(tmp_path: Path) -> None:
    rows = [
        {"video": "a.mp4", "question": "What?", "options": ["x", "y"], "answer": answer}
        for answer in ({"index": 1, "text": "y"}, {"index": 0, "text": "x"})
    ]
    result = imported(tmp_path, rows)
    assert keys(result) == ["y", "x"]
    assert [item.id for item in result.items] == ["q-0001", "q-0002"]
