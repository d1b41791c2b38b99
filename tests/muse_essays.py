"""Planted essays as files, and the command that makes a benchmark of them."""

import contextlib
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import muse_operators
import numpy as np
from actors import write_card
from filming import Told
from muse_models import ESSAYS, MuseModels, category_of
from muse_operators import RATE, SECONDS, TONES, said_in
from servers import Server, serving
from support import run_here

from reelbench.media.edit.write import AudioTrack, video_writer

ROLES = ("curator", "vetter", "captioner", "writer", "matcher", "distractor", "reviewer",
         "summarizer", "reader", "watcher", "blind")  # fmt: skip
DEAD = "http://127.0.0.1:1/dead.mp4"


def metadata(essay: str) -> dict[str, Any]:
    """What is public about an essay; each text has the word of the essay."""
    mark = ESSAYS[essay]
    return {
        "video_id": essay,
        "title": f"An analysis of the {mark}itle",
        "channel": f"The {mark}chan channel",
        "description": f"About lamps and doors, by the {mark}desc club.",
        "view_count": 1000,
        "category": category_of(essay),
    }


def write_essay(folder: Path, essay: str) -> Path:
    """Write the video of an essay, and the subtitles that somebody made for it."""
    folder.mkdir(parents=True, exist_ok=True)
    times = np.arange(round(SECONDS * RATE)) / RATE
    sound = 0.1 * np.sin(2 * np.pi * 300 * times)
    for start, end, speaker, _ in said_in(essay):
        speaks = (times >= start) & (times < end)
        sound += 0.3 * speaks * np.sin(2 * np.pi * TONES[speaker] * times)
    track = AudioTrack([sound[None].astype(np.float32)], RATE, 1)
    shade = 10 + 15 * list(ESSAYS).index(essay)
    path = folder / f"{essay}.mp4"
    with video_writer(path, 2, sound=track) as writer:
        for number in range(round(SECONDS * 2)):
            picture = np.full((48, 64, 3), shade, np.uint8)
            picture[8:16, number % 56 : number % 56 + 8] = 255
            writer.show(picture, number / 2)
    if said := said_in(essay):
        lines = [(start, end, text) for start, end, _, text in said]
        lines.append((29.0, 29.8, f"Subtitles by the {ESSAYS[essay]}subs club."))
        path.with_suffix(".srt").write_text(
            "".join(
                f"{n}\n{_clock(start)} --> {_clock(end)}\n{text}\n\n"
                for n, (start, end, text) in enumerate(lines, 1)
            )
        )
    return path


def _clock(seconds: float) -> str:
    return f"00:00:{int(seconds):02d},{round(seconds % 1 * 1000):03d}"


def write_folder(source: Path, essays: Sequence[str]) -> Path:
    """Write essays with their metadata beside them, as downloaders do."""
    for essay in essays:
        info = metadata(essay)
        path = write_essay(source, essay).with_suffix(".info.json")
        path.write_text(json.dumps({**info, "id": info.pop("video_id")}))
    return source


def write_catalogue(source: Path, essays: Sequence[str], more: Sequence[Mapping[str, Any]]) -> Path:
    """Write essays and a catalogue of them, with further lines."""
    for essay in essays:
        write_essay(source / "videos", essay)
    rows = [{**metadata(essay), "file": f"videos/{essay}.mp4"} for essay in essays]
    path = source / "catalogue.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in [*rows, *more]))
    return path


def settings(more: Mapping[str, Any]) -> list[str]:
    """The options of a small make: few questions, the tests' own operators, no weights."""
    file = Path(muse_operators.__file__)
    heard = {"operator": f"{file}:Heard"}
    turns = {"turns": {"operator": f"{file}:TonalTurns"}}
    values = {
        "fetch.least_height": 40,
        "label-essays.labels": ["transcript", "turns", "narrator"],
        "label-essays.set": {
            "transcript": heard, **turns, "narrator": {"operator": f"{file}:HighVoice"}
        },
        "label-evaluation.labels": ["transcript", "turns"],
        "label-evaluation.set": {"transcript": {**heard, "subtitles": False}, **turns},
        "silence.method": "attenuate",
        "vetter.sampling": "uniform:1",
        "caption.sampling": "uniform:1",
        "clip-only.sampling": "uniform:2",
        "curate.quiet": 1,
        "plan.questions": [3, 3],
        "refine.pilot": 3,
        "refine.most": 5,
        "transcript-only.seeds": 2,
        "clip-only.seeds": 2,
        "blind.seeds": 1,
    }  # fmt: skip
    return [
        word
        for name, value in {**values, **more}.items()
        for word in ("--set", f"{name}={value if isinstance(value, str) else json.dumps(value)}")
    ]


@dataclass
class Workshop:
    """A source, who plays the models, and the commands."""

    root: Path
    models: MuseModels
    server: Server

    @property
    def source(self) -> Path:
        return self.root / "essays"

    def roles(self, *names: str, **card: Any) -> list[str]:
        """The options that give models their roles; each is named after its own."""
        hears = {"watcher": {"hears": True}}
        cards = {name: self.card(name, **hears.get(name, {}), **card) for name in names}
        return [word for name in names for word in ("--model", f"{name}={cards[name]}")]

    def card(self, name: str, **more: Any) -> Path:
        return write_card(self.root / "-".join(["cards", *map(str, more.values())]), name,
                          self.server.url, **more)  # fmt: skip

    def make(self, out: Path, *more: object, source: Path | None = None) -> Told:
        words = ["--source", source or self.source, "--out", out, "--workers", 1]
        return self.command("make", "musebench", *words, *more)

    def command(self, *words: object) -> Told:
        before, said, told = self.models.asked.copy(), io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(told):
            status = run_here(*words)
        return Told(status, said.getvalue(), told.getvalue(), self.models.asked - before)


@contextmanager
def workshop(root: Path, models: MuseModels) -> Iterator[Workshop]:
    """Serve the models."""
    with serving(models) as server:
        yield Workshop(root, models, server)


def decide(out: Path, stage: str, file: str = "verdicts.jsonl", **by_item: Any) -> list[str]:
    """Accept all that waits at a stage, but decide otherwise about some items; return their ids.

    ``by_item`` has, by id, the fields of a verdict, or a list of verdicts.
    """
    waiting = [
        json.loads(line)["id"]
        for line in (out / "make" / f"{stage}-waiting.jsonl").read_text().splitlines()
    ]
    lines = []
    for item in waiting:
        given = by_item.get(item, {})
        each_of_them = given if isinstance(given, list) else [given]
        lines += [{"item": item, "who": "ann", "decision": "accept", **one} for one in each_of_them]
    with (out / file).open("a") as verdicts:
        verdicts.writelines(f"{json.dumps(line)}\n" for line in lines)
    return waiting
