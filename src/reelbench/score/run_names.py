"""Names for several runs, and for models and conditions that are called alike in them."""

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reelbench.base.errors import ReelbenchError
from reelbench.score.predictions import Asked


def source_labels(paths: Sequence[Path]) -> dict[Path, str]:
    """Name folders or files by as many of the last parts of their paths as tell them apart."""
    resolved = [path.resolve() for path in paths]
    for number, path in enumerate(paths):
        if resolved[number] in resolved[:number]:
            raise ReelbenchError(f"{path} is named twice: leave one of them out.")
    whole = dict(zip(paths, resolved, strict=True))
    parts = {path: full.parts for path, full in whole.items()}
    for count in range(1, max(map(len, parts.values()))):
        labels = {path: "/".join(each[-count:]) for path, each in parts.items()}
        if len(set(labels.values())) == len(paths):
            return labels
    return {path: str(full) for path, full in whole.items()}


@dataclass(frozen=True, slots=True)
class RunNames:
    """The names that the models and conditions of one run have among those of other runs."""

    models: Mapping[str, str]
    conditions: Mapping[str, str]

    def of(self, asked: Asked) -> Asked:
        """Return the names of a model and a condition."""
        model, condition = asked
        return self.models.get(model, model), self.conditions.get(condition, condition)

    def record(self, run: Mapping[str, Any]) -> dict[str, Any]:
        """Return the content of a ``run.json`` with these names in it."""
        return {
            **run,
            "models": [_renamed(each, self.models) for each in run["models"]],
            "conditions": [_renamed(each, self.conditions) for each in run["conditions"]],
        }


def _renamed(record: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    return {**record, "name": names.get(record["name"], record["name"])}


def names_apart(
    labels: Mapping[Path, str],
    runs: Mapping[Path, Mapping[str, Any]],
    asked: Mapping[Path, Collection[Asked]],
    alike: Callable[[str], bool],
) -> dict[Path, RunNames]:
    """Return names under which no two runs have the same model under the same condition.

    Conditions of one name that ask in different ways, and models that were asked in the same way
    in several runs, get the run's label behind theirs; all others keep what they are called.
    ``alike`` says whether conditions of one name ask in the same way, though their records differ.
    """
    conditions = _conditions(runs, labels, alike)
    found: dict[Asked, set[Path]] = defaultdict(set)
    for out, pairs in asked.items():
        for model, condition in pairs:
            found[model, conditions[out].get(condition, condition)].add(out)
    again = {model for (model, _), outs in found.items() if len(outs) > 1}
    return {
        out: RunNames(
            {
                model: f"{model} ({labels[out]})"
                for model in {model for model, _ in asked[out]} & again
            },
            conditions[out],
        )
        for out in runs
    }


def _conditions(
    runs: Mapping[Path, Mapping[str, Any]],
    labels: Mapping[Path, str],
    alike: Callable[[str], bool],
) -> dict[Path, dict[str, str]]:
    """The names of the conditions of each run; the first way of asking keeps its name."""
    known: dict[str, list[tuple[Mapping[str, Any], str]]] = defaultdict(list)
    names: dict[Path, dict[str, str]] = {}
    for out, run in runs.items():
        names[out] = {}
        for condition in run["conditions"]:
            name, ways = condition["name"], known[condition["name"]]
            same = next((given for way, given in ways if way == condition), "")
            if not same and ways and alike(name):
                same = ways[0][1]
            elif not same:
                same = f"{name} ({labels[out]})" if ways else name
                ways.append((condition, same))
            names[out][name] = same
    return names
