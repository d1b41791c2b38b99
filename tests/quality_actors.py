"""A server that plays the writer and the reviewers of Q-Bench-Video, and datasets of tiny videos.

What the writer writes depends on the words and the pictures of the request, and its keys are all
yes where they can be. Who reviews knows the key of every question; the second reviewer disputes
those that were ordered with some words.
"""

import contextlib
import hashlib
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

import yaml
from actors import draw, roles, said_to
from filming import Told
from servers import Reply, completion, serving
from support import run_here
from videos import make_video

from reelbench.recipes.qbench_video.rows import ScoredVideo

REVIEWERS = ("reviewer-1", "reviewer-2", "reviewer-3")
_DAMAGES = ("strong blur", "heavy noise", "visible blocks", "colour banding", "slight flicker")


@dataclass
class Critics:
    """The models, and what they were asked."""

    disputed: str = ""  # words of the order for questions on which the second reviewer errs
    instead: Callable[[str, str], Reply | None] | None = None
    keys: dict[str, str] = field(default_factory=dict)  # by question
    opposites: dict[str, str] = field(default_factory=dict)  # the same of those that were turned
    asked: Counter[str] = field(default_factory=Counter)  # by model
    bodies: list[dict[str, Any]] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def __call__(self, body: dict[str, Any], _number: int) -> Reply | None:
        model, prompt = body["model"], said_to(body)
        with self.lock:
            self.asked[model] += 1
            self.bodies.append(body)
        instead = self.instead and self.instead(model, prompt)
        if instead is not None:
            return instead
        if model.startswith("reviewer"):
            return completion(self.review(model, prompt))
        if "asks the opposite" in prompt:
            question = next(line for line in prompt.splitlines() if line.endswith("high?"))
            opposite = question.replace("high?", "low?")
            with self.lock:
                self.opposites[opposite] = "No"
            return completion(json.dumps({"question": opposite}))
        return completion(json.dumps(self.write(prompt, seen_in(body))))

    def write(self, prompt: str, seen: str) -> dict[str, Any]:
        digest = hashlib.sha256(f"{prompt}{seen}".encode()).hexdigest()[:8]
        word = digest.translate(str.maketrans("0123456789", "ghijklmnop"))
        if self.disputed and self.disputed in prompt:
            word = f"faint {word}"
        both = (
            "in the first video against the second one" if "Video 2" in prompt else "in this video"
        )
        concerns = ["AIGC", "Temporal"] if "- AIGC:" in prompt else ["Technical"]
        said: dict[str, Any] = {"concerns": concerns, "reasoning": f"It is seen at {word}."}
        if '"distractors"' in prompt:
            answer, *wrong = sorted(_DAMAGES, key=lambda each: draw(each, word))[:4]
            said |= {"question": f"What is wrong with {word} {both}?", "answer": answer}
            said["distractors"] = wrong
        elif '"reference"' in prompt:
            said["question"] = f"Why does {word} look as it does {both}?"
            said["reference"] = f"There is {_DAMAGES[0]} on {word}, which hides its outline."
        else:
            said["question"] = f"Is the clarity of {word} {both} high?"
            said["answer"] = "Yes"
        with self.lock:
            self.keys[said["question"]] = said.get("answer", "")
        return said

    def review(self, model: str, prompt: str) -> str:
        keys = self.keys | self.opposites
        question = next(line for line in prompt.splitlines() if line in keys)
        errs = model == "reviewer-2" and " faint " in question
        if not keys[question]:
            assert f"There is {_DAMAGES[0]} on" in prompt, "an open question without its reference"
            return json.dumps({"reason": "It is seen.", "agree": not errs})
        options = dict(re.findall(r"^([A-Z])\. (.+)$", prompt, re.M))
        return next(letter for letter, text in options.items() if (text == keys[question]) != errs)


def seen_in(body: Mapping[str, Any]) -> str:
    """A name for the pictures of a request."""
    parts = [part for message in body["messages"] for part in message["content"]]
    urls = [part["image_url"]["url"] for part in parts if part["type"] == "image_url"]
    return hashlib.sha256("".join(urls).encode()).hexdigest()


@dataclass
class Gallery:
    """Datasets, who plays the models, and the command."""

    root: Path
    critics: Critics
    words: list[str]

    @property
    def source(self) -> Path:
        return self.root / "sources"

    def make(self, out: Path, *more: object, source: Path | None = None) -> Told:
        before, said, told = self.critics.asked.copy(), io.StringIO(), io.StringIO()
        words = ["make", "qbench-video", "--source", source or self.source, "--out", out]
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(told):
            status = run_here(*words, *more)
        return Told(status, said.getvalue(), told.getvalue(), self.critics.asked - before)


@contextmanager
def gallery(
    root: Path, critics: Critics, reviewers: Sequence[str] = REVIEWERS
) -> Iterator[Gallery]:
    """Serve the models; two datasets are ready, one of them of generated videos."""
    with serving(critics) as server:
        words = roles(root, server.url, ["writer"])
        for name in reviewers:
            card = roles(root, server.url, [name])[1].partition("=")[2]
            words += ["--model", f"reviewer={card}"]
        hang(root / "sources")
        yield Gallery(root, critics, words)


def hang(source: Path) -> None:
    """Write two datasets of tiny videos with their scores."""
    for folder, count in (("park", 12), ("dream", 7)):
        (source / folder).mkdir(parents=True)
        for number in range(count):
            path = source / folder / f"{folder}{number}.mp4"
            make_video(path, seconds=1 + number / 5, rate=5, seed=10 * count + number)
    rows = [f"park{number},{1 + number * 0.35:.2f}" for number in range(12)]
    rows += ["park99,3.3", "park0x,NaN"]  # a video that is not there, and one without a score
    (source / "park.csv").write_text("\n".join(["id,mos", *rows]) + "\n")
    scores = {f"dream{number}.mp4": 50 + 5 * number for number in range(7)}
    (source / "dream.json").write_text(json.dumps(scores))
    park = {"name": "park", "type": "natural", "scores": "park.csv", "video": "id"}
    park |= {"score": "mos", "videos": "park", "sample": 10, "pairs": 4}
    dream = {"name": "dream", "type": "AIGC", "scores": "dream.json", "videos": "dream"}
    dream |= {"sample": 6, "pairs": 3}
    write_datasets(source, park, dream)


def write_datasets(source: Path, *datasets: Mapping[str, Any]) -> Path:
    """Write what a source is."""
    source.mkdir(parents=True, exist_ok=True)
    path = source / "datasets.yaml"
    path.write_text(yaml.safe_dump({"datasets": [dict(each) for each in datasets]}))
    return path


def scored(*scores: float, wanted: int | None = None, dataset: str = "set") -> list[ScoredVideo]:
    """Videos with these scores, of which so many are wanted."""
    return [
        ScoredVideo(
            id=f"{dataset}:{number}",
            dataset=dataset,
            content="natural",
            name=str(number),
            score=float(score),
            path="",
            sample=wanted,
        )
        for number, score in enumerate(scores)
    ]
