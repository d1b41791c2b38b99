"""What is prepared in processes of its own is what threads prepare, and is answered the same."""

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from reelbench.models.base import ImagePart, Message, Request, Response, TextPart
from reelbench.models.card import Card
from reelbench.models.local.pipeline import InferencePipeline


def request(video: int, question: str) -> Request:
    parts: list[Any] = []
    for number in range(video + 2):
        pixels = np.random.default_rng([video, number]).integers(0, 255, (40, 60, 3), np.uint8)
        file = io.BytesIO()
        Image.fromarray(pixels).save(file, "PNG")
        parts.append(ImagePart(file.getvalue(), "image/png", float(number)))
    message = Message("user", (*parts, TextPart(question)))
    return Request(f"{video} {question}", (message,), "open", question)


GROUPS = [
    [request(video, question) for question in ("What?", "How many dogs are there?", "Who is it?")]
    for video in range(3)
]


def answers(tiny: Path, said: list[str], in_processes: bool, **parameters: Any) -> list[Response]:
    settings = {"max_new_tokens": 8, **parameters}
    card = Card(name="m", backend="hf", model=str(tiny), parameters=settings)
    pipeline = InferencePipeline(card, said.append, in_processes)
    try:
        return [each for group in GROUPS for each in pipeline.submit(group).result()]
    finally:
        pipeline.close()


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_processes_prepare_what_threads_do(tiny: Path, dtype: str) -> None:
    said: list[str] = []
    here = answers(tiny, said, in_processes=False, dtype=dtype)
    assert answers(tiny, said, in_processes=True, dtype=dtype) == here
    assert len({each.text for each in here}) > 3
    assert said == []


def test_what_cannot_be_prepared_there_is_told_here(tiny: Path) -> None:
    """A picture that is none costs its own request alone."""
    broken = Message("user", (ImagePart(b"no picture", "image/png", 0.0), TextPart("What?")))
    card = Card(name="m", backend="hf", model=str(tiny), parameters={"max_new_tokens": 8})
    pipeline = InferencePipeline(card, print, in_processes=True)
    try:
        futures = [pipeline.submit([Request("x", (broken,), "open", "What?")])]
        futures += [pipeline.submit(group) for group in GROUPS]
        ((failed,), *rest) = [future.result() for future in futures]
    finally:
        pipeline.close()
    assert failed.status == "error"
    assert "image" in (failed.error or "")
    assert all(each.replied for group in rest for each in group)


def test_a_video_longer_than_the_context_is_refused_with_its_tokens(tiny: Path) -> None:
    said: list[str] = []
    card = Card(name="m", backend="hf", model=str(tiny), parameters={"max_new_tokens": 8})
    pipeline = InferencePipeline(card, said.append)
    try:
        long = [request(0, "What?"), request(0, "word " * 1000)]
        short, refused = pipeline.submit(long).result()
    finally:
        pipeline.close()
    assert short.replied
    assert (refused.status, refused.input_tokens) == ("error", None)
    assert "tokens, and the model takes 4,096 with its reply" in (refused.error or "")
    assert len(said) == 1


def test_without_sharing_replies_are_the_same(tiny: Path) -> None:
    said: list[str] = []
    shared = answers(tiny, said, in_processes=False)
    assert answers(tiny, said, in_processes=False, share_prefix=False) == shared


class TestOutOfMemory:
    """A generator that takes only so many rows stands for a device with little memory."""

    def test_batches_are_halved_and_nothing_is_lost(
        self, tiny: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        import torch

        from reelbench.models.local.generate import Generator

        real = Generator.replies
        sizes: list[int] = []

        def small(self: Generator, groups: Any) -> Any:
            sizes.append(sum(len(group.own) for group in groups))
            if sizes[-1] > 2:
                raise torch.OutOfMemoryError("CUDA out of memory")
            return real(self, groups)

        said: list[str] = []
        expected = answers(tiny, [], in_processes=False)
        monkeypatch.setattr(Generator, "replies", small)
        assert answers(tiny, said, in_processes=False) == expected
        assert max(sizes) > 2
        assert sum(size for size in sizes if size <= 2) == 9
        assert "out of memory with" in said[0]
        assert "`batch: 1`" in said[-1] or "`batch: 2`" in said[-1]
