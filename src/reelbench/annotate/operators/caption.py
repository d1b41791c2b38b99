"""What happens in a clip, part after part, in the words of a model.

Each part is shown as frames, and played to who hears, with what is said in it and what was told
before.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

from reelbench.annotate.ask_model import Asks, ask_for_text, prompt_of
from reelbench.annotate.operator import Clip, Labels, NotApplicable, Value
from reelbench.base.errors import ReelbenchError
from reelbench.client.client import Client
from reelbench.media.decode.frames import FrameSpec, frames_of
from reelbench.media.edit.audio_export import sound_of
from reelbench.models.base import AudioPart, ChatModel, ImagePart, Part

_EARLIER = 1500  # characters of what was told before that are repeated
_SHORTEST = 0.5  # seconds: what is left at the end is told with the part before


@dataclass(frozen=True)
class Caption(Asks):
    """Gives ``{"model", "parts": [{"start", "end", "text"}], "text"}``."""

    name: ClassVar[str] = "caption"
    may_use: ClassVar[tuple[str, ...]] = ("transcript",)

    window: float = 10.0  # seconds of a part
    rate: float = 1.0  # frames a second
    size: str = "long:768"
    guidance: str = ""  # what to look at in videos of this kind

    def __call__(self, clip: Clip, labels: Labels) -> Value:
        """Say that a model is needed."""
        del clip, labels
        raise ReelbenchError("caption asks a model: name one with --model captioner=...")

    async def ask(self, clip: Clip, labels: Labels, client: Client, model: ChatModel) -> Value:
        """Have a clip told, part by part."""
        if not clip.info.has_video:
            raise NotApplicable("there is no picture to describe")
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
        spec = FrameSpec(f"fps:{self.rate:g}", start=start, end=end, size=self.size)
        heard = clip.info.has_audio and model.card.hears

        def shown() -> list[Part]:
            parts: list[Part] = []
            if model.card.sees:
                frames = frames_of(clip.path, spec)
                parts += [ImagePart(p.data, frames.media_type, p.time) for p in frames.pictures]
            sound = sound_of(clip.path, spec, "wav") if heard else None
            return (
                [*parts, AudioPart(sound.data, sound.media_type, sound.seconds)] if sound else parts
            )

        prompt = prompt_of(
            "caption",
            start=f"{start:g}",
            end=f"{end:g}",
            guidance=f"\n{self.guidance}\n" if self.guidance else "",
            earlier=earlier or "(this is the beginning)",
            narration=_speech_in(labels.get("transcript"), start, end) or "(nothing)",
        )
        record = [clip.digest, asdict(spec), model.card.sees, heard]
        return await ask_for_text(client, model, prompt, record, shown)


def _speech_in(transcript: Mapping[str, Any] | None, start: float, end: float) -> str:
    segments = (transcript or {}).get("segments", ())
    return " ".join(s["text"].strip() for s in segments if s["start"] < end and s["end"] > start)
