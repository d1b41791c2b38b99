"""Describes a clip part after part by a model.

For each part the model gets frames, the sound if it takes sound, the transcript of the part and the
descriptions of the parts before.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from reelbench.annotate.ask_model import ModelOnlyOperator, ask_text, prompt_of
from reelbench.annotate.operator import Clip, Labels, NotApplicable, Value
from reelbench.client.client import Client
from reelbench.client.media_input import MediaInput
from reelbench.models.base import ChatModel

_EARLIER = 1500  # characters of the earlier descriptions that are repeated
_SHORTEST = 0.5  # seconds: a shorter rest at the end belongs to the part before


@dataclass(frozen=True)
class Caption(ModelOnlyOperator):
    """Makes ``{"model", "parts": [{"start", "end", "text"}], "text"}``; it needs a model."""

    name: ClassVar[str] = "caption"
    may_use: ClassVar[tuple[str, ...]] = ("transcript",)

    window: float = 10.0  # seconds of a part
    rate: float = 1.0  # frames a second
    size: str = "long:768"
    guidance: str = ""  # what to look at in videos of this kind

    async def ask(self, clip: Clip, labels: Labels, client: Client, model: ChatModel) -> Value:
        """Return the descriptions of the parts of a clip."""
        if not clip.info.has_video:
            raise NotApplicable("The clip has no video to describe.")
        parts: list[dict[str, Any]] = []
        for start, end in self._parts(clip.info.duration):
            earlier = " ".join(part["text"] for part in parts)[-_EARLIER:]
            text = await self._one(clip, labels, client, model, start, end, earlier)
            parts.append({"start": start, "end": end, "text": text})
        text = "\n".join(part["text"] for part in parts)
        return {"model": model.card.name, "parts": parts, "text": text}

    def _parts(self, seconds: float) -> list[tuple[float, float]]:
        count = max(1, int((seconds + self.window - _SHORTEST) // self.window))
        starts = [number * self.window for number in range(count)]
        return list(zip(starts, [*starts[1:], round(seconds, 3)], strict=True))

    async def _one(
        self,
        clip: Clip,
        labels: Labels,
        client: Client,
        model: ChatModel,
        start: float,
        end: float,
        earlier: str,
    ) -> str:
        prompt = prompt_of(
            "caption",
            start=f"{start:g}",
            end=f"{end:g}",
            guidance=f"\n{self.guidance}\n" if self.guidance else "",
            earlier=earlier or "(this is the beginning)",
            narration=_speech_in(labels.get("transcript"), start, end) or "(nothing)",
        )
        # What is said stands in the prompt already: no subtitles.
        media = MediaInput.of(
            clip.path,
            sampling=f"fps:{self.rate:g}",
            start=start,
            end=end,
            size=self.size,
            audio=clip.info.has_audio,
            subtitles="never",
        )
        return await ask_text(client, model, prompt, media.for_card(model.card) or None)


def _speech_in(transcript: Mapping[str, Any] | None, start: float, end: float) -> str:
    segments = (transcript or {}).get("segments", ())
    return " ".join(s["text"].strip() for s in segments if s["start"] < end and s["end"] > start)
