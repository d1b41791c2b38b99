"""Tar archives, compressed or not, read once from the beginning to the end."""

import bz2
import gzip
import io
import lzma
import tarfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from importlib import import_module
from importlib.util import find_spec
from tarfile import (  # type: ignore[attr-defined]
    EmptyHeaderError,
    EOFHeaderError,
    HeaderError,
    ReadError,
    TruncatedHeaderError,
)
from typing import IO, Self, cast

from reelbench.base.limits import LimitError
from reelbench.interop.imports.archive_parts import ArchiveParts, JoinedFile

MOST_RATIO = 200  # of unpacked to packed size: media hardly compress
GRACE = 64 * 2**20  # bytes that may be unpacked at any ratio


class UnsupportedArchiveError(ValueError):
    """An archive that this Python cannot read."""


@contextmanager
def open_tar(archive: ArchiveParts, form: str) -> Iterator[tarfile.TarFile]:
    """Open a tar archive; going through its members raises ``EOFError`` where it is cut."""
    with ExitStack() as stack:
        joined = archive.open()
        file = stack.enter_context(io.BufferedReader(joined, 1 << 20))
        if form == "tar":
            yield stack.enter_context(tarfile.open(fileobj=file, mode="r:", tarinfo=_Member))
            return
        plain = stack.enter_context(_decompressed(file, form))
        guarded = cast("IO[bytes]", _Guarded(plain, joined))
        yield stack.enter_context(tarfile.open(fileobj=guarded, mode="r|", tarinfo=_Member))
        while guarded.read(1 << 20):  # the checksum is behind the last member
            pass


def tar_fault(member: tarfile.TarInfo) -> str:
    """Return why a member cannot be unpacked; empty where it can be."""
    if not member.isreg():
        return "a link or a device, which is not unpacked"
    return "a sparse file, which is not unpacked" if member.issparse() else ""


def _decompressed(file: IO[bytes], form: str) -> IO[bytes]:
    if form == "gz":
        return cast("IO[bytes]", gzip.GzipFile(fileobj=file))
    if form == "bz2":
        return cast("IO[bytes]", bz2.BZ2File(file))
    if form == "xz":
        return cast("IO[bytes]", lzma.LZMAFile(file))
    try:
        known = find_spec("compression.zstd")
    except ModuleNotFoundError:
        known = None
    if known is None:
        raise UnsupportedArchiveError(
            "it is compressed by Zstandard, which Python reads from 3.14 on: unpack it yourself "
            "with `tar --zstd -xf`"
        )
    return cast("IO[bytes]", import_module("compression.zstd").ZstdFile(file))


class _Member(tarfile.TarInfo):
    """A member; tarfile takes whatever is no header for the end, and we only the mark of it."""

    @classmethod
    def fromtarfile(cls, tarfile: tarfile.TarFile) -> Self:
        try:
            return super().fromtarfile(tarfile)
        except EOFHeaderError:
            raise
        except (EmptyHeaderError, TruncatedHeaderError) as error:
            raise EOFError("the mark of its end is missing") from error
        except HeaderError as error:
            raise ReadError(f"a header is wrong: {error}") from error


class _Guarded:
    """A decompressed stream that ends where it grows as no real archive does."""

    def __init__(self, plain: IO[bytes], packed: JoinedFile) -> None:
        self._plain, self._packed, self._count = plain, packed, 0

    def read(self, size: int) -> bytes:
        data = self._plain.read(size)
        self._count += len(data)
        if self._count > GRACE + MOST_RATIO * self._packed.tell():
            raise LimitError(
                f"it unpacks to more than {MOST_RATIO} times its size, as no archive of media does"
            )
        return data
