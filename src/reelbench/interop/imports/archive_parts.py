"""Archives by their names, and those that come in parts as one file.

``videos.zip.001``, ``.002``; ``videos.z01``, ``videos.zip``; ``videos.tar.part-aa``;
``videos.tar.gz.aa``; ``videos.tar.00``; ``videos_part_aa``: the parts in order are the archive.
Chunks that are whole archives each need nothing of this.
"""

import bisect
import io
import itertools
import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, cast

_WHOLE = r"zip|tar|tgz|tbz2?|txz|tzst|tar\.(?:gz|bz2|xz|lzma|zst)|rar|7z"
_NUMBER = r"(?P<number>\d{1,4}|[a-z]{2,3})"
_IS_WHOLE = re.compile(rf".+\.(?:{_WHOLE})", re.IGNORECASE | re.DOTALL)
_IS_SPANNED = re.compile(r"(?P<base>.+)\.z(?P<number>\d{2,4})", re.IGNORECASE | re.DOTALL)
_IS_PART = re.compile(
    rf"(?P<base>.+\.(?:{_WHOLE}))(?P<sign>[._-](?:part|p|chunk)?[._-]?){_NUMBER}"
    rf"|(?P<base2>.+)(?P<sign2>[._-]part[._-]?){_NUMBER.replace('number', 'number2')}",
    re.IGNORECASE | re.DOTALL,
)
_MOST_AHEAD = 26  # a lone "videos.zip.txt" is no part, though it is made of letters
_SPANNED = "spanned"


@dataclass(frozen=True, slots=True)
class ArchiveParts:
    """An archive: its files in order, and the names of parts that are not there."""

    parts: tuple[Path, ...]
    missing: tuple[str, ...] = ()
    following: str = ""  # the name that one more part would have
    inner: str = ""  # the name of an archive that lies in this one as it is
    span: tuple[int, int] | None = None  # where that one begins, and its size

    @property
    def label(self) -> str:
        """The archive as a sentence names it."""
        first, last = self.parts[0], self.parts[-1]
        name = str(first) if first == last else f"{first} to {last.name}"
        return f"{self.inner} in {name}" if self.inner else name

    def open(self) -> "JoinedFile":
        """Open the archive as one file."""
        return JoinedFile(self.parts, self.span)


def is_archive_name(name: str) -> bool:
    """Whether a file's name is one of an archive, or of a part of one."""
    patterns = _IS_WHOLE, _IS_SPANNED, _IS_PART
    return any(pattern.fullmatch(name) for pattern in patterns)


def group_archives(paths: Iterable[Path]) -> list[ArchiveParts]:
    """Return the archives that files are, the parts of each together."""
    groups: dict[tuple[Path, str, str, int], dict[int, Path]] = defaultdict(dict)
    whole: dict[tuple[Path, str], Path] = {}
    for path in paths:
        if spanned := _IS_SPANNED.fullmatch(path.name):
            base, number = spanned["base"], spanned["number"]
            groups[path.parent, base, _SPANNED, 0][int(number)] = path
        elif _IS_WHOLE.fullmatch(path.name):
            whole[path.parent, path.name.casefold()] = path
        elif part := _IS_PART.fullmatch(path.name):
            base = (part["base"] or part["base2"]) + (part["sign"] or part["sign2"])
            number = part["number"] or part["number2"]
            width = 0 if number.isdecimal() else len(number)
            groups[path.parent, base, "", width][_place_of(number)] = path
    made = []
    for (folder, base, kind, width), parts in groups.items():
        if kind == _SPANNED:
            made.append(_spanned(parts, base, whole.pop((folder, f"{base}.zip".casefold()), None)))
        elif min(parts) <= _MOST_AHEAD:
            made.append(_consecutive(parts, base, width))
    made += [ArchiveParts((path,)) for path in whole.values()]
    return sorted(made, key=lambda archive: archive.parts)


def _place_of(number: str) -> int:
    """Return the place of a part: 7 for ``007``, 1 for ``ab``."""
    if number.isdecimal():
        return int(number)
    place = 0
    for letter in number.lower():
        place = place * 26 + ord(letter) - ord("a")
    return place


def _part_name(base: str, place: int, width: int, digits: int) -> str:
    if not width:
        return f"{base}{place:0{digits}d}"
    letters = ""
    for _ in range(width):
        place, letter = divmod(place, 26)
        letters = chr(ord("a") + letter) + letters
    return base + letters


def _consecutive(parts: dict[int, Path], base: str, width: int) -> ArchiveParts:
    places = sorted(parts)
    first = min(0 if width else 1, places[0])
    digits = len(parts[places[0]].name) - len(base)
    absent = [place for place in range(first, places[-1]) if place not in parts]
    return ArchiveParts(
        parts=tuple(parts[place] for place in places),
        missing=tuple(_part_name(base, place, width, digits) for place in absent),
        following=_part_name(base, places[-1] + 1, width, digits),
    )


def _spanned(parts: dict[int, Path], base: str, last: Path | None) -> ArchiveParts:
    places = sorted(parts)
    absent = [f"{base}.z{place:02d}" for place in range(1, places[-1]) if place not in parts]
    return ArchiveParts(
        parts=(*(parts[place] for place in places), *((last,) if last else ())),
        missing=(*absent, *(() if last else (f"{base}.zip",))),
    )


class JoinedFile(io.RawIOBase):
    """Several files as one, for reading; some bytes may be replaced by others."""

    def __init__(self, paths: Sequence[Path], span: tuple[int, int] | None = None) -> None:
        """Show a span of the files, its beginning and size, or all of them."""
        self._paths = paths
        sizes = [path.stat().st_size for path in paths]
        self.starts = [0, *itertools.accumulate(sizes)]
        self._first, self._size = span or (0, self.starts[-1])
        self._at = 0
        self._open: tuple[int, BinaryIO] | None = None
        self._other: tuple[int, bytes] = (0, b"")

    def replace_bytes(self, at: int, data: bytes) -> None:
        """Show these bytes in the place of those that are in the files."""
        self._other = at, data

    def readable(self) -> bool:
        """Return True."""
        return True

    def seekable(self) -> bool:
        """Return True."""
        return True

    def tell(self) -> int:
        """Return the place in the whole."""
        return self._at

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Go to a place in the whole."""
        base = (0, self._at, self._size)[whence]
        if base + offset < 0:
            raise OSError("a place before the file")
        self._at = base + offset
        return self._at

    def readinto(self, buffer: object) -> int:
        """Read from one of the files, up to its end."""
        view = memoryview(cast("bytearray", buffer)).cast("B")
        view = view[: max(0, self._size - self._at)]
        place = self._first + self._at
        number = bisect.bisect_right(self.starts, place) - 1
        if number >= len(self._paths) or not view:
            return 0
        if self._open is None or self._open[0] != number:
            self._close_part()
            self._open = number, self._paths[number].open("rb")
        file = self._open[1]
        file.seek(place - self.starts[number])
        count = file.readinto(view)  # type: ignore[attr-defined]
        self._overlay(view[:count])
        self._at += count
        return int(count)

    def _overlay(self, view: memoryview) -> None:
        at, data = self._other
        first, last = max(at, self._at), min(at + len(data), self._at + len(view))
        if first < last:
            view[first - self._at : last - self._at] = data[first - at : last - at]

    def _close_part(self) -> None:
        if self._open:
            self._open[1].close()
            self._open = None

    def close(self) -> None:
        """Close what is open."""
        self._close_part()
        super().close()
