"""A mistake of ours is told as that, with its place: never as a fault of the user's files."""

import itertools
import json
import os
import pkgutil
from pathlib import Path
from typing import Any

import pytest
from jobs import fail_at
from servers import completion, serving
from support import blind_benchmark, make_item, reelbench
from videos import make_video

from reelbench.base.errors import DEFECTS, where
from reelbench.client.journal import open_journal
from reelbench.data.items import Media
from reelbench.evaluate.run import run_benchmark
from reelbench.media.decode.isolated import run_isolated
from reelbench.media.errors import MediaError

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
    assert "reelbench/media/decode/container.py" in done.stderr
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
    assert "At reelbench/media/decode/container.py:" in done.stderr


@pytest.mark.parametrize("kind", [*DEFECTS, KeyError, ZeroDivisionError])
def test_what_a_worker_raises_comes_with_its_place(kind: type[Exception], tmp_path: Path) -> None:
    path = make_video(tmp_path / "a.mp4", seconds=0.2)
    with pytest.raises((kind, MediaError)) as caught:
        run_isolated(fail_at, path, kind)
    assert isinstance(caught.value, MediaError) is (kind not in DEFECTS)
    told = " ".join([str(caught.value), *getattr(caught.value, "__notes__", ())])
    assert "jobs.py:" in told
    assert ", in fail_at" in told


def test_the_place_is_the_innermost_line_of_ours() -> None:
    with pytest.raises(MediaError) as caught:
        run_isolated(fail_at, Path("nothing here"), KeyError)
    assert "isolated.py" in where(caught.value)
    assert where(ValueError("never raised")) == "an unknown line"


@pytest.mark.parametrize(
    "place",
    ["reelbench.client.media_input.MediaInput.render", "reelbench.evaluate.ask.Ask.request"],
)
@pytest.mark.parametrize("kind", [TypeError, KeyError])
def test_what_is_under_way_is_paid_for_and_kept(
    place: str, kind: type[Exception], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    items = [make_item(n, media=(Media(f"media/{n}.mp4"),)) for n in range(6)]
    benchmark = blind_benchmark(tmp_path / "b", *items, modalities="T", orders=2)
    real, asked = pkgutil.resolve_name(place), itertools.count()

    def failing(*words: Any) -> Any:
        if next(asked) == 4:
            raise kind("of ours")
        return real(*words)

    monkeypatch.setattr(place, failing)
    with serving(lambda *_: completion("B"), latency=0.2) as server:
        card = {"name": "far", "endpoint": server.url, "retries": 0, "connections": 8}
        (tmp_path / "far.yaml").write_text(json.dumps(card))
        with pytest.raises(kind):
            run_benchmark(benchmark, [str(tmp_path / "far.yaml")], tmp_path / "r")
    with open_journal(tmp_path / "r" / "journal.sqlite", reading=True) as journal:
        assert sum(row[1] for row in journal.taken()) == len(server.requests) > 0
