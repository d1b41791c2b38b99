"""From requests to what a model takes: the text of its chat template, and decoded media."""

import io
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

import numpy as np
from PIL import Image

from reelbench.base.errors import ReelbenchError
from reelbench.media.edit.audio import read_audio
from reelbench.models.base import AudioPart, ImagePart, Message, Part, Request, TextPart
from reelbench.models.local.chat import chat_text
from reelbench.models.local.weights import LoadedModel

_CLOCK = 1000  # of the times of frames: processors take them as whole numbers of a rate
_PER_GRID = ("second_per_grid_ts", "video_second_per_grid")


@dataclass(frozen=True, slots=True)
class DecodedMedia:
    """The media of a request, in order, as a processor takes them."""

    images: list[Any] = field(default_factory=list)
    videos: list[Any] = field(default_factory=list)  # the frames of each
    times: list[list[float]] = field(default_factory=list)  # of the frames of each video
    sounds: list[Any] = field(default_factory=list)


def prompt_text(loaded: LoadedModel, request: Request) -> str:
    """Return a request as the text that the model's chat template makes of it."""
    _refuse(loaded, request)
    return chat_text(loaded.processor, [_message(loaded, each) for each in request.messages])


def decoded(loaded: LoadedModel, request: Request) -> DecodedMedia:
    """Decode the media of a request: frames as pictures, or as the videos that they are of."""
    media = DecodedMedia()
    for message in request.messages:
        for kind, parts in _runs(loaded, message.parts):
            if kind == "video":
                media.videos.append(np.stack([np.asarray(_picture(part)) for part in parts]))
                media.times.append([part.time for part in parts])
            elif kind == "image":
                media.images.extend(map(_picture, parts))
            elif kind == "audio":
                media.sounds.extend(_sound(part, loaded.sampling_rate) for part in parts)
    return media


def processed(
    loaded: LoadedModel, texts: Sequence[str], media: Sequence[DecodedMedia]
) -> Mapping[str, Any]:
    """Return the tensors for these prompts, on the host, padded on the left."""
    shown: dict[str, Any] = {}
    if any(each.images for each in media):
        shown["images"] = [each.images for each in media]
    times = [video for each in media for video in each.times]
    if times:
        shown["videos"] = [video for each in media for video in each.videos]
        shown["video_metadata"] = list(map(video_metadata, times))
        shown["do_sample_frames"] = False
    if sounds := [sound for each in media for sound in each.sounds]:
        shown |= {"audio": sounds, "sampling_rate": loaded.sampling_rate}
    found: Mapping[str, Any] = loaded.processor(
        text=list(texts),
        **shown,
        return_tensors="pt",
        padding=True,
        padding_side="left",
        add_special_tokens=_adds_start(loaded, texts[0]),
    )
    return _timed(loaded, dict(found), times)


def video_metadata(times: Sequence[float]) -> dict[str, Any]:
    """Return when frames are, in the words of video processors: whole numbers of a rate.

    Exact to a millisecond at any distances. Where a model takes a rate alone, it is the mean one.
    """
    step = mean_step(times)
    return {
        "fps": float(_CLOCK),
        "frames_indices": [round(time * _CLOCK) for time in times],
        "total_num_frames": max(1, round(len(times) * step * _CLOCK)),
        "duration": len(times) * step,
    }


def mean_step(times: Sequence[float]) -> float:
    """Return the mean seconds between frames; 1 of a single frame."""
    span = times[-1] - times[0] if times else 0.0
    return span / (len(times) - 1) if span > 0 else 1.0


def token_ids(loaded: LoadedModel, texts: Sequence[str]) -> list[list[int]]:
    """Return the tokens of these prompts as they are, one for each place of media."""
    start = _adds_start(loaded, texts[0])
    found: list[list[int]] = loaded.tokenizer(list(texts), add_special_tokens=start)["input_ids"]
    return found


def media_of(request: Request) -> tuple[Any, ...]:
    """Return what identifies the media of a request, and the text between them."""
    last = max((n for n, part in enumerate(request.parts) if not isinstance(part, TextPart)),
               default=-1)  # fmt: skip
    return request.parts[: last + 1]


def _timed(loaded: LoadedModel, found: dict[str, Any], times: list[list[float]]) -> dict[str, Any]:
    """Correct the seconds of a step in time where a processor takes one rate for all videos."""
    for name in _PER_GRID:
        if name in found and times:
            import torch

            frames = loaded.processor.video_processor.temporal_patch_size
            found[name] = torch.tensor([frames * mean_step(each) for each in times])
    return found


def _adds_start(loaded: LoadedModel, text: str) -> bool:
    """Whether the tokenizer adds its start token: unless the chat template has written it."""
    start = loaded.tokenizer.bos_token
    return start is None or not text.startswith(start)


def _message(loaded: LoadedModel, message: Message) -> dict[str, Any]:
    if loaded.is_text:
        texts = [part.text for part in message.parts if isinstance(part, TextPart)]
        return {"role": message.role, "content": "\n\n".join(texts)}
    content: list[dict[str, Any]] = []
    for kind, parts in _runs(loaded, message.parts):
        if kind == "text":
            content += [{"type": "text", "text": part.text} for part in parts]
        else:
            content += [{"type": kind}] * (1 if kind == "video" else len(parts))
    return {"role": message.role, "content": content}


def _runs(loaded: LoadedModel, parts: Iterable[Part]) -> Iterator[tuple[str, list[Any]]]:
    """Yield parts of a message, those of the same kind that follow each other together."""
    kinds = {TextPart: "text", ImagePart: "video" if loaded.as_video else "image",
             AudioPart: "audio"}  # fmt: skip
    for kind, found in groupby(parts, key=lambda part: kinds[type(part)]):
        yield kind, list(found)


def _refuse(loaded: LoadedModel, request: Request) -> None:
    """Raise for media that the model has no place for: it would be asked without them."""
    kinds = {kind for message in request.messages for kind, _ in _runs(loaded, message.parts)}
    for kind, field_of in (("image", "sees"), ("audio", "hears")):
        if kind in kinds - loaded.takes:
            name = "pictures" if kind == "image" else "sound"
            raise ReelbenchError(
                f"{loaded.architecture} takes no {name}: write `{field_of}: false` in its card."
            )


def _picture(part: ImagePart) -> Image.Image:
    with Image.open(io.BytesIO(part.data)) as image:
        return image.convert("RGB")


def _sound(part: AudioPart, rate: int | None) -> Any:
    assert rate is not None, "the card says that it takes no sound"
    with tempfile.NamedTemporaryFile(suffix=".sound") as file:
        file.write(part.data)
        file.flush()
        return read_audio(file.name, rate)[0]
