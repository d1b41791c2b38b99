"""A mistake of ours is told as that, with its place: never as a fault of the user's files."""

import json
import os
from pathlib import Path

import pytest
from jobs import fail_at
from support import reelbench
from videos import make_video

from reelbench.errors import DEFECTS, where
from reelbench.media.errors import MediaError
from reelbench.media.safely import safely

# As if the library had changed under us, in every process.
CHANGED = """
import av
library = "def open(*words, **more): raise {error}('open() is not what it was')"
exec(compile(library, "<library>", "exec"), vars(av))
"""


def with_another_library(folder: Path, error: str) -> dict[str, str]:
    folder.mkdir()
    (folder / "sitecustomize.py").write_text(CHANGED.format(error=error))
    return os.environ | {"PYTHONPATH": str(folder), "REELBENCH_CACHE": str(folder / "cache")}


@pytest.mark.parametrize("command", ["run", "lint", "annotate"])
def test_it_ends_the_command_and_says_where(command: str, small_demo: Path, tmp_path: Path) -> None:
    benchmark, out = small_demo / "benchmark", tmp_path / "out"
    words = {
        "run": (benchmark, "--model", "baseline:pixels", "--out", out),
        "lint": (benchmark,),
        "annotate": (benchmark / "media", "--labels", "loudness", "--out", out),
    }[command]
    done = reelbench(command, *words, env=with_another_library(tmp_path / "changed", "TypeError"))
    assert done.returncode == 70
    assert (
        f"reelbench {command}: internal error: TypeError: open() is not what it was" in done.stderr
    )
    assert "reelbench/media/container.py" in done.stderr
    assert "reelbench doctor" in done.stderr
    assert "cannot be decoded" not in done.stdout + done.stderr
    if command == "run":
        assert json.loads((out / "status.json").read_text())["failures"] == []
        assert (out / "predictions.jsonl").read_text() == ""


def test_an_error_that_data_can_bring_about_costs_one_file(
    small_demo: Path, tmp_path: Path
) -> None:
    done = reelbench(
        "run", small_demo / "benchmark", "--model", "baseline:pixels", "--out", tmp_path / "out",
        env=with_another_library(tmp_path / "changed", "KeyError"),
    )  # fmt: skip
    assert done.returncode == 1
    assert "an internal error in decoding it (KeyError: " in done.stderr
    assert "At reelbench/media/container.py:" in done.stderr


@pytest.mark.parametrize("kind", [*DEFECTS, KeyError, ZeroDivisionError])
def test_what_a_worker_raises_comes_with_its_place(kind: type[Exception], tmp_path: Path) -> None:
    path = make_video(tmp_path / "a.mp4", seconds=0.2)
    with pytest.raises((kind, MediaError)) as caught:
        safely(fail_at, path, kind)
    assert isinstance(caught.value, MediaError) is (kind not in DEFECTS)
    told = " ".join([str(caught.value), *getattr(caught.value, "__notes__", ())])
    assert "jobs.py:" in told
    assert ", in fail_at" in told


def test_the_place_is_the_innermost_line_of_ours() -> None:
    with pytest.raises(MediaError) as caught:
        safely(fail_at, Path("nothing here"), KeyError)
    assert "safely.py" in where(caught.value)
    assert where(ValueError("never raised")) == "an unknown line"
