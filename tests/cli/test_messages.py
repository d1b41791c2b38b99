"""What a new user sees: each mistake gets a sentence with the flag or file to change."""

import importlib.util
from pathlib import Path

import pytest
from support import reelbench

BENCH, RANDOM = "{demo}/benchmark", "baseline:random"
RUN = ["run", BENCH, "--model", RANDOM]
MISTAKES: list[tuple[list[str], list[str]]] = [
    (["rnu", BENCH], ["there is no command 'rnu' (perhaps 'run')"]),
    (["lint", BENCH, "--fial-on", "high"], ["--fial-on (perhaps '--fail-on')"]),
    (["run", BENCH, "--modle", RANDOM, "--out", "out"], ["--modle (perhaps '--model')"]),
    (["judge", "scores", "--nothing-like-it"], ["invalid choice: 'scores'"]),
    ([*RUN, "--out", "{file}"], ["file is a file: name a folder in --out"]),
    ([*RUN, "--out", "{file}/deeper"], ["file is a file: name a folder in --out"]),
    ([*RUN, "--out", "{foreign}"], ["that no run made, such as notes.txt", "--out"]),
    (["demo", "--out", "{foreign}"], ["that no demo made, such as notes.txt", "--out"]),
    (["demo", "--out", "{file}"], ["file is a file: name a folder in --out"]),
    (["import", "{rows}", "--out", "{foreign}"], ["that no import made", "--out"]),
    (["import", "{rows}", "--out", "{file}"], ["file is a file: name a folder in --out"]),
    (["report", "{demo}/run", "--out", "{foreign}"], ["is a folder: name a file in --out"]),
    (["report", "{demo}/run", "--tables", "{file}"], ["file is a file: name a folder in --tables"]),
    (["report", "{demo}/run", "--since", "{empty}"], ["is not a run folder", "--since"]),
    (["score", "{demo}/run", "--out", "{foreign}"], ["is a folder: name a file in --out"]),
    (["annotate", "{demo}", "--labels", "text", "--out", "{file}"], ["name a folder in --out"]),
    (["make", "musebench", "--source", "{empty}", "--out", "out"], ["empty folder", "--source"]),
    (
        ["run", BENCH, "--model", "opena:gpt-5", "--out", "out"],
        ["no model 'opena:gpt-5' (perhaps 'openai')"],
    ),
    (
        ["run", BENCH, "--model", "x.gguf", "--out", "out"],
        ["x.gguf is a GGUF file", "--model x.yaml", "serve: [", "reelbench.models.gguf"],
    ),
    (["run", BENCH, "--model", "local:a/x.gguf", "--out", "out"], ["a/x.gguf is a GGUF file"]),
]


@pytest.mark.parametrize(("words", "parts"), MISTAKES, ids=lambda part: " ".join(part)[:60])
def test_a_mistake_gets_a_sentence(
    words: list[str], parts: list[str], small_demo: Path, tmp_path: Path
) -> None:
    file, foreign, empty = (tmp_path / name for name in ("file", "foreign", "empty"))
    rows = tmp_path / "rows.csv"
    file.write_text("x")
    rows.write_text("question,a,b,answer\nWhich?,one,two,A\n")
    foreign.mkdir()
    (foreign / "notes.txt").write_text("mine")
    empty.mkdir()
    names = {"file": file, "foreign": foreign, "empty": empty, "rows": rows, "demo": small_demo}
    done = reelbench(*(word.format(**names) for word in words), cwd=tmp_path)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert all(part in done.stderr for part in parts), done.stderr
    assert done.stdout == ""
    assert not (tmp_path / "out").exists()
    assert file.read_text() == "x"
    assert [path.name for path in foreign.iterdir()] == ["notes.txt"]


def test_a_log_that_the_shell_has_just_opened_may_be_in_the_folder(
    small_demo: Path, tmp_path: Path
) -> None:
    (tmp_path / "run.log").touch()
    words = ("run", small_demo / "benchmark", "--model", RANDOM, "--out", tmp_path)
    assert reelbench(*words).returncode == 0


@pytest.mark.skipif(
    importlib.util.find_spec("torch") is not None, reason="PyTorch is installed here"
)
def test_a_local_model_without_pytorch_is_refused_before_there_is_a_run(
    small_demo: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    words = ("--model", RANDOM, "--model", "hf:some-model", "--out", out)
    done = reelbench("run", small_demo / "benchmark", *words)
    assert done.returncode == 2
    assert "hf:some-model needs transformers and PyTorch: pip install" in done.stderr
    assert not out.exists()


@pytest.mark.skipif(importlib.util.find_spec("cv2") is not None, reason="OpenCV is installed here")
@pytest.mark.parametrize("command", ["annotate", "make"])
def test_a_package_that_is_missing_is_said_once_and_alone(
    command: str, small_demo: Path, tmp_path: Path
) -> None:
    clips = small_demo / "benchmark" / "media"
    words = {
        "annotate": ("annotate", clips, "--labels", "shots"),
        "make": ("make", "humanvbench", "--source", clips),
    }[command]
    done = reelbench(*words, "--out", tmp_path / "out")
    assert done.returncode == 2
    assert done.stderr.count("is not installed") == 1
    assert done.stderr.splitlines()[-1].startswith(f"reelbench {command}: The Python package ")
    assert "[annotate]" in done.stderr
