"""What happens in a clip, part after part, in the words of a model.

The one operator that asks: it does not run in a worker but beside the journal, so that no caption
is paid for twice. Each part is shown as frames, with what is said in it and what was told before.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from importlib.resources import files
from typing import Any, ClassVar

from reelbench.annotate.operator import Clip, Labels, NotApplicable, Operator, Value
from reelbench.asking.asker import Asker
from reelbench.errors import ReelbenchError
from reelbench.evaluate.prompt import fill
from reelbench.files import digest_of
from reelbench.media.frames import Wish, frames_of
from reelbench.models.base import ChatModel, Message, Part, Picture, Request, Text

_EARLIER = 1500  # characters of what was told before that are repeated
_SHORTEST = 0.5  # seconds: what is left at the end is told with the part before


@dataclass(frozen=True)
class Caption(Operator):
    """Gives ``{"model", "parts": [{"start", "end", "text"}], "text"}``."""

    name: ClassVar[str] = "caption"
    may_use: ClassVar[tuple[str, ...]] = ("transcript",)

    window: float = 10.0  # seconds of a part
    rate: float = 1.0  # frames a second
    size: str = "long:768"
    guidance: str = ""  # what to look at in videos of this kind
    model: str = ""  # who tells it; filled in when one is named

    def __call__(self, clip: Clip, labels: Labels) -> Value:
        """Say that a model is needed."""
        del clip, labels
        raise ReelbenchError("caption asks a model: name one with --model captioner=...")

    async def ask(self, clip: Clip, labels: Labels, asker: Asker, model: ChatModel) -> Value:
        """Have a clip told, part by part."""
        if not clip.info.has_video:
            raise NotApplicable("there is no picture to describe")
        told: list[dict[str, Any]] = []
        for start, end in self._parts(clip.info.duration):
            earlier = " ".join(part["text"] for part in told)[-_EARLIER:]
            text = await self._one(clip, labels, asker, model, start, end, earlier)
            told.append({"start": start, "end": end, "text": text})
        text = "\n".join(part["text"] for part in told)
        return {"model": model.card.name, "parts": told, "text": text}

    def _parts(self, seconds: float) -> list[tuple[float, float]]:
        count = max(1, int((seconds + self.window - _SHORTEST) // self.window))
        starts = [number * self.window for number in range(count)]
        return list(zip(starts, [*starts[1:], round(seconds, 3)], strict=True))

    async def _one(
        self,
        clip: Clip,
        labels: Labels,
        asker: Asker,
        model: ChatModel,
        start: float,
        end: float,
        earlier: str,
    ) -> str:
        wish = Wish(f"fps:{self.rate:g}", start=start, end=end, size=self.size)
        prompt = fill(
            (files(__package__) / "prompts" / "caption.md").read_text("utf-8"),
            {
                "start": f"{start:g}",
                "end": f"{end:g}",
                "guidance": f"\n{self.guidance}\n" if self.guidance else "",
                "earlier": earlier or "(this is the beginning)",
                "narration": _said_in(labels.get("transcript"), start, end) or "(nothing)",
            },
        )
        key = digest_of(
            {
                "model": model.card.name,
                "parameters": dict(model.parameters),
                "prompt": prompt,
                "shown": [clip.digest, asdict(wish)],
            }
        )
        shown: list[Part] = []
        if asker.journal.answer(key) is None and model.card.sees:
            frames = await asyncio.to_thread(frames_of, clip.path, wish)
            shown = [Picture(p.data, frames.media_type, p.time) for p in frames.pictures]
        message = Message("user", (*shown, Text(prompt)))
        response = await asker.ask(model, Request(key, (message,), "open", prompt))
        if response.status != "ok" or not (response.text or "").strip():
            raise ReelbenchError(response.error or f"{model.card.name} said nothing")
        return str(response.text).strip()


def _said_in(transcript: Mapping[str, Any] | None, start: float, end: float) -> str:
    segments = (transcript or {}).get("segments", ())
    return " ".join(s["text"].strip() for s in segments if s["start"] < end and s["end"] > start)
