"""Archives of media: what is in them, and the files that items need out of them.

Nothing is written but the files that are asked for, at paths that we choose: what an archive calls
a member decides nothing. Each file is written whole or not at all, so that a killed import goes on
where it was.
"""

import lzma
import os
import re
import shutil
import struct
import tarfile
import unicodedata
import zipfile
import zlib
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO, TypeVar

from reelbench.base.errors import ReelbenchError
from reelbench.base.files import link_or_copy, write_chunks_atomically
from reelbench.base.limits import LimitError
from reelbench.base.progress import Advance, megabytes, progress
from reelbench.interop.imports.archive_parts import ArchiveParts, is_archive_name
from reelbench.interop.imports.signatures import HEAD, not_media
from reelbench.interop.imports.tar_archives import (
    GRACE,
    MOST_RATIO,
    UnsupportedArchiveError,
    open_tar,
    tar_fault,
)
from reelbench.interop.imports.zip_archives import open_zip, zip_fault, zip_name, zip_span

Element = TypeVar("Element")
MOST_MEMBERS = 2_000_000
_CHUNK = 1 << 20
_DAMAGE = (
    *(zipfile.BadZipFile, tarfile.TarError, zlib.error, lzma.LZMAError, EOFError, OSError),
    *(ValueError, KeyError, IndexError, OverflowError, struct.error, NotImplementedError),
    RuntimeError,  # zipfile's, for a password, and too deep a recursion
    MemoryError,  # a header that promises more than there is
)


@dataclass(frozen=True, slots=True)
class PackedFile:
    """A file in an archive."""

    archive: ArchiveParts
    number: int  # of the member, in the order of the archive
    path: str  # below the top of the archive, with /
    size: int  # when unpacked
    crc: int | None = None  # where the archive has one


@dataclass(slots=True)
class ArchiveListing:
    """The files in an archive, the members that cannot be unpacked, and what is wrong with it."""

    files: list[PackedFile] = field(default_factory=list)
    unusable: dict[str, str] = field(default_factory=dict)  # name: why
    inner: list[ArchiveParts] = field(default_factory=list)  # archives in it
    faults: list[str] = field(default_factory=list)  # sentences


def list_archive(archive: ArchiveParts) -> ArchiveListing:
    """Return what is in an archive; one that is damaged gives what could be read, and a fault."""
    made = ArchiveListing()
    if archive.missing:
        names = ", ".join(archive.missing[:5]) + (", ..." if len(archive.missing) > 5 else "")
        made.faults = [f"{archive.label}: part {names} is missing: put it beside the others."]
        return made
    form = ""
    try:
        form = archive_form(archive)
        if not form:
            made.faults = [_no_archive(archive)]
        elif form == "zip":
            _list_zip(archive, made)
        else:
            _list_tar(archive, form, made)
    except UnsupportedArchiveError as error:
        made.faults = [f"{archive.label}: {error}."]
    except LimitError as error:
        made.files.clear()
        made.faults = [f"{archive.label} is not unpacked: {error}."]
    except _DAMAGE as error:
        if form not in ("zip", "tar"):
            made.files.clear()  # the one checksum of a compressed tar is of all of it
        made.faults = [_damage(archive, error)]
    return made


def unpack(wanted: Mapping[Path, PackedFile]) -> dict[Path, str]:
    """Write files of archives to paths; return the paths that got none, with the reason.

    What is there already in full length is kept. A disk that is full, or would be, raises an error.
    """
    left = {path: one for path, one in wanted.items() if not _is_there(path, one)}
    _check_space(left)
    groups: dict[ArchiveParts, dict[int, list[Path]]] = defaultdict(lambda: defaultdict(list))
    for path, one in left.items():
        groups[one.archive][one.number].append(path)
    total = sum(one.size for one in left.values()) >> 20
    faults: dict[Path, str] = {}
    with progress("unpacking", total, "MiB") as advance:
        for archive, paths in groups.items():
            faults |= _unpack_one(archive, paths, advance)
    return faults


def archive_form(archive: ArchiveParts) -> str:
    """Return what an archive is by its first bytes: zip, tar, gz, bz2, xz, zst, or empty."""
    head = _head(archive)
    for start, form in _STARTS.items():
        if head.startswith(start):
            return form
    if head[257:262] == b"ustar" or (".tar" in archive.parts[0].name.lower() and head[:1] > b" "):
        return "tar"
    # A zip may have a program in front of it, which unpacks it.
    return "zip" if head.startswith((b"MZ", b"\x7fELF", b"#!")) else ""


_STARTS = {
    b"PK\x03\x04": "zip",
    b"PK\x05\x06": "zip",
    b"PK\x07\x08": "zip",
    b"PK00": "zip",
    b"\x1f\x8b": "gz",
    b"BZh": "bz2",
    b"\xfd7zXZ\x00": "xz",
    b"\x5d\x00\x00": "xz",
    b"\x28\xb5\x2f\xfd": "zst",
}


def _head(archive: ArchiveParts) -> bytes:
    with archive.open() as file:
        return file.read(HEAD) or b""


def _no_archive(archive: ArchiveParts) -> str:
    head = _head(archive)
    if what := not_media(head):
        return f"{archive.label} is {what}."
    if head.startswith((b"Rar!", b"7z\xbc\xaf")):
        return f"{archive.label} is a RAR or 7-Zip archive: unpack it yourself, beside the list."
    return f"{archive.label} is no zip or tar archive, or it is damaged: fetch it again."


def _list_zip(archive: ArchiveParts, made: ArchiveListing) -> None:
    with open_zip(archive) as opened:
        for number, info in enumerate(_at_most(opened.infolist())):
            if info.is_dir():
                continue
            fault = zip_fault(info)
            if info.file_size > max(GRACE, MOST_RATIO * info.compress_size):
                fault = f"{info.file_size >> 20:,} MiB in {info.compress_size:,} bytes, no medium"
            one = PackedFile(archive, number, zip_name(info), info.file_size, info.CRC)
            if not fault and is_archive_name(one.path.rpartition("/")[2]):
                _add_inner(made, one, zip_span(opened, info))
            else:
                _add(made, one, fault)


def _list_tar(archive: ArchiveParts, form: str, made: ArchiveListing) -> None:
    last: tuple[PackedFile, str] | None = None
    with open_tar(archive, form) as opened:
        for number, member in enumerate(_at_most(opened)):
            if last:  # it is whole, as there is one behind it
                _add(made, *last)
            last = None
            one, fault = PackedFile(archive, number, member.name, member.size), tar_fault(member)
            if not fault and is_archive_name(one.path.rpartition("/")[2]):
                _add_inner(made, one, (member.offset_data, member.size) if form == "tar" else None)
            elif not member.isdir():
                last = one, fault
    if last:
        _add(made, *last)


def _add_inner(made: ArchiveListing, one: PackedFile, span: tuple[int, int] | None) -> None:
    """Add an archive that lies in another as it is; one that is compressed again is not opened."""
    label = f"{one.path} in {one.archive.label}"
    if span and not one.archive.inner:
        made.inner.append(replace(one.archive, inner=one.path, span=span, following=""))
    else:
        made.faults.append(f"{label} is an archive inside of another: unpack it yourself.")


def _at_most(members: Iterable[Element]) -> Iterator[Element]:
    for number, member in enumerate(members):
        if number >= MOST_MEMBERS:
            raise LimitError(f"it has more than {MOST_MEMBERS:,} members")
        yield member


def _add(made: ArchiveListing, one: PackedFile, fault: str) -> None:
    """Add a member under a path without drive and leading slashes, unless it leads elsewhere."""
    path = re.sub(r"^[A-Za-z]:", "", one.path.replace("\\", "/"))
    parts = [part for part in path.split("/") if part not in ("", ".")]
    if not parts or any(part.startswith((".", "__MACOSX")) and part != ".." for part in parts):
        return
    if ".." in parts:
        fault = "a path that leads out of the archive"
    elif not one.size:
        fault = fault or "empty (0 bytes)"
    if fault:
        made.unusable.setdefault(unicodedata.normalize("NFC", parts[-1]), fault)
    else:
        made.files.append(replace(one, path="/".join(parts)))


def _unpack_one(
    archive: ArchiveParts, paths: Mapping[int, list[Path]], advance: Advance
) -> dict[Path, str]:
    """Write the members of one archive; return the paths that got none, with the reason."""
    rest, faults = dict(paths), dict[Path, str]()
    form = archive_form(archive)
    why = f"{archive.label} has changed since it was listed."
    try:
        for number, size, file in _members(archive, form, rest.keys()):
            first, *others = rest[number]
            try:
                write_chunks_atomically(first, _chunks(file, size, advance))
            except _NotMediaError as error:
                faults |= dict.fromkeys(rest.pop(number), f"{archive.label}: {error}.")
                continue
            except _DAMAGE as error:
                _refuse_disk_errors(error, first, archive)
                if form != "zip":  # what comes behind in a stream is lost as well
                    raise
                faults |= dict.fromkeys(rest.pop(number), _damage(archive, error))
                continue
            for other in others:
                link_or_copy(first, other)
            del rest[number]
    except _DAMAGE as error:
        why = _damage(archive, error)
    return faults | {path: why for group in rest.values() for path in group}


def _members(
    archive: ArchiveParts, form: str, numbers: Collection[int]
) -> Iterator[tuple[int, int, IO[bytes]]]:
    """Yield the number, the size and the content of members, in the order of the archive."""
    left = set(numbers)
    if form == "zip":
        with open_zip(archive) as opened:
            infos = opened.infolist()
            for number in sorted(left):
                with opened.open(infos[number]) as file:
                    yield number, infos[number].file_size, file
        return
    with open_tar(archive, form) as tar:
        for number, member in enumerate(tar):
            if number in left:
                content = tar.extractfile(member)
                if content is not None:
                    yield number, member.size, content
                left.discard(number)
            if not left:
                return


class _NotMediaError(Exception):
    """A member that is something else than its name promises."""


def _chunks(file: IO[bytes], size: int, advance: Advance) -> Iterator[bytes]:
    """Yield a file in pieces; raise ``EOFError`` where it is not as long as its archive says."""
    done = 0
    while piece := file.read(_CHUNK):
        if not done and (what := not_media(piece[:HEAD])):
            raise _NotMediaError(f"a member is {what}")
        done += len(piece)
        if done > size:
            break
        advance(len(piece) / 2**20)
        yield piece
    if done != size:
        raise EOFError(f"a member is not of the {size:,} bytes that the archive has for it")


def _is_there(path: Path, one: PackedFile) -> bool:
    """Whether a file was unpacked before: they appear whole, so that the size tells."""
    if not os.path.lexists(path):
        return False
    if path.is_file() and path.stat().st_size == one.size:
        return True
    raise ReelbenchError(
        f"{path} exists and is not {one.path} of {one.archive.label}: move it away, or name "
        "another folder with --out."
    )


def _check_space(wanted: Mapping[Path, PackedFile]) -> None:
    for folder in {path.parent for path in wanted}:
        folder.mkdir(parents=True, exist_ok=True)
    if wanted:
        needed = sum(one.size for one in wanted.values())
        folder = next(iter(wanted)).parent
        free = shutil.disk_usage(folder).free
        if needed > free:
            raise ReelbenchError(
                f"The media to be unpacked take {megabytes(needed)}, and {folder} has "
                f"{megabytes(free)} free: make room, or name a folder on another disk with --out."
            )


def _refuse_disk_errors(error: BaseException, path: Path, archive: ArchiveParts) -> None:
    if isinstance(error, OSError) and error.errno:
        raise ReelbenchError(
            f"{path} cannot be written from {archive.label} ({error.strerror}): make room, or see "
            "to the disk, and give the same command again, which goes on from here."
        ) from error


def _damage(archive: ArchiveParts, error: BaseException) -> str:
    """Return the sentence for an archive that is cut or damaged."""
    if isinstance(error, OSError) and error.errno:
        return f"{archive.label} cannot be read: {error.strerror}."
    why = str(error) or type(error).__name__
    cut = isinstance(error, EOFError) or "unexpected end of data" in why or "not a zip" in why
    if cut and archive.following:
        return (
            f"{archive.label} end too early ({why}): the part {archive.following} is missing, or "
            "one of them is cut. Fetch the parts again."
        )
    if cut:
        return f"{archive.label} ends too early ({why}): fetch it again."
    return f"{archive.label} is damaged ({why}): fetch it again."
