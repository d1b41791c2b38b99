"""All operators on one clip: the same labels everywhere, and nothing that is not sure enough."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support import SHARED, reelbench

from reelbench.annotate.registry import load_operator, with_all

# Whisper's words of this clip changed with the threads of NumPy, by which its sound is prepared.
CLIP = SHARED / "data" / "video" / "speech_two_faces.mp4"
pytestmark = pytest.mark.skipif(not CLIP.exists(), reason="../shared/data/video is not there")
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def labels(out: Path, threads: str, *words: str) -> dict[str, Any]:
    """Return what each operator says of the clip, or that it says nothing."""
    free = {name: value for name, value in os.environ.items() if name not in THREADS}
    env = free | (dict.fromkeys(THREADS, threads) if threads else {})
    done = reelbench("annotate", CLIP, "--labels", "all", "--out", out, *words, env=env)
    assert done.returncode == 0, done.stderr
    found = json.loads((out / "labels" / f"{CLIP.name}.json").read_text())["labels"]
    return dict(found)


@pytest.fixture(scope="module")
def usual(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return labels(tmp_path_factory.mktemp("usual") / "out", "", "--workers", "1")


def test_every_operator_says_something(usual: dict[str, Any]) -> None:
    expected, _ = with_all(["all"], {}, has_model=False)
    assert set(usual) == set(expected)
    assert [name for name, label in usual.items() if "value" not in label] == []


@pytest.mark.parametrize(("threads", "words"), [
    ("1", ("--workers", "2")),
    ("4", ("--workers", "1")),
    ("", ("--engine", "ray")),
])  # fmt: skip
def test_the_labels_are_the_same(
    threads: str, words: tuple[str, ...], usual: dict[str, Any], tmp_path: Path
) -> None:
    found = labels(tmp_path / "out", threads, *words)
    assert [name for name in usual if found[name] != usual[name]] == []


SAID = {  # the field that is null where the operator is not sure enough; else those of ``guess``
    "count": "people", "emotion": "emotion", "narrator": "speaker", "objects": "class",
    "speaker": "speaks", "transcript": "language",
}  # fmt: skip


def statements(name: str, label: Any) -> Iterator[tuple[Any, float]]:
    """Yield what a label says, or None, and how sure it is of that."""
    if isinstance(label, list):
        for each in label:
            yield from statements(name, each)
    if not isinstance(label, dict):
        return
    for each in label.values():
        yield from statements(name, each)
    sure = label.get("language_confidence", label.get("confidence"))
    if isinstance(sure, dict):
        said = label | label.get("facts", {})
        yield from ((said[key], share) for key, share in sure.items())
    elif sure is not None:
        yield label["boxes"] or None if name == "bodies" else label[SAID[name]], sure


def test_what_an_operator_is_not_sure_of_it_does_not_say(usual: dict[str, Any]) -> None:
    unlimited, silent, stated = set(), 0, 0
    for name, label in usual.items():
        least = load_operator(name).parameters.get("least_confidence")
        if least is None:
            if '"confidence"' in json.dumps(label):
                unlimited.add(name)
            continue
        for said, sure in statements(name, label["value"]):
            assert said is None or sure >= least, (name, said, sure)
            silent, stated = silent + (said is None), stated + (said is not None)
    assert unlimited == {"tracks"}, "a person is there, whoever it is"
    assert silent > 2 < stated
