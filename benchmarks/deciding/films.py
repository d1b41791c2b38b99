"""Films that do not exist, as a source of Cinéaste, and a server that plays its writer.

A film is a YAML file: its text by scene, questions by category, and what a reader decides on each,
written down before any model was asked.
"""

import json
import re
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from decoding.videos import Video, make
from servers import completion, serving  # type: ignore[import-not-found]

from reelbench.media.subtitles import Cue, subtitles_file
from reelbench.recipes.cineaste.recipe import CATEGORIES

DECISIONS = ("keep", "blind", "hallucinated")  # what becomes of a question; two ways to be dropped
_SCENE = Video("", 2, 5, 5, 0)  # text alone is read here: any picture will do


@dataclass(frozen=True, slots=True)
class Film:
    """One film with its questions."""

    id: str
    content: dict[str, Any]

    @property
    def split(self) -> str:
        """``test``, or ``tuning`` for what prompts were tried on."""
        return str(self.content.get("split", "test"))

    def decisions(self) -> dict[str, str]:
        """Return what the reader decides on each question, by the id that Cinéaste gives it."""
        found = {
            f"{self.id}-{CATEGORIES[category]}-{number:02d}": str(question["reader"])
            for category, questions in self.content["questions"].items()
            for number, question in enumerate(questions, 1)
        }
        assert set(found.values()) <= set(DECISIONS), self.id
        return found


def read_films(folder: Path, split: str) -> list[Film]:
    """Return the films of a split."""
    films = [Film(p.stem, yaml.safe_load(p.read_text())) for p in sorted(folder.glob("*.yaml"))]
    return [film for film in films if film.split == split]


def write_source(films: Sequence[Film], source: Path) -> None:
    """Write what Cinéaste is made from: a folder for each film."""
    source.mkdir(parents=True, exist_ok=True)
    for film in films:
        home = source / film.id
        home.mkdir(exist_ok=True)
        scenes = []
        for number, scene in enumerate(film.content["scenes"], 1):
            if not (home / f"{number}.mp4").exists():
                shutil.copyfile(make(_SCENE, source), home / f"{number}.mp4")
            lines, step = scene["captions"], _SCENE.seconds / len(scene["captions"])
            cues = [Cue(n * step, (n + 1) * step, line) for n, line in enumerate(lines)]
            (home / f"{number}.srt").write_text(subtitles_file(cues))
            scenes.append({"video": f"{number}.mp4", **{n: scene[n] for n in ("title", "logline")}})
        head = {name: film.content[name] for name in ("title", "summary")}
        (home / "movie.yaml").write_text(yaml.safe_dump({**head, "scenes": scenes}))


class Writer:
    """Replies as the roles ``captioner`` and ``writer``, with what stands in the films' files."""

    def __init__(self, films: Sequence[Film]) -> None:
        self.films = {film.content["title"]: film.content for film in films}

    def __call__(self, body: dict[str, Any]) -> str:
        """Return the reply to a request."""
        text = "".join(
            part.get("text", "") for message in body["messages"] for part in message["content"]
        )
        if asked := re.search(r'of the film "(.+?)", called "(.+?)"', text):
            scenes = self.films[asked[1]]["scenes"]
            return next(str(each["description"]) for each in scenes if each["title"] == asked[2])
        # The writer is not told the title: a film is known by its scenes.
        film = next(
            f for f in self.films.values() if _folded(f["scenes"][0]["logline"]) in _folded(text)
        )
        category = next(each for each in CATEGORIES if f"questions on {each}," in text)
        fields = ("question", "answer", "distractors", "scenes")
        questions = [
            {**{name: each[name] for name in fields}, "reasoning": each["why"]}
            for each in film["questions"][category]
        ]
        return json.dumps({"questions": questions})


def _folded(text: str) -> str:
    return " ".join(text.split())


@contextmanager
def writing(films: Sequence[Film], folder: Path) -> Iterator[str]:
    """Write the source into a folder, and serve its writer; yield the writer's card."""
    write_source(films, folder / "source")
    writer, card = Writer(films), folder / "writer.yaml"
    with serving(lambda body, _: completion(writer(body))) as server:
        card.write_text(json.dumps({"name": "writer", "endpoint": server.url}))
        yield str(card)
