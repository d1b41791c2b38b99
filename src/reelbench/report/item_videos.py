"""The videos of the items: where the page plays them from, and small pictures of them."""

import base64
import mimetypes
import os
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from reelbench.base.progress import announce, counted, track
from reelbench.data.benchmark import Benchmark
from reelbench.data.items import Item, Span
from reelbench.data.paths import SOUND_ENDINGS
from reelbench.media.decode.frames import FrameSpec, frames_of
from reelbench.media.decode.isolated import probe_isolated, run_isolated
from reelbench.media.edit.playable import playable_part
from reelbench.media.errors import MediaError, refuse_no_file

_FRAMES_PER_VIDEO, _FRAME_SIZE, _FRAME_ENCODING = 12, "long:220", "jpeg:60"
_MOST_FRAMES = 1000  # in one page: about 4.4 MB; with more videos, each shows fewer, or none
_LONGEST = 1800.0  # seconds that one video may take to be prepared for browsers


def item_videos(
    benchmark: Benchmark, page: Path, embed: float | None = None
) -> tuple[dict[str, dict[str, Any]], dict[str, str]]:
    """Return for each file of the items where the page finds it, and what is inside of the page.

    ``embed`` is how many megabytes of files may be inside; what does not fit is played from the
    benchmark's folder.
    """
    needed = _needed_parts(benchmark.items)
    videos = {path: _place(benchmark.root / path, page) for path in sorted(needed)}
    if embed is None:
        return videos, {}
    return videos, _embedded(benchmark.root, needed, videos, embed)


def _place(file: Path, page: Path) -> dict[str, Any]:
    """Return the address of a file as seen from the page, and which element plays it."""
    guess = mimetypes.guess_type(file.name)[0] or ""
    kind = "sound" if file.suffix.lower() in SOUND_ENDINGS else "video"
    if guess.startswith("image/"):
        kind = "image"
    try:
        beside = os.path.relpath(os.path.abspath(file), os.path.abspath(page.parent))
    except ValueError:  # on another drive
        return {"kind": kind}
    return {"kind": kind, "url": quote(Path(beside).as_posix())}


def _needed_parts(items: Iterable[Item]) -> dict[str, Span | None]:
    """Return the part of each file that its items are about; None for all of it."""
    parts: dict[str, Span | None] = {}
    for item in items:
        for media in item.media:
            start, end = media.start or 0.0, media.end
            known = parts.get(media.path, (start, end or 0.0))
            whole = end is None or known is None
            parts[media.path] = (
                None if whole or known is None else (min(known[0], start), max(known[1], end or 0))
            )
    return parts


def _embedded(
    root: Path,
    needed: dict[str, Span | None],
    videos: dict[str, dict[str, Any]],
    most: float,
) -> dict[str, str]:
    """Return the files that fit, as Base64 by the id of their element; note in ``videos`` which."""
    files: dict[str, str] = {}
    left, too_large = most * 1e6, 0
    for path in track(needed, "Preparing videos for the page", len(needed), "videos"):
        entry = videos[path]
        try:
            refuse_no_file(root / path)
            part = run_isolated(playable_part, root / path, needed[path], int(left), limit=_LONGEST)
        except MediaError as error:
            entry["why"] = error.reason
            continue
        if part is None:
            too_large += 1
            entry["why"] = f"it does not fit into the {most:g} MB that the page may embed"
            continue
        text = base64.b64encode(part.data).decode()
        left -= len(part.data)
        name = f"file-{len(files)}"
        files[name] = text
        entry |= {"file": name, "type": part.type, "kind": part.kind, "offset": part.start}
    if too_large:
        number = counted(too_large, "video")
        announce(
            f"{number} did not fit into the {most:g} MB that the page may embed and will be played "
            f"from the benchmark's folder: name a larger limit, such as --embed {2 * most:g}."
        )
    return files


def item_pictures(benchmark: Benchmark) -> dict[str, list[dict[str, Any]]]:
    """Return a few small pictures of every video that can be opened.

    Where there is room, every span of evidence and every span that an item is about has one.
    """
    evidence: dict[str, list[Span]] = defaultdict(list)
    for item in benchmark.items:
        for media in item.media:
            evidence[media.path] += item.evidence
            if media.end is not None:
                evidence[media.path].append((media.start or 0.0, media.end))
    most = min(_FRAMES_PER_VIDEO, max(1, _MOST_FRAMES // max(1, len(evidence))))
    shown = sorted(evidence)[:: -(-len(evidence) // _MOST_FRAMES) or 1]
    pictures: dict[str, list[dict[str, Any]]] = {}
    for path in track(shown, "Picking frames for the report", len(shown), "videos"):
        try:
            pictures[path] = _pictures(benchmark.root / path, evidence[path], most)
        except MediaError:
            continue  # its questions are listed as failures, with the reason
    return pictures


def _pictures(path: Path, evidence: Sequence[Span], most: int) -> list[dict[str, Any]]:
    duration = probe_isolated(path).duration
    times = ",".join(f"{time:.3f}" for time in _moments(duration, evidence, most))
    clip = frames_of(path, FrameSpec(f"times:{times}", size=_FRAME_SIZE, encoding=_FRAME_ENCODING))
    kind = f"data:{clip.media_type};base64,"
    return [
        {"time": round(picture.time, 2), "image": kind + base64.b64encode(picture.data).decode()}
        for picture in clip.pictures
    ]


def _moments(duration: float, evidence: Sequence[Span], most: int) -> list[float]:
    """Spread half of the pictures evenly, and put the others where evidence has none."""
    half = max(1, most // 2)
    times = [(number + 0.5) * duration / half for number in range(half)]
    for start, end in sorted(evidence, key=lambda span: (span[1] - span[0], span)):
        if len(times) < most and not any(start <= time <= end for time in times):
            times.append(max(0.0, min((start + end) / 2, duration - 0.001)))
    return sorted(times)
