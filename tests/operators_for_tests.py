"""Operators that do as the name of a clip says. A module of its own, for workers import it.

Each look at a clip leaves a line in the file ``looks`` beside the folder ``clips``, so that it is
seen when anything is done twice.
"""

import os
import signal
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from reelbench.annotate import registry
from reelbench.annotate.operator import Clip, Labels, NotApplicable, Operator, PartOperator, Value
from reelbench.base.errors import ReelbenchError
from reelbench.base.files import write_atomically
from reelbench.data.items import Span

MODULE = "operators_for_tests"
OPERATORS = {
    "plain": "Plain",
    "reader": "Reader",
    "maybe": "Maybe",
    "other": "Other",
    "odd": "Odd",
    "on_odd": "OnOdd",
    "helped": "Helped",
    "slow": "Slow",
    "sidecar": "Sidecar",
    "pieces": "Pieces",
    "left": "Left",
    "right": "Right",
    "transcript": "Heard",
    "threads": "Threads",
}


def register(names: dict[str, tuple[str, str, str]] | None = None) -> None:
    """Put these operators among those that there are."""
    sys.modules[f"reelbench.annotate.operators.{MODULE}"] = sys.modules[MODULE]
    place = registry.OPERATORS if names is None else names
    place.update({name: (MODULE, kind, "for tests") for name, kind in OPERATORS.items()})


def perform_with_these(words: Sequence[str], told: str) -> None:
    """Run a command that knows them, as a process that may be killed."""
    from actors import perform  # here, for workers need it not

    register()
    perform(words, told)


def looks_file(clip: Path) -> Path:
    return next(folder for folder in clip.parents if folder.name == "clips").with_name("looks")


def looked(clip: Clip, label: str) -> None:
    line = f"{label}\t{clip.path.name}\t{os.getpid()}\n"
    with looks_file(clip.path).open("a") as file:  # one write: no line is torn
        file.write(line)
    lines = looks_file(clip.path).read_text().splitlines(keepends=True)
    before = lines[: len(lines) - lines[::-1].index(line)]
    while _is_held(clip, label, sum(each.startswith(f"{label}\t") for each in before)):
        time.sleep(0.002)


def hold(clips: Path, label: str, looks: int) -> None:
    """Let so many looks of a label go on; the others last until they are let go, or killed."""
    write_atomically(clips.with_name("held"), f"{label} {looks}")


def let_go(clips: Path) -> None:
    clips.with_name("held").unlink()


def _is_held(clip: Clip, label: str, place: int) -> bool:
    try:
        held, most = looks_file(clip.path).with_name("held").read_text().split()
    except FileNotFoundError:
        return False
    return held == label and place > int(most)


def looks(clips: Path) -> list[tuple[str, str, int]]:
    """Return the label, the clip and the process of each look so far."""
    path = clips.with_name("looks")
    lines = path.read_text().splitlines() if path.exists() else []
    return [(label, name, int(pid)) for label, name, pid in (line.split("\t") for line in lines)]


def counts(clips: Path) -> Counter[str]:
    """Return how many looks each label took so far."""
    return Counter(label for label, _, _ in looks(clips))


@dataclass(frozen=True)
class Plain(Operator):
    """Says how large a file is, and a word."""

    name: ClassVar[str] = "plain"
    word: str = "x"

    def __call__(self, clip: Clip, labels: Labels) -> Value:
        looked(clip, self.name)
        return {"bytes": clip.path.stat().st_size, "word": self.word}


@dataclass(frozen=True)
class Reader(Operator):
    """Needs ``plain``."""

    name: ClassVar[str] = "reader"
    needs: ClassVar[tuple[str, ...]] = ("plain",)

    def __call__(self, clip: Clip, labels: Labels) -> Value:
        looked(clip, self.name)
        assert set(labels) == {"plain"}, "an operator gets what it reads and nothing else"
        return {"read": labels["plain"]["word"]}


@dataclass(frozen=True)
class Maybe(Operator):
    """Uses ``reader`` where it was asked for."""

    name: ClassVar[str] = "maybe"
    may_use: ClassVar[tuple[str, ...]] = ("reader",)

    def __call__(self, clip: Clip, labels: Labels) -> Value:
        looked(clip, self.name)
        return {"read": labels["reader"]["read"] if "reader" in labels else None}


@dataclass(frozen=True)
class Other(Operator):
    """Reads nothing."""

    name: ClassVar[str] = "other"
    size: float = 1.0

    def __call__(self, clip: Clip, labels: Labels) -> Value:
        looked(clip, self.name)
        return {"size": self.size}


@dataclass(frozen=True)
class Odd(Operator):
    """Does what the clip is called, as "crashes.mp4"."""

    name: ClassVar[str] = "odd"

    def __call__(self, clip: Clip, labels: Labels) -> Value:
        looked(clip, self.name)
        return DEEDS.get(clip.path.stem.split()[0], lambda _: {"fine": True})(clip)


def raises(clip: Clip) -> Value:
    raise KeyError("nothing of that name")


def refuses(clip: Clip) -> Value:
    raise ReelbenchError("The weights are missing: fetch them.")


def has_nothing(clip: Clip) -> Value:
    raise NotApplicable("it is empty")


def crashes(clip: Clip) -> Value:
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError


def hangs(clip: Clip) -> Value:
    threading.Event().wait()
    raise AssertionError


def fails_once(clip: Clip) -> Value:
    if (
        sum(line[1] == clip.path.name for line in looks(looks_file(clip.path).with_name("clips")))
        == 1
    ):
        raise ValueError("not yet")
    return {"fine": True}


class OddError(Exception):
    """An error that cannot be made again in another process."""

    def __init__(self, one: str, other: str) -> None:
        super().__init__(one)


def raises_oddly(clip: Clip) -> Value:
    raise OddError("one", "other")


DEEDS: dict[str, Callable[[Clip], Any]] = {
    "raises": raises,
    "raises-oddly": raises_oddly,
    "refuses": refuses,
    "has-nothing": has_nothing,
    "crashes": crashes,
    "hangs": hangs,
    "fails-once": fails_once,
    "exits": lambda _: sys.exit(3),
    "gives-nan": lambda _: {"score": float("nan")},
    "gives-infinity": lambda _: {"score": [1.0, float("inf")]},
    "gives-a-set": lambda _: {"names": {"a"}},
    "gives-numpy": lambda _: {"score": np.float32(0.5)},
    "gives-bytes": lambda _: {"data": b"abc"},
    "gives-a-lock": lambda _: {"lock": threading.Lock()},
    "gives-nothing": lambda _: None,
    "gives-mixed-keys": lambda _: {"at": {1: "a", "b": 2}},
}


@dataclass(frozen=True)
class OnOdd(Operator):
    """Needs ``odd``."""

    name: ClassVar[str] = "on_odd"
    needs: ClassVar[tuple[str, ...]] = ("odd",)

    def __call__(self, clip: Clip, labels: Labels) -> Value:
        looked(clip, self.name)
        return {"fine": labels["odd"]["fine"]}


@dataclass(frozen=True)
class Helped(Operator):
    """Uses ``odd`` where there is one."""

    name: ClassVar[str] = "helped"
    may_use: ClassVar[tuple[str, ...]] = ("odd",)

    def __call__(self, clip: Clip, labels: Labels) -> Value:
        looked(clip, self.name)
        return {"helped": "odd" in labels}


@dataclass(frozen=True)
class Slow(Operator):
    """Takes its time."""

    name: ClassVar[str] = "slow"
    seconds: float = 0.1

    def __call__(self, clip: Clip, labels: Labels) -> Value:
        looked(clip, self.name)
        time.sleep(self.seconds)
        return {"bytes": clip.path.stat().st_size}


@dataclass(frozen=True)
class Sidecar(Operator):
    """Reads a file beside the clip."""

    name: ClassVar[str] = "sidecar"

    def beside(self, clip: Clip) -> str | None:
        path = clip.path.with_suffix(".txt")
        return path.read_text() if path.exists() else None

    def __call__(self, clip: Clip, labels: Labels) -> Value:
        looked(clip, self.name)
        return {"text": self.beside(clip)}


@dataclass(frozen=True)
class Heard(Operator):
    """What is said in every clip, in the form of a transcript."""

    name: ClassVar[str] = "transcript"
    second: str = "And then the bell rang."

    def __call__(self, clip: Clip, labels: Labels) -> Value:
        said = ("The dog barked. ", self.second, "Nobody came.")
        return {
            "segments": [
                {"start": n + 0.2, "end": n + 0.8, "text": text} for n, text in enumerate(said)
            ]
        }


@dataclass(frozen=True)
class Pieces(PartOperator):
    """Says which parts there were, and fails once at the part that begins at ``fails_at``."""

    name: ClassVar[str] = "pieces"
    rate: float = 5.0
    fails_at: float = -1.0
    seconds: float = 0.0

    def part(self, clip: Clip, labels: Labels, span: Span) -> Any:
        looked(clip, f"{self.name} {span[0]:g}")
        time.sleep(self.seconds)
        again = sum(look[0] == f"{self.name} {span[0]:g}" for look in looks(_clips(clip))) > 1
        if span[0] == self.fails_at and not again:
            raise ValueError("not yet")
        return [span[0], min(span[1], clip.info.duration)]

    def merge(self, clip: Clip, labels: Labels, parts: Sequence[Any]) -> Value:
        looked(clip, f"{self.name} merged")
        return {"whole": [parts[0][0], round(parts[-1][1], 4)], "count": len(parts)}


@dataclass(frozen=True)
class Left(Operator):
    """Ends when ``other`` looks at the clip ``other_clip``, or at the same one."""

    name: ClassVar[str] = "left"
    other: str = "right"
    other_clip: str = ""

    def __call__(self, clip: Clip, labels: Labels) -> Value:
        looked(clip, self.name)
        awaited = (self.other, self.other_clip or clip.path.name)
        deadline = time.monotonic() + 120
        while awaited not in [look[:2] for look in looks(_clips(clip))]:
            assert time.monotonic() < deadline, "it never came"
            time.sleep(0.002)
        return {"met": True}


@dataclass(frozen=True)
class Right(Left):
    """The other one."""

    name: ClassVar[str] = "right"
    other: str = "left"


def _clips(clip: Clip) -> Path:
    return looks_file(clip.path).with_name("clips")


@dataclass(frozen=True)
class Threads(Operator):
    """Says how many threads NumPy was allowed when it was loaded."""

    name = "threads"

    def __call__(self, clip: Clip, labels: Labels) -> Value:
        return {"threads": os.environ.get("OPENBLAS_NUM_THREADS")}
