"""Tasks of lmms-eval: the YAML of a task, and the local files that it names.

Of a task are read: ``include``, ``dataset_path``, ``dataset_name``, ``dataset_kwargs`` (its
``data_files`` and ``data_dir``), the split that is tested, ``doc_to_target`` where it is a column,
and the prompts around a question. Functions (``!function utils.f``) are not: columns are found as
for any file.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reelbench.base.errors import ReelbenchError
from reelbench.base.progress import counted
from reelbench.base.yaml_files import YamlError, read_yaml
from reelbench.interop.imports.hf_folder import (
    ROW_ENDINGS,
    DataFile,
    read_data_file,
    read_dataset_folder,
    split_named,
)
from reelbench.interop.imports.mapping import ImportMapping
from reelbench.interop.imports.sources import ImportSource

_KEYS = {"task", "dataset_path", "dataset_kwargs", "test_split", "doc_to_text", "output_type"}
_BUILDERS = {"json", "csv", "parquet", "arrow", "text"}  # of the hub's library, not a dataset
_MOST_INCLUDES = 8
_COLUMN = re.compile(r"(?:\{\{\s*)?([A-Za-z_][\w ]*?)(?:\s*\}\})?")
_KINDS = ("single", "multi", "yesno", "open")


@dataclass(frozen=True, slots=True)
class LmmsTask:
    """A task: its name, the files with its rows, and what it says of prompts and the answer."""

    name: str
    files: tuple[DataFile, ...]
    answer: str = ""  # the column of doc_to_target, where it is one
    before: str = ""  # the question, with a line break where the task has one
    after: str = ""
    notes: tuple[str, ...] = ()

    def prompts(self) -> dict[str, str]:
        """Return the prompt of each kind of question as Markdown; none where the task has none."""
        if not (self.before.strip() or self.after.strip()):
            return {}
        ask = dict.fromkeys(_KINDS, ("{{question}}", "{{options}}")) | {"open": ("{{question}}",)}
        return {
            kind: "\n\n".join(filter(None, (self.before.strip(), *slots, self.after.strip())))
            + "\n"
            for kind, slots in ask.items()
        }


def recognises(source: Path) -> bool:
    """Whether a source is the YAML of a task."""
    return is_lmms_task(source)


def load(source: Path) -> ImportSource:
    """Return the rows of a task, and the prompts around its questions."""
    task = read_lmms_task(source)
    files = tuple(read_data_file(file) for file in task.files)
    columns = {column for file in files for column in file.columns}
    says_answer = task.answer in columns and task.answer != "answer"
    return ImportSource(
        source,
        files,
        task.notes,
        title=task.name,
        mapping=ImportMapping(fields={"answer": task.answer}) if says_answer else None,
        media=(source.parent, *dict.fromkeys(file.path.parent for file in task.files)),
        prompts=task.prompts(),
    )


def is_lmms_task(path: Path) -> bool:
    """Whether a file is the YAML of a task of lmms-eval."""
    if path.suffix.lower() not in (".yaml", ".yml") or not path.is_file():
        return False
    try:
        content, _ = read_yaml(path, unknown_tags=True)
    except YamlError:
        return False
    return isinstance(content, dict) and (
        len(_KEYS & content.keys()) >= 2 or {"include", "task"} <= content.keys()
    )


def read_lmms_task(path: Path) -> LmmsTask:
    """Return a task with its local files; raise ``ReelbenchError`` where it names none."""
    content = _included(path, [])
    if isinstance(content.get("task"), list):
        tasks = ", ".join(str(task) for task in content["task"][:6])
        raise ReelbenchError(f"{path} is a group of tasks ({tasks}): import the YAML of each task.")
    name = str(content.get("task") or path.stem)
    split = str(content.get("test_split") or content.get("validation_split") or "")
    files = _files(path, content, split)
    answer = content.get("doc_to_target")
    column = _COLUMN.fullmatch(answer.strip()) if isinstance(answer, str) else None
    functions = sum(content[key] is None for key in content if key.startswith("doc_to_"))
    notes = []
    if functions:
        number = counted(functions, "function is", "functions are")
        notes.append(f"{path.name}: {number} not read (doc_to_...): columns are found by content.")
    before, after, ignored = _prompt(content)
    if ignored:
        notes.append(f"{path.name}: its prompts have slots of their own, so the default is used.")
    return LmmsTask(name, files, column[1] if column else "", before, after, tuple(notes))


def _included(path: Path, above: Sequence[Path]) -> dict[str, Any]:
    """The fields of a YAML, with those of the file that it includes below them."""
    if path.resolve() in above or len(above) > _MOST_INCLUDES:
        raise ReelbenchError(f"{path} includes itself, or {_MOST_INCLUDES} files: mend `include`.")
    try:
        content, _ = read_yaml(path, unknown_tags=True)
    except YamlError as error:
        raise ReelbenchError(f"{path}: {error}.") from error
    if not isinstance(content, dict):
        raise ReelbenchError(f"{path} is no task of lmms-eval: found no fields in it.")
    include = content.get("include")
    names = include if isinstance(include, list) else [include] if include else []
    merged: dict[str, Any] = {}
    for name in names:
        merged |= _included(path.parent / str(name), [*above, path.resolve()])
    return merged | content


def _files(path: Path, content: Mapping[str, Any], split: str) -> tuple[DataFile, ...]:
    """The local files of a task's dataset; where it has splits, of the one that is tested."""
    found, looked = [], []
    for place in _places(content):
        looked.append(str(place[1]))
        found += [file for file in _at(path.parent, *place) if file not in found]
    named = [file for file in found if file.split and split.startswith(file.split)]
    tested = named or [file for file in found if not file.split] or found
    config = str(content.get("dataset_name") or "")
    configured = [file for file in tested if file.config == config] or tested
    if configured:
        return tuple(configured)
    dataset = str(content.get("dataset_path") or "")
    if dataset in _BUILDERS or not dataset:
        raise ReelbenchError(
            f"{path} has no file with rows: looked for {', '.join(looked) or 'data_files'}. Put "
            "the file there, or change dataset_kwargs.data_files."
        )
    folder = path.parent / dataset.split("/")[-1]
    raise ReelbenchError(
        f"{path} takes its rows from {dataset} on the Hugging Face hub: fetch them with "
        f"`reelbench import {dataset} --download`, or put that dataset's folder at {folder}."
    )


def _places(content: Mapping[str, Any]) -> Iterator[tuple[str, Path]]:
    """Pairs of a split and a file, pattern or folder where rows may be."""
    kwargs = content.get("dataset_kwargs")
    kwargs = kwargs if isinstance(kwargs, dict) else {}
    home = Path(str(kwargs.get("data_dir") or "."))
    given = kwargs.get("data_files")
    by_split = given if isinstance(given, dict) else {"": given}
    for split, names in by_split.items():
        for name in names if isinstance(names, list) else [names]:
            if isinstance(name, str) and name:
                yield str(split), home / name
    dataset = content.get("dataset_path")
    if not given and kwargs.get("data_dir"):
        yield "", home
    elif not given and isinstance(dataset, str) and dataset not in _BUILDERS:
        yield "", Path(dataset)
        yield "", Path(dataset.split("/")[-1])


def _at(base: Path, split: str, place: Path) -> Iterator[DataFile]:
    """The files of one place: beside the task, from where the command runs, or absolute."""
    for root in (base, Path()):
        where = root / place.expanduser()
        if where.is_dir():
            inside = read_dataset_folder(where)
            rows = sorted(p for p in where.iterdir() if p.name.endswith(ROW_ENDINGS))
            yield from inside.files if inside else map(DataFile, rows)
            return
        several = "*" in where.name and where.parent.is_dir()
        matched = sorted(where.parent.glob(where.name)) if several else [where]
        files = [DataFile(file, "", split or split_named(file.name)) for file in matched]
        files = [file for file in files if file.path.is_file()]
        yield from files
        if files:
            return


def _prompt(content: Mapping[str, Any]) -> tuple[str, str, bool]:
    """What stands before and after a question, and whether it had to be ignored."""
    for key in ("lmms_eval_specific_kwargs", "model_specific_prompt_kwargs"):
        kwargs = content.get(key)
        kwargs = kwargs.get("default", kwargs) if isinstance(kwargs, dict) else None
        if isinstance(kwargs, dict):
            texts = [str(kwargs.get(name) or "") for name in ("pre_prompt", "post_prompt")]
            if any("{{" in text for text in texts):
                return "", "", True
            return texts[0], texts[1], False
    return "", "", False
