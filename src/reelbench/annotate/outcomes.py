"""The outcome of each label of each clip."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from reelbench.annotate.operator import Clip, Labels, Value
from reelbench.base.errors import (
    DEFECTS,
    ExtensionError,
    MissingPackageError,
    ReelbenchError,
    extension_error,
)
from reelbench.base.files import canonical_json, json_line
from reelbench.client.budget import Ledger
from reelbench.engine.base import JobResult

Outcome = dict[str, Any]  # {"value": label}, {"none": reason} or {"failed": reason}


@dataclass
class Annotated:
    """The result of annotating: the outcome of each label of each clip."""

    out: Path
    clips: Mapping[str, Clip]  # by name
    broken: dict[str, str]  # files that cannot be opened, and why
    outcomes: dict[str, dict[str, Outcome]] = field(default_factory=dict)  # by clip, by label
    worked: int = 0  # labels that were made now, not read from the store
    ledger: Ledger = field(default_factory=Ledger)  # what models used and cost

    @property
    def failures(self) -> list[tuple[str, str, str]]:
        """The failures, as clip, label and reason."""
        return [
            (clip, label, outcome["failed"])
            for clip, labels in self.outcomes.items()
            for label, outcome in labels.items()
            if "failed" in outcome
        ]


def values_of(found: Annotated, clip: str) -> Labels:
    """Return the labels of a clip by name, without those that are not applicable or failed."""
    return dict(values_in(found.outcomes[clip]))


def values_in(outcomes: Mapping[str, Outcome]) -> Iterator[tuple[str, Value]]:
    """Yield the labels that have a value, by name."""
    for name, outcome in outcomes.items():
        if "value" in outcome:
            yield name, outcome["value"]


def outcome_without(label: str, outcome: Outcome) -> Outcome:
    """Return the outcome of an operator that needs a label which the clip does not have."""
    for status in ("none", "unknown"):
        if status in outcome:
            return {status: f"{label}: {outcome[status]}"}
    return {"failed": f"it needs the label {label}, which failed"}


def outcome_of(done: JobResult, is_label: bool) -> Outcome:
    """Return the outcome of a job, as plain JSON; raise where the fault is not the clip's."""
    error = done.error and (extension_error(done.error) or done.error)
    if isinstance(error, (*DEFECTS, MissingPackageError)) or (
        isinstance(error, ExtensionError) and error.is_defect
    ):
        raise error  # no clip is at fault, and the next ones would fail as well
    if error is not None:
        own = isinstance(error, ReelbenchError)
        return {"failed": str(error) if own else f"{type(error).__name__}: {error}"}
    if done.lost:
        return {"failed": f"the worker {done.lost}"}
    try:
        # Of a part the order of fields is kept, which its merge may go by.
        spelling = canonical_json if is_label else json_line
        outcome: Outcome = json.loads(spelling(done.result))
    except (TypeError, ValueError) as error:
        return {"failed": f"the operator returned what is not JSON ({error})"}
    if is_label and "value" in outcome and not isinstance(outcome["value"], dict):
        return {"failed": f"the operator returned {outcome['value']!r:.60}, expected a dict"}
    return outcome
