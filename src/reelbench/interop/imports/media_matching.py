"""Which of several files a name means: by their folders, by hints, by content."""

import filecmp
import os
from collections.abc import Sequence

from reelbench.interop.imports.media_index import IndexedFile


def best_fit(
    candidates: list[IndexedFile], folders: Sequence[str], hints: Sequence[str]
) -> list[IndexedFile]:
    """Return the files whose folders fit best: by the common tail, then by hints."""
    best = candidates
    for score in (
        lambda one: common_tail(one.path, folders),
        lambda one: _hinted(one.path, hints),
        lambda one: _hinted(one.path, folders),
    ):
        if len(best) > 1:
            scores = [score(one) for one in best]
            best = [one for one, points in zip(best, scores, strict=True) if points == max(scores)]
    return best


def common_tail(path: str, folders: Sequence[str]) -> int:
    """Return how many folders before the name are the same."""
    count = 0
    for mine, other in zip(path.casefold().split("/")[-2::-1], reversed(folders), strict=False):
        if mine != other.casefold():
            break
        count += 1
    return count


def _hinted(path: str, hints: Sequence[str]) -> tuple[int, int]:
    """Return how many hints are a folder of a path, and how many are part of one."""
    folders = [_plain(part) for part in path.split("/")[:-1]]
    words = [word for word in map(_plain, hints) if word]
    return (
        sum(word in folders for word in words),
        sum(any(word in folder for folder in folders) for word in words),
    )


def _plain(text: str) -> str:
    return "".join(filter(str.isalnum, text.casefold()))


def distinct_files(files: list[IndexedFile]) -> list[IndexedFile]:
    """Return the first of files that are all the same; all of them where one differs."""
    return files[:1] if all(_is_same(files[0], other) for other in files[1:]) else files


def _is_same(one: IndexedFile, other: IndexedFile) -> bool:
    if one.packed and other.packed:
        known = one.packed.crc is not None
        return known and (one.packed.size, one.packed.crc) == (other.packed.size, other.packed.crc)
    return bool(one.file and other.file) and same_content(one.file, other.file)


def same_content(one: str, other: str) -> bool:
    """Whether two files are one, or have the same bytes."""
    try:
        return os.path.samefile(one, other) or filecmp.cmp(one, other, shallow=False)
    except OSError:
        return False
