"""The files below a folder by name, stem and folder: made once, asked for every item."""

import os
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from reelbench.base.limits import LimitError
from reelbench.base.progress import progress
from reelbench.interop.imports.archive_parts import ArchiveParts, is_archive_name
from reelbench.interop.imports.archives import PackedFile, list_archive
from reelbench.interop.imports.wanted_names import KINDS, split_ending

MOST_FILES = 2_000_000
_LEAST_FRAMES = 2  # images that make a folder one of frames
_SKIPPED = (".", "__MACOSX")  # how the names of what is hidden, or nobody's, begin


@dataclass(frozen=True, slots=True)
class IndexedFile:
    """A file on disk or in an archive."""

    path: str  # below the folder, or in its archive; with /
    file: str = ""  # on disk
    packed: PackedFile | None = None


class NameIndex:
    """Files by their names; what fits a name best comes first."""

    def __init__(self) -> None:
        self._names: dict[str, list[IndexedFile]] = defaultdict(list)
        self._stems: dict[str, list[IndexedFile]] = defaultdict(list)
        self._folded: dict[str, list[IndexedFile]] | None = None
        self._ids: dict[str, list[IndexedFile]] | None = None
        self.media_count = 0

    def add(self, path: str, file: str = "", packed: PackedFile | None = None) -> None:
        """Add a file by its path, with / between folders."""
        path = path if path.isascii() else unicodedata.normalize("NFC", path)
        one = IndexedFile(path, file, packed)
        name = path.rpartition("/")[2]
        stem, ending = split_ending(name)
        self._names[name].append(one)
        if ending:
            self._stems[stem].append(one)
            self.media_count += KINDS[ending] != "subtitles"
        self._folded = self._ids = None

    def candidates(self, name: str, kind: str) -> Iterator[tuple[str, list[IndexedFile]]]:
        """Yield how files fit a name, and which ones: the name, another ending, case, ``[id]``."""
        stem, ending = split_ending(name)
        yield "name", self._names.get(name, [])
        yield "ending", _of_kind(self._stems.get(stem, []), ending, kind)
        if ending:  # "x.mp4.mp4", and a file without any ending
            yield "ending", _of_kind(self._stems.get(name, []), ending, kind)
            yield "ending", self._names.get(stem, [])
        if self._folded is None or self._ids is None:
            self._folded = _grouped(self._names, str.casefold)
            stems = _grouped(self._stems, lambda each: f"{each.casefold()}/")  # no file ends so
            self._folded.update(stems)
            self._ids = _grouped(self._stems, _bracketed)
        yield "case", self._folded.get(name.casefold(), [])
        yield "case", _of_kind(self._folded.get(f"{stem.casefold()}/", []), ending, kind)
        yield "id", _of_kind(self._ids.get(stem, []), ending, kind)

    def of_other_kinds(self, name: str) -> list[IndexedFile]:
        """Return the media of a stem, whatever their kind."""
        return self._stems.get(split_ending(name)[0], [])


def _of_kind(found: list[IndexedFile], ending: str, kind: str) -> list[IndexedFile]:
    """Return those of the kind that an ending or the caller names, or of the likeliest one."""
    kinds = [KINDS[ending]] if ending else [kind] if kind else ["video", "sound", "image"]
    for each in kinds:
        if fit := [one for one in found if KINDS[split_ending(one.path)[1]] == each]:
            return fit
    return []


def _grouped(
    groups: Mapping[str, list[IndexedFile]], key: Callable[[str], str]
) -> dict[str, list[IndexedFile]]:
    made: dict[str, list[IndexedFile]] = defaultdict(list)
    for name, found in groups.items():
        made[key(name)] += found
    return made


def _bracketed(stem: str) -> str:
    """Return the id that yt-dlp writes at the end of a name: ``A title [dQw4w9WgXcQ]``."""
    return stem[stem.rfind("[") + 1 : -1] if stem.endswith("]") and "[" in stem else ""


@dataclass(slots=True)
class FolderIndex:
    """What lies below a folder: its files, archives, folders of frames, and what cannot be used."""

    files: NameIndex = field(default_factory=NameIndex)
    archives: list[Path] = field(default_factory=list)
    frames: dict[str, tuple[str, int]] = field(default_factory=dict)  # name: path, images
    unusable: dict[str, str] = field(default_factory=dict)  # name: why
    notes: list[str] = field(default_factory=list)
    count: int = 0


def index_folder(root: Path, skip: Collection[Path] = ()) -> FolderIndex:
    """Return what lies below a folder; links are followed, as the user named the folder."""
    made = FolderIndex()
    seen = {_identity(path) for path in skip if path.exists()}
    waiting = [(str(root), "")]
    while waiting:
        folder, below = waiting.pop()
        try:
            identity = _identity(folder)
            if identity in seen:  # a link that leads round in circles, or what is left out
                continue
            seen.add(identity)
            with os.scandir(folder) as entries:
                listed = sorted(entries, key=lambda entry: entry.name)
        except OSError as error:
            made.notes.append(f"{folder} cannot be read: {error.strerror}.")
            continue
        inner = _add_folder(made, folder, below, listed)
        waiting += [(os.path.join(folder, name), f"{below}{name}/") for name in reversed(inner)]
        if made.count > MOST_FILES:
            raise LimitError(
                f"{root} has more than {MOST_FILES:,} files: name the folder of the videos "
                "themselves with --media."
            )
    return made


def _identity(path: str | Path) -> tuple[int, int]:
    status = os.stat(path)
    return status.st_dev, status.st_ino


def _add_folder(
    made: FolderIndex, folder: str, below: str, entries: list[os.DirEntry[str]]
) -> list[str]:
    """Add the files of one folder; return the names of the folders in it."""
    inner: list[str] = []
    images = others = 0
    for entry in entries:
        name = entry.name
        if name.startswith(_SKIPPED):
            continue
        if entry.is_dir():
            inner.append(name)
        elif entry.is_file():
            made.count += 1
            if is_archive_name(name):
                made.archives.append(Path(folder, name))
                continue
            made.files.add(below + name, os.path.join(folder, name))
            kind = KINDS.get(split_ending(name)[1])
            images += kind == "image"
            others += kind in ("video", "sound")
        elif entry.is_symlink():
            why = f"a link to {os.readlink(entry.path)}, where there is no file"
            made.unusable[unicodedata.normalize("NFC", name)] = why
    if below and images >= _LEAST_FRAMES and not others:
        name = unicodedata.normalize("NFC", below.split("/")[-2])
        made.frames.setdefault(name, (below, images))
    return inner


@dataclass(slots=True)
class ArchiveIndex:
    """What is in archives: their files, what cannot be unpacked, and what is wrong with them."""

    files: NameIndex = field(default_factory=NameIndex)
    unusable: dict[str, str] = field(default_factory=dict)  # name: why
    faults: list[str] = field(default_factory=list)


def index_archives(archives: Sequence[ArchiveParts]) -> ArchiveIndex:
    """Return what is in archives."""
    made = ArchiveIndex()
    with progress("reading archives", len(archives), "archives") as advance:
        for archive in archives:
            outer = list_archive(archive)
            for listing in (outer, *map(list_archive, outer.inner)):
                for one in listing.files:
                    made.files.add(one.path, packed=one)
                made.unusable |= listing.unusable
                made.faults += listing.faults
            advance()
    return made
