"""The model that a file of predictions is of, by the habits of the programs that write them."""

import re
from pathlib import Path
from typing import Any

from reelbench.base.limits import bounded_bytes, decode_json

_SAMPLES = re.compile(r"(^|_)samples_")
_DATE = re.compile(r"\d{8}_\d{6}|\d{4}-\d\d-\d\dT[\d.-]+")


def is_samples_log(path: Path) -> bool:
    """Whether a file is named as lmms-eval names its logs of samples."""
    return bool(_SAMPLES.search(path.name)) and ".jsonl" in path.name


def model_of(path: Path) -> str:
    """Return the model that the file's folder names; "" where none does.

    lmms-eval writes ``MODEL/DATE_samples_TASK.jsonl`` beside ``MODEL/DATE_results.json``, and
    VLMEvalKit ``MODEL/MODEL_DATASET.xlsx``, perhaps in a folder of the date below. A log that is
    named without its folder may lie in any, such as that of a project: the name must look like one
    of lmms-eval, which has ``__`` for a slash.
    """
    place = path.absolute()
    if is_samples_log(path):
        folder = place.parent.name
        named = path.parent.name not in ("", "..") or "__" in folder
        return _model_in_results(place) or (folder.replace("__", "/") if named else "")
    folders = (place.parent.name, place.parent.parent.name)
    return next((name for name in folders if name and place.name.startswith(f"{name}_")), "")


def file_name(path: Path) -> str:
    """Return the name of a file without its endings, which a model without a name is called by."""
    return Path(path.name.removesuffix(".gz")).stem


def _model_in_results(path: Path) -> str:
    date = _DATE.search(path.name)
    for other in sorted(path.parent.glob("*results*.json")):
        if date is None or date[0].strip(".") in other.name:
            name = _field(other, "model_name")
            if isinstance(name, str) and name.strip():
                return name.strip()
    return ""


def _field(path: Path, name: str) -> Any:
    """A field of a JSON file that may be anything."""
    try:
        record = decode_json(bounded_bytes(path))
    except (OSError, ValueError):
        return None
    return record.get(name) if isinstance(record, dict) else None
