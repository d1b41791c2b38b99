"""Reads, measures and changes sound, on the clock of its file."""

import wave
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import av
import numpy as np

from reelbench.base.errors import ReelbenchError
from reelbench.media.decode.container import (
    open_media,
    start_seconds,
)
from reelbench.media.edit.write import Samples
from reelbench.media.errors import MediaError

SPEECH_RATE = 16_000  # what speech models take
_BEFORE = 1.0  # seconds to decode ahead of a moment, for what is heard rests on what was
_SEARCHABLE = frozenset({"mov,mp4,m4a,3gp,3g2,mj2", "matroska,webm"})  # by time, exactly
_JUMP = 0.05  # seconds by which sound may be off its clock before it is put right
_BROKEN_CLOCK = 600.0  # seconds; a gap this long is a mistake in the file
_PIECE = 48_000  # samples


def read_audio(
    path: Path | str,
    rate: int = SPEECH_RATE,
    channels: int = 1,
    start: float = 0.0,
    end: float | None = None,
) -> Samples:
    """Return the sound from ``start`` to ``end`` as an array with one row per channel.

    The first sample is at ``start`` on the clock of the video; gaps are filled with silence.
    """
    none = np.empty((channels, 0), np.float32)
    return np.concatenate([none, *stream_audio(path, rate, channels, start, end)], axis=1)


def stream_audio(
    path: Path | str, rate: int, channels: int, start: float = 0.0, end: float | None = None
) -> Iterator[Samples]:
    """Yield the sound of ``read_audio`` in pieces, so that memory does not grow with its length."""
    last = None if end is None else round((end - start) * rate)
    reached = 0  # samples given
    for place, piece in _placed(path, rate, channels, start):
        if last is not None and place >= last:
            break
        yield from silence(channels, place - reached)
        reached = max(reached, place)
        fresh = piece[:, max(0, reached - place) : None if last is None else last - place]
        if fresh.shape[1]:
            yield fresh
            reached += fresh.shape[1]
    if last is not None:
        yield from silence(channels, last - reached)


def silence(channels: int, samples: int) -> Iterator[Samples]:
    """Yield a number of silent samples, in pieces."""
    for begin in range(0, samples, _PIECE):
        yield np.zeros((channels, min(_PIECE, samples - begin)), np.float32)


def _placed(
    path: Path | str, rate: int, channels: int, start: float
) -> Iterator[tuple[int, Samples]]:
    """Decode; yield pieces with the number of their first sample, counted from ``start``."""
    layout = "mono" if channels == 1 else "stereo"
    resampler: av.AudioResampler | None = None
    place, expected = 0, 0.0
    with open_media(path) as container:
        stream = next((s for s in container.streams.audio if s.codec_context), None)
        if stream is None:
            raise MediaError(path, "contains no sound")
        origin = start_seconds(container)
        if start > _BEFORE and container.format.name in _SEARCHABLE:
            container.seek(round((start - _BEFORE + origin) * av.time_base), backward=True)
        for frame in container.decode(stream):
            time = expected if frame.time is None else frame.time - origin
            if resampler is None or _JUMP < abs(time - expected) < _BROKEN_CLOCK:
                # The start, or a gap: what comes now has its own place.
                for part in resampler.resample(None) if resampler else ():
                    yield place, _floats(part)
                resampler = av.AudioResampler(format="fltp", layout=layout, rate=rate)
                place, expected = round((time - start) * rate), time
            expected += frame.samples / frame.sample_rate
            for part in resampler.resample(frame):
                yield place, _floats(part)
                place += part.samples
        if resampler is None:
            raise MediaError(path, "its sound cannot be decoded")
        for part in resampler.resample(None):
            yield place, _floats(part)
            place += part.samples


def _floats(frame: av.AudioFrame) -> Samples:
    return np.asarray(frame.to_ndarray(), np.float32)


def write_wav(out: Path | BinaryIO, samples: Samples, rate: int) -> None:
    """Write sound as 16-bit PCM, to a path or an open file."""
    if isinstance(out, Path):
        try:
            with out.open("wb") as raw:
                write_wav(raw, samples, rate)
        except OSError as error:
            raise ReelbenchError(f"{out} cannot be written ({error.strerror}).") from error
        return
    whole = np.clip(np.round(samples.T * 32767), -32768, 32767).astype("<i2")
    with wave.open(out, "wb") as file:
        file.setnchannels(len(samples))
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes(whole.tobytes())


def reversed_before(samples: Samples, rate: int, time: float) -> Samples:
    """Return sound with everything before a time reversed."""
    place = min(max(round(time * rate), 0), samples.shape[1])
    return np.concatenate([samples[:, :place][:, ::-1], samples[:, place:]], axis=1)


def loudness(samples: Samples, rate: int) -> float:
    """Return the integrated loudness in LUFS, gated, as ITU-R BS.1770-4 defines it."""
    from scipy import signal  # takes a second and 60 MB, which who only reads sound need not pay

    weighted = signal.lfilter(*_high_pass(rate), signal.lfilter(*_shelf(rate), samples))
    block, step = round(0.4 * rate), round(0.1 * rate)
    starts = range(0, max(1, samples.shape[1] - block + 1), step)
    power = np.array([np.mean(weighted[:, s : s + block] ** 2, axis=1).sum() for s in starts])
    with np.errstate(divide="ignore"):
        blocks = -0.691 + 10 * np.log10(power)
        audible = power[blocks > -70]
        if not len(audible):
            return float("-inf")
        relative = -0.691 + 10 * np.log10(audible.mean()) - 10
        return float(-0.691 + 10 * np.log10(power[blocks > max(-70, relative)].mean()))


def _shelf(rate: int) -> tuple[list[float], list[float]]:
    """The first filter of BS.1770: the head's gain of high tones, for any sample rate."""
    gain, quality, frequency = 3.999843853973347, 0.7071752369554196, 1681.974450955533
    k = np.tan(np.pi * frequency / rate)
    high = 10 ** (gain / 20)
    band = high**0.4996667741545416
    norm = 1 + k / quality + k * k
    b = [(high + band * k / quality + k * k) / norm, 2 * (k * k - high) / norm,
         (high - band * k / quality + k * k) / norm]  # fmt: skip
    return b, [1.0, 2 * (k * k - 1) / norm, (1 - k / quality + k * k) / norm]


def _high_pass(rate: int) -> tuple[list[float], list[float]]:
    """The second filter of BS.1770: low tones count less."""
    quality, frequency = 0.5003270373238773, 38.13547087602444
    k = np.tan(np.pi * frequency / rate)
    norm = 1 + k / quality + k * k
    return [1.0, -2.0, 1.0], [1.0, 2 * (k * k - 1) / norm, (1 - k / quality + k * k) / norm]
