"""Dataset folders in the layout of the Hugging Face hub: which files hold rows, of what split.

``configs`` in the front matter of README.md decide. Without them, names do, as on the hub: a file
``test-00000-of-00002.parquet`` is of the split test, and a folder that is neither ``data`` nor a
split is a configuration. What ``save_to_disk`` writes (``test/data-00000-of-00001.arrow``) is read
as well.
"""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath
from typing import Any

from reelbench.base.errors import ReelbenchError
from reelbench.base.limits import bounded_text
from reelbench.base.yaml_files import YamlError, read_yaml
from reelbench.data.paths import link_outside, path_escapes
from reelbench.interop.imports.sources import ImportSource
from reelbench.interop.records import RecordFile, read_records

ROW_ENDINGS = (".parquet", ".jsonl", ".json", ".csv", ".tsv", ".arrow")
_FRONT_MATTER = re.compile(r"\A\ufeff?---[ \t]*\r?\n(.*?)^---[ \t]*$", re.DOTALL | re.MULTILINE)
_SHARD = re.compile(r"(?P<split>\w+(?:\.\w+)*)-\d{5}-of-\d{5}(?:-[0-9a-f]+)?")
_SPLITS = {
    "train": ("train", "training"),
    "validation": ("validation", "valid", "dev", "val"),
    "test": ("test", "testing", "eval", "evaluation"),
}
_NO_CONFIG = {"", ".", "data", "annotations", "json", "jsons", "questions", "qa", "default"}


@dataclass(frozen=True, slots=True)
class DataFile:
    """A file with rows, and the configuration and split that its dataset gives it."""

    path: Path
    config: str = ""
    split: str = ""


@dataclass(frozen=True, slots=True)
class DatasetFolder:
    """What a dataset folder says about itself."""

    files: tuple[DataFile, ...]
    title: str = ""
    licence: str = ""
    notes: tuple[str, ...] = ()


def recognises(source: Path) -> bool:
    """Whether a source is a folder in the hub's layout."""
    return source.is_dir() and read_dataset_folder(source) is not None


def load(source: Path) -> ImportSource:
    """Return the rows of a folder, with its configurations and splits as columns."""
    folder = read_dataset_folder(source)
    if folder is None:
        raise ReelbenchError(
            f"{source} is no dataset folder of the hub: README.md has no configs, and no file is "
            "called like test-00000-of-00001.parquet."
        )
    files = tuple(read_data_file(file) for file in folder.files)
    names = {column for file in files for column in file.columns}
    tags: dict[str, str] = {name: name for name in ("config", "split") if name in names}
    return ImportSource(
        source, files, folder.notes, title=folder.title, licence=folder.licence, tags=tags
    )


def read_data_file(file: DataFile) -> RecordFile:
    """Return the rows of a file, its configuration and split with them where it has none."""
    read = read_records(file.path)
    given = {"config": file.config, "split": file.split}
    more = {name: text for name, text in given.items() if text and name not in read.columns}
    rows = [replace(record, values={**record.values, **more}) for record in read.records]
    return replace(read, columns=(*read.columns, *more), records=tuple(rows))


def read_dataset_folder(folder: Path) -> DatasetFolder | None:
    """Return the data files of a folder in the hub's layout; None where it is another folder."""
    card, notes = _card(folder / "README.md")
    declared = card.get("configs")
    if isinstance(declared, list) and declared:
        files = list(_declared(folder, declared, notes))
    else:
        files = list(_named(folder))
    if not files:
        return None
    several = len({file.config for file in files if file.config}) > 1
    kept = [file if several else DataFile(file.path, "", file.split) for file in files]
    return DatasetFolder(
        tuple(kept), _text(card.get("pretty_name")), _text(card.get("license")), tuple(notes)
    )


def split_named(path: str) -> str:
    """Return the split in the path of a data file, as the hub reads it; "" where it has none."""
    shard = _SHARD.fullmatch(PurePosixPath(path).stem)
    for part in (shard["split"] if shard else "", *reversed(PurePosixPath(path).parts)):
        words = set(re.split(r"[^a-z]+", part.casefold()))
        found = [split for split, names in _SPLITS.items() if words & set(names)]
        if len(found) == 1:
            return found[0]
    return shard["split"] if shard and shard["split"] != "data" else ""


def _card(path: Path) -> tuple[Mapping[str, Any], list[str]]:
    """The front matter of a README.md, and why it could not be read where it has one."""
    try:
        text = bounded_text(path) if path.is_file() else ""
    except (OSError, UnicodeDecodeError, ValueError) as error:
        return {}, [f"{path.name} could not be read ({error}), so file names give the splits."]
    matter = _FRONT_MATTER.match(text)
    if not matter:
        return {}, []
    try:
        content, _ = read_yaml(matter[1])
    except YamlError as error:
        return {}, [f"The front matter of {path.name} is not YAML ({error}), so it is not used."]
    return (content, []) if isinstance(content, dict) else ({}, [])


def _declared(folder: Path, configs: Sequence[Any], notes: list[str]) -> Iterator[DataFile]:
    """The files that ``configs`` name; a pattern without files is noted."""
    every = _row_files(folder)
    for config in configs:
        if not isinstance(config, dict):
            continue
        name = _text(config.get("config_name"))
        home = _text(config.get("data_dir")).strip("/")
        for split, pattern in _patterns(config.get("data_files") or f"{home or '.'}/**"):
            inner = pattern if not home or pattern.startswith(home) else f"{home}/{pattern}"
            found = [path for path in every if _fits(path, inner.removeprefix("./"))]
            if not found:
                notes.append(f"README.md names {inner} for {name or 'its data'}: no such file.")
            for path in found:
                yield DataFile(folder / path, name, split or split_named(path))


def _patterns(given: Any, split: str = "") -> Iterator[tuple[str, str]]:
    """Pairs of split and pattern; ``data_files`` is a text, a list, or an object by split."""
    if isinstance(given, str):
        yield split, given
    elif isinstance(given, list):
        for part in given:
            yield from _patterns(part, split)
    elif isinstance(given, dict) and "path" in given:
        yield from _patterns(given["path"], _text(given.get("split")) or split)
    elif isinstance(given, dict):
        for name, part in given.items():
            yield from _patterns(part, _text(name))


def _named(folder: Path) -> Iterator[DataFile]:
    """Files in the hub's layout by their names alone: shards of Parquet, in folders by config."""
    for path in _row_files(folder):
        if _SHARD.fullmatch(PurePosixPath(path).stem):
            parent = PurePosixPath(path).parent.name
            is_config = parent.casefold() not in _NO_CONFIG and not split_named(parent)
            yield DataFile(folder / path, parent if is_config else "", split_named(path))


def _fits(path: str, pattern: str) -> bool:
    """Whether a path fits a pattern: ``*`` stays in a folder, ``**`` is any number of them."""
    if path_escapes(pattern):
        return False
    names = path.split("/")
    places = {0}  # how many of the names the parts of the pattern so far may stand for
    for part in pattern.split("/"):
        if part == "**":
            places = set(range(min(places, default=len(names) + 1), len(names) + 1))
        else:
            fitting = (n for n in places if n < len(names))
            places = {n + 1 for n in fitting if fnmatchcase(names[n], part)}
    return path == pattern or len(names) in places


def _row_files(folder: Path) -> list[str]:
    """Files with rows in a folder and below, by path; hidden ones and links outside are not."""
    found = []
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            path = Path(place, name)
            is_data = name.lower().endswith(ROW_ENDINGS) and not name.startswith(".")
            if is_data and not link_outside(folder, path):
                found.append(path.relative_to(folder).as_posix())
    return found


def _text(value: Any) -> str:
    return value.strip() if isinstance(value, str) else ""
