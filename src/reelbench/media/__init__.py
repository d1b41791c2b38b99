"""Reads and writes media: probe, sample, decode, cut, degrade and measure video and sound."""

from typing import TYPE_CHECKING

from reelbench.base.lazy import lazily

__all__ = [
    "AudioTrack",
    "FrameSpec",
    "cut_exactly",
    "degrade_video",
    "frames_of",
    "join",
    "loudness",
    "probe_isolated",
    "read_audio",
    "reversed_before",
    "run_isolated",
    "with_sound",
]

if TYPE_CHECKING:
    from reelbench.media.decode.frames import FrameSpec, frames_of
    from reelbench.media.decode.isolated import probe_isolated, run_isolated
    from reelbench.media.edit.audio import loudness, read_audio, reversed_before
    from reelbench.media.edit.clip import cut_exactly, join, with_sound
    from reelbench.media.edit.degrade import degrade_video
    from reelbench.media.edit.write import AudioTrack

_HOMES = {
    "FrameSpec": "decode.frames",
    "AudioTrack": "edit.write",
    "cut_exactly": "edit.clip",
    "degrade_video": "edit.degrade",
    "frames_of": "decode.frames",
    "join": "edit.clip",
    "loudness": "edit.audio",
    "probe_isolated": "decode.isolated",
    "read_audio": "edit.audio",
    "reversed_before": "edit.audio",
    "run_isolated": "decode.isolated",
    "with_sound": "edit.clip",
}
__getattr__, __dir__ = lazily(__name__, _HOMES)
