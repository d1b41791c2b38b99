"""What MMOU is made from: questions of three formats, and bad input of every kind by name."""

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from mmou_actors import question_row, write_questions, write_source, write_videos
from videos import make_video

from reelbench.base.errors import ReelbenchError
from reelbench.data.benchmark import BenchmarkError
from reelbench.data.question_rules import asks_yes_no, lists_options
from reelbench.interop.mmou.taxonomy import (
    DOMAINS,
    DURATIONS,
    SKILLS,
    duration_bin,
    fewest_questions,
    position_bin,
    skill_named,
    subcategory_named,
)
from reelbench.recipes.mmou.source import questions_in_folder
from reelbench.review.protocol import find_protocol, read_protocol

ORDER = (
    "What is the order of events? (A.) The horn blows. (B.) A man sits down. (C.) They clap. (D.) "
    "It rains."
)


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_source(tmp_path_factory.mktemp("mmou") / "source")


@pytest.fixture
def source(base: Path, tmp_path: Path) -> Path:
    """A source of its own for each test, with the same videos."""
    here = tmp_path / "source"
    (here / "media").mkdir(parents=True)
    for path in base.glob("media/*"):
        (here / "media" / path.name).hardlink_to(path)
    for name in ("videos.csv", "questions.jsonl"):
        (here / name).write_text((base / name).read_text())
    return here


def one(source: Path, **fields: Any) -> None:
    write_questions(source, [question_row("media/clip0.mp4", 0) | fields])


class TestTaxonomy:
    def test_thirteen_skills_ten_domains_and_the_35_of_table_5(self) -> None:
        assert (len(SKILLS), len(DOMAINS), sum(map(len, DOMAINS.values()))) == (13, 10, 35)
        assert "Press Conference" in DOMAINS["Sports"]
        assert "Cultural Insights" in DOMAINS["Travel"]
        assert all(SKILLS.values())

    def test_who_writes_on_the_page_chooses_from_the_same_names(self) -> None:
        protocol = read_protocol(find_protocol("mmou-write"))
        choices = {tag.name: tag.choices for tag in protocol.tags}
        assert choices == {"skills": tuple(SKILLS), "domain": tuple(DOMAINS)}
        for seconds in (0, 299, 300, 599, 600, 7255):
            assert protocol.fewest_questions(seconds) == fewest_questions(seconds)

    @pytest.mark.parametrize(
        ("text", "skill"),
        [
            ("Tacking Spurious Correlations", "Tackling Spurious Correlations"),
            ("tracking spurious correlations", "Tackling Spurious Correlations"),
            ("Event sequencing", "Sequential"),
            ("needle-in-the-haystack reasoning", "Needle"),
            ("sub-scene understanding", "Subscene"),
            ("COUNTING", "Counting"),
            ("Patience", None),
        ],
    )
    def test_skills_are_known_in_the_spellings_in_use(self, text: str, skill: str | None) -> None:
        assert skill_named(text) == skill

    def test_a_subcategory_belongs_to_its_domain(self) -> None:
        assert subcategory_named("Film", "plot recaps") == "Plot Recaps"
        assert subcategory_named("Music", "Plot Recaps") is None

    def test_duration_bins_are_exactly_the_five(self) -> None:
        at = [7, 299.9, 300, 600, 1199, 1200, 1800, 7255]
        assert DURATIONS == ("< 5 min", "5-10 min", "10-20 min", "20-30 min", "> 30 min")
        assert [DURATIONS.index(duration_bin(each)) for each in at] == [0, 0, 1, 2, 2, 3, 4, 4]

    def test_evidence_lies_at_the_mean_of_its_times_over_the_duration(self) -> None:
        assert position_bin(0, 10, 100) == "0-20%"
        assert position_bin(10, 30, 100) == "20-40%"
        assert position_bin(100, 100, 100) == "80-100%"


class TestStems:
    @pytest.mark.parametrize(
        "question",
        [
            "Is the man tall?",
            "When the bell rings, does the dog bark?",
            "  Did she laugh?",
            "Isn't he tall?",
        ],
    )
    def test_that_yes_or_no_answers(self, question: str) -> None:
        assert asks_yes_no(question)

    @pytest.mark.parametrize(
        "question",
        ["What is the man doing?", "Is the man tall, and how do we hear it?", "Why can she hear?"],
    )
    def test_that_more_answers(self, question: str) -> None:
        assert not asks_yes_no(question)

    def test_options_are_no_part_of_a_question_but_things_to_order_are(self) -> None:
        assert lists_options("What is heard? (A) a bell (B) a drum (C) a horn")
        assert lists_options("What does he ring in order to wake her? A) a bell B) a drum")
        assert not lists_options(ORDER)


class TestGood:
    def test_an_item_has_skills_evidence_domain_subcategory_and_duration(
        self, source: Path
    ) -> None:
        found = questions_in_folder(source)
        assert (len(found.rows), found.broken) == (4, ())
        item = found.rows[0]
        assert (item.kind, item.evidence, item.options) == ("open", ((0, 1),), ())
        assert item.tags == {
            "skills": ("Temporal Understanding", "Needle"),
            "domain": "News",
            "subcategory": "World News",
            "duration": "< 5 min",
            "evidence_position": "40-60%",
        }
        assert item.provenance["author"] == "ann"
        assert item.provenance["video"]["url"] == "https://videos.example/1"

    def test_the_three_formats_give_the_same_items(self, source: Path) -> None:
        first = questions_in_folder(source).rows
        rows = [json.loads(line) for line in (source / "questions.jsonl").read_text().splitlines()]
        (source / "questions.jsonl").unlink()
        with (source / "questions.csv").open("w", newline="") as file:
            writer = csv.DictWriter(file, list(rows[0]))
            writer.writeheader()
            writer.writerows({**row, "skills": "; ".join(row["skills"])} for row in rows)
        assert questions_in_folder(source).rows == first
        (source / "questions.csv").unlink()
        lines = [json.dumps(item.to_record()) for item in first]
        (source / "items.jsonl").write_text("".join(f"{line}\n" for line in lines))
        assert questions_in_folder(source).rows == first

    def test_an_ordering_question_may_list_what_is_to_be_ordered(self, source: Path) -> None:
        one(source, question=ORDER, answer="(A.) (D.) (B.) (C.)")
        found = questions_in_folder(source)
        assert (len(found.rows), found.broken) == (1, ())

    def test_what_is_thin_is_warned_about_and_never_refused(self, source: Path) -> None:
        one(source)
        found = questions_in_folder(source)
        assert len(found.rows) == 1
        text = "\n".join(found.warnings)
        assert "1 video has no questions: media/clip1.mp4" in text
        assert "1 video has few questions: media/clip0.mp4 has 1 of 2" in text
        assert "2 videos are not 720p" in text
        assert "34 of 35 sub-categories have no questions: STEM, " in text


WRONG: list[Any] = [
    ({"start_time": None}, "start_time: found nothing, expected when the evidence is there"),
    ({"start_time": "01:00", "end_time": "00:30"}, "end_time: found 00:30, before start_time 01:00, expected the later time: the two are reversed"),
    ({"end_time": "soon"}, "end_time: found 'soon', expected seconds"),
    ({"skills": ["Needel"]}, "skills: found 'Needel', expected one of Object Interaction Reasoning"),
    ({"skills": ["Needel"]}, "(perhaps 'Needle')"),
    ({"skills": []}, "skills: found"),
    ({"domain": "Cooking"}, "domain: found 'Cooking', expected News, as in videos.csv"),
    ({"video": "media/clip9.mp4"}, "expected a video that videos.csv lists (perhaps 'media/clip0.mp4')"),
    ({"question": " "}, "question: found ' ', expected a text"),
    ({"answer": 7}, "answer: found 7, expected a text"),
    ({"provenance": "a book"}, "provenance: found 'a book', expected an object"),
]  # fmt: skip


class TestWrong:
    @pytest.mark.parametrize(("fields", "sentence"), WRONG)
    def test_a_line_is_named_with_what_is_wrong(
        self, fields: dict[str, Any], sentence: str, source: Path
    ) -> None:
        one(source, **fields)
        with pytest.raises(BenchmarkError) as error:
            questions_in_folder(source)
        assert sentence in str(error.value)
        assert "questions.jsonl:1: " in str(error.value)

    def test_everything_is_listed_at_once(self, source: Path) -> None:
        rows = [question_row("media/clip0.mp4", n, end_time=None) for n in range(3)]
        write_questions(source, [*rows, "{broken", rows[0] | {"end_time": 1, "id": "x"}])
        write_videos(source, ["media/clip0.mp4"], domain="Cookery", subcategory="Soup")
        with pytest.raises(BenchmarkError) as error:
            questions_in_folder(source)
        text = str(error.value)
        assert all(f"questions.jsonl:{line}: " in text for line in (1, 2, 3, 4))
        assert "videos.csv:2: domain: found 'Cookery', expected one of Academic Lectures" in text

    @pytest.mark.parametrize(
        ("fields", "reason"),
        [
            ({"question": "Does the bell ring?"}, "yes or no answers it"),
            ({"question": "What rings? (A) a bell (B) a horn"}, "it lists options"),
            ({"end_time": 99}, "The evidence ends at 99 s, but the video at 1.2"),
        ],
    )
    def test_a_question_against_the_instructions_is_left_out_by_name(
        self, fields: dict[str, Any], reason: str, source: Path
    ) -> None:
        good = question_row("media/clip0.mp4", 1)
        write_questions(source, [question_row("media/clip0.mp4", 0, id="bad", **fields), good])
        found = questions_in_folder(source)
        assert len(found.rows) == 1
        ((name, why),) = found.broken
        assert name == "bad"
        assert reason in why

    def test_a_video_without_sound_is_refused_by_name(self, source: Path) -> None:
        make_video(source / "media" / "mute.mp4", seconds=1, rate=5)
        write_videos(source, ["media/clip0.mp4", "media/mute.mp4"])
        write_questions(source, [question_row("media/mute.mp4", 0, id="q")])
        found = questions_in_folder(source)
        assert found.broken == (
            ("q", "media/mute.mp4: no sound, and every item needs pictures and sound"),
        )

    def test_a_subcategory_of_another_domain(self, source: Path) -> None:
        write_videos(source, ["media/clip0.mp4"], subcategory="Vlogs")
        with pytest.raises(BenchmarkError, match="subcategory: found 'Vlogs', expected one of"):
            questions_in_folder(source)

    @pytest.mark.parametrize(
        ("change", "sentence"),
        [
            (lambda s: (s / "questions.jsonl").unlink(), "found no questions, expected one of"),
            (lambda s: (s / "questions.csv").touch(), "questions.jsonl and questions.csv"),
            (lambda s: (s / "videos.csv").unlink(), "videos.csv: file: found no such file"),
        ],
    )
    def test_files_that_are_missing_or_too_many(
        self, change: Callable[[Path], None], sentence: str, source: Path
    ) -> None:
        change(source)
        with pytest.raises(BenchmarkError, match=sentence):
            questions_in_folder(source)

    def test_no_folder(self, tmp_path: Path) -> None:
        with pytest.raises(ReelbenchError, match="is not a folder"):
            questions_in_folder(tmp_path / "nowhere")

    def test_two_questions_of_one_id(self, source: Path) -> None:
        write_questions(source, [question_row("media/clip0.mp4", n, id="q") for n in range(2)])
        with pytest.raises(
            BenchmarkError, match=r"questions\.jsonl:2: id: found 'q', as in line 1"
        ):
            questions_in_folder(source)
