"""Tiers: groups that the user puts models into, such as strong and mid-tier."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from reelbench.base.errors import ReelbenchError
from reelbench.base.yaml_files import YamlError, read_yaml


def tiers_in(runs: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """Return the tier of each model whose card names one, from the records of runs."""
    return {
        model["name"]: model["tier"]
        for run in runs
        for model in run.get("models", ())
        if model.get("tier")
    }


def read_tiers(path: Path) -> dict[str, str]:
    """Return the tier of each model in a YAML file of tiers, each with a list of its models."""
    try:
        content, _ = read_yaml(path)
    except YamlError as error:
        raise ReelbenchError(f"{path} cannot be read: {error}.") from None
    listed = content if isinstance(content, dict) else {}
    found: dict[str, str] = {}
    for tier, models in listed.items():
        if not isinstance(tier, str) or not isinstance(models, list):
            listed = {}
            break
        for model in models:
            if found.setdefault(str(model), tier) != tier:
                raise ReelbenchError(f"{path}: {model} is in {found[str(model)]} and in {tier}.")
    if not listed:
        raise ReelbenchError(
            f"{path} holds no tiers: write one per line with its models, such as "
            "`strong: [model-a, model-b]`."
        )
    return found
