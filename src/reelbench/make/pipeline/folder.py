"""The record of how a folder was made: ``make/make.json``."""

import os
from collections.abc import Mapping
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reelbench import __version__
from reelbench.base.errors import ReelbenchError
from reelbench.base.limits import decode_json
from reelbench.client.budget import Budget
from reelbench.data.benchmark import ITEMS_FILE
from reelbench.make.pipeline.prompts import Prompts
from reelbench.make.pipeline.roles import RoleModels, repeated_roles
from reelbench.make.pipeline.stage import Recipe, Stage
from reelbench.models.base import ChatModel, sends_seeds
from reelbench.models.load import CARDS
from reelbench.models.servers import commands_of

if TYPE_CHECKING:
    from reelbench.make.pipeline.make import MakeOptions


def read_make(out: Path) -> dict[str, Any]:
    """Return the record of how a folder was made; empty where there is none."""
    path = out / "make" / "make.json"
    try:
        record: dict[str, Any] = decode_json(path.read_text(encoding="utf-8"))
        _ = record["recipe"], record["seed"], record["source"], dict(record["named"])
    except FileNotFoundError:
        return {}
    except (ValueError, KeyError, TypeError) as error:
        raise ReelbenchError(
            f"{path} is damaged ({error!r}): remove it, and run make again with the options of the "
            "first time; requests that were answered are not asked again."
        ) from None
    return record


def refuse_to_overwrite(recipe: Recipe, out: Path, seed: int | None) -> None:
    """Raise an error if a folder holds anything but an earlier make of this recipe and seed."""
    earlier = read_make(out)
    if not earlier and (out / ITEMS_FILE).exists():
        raise ReelbenchError(
            f"{out} holds a benchmark not made by a recipe: name another folder with --out."
        )
    if earlier and earlier["recipe"] != recipe.name:
        raise ReelbenchError(
            f"{out} was made by the recipe {earlier['recipe']}, not {recipe.name}: name another "
            "folder with --out."
        )
    if earlier and seed is not None and seed != earlier["seed"]:
        raise ReelbenchError(
            f"{out} was made with seed {earlier['seed']}: leave --seed out to go on with it, or "
            "name another folder with --out."
        )


def earlier_make(out: Path, order: "MakeOptions") -> "MakeOptions":
    """Return the options, those that are not given filled in from the folder's earlier make."""
    earlier = read_make(out)
    if not earlier:
        return order
    named = {
        role: [_found(out, name) for name in names] for role, names in earlier["named"].items()
    }
    prompts = earlier.get("prompts")
    return replace(
        order,
        sources=order.sources or _sources_of(out, earlier["source"]),
        models={**named, **order.models},
        prompts=order.prompts or (Path(os.path.normpath(out / prompts)) if prompts else None),
        parameters={**earlier.get("changed", {}), **order.parameters},
        seed=earlier["seed"],
        budget=order.budget or Budget(**earlier.get("budget", {})),
    )


def make_record(
    recipe: Recipe, order: "MakeOptions", role_models: RoleModels, prompts: Prompts, out: Path
) -> dict[str, Any]:
    """Return the content of ``make.json``: everything that decides the result."""
    named, repeated = [_seen_from(out, s) for s in order.sources], repeated_roles(recipe)
    return {
        "recipe": recipe.name,
        "seed": order.seed or 0,
        "source": named[0] if len(named) == 1 and not recipe.several_sources else named,
        "named": {
            role: [_seen_from(out, Path(name)) if name.endswith(CARDS) else name for name in names]
            for role, names in order.models.items()
        },
        "models": {
            role: [_model(each, role in repeated) for each in models]
            for role, models in role_models.items()
        },
        **({"servers": servers} if (servers := commands_of(chain(*role_models.values()))) else {}),
        **({"prompts": _seen_from(out, order.prompts)} if order.prompts else {}),
        "rules": prompts.rules.record if prompts.rules else None,
        "changed": dict(order.parameters),
        **(
            {"source_parameters": dict(recipe.source_parameters)}
            if recipe.source_parameters
            else {}
        ),
        "stages": [_stage_record(stage, prompts) for stage in recipe.stages],
        **({"limit": order.limit} if order.limit is not None else {}),
        **({"without": list(order.without)} if order.without else {}),
        **({"until": order.until} if order.until is not None else {}),
        **({"budget": bound} if (bound := (order.budget or Budget()).to_record()) else {}),
        "versions": {"reelbench": __version__},
    }


def _model(model: ChatModel, repeated: bool) -> dict[str, Any]:
    seeds = {"sends_seeds": True} if sends_seeds(model, repeated) else {}
    return {"name": model.card.name, "parameters": dict(model.parameters), **seeds}


def _stage_record(stage: Stage, prompts: Prompts) -> Mapping[str, Any]:
    return {
        "name": stage.name,
        "version": stage.version,
        "roles": [*stage.roles, *stage.may_ask],
        "parameters": dict(stage.parameters),
        "prompts": {name: prompts.digest([name]) for name in stage.prompts},
    }


def _seen_from(out: Path, path: Path) -> str:
    """Where something is, seen from the folder, so that both can be moved together."""
    return os.path.relpath(path.resolve(), out.resolve())


def _sources_of(out: Path, named: str | list[str]) -> list[Path]:
    names = [named] if isinstance(named, str) else named
    return [Path(os.path.normpath(out / name)) for name in names]


def _found(out: Path, name: str) -> str:
    return os.path.normpath(out.resolve() / name) if name.endswith(CARDS) else name
