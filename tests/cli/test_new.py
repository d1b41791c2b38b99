"""``reelbench new`` leaves a benchmark that lints and runs, or nothing at all."""

import csv
import json
import os
import pty
import signal
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from commands import Command
from support import run_here, wait_until
from videos import make_video

from reelbench.data.benchmark import Benchmark
from reelbench.lint import Severity, lint_benchmark


@pytest.fixture(scope="module")
def clips(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two short videos, one in a folder, beside what is none."""
    folder = tmp_path_factory.mktemp("clips")
    for name in ("a.mp4", "more/b c.mp4"):
        (folder / name).parent.mkdir(exist_ok=True)
        make_video(folder / name, seconds=1, rate=5)
    (folder / "broken.mp4").write_bytes(b"no video")
    (folder / "notes.txt").write_text("text")
    os.mkfifo(folder / "pipe.mp4")
    return folder


def grave(root: Path) -> set[str]:
    return {each.tag for each in lint_benchmark(root).findings if each.severity >= Severity.HIGH}


def checked(root: Path, out: Path) -> Benchmark:
    """The benchmark of a folder, which runs, and lints but for what is to be replaced."""
    assert grave(root) <= {"NOT_REPLACED"}
    assert run_here("run", root, "--model", "baseline:random", "--out", out) == 0
    return Benchmark.load(root)


def left_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


class Terminal:
    """A command that is typed to."""

    def __init__(self, master: int, command: Command, talk: Any) -> None:
        self._master, self.command, self._talk = master, command, talk

    def talk(self) -> str:
        self._talk.seek(0)
        return str(self._talk.read().decode())

    def wait_for(self, text: str) -> None:
        wait_until(lambda: text in self.talk() or self.command.poll() is not None)
        assert text in self.talk()

    def answer(self, prompt: str, line: str) -> None:
        self.wait_for(prompt)
        os.write(self._master, f"{line}\n".encode())


@contextmanager
def at_terminal(folder: Path, *words: object) -> Iterator[Terminal]:
    master, slave = pty.openpty()
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as talk:
        command = Command(["new", *words], [slave, output.fileno(), talk.fileno()], folder)
        os.close(slave)
        try:
            yield Terminal(master, command, talk)
        finally:
            command.kill()
            command.wait()
            os.close(master)


def test_five_answers_make_a_benchmark_and_wrong_ones_are_asked_for_again(
    clips: Path, tmp_path: Path
) -> None:
    (tmp_path / "taken").mkdir()
    with at_terminal(tmp_path) as terminal:
        terminal.answer("1. Name of the benchmark [my-benchmark]: ", "taken")
        terminal.answer("taken exists", "My cats")
        terminal.answer("2. Your videos", "nowhere")
        terminal.answer("nowhere does not exist", f"'{clips}'")
        terminal.answer("3. Questions", "write")
        terminal.answer("4. Kind of questions: single, multi, yesno or open [single]", "quiz")
        terminal.answer("'quiz' is no kind of question", "multi")
        terminal.answer("5. Frames that a model sees of each video [16]: ", "-3")
        terminal.answer("not valid", "4")
        terminal.answer("Question 1, about a.mp4", "Which are seen?")
        terminal.answer("Options, with ; between them: ", "a cat")
        terminal.answer("at least two different options", "a cat; a dog; a fish")
        terminal.answer("Right answer, as a letter: ", "D")
        terminal.answer(
            "write a letter from A to C. Once more, or Ctrl-D to end without this question:",
            "a fish; A cat",
        )
        terminal.answer("Question 2, about broken.mp4", "One that is not finished")
        terminal.wait_for("end without this question:\n  Right answer")
        wait_until(lambda: terminal.talk().count("Options, with") == 3)
        os.write(terminal._master, b"\x04")
        terminal.wait_for("Ended; 1 question kept.")
        assert terminal.command.wait(200) == 0
        assert "was left out: a file that cannot be opened as a video" in terminal.talk()
    assert left_in(tmp_path) == ["My-cats", "taken"]
    benchmark = checked(tmp_path / "My-cats", tmp_path / "run")
    (item,) = benchmark.items
    assert (item.kind, item.answer, item.media[0].path) == ("multi", ("A", "C"), "media/a.mp4")
    assert benchmark.manifest.protocol.sampling == "uniform:4"
    assert (tmp_path / "My-cats" / "media" / "more" / "b c.mp4").stat().st_nlink > 1


@pytest.mark.parametrize("end", ["interrupt", "end of input"])
def test_stopping_leaves_nothing(end: str, tmp_path: Path) -> None:
    with at_terminal(tmp_path) as terminal:
        terminal.answer("1. Name", "cats")
        terminal.wait_for("2. Your videos")
        if end == "interrupt":
            os.kill(terminal.command.pid, signal.SIGINT)
        else:
            os.write(terminal._master, b"\x04")
        assert terminal.command.wait(200) == 130
    assert left_in(tmp_path) == []


def test_without_a_terminal_it_names_the_flags(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run_here("new", "--name", "cats", "--frames", 4) == 2
    said = capsys.readouterr().err
    assert "no terminal to ask on: add --videos ... --questions ... --kind ..., or --yes" in said
    assert run_here("new", "--yes", "--questions", "write") == 2
    assert "no terminal" in capsys.readouterr().err
    assert left_in(tmp_path) == []


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--videos", "nowhere"), "--videos nowhere: nowhere does not exist"),
        (("--name", "///"), "is no name"),
        (("--kind", "quiz"), "write single, multi, yesno, open"),
        (("--frames", "lots"), "The sampling 'lots' is not valid"),
        (("--questions", "none.csv"), "none.csv does not exist"),
        (("--questions", "empty.csv"), "empty.csv"),
        (("--questions", "other.csv"), "no column was found"),
    ],
)
def test_a_wrong_flag_is_a_sentence_and_leaves_nothing(
    words: tuple[str, ...],
    message: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("empty.csv").write_text("")
    Path("other.csv").write_text("price,colour\n1,red\n2,blue\n")
    assert run_here("new", "made", "--yes", *words) == 2
    assert message in capsys.readouterr().err
    assert left_in(tmp_path) == ["empty.csv", "other.csv"]


def test_an_existing_folder_is_refused_and_untouched(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "mine.txt").write_text("mine")
    assert run_here("new", tmp_path / "b", "--yes") == 2
    assert "exists: name a folder that does not" in capsys.readouterr().err
    assert left_in(tmp_path / "b") == ["mine.txt"]


def test_with_nothing_at_hand_an_example_runs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = tmp_path / "deep" / "made"
    assert run_here("new", root, "--yes", "--licence", "CC-BY-4.0") == 0
    assert f"run {root} --model baseline:random" in capsys.readouterr().err
    benchmark = checked(root, tmp_path / "run")
    assert len(benchmark.items) == 3
    assert benchmark.manifest.licence == "CC-BY-4.0"
    assert left_in(tmp_path / "deep") == ["made"]


@pytest.mark.parametrize("kind", ["single", "yesno", "open"])
def test_own_videos_get_questions_to_replace(kind: str, clips: Path, tmp_path: Path) -> None:
    root = tmp_path / "made"
    assert run_here("new", root, "--yes", "--videos", clips, "--kind", kind, "--frames", 2) == 0
    benchmark = Benchmark.load(root) if kind == "open" else checked(root, tmp_path / "run")
    assert grave(root) == {"NOT_REPLACED"}
    assert [item.media[0].path for item in benchmark.items] == ["media/a.mp4", "media/more/b c.mp4"]
    assert {item.kind for item in benchmark.items} == {kind}


def test_a_file_of_questions_is_imported_with_its_videos(
    clips: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [("clip", "question", "A", "B", "C", "correct"), ("b c", "What is seen?", *"xyz", "B"),
            ("a", "Which letter?", *"klm", "C")]  # fmt: skip
    with (tmp_path / "mine.csv").open("w", newline="") as file:
        csv.writer(file).writerows(rows)
    root = tmp_path / "made"
    words = ("--questions", tmp_path / "mine.csv", "--videos", clips, "--frames", "2", "--yes")
    assert run_here("new", root, "--name", "Mine", *words) == 0
    benchmark = checked(root, tmp_path / "run")
    assert [item.answer for item in benchmark.items] == [("B",), ("C",)]
    assert benchmark.manifest.protocol.sampling == "uniform:2"
    assert json.loads((tmp_path / "run" / "run.json").read_text())["benchmark"]["name"] == "Mine"


def test_rows_that_are_no_items_are_said_to_be_in_the_new_folder(
    clips: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [("clip", "question", "A", "B", "correct"), ("a.mp4", "What?", *"xy", "B"),
            ("A.mp4", "Who?", *"xy", "A"), ("c.mp4", "Where?", *"xy", "A")]  # fmt: skip
    with (tmp_path / "mine.csv").open("w", newline="") as file:
        csv.writer(file).writerows(rows)
    root = tmp_path / "made"
    words = ("--questions", tmp_path / "mine.csv", "--videos", clips, "--yes")
    assert run_here("new", root, *words) == 1
    listed = root / "import/odd_rows.csv"
    talk = capsys.readouterr().err
    assert f"Rows that are no items: {listed}." in talk
    assert "reelbench lint" in talk[talk.index("Next:") :]
    assert talk.count("Next:") == 1
    assert [line.split(",")[1] for line in listed.read_text().splitlines()[1:]] == ["3", "4"]
