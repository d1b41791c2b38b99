"""Files of questions in the form of Q-Bench-Video, and the command that makes a benchmark of them."""

import contextlib
import io
import json
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from support import run_here

from reelbench.data.benchmark import Benchmark, BenchmarkError
from reelbench.data.items import Item
from reelbench.data.sources import Sources
from reelbench.interop.qbench_video.source import questions_in

PAIR = "A.mp4_cat_B.mp4.mp4"


def question(**fields: Any) -> dict[str, Any]:
    """A question as the authors publish them; a field that is ``...`` is left out."""
    plain: dict[str, Any] = {
        "video_name": "A.mp4",
        "question": "What is the most apparent distortion?",
        "answers": ["Noise", "Blur", "Flicker", "Stutter"],
        "correct_choice": "B",
        "question_type": "What-How",
        "context": "Global",
        "quality_concern": "Technical",
    }
    return {name: part for name, part in (plain | fields).items() if part is not ...}


def yes_no(number: int, **fields: Any) -> dict[str, Any]:
    words = {
        "question": f"Is sign {number} of high clarity?",
        "answers": ["Yes", "No"],
        "correct_choice": "A",
        "question_type": "Yes-or-No",
    }
    return question(**(words | fields))


def opened(number: int, **fields: Any) -> dict[str, Any]:
    words = {
        "question": f"Why does scene {number} look bad?",
        "answers": [],
        "correct_choice": "It is blurred by fast motion.",
        "question_type": "Open-ended",
    }
    return question(**(words | fields))


@dataclass
class Folder:
    """A source with some videos, and the command."""

    root: Path
    clip: Path

    @property
    def source(self) -> Path:
        return self.root / "source"

    def add(self, *names: str) -> "Folder":
        for name in names:
            (self.source / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(self.clip, self.source / name)
        return self

    def write(self, content: Any, name: str = "mine.json") -> "Folder":
        self.source.mkdir(exist_ok=True)
        data = content if isinstance(content, bytes) else json.dumps(content).encode()
        (self.source / name).write_bytes(data)
        return self

    def read(self, *rows: Any) -> Sources:
        return questions_in((self.write(list(rows)) if rows else self).source)

    def one(self, **fields: Any) -> Item:
        (item,) = self.read(question(**fields)).rows
        assert isinstance(item, Item)
        return item

    def wrong(self, *rows: Any) -> list[str]:
        """All problems of some questions, without the name of their file."""
        with pytest.raises(BenchmarkError) as error:
            self.read(*rows)
        return [str(problem).removeprefix(f"{self.source}/") for problem in error.value.problems]

    def make(self, *words: object, out: str = "bench", status: int = 0) -> "Told":
        said, told = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(told):
            found = run_here(
                *("make", "qbench-published", "--source", self.source),
                *("--out", self.root / out, *words),
            )
        assert found == status, told.getvalue()
        assert "Traceback" not in told.getvalue()
        return Told(self.root / out, said.getvalue(), told.getvalue())


@dataclass(frozen=True)
class Told:
    """What a command made and said."""

    folder: Path
    out: str
    err: str

    @property
    def items(self) -> tuple[Item, ...]:
        return Benchmark.load(self.folder).items

    @property
    def funnel(self) -> dict[str, Any]:
        return dict(json.loads((self.folder / "funnel.json").read_text()))

    @property
    def rejects(self) -> dict[str, str]:
        lines = map(json.loads, (self.folder / "rejects.jsonl").read_text().splitlines())
        return {line["id"]: line["detail"] for line in lines}
