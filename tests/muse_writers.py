"""Models that write questions about a planted video essay, match, tag, distract and answer them."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

from actors import said_to
from parts import Studio
from servers import Reply, completion
from videos import make_video

from reelbench.base.files import digest_of
from reelbench.interop.musebench.taxonomy import CATEGORIES
from reelbench.make.pipeline.prompts import load_prompts
from reelbench.recipes.musebench.rows import Essay

GAME = "Game Arts"
CLIPS = 8
NARRATION = (
    "Look at how Mario runs to the right. In this level, Mario meets one lamp in the dark, and the "
    "lamp is the tutorial. Nintendo never writes a word. Quartz is the secret of it all."
)
CAPTIONS = [
    {
        "clip": n,
        "start": n - 1.0,
        "end": float(n),
        "caption": f"A lamp number {n} swings in a hall.",
    }
    for n in range(1, CLIPS + 1)
]
RECORD = {"video_id": "essay-1", "transcription": {"language": "en", "text": NARRATION}}
TEXTS = [json.dumps(CAPTIONS), json.dumps(RECORD)]
THINGS = ("lamp", "door", "bridge", "torch", "curtain")
POINTS = (
    "The warm glow pulls the eye forward, so that the player walks on without being told",
    "Darkness around it hides every other path, which makes the safe choice feel like a discovery",
    "Its slow swing keeps the hall alive and warns that nothing in this place stands firm",
    "Small steps of brightness measure the distance, so that patience is rewarded at each turn",
)
WRONG = (
    "Harsh flicker tires the eye on purpose, so that players rush past what they should study",
    "Colour codes each wall by danger, which lets a careful player read the map ahead of time",
    "Even brightness everywhere removes all tension and gives the player a rest after the fight",
    "A hidden timer speeds the pulse of the beam to push slow players out of the room",
    "Strong shadows mark the spot of an ambush, teaching players to fear each lit corner there",
    "Reflections on the wet floor double the room and make the way back harder to find again",
    "Dim tones copy an old photograph, so that the hall looks like a memory of better days",
)
SUBDOMAIN = "Interactive Visuals"


def essay(name: str = "essay-1", **fields: Any) -> Essay:
    plain: dict[str, Any] = {
        "id": name,
        "category": GAME,
        "title": "How Mario Teaches Without Words",
        "channel": "Pixel Mentor",
        "clip": f"media/{name}.mp4",
        "clips": tuple((each["start"], each["end"]) for each in CAPTIONS),
        "captions": digest_of(TEXTS[0]),
        "record": digest_of(TEXTS[1]),
    }
    return Essay(**(plain | fields))


def asked(number: int, kind: str = "single", **fields: Any) -> dict[str, Any]:
    """A question as a good writer writes it, clips first."""
    thing = THINGS[number % len(THINGS)]
    keys = {"answer": POINTS[0]} if kind == "single" else {"answers": list(POINTS[:2])}
    return {
        "kind": kind,
        "cited_clips": [number + 1, number + 2],
        "question": f"A small {thing} glows at the far end of a dark hall while the rest stays "
        "black; what does this light do for the player, and why?",
        **keys,
        "core_intent": "guide without words",
        "reasoning": "The glow is all that is seen.",
    } | fields


class MuseWriters:
    """Replies by the prompt that is asked; any of them can be replaced."""

    def __init__(
        self,
        questions: Sequence[Mapping[str, Any]] | None = None,
        match: Callable[[int], tuple[int, int]] = lambda first: (first, first + 1),
        confidence: float = 0.9,
        options: Callable[[list[str]], list[str]] = lambda texts: texts,
        answers: Mapping[str, Callable[[dict[str, str]], str]] | None = None,
    ) -> None:
        self.questions, self.match, self.confidence = questions, match, confidence
        self.options, self.answers = options, dict(answers or {})

    def __call__(self, body: Mapping[str, Any], _: int) -> Reply:
        prompt, who = said_to(body), body["model"]
        if who in self.answers:
            found = dict(re.findall(r"^([A-Z])\. (.+)$", prompt, re.M))
            return completion(self.answers[who](found))
        replies = {"pen": self._write, "eye": self._match, "wit": self._distract}
        reply = self._tag if "Which of these fields" in prompt else replies[who]
        return completion(json.dumps(reply(prompt)))

    def _write(self, prompt: str) -> Any:
        found = re.search(r"Write (\d) questions.+?Of these, (\d) shall", prompt, re.S)
        assert found
        count, multi = int(found[1]), int(found[2])
        kinds = ["multi"] * multi + ["single"] * (count - multi)
        usual = [asked(number, kind) for number, kind in enumerate(kinds)]
        return {"questions": usual if self.questions is None else list(self.questions)}

    def _match(self, prompt: str) -> Any:
        place = next(n for n, thing in enumerate(THINGS) if f"A small {thing} glows" in prompt)
        first, last = self.match(place + 1)
        return {"reason": "There it glows.", "first": first, "last": last}

    def _tag(self, _prompt: str) -> Any:
        return {"reason": "Guidance.", "subdomain": SUBDOMAIN, "confidence": self.confidence}

    def _distract(self, prompt: str) -> Any:
        found = re.search(r"Write (\d) wrong options", prompt)
        assert found
        keys = len(re.findall(r'"explanation": "\.\.\."}', prompt)) - 1
        names = re.findall(r"^- ([a-z -]+): ", prompt.partition("strategies,")[2], re.M)
        texts = self.options(list(WRONG))[: int(found[1])]
        return {
            "answers": [{"explanation": "It is seen."}] * keys,
            "distractors": [
                {"text": text, "strategy": names[n % 7], "from_context": bool(n % 2),
                 "explanation": "It is not seen."}
                for n, text in enumerate(texts)
            ],
        }  # fmt: skip


MODELS = {"writer": ["pen"], "matcher": ["eye"], "distractor": ["wit"]}
PROMPTS = load_prompts(files("reelbench.recipes.musebench"), None, list(CATEGORIES))


def studio(folder: Path, writers: MuseWriters, **fields: Any) -> Studio:
    plain = {"models": MODELS, "prompts": PROMPTS, "texts": TEXTS}
    return Studio(folder, writers, **(plain | fields))


def make_clip(folder: Path, name: str = "essay-1") -> None:
    """The video without its narrator, and what is left to be read of it."""
    media = folder / "media"
    media.mkdir(parents=True, exist_ok=True)
    make_video(media / f"{name}.mp4", seconds=float(CLIPS), rate=5, sound=float(CLIPS))
    (media / f"{name}.vtt").write_text("WEBVTT\n\n00:00.000 --> 00:08.000\nA bell is heard.\n")
