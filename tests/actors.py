"""A server that plays models of known competence, and the small films they are asked about.

Each question that the writer gives is planted: ``fine``, ``guessable`` (its key can be told without
the film) or ``false`` (the film contradicts its key). How often a model is right about each kind
is a number, so that what filters remove is binomial arithmetic. An answer depends on the words of
the request alone, or, where ``by_count`` is said, on how often the question has been asked. What
the writer writes depends on every word of the prompt, as it does with who can read.
"""

import hashlib
import json
import os
import re
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml
from commands import NEVER
from servers import Reply, Server, completion, serving
from support import run_here
from videos import make_video

from reelbench.base import progress

KINDS = ("fine", "guessable", "false")
SHARES = {"fine": 0.5, "guessable": 0.3, "false": 0.2}
SURE = {
    ("blind", "fine"): 0.0, ("blind", "guessable"): 1.0, ("blind", "false"): 0.0,
    ("veracity", "fine"): 1.0, ("veracity", "guessable"): 1.0, ("veracity", "false"): 0.0,
}  # fmt: skip
ROLES = ("captioner", "writer", "blind", "veracity")

_COLOURS = [
    "amber",
    "black",
    "brown",
    "crimson",
    "golden",
    "grey",
    "green",
    "olive",
    "pale",
    "purple",
    "silver",
    "white",
]
_THINGS = [
    "bell",
    "book",
    "candle",
    "clock",
    "coin",
    "cup",
    "drum",
    "feather",
    "hammer",
    "key",
    "lamp",
    "letter",
    "map",
    "mirror",
]
_THINGS += ["needle", "paddle", "ribbon", "rope", "sword", "violin"]
_DEEDS = (
    "hides it behind", "throws it over", "burns it beside", "carries it past",
    "drops it into", "leaves it beneath", "ties it onto", "holds it above",
)  # fmt: skip
_PLACES = "bridge cellar door fence garden harbour kitchen ladder orchard river stable tower"
# An option as a prompt that asks for others shows it, and what is wanted of them.
OPTION = re.compile(r"^\d+\. (.+) \(has \d+ characters, may have (\d+) to (\d+)\)$", re.M)
_GREATER = re.compile(r"The numbers of (\d+) of the wrong options must be greater")
_LET = re.compile(r"have this too: it says '(\w+)'")
_AVOID = re.compile(r"Avoid this in wrong options: it says '(\w+)'")
_PEOPLE = ("Mara", "Jonas", "the old sailor", "the young doctor", "her brother", "the widow")


def draw(*parts: object) -> float:
    """A number from 0 to 1 that depends on these alone."""
    digest = hashlib.sha256(repr(parts).encode()).digest()
    return int.from_bytes(digest[:6], "big") / 2**48


def pick(choices: Sequence[str], *parts: object) -> str:
    """One of these, which depends on the parts alone."""
    return choices[int(draw("pick", *parts) * len(choices))]


_LONG = [word for word in (*_COLOURS, *_THINGS) if len(word) > 4]


def text_of(length: int, *name: object) -> str:
    """Words of so many characters together, which depend on the name."""
    words, number = "", 0
    while len(words) < length:
        words += pick(_LONG, "w", number, name) + " "
        number += 1
    return words[: length - 1].strip().ljust(length, "s").capitalize()


def deed_of(lengths: Sequence[int], *name: object) -> str:
    """What somebody does, in one of so many characters."""
    places = _PLACES.split()
    fitting = [
        text.capitalize()
        for deed in _DEEDS
        for place in (*places, *(f"{colour} {place}" for colour in _COLOURS for place in places))
        if len(text := f"{deed} the {place}") in lengths
    ]
    return pick(fitting, "deed", name) if fitting else text_of(max(lengths), "deed", name)


def rewritten(prompt: str) -> list[dict[str, str]]:
    """Write the wrong options of a prompt anew, as it wants them."""
    found = OPTION.findall(prompt)
    if greater := _GREATER.search(prompt):
        key = re.search(r"The right answer is: \D*(\d+)", prompt)
        assert key
        step, first = 1 + int(7 * draw("step", prompt)), int(greater[1])
        steps = [*range(1, first + 1), *range(-1, first - len(found) - 1, -1)]
        return [{"text": f"{int(key[1]) + step * each} people"} for each in steps]
    texts = []
    for place, (text, low, high) in enumerate(found):
        for word in _AVOID.findall(prompt):
            text = re.sub(rf"\b{word}\b", pick(_THINGS, word, text), text)
        end = "".join(f" {word}" for word in _LET.findall(prompt)[:1]) if place % 2 else ""
        lengths = range(int(low), int(high) + 1)
        if end or len(text) not in lengths:
            length = lengths[int(draw("at", text) * len(lengths))] - len(end)
            is_deed = text.lower().startswith(_DEEDS)
            text = deed_of(lengths, place, prompt) if is_deed else text_of(length, place, prompt)
            text += end
        texts.append({"text": text})
    return texts


@dataclass
class Actors:
    """The models, what they know and how good they are.

    Who is called ``blind`` or ``blind-2`` is as good as ``skill`` says of ``blind``.
    """

    questions: int = 12  # in each of the writer's replies
    skill: Mapping[tuple[str, str], float] = field(default_factory=lambda: SURE)
    by_count: bool = False
    shares: Mapping[str, float] = field(default_factory=lambda: SHARES)
    interrupt: Callable[[str, str], Reply | None] | None = None  # by model and prompt: instead
    longest: float = 0.0  # the share of questions whose key is made the longest option
    planted: dict[str, tuple[str, str]] = field(default_factory=dict)  # question: kind, key
    asked: Counter[str] = field(default_factory=Counter)  # by model
    lock: threading.Lock = field(default_factory=threading.Lock)
    _times: Counter[tuple[str, str]] = field(default_factory=Counter)

    def __call__(self, body: dict[str, Any], _number: int) -> Reply | None:
        model, prompt = body["model"], said_to(body)
        with self.lock:
            self.asked[model] += 1
        instead = self.interrupt and self.interrupt(model, prompt)
        if instead is not None:
            return instead
        part = model.split("-")[0]
        if part == "captioner":
            colour, thing = pick(_COLOURS, prompt), pick(_THINGS, prompt)
            return completion(f"A {colour} room; people look at a {thing}.")
        if part == "writer" and OPTION.search(prompt):
            return completion(json.dumps({"distractors": rewritten(prompt)}))
        if part == "writer":
            return completion(json.dumps({"questions": self.write(prompt)}))
        return completion(self.choose(model, part, prompt))

    def write(self, prompt: str) -> list[dict[str, Any]]:
        """Write questions, each planted as one of the kinds."""
        scenes = len(re.findall(r"^### Scene \d+", prompt, re.M))
        return [self.one(scenes, prompt, number) for number in range(self.questions)]

    def one(self, scenes: int, *name: object) -> dict[str, Any]:
        """Write one question; all of it depends on its name."""
        thing = f"{pick(_COLOURS, 'c', name)} {pick(_THINGS, 't', name)}"
        digits = str.maketrans("0123456789", "ghijklmnop")
        word = hashlib.sha256(repr(name).encode()).hexdigest()[:8].translate(digits)
        who = pick(_PEOPLE, "p", name)
        question = f"What does {who} do with the {thing} once the {word} has ended?"
        deeds = sorted(_DEEDS, key=lambda deed: draw(deed, name))[:5]
        places = _PLACES.split()
        options = [f"{deed.capitalize()} the {pick(places, deed, name)}" for deed in deeds]
        if self.longest:
            deeds = (deed_of(range(22, 38), number, name) for number in range(20))
            options = list(dict.fromkeys(deeds))[:5]
        if draw("longest", name) < self.longest:
            options.sort(key=len, reverse=True)
        kind = self.kind_of(name)
        with self.lock:
            self.planted[question] = (kind, options[0])
        return {
            "question": question,
            "answer": options[0],
            "distractors": options[1:],
            "reasoning": f"It is seen; this one is {kind}.",
            "scenes": [1 + int(scenes * draw("scene", name))],
        }

    def kind_of(self, name: object) -> str:
        """Draw one of the kinds by their shares."""
        chance, kind = draw("kind", name), KINDS[0]
        for kind in KINDS:
            chance -= self.shares[kind]
            if chance < 0:
                break
        return kind

    def choose(self, model: str, part: str, prompt: str) -> str:
        """Answer with a letter, right as often as this part of the cast is about this kind."""
        question = next(line for line in prompt.splitlines() if line in self.planted)
        kind, key = self.planted[question]
        options = dict(re.findall(r"^([A-Z])\. (.+)$", prompt, re.M))
        with self.lock:
            number = self._times[model, question]
            self._times[model, question] += 1
        place = (question, number) if self.by_count else (prompt,)
        right = draw(model, *place) < self.skill[part, kind]
        letters = [letter for letter, text in options.items() if (text == key) == right]
        return pick(letters, "letter", model, *place)


def said_to(body: Mapping[str, Any]) -> str:
    """All text of a request."""
    contents = [message["content"] for message in body["messages"]]
    parts = [
        part if isinstance(part, str) else part.get("text", "")
        for content in contents
        for part in ([content] if isinstance(content, str) else content)
    ]
    return "\n".join(parts)


@contextmanager
def on_stage(
    folder: Path, actors: Actors, latency: float = 0.0, **card: Any
) -> Iterator[tuple[Server, list[str]]]:
    """Serve the actors; yield the server and the words of the command that give them roles."""
    with serving(actors, latency) as server:
        yield server, roles(folder, server.url, **card)


def roles(folder: Path, url: str, names: Iterable[str] = ROLES, **card: Any) -> list[str]:
    """Write a card for each role, and return the options that name them."""
    words = []
    for role in names:
        words += ["--model", f"{role}={write_card(folder, role, url, **card)}"]
    return words


def write_card(folder: Path, name: str, url: str, **more: Any) -> Path:
    """Write the card of one model."""
    card = {
        "name": name, "endpoint": url, "backoff": 0.01, "price": {"input": 1.0, "output": 2.0},
        "parameters": {"temperature": 1}, **more,
    }  # fmt: skip
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.yaml"
    path.write_text(yaml.safe_dump(card))
    return path


def write_movie(source: Path, name: str, videos: Sequence[Path], captions: str = "") -> Path:
    """Write the folder of a film whose scenes are these videos."""
    folder = source / name
    folder.mkdir(parents=True)
    scenes = []
    for number, video in enumerate(videos, 1):
        target = folder / f"{number:02d}{video.suffix}"
        target.write_bytes(video.read_bytes())
        words = captions or f"Line {number} of {name}."
        target.with_suffix(".srt").write_text(f"1\n00:00:00,100 --> 00:00:00,900\n{words}\n")
        scenes.append(
            {"video": target.name, "title": f"Title {number}", "logline": f"Log-line {number}."}
        )
    content = {"title": f"Film {name}", "summary": f"What happens in {name}.", "scenes": scenes}
    (folder / "movie.yaml").write_text(yaml.safe_dump(content))
    return folder


def tiny_videos(folder: Path, count: int = 2) -> list[Path]:
    """Videos of a second or a little more, each of another length."""
    folder.mkdir(parents=True, exist_ok=True)
    return [
        make_video(folder / f"{number}.mp4", seconds=1 + number / 5, rate=5)
        for number in range(count)
    ]


def perform(words: Sequence[str], told: str) -> None:
    """Run a command as a process that may be killed; what it says goes into a file."""
    progress._LINE_SECONDS = NEVER
    with open(told, "a") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
        sys.stdout = sys.stderr = file
        sys.exit(run_here(*words))
