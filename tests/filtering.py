"""A planted benchmark for tests of ``reelbench make filters``, and the command."""

import contextlib
import hashlib
import io
import json
import shutil
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from actors import Actors, write_card
from servers import Server, serving
from support import make_item, run_here

from reelbench.data.benchmark import Benchmark
from reelbench.data.items import Item, Media, freeze
from reelbench.data.manifest import Manifest

ALL = ("fine", "guessable", "false")
SKILL = {
    **{("blind", kind): float(kind == "guessable") for kind in ALL},
    **{("veracity", kind): float(kind != "false") for kind in ALL},
    **{("knows", kind): 1.0 for kind in ALL},
    **{("fool", kind): 0.0 for kind in ALL},
    ("watcher", "fine"): 0.0, ("watcher", "guessable"): 1.0, ("watcher", "false"): 0.0,
    ("listener", "fine"): 0.0, ("listener", "guessable"): 0.0, ("listener", "false"): 1.0,
}  # fmt: skip
VIDEOS = ("clips/one.mp4", "clips/two.mp4")
SECRET = "The ferry sank in the night."


@dataclass
class Bench:
    """A planted benchmark, actors, and the command that filters it."""

    root: Path
    actors: Actors
    server: Server
    items: list[Item]

    @property
    def source(self) -> Path:
        return self.root / "source"

    def card(self, name: str, **more: Any) -> Path:
        return write_card(self.root / "cards", name, self.server.url, **more)

    def role(self, role: str, name: str = "", **more: Any) -> list[str]:
        return ["--model", f"{role}={self.card(name or role, **more)}"]

    def filter(self, *words: object, out: Path | None = None, all_stages: bool = False) -> "Told":
        out = out or self.root / "out"
        names = [] if all_stages else ["near-duplicates", "lint", "key-length"]
        left = [word for name in names for word in ("--without", name)]
        before, said, told = self.actors.asked.copy(), io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(told):
            status = run_here(
                "make", "filters", "--benchmark", self.source, "--out", out, *left, *words
            )
        return Told(out, status, said.getvalue(), told.getvalue(), self.actors.asked - before)

    def save(self, *items: Item) -> None:
        self.items = list(items)
        extra = freeze({"by": "someone else"})
        Benchmark(self.source, Manifest("theirs", "3", extra=extra), items).save(self.source)

    def of_kind(self, *kinds: str) -> set[str]:
        return {item.id for item in self.items if self.actors.planted[item.question][0] in kinds}


@dataclass(frozen=True)
class Told:
    """What a command said and did."""

    folder: Path
    status: int
    out: str
    err: str
    calls: Counter[str]

    @property
    def kept(self) -> set[str]:
        return {item.id for item in Benchmark.load(self.folder).items}

    @property
    def rejects(self) -> dict[str, dict[str, Any]]:
        lines = (self.folder / "rejects.jsonl").read_text().splitlines()
        return {line["id"]: line for line in map(json.loads, lines)}

    @property
    def stages(self) -> dict[str, dict[str, Any]]:
        stages = json.loads((self.folder / "funnel.json").read_text())["stages"]
        return {stage["stage"]: stage for stage in stages}


def planted(actors: Actors, number: int, **fields: Any) -> Item:
    """An item about which the actors know what it is."""
    said = actors.one(1, "planted", number)
    options = [said["answer"], *said["distractors"]]
    place = number % len(options)
    options[0], options[place] = options[place], options[0]
    plain: dict[str, Any] = {
        "id": f"q-{number:02d}",
        "question": said["question"],
        "options": tuple(options),
        "answer": ("ABCDE"[place],),
        "media": (Media(VIDEOS[number % 2]),),
    }
    return make_item(**(plain | fields))


@contextmanager
def planted_bench(root: Path, videos: Path) -> Iterator[Bench]:
    """Twelve planted items: half with their context in a file, half in the item."""
    actors = Actors(skill=SKILL)
    with serving(actors) as server:
        found = Bench(root, actors, server, [])
        shutil.copytree(videos, found.source / "clips")
        (found.source / "notes").mkdir()
        (found.source / "notes" / "one.md").write_text("A ferry crosses the river by night.")
        contexts = [{"file": "notes/one.md"}, {"text": "A dog sleeps on the pier."}]
        found.save(
            *(planted(actors, n, context=freeze(contexts[n % 2])) for n in range(12)),
        )
        assert all(found.of_kind(kind) for kind in ALL)
        yield found


def fingerprints(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and "make" not in path.relative_to(folder).parts
    }
