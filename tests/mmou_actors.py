"""A server that plays the models of MMOU, and a folder of videos with questions about them.

What is seen and what is heard in a video is told by its file, so that captions, options and checks
can be predicted. A wrong option is written from what the account has, or from what it lacks.
"""

import contextlib
import csv
import io
import json
import re
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from actors import draw, pick, said_to, write_card
from filming import Told
from servers import Reply, Server, completion, serving
from support import run_here
from videos import make_video

CAPTIONERS = ("picture-captioner", "sound-captioner", "fuser")
WRITERS = (*CAPTIONERS, "distractor")
CHECKERS = ("reader", "watcher", "listener")
HEARING = ("sound-captioner", "listener")
SEEN = ("a golden lamp hangs over the harbour", "a crimson kite drifts past the tower",
        "a silver drum rolls across the bridge", "a purple ribbon waves beside the stable")  # fmt: skip
HEARD = ("a violin plays slowly", "thunder rumbles twice", "a child laughs loudly",
         "somebody whistles a march")  # fmt: skip
NOWHERE = ("an olive feather sinks into some soup", "an amber mirror breaks upon granite",
           "a pale needle vanishes beneath snow", "a brown paddle splinters near coral",
           "a grey candle melts inside an oven", "a white letter burns among reeds")  # fmt: skip
QUESTION = "What happens right after the bell of {name} number {number} has rung?"
ANSWER = "a green coin spins on the {place} table"
_PLACES = ("round", "square", "broken", "painted", "dusty", "narrow")
SKILLS = ("Temporal Understanding", "Needle", "Counting", "Inference")


@dataclass
class OmniModels:
    """The models, how good the checkers are, and what all were asked."""

    knows: Callable[[str, str, str], bool] = lambda _model, _question, _prompt: False
    instead: Callable[[str, str], Reply | str | None] = lambda _model, _prompt: None
    asked: Counter[str] = field(default_factory=Counter)
    bodies: list[dict[str, Any]] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)
    keys: dict[str, str] = field(default_factory=dict)  # by question

    def __call__(self, body: dict[str, Any], _number: int) -> Reply | None:
        model, prompt = body["model"], said_to(body)
        with self.lock:
            self.asked[model] += 1
            self.bodies.append(body)
        instead = self.instead(model, prompt)
        if instead is not None:
            return completion(instead) if isinstance(instead, str) else instead
        if model == "picture-captioner":
            return completion(json.dumps({"caption": told(SEEN)}))
        if model == "sound-captioner":
            return completion(json.dumps({"caption": told(HEARD)}))
        if model == "fuser":
            return completion(json.dumps(fused(prompt)))
        if model == "distractor":
            return completion(json.dumps(self.options(prompt)))
        return completion(self.choose(model, prompt))

    def options(self, prompt: str) -> dict[str, Any]:
        question = next(line for line in prompt.splitlines() if line.startswith("What happens"))
        key = re.findall(r"^The right answer is: (.+)$", prompt, re.M)[0]
        with self.lock:
            self.keys[question] = key
        inside = [f"{text} just then" for text in (*SEEN[:2], *HEARD[:2])]
        return lettered(key, inside, [f"{text} just then" for text in NOWHERE[:5]])

    def choose(self, model: str, prompt: str) -> str:
        """Answer with the right letter where this model knows, else with a wrong one."""
        question = next(line for line in prompt.splitlines() if line in self.keys)
        options = dict(re.findall(r"^([A-Z])\. (.+)$", prompt, re.M))
        right = self.knows(model, question, prompt)
        fitting = [each for each, text in options.items() if (text == self.keys[question]) == right]
        return pick(fitting or sorted(options), model, prompt)


def told(things: Sequence[str]) -> str:
    return f"{'. Then '.join(things)}, and that is all of it to the end of the recording."


def fused(prompt: str) -> dict[str, str]:
    pictures, sound = re.findall(r"<(?:seen|heard)>\n(.*?)\n</", prompt, re.S)
    return {
        "caption": f"{pictures} Meanwhile: {sound}",
        "visuals": "There are objects that move.",
        "speech": "There is nothing of it.",
        "sound": "There is thunder.",
        "music": "There is a violin.",
    }


def lettered(key: str, inside: Sequence[str], outside: Sequence[str]) -> dict[str, Any]:
    """A reply of the distractor's writer."""
    options = dict(zip("ABCDEFGHIJKLMNOP", [key, *inside, *outside], strict=False))
    return {
        "correct_option_letter": "A",
        "correct_mcq_option_text": key,
        "options": options,
        "option_explanations": {letter: f"because of {letter}" for letter in options},
    }


@dataclass
class Station:
    """A source, who plays the models, and the command."""

    root: Path
    models: OmniModels
    server: Server

    @property
    def source(self) -> Path:
        return self.root / "source"

    def roles(self, *names: str) -> list[str]:
        words = []
        for name in names:
            more = {"hears": True, "sees": False} if name in HEARING else {}
            card = write_card(self.root / "cards", name, self.server.url, **more)
            words += ["--model", f"{name}={card}"]
        return words

    def make(self, out: Path, *more: object, recipe: str = "mmou", **instead: Any) -> Told:
        before, said, heard = self.models.asked.copy(), io.StringIO(), io.StringIO()
        words = ["make", recipe, "--source", instead.get("source", self.source), "--out", out]
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(heard):
            status = run_here(*words, *more)
        return Told(status, said.getvalue(), heard.getvalue(), self.models.asked - before)


@contextmanager
def station(root: Path, models: OmniModels, **source: Any) -> Iterator[Station]:
    """Serve the models; a source is ready."""
    with serving(models) as server:
        write_source(root / "source", **source)
        yield Station(root, models, server)


def question_row(video: str, number: int, **fields: Any) -> dict[str, Any]:
    """A question as people write it."""
    name = Path(video).stem
    return {
        "video": video,
        "question": QUESTION.format(name=name, number=number),
        "answer": ANSWER.format(place=_PLACES[number % len(_PLACES)]),
        "start_time": "00:00",
        "end_time": "00:01",
        "skills": [SKILLS[number % 4], SKILLS[(number + 1) % 4]],
        "author": "ann",
    } | fields


def write_source(
    source: Path, videos: int = 2, questions: int = 2, rows: Sequence[Any] | None = None
) -> Path:
    """Write short videos with sound, the list of them and questions about each."""
    (source / "media").mkdir(parents=True)
    paths = [f"media/clip{number}.mp4" for number in range(videos)]
    for number, path in enumerate(paths):
        make_video(source / path, seconds=1.2 + number / 5, sound=1.2 + number / 5, rate=5)
    write_videos(source, paths)
    rows = [question_row(p, n) for p in paths for n in range(questions)] if rows is None else rows
    write_questions(source, rows)
    return source


def write_videos(source: Path, paths: Sequence[str], **fields: str) -> None:
    plain = {"domain": "News", "subcategory": "World News", "url": "https://videos.example/1"}
    with (source / "videos.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, ["video", *plain])
        writer.writeheader()
        writer.writerows({"video": path, **plain, **fields} for path in paths)


def write_questions(source: Path, rows: Sequence[Any]) -> None:
    text = "".join(f"{row if isinstance(row, str) else json.dumps(row)}\n" for row in rows)
    (source / "questions.jsonl").write_text(text)


def by_chance(share: Mapping[str, float]) -> Callable[[str, str, str], bool]:
    """A model knows this share of the answers, by the words that it is asked."""
    return lambda model, _, prompt: draw(model, prompt) < share.get(model, 0.0)


def read_items(out: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (out / "items.jsonl").read_text().splitlines()]


def rejects(out: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (out / "rejects.jsonl").read_text().splitlines()]
