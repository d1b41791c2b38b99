"""Media that a run would refuse, broken subtitles, and times past the end of a file."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

from reelbench.base.errors import ReelbenchError
from reelbench.base.progress import track
from reelbench.base.workers import cores
from reelbench.client.media_input import MediaInput
from reelbench.data.benchmark import Benchmark
from reelbench.data.items import Item
from reelbench.data.manifest import Manifest
from reelbench.evaluate.condition import PROTOCOL, Condition
from reelbench.evaluate.item_media import item_media, subtitles_of
from reelbench.lint.findings import Finding
from reelbench.media.decode.isolated import probe_isolated
from reelbench.media.decode.probe import MediaInfo
from reelbench.media.errors import MediaError
from reelbench.media.subtitles import read_subtitles
from reelbench.models.card import Card

_ROUNDING = 0.1  # seconds: containers and annotators round durations
_EVERYTHING = Card(name="lint", hears=True)  # takes in whatever the protocol shows
Line = tuple[int, Item]
Work = TypeVar("Work")
Result = TypeVar("Result")


def media_findings(
    root: Path, items: Sequence[Line], manifest: Manifest | None = None
) -> Iterator[Finding]:
    """Yield findings of media that a run cannot show, and of times past their end.

    The frames stay in the store, so that a run that follows need not decode them.
    """
    benchmark = Benchmark(root, manifest or Manifest("lint", "1"), tuple(i for _, i in items))
    users: dict[str, list[Line]] = defaultdict(list)
    for line, item in items:
        for name in dict.fromkeys(media.path for media in item.media):
            users[name].append((line, item))
    durations: dict[str, float] = {}
    for path, info in _each(users, lambda path: _probed(root / path), "Opening media"):
        if isinstance(info, MediaInfo):
            durations[path] = info.duration
            continue
        for line, item in users[path]:
            yield _finding(path, info, item, line)
    yield from _subtitle_findings(benchmark, items)
    whole: list[Line] = []
    for line, item in items:
        late = list(_late(item, line, durations))
        yield from late
        past_end = any(finding.tag == "WINDOW_PAST_END" for finding in late)
        if not past_end and all(media.path in durations for media in item.media):
            whole.append((line, item))
    yield from _shown_findings(benchmark, whole)


def _each(
    work: Iterable[Work], do: Callable[[Work], Result], label: str
) -> Iterator[tuple[Work, Result]]:
    """Yield each piece of work with its result, in order; as many at a time as there are cores."""
    todo = list(work)
    with ThreadPoolExecutor(cores()) as threads:
        done = track(threads.map(do, todo), label, len(todo), "files")
        yield from zip(todo, done, strict=True)


def _probed(path: Path) -> MediaInfo | MediaError:
    try:
        info = probe_isolated(path)
    except MediaError as error:
        return error
    return MediaError(path, f"{info.cut}: fetch it again") if info.cut else info


def _finding(path: str, error: MediaError, item: Item, line: int) -> Finding:
    tag = "MISSING_MEDIA" if error.reason == "no such file" else "UNREADABLE_MEDIA"
    return Finding.of(tag, f"{path}: {error.reason}", item, line)


def _subtitle_findings(benchmark: Benchmark, items: Sequence[Line]) -> Iterator[Finding]:
    """Yield findings of subtitles that cannot be read; models that take no audio get them."""
    errors: dict[str, MediaError | None] = {}
    for line, item in items:
        files = (subtitles_of(benchmark.root, media) for media in item.media)
        for file in dict.fromkeys(file for file in files if file is not None):
            name = file.relative_to(benchmark.root).as_posix()
            if name not in errors:
                errors[name] = _subtitle_error(file)
            error = errors[name]
            if error:
                yield _finding(name, error, item, line)


def _subtitle_error(path: Path) -> MediaError | None:
    try:
        read_subtitles(path)
    except MediaError as error:
        return error
    return None


def _shown_findings(benchmark: Benchmark, items: Sequence[Line]) -> Iterator[Finding]:
    """Yield findings of media that cannot be rendered for a run; equal inputs are rendered once."""
    shown: dict[MediaInput, list[Line]] = defaultdict(list)
    try:
        condition = Condition.of(benchmark.manifest.protocol, PROTOCOL, {})
        for line, item in items:
            media = item_media(benchmark.root, item, condition.protocol)
            shown[media.for_card(_EVERYTHING, item.id)].append((line, item))
    except ReelbenchError as error:
        yield Finding.of("BAD_FIELD", str(error))
        return
    ordered = sorted(shown, key=lambda media: media.order)
    for media, fault in _each(ordered, _media_error, "Decoding media"):
        if fault:
            name = fault.path.relative_to(benchmark.root).as_posix()
            for line, item in shown[media]:
                yield _finding(name, fault, item, line)


def _media_error(media: MediaInput) -> MediaError | None:
    try:
        media.render()
    except MediaError as error:
        return error
    return None


def _late(item: Item, line: int, durations: dict[str, float]) -> Iterator[Finding]:
    for media in item.media:
        duration = durations.get(media.path)
        latest = max(media.start or 0.0, media.end or 0.0)
        if duration is not None and latest > duration + _ROUNDING:
            message = f"{media.path} ends at {duration:.2f} s, the item asks for {latest} s"
            yield Finding.of("WINDOW_PAST_END", message, item, line)
    known = [durations.get(media.path) for media in item.media]
    if not item.evidence or None in known:
        return
    longest = max(duration for duration in known if duration is not None)
    last = max(end for _, end in item.evidence)
    if last > longest + _ROUNDING:
        message = f"evidence at {last} s, but the media end at {longest:.2f} s"
        yield Finding.of("EVIDENCE_PAST_END", message, item, line)
