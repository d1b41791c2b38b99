"""Fetching (C.2): the files of essays, brought into the folder that is made within the limits.

A file of the source is linked, or copied where that is not possible; a URL is downloaded. What
cannot be fetched is left out with the reason and tried again next time, and the others go on. The
paper's Table 4 does not have the limits that C.2 refers to: these are ours.
"""

import asyncio
import shutil
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from msgspec import structs

from reelbench.base.files import link_or_copy
from reelbench.data.paths import SUBTITLE_ENDINGS, path_escapes
from reelbench.make.candidates.catalogue import source_folder
from reelbench.make.candidates.web import download_video
from reelbench.make.pipeline.context import StageContext
from reelbench.make.pipeline.stage import Rejected, RowStage
from reelbench.media.decode.isolated import probe_isolated
from reelbench.media.decode.probe import MediaInfo
from reelbench.media.digests import media_digest
from reelbench.media.errors import MediaError, refuse_no_file
from reelbench.recipes.musebench.rows import ESSAYS, Essay

# From a URL, a folder, a name and the source: the file in that folder.
Download = Callable[[str, Path, str, Path], Path]
_DOWNLOADS = threading.BoundedSemaphore(2)  # at once: sites slow down who asks for more
FETCHED = "fetched"  # what ``curation`` has of it: the file in the source, its subtitles, seconds


def fetch(
    longest: float = 1800.0, over: str = "truncate", download: Download = download_video
) -> RowStage:
    """Return the stage that brings the files of essays into ``make/essays``.

    Of an essay over ``longest`` seconds, the part up to there is used (``over="truncate"``, with a
    flag), or it is rejected (``over="refuse"``). ``least_height`` and ``most_height`` are of the
    shorter side of the picture.
    """

    async def work(essay: Essay, ctx: StageContext, **limits: Any) -> list[Essay]:
        return [await asyncio.to_thread(_fetched, essay, ctx, download, limits)]

    return RowStage(
        name="fetch",
        input=Essay,
        output=Essay,
        work=work,
        parameters={
            "longest": longest,
            "over": over,
            "least_height": 144,
            "most_height": 4320,
            "least_channels": 1,
            "most_channels": 8,
        },
        validate=_fault,
        writes=True,
        reads=_digests,
        outputs_exist=_exist,
        estimate=_estimate,
    )


def essay_file(essay: Essay, ctx: StageContext) -> Path:
    """Return the file of an essay; in a forecast before it was fetched, that in the source."""
    path = ctx.out / essay.file
    there = essay.curation.get(FETCHED, {}).get("file")
    return source_folder(ctx.source) / there if there and not path.is_file() else path


def _fault(values: Mapping[str, Any]) -> str:
    if values["over"] not in ("truncate", "refuse"):
        return f"over is {values['over']!r}: give truncate or refuse"
    if values["longest"] <= 0:
        return "longest must be more than 0"
    for name in ("height", "channels"):
        if not 0 <= values[f"least_{name}"] <= values[f"most_{name}"]:
            return f"least_{name} must be from 0 to most_{name}"
    return ""


def _source_file(essay: Essay, ctx: StageContext) -> Path:
    """Return the file of an essay in the source; raise ``MediaError`` where there is none."""
    if reason := path_escapes(essay.file):
        raise MediaError(essay.file, f"is not inside the source ({reason}): move it there")
    path = source_folder(ctx.source) / essay.file
    refuse_no_file(path)
    return path


def _digests(essay: Essay, ctx: StageContext) -> list[str | None] | None:
    """Return the hashes of the file of an essay and of its subtitles."""
    if not essay.file:
        return None
    path = _source_file(essay, ctx)
    files = [path, *(path.with_suffix(ending) for ending in SUBTITLE_ENDINGS)]
    return [media_digest(each) if each.is_file() else None for each in files]


def _exist(essay: Essay, ctx: StageContext) -> bool:
    subtitles = essay.curation[FETCHED]["subtitles"]
    return all((ctx.out / name).is_file() for name in (essay.file, *subtitles))


def _estimate(essay: Essay, ctx: StageContext) -> list[Essay]:
    """Return an essay of the source as it would be fetched; of a URL, nothing is known before."""
    assert ctx.at_work is not None
    if not essay.file:
        note = "essays that are still to be downloaded are not in the forecast of calls"
        ctx.notes += [note] if note not in ctx.notes else []
        raise Rejected("not downloaded yet")
    path = _source_file(essay, ctx)
    return [_measured(essay, path, _name(essay, path), (), ctx.at_work.parameters)]


def _fetched(
    essay: Essay, ctx: StageContext, download: Download, limits: Mapping[str, Any]
) -> Essay:
    if essay.file:
        return _brought(essay, ctx, _source_file(essay, ctx), limits)
    if not essay.url:
        raise MediaError(essay.id, "has neither a file nor a URL: name one in the catalogue")
    folder = ctx.out / ESSAYS / f".download-{essay.id}"
    shutil.rmtree(folder, ignore_errors=True)  # what a killed process left
    folder.mkdir(parents=True)
    try:
        with _DOWNLOADS:
            path = download(essay.url, folder, essay.id, ctx.source)
        return _brought(essay, ctx, path, limits)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _brought(essay: Essay, ctx: StageContext, path: Path, limits: Mapping[str, Any]) -> Essay:
    """Put a file and its subtitles into the folder, unless it is outside of the limits."""
    refuse_no_file(path)
    name = _name(essay, path)
    beside = [path.with_suffix(ending) for ending in SUBTITLE_ENDINGS]
    names = {Path(name).with_suffix(each.suffix).as_posix(): each for each in beside}
    subtitles = [each for each, there in names.items() if there.is_file()]
    essay = _measured(essay, path, name, subtitles, limits)
    for each in names:
        if each in subtitles:
            link_or_copy(names[each], ctx.out / each)
        else:  # of an earlier time: they would be taken for its transcript
            (ctx.out / each).unlink(missing_ok=True)
    link_or_copy(path, ctx.out / name)
    return essay


def _name(essay: Essay, path: Path) -> str:
    return f"{ESSAYS}/{essay.id}{path.suffix.lower()}"


def _measured(
    essay: Essay,
    path: Path,
    name: str,
    subtitles: list[str] | tuple[()],
    limits: Mapping[str, Any],
) -> Essay:
    """Return an essay with what its file is; reject one outside of the limits."""
    info = probe_isolated(path)
    if info.cut:
        raise MediaError(path, info.cut)
    _check_limits(info, limits)
    longest, flags = limits["longest"], essay.flags
    seconds = round(info.duration, 3)
    if seconds > longest:
        flags = (*flags, f"truncated at {longest:g} s")
    fetched = {
        "file": essay.file,
        "subtitles": list(subtitles),
        "seconds": seconds,
    }
    return structs.replace(
        essay,
        file=name,
        clip=name,
        sha256=media_digest(path),
        seconds=min(seconds, longest),
        flags=flags,
        curation={**essay.curation, FETCHED: fetched},
    )


def _check_limits(info: MediaInfo, limits: Mapping[str, Any]) -> None:
    """Reject a file outside of the limits, with what was found and what is allowed."""
    if not info.has_video or info.is_image:
        raise Rejected("no moving picture", "questions are about what is seen")
    height = min(info.width, info.height)
    channels = info.audio[0].channels if info.audio else 0
    for name, value in (("height", height), ("channels", channels)):
        least, most = limits[f"least_{name}"], limits[f"most_{name}"]
        if not least <= value <= most:
            detail = f"{name} is {value}, and {least} to {most} are allowed"
            raise Rejected(f"{name} outside of the limits", detail, facts={name: value})
    seconds = round(info.duration, 3)
    if limits["over"] == "refuse" and seconds > limits["longest"]:
        detail = f"{seconds:g} s, and {limits['longest']:g} s are allowed"
        raise Rejected("too long", detail, facts={"seconds": seconds})
