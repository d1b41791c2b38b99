"""A clip as a video file, ready to be sent to models that take video."""

import mimetypes
import tempfile
from dataclasses import dataclass
from pathlib import Path

from reelbench.media.decode.frames import FrameSpec, shortfalls, spans_of
from reelbench.media.decode.isolated import run_isolated
from reelbench.media.decode.probe import probe
from reelbench.media.decode.sample import parse_sampling
from reelbench.media.edit.clip import cut_exactly, with_sound
from reelbench.media.errors import MediaError

MOST_BYTES = 2 * 10**9  # what the largest upload takes


@dataclass(frozen=True, slots=True)
class VideoClip:
    """The bytes of a video, the length of the part to watch, and the frames a second to sample."""

    data: bytes
    media_type: str
    seconds: float
    rate: float | None


def footage_of(path: Path, spec: FrameSpec, cut: bool, muted: bool) -> VideoClip:
    """Return a video: whole or cut to the part that a spec covers, with its sound or muted."""
    return run_isolated(_footage, path, spec, cut, muted)


def _footage(path: Path, spec: FrameSpec, cut: bool, muted: bool) -> VideoClip:
    info = probe(path, counting=False)
    if not info.has_video or info.is_image:
        raise MediaError(path, "contains no video (a picture is no video)")
    shortfalls(path, info, spec)
    ((start, end),) = spans_of(path, info, spec)
    file, kind = path, mimetypes.guess_type(path.name)[0] or "video/mp4"
    with tempfile.TemporaryDirectory() as folder:
        if cut and (start > 0 or end < info.duration):
            file, kind = Path(folder) / "cut.mp4", "video/mp4"
            cut_exactly(path, start, end, file)
        if muted and info.has_audio:
            silent, kind = Path(folder) / "silent.mp4", "video/mp4"
            with_sound(file, None, silent)
            file = silent
        if file.stat().st_size > MOST_BYTES:
            raise MediaError(
                path,
                f"over {MOST_BYTES / 1e9:g} GB, too large to send as video: send frames instead "
                "(without `video` in the model's card)",
            )
        return VideoClip(file.read_bytes(), kind, end - start, _rate(spec, end - start))


def _rate(spec: FrameSpec, seconds: float) -> float | None:
    """The frames a second of a sampling, for models that sample the video themselves."""
    sampling = parse_sampling(spec.sampling).shared_by(spec.shared_by)
    most = sampling.count or sampling.most
    rates = [rate for rate in (sampling.rate, most and most / seconds) if rate]
    return round(min(rates), 6) if rates else None
