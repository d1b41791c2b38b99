"""Media that are missing or broken, and times past their end."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

from reelbench.items import Item
from reelbench.make.lint.findings import Finding
from reelbench.media.errors import MediaError
from reelbench.media.probe import MediaInfo
from reelbench.media.safely import probe_safely
from reelbench.progress import track

_ROUNDING = 0.1  # seconds: containers and annotators round durations


def media_findings(root: Path, items: Sequence[tuple[int, Item]]) -> Iterator[Finding]:
    """Open every file once, and compare the items' times with its duration."""
    users: dict[str, list[tuple[int, Item]]] = defaultdict(list)
    for line, item in items:
        for media in item.media:
            users[media.path].append((line, item))
    durations: dict[str, float] = {}
    for path in track(users, "Opening media", len(users), "files"):
        found = _open(root / path)
        if isinstance(found, MediaInfo):
            durations[path] = found.duration
            continue
        tag, reason = found
        for line, item in users[path]:
            yield Finding.of(tag, f"{path}: {reason}", item, line)
    for line, item in items:
        yield from _late(item, line, durations)


def _open(path: Path) -> MediaInfo | tuple[str, str]:
    try:
        info = probe_safely(path)
    except MediaError as error:
        missing = error.reason == "no such file"
        return "MISSING_MEDIA" if missing else "UNREADABLE_MEDIA", error.reason
    if info.cut:
        return "UNREADABLE_MEDIA", f"{info.cut}: fetch it again"
    return info


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
