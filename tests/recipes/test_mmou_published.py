"""MMOU's rows as they are published: spellings mapped and reported, nothing refused for its style."""

import json
from pathlib import Path
from typing import Any

import pytest
from support import run_here
from videos import make_video

from reelbench.base.errors import ReelbenchError
from reelbench.data.benchmark import Benchmark, BenchmarkError
from reelbench.evaluate.parse import parse_answer
from reelbench.interop.mmou.published import published_rows_in, video_name

OPTIONS = {letter: f"what {letter} tells of the scene" for letter in "ABCDEFGHI"}
ROW: dict[str, Any] = {
    "question_id": "q-1",
    "video_url": "https://www.youtube.com/watch?v=yf2OIxRN2wE",
    "domain": "News",
    "question": "What is heard when the door opens?",
    "question_type": ["Audio-Visual Understanding", "Needle", "Tacking Spurious Correlations"],
    "options": {**OPTIONS, "J": "None of the above"},
    "start_time": "00:00",
    "end_time": "00:01",
    "video_duration": 400,
    "correct_option_letter": "C",
    "is_hard": True,
}


def source(folder: Path, *rows: Any, name: str = "MMOU.json") -> Path:
    (folder / "videos").mkdir(parents=True, exist_ok=True)
    make_video(folder / "videos" / "yf2OIxRN2wE.mp4", seconds=1.2, sound=1.2, rate=5)
    text = json.dumps(list(rows)) if name.endswith(".json") else "\n".join(map(json.dumps, rows))
    (folder / name).write_text(text)
    return folder


def test_a_row_is_an_item_as_it_is_published(tmp_path: Path) -> None:
    found = published_rows_in(source(tmp_path, ROW))
    (item,) = found.rows
    assert (item.id, item.kind, item.answer, len(item.options)) == ("q-1", "single", ("C",), 10)
    assert item.media[0].path == "videos/yf2OIxRN2wE.mp4"
    assert (item.evidence, item.reference) == (((0, 1),), OPTIONS["C"])
    assert item.tags == {
        "skills": ("Needle", "Tackling Spurious Correlations"),
        "domain": "News",
        "duration": "5-10 min",
        "evidence_position": "0-20%",
    }
    assert item.provenance["fields"] == {"is_hard": True}
    assert found.broken == ()


def test_spellings_are_mapped_and_reported(tmp_path: Path) -> None:
    odd = ROW | {"question_id": "q-2", "question_type": ["Telepathy"], "domain": "Cooking"}
    found = published_rows_in(source(tmp_path, ROW, odd))
    text = "\n".join(found.warnings)
    assert "'Tacking Spurious Correlations' is read as 'Tackling Spurious Correlations'" in text
    assert "The skill 'Telepathy' is not known, and kept as it is: 1 question" in text
    assert "The domain 'Cooking' is not known" in text
    assert found.rows[1].tags["skills"] == ("Telepathy",)


@pytest.mark.parametrize(
    ("fields", "warning"),
    [
        ({"question": "Is a bell heard?"}, "Yes or no answers what is asked"),
        ({"question": "Which is it? (A) a bell (B) a drum"}, "The question lists options"),
        ({"start_time": "00:09", "end_time": "00:03"}, "end_time is before start_time"),
        ({"start_time": None}, "start_time or end_time is missing or no time"),
        ({"end_time": "59:59"}, "The evidence ends after the video"),
    ],
)
def test_what_breaks_the_instructions_is_warned_about_never_refused(
    fields: dict[str, Any], warning: str, tmp_path: Path
) -> None:
    found = published_rows_in(source(tmp_path, ROW | fields))
    assert len(found.rows) == 1
    assert any(warning in each for each in found.warnings)


def test_rows_without_a_key_or_a_video_are_left_out_by_name(tmp_path: Path) -> None:
    keyless = ROW | {"question_id": "q-2", "correct_option_letter": None}
    elsewhere = ROW | {"question_id": "q-3", "video_url": "https://youtu.be/abc"}
    found = published_rows_in(source(tmp_path, ROW, keyless, elsewhere, name="rows.jsonl"))
    assert [item.id for item in found.rows] == ["q-1"]
    reasons = dict(found.broken)
    assert "no correct_option_letter" in reasons["q-2"]
    assert "no video called abc" in reasons["q-3"]
    assert len([each for each in found.warnings if "left out" in each]) == 2


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"options": {"A": "x"}}, "[0].options: found "),
        ({"options": {"A": "x", "C": "y"}}, "[0].options: found "),
        ({"options": {"A": "x", "B": " "}}, "an option without text"),
        ({"correct_option_letter": "K"}, "[0].correct_option_letter: found 'K'"),
        ({"question": ""}, "[0].question: found ''"),
    ],
)
def test_rows_that_are_no_questions_are_all_listed(
    fields: dict[str, Any], sentence: str, tmp_path: Path
) -> None:
    with pytest.raises(BenchmarkError) as error:
        published_rows_in(source(tmp_path, ROW | fields, ROW | fields | {"question_id": "q-2"}))
    assert sentence in str(error.value)
    assert sentence.replace("[0]", "[1]") in str(error.value)


def test_an_id_that_comes_twice_is_a_fault(tmp_path: Path) -> None:
    with pytest.raises(BenchmarkError, match="question_id: found 'q-1' 2 times"):
        published_rows_in(source(tmp_path, ROW, ROW))


@pytest.mark.parametrize("folder", ["nowhere", "."])
def test_no_rows_is_a_sentence(folder: str, tmp_path: Path) -> None:
    with pytest.raises(ReelbenchError, match=r"is not a folder|has no \*\.json"):
        published_rows_in(tmp_path / folder)


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("https://www.youtube.com/watch?v=a-B_1&t=3", "a-B_1"),
        ("https://youtu.be/a-B_1?si=x", "a-B_1"),
        ("https://www.youtube.com/shorts/a-B_1/", "a-B_1"),
        ("https://videos.example/some/clip.7.mp4", "clip.7"),
        ("http://[no address", "http://[no address"),
    ],
)
def test_a_video_is_known_by_the_id_in_its_address(url: str, name: str) -> None:
    assert video_name(url) == name


def test_the_recipe_makes_pairs_where_the_answer_is_known(tmp_path: Path) -> None:
    none = ROW | {"question_id": "q-2", "correct_option_letter": "J"}
    told = none | {"question_id": "q-3", "answer": "A horn sounds."}
    rows = source(tmp_path / "rows", ROW, none, told)
    status = run_here("make", "mmou-published", "--source", rows, "--out", tmp_path / "bench")
    assert status == 0
    items = {item.id: item for item in Benchmark.load(tmp_path / "bench").items}
    assert set(items) == {"q-1", "q-1-open", "q-2", "q-3", "q-3-open"}
    assert items["q-3-open"].reference == "A horn sounds."
    assert items["q-3"].correct == ("None of the above",)


def test_an_answer_that_is_an_order_of_listed_things_is_read() -> None:
    orders = ["(A.) (B.) (C.) (D.)", "(A.) (D.) (B.) (C.)", "(D.) (C.) (B.) (A.)"]
    assert parse_answer("(A.) (D.) (B.) (C.)", "single", tuple(orders)).places == (1,)
    assert parse_answer("B. (A.) (D.) (B.) (C.)", "single", tuple(orders)).places == (1,)
