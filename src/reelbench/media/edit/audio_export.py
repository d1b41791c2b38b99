"""The sound of a clip, as bytes ready to be sent."""

import io
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import av
import numpy as np

from reelbench.base.errors import ReelbenchError
from reelbench.media.decode.frames import FrameSpec, shortfalls, spans_of
from reelbench.media.decode.isolated import run_isolated
from reelbench.media.decode.probe import probe
from reelbench.media.edit.audio import SPEECH_RATE, read_audio, write_wav
from reelbench.media.edit.write import UNSIGNED, AudioTrack, Samples

MP3_RATE = 48_000  # bits a second: speech and music at 16 kHz lose little by it


@dataclass(frozen=True, slots=True)
class AudioClip:
    """The sound of a clip, encoded."""

    data: bytes
    media_type: str
    seconds: float


def sound_of(path: Path, spec: FrameSpec, encoding: str) -> AudioClip | None:
    """Return the sound of the part that a spec covers; None where the file has no sound.

    Several spans are concatenated.
    """
    check_sound_encoding(encoding)
    return run_isolated(_sound, path, spec, encoding)


def check_sound_encoding(encoding: str) -> None:
    """Raise ``ReelbenchError`` for an unknown sound encoding."""
    if encoding not in _ENCODINGS:
        known = " or ".join(_ENCODINGS)
        raise ReelbenchError(f"The sound encoding {encoding!r} is not valid: write {known}.")


def _sound(path: Path, spec: FrameSpec, encoding: str) -> AudioClip | None:
    info = probe(path, counting=False)
    shortfalls(path, info, spec)
    if not info.has_audio:
        return None
    pieces = [
        read_audio(path, SPEECH_RATE, start=start, end=end)
        for start, end in spans_of(path, info, spec)
    ]
    samples = np.concatenate([np.empty((1, 0), np.float32), *pieces], axis=1)
    encode, media_type = _ENCODINGS[encoding]
    return AudioClip(encode(samples), media_type, round(samples.shape[1] / SPEECH_RATE, 3))


def _wav(samples: Samples) -> bytes:
    file = io.BytesIO()
    write_wav(file, samples, SPEECH_RATE)
    return file.getvalue()


def _mp3(samples: Samples) -> bytes:
    file = io.BytesIO()
    with av.open(file, "w", format="mp3", options={"write_xing": "0"} | UNSIGNED) as container:
        stream = container.add_stream("libmp3lame", rate=SPEECH_RATE, layout="mono")
        stream.bit_rate = MP3_RATE
        for frame in AudioTrack([samples], SPEECH_RATE).frames():
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    return file.getvalue()


_ENCODINGS: dict[str, tuple[Callable[[Samples], bytes], str]] = {
    "wav": (_wav, "audio/wav"),
    "mp3": (_mp3, "audio/mp3"),
}
