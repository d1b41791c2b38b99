"""The files that labels are written to, as they come: one for each clip, and a summary of all."""

import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any, Self

from reelbench.annotate.operator import Operator
from reelbench.annotate.operators.fingerprint import near_duplicate_clips
from reelbench.annotate.outcomes import Annotated, values_in
from reelbench.base.files import pretty_json, pretty_object, write_atomically
from reelbench.base.limits import decode_json
from reelbench.weights import sha256_of

_SUMMARY_SECONDS = 5.0  # between two summaries of work in progress


def label_file(out: Path, clip: str) -> Path:
    """Return the path of the file with the labels of a clip."""
    return out / "labels" / f"{clip}.json"


class LabelFiles:
    """Writes ``labels/<clip>.json`` after each label, and ``annotate.json`` now and then.

    A file of labels holds what was made so far, and what earlier runs made of other labels. The
    summary names the labels that are still missing, of every clip.
    """

    def __init__(self, found: Annotated, operators: Sequence[Operator]) -> None:
        self._found = found
        self._made = {operator.name: _how(operator) for operator in operators}
        self._next_summary = 0.0
        # The labels of clips in progress as they are written: of a long clip, that takes a while.
        self._texts: dict[str, dict[str, str]] = {}
        self._unwritten: dict[str, str] = {}  # clips whose labels cannot be written, and why

    def update(self, name: str) -> None:
        """Write the labels of a clip that got a new one."""
        self._write_labels(name)
        if len(self._found.outcomes[name]) == len(self._made):
            del self._texts[name]
        if time.monotonic() >= self._next_summary:
            self.write_summary()

    def write_summary(self) -> None:
        """Write ``annotate.json``: how labels were made, what failed and what is missing."""
        found = self._found
        missing = {
            name: lacking
            for name, outcomes in found.outcomes.items()
            if (lacking := [label for label in self._made if label not in outcomes])
        }
        summary = {
            "clips": {name: clip.digest for name, clip in found.clips.items()},
            "broken": {**found.broken, **self._unwritten},
            "operators": self._made,
            "failures": [dict(zip(("clip", "label", "reason"), each, strict=True))
                         for each in found.failures],
            "missing": missing,
            **({"twins": _near_duplicates(found)}
               if "fingerprint" in self._made and not missing else {}),
        }  # fmt: skip
        write_atomically(found.out / "annotate.json", pretty_json(summary))
        self._next_summary = time.monotonic() + _SUMMARY_SECONDS

    def __enter__(self) -> Self:
        self.write_summary()
        return self

    def __exit__(self, error: type[BaseException] | None, *_: object) -> None:
        self._found.broken |= self._unwritten
        with suppress(*([OSError] if error else [])):  # what went wrong first is what counts
            self.write_summary()

    def _write_labels(self, name: str) -> None:
        clip = self._found.clips[name]
        path = label_file(self._found.out, name)
        if name not in self._texts:
            # What another version or other parameters made of a label that is to come is left out.
            before = _labels_before(path, clip.digest).items()
            self._texts[name] = {k: pretty_json(v) for k, v in before if k not in self._made}
        texts = self._texts[name]
        for label, outcome in self._found.outcomes[name].items():
            if label not in texts:
                texts[label] = pretty_json({**outcome, "operator": self._made[label]})
        about = {"name": name, "sha256": clip.digest, "seconds": clip.info.duration}
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            record = {"clip": pretty_json(about), "labels": pretty_object(texts)}
            write_atomically(path, pretty_object(record))
            self._unwritten.pop(name, None)
        except OSError as error:  # a name too long for the disk, say; the others have theirs
            self._unwritten[name] = f"its labels cannot be written ({error.strerror})"


def _near_duplicates(found: Annotated) -> list[dict[str, Any]]:
    """Return the pairs of clips that show the same video, or one a part of the other."""
    prints = {
        name: dict(values_in(outcomes)).get("fingerprint")
        for name, outcomes in found.outcomes.items()
    }
    pairs = near_duplicate_clips({name: value for name, value in prints.items() if value})
    return [asdict(pair) for pair in pairs]


def _labels_before(path: Path, digest: str) -> dict[str, Any]:
    """Return the labels that earlier runs wrote for the same clip."""
    try:
        record = decode_json(path.read_text(encoding="utf-8"))
        return dict(record["labels"]) if record["clip"]["sha256"] == digest else {}
    except (OSError, ValueError, KeyError, TypeError):
        return {}  # there is no such file, or it is not ours


def _replaced(operator: Operator) -> dict[str, str]:
    """Return what a user put in the place of weights; of a path its name, as others have others."""
    return {name: Path(each).name for name, each in operator.replaced}


def _how(operator: Operator) -> dict[str, Any]:
    return {
        "version": operator.version,
        "parameters": operator.parameters,
        "models": {name: sha256_of(each) for name, each in operator.loads.items()},
        **({"replaced": _replaced(operator)} if operator.replaced else {}),
        **({"source": operator.source} if operator.source else {}),
    }
