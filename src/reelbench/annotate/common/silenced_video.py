"""Writes a video without one of its speakers, frame for frame and second for second the same."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from reelbench.annotate.common.voice_removal import VoiceRemoval, without_speaker
from reelbench.data.items import Span
from reelbench.media.decode.probe import probe
from reelbench.media.edit.audio import stream_audio
from reelbench.media.edit.clip import SOUND_RATE, edit, with_sound
from reelbench.media.edit.write import AudioTrack
from reelbench.media.errors import MediaError

# What an mp4 can hold and players show; others are encoded anew, as H.264.
_COPIED = frozenset({"h264", "hevc", "vp9", "libvpx-vp9", "av1", "libdav1d", "mpeg4"})
_RATES = (8_000, 11_025, 12_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000)  # that AAC has


def write_without_speaker(
    source: Path, out: Path, spans: Sequence[Span], removal: VoiceRemoval, end: float
) -> bool:
    """Write a video up to ``end`` with a speaker removed; return whether its frames were copied.

    The sound keeps its rate, and its channels if they are one or two; other streams and what is
    written about the video are left behind. The file appears once it is complete.
    """
    info = probe(source, counting=False)
    if not info.has_audio:
        raise MediaError(source, "contains no sound")
    if not info.has_video:
        raise MediaError(source, "contains no video")
    stream = info.audio[0]
    rate = stream.sample_rate if stream.sample_rate in _RATES else SOUND_RATE
    channels = 1 if stream.channels == 1 else 2

    def sound() -> AudioTrack:
        heard = stream_audio(source, rate, channels, 0.0, end)
        pieces = (np.nan_to_num(piece, posinf=1.0, neginf=-1.0) for piece in heard)  # damage
        return AudioTrack(without_speaker(pieces, rate, spans, removal), rate, channels)

    if info.codec in _COPIED:
        try:
            with_sound(source, sound(), out, end)
        except MediaError:  # its packets have no times, or the like
            pass
        else:
            return True
    edit(source, out, lambda image, _: image, 0.0, min(end, info.duration), sound=sound())
    return False
