"""Planted worlds: what pictures or sound alone solve is dropped, and what needs both is kept.

The videos are rendered from scenes whose truth is known. A circle turns into another colour four
times, each time with a sound: three clicks and a beep. Which colour comes last is seen; how many
clicks come before the beep is heard; which colour comes with the beep is known to who sees and
hears. The models decode what they are shown: one reads pixels, one reads samples, and where they
perceive nothing of use they guess.
"""

import base64
import hashlib
import io
import re
import wave
from collections import Counter
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from actors import pick, said_to
from parts import Studio
from PIL import Image
from servers import Reply, completion
from support import make_item

from reelbench.base.seeds import rng_for
from reelbench.data.items import Item, Media, freeze
from reelbench.make.pipeline.funnel import funnel_record
from reelbench.recipes import load_recipe
from reelbench.world.render import synthesize
from reelbench.world.scene import COLOURS, HEIGHT, WIDTH, Actor, Event, Scene, Shot

VIDEOS, TIMES = 6, (0.5, 1.0, 1.5, 2.0)
SEEN = "Which colour does the circle have last?"
HEARD = "How many clicks are heard before the beep?"
BOTH = "Which colour does the circle turn into when the beep is heard?"
STAGES = ("text-only", "visual-only", "audio-only")


def planted(number: int) -> tuple[Scene, dict[str, str]]:
    """A scene, and the answers to the three questions about it."""
    rng = rng_for(7, "planted", number)
    colours = rng.sample(list(COLOURS), len(TIMES) + 1)
    beep = number % len(TIMES)
    events = tuple(
        Event(time, "recolour", ("circle",), colour, "beep" if place == beep else "click")
        for place, (time, colour) in enumerate(zip(TIMES, colours[1:], strict=True))
    )
    circle = Actor(
        "circle", 0.0, 3.0, tuple(zip((0.0, *TIMES), colours, strict=True)), ((0.0, 40),),
        ((0.0, WIDTH / 2, HEIGHT / 2), (3.0, WIDTH / 2, HEIGHT / 2)),
    )  # fmt: skip
    scene = Scene(f"planted-{number}", 3, (Shot(0.0, 3.0, "fog"),), (circle,), events, 1.4, ())
    return scene, {SEEN: colours[-1], HEARD: str(beep), BOTH: colours[1 + beep]}


def question(number: int, text: str, answer: str) -> Item:
    options = tuple(map(str, range(4))) if text == HEARD else tuple(COLOURS)
    return make_item(
        number,
        id=f"{text.split()[-1].strip('?')}-{number}",
        media=(Media(f"planted-{number}.mp4"),),
        question=text,
        options=options,
        answer=("ABCDEFGH"[options.index(answer)],),
        tags=freeze({"needs": {SEEN: "pictures", HEARD: "sound", BOTH: "both"}[text]}),
    )


@lru_cache(maxsize=512)
def colour_in(url: str) -> str:
    """The colour in the middle of a picture."""
    raw = base64.b64decode(url.partition(",")[2])
    picture = np.asarray(Image.open(io.BytesIO(raw)).convert("RGB"), float)
    middle = picture[picture.shape[0] // 2, picture.shape[1] // 2]
    return min(COLOURS, key=lambda name: float(np.square(middle - COLOURS[name]).sum()))


@lru_cache(maxsize=64)
def sounds_in(data: str) -> tuple[str, ...]:
    """The sounds of a recording in order: a beep is a tone, a click is none."""
    with wave.open(io.BytesIO(base64.b64decode(data))) as file:
        rate, channels = file.getframerate(), file.getnchannels()
        samples = np.frombuffer(file.readframes(file.getnframes()), np.int16).astype(float)
    samples = samples.reshape(-1, channels).mean(axis=1)
    size = rate // 50
    loud = np.square(samples[: len(samples) // size * size].reshape(-1, size)).mean(axis=1)
    found, place = [], 0
    while place < len(loud):
        if loud[place] > 0.02 * loud.max():
            span = samples[place * size : place * size + 15 * size]
            power = np.square(np.abs(np.fft.rfft(span)))
            tone = np.abs(np.fft.rfftfreq(len(span), 1 / rate) - 1000) < 30
            found.append("beep" if power[tone].sum() > 0.5 * power.sum() else "click")
            place += 20
        place += 1
    return tuple(found)


def perceive(body: dict[str, Any], _number: int) -> Reply:
    """Answer from the pictures or the sound that a request has, and guess at the rest."""
    prompt = said_to(body)
    parts = [part for message in body["messages"] for part in message["content"]]
    colours = [colour_in(p["image_url"]["url"]) for p in parts if p["type"] == "image_url"]
    sounds = [sounds_in(p["input_audio"]["data"]) for p in parts if p["type"] == "input_audio"]
    options = {text: letter for letter, text in re.findall(r"^([A-Z])\. (.+)$", prompt, re.M)}
    likely = sorted(options)
    if SEEN in prompt and colours:
        likely = [colours[-1]]
    elif HEARD in prompt and sounds:
        likely = [str(sounds[0].index("beep"))]
    elif BOTH in prompt and colours:  # one of those that came up, whichever it was
        likely = sorted(set(colours) - {colours[0]})
    return completion(
        options[pick(likely, body["model"], hashlib.sha256(prompt.encode()).digest())]
    )


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The items through the recipe's three checks, which drop what is reliably solved."""
    folder = tmp_path_factory.mktemp("world")
    items = []
    for number in range(VIDEOS):
        scene, answers = planted(number)
        synthesize(folder / f"{scene.name}.mp4", scene, folder / f"{scene.name}.json")
        items += [question(number, text, answer) for text, answer in answers.items()]
    recipe = load_recipe("mmou").changed({f"{name}.drop": True for name in STAGES})
    stages = [stage for stage in recipe.stages if stage.name in STAGES]
    models = {
        "reader": ["reader"],
        "watcher": ["watcher"],
        "listener": [{"name": "listener", "sees": False, "hears": True}],
    }
    passed, _ = Studio(folder, perceive, models).take(items, *stages)
    rejected = {
        each.stage.name: Counter(
            row.tags["needs"]
            for row, result in zip(each.rows, each.results, strict=True)
            if result.rejected
        )
        for each in passed
    }
    funnel = {stage["stage"]: stage for stage in funnel_record(passed, ())["stages"]}
    return {"rejected": rejected, "out": passed[-1].out, "funnel": funnel}


def test_the_models_perceive_what_was_planted(tmp_path: Path) -> None:
    assert len({planted(number)[1][HEARD] for number in range(VIDEOS)}) == len(TIMES)


def test_what_pictures_alone_solve_is_dropped(kept: dict[str, Any]) -> None:
    assert kept["rejected"]["visual-only"]["pictures"] == VIDEOS


def test_what_sound_alone_solves_is_dropped(kept: dict[str, Any]) -> None:
    assert kept["rejected"]["audio-only"]["sound"] == VIDEOS


def test_what_needs_both_is_kept(kept: dict[str, Any]) -> None:
    assert Counter(item.tags["needs"] for item in kept["out"]) == {"both": VIDEOS}


def test_words_alone_solve_nothing(kept: dict[str, Any]) -> None:
    assert kept["rejected"]["text-only"] == Counter()


@pytest.mark.parametrize(
    ("stage", "share"), [("text-only", 0.0), ("visual-only", 1 / 3), ("audio-only", 1 / 2)]
)
def test_the_planted_share_is_within_the_interval(
    stage: str, share: float, kept: dict[str, Any]
) -> None:
    low, high = kept["funnel"][stage]["interval"]
    assert low <= share <= high
    assert kept["funnel"][stage]["rate"] == pytest.approx(share)
