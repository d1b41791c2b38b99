"""HumanVBench on the command line: what is named wrong is refused first, and forecasts count."""

import json
from pathlib import Path
from typing import Any

import pytest
from human_clips import candidate
from support import run_here
from videos import make_video

from reelbench.base.errors import ReelbenchError
from reelbench.make.parts.source_videos import videos_in
from reelbench.make.pipeline.context import StageContext
from reelbench.recipes.humanvbench.expected import expected_candidate
from reelbench.recipes.humanvbench.recipe import RECIPE
from reelbench.recipes.humanvbench.select import subject_name, task_names
from reelbench.recipes.humanvbench.statistics import human_statistics
from reelbench.recipes.humanvbench.tasks import TASKS


def test_tasks_are_named_in_any_case_and_unknown_ones_refused() -> None:
    assert task_names("asd, HC,") == ["ASD", "HC"]
    with pytest.raises(ValueError, match="no task FOO; it has ER, ETA"):
        task_names("ASD,FOO")


@pytest.mark.parametrize(
    ("word", "sentence"),
    [("Dogs", "near it are dog, hot dog"), ("unicorn", "it knows person, bicycle, car")],
)
def test_a_subject_that_the_detector_does_not_find_is_refused(word: str, sentence: str) -> None:
    assert subject_name("Dog") == "dog"
    with pytest.raises(ValueError, match=sentence):
        subject_name(word)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"candidates.tasks": ["X"]}, "candidates.tasks: HumanVBench has no task X"),
        ({"annotated.tasks": ["X"]}, "annotated.tasks: HumanVBench has no task X"),
        (
            {"candidates.subject": "dog", "candidates.tasks": ["ASD"]},
            "none of ASD is asked about a dog; T2H, H2T, ATD, BCA are",
        ),
    ],
)
def test_parameters_that_name_no_task_are_refused(changes: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ReelbenchError, match=sentence):
        RECIPE.changed(changes)


@pytest.mark.parametrize("task", TASKS)
def test_a_forecast_without_labels_has_a_candidate_that_all_stages_take(task: str) -> None:
    ctx: Any = StageContext
    (made,) = expected_candidate(candidate(task), ctx)
    assert not made.key or made.key in made.people
    assert bool(made.people) == (TASKS[task].marks == "letters")
    assert made.target or TASKS[task].marks != "face"


def test_a_forecast_goes_on_where_nothing_is_cut_or_labelled(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "clips").mkdir()
    for number in range(3):
        make_video(tmp_path / "clips" / f"{number}.mp4", seconds=1 + number, rate=5)
    card = {"name": "pen", "backend": "openai", "endpoint": "http://127.0.0.1:9/v1", "sees": True}
    (tmp_path / "pen.yaml").write_text(json.dumps(card))
    roles = [f"--model={role}={tmp_path / 'pen.yaml'}" for role in ("captioner", "writer")]
    where = ["--source", str(tmp_path / "clips"), "--out", str(tmp_path / "bench")]
    assert run_here("make", "humanvbench", *where, *roles, "--dry-run") == 0
    out, err = capsys.readouterr()
    rows = {line.split()[0]: line.split()[1:3] for line in out.splitlines() if line.strip()}
    assert rows["candidates"] == ["3", "45"]
    assert rows["models"][0] != "0"
    assert err.count("not labelled yet") == 1
    assert "`--until models` without --dry-run makes them first" in err


def test_a_copy_of_a_video_is_left_out_and_named(tmp_path: Path) -> None:
    make_video(tmp_path / "a.mp4", seconds=1, rate=5)
    (tmp_path / "b.mp4").write_bytes((tmp_path / "a.mp4").read_bytes())
    found = videos_in(tmp_path)
    assert [row.id for row in found.rows] == ["a.mp4"]
    assert found.broken == [("b.mp4", "It is a copy of a.mp4.")]


def test_the_table_by_task_is_there_before_any_item_is() -> None:
    clips = [candidate("ASD", name) for name in "ab"]
    (table,) = human_statistics({"candidates": clips, "select": clips[:1], "draft": []})["tables"]
    rows = {row[0]: row[1:] for row in table["rows"]}
    assert rows["ASD (Active Speaker Detection)"] == [2, 1, 0, 0]
