"""One server that plays every model of MuseBench, each by what it finds in its prompt.

Writers have planted faults. A fault of the loop is made until the text of a rule against it is in
the prompt; a fault that the linter has a tag for is made at the first try, and again by who never
learns. Reviewers see what was planted and nothing else.
"""

import json
import re
import threading
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from actors import pick, said_to
from loop_actors import Cast, Plant
from muse_operators import BESIDE, CLIP, MARKS
from muse_writers import POINTS, WRONG
from servers import Reply, completion

from reelbench.interop.musebench.taxonomy import CATEGORIES, SUBDOMAINS

CINEMA, STATIC, STAGE, GAME = CATEGORIES
FAMILIES = {"cinema": CINEMA, "static": STATIC, "stage": STAGE, "game": GAME}
ESSAYS = {**MARKS, **BESIDE}
THINGS = ("lamp", "door", "bridge")  # of the first, second and third clip
COLOURS = ("pale", "golden", "crimson", "purple", "silver", "turquoise", "pink", "brown", "yellow",
           "scarlet", "violet", "white", "grey")  # fmt: skip
COLOUR = dict(zip(ESSAYS, COLOURS, strict=True))
FAR = "it lies in another clip"  # what a reviewer notes of a range that is not the thing's
NAMED, SEEN = "Tell the player which game it is.", "Say only what is on the screen."


@dataclass(frozen=True)
class Second(Plant):
    """A failure that appears with one rule, and goes with its own."""

    def shows(self, prompt: str) -> bool:
        return self.caused in prompt and self.rule not in prompt


def _chain(length: int) -> dict[str, Plant]:
    """Failures each of which comes with the rule against the one before."""
    rules = [f"Avoid what vague word number {n} did." for n in range(length)]
    return {
        f"ambiguous stem: vague word {n}": (
            Second("writer", f"vaguely {n} times", rule, caused=rules[n - 1])
            if n
            else Plant("writer", "vaguely 0 times", rule)
        )
        for n, rule in enumerate(rules)
    }


ABSTRACT, NARRATED = "the deeper essence of it all", "like an unseen vellum oath"
PLANTS: Mapping[str, Mapping[str, Plant]] = {
    CINEMA: {
        "ambiguous stem: abstract register": Plant("writer", ABSTRACT, "Ask about one shot."),
        "narrator-dependent: answer only in the narration": Plant(
            "writer", NARRATED, "Key only what can be seen or heard."
        ),
        "weak or wrong distractor: synonym of the key": Plant(
            "distractor", "draws our gaze ahead", "No wrong option may restate the key."
        ),
        "misaligned clips: another scene": Plant("matcher", FAR, "Stay with what the stem names."),
    },
    STATIC: {},
    STAGE: _chain(5),
    GAME: {
        "ambiguous stem: abstract register": Plant("writer", ABSTRACT, NAMED, (NAMED, SEEN)),
        "narrator-dependent: points at the title": Second(
            "writer", "as in that famous game", SEEN, caused=NAMED, withdraws=NAMED
        ),
    },
}
REVIEWED, AUDITED = "You review a question", "You audit a benchmark"


def category_of(essay: str) -> str:
    return FAMILIES.get(essay.partition("-")[0], CINEMA)


@dataclass
class MuseModels:
    """The models, what they know, and what they were asked."""

    plants: Mapping[str, Mapping[str, Plant]] = field(default_factory=lambda: PLANTS)
    instead: Callable[[str, str], Reply | None] = lambda _model, _prompt: None
    asked: Counter[str] = field(default_factory=Counter)  # by model
    bodies: list[dict[str, Any]] = field(default_factory=list)
    keys: dict[str, list[str]] = field(default_factory=dict)  # right answers, by question
    lock: threading.Lock = field(default_factory=threading.Lock)

    def __call__(self, body: dict[str, Any], _number: int) -> Reply | None:
        model, prompt = body["model"], said_to(body)
        with self.lock:
            self.asked[model] += 1
            self.bodies.append(body)
        instead = self.instead(model, prompt)
        if instead is not None:
            return instead
        is_repair = len(body["messages"]) > 1
        said = getattr(self, f"_{model.partition('-')[0]}", self._answer)(prompt, is_repair)
        return completion(said if isinstance(said, str) else json.dumps(said))

    def of(self, *models: str) -> list[dict[str, Any]]:
        """What some models were sent."""
        return [body for body in self.bodies if body["model"] in models]

    def _curator(self, prompt: str, _: bool) -> Any:
        if '"keywords"' in prompt:
            return {"keywords": ["analysis of lamps and doors"]}
        if '"is_relevant"' in prompt:
            if BESIDE["cartoon"] in prompt:
                return "I would rather talk about the weather."
            return {"is_relevant": True, "confidence": 0.9, "reason": "It analyses a work."}
        category = category_of(essay_in(prompt))
        return {"category": category, "confidence": 0.9, "reason": "It is about that."}

    def _vetter(self, prompt: str, _: bool) -> Any:
        kept = {"decision": "keep", "reason": "It serves.", "failure_mode": "none"}
        return {**kept, "category": category_of(essay_in(prompt))}

    def _captioner(self, prompt: str, _: bool) -> Any:
        essay = essay_in(prompt.partition("<speech>")[2].partition("</speech>")[0])
        found = re.search(r"frames of clip (\d+) of", prompt)
        assert found
        thing = THINGS[int(found[1]) - 1]
        return {
            "caption": f"There is a {COLOUR[essay]} {thing} at the end of the {ESSAYS[essay]}capt "
            "hall, and it is the only thing that glows while the camera moves to the right of it."
        }

    def _writer(self, prompt: str, is_repair: bool) -> Any:
        if "Which of these fields" in prompt:
            return self._subdomain(prompt)
        if "Failures have one of these dimensions" in prompt:
            return self._summarizer(prompt, is_repair)
        essay = essay_in(prompt)
        found = re.search(r"Write (\d) questions.+?Of these, (\d) shall", prompt, re.S)
        assert found
        count, multi = int(found[1]), int(found[2])
        written = [
            self._question(essay, n, "multi" if n >= count - multi else "single", prompt)
            for n in range(count)
        ]
        for number, kind in _FAULTY.get((essay, is_repair), {}).items():
            written[number] = kind(written[number])
        with self.lock:
            self.keys |= {each["question"]: keys_in(each) for each in written}
        return {"questions": written}

    def _question(self, essay: str, number: int, kind: str, prompt: str) -> dict[str, Any]:
        marks = self._marks("writer", category_of(essay), prompt)
        keys: list[str] = list(POINTS[number : number + 2])
        if NARRATED in marks:
            keys = [f"{keys[0]} {NARRATED}", keys[1]]
            marks.remove(NARRATED)
        said = f", {' '.join(marks)}," if marks else ""
        return {
            "kind": kind,
            "cited_clips": [number + 1],
            "question": f"A {COLOUR[essay]} {THINGS[number]} glows at the far end of a dark hall "
            f"while the rest stays black; what{said} does this do for who watches, and why?",
            **({"answer": keys[0]} if kind == "single" else {"answers": keys}),
            "core_intent": "guide without words",
            "reasoning": "The glow is all that is seen.",
        }

    def _marks(self, role: str, category: str, prompt: str) -> list[str]:
        plants = self.plants[category].values()
        return [plant.mark for plant in plants if plant.role == role and plant.shows(prompt)]

    def _subdomain(self, prompt: str) -> Any:
        category = next(name for name in CATEGORIES if f"a work of {name}" in prompt)
        place = next(n for n, thing in enumerate(THINGS) if f" {thing} glows" in prompt)
        known = list(SUBDOMAINS[category])
        return {"reason": "So.", "subdomain": known[place % len(known)], "confidence": 0.9}

    def _matcher(self, prompt: str, _: bool) -> Any:
        essay, place = asked_in(prompt)
        far = self._marks("matcher", category_of(essay), prompt)
        clip = 1 + (place + bool(far)) % len(THINGS)
        return {"reason": "There it glows.", "first": clip, "last": clip}

    def _distractor(self, prompt: str, is_repair: bool) -> Any:
        found = re.search(r"Write (\d) wrong options", prompt)
        assert found
        essay, place = asked_in(prompt)
        keys = len(re.findall(r'"explanation": "\.\.\."}', prompt)) - 1
        names = re.findall(r"^- ([a-z -]+): ", prompt.partition("strategies,")[2], re.M)
        texts = list(WRONG[: int(found[1])])
        if self._marks("distractor", category_of(essay), prompt):
            texts[0] = "A soft shine draws our gaze ahead, and so one walks on without an order"
        change = _OPTIONS.get((essay, place))
        if change and (not is_repair or change is _begun_alike):
            key = re.findall(r"^The right answer is: (?:\n?- )?(.+)$", prompt, re.M)[0]
            texts = change(texts, key)
        return {
            "answers": [{"explanation": "It is seen."}] * keys,
            "distractors": [
                {"text": text, "strategy": names[n % 7], "from_context": bool(n % 2),
                 "explanation": "It is not seen."}
                for n, text in enumerate(texts)
            ],
        }  # fmt: skip

    def _reviewer(self, prompt: str, _: bool) -> Any:
        if prompt.startswith(AUDITED):
            return {"issues": []}
        essay, place = asked_in(prompt.partition("Question (")[2])
        span = re.search(r"Its clips: \S+, (\d+) s to", prompt)
        assert span
        far = FAR if int(span[1]) != CLIP * place else ""
        return Cast(self.plants[category_of(essay)]).review(f"{prompt}{far}")

    def _summarizer(self, prompt: str, _: bool) -> Any:
        category = next(name for name in CATEGORIES if f"benchmark about {name} are" in prompt)
        return Cast(self.plants[category]).summarise(prompt)

    def _reader(self, prompt: str, _: bool) -> str:
        return self._chosen(prompt, knows=True)

    def _watcher(self, prompt: str, _: bool) -> str:
        return self._chosen(prompt, knows=asked_in(prompt) != ("cinema-3", 2))

    def _answer(self, prompt: str, _: bool) -> str:
        """Who is evaluated, and who is shown nothing, guesses."""
        return pick(re.findall(r"^([A-Z])\. ", prompt, re.M), prompt)

    def _chosen(self, prompt: str, knows: bool) -> str:
        question = next(line for line in prompt.splitlines() if line in self.keys)
        options = dict(re.findall(r"^([A-Z])\. (.+)$", prompt, re.M))
        right = [letter for letter, text in options.items() if text in self.keys[question]]
        wrong = [letter for letter in options if letter not in right]
        return ", ".join(right) if knows else wrong[0]


def essay_in(text: str) -> str:
    """The essay whose word a text has."""
    return next(name for name, mark in ESSAYS.items() if mark in text)


def asked_in(text: str) -> tuple[str, int]:
    """The essay and the place of the thing that a question is about."""
    found = re.search(rf"A (\w+) ({'|'.join(THINGS)}) glows at the far end", text)
    assert found, text
    essay = next(name for name, colour in COLOUR.items() if colour == found[1])
    return essay, THINGS.index(found[2])


def keys_in(question: Mapping[str, Any]) -> list[str]:
    return [key.strip() for key in question.get("answers", [question.get("answer", "")])]


Written = dict[str, Any]


def _listing(question: Written) -> Written:
    listed = " (A) to scare (B) to soothe (C) to amuse"
    return {**question, "question": question["question"].replace("?", f":{listed}?")}


def _with_answers(count: int) -> Callable[[Written], Written]:
    def change(question: Written) -> Written:
        bare = {name: value for name, value in question.items() if name != "answer"}
        return {**bare, "kind": "multi", "answers": list(POINTS[:count])}

    return change


def _loose(question: Written) -> Written:
    answer = {"answer": f"  {question['answer']} "} if "answer" in question else {}
    return {**question, **answer}


# What the linter has a tag for, by essay and whether it is the second try: the places of questions.
_FAULTY: Mapping[tuple[str, bool], Mapping[int, Callable[[Written], Written]]] = {
    ("cinema-2", False): {1: _with_answers(0)},
    ("static-1", False): {1: _listing},
    ("static-2", False): {0: _loose},
    ("game-2", False): {1: _with_answers(1)},
    ("game-2", True): {1: _with_answers(1)},
}


def _repeated(texts: list[str], key: str) -> list[str]:
    return [key, *texts[1:]]


def _all_alike(texts: list[str], key: str) -> list[str]:
    return [f"{key[:52]} in way {n}" for n, _ in enumerate(texts)]


def _begun_alike(texts: list[str], _key: str) -> list[str]:
    return [f"{WRONG[0][:60]} in way {n}" for n, _ in enumerate(texts)]


_OPTIONS: Mapping[tuple[str, int], Callable[[list[str], str], list[str]]] = {
    ("cinema-2", 0): _repeated,
    ("static-2", 0): _all_alike,
    ("game-2", 0): _begun_alike,
}
