"""Links of a list, fetched where the user asks for it: files by http, web pages by yt-dlp.

Nothing is fetched unasked. A file appears under its name when it is whole; what has come of the
others is kept below ``import/downloads``, so that the same command goes on from there.
"""

import os
import shutil
import threading
from collections import defaultdict
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from reelbench.base.files import digest_of_file, link_or_copy
from reelbench.base.progress import progress
from reelbench.data.paths import SUBTITLE_ENDINGS, path_escapes
from reelbench.interop.csv_tables import read_table
from reelbench.interop.imports.http_files import (
    FetchRules,
    HostError,
    WebPageError,
    fetch_file,
    partial_name,
)
from reelbench.interop.imports.output import FOLDER, write_table
from reelbench.interop.imports.wanted_names import link_in, split_ending
from reelbench.interop.imports.web_pages import download_from_page, has_yt_dlp
from reelbench.media.errors import MediaError

_AT_ONCE, _AT_ONCE_PER_HOST = 4, 2  # sites slow down who asks for more
_MOST_FAILURES = 5  # of one host in a row
_RECORD = "downloads.csv"
_COLUMNS = ("link", "path", "bytes", "sha256")


@dataclass(slots=True)
class Downloads:
    """What became of links, by the paths that were wanted."""

    paths: dict[str, str] = field(default_factory=dict)  # the path: another ending is possible
    faults: dict[str, str] = field(default_factory=dict)


def download_media(
    wanted: Mapping[str, str], out: Path, rules: FetchRules | None = None
) -> Downloads:
    """Fetch links into a benchmark, by the paths they get there; write ``import/downloads.csv``.

    A link that cannot be fetched stops no other; a full disk stops all.
    """
    rules, made = rules or FetchRules(), Downloads()
    links = {name: link_in(link) for name, link in wanted.items()}
    scratch = out / FOLDER / "downloads"
    scratch.mkdir(parents=True, exist_ok=True)
    earlier = _recorded(out)
    hosts: dict[str, _Host] = defaultdict(_Host)
    with (
        progress("downloading", len(links), "files") as advance,
        ThreadPoolExecutor(_AT_ONCE) as pool,
    ):
        jobs: dict[str, Future[str]] = {}
        for name, link in links.items():
            if link not in jobs:
                host = hosts[link.split("/")[2]]
                there = earlier[link][0] if link in earlier else name
                jobs[link] = pool.submit(_fetched, link, name, there, out, rules, host)
        try:
            for name, link in links.items():
                _await(made, name, jobs[link], out)
                advance()
        except BaseException:
            rules.stopped.set()  # ends what is under way
            raise
        finally:
            pool.shutdown(wait=True, cancel_futures=True)
            _record(out, {links[name]: made.paths[name] for name in reversed(made.paths)}, earlier)
    if not made.faults:
        shutil.rmtree(scratch)
    return made


class _Host:
    """A host: how many files it is asked for at once, and whether it answers at all."""

    def __init__(self) -> None:
        self.turn = threading.BoundedSemaphore(_AT_ONCE_PER_HOST)
        self._failures = 0

    def fetch(self, link: str, path: Path, partial: Path, rules: FetchRules) -> None:
        """Fetch a file; nothing more is asked of a host that failed time after time."""
        if self._failures >= _MOST_FAILURES:
            raise MediaError(
                link, f"was not asked for, as {_MOST_FAILURES} others of its host failed"
            )
        try:
            fetch_file(link, path, partial, rules)
        except HostError:
            self._failures += 1
            raise
        except MediaError:
            self._failures = 0  # it answers, if not with this file
            raise
        self._failures = 0


def _await(made: Downloads, name: str, job: "Future[str]", out: Path) -> None:
    """Take the result of a job; a second name of a link gets the same file."""
    try:
        path = job.result()
    except MediaError as error:
        made.faults[name] = str(error)
        return
    if path in made.paths.values():
        first, path = path, f"{split_ending(name)[0]}{Path(path).suffix}"
        if not (out / path).is_file():
            link_or_copy(out / first, out / path)
    made.paths[name] = path


def _fetched(link: str, name: str, there: str, out: Path, rules: FetchRules, host: "_Host") -> str:
    """Return the path of a link's file in the benchmark, where it is now."""
    for path in dict.fromkeys([name, there]):
        if not path_escapes(path) and (out / path).is_file():
            return path  # an earlier time
    partial = out / FOLDER / "downloads" / partial_name(link)
    with host.turn:
        try:
            host.fetch(link, out / name, partial, rules)
        except WebPageError:
            if not has_yt_dlp():
                raise MediaError(
                    link, "is a web page: for its video, run `pip install yt-dlp` and try again"
                ) from None
            return _from_page(link, split_ending(name)[0], out, partial)
    return name


def _from_page(link: str, stem: str, out: Path, partial: Path) -> str:
    folder = partial.with_suffix(".page")
    shutil.rmtree(folder, ignore_errors=True)  # what a killed process left
    folder.mkdir(parents=True)
    try:
        video = download_from_page(link, folder, "video", {})
        target = out / f"{stem}{video.suffix.lower()}"
        target.parent.mkdir(parents=True, exist_ok=True)
        for ending in SUBTITLE_ENDINGS:
            if (beside := video.with_suffix(ending)).is_file():
                os.replace(beside, out / f"{stem}{ending}")
        os.replace(video, target)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return target.relative_to(out).as_posix()


Row = tuple[str, str, str]  # the path, the size, the checksum


def _recorded(out: Path) -> dict[str, Row]:
    """Return what was fetched before, by its link."""
    path = out / FOLDER / _RECORD
    if not path.is_file():
        return {}
    table, problems = read_table(path, _COLUMNS)
    rows = {} if problems else dict(table.rows)
    return {row["link"]: (row["path"], row["bytes"], row["sha256"]) for row in rows.values()}


def _record(out: Path, paths: Mapping[str, str], earlier: Mapping[str, Row]) -> None:
    """Write what was fetched from where, with its checksum."""
    rows = []
    for link, path in sorted(paths.items()):
        size = str((out / path).stat().st_size)
        same = link in earlier and earlier[link][:2] == (path, size)
        digest = earlier[link][2] if same else digest_of_file(out / path)
        rows.append((link, path, size, digest))
    write_table(out / FOLDER / _RECORD, _COLUMNS, rows)
