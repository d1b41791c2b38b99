"""Which file a ``video_name`` means: one video, or a pair of them joined by ``_cat_``."""

import os
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from reelbench.data.paths import VIDEO_ENDINGS, link_outside, path_escapes

INSIDE = "the name of a video in the source"
_JOIN = "_cat_"


@dataclass(frozen=True, slots=True)
class VideoMatch:
    """The files of a name: their paths in the source, or why there are none.

    ``missing`` is no fault of the file of questions; ``unclear`` is.
    """

    paths: tuple[str, ...] = ()
    missing: str = ""
    unclear: tuple[str, str] | None = None  # what was found, what is expected


class Videos:
    """All videos in a folder and below it, by name."""

    def __init__(self, source: Path) -> None:
        self._named: dict[str, dict[str, str]] = defaultdict(dict)  # name: where, real path
        self._unusable: dict[str, str] = {}
        self._linked: list[str] = []  # folders, which may lead anywhere, or round in circles
        root = os.path.realpath(source)
        for path in _files(source, self._linked):
            self._add(os.path.relpath(path, source), os.path.realpath(path), root)

    def __len__(self) -> int:
        return sum(map(len, self._named.values()))

    def _add(self, path: str, real: str, root: str) -> None:
        name, inside = os.path.basename(path), os.path.relpath(real, root)
        fault = path_escapes(inside)
        if link_outside(root, real):
            fault = f"a link to {real}, outside of the source: copy it there, or mount its folder"
        elif not os.path.isfile(real):
            fault = "not a regular file"
        elif not os.path.getsize(real):
            fault = "an empty file"
        if fault:
            self._unusable[name] = fault
        else:
            self._named[name][path] = inside

    def find(self, name: str, pair: bool | None) -> VideoMatch:
        """Return the files that a name means; ``pair`` is whether it should be a pair, if known.

        A file may have ``_cat_`` in its own name, and the joined video of a pair may be beside its
        halves: the files that exist decide, then the context.
        """
        halves = [tuple(self._halves(name, at)) for at in _joins(name)]
        whole = self._all(name)
        there = [both for both in halves if all(map(self._all, both))]
        if (whole and (pair is False or (not there and pair is None))) or not halves:
            return self._taken((name,))
        if len(there) > 1:
            either = " or ".join(f"{one} and {other}" for one, other in there)
            return VideoMatch(
                unclear=(f"{name!r} ({either})", "a name that fits one pair only: rename a file")
            )
        if there:
            return self._taken(there[0])
        if pair is False:
            return self._taken((name,))
        return self._taken(max(halves, key=lambda both: sum(bool(self._all(n)) for n in both)))

    def _halves(self, name: str, at: int) -> Iterator[str]:
        """The two names; the published files have an ending more: ``A.mp4_cat_B.mp4.mp4``."""
        yield name[:at]
        second = name[at + len(_JOIN) :]
        shorter = os.path.splitext(second)[0]
        doubled = shorter.casefold().endswith(VIDEO_ENDINGS)
        yield shorter if doubled and (self._all(shorter) or not self._all(second)) else second

    def _taken(self, names: Sequence[str]) -> VideoMatch:
        missing = "; ".join(self._why_not(name) for name in names if not self._all(name))
        for name in names:
            if reason := path_escapes(name):
                return VideoMatch(unclear=(f"{name!r} ({reason})", INSIDE))
            places = sorted(self._all(name))
            if len(places) > 1:
                found = f"{name!r}, which is in {' and in '.join(places)}"
                expected = f"one video of that name: add its folder, as in {places[0]}"
                return VideoMatch(unclear=(found, expected))
        if missing:
            return VideoMatch(missing=missing)
        return VideoMatch(tuple(next(iter(self._all(name).values())) for name in names))

    def _all(self, name: str) -> dict[str, str]:
        """Return the files of a name, which may begin with folders: where, and the real path."""
        named = self._named.get(name.rpartition("/")[2], {})
        if "/" in name and name in named:
            return {name: named[name]}
        fit = {at: real for at, real in named.items() if at == name or at.endswith(f"/{name}")}
        places = {real: at for at, real in fit.items()}  # a link and what it leads to are one
        return {at: real for real, at in places.items()}

    def _why_not(self, name: str) -> str:
        links = f" (links to folders are not followed: {', '.join(sorted(self._linked))})"
        absent = "no such video" + (links if self._linked else "")
        return f"{name}: {self._unusable.get(name.rpartition('/')[2], absent)}"


def _joins(name: str) -> list[int]:
    """Return the places at which a name may be two."""
    ends = len(name) - len(_JOIN)
    return [found.start() for found in re.finditer(f"(?={_JOIN})", name)
            if 0 < found.start() < ends]  # fmt: skip


def _files(source: Path, linked: list[str]) -> Iterator[str]:
    """Yield videos in order, hidden ones left out; note folders that are links, and stay out."""
    for folder, folders, files in os.walk(source):
        linked += [name for name in folders if os.path.islink(os.path.join(folder, name))]
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(files):
            if not name.startswith(".") and name.casefold().endswith(VIDEO_ENDINGS):
                yield os.path.join(folder, name)
