"""Datasets by their name on the Hugging Face hub: how large they are, and their files.

Nothing here is called unless the user asked for a download. Files go into the user's cache, in a
folder that is named after the commit, so that the same commit is fetched once.
"""

import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reelbench.base.cache import cache_folder
from reelbench.base.errors import ReelbenchError
from reelbench.base.extras import install_command
from reelbench.base.progress import counted, megabytes, working

_PREFIX = "hf://"
_NAME = re.compile(r"(?:datasets/)?([A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*)(?:@([\w./-]+))?")
_COMPLETE = ".complete"  # beside a folder whose files are all there
_SPARE = 2**28  # bytes of the disk that a download leaves free


@dataclass(frozen=True, slots=True)
class HubDataset:
    """A dataset of the hub at one commit."""

    name: str
    commit: str
    sizes: dict[str, int]  # of its files, in bytes

    @property
    def bytes(self) -> int:
        """The size of all files."""
        return sum(self.sizes.values())


def hub_name(source: str) -> tuple[str, str] | None:
    """Return the dataset and the revision that a text names; None where it names none.

    ``hf://owner/name`` always does, ``owner/name`` where there is no such path; either may end in
    ``@revision``.
    """
    is_link = source.startswith(_PREFIX)
    found = _NAME.fullmatch(source.removeprefix(_PREFIX))
    if is_link and not found:
        raise ReelbenchError(f"{source} is no name of a dataset: write hf://OWNER/NAME.")
    if not found or (not is_link and (Path(source).exists() or Path(source).parent.is_dir())):
        return None
    return found[1], found[2] or "main"


def fetched(source: str, download: bool, report: Callable[[str], None]) -> Path:
    """Return the path of a source; a dataset of the hub is fetched where ``download`` says so.

    ``report`` is handed the size as a sentence before anything is fetched.
    """
    named = hub_name(source)
    if named is None:
        return Path(source)
    if not download:
        raise ReelbenchError(
            f"{source} is no file or folder here. To fetch the dataset {named[0]} from the Hugging "
            "Face hub, add --download; its size is shown before."
        )
    dataset = find_dataset(*named)
    number = counted(len(dataset.sizes), "file")
    report(f"{dataset.name} at {dataset.commit[:12]}: {number}, {megabytes(dataset.bytes)}.")
    with working(f"Fetching {dataset.name}"):
        return fetch_dataset(dataset)


def find_dataset(name: str, revision: str = "main") -> HubDataset:
    """Ask the hub for a dataset's files and their sizes."""
    hub = _library()
    try:
        info = hub.HfApi().dataset_info(name, revision=revision, files_metadata=True)
    except Exception as error:
        raise ReelbenchError(_why_not(hub, name, revision, error)) from error
    sizes = {file.rfilename: int(file.size or 0) for file in info.siblings or ()}
    sizes = {path: size for path, size in sizes.items() if not Path(path).name.startswith(".")}
    if not sizes or not info.sha:
        raise ReelbenchError(f"{name} has no files on the hub (revision {revision}).")
    return HubDataset(name, info.sha, sizes)


def fetch_dataset(dataset: HubDataset) -> Path:
    """Fetch the files of a dataset, unless they are there, and return their folder."""
    folder = cache_folder("hub") / dataset.name.replace("/", "--") / dataset.commit
    complete = folder.with_name(folder.name + _COMPLETE)
    if complete.exists():
        return folder
    folder.mkdir(parents=True, exist_ok=True)
    there = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    free, missing = shutil.disk_usage(folder).free, max(0, dataset.bytes - there)
    if missing + _SPARE > free:
        raise ReelbenchError(
            f"{dataset.name} needs {megabytes(missing)} more, and {folder} has {megabytes(free)} "
            "free: make room, or set the environment variable REELBENCH_CACHE to another disk."
        )
    hub = _library()
    try:
        hub.snapshot_download(
            dataset.name, repo_type="dataset", revision=dataset.commit, local_dir=folder
        )
    except Exception as error:
        raise ReelbenchError(_why_not(hub, dataset.name, dataset.commit, error)) from error
    complete.touch()
    return folder


def _library() -> Any:
    try:
        import huggingface_hub
    except ImportError:
        command = install_command("hub")
        raise ReelbenchError(f"Datasets are fetched by huggingface_hub: {command}") from None
    return huggingface_hub


def _why_not(hub: Any, name: str, revision: str, error: Exception) -> str:
    """The sentence for what went wrong, which the library says in a page."""
    errors = hub.errors
    if isinstance(error, errors.GatedRepoError):
        return f"{name} asks for its terms to be accepted: do that on its page, then set HF_TOKEN."
    if isinstance(error, errors.RevisionNotFoundError):
        return f"{name} has no revision {revision}: write {name}@REVISION with one that it has."
    if isinstance(error, errors.RepositoryNotFoundError):
        return f"{name} is no dataset of the hub, or is private: check the name, or set HF_TOKEN."
    if isinstance(error, errors.OfflineModeIsEnabled):
        return f"{name} was not fetched, as HF_HUB_OFFLINE is set: unset it to use the network."
    first = str(error).strip().partition("\n")[0][:300]
    return f"{name} could not be fetched from the hub: {type(error).__name__}: {first}"
