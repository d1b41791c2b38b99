"""Runs operators on clips and keeps what they say, so that one can measure again at once."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from labelling.clips import Entry
from reelbench.annotate.operator import Clip, NotApplicable, Operator
from reelbench.annotate.registry import in_order, load_operator
from reelbench.base.files import digest_of, digest_of_file
from reelbench.media.decode.probe import probe
from reelbench.weights import sha256_of

Settings = Mapping[str, Mapping[str, Any]]  # parameters by the names of operators
NOT_APPLICABLE = "not applicable"


def labelled(
    entry: Entry, folder: Path, names: tuple[str, ...], settings: Settings
) -> dict[str, Any]:
    """Return labels of a clip with all that they need; those that do not apply are left out."""
    path = entry.path(folder)
    clip = Clip(path, digest_of_file(path), probe(path))
    labels: dict[str, Any] = {}
    keys: dict[str, str] = {}
    for name in in_order(list(names)):
        operator = load_operator(name, **settings.get(name, {}))
        keys[name] = _key(clip, operator, keys)
        label = _kept(folder / "labels" / entry.name, name, keys[name], operator, clip, labels)
        if NOT_APPLICABLE not in label:
            labels[name] = label
    return labels


def _key(clip: Clip, operator: Operator, keys: Mapping[str, str]) -> str:
    used = [keys[each] for each in (*operator.needs, *operator.may_use) if each in keys]
    weights = [sha256_of(each) for each in operator.uses]
    parts = [clip.digest, operator.name, operator.version, operator.parameters, weights, used]
    return digest_of(parts)[:16]


def _kept(
    home: Path, name: str, key: str, operator: Operator, clip: Clip, labels: Mapping[str, Any]
) -> dict[str, Any]:
    kept = home / f"{name}-{key}.json"
    if kept.exists():
        return dict(json.loads(kept.read_text("utf-8")))
    try:
        label = operator(clip, labels) if set(operator.needs) <= set(labels) else None
    except NotApplicable as reason:
        label = {NOT_APPLICABLE: str(reason)}
    label = {NOT_APPLICABLE: "it needs a label that does not apply"} if label is None else label
    home.mkdir(parents=True, exist_ok=True)
    kept.write_text(json.dumps(label), "utf-8")
    return label
