"""Local models through transformers' generic image-text-to-text classes, in batches.

The requests that wait are answered together, as many as the card's ``batch``. Replies are greedy
unless the card's parameters say otherwise.
"""

import asyncio
import io
from collections.abc import Mapping
from typing import Any

import msgspec
from PIL import Image

from reelbench.base.errors import ReelbenchError
from reelbench.base.extras import install_command
from reelbench.models.base import ImagePart, Request, Response, TextPart, read_text
from reelbench.models.card import FREE, Card

_USUAL = {"max_new_tokens": 256, "do_sample": False}
_OURS = ("dtype", "device", "device_map", "revision")  # parameters that are not for generating


class LocalModel:
    """A model on this machine, which is loaded when it is first asked."""

    is_random = False

    def __init__(self, card: Card, schemas: bool = False) -> None:
        # Twice the batch wait, so that the next batch is there when one is done.
        card = msgspec.structs.replace(
            card,
            connections=min(1000, 2 * card.batch),
            price=card.price or FREE,
            schemas=schemas,
        )
        self.card = card
        self._waiting: list[tuple[Request, asyncio.Future[Response]]] = []
        self._work: asyncio.Task[None] | None = None
        self._engine: Any = None
        self._broken = ""
        self.peak_memory: int | None = None  # bytes on its device, once it has answered on one

    @property
    def parameters(self) -> Mapping[str, Any]:
        """The weights and the generation settings; neither the device nor the batch size."""
        settings = {**_USUAL, **self.card.parameters}
        return {"model": self.card.model, **{n: v for n, v in settings.items() if n != "device"}}

    async def ask(self, request: Request) -> Response:
        """Answer a request with the next batch."""
        future: asyncio.Future[Response] = asyncio.get_running_loop().create_future()
        self._waiting.append((request, future))
        if self._work is None or self._work.done():
            self._work = asyncio.create_task(self._answer_all())
        return await future

    async def _answer_all(self) -> None:
        while self._waiting:
            await asyncio.sleep(0)  # whoever is about to ask joins
            batch = self._waiting[: self.card.batch]
            del self._waiting[: self.card.batch]
            responses = await asyncio.to_thread(self._answer, [request for request, _ in batch])
            for (_, future), response in zip(batch, responses, strict=True):
                if not future.done():
                    future.set_result(response)

    def _answer(self, requests: list[Request]) -> list[Response]:
        try:
            if self._broken:
                raise RuntimeError(self._broken)
            if self._engine is None:
                self._engine = self.make_engine()
            responses: list[Response] = self._engine.generate(requests)
            self.peak_memory = getattr(self._engine, "peak_memory", None)
            return responses
        except Exception as error:
            # Of whatever library: it fails these requests. One of them may be at fault.
            if len(requests) > 1 and self._engine is not None:
                return [response for each in requests for response in self._answer([each])]
            message = f"{type(error).__name__}: {error}"
            if self._engine is None:
                self._broken = self._broken or message  # it will not load the next time either
            return [Response("error", error=" ".join(message.split())[:500]) for _ in requests]

    def make_engine(self) -> Any:
        """Load the weights: an object whose ``generate(requests)`` returns responses."""
        return _Engine(self.card.model, {**_USUAL, **self.card.parameters})

    def stop_retrying(self) -> None:
        """Do nothing: it never waits."""

    async def close(self) -> None:
        """Release the weights."""
        if self._work is not None:
            await asyncio.gather(self._work, return_exceptions=True)
        self._engine = None


class _Engine:
    """The loaded weights and their processor."""

    def __init__(self, model: str, parameters: Mapping[str, Any]) -> None:
        import torch
        from transformers import AutoModelForImageTextToText, AutoProcessor

        revision = parameters.get("revision", "main")
        device = parameters.get("device") or ("cuda" if torch.cuda.is_available() else "cpu")
        place = {"device_map": parameters["device_map"]} if "device_map" in parameters else {}
        self._torch = torch
        self._chosen = {n: v for n, v in parameters.items() if n not in _OURS and v is not None}
        self._processor: Any = AutoProcessor.from_pretrained(model, revision=revision)
        self._model: Any = AutoModelForImageTextToText.from_pretrained(
            model, revision=revision, dtype=parameters.get("dtype", "auto"), **place
        ).eval()
        if not place:
            self._model.to(device)
        ends = self._model.generation_config.eos_token_id
        self._ends = set(ends) if isinstance(ends, list) else {ends}
        self.peak_memory: int | None = None

    def generate(self, requests: list[Request]) -> list[Response]:
        inputs = self._processor.apply_chat_template(
            [_chat(request) for request in requests],
            tokenize=True,
            add_generation_prompt=True,
            return_dict=True,
            return_tensors="pt",
            processor_kwargs={"padding": True, "padding_side": "left"},
        ).to(self._model.device, self._model.dtype)
        with self._torch.inference_mode():
            rows = self._model.generate(**inputs, **self._chosen)
        if self._model.device.type == "cuda":
            self.peak_memory = int(self._torch.cuda.max_memory_allocated(self._model.device))
        input_tokens = inputs["attention_mask"].sum(1).tolist()
        return [
            self._response(row, count)
            for row, count in zip(
                rows[:, inputs["input_ids"].shape[1] :].tolist(), input_tokens, strict=True
            )
        ]

    def _response(self, row: list[int], input_tokens: int) -> Response:
        ended = next((place + 1 for place, token in enumerate(row) if token in self._ends), None)
        end = len(row) if ended is None else ended
        text = self._processor.decode(row[:end], skip_special_tokens=True)
        return read_text(text, ended is None, input_tokens, end)


def _chat(request: Request) -> list[dict[str, Any]]:
    return [
        {"role": message.role, "content": [_part(part) for part in message.parts]}
        for message in request.messages
    ]


def _part(part: Any) -> dict[str, Any]:
    if isinstance(part, TextPart):
        return {"type": "text", "text": part.text}
    assert isinstance(part, ImagePart), "the card says that it takes no other"
    with Image.open(io.BytesIO(part.data)) as image:
        return {"type": "image", "image": image.convert("RGB")}


def load(card: Card) -> LocalModel:
    """Return the model of a card; its weights are loaded later."""
    try:
        import transformers  # noqa: F401
    except ImportError as error:
        raise ReelbenchError(
            f"{card.name} needs transformers and PyTorch: {install_command('hf')}"
        ) from error
    if card.hears or card.video:
        raise ReelbenchError(
            f"{card.name}: local models take frames, neither sound nor video: write `hears: false` "
            'and `video: ""`, or serve it with vLLM or the like and use the backend openai.'
        )
    return LocalModel(card)
