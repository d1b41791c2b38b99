"""HumanVBench: what is drawn into the videos of each task, rendered once and named by content."""

from pathlib import Path

import numpy as np
import pytest
from human_clips import WIDTH, a_clip, candidate, seen, stage, take

from reelbench.media.decode.decode import every_frame
from reelbench.media.edit.write import AudioTrack, video_writer
from reelbench.recipes.humanvbench.rows import Candidate

SECONDS = 8.5
TASKS = ("ASD", "ATD", "HC", "T2H")
STAGES = ("select", "letters", "times", "mark")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Candidate]]:
    """One grey clip, in which the labels see four people; one of them comes and goes for ATD."""
    folder = tmp_path_factory.mktemp("marked")
    (folder / "make" / "clips").mkdir(parents=True)
    samples = np.random.default_rng(1).uniform(-0.2, 0.2, (1, round(SECONDS * 16_000)))
    sound = AudioTrack([samples.astype(np.float32)], 16_000)
    with video_writer(folder / "make" / "clips" / "c.mp4", 2, sound=sound) as writer:
        for number in range(round(SECONDS * 2)):
            writer.show(np.full((320, WIDTH, 3), 128, np.uint8), number / 2)
    labels = a_clip(SECONDS, 4)
    found: dict[str, Candidate] = {}
    for task in TASKS:
        if task == "ATD":
            labels["tracks"]["people"][0]["tracks"] = [seen(2.5, 6.0, 0, 1180)]
        else:
            labels = a_clip(SECONDS, 4)
        rows = [candidate(task, seconds=SECONDS)]
        ((row,),) = take(folder, rows, {"c": labels}, *(stage(name) for name in STAGES))
        found[task] = row
    return folder, found


def red(folder: Path, video: str, time: float) -> np.ndarray:
    """Where a video is red at a moment."""
    image = next(image for at, image in every_frame(folder / video) if at >= time).astype(int)
    return (image[..., 0] > 180) & (image[..., 1] < 90) & (image[..., 2] < 90)


def test_everyone_is_marked_who_can_be_the_answer(made: tuple[Path, dict[str, Candidate]]) -> None:
    folder, rows = made
    for task in ("ASD", "T2H"):
        where = red(folder, rows[task].video, 4.0)
        for number in range(4):
            left = 100 + 150 * number
            assert where[100:220, left - 3 : left + 4].mean() > 0.3, "the left side of a box"
        assert not where[300:].any()


def test_who_is_asked_about_is_boxed_for_the_captioner_alone(
    made: tuple[Path, dict[str, Candidate]],
) -> None:
    folder, rows = made
    assert not any(red(folder, rows["ATD"].video, time).any() for time in (1.0, 4.0, 7.5))
    boxed = rows["ATD"].boxed
    assert [bool(red(folder, boxed, time).any()) for time in (1.0, 4.0, 7.5)] == [
        False,
        True,
        False,
    ]


def test_tasks_that_show_the_same_share_a_file(made: tuple[Path, dict[str, Candidate]]) -> None:
    _, rows = made
    assert rows["HC"].video == rows["ATD"].video
    assert len({rows[task].video for task in TASKS}) == 3


@pytest.mark.parametrize("task", ["ASD", "EIC"])
def test_without_room_for_letters_there_is_no_item(task: str, tmp_path: Path) -> None:
    labels = a_clip(SECONDS, 2, format={"width": 360, "height": 230, "seconds": SECONDS})
    box = {"box": [0, 0, 360, 230], "score": 0.9}
    labels["tracks"]["people"][0]["tracks"] = [
        {"shot": 0, "start": 0, "end": 8, "boxes": [{"time": 0, **box}, {"time": 8, **box}]}
    ]
    row = candidate(task, seconds=SECONDS, people=("p1", "p2"))
    (outcome,) = take(tmp_path, [row], {"c": labels}, stage("mark"))
    assert (outcome.reason, outcome.detail[:12]) == ("no room for letters", "The letter A")
