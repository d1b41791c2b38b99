"""Requests with frames and sound made of chance, and their replies with and without sharing."""

import io
import wave
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from reelbench.models.base import AudioPart, ImagePart, Message, Part, Request, TextPart
from reelbench.models.card import Card
from reelbench.models.local.generate import Generator
from reelbench.models.local.inputs import decoded, processed, prompt_text
from reelbench.models.local.prefix import token_group
from reelbench.models.local.weights import LoadedModel, load_weights

QUESTIONS = ("What is this?", "Why does the man in the red hat leave?", "How many?")


def frames(seed: int, count: int, step: float = 0.5) -> list[ImagePart]:
    """Frames of noise, whose times are farther and farther apart."""
    rng = np.random.default_rng(seed)
    found = []
    for number in range(count):
        file = io.BytesIO()
        noise = rng.integers(0, 256, (40, 48, 3), dtype=np.uint8)
        Image.fromarray(noise).save(file, "png")
        found.append(ImagePart(file.getvalue(), "image/png", step * number * (1 + number / 10)))
    return found


def sound(seed: int, seconds: float, rate: int = 16_000) -> AudioPart:
    """A tone under noise as a WAV file; another seed, another tone."""
    rng = np.random.default_rng(seed)
    file = io.BytesIO()
    with wave.open(file, "wb") as out:
        out.setnchannels(1)
        out.setsampwidth(2)
        out.setframerate(rate)
        count = round(rate * seconds)
        tone = np.sin(np.arange(count) * 2 * np.pi * 300 * (1 + 3 * seed) / rate)
        noise = 12_000 * tone + 500 * rng.standard_normal(count)
        out.writeframes(np.clip(noise, -32768, 32767).astype("<i2").tobytes())
    return AudioPart(file.getvalue(), "audio/wav", seconds)


def asked(*parts: Part, questions: Sequence[str] = QUESTIONS) -> list[Request]:
    """One request for each question, about the same media."""
    return [
        Request(text, (Message("user", (*parts, TextPart(text))),), "open", text)
        for text in questions
    ]


def loaded(folder: Path, **fields: Any) -> LoadedModel:
    parameters = {"dtype": "float32"}
    return load_weights(
        Card(name="m", backend="hf", model=str(folder), parameters=parameters, **fields)
    )


def generator(model: LoadedModel) -> Generator:
    return Generator(model, {"max_new_tokens": 8, "do_sample": False}, print)


def alone(model: LoadedModel, groups: Sequence[Sequence[Request]]) -> list[list[str | None]]:
    """The replies one by one, as the processor makes the input."""
    generate = generator(model)
    return [
        [
            generate.plain_replies(
                processed(model, [prompt_text(model, each)], [decoded(model, each)]),
                [each],
            )[0].text
            for each in group
        ]
        for group in groups
    ]


def together(model: LoadedModel, groups: Sequence[Sequence[Request]]) -> list[list[str | None]]:
    """The replies with what is shared computed once; all groups in one batch where that can be."""
    generate = generator(model)
    made = [token_group(model, group) for group in groups]
    parts = [group for group in made if group is not None]
    assert len(parts) == len(groups), "it shares nothing"
    found = generate.replies(parts[:1])
    if generate.joins:
        found = generate.replies(parts)
    else:
        found += [generate.replies([part])[0] for part in parts[1:]]
    return [[reply.text for reply in group] for group in found]
