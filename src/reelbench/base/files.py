"""How every file of ours is written and hashed: whole or not at all, the same bytes each time."""

import fcntl
import functools
import hashlib
import json
import os
import re
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

from reelbench.base.errors import ReelbenchError


def write_atomically(path: Path, data: bytes | str) -> None:
    """Replace ``path`` by ``data`` so that no reader, and no crash, ever sees half a file."""
    write_chunks_atomically(path, [data.encode() if isinstance(data, str) else data])


def write_chunks_atomically(path: Path, chunks: Iterable[bytes]) -> None:
    """Replace ``path`` by pieces that come one by one; where they fail, nothing is replaced."""
    with replacing(path) as file:
        file.writelines(chunks)


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """Yield a file to be written bit by bit, which replaces ``path`` once all of it is on disk.

    Where that fails, nothing is replaced. A device is written to, and so is a pipe in /dev, such as
    /dev/stdout; any other pipe is replaced, since one that nobody reads would hold us up.
    """
    if path.is_char_device() or (path.is_fifo() and path.is_relative_to("/dev")):
        with path.open("wb") as file:
            yield file
        return
    path = path.resolve()  # replace what a link points to, not the link
    try:
        with partial_file(path.parent) as (handle, temporary):
            with open(handle, "wb", closefd=False) as file:
                yield file
                file.flush()
                os.fsync(handle)
            os.chmod(temporary, _mode_for(path))
            os.replace(temporary, path)
    except OSError as error:
        error.filename = error.filename or str(path)  # which the error of a full disk lacks
        raise


PARTIAL = ".reelbench-partial-"  # how the names of unfinished files begin


@contextmanager
def partial_file(folder: Path, suffix: str = "") -> Iterator[tuple[int, str]]:
    """Create a temporary file to be filled and renamed; it is removed if it is not renamed.

    Temporary files that a killed process left in the same folder are removed first.
    """
    _sweep_once(folder.resolve(), os.getpid())
    handle, name = _new_partial(folder, suffix)
    try:
        yield handle, name
    finally:
        with suppress(FileNotFoundError):
            os.unlink(name)
        os.close(handle)


def _new_partial(folder: Path, suffix: str) -> tuple[int, str]:
    """Create a file and lock it while it is open; the lock of a killed process is released."""
    while True:
        handle, name = tempfile.mkstemp(dir=folder, prefix=PARTIAL, suffix=suffix)
        with suppress(OSError):  # a disk that knows no locks: nothing is swept there
            fcntl.flock(handle, fcntl.LOCK_EX)
        if os.path.exists(name):
            return handle, name
        os.close(handle)  # swept before it was locked


@functools.cache
def _sweep_once(folder: Path, _process: int) -> None:
    sweep_partial_files(folder)


def sweep_partial_files(folder: Path) -> None:
    """Remove the unfinished files that no living process holds."""
    for path in folder.glob(f"{PARTIAL}*"):
        with suppress(OSError), path.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            path.unlink()


def check_output_folder(out: Path, maker: str, records: Sequence[str]) -> None:
    """Raise for an output path that is a file, or a folder with files but none of ``records``.

    Hidden files and empty ones, such as a log that a shell has just opened, may be there.
    """
    if out.exists() and not out.is_dir():
        raise ReelbenchError(f"{out} is a file: name a folder in --out.")
    if not out.is_dir() or any((out / name).exists() for name in records):
        return
    for path in sorted(out.iterdir()):
        if not path.name.startswith(".") and (path.is_dir() or path.stat().st_size):
            raise ReelbenchError(
                f"{out} has files in it that no {maker} made, such as {path.name}: name another "
                "folder in --out, or an empty one."
            )


def link_or_copy(there: Path, here: Path) -> None:
    """Link a file to another place, or copy it where links are not possible."""
    here.parent.mkdir(parents=True, exist_ok=True)
    here.unlink(missing_ok=True)
    try:
        os.link(os.path.realpath(there), here)  # the file, not a link that leads to it
    except OSError:
        with partial_file(here.parent) as (_, temporary):  # a crash leaves no half of it
            shutil.copyfile(there, temporary)
            shutil.copymode(there, temporary)
            os.replace(temporary, here)


def _mode_for(path: Path) -> int:
    """Keep the mode of a file that exists; give a new one what a plain open() would have."""
    if path.exists():
        return path.stat().st_mode & 0o777
    umask = os.umask(0)
    os.umask(umask)
    return 0o666 & ~umask


def canonical_json(value: Any) -> str:
    """Return the canonical spelling of a JSON value, which hashes are computed from."""
    return _json(value, sort_keys=True, separators=(",", ":"))


def json_line(value: Any) -> str:
    """Return a JSON value as one line with its newline, fields in their given order."""
    return _json(value) + "\n"


def pretty_json(value: Any) -> str:
    """Return JSON for people and diffs: sorted, indented, with a final newline."""
    return _json(value, sort_keys=True, indent=2) + "\n"


def pretty_object(fields: Mapping[str, str]) -> str:
    """Return the pretty JSON of an object whose values are in pretty JSON already."""
    lines = [f"  {_json(name)}: {fields[name].strip()}" for name in sorted(fields)]
    inside = ",\n".join(line.replace("\n", "\n  ") for line in lines)
    return f"{{\n{inside}\n}}\n" if lines else "{}\n"


def _json(value: Any, **layout: Any) -> str:
    """Write characters as they are, unless one is half a pair, which only an escape can hold."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, **layout)
    if text.isascii() or not _HALF_A_PAIR.search(text):
        return text
    return json.dumps(value, ensure_ascii=True, allow_nan=False, **layout)


_HALF_A_PAIR = re.compile(r"[\ud800-\udfff]")


def whole_text(text: str) -> str:
    """Replace half a character, which a reply cut off at its token limit can end with."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def whole_data(value: Any) -> Any:
    """Return plain data with ``whole_text`` applied to every text in it."""
    if isinstance(value, str):
        return value if value.isascii() or not _HALF_A_PAIR.search(value) else whole_text(value)
    if isinstance(value, dict):
        return {whole_data(name): whole_data(part) for name, part in value.items()}
    return [whole_data(part) for part in value] if isinstance(value, list) else value


def digest_of(value: Any) -> str:
    """Return the sha256 of a JSON value, whatever order its keys came in."""
    return hashlib.sha256(canonical_json(value).encode()).hexdigest()


def json_fields(values: Mapping[str, Any]) -> dict[str, str]:
    """Return the canonical JSON of each value of an object, for ``digest_of_fields``."""
    layout: dict[str, Any] = {"sort_keys": True, "separators": (",", ":"), "allow_nan": False}
    return {name: json.dumps(value, ensure_ascii=False, **layout) for name, value in values.items()}


def digest_of_fields(fields: Mapping[str, str]) -> str:
    """Return ``digest_of`` the object whose values are given as ``json_fields`` writes them.

    What many objects have in common is so written once. Names are plain words.
    """
    text = "{" + ",".join([f'"{name}":{fields[name]}' for name in sorted(fields)]) + "}"
    if not text.isascii() and _HALF_A_PAIR.search(text):
        return digest_of(json.loads(text))
    return hashlib.sha256(text.encode()).hexdigest()


def digest_of_file(path: Path) -> str:
    """Return the sha256 of a file's bytes without holding them in memory."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def file_part(name: str) -> str:
    """Return a name as part of a file's name."""
    kept = "".join(sign if sign.isalnum() or sign in "-_" else "-" for sign in name)
    return "-".join(part for part in kept.split("-") if part) or "x"
