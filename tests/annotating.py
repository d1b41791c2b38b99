"""Clips and their labels, for tests of annotating."""

import json
import math
import sqlite3
import wave
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

from support import run_here

from reelbench.annotate.annotate import annotate
from reelbench.annotate.label_files import label_file
from reelbench.annotate.outcomes import Annotated
from reelbench.engine.local import LocalEngine

Start = Callable[..., Any]


class Given:
    """A folder of clips, and one for their labels."""

    def __init__(self, root: Path, films: list[Path], engine: LocalEngine) -> None:
        self.films, self.engine = films, engine
        self.clips, self.out = root / "clips", root / "out"
        self.clips.mkdir()

    def add(self, *names: str) -> None:
        """Add clips, each of other bytes than those before."""
        for name in names:
            path = self.clips / name
            path.parent.mkdir(parents=True, exist_ok=True)
            number = sum(1 for each in self.clips.rglob("*") if each.is_file())
            film = self.films[number % len(self.films)].read_bytes()
            # Bytes behind its end are not read, and make it another clip.
            path.write_bytes(film + b"\0\0\0\x0cfree%04d" % number)

    def annotate(self, *labels: str, **more: Any) -> Annotated:
        return annotate(self.clips, labels, self.out, self.engine, **more)

    def command(self, labels: str, *words: object) -> int:
        return run_here("annotate", self.clips, "--labels", labels, "--out", self.out, *words)

    def labels(self, name: str) -> dict[str, Any]:
        """The labels of a clip, as anyone reads them: strictly."""
        text = label_file(self.out, name).read_text()
        return dict(json.loads(text, parse_constant=no_json)["labels"])

    def summary(self) -> dict[str, Any]:
        return dict(json.loads((self.out / "annotate.json").read_text(), parse_constant=no_json))

    def written(self) -> dict[str, bytes]:
        """All that is written for people and programs, by name."""
        files = [path for path in self.out.rglob("*") if path.is_file()]
        return {
            path.relative_to(self.out).as_posix(): path.read_bytes()
            for path in files
            if ".sqlite" not in path.name
        }

    def stored(self) -> list[tuple[str, Any]]:
        """The maker and the body of all that is kept."""
        with closing(sqlite3.connect(self.out / "labels.sqlite")) as shelf:
            rows = shelf.execute("SELECT maker, body FROM results").fetchall()
        return [(maker, json.loads(body, parse_constant=no_json)) for maker, body in rows]


def no_json(word: str) -> None:
    raise AssertionError(f"{word} is no JSON")


def write_sound(path: Path, seconds: float = 1.0) -> None:
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(16000)
        samples = [round(9000 * math.sin(n / 5)) for n in range(int(16000 * seconds))]
        file.writeframes(b"".join(n.to_bytes(2, "little", signed=True) for n in samples))
