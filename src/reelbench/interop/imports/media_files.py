"""The media of a list, found in a folder however it was unzipped, and put into a benchmark.

A list names ``x.mp4``; the disk has ``videos_chunked_01/data/x.mkv``. A name is matched exactly,
then with another ending of the same kind, then with other case, then by yt-dlp's ``[id]``; several
files of one name are told apart by the longest common tail of their folders, then by hints. What
is not certain is reported, never guessed.
"""

import itertools
import os
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path

from reelbench.base.errors import ReelbenchError
from reelbench.base.files import digest_of, link_or_copy
from reelbench.base.progress import counted, track
from reelbench.data.paths import link_outside
from reelbench.interop.imports.archive_parts import ArchiveParts, group_archives
from reelbench.interop.imports.archives import PackedFile, unpack
from reelbench.interop.imports.found_media import FoundMedium, Request
from reelbench.interop.imports.media_index import (
    ArchiveIndex,
    IndexedFile,
    NameIndex,
    index_archives,
    index_folder,
)
from reelbench.interop.imports.media_matching import (
    best_fit,
    common_tail,
    distinct_files,
    same_content,
)
from reelbench.interop.imports.shared_files import contested, in_one_spelling
from reelbench.interop.imports.signatures import head_of, is_media, is_subtitles, not_media
from reelbench.interop.imports.wanted_names import (
    KINDS,
    link_in,
    plain_name,
    split_ending,
    wanted_parts,
)

_MOST_PART = 200  # bytes; disks hold 255, and an ending may be added
MEDIA = "media"  # the folder of a benchmark that they are put into


class MediaFinder:
    """Finds media in a folder and below it, and in the archives there where files are missing."""

    def __init__(
        self, folder: Path, skip: Collection[Path] = (), open_archives: bool = True
    ) -> None:
        """Index a folder; what lies in ``skip``, such as the folder that is made, is left out."""
        self.folder = folder
        self._index = index_folder(folder, skip)
        self._faults: dict[str, tuple[str, str]] = {}
        self._packed: ArchiveIndex | None = None
        self._open_archives = open_archives

    @property
    def media_count(self) -> int:
        """How many media there are, besides those in archives."""
        return self._index.files.media_count

    @property
    def archives(self) -> list[ArchiveParts]:
        """The archives in the folder, the parts of each together."""
        return group_archives(self._index.archives)

    @property
    def notes(self) -> list[str]:
        """Sentences about what could not be read."""
        closed = []
        if self._index.archives and not self._open_archives:
            closed = [f"{counted(len(self.archives), 'archive')} below {self.folder} not opened."]
        return [*self._index.notes, *closed, *(self._packed.faults if self._packed else ())]

    def find(self, wanted: str, hints: Sequence[str] = (), kind: str = "") -> FoundMedium:
        """Return the file that a name means.

        ``hints`` are words that tell folders apart, such as the task. ``kind`` is ``video``,
        ``sound``, ``image`` or ``subtitles``, for names that have no ending.
        """
        found = self._find_in(self._index.files, wanted, hints, kind)
        return found or self._find_packed(wanted, hints, kind)

    def find_all(
        self, requests: Iterable[tuple[str, Sequence[str]]], kind: str = ""
    ) -> dict[Request, FoundMedium]:
        """Return the files that names mean, by name and hints.

        Where several names lead to one file, ``shared_files.py`` says whose it is. A name that
        loses it may have a file of its own in an archive.
        """
        asked = list(dict.fromkeys((wanted, tuple(hints)) for wanted, hints in requests))
        found = in_one_spelling({one: self.find(*one, kind) for one in asked})
        for one, why in contested(found).items():
            packed = self._find_packed(*one, kind) if found[one].path else None
            found[one] = FoundMedium(one[0], reason="shared", why=why)
            if packed and packed.is_found:
                found[one] = packed
        packed_ones = {one: medium for one, medium in found.items() if medium.packed}
        for one, why in contested(packed_ones).items():
            found[one] = FoundMedium(one[0], reason="shared", why=why)
        return found

    def _find_in(
        self, index: NameIndex, wanted: str, hints: Sequence[str], kind: str
    ) -> FoundMedium | None:
        parts = wanted_parts(wanted)
        if not parts:
            return FoundMedium(wanted, reason="missing", why=f"{wanted[:80]!r} names no file")
        for how, candidates in index.candidates(parts[-1], kind):
            if candidates:
                return self._chosen(wanted, parts, hints, how, candidates)
        return None

    def _find_packed(self, wanted: str, hints: Sequence[str], kind: str) -> FoundMedium:
        if self._index.archives and self._open_archives:
            if self._packed is None:
                self._packed = index_archives(self.archives)
            if found := self._find_in(self._packed.files, wanted, hints, kind):
                return found
        return self._absent(wanted, wanted_parts(wanted))

    def _chosen(
        self,
        wanted: str,
        parts: Sequence[str],
        hints: Sequence[str],
        how: str,
        candidates: list[IndexedFile],
    ) -> FoundMedium:
        best = best_fit(candidates, parts[:-1], hints)
        if len(best) > 1:
            best = distinct_files(best)
        if len(best) > 1:
            names = ", ".join(one.path for one in best[:3])
            more = f" and {len(best) - 3} more" if len(best) > 3 else ""
            why = f"{len(best)} files fit {parts[-1]!r}: {names}{more}"
            return FoundMedium(wanted, reason="several", why=why)
        one = best[0]
        if how == "name" and common_tail(one.path, parts[:-1]) == len(parts) - 1:
            how = "path"
        reason, why = self._fault(one)
        path = Path(one.file) if one.file and not reason else None
        packed = None if reason else one.packed
        return FoundMedium(wanted, path, packed, one.path, how, reason, why)

    def _fault(self, one: IndexedFile) -> tuple[str, str]:
        """Return why a file cannot be used, and a sentence; empty where it can be."""
        if not one.file:
            return "", ""
        if one.file not in self._faults:
            self._faults[one.file] = _file_fault(self.folder, one)
        return self._faults[one.file]

    def _absent(self, wanted: str, parts: Sequence[str]) -> FoundMedium:
        """Return why there is no file, as well as can be known."""
        name = parts[-1]
        stem = split_ending(name)[0]
        unusable = self._index.unusable | (self._packed.unusable if self._packed else {})
        if why := unusable.get(name):
            return FoundMedium(wanted, reason="unsupported", why=f"{name} is {why}")
        if frames := self._index.frames.get(name) or self._index.frames.get(stem):
            why = (
                f"{frames[0]} is a folder of {frames[1]} images, and video files are read: join "
                "them with FFmpeg"
            )
            return FoundMedium(wanted, reason="unsupported", why=why)
        if others := self._index.files.of_other_kinds(name):
            kind = KINDS[split_ending(others[0].path)[1]]
            why = f"{name} is not there, and {others[0].path} is of another kind ({kind})"
            return FoundMedium(wanted, reason="unsupported", why=why)
        if link := link_in(wanted):
            return FoundMedium(wanted, reason="link", why=f"{link} is a link")
        why = f"no file {name} below {self.folder}, with this or another ending"
        if self._packed and self._packed.faults:
            why += f"; {self._packed.faults[0].rstrip('.')}"
        elif self._index.archives and not self._open_archives:
            why += f"; {counted(len(self.archives), 'archive')} there are not opened"
        return FoundMedium(wanted, reason="missing", why=why)


def media_names(found: Iterable[FoundMedium]) -> dict[FoundMedium, str]:
    """Return the paths that media get in a benchmark: as the list names them, below ``media/``.

    They do not depend on how a folder was unzipped, except for the ending. Two files that would
    get one path are told apart by their folders on disk.
    """
    media = list(dict.fromkeys(found))
    shared = _shared_folders([one.wanted for one in media])
    names = {one: _benchmark_name(one, shared) for one in media}
    owners: dict[str, set[str]] = defaultdict(set)
    for one, name in names.items():
        owners[name.casefold()].add(one.place)
    taken = {name for name, files in owners.items() if len(files) == 1}
    numbered: dict[str, dict[str, int]] = defaultdict(dict)
    for one, name in names.items():
        if name.casefold() in taken:
            continue
        if not one.is_found:
            names[one] = _with_digest(name, one.wanted) if link_in(one.wanted) else name
            continue
        longer = f"{MEDIA}/{'/'.join(filter(None, map(plain_name, one.below.split('/'))))}"
        numbers = numbered[longer.casefold()]
        number = numbers.setdefault(one.place, len(numbers) + 1 + (longer.casefold() in taken))
        stem, ending = os.path.splitext(longer)
        names[one] = longer if number == 1 else f"{stem}-{number}{ending}"
    return names


def _with_digest(name: str, wanted: str) -> str:
    stem, ending = os.path.splitext(name)
    return f"{stem}-{digest_of(wanted)[:8]}{ending}"


def place_media(found: Mapping[str, FoundMedium | Path], out: Path) -> dict[str, str]:
    """Put files into a folder, under paths such as ``media/x.mp4``: linked, copied or unpacked.

    A file that is there already stays; another one of the same path is never overwritten. Return
    the paths that got no file because their archive is damaged, with the reason.
    """
    packed: dict[Path, PackedFile] = {}
    for name, one in track(found.items(), "Placing media", len(found), "files"):
        here = out / name
        if isinstance(one, FoundMedium) and one.packed:
            packed[here] = one.packed
            continue
        there = one.path if isinstance(one, FoundMedium) else one
        if there is None:
            raise ReelbenchError(f"{name}: there is no file to put there.")
        if not os.path.lexists(here):
            _bring(there, here)
        elif not same_content(str(there), str(here)):
            raise ReelbenchError(
                f"{here} exists and differs from {there}: move it away, or name another folder "
                "with --out."
            )
    names = {out / name: name for name in found}
    return {names[path]: why for path, why in unpack(packed).items()}


def _bring(there: Path, here: Path) -> None:
    try:
        link_or_copy(there, here)
    except OSError as error:
        raise ReelbenchError(
            f"{here} cannot be made of {there} ({error.strerror}): make room, or see to the disk, "
            "and give the same command again, which goes on from here."
        ) from error


def _benchmark_name(one: FoundMedium, shared: int) -> str:
    parts = wanted_parts(one.wanted)
    kept = parts[shared:] if _is_absolute(one.wanted) else parts
    if kept[:1] == (MEDIA,) and len(kept) > 1:
        kept = kept[1:]
    clean = [_short(part) for part in map(plain_name, kept) if part] or ["unnamed"]
    stem, ending = split_ending(clean[-1])
    ending = split_ending(one.below)[1] or ending or ".mp4"
    return "/".join([MEDIA, *clean[:-1], stem + ending])


def _short(part: str) -> str:
    """Return a part of a path that every disk can hold."""
    if len(part.encode("utf-8", "replace")) <= _MOST_PART:
        return part
    stem, ending = split_ending(part)
    return f"{stem[: _MOST_PART // 4]}-{digest_of(part)[:8]}{ending}"


def _is_absolute(wanted: str) -> bool:
    text = wanted.strip().strip("\"'").replace("\\", "/")
    return text.startswith(("/", "file://")) or text[1:3] == ":/"


def _shared_folders(names: Sequence[str]) -> int:
    """Return how many leading folders all absolute paths of a list share."""
    folders = [wanted_parts(name)[:-1] for name in names if _is_absolute(name)]
    if not folders:
        return 0
    first, last = min(folders), max(folders)
    same = (one == other for one, other in zip(first, last, strict=False))
    return sum(itertools.takewhile(bool, same))


def _file_fault(folder: Path, one: IndexedFile) -> tuple[str, str]:
    try:
        head = head_of(one.file)
    except OSError as error:
        return "damaged", f"{one.path} cannot be read: {error.strerror}"
    if not head:
        return "empty", f"{one.path} is empty (0 bytes): fetch it again"
    if what := not_media(head):
        return "damaged", f"{one.path} is {what}"
    # The folder may be somebody else's: its links must not bring other files of this machine along.
    is_known = is_media(head) or is_subtitles(head)
    if not is_known and (real := link_outside(folder, one.file)):
        return "damaged", f"{one.path} is a link to {real}, which is no medium"
    return "", ""
