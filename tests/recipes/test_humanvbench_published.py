"""HumanVBench's rows as they are published: options in one text, tasks by file, bad rows by name."""

import json
from pathlib import Path
from typing import Any

import pytest
from support import run_here
from videos import make_video

from reelbench.base.errors import ReelbenchError
from reelbench.data.benchmark import Benchmark
from reelbench.evaluate.prompt import load_prompts
from reelbench.interop.humanvbench.choices import read_choices, read_key
from reelbench.interop.humanvbench.manifest import humanvbench_manifest
from reelbench.interop.humanvbench.published import published_humanvbench
from reelbench.interop.humanvbench.taxonomy import (
    DIMENSIONS,
    TASKS,
    VISION,
    density_of,
    human_tags,
    task_named,
)

CHOICES = "\n\nOption A: {He is calm.}\n\nOption B: {He is surprised.}\n\nOption C: {He is sad.}\n\nOption D: {He is angry.}"
ROW: dict[str, Any] = {
    "Question_id": 7,
    "Video": "Emotion_Recognition/one.mp4",
    "Question": "What is the emotion of the man in the red box?",
    "choices": CHOICES,
    "Answer": "C",
    "source": "Pexels",
}


def source(folder: Path, **files: list[Any]) -> Path:
    """A folder with a file for each task, and a video where the rows say."""
    folder.mkdir(parents=True, exist_ok=True)
    for task, rows in files.items():
        text = "\n".join(row if isinstance(row, str) else json.dumps(row) for row in rows)
        (folder / f"{task}.jsonl").write_text(text)
    video = folder / "videos" / "Emotion_Recognition" / "one.mp4"
    video.parent.mkdir(parents=True, exist_ok=True)
    if not video.exists():
        make_video(video, seconds=0.6, sound=0.6, rate=5)
    return folder


def test_a_row_is_an_item_as_it_is_published(tmp_path: Path) -> None:
    found = published_humanvbench(source(tmp_path, Emotion_Recognition=[ROW]))
    (item,) = found.rows
    assert (item.id, item.kind, item.answer) == ("ER-7", "single", ("C",))
    assert item.options == ("He is calm.", "He is surprised.", "He is sad.", "He is angry.")
    assert item.media[0].path == "videos/Emotion_Recognition/one.mp4"
    assert item.tags == {"category": "ER", "dimension": "Emotion Perception"}
    assert item.provenance["published"] == {
        "question_id": 7,
        "video": "Emotion_Recognition/one.mp4",
        "fields": {"source": "Pexels"},
    }
    assert (found.broken, found.warnings) == ((), ())


@pytest.mark.parametrize(
    ("name", "task"),
    [
        ("Emotion_Intensity_Compare", "EIC"), ("Text2Human", "T2H"), ("Human2Text", "H2T"), ("Human_Count", "HC"),
        ("Behavior_Causualty_Analysis", "BCA"), ("Action_Temporal_Analysis", "BTA"), ("Active_speaker_detection", "ASD"),
        ("Speaker_Audio_matching_156", "AVSM"), ("Appearance_time_recognition", "ATD"), ("Speech_Content_Matching", "SCM"),
        ("Action_at_Specified_Time", "AST"), ("Time_of_Specific_Action", "TSA"), ("Attitude_Recognition", "AR"), ("AT", "AR"),
        ("Audio_Visual_Alignment_Moment_Detection", "AVAD"), ("Emotion Temporal Analysis", "ETA"), ("human counting", "HC"),
    ],
)  # fmt: skip
def test_tasks_are_known_by_the_names_of_files_and_of_the_paper(name: str, task: str) -> None:
    found = task_named(name)
    assert found is not None
    assert (found[0].short, found[1]) == (task, False)


def test_sixteen_tasks_are_in_four_dimensions_of_four() -> None:
    assert len(TASKS) == 16
    assert [len(tasks) for tasks in DIMENSIONS.values()] == [4, 4, 4, 4]
    assert len(VISION) == 12
    assert {task.dimension for task in TASKS.values()} == set(DIMENSIONS)


def test_a_task_of_an_earlier_version_is_kept_and_warned_about(tmp_path: Path) -> None:
    rows = {"Emotion_Recognition_in_Conversation": [ROW]}
    found = published_humanvbench(source(tmp_path, **rows))
    assert found.rows[0].tags == {"category": "Emotion_Recognition_in_Conversation"}
    (warning,) = found.warnings
    assert "'Emotion_Recognition_in_Conversation' is not known, and kept as it is" in warning


@pytest.mark.parametrize(
    "choices",
    [
        CHOICES,
        CHOICES.strip(),
        CHOICES + "\n\n",
        CHOICES.replace("\n\n", "\n").replace("{", "").replace("}", ""),
        CHOICES.replace("\n\n", " "),
        "A. He is calm.\nB. He is surprised.\nC. He is sad.\nD. He is angry.",
        ["He is calm.", "He is surprised.", "He is sad.", "He is angry."],
        ["A. He is calm.", "B. He is surprised.", "C. He is sad.", "D. He is angry."],
        {"B": "He is surprised.", "A": "He is calm.", "C": "He is sad.", "D": "He is angry."},
    ],
)
def test_options_are_read_in_every_form(choices: Any) -> None:
    assert read_choices(choices) == (
        "He is calm.",
        "He is surprised.",
        "He is sad.",
        "He is angry.",
    )


def test_braces_and_blank_lines_within_an_option_are_its_own() -> None:
    text = "Option A: {a set {1, 2}}\n\nOption B: {first\n\nthen Option C}"
    assert read_choices(text) == ("a set {1, 2}", "first\n\nthen Option C")


@pytest.mark.parametrize(
    ("answer", "letter"),
    [
        ("B", "B"), ("b", "B"), ("Option B", "B"), ("(B)", "B"), ("B.", "B"), (["B"], "B"), ("The answer is B", "B"),
        ("He is sad", "C"), ("Option C: {He is sad.}", "C"), ("D. He is angry.", "D"),
    ],
)  # fmt: skip
def test_keys_are_letters_or_texts(answer: Any, letter: str) -> None:
    assert read_key(answer, read_choices(CHOICES)) == letter


def test_a_letter_is_that_of_an_option_though_options_are_letters_of_people() -> None:
    assert read_key("A", ("C", "A", "B")) == "A"
    assert read_key("E", ("E", "D")) == "A"  # no option has this letter, but one this text


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"Answer": None}, "no answer"), ({"Answer": "F"}, "the answer 'F' is no option"), ({"Question": " "}, "no Question"),
        ({"Question_id": None}, "no Question_id"), ({"choices": "Option A: {x}"}, "the letters A, not A, B and on"),
        ({"choices": "Option A: {x}\n\nOption C: {y}"}, "the letters A C"), ({"choices": ["x", "x"]}, "the same text"),
        ({"choices": {"A": "x", "B": " "}}, "no text"), ({"choices": 3}, "neither a text"), ({"Video": None}, "no Video"),
        ({"Video": "two.mp4"}, "no video called two.mp4"),
    ],
)  # fmt: skip
def test_a_bad_row_is_named_with_its_reason_and_stops_nothing(
    fields: dict[str, Any], reason: str, tmp_path: Path
) -> None:
    rows = [ROW, {**ROW, "Question_id": 8, **fields}, {**ROW, "Question_id": 9}]
    found = published_humanvbench(source(tmp_path, Emotion_Recognition=rows))
    assert [item.id for item in found.rows] == ["ER-7", "ER-9"]
    ((_, told),) = found.broken
    assert reason in told
    assert "Emotion_Recognition.jsonl:2" in told
    assert "1 row is left out" in found.warnings[-1]


def test_lines_that_are_no_json_and_ids_that_come_twice_are_left_out(tmp_path: Path) -> None:
    rows = ["{no json", ROW, {**ROW, "Question": "Another?"}]
    found = published_humanvbench(source(tmp_path, Emotion_Recognition=rows))
    assert len(found.rows) == 1
    assert {name for name, _ in found.broken} == {"Emotion_Recognition.jsonl:1", "ER-7"}


def test_a_video_is_found_by_its_name_in_the_folder_of_its_task(tmp_path: Path) -> None:
    folder = source(tmp_path, Human2Text=[{**ROW, "Video": "one.mp4"}])
    (folder / "videos" / "Human2Text").mkdir()
    make_video(folder / "videos" / "Human2Text" / "one.mp4", seconds=0.6, rate=5)
    (item,) = published_humanvbench(folder).rows
    assert item.media[0].path == "videos/Human2Text/one.mp4"
    (folder / "SCM.jsonl").write_text(json.dumps({**ROW, "Video": "one.mp4"}))
    ((name, reason),) = published_humanvbench(folder).broken
    assert (name, "several videos called one.mp4" in reason) == ("SCM-7", True)


def test_those_who_speak_are_marked_by_the_file_of_the_subset(tmp_path: Path) -> None:
    quiet = {**ROW, "Question_id": 8, "Question": "And the woman?"}
    files = {"Emotion_Recognition": [ROW, quiet], "Human_Emotion_Recognition_speaker": [ROW]}
    found = published_humanvbench(source(tmp_path, **files))
    assert {item.id: item.tags["speaking"] for item in found.rows} == {"ER-7": "yes", "ER-8": "no"}
    assert found.broken == ()
    own = {**ROW, "speaking": True}
    (item,) = published_humanvbench(source(tmp_path / "b", Emotion_Recognition=[own])).rows
    assert item.tags["speaking"] == "yes"


def test_density_follows_from_the_row_or_the_rule_of_its_task(tmp_path: Path) -> None:
    letters = {**ROW, "choices": ["A", "B", "C", "D", "E"], "Answer": "B"}
    speakers = {**ROW, "choices": ["A", "B", "more than one", "nobody"], "Answer": "B"}
    count = {**ROW, "choices": ["7", "5", "9", "3 people"], "Answer": "D"}
    files = {
        "Text2Human": [letters], "Active_Speaker_Detection": [speakers], "Human_Count": [count],
        "Emotion_Recognition": [ROW, {**ROW, "Question_id": 8, "people": 2}],
    }  # fmt: skip
    found = published_humanvbench(source(tmp_path, **files))
    assert {item.id: item.tags.get("density") for item in found.rows} == {
        "T2H-7": "High", "ASD-7": "Low", "HC-7": "Medium", "ER-7": None, "ER-8": "Low",
    }  # fmt: skip


@pytest.mark.parametrize(("people", "bins"), [(1, "Low"), (2, "Low"), (3, "Medium"), (4, "Medium"), (5, "High"), (40, "High")])  # fmt: skip
def test_high_density_is_from_five_people_on(people: int, bins: str) -> None:
    assert density_of(people) == bins
    assert human_tags("HC", people=people)["density"] == bins


def test_bins_are_parameters_of_the_recipe(tmp_path: Path) -> None:
    rows = source(tmp_path / "rows", Human_Count=[{**ROW, "choices": ["3", "5"], "Answer": "B"}])
    words = ["make", "humanvbench-published", "--source", rows, "--set", "sources.high=6"]
    assert run_here(*words, "--out", tmp_path / "bench") == 0
    bench = Benchmark.load(tmp_path / "bench")
    assert bench.items[0].tags["density"] == "Medium"
    assert bench.manifest.taxonomy["category"] == {"Person Recognition": ("HC",)}
    assert (tmp_path / "bench" / "videos" / "Emotion_Recognition" / "one.mp4").is_file()
    assert bench.manifest.protocol.prompt == "humanvbench"


@pytest.mark.parametrize("folder", ["nowhere", "."])
def test_no_rows_is_a_sentence(folder: str, tmp_path: Path) -> None:
    with pytest.raises(ReelbenchError, match=r"is not a folder|has no \*\.jsonl"):
        published_humanvbench(tmp_path / folder)


def test_the_prompt_asks_for_the_letter_of_the_best_answer_alone(tmp_path: Path) -> None:
    item = published_humanvbench(source(tmp_path, Emotion_Recognition=[ROW])).rows[0]
    text = load_prompts("humanvbench", tmp_path, ["single"]).render(item, (0, 1, 2, 3)).with_frames([8])  # fmt: skip
    assert "multiple-choice question" in text
    assert text.count("best answer") == 2
    assert "D. He is angry." in text
    assert text.endswith("The letter is:")


def test_the_manifest_is_valid_and_comes_back(tmp_path: Path) -> None:
    items = published_humanvbench(source(tmp_path, Emotion_Recognition=[ROW])).rows
    manifest = humanvbench_manifest("x", items)
    Benchmark(tmp_path / "b", manifest, tuple(items)).save(tmp_path / "b")
    assert Benchmark.load(tmp_path / "b").manifest == manifest
