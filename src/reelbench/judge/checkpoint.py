"""Checkpoints of a training: written whole or not at all, and taken up only where they belong."""

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from reelbench.base.errors import ReelbenchError
from reelbench.base.files import pretty_json, write_atomically

CHECKPOINTS = "checkpoints"
_STATE, _TENSORS = "state.json", "tensors.pt"
_KEPT = 2
_PARTIAL = ".partial"


def save_checkpoint(
    out: Path, step: int, identity: Mapping[str, Any], tensors: Any, losses: list[dict[str, Any]]
) -> None:
    """Write what a training needs to go on from this step as if it had never stopped."""
    import torch

    home = out / CHECKPOINTS
    partial = home / f"step-{step:07}{_PARTIAL}"
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    torch.save(tensors, partial / _TENSORS)
    state = {"step": step, "identity": identity, "losses": losses}
    write_atomically(partial / _STATE, pretty_json(state))
    whole = home / f"step-{step:07}"
    shutil.rmtree(whole, ignore_errors=True)
    partial.rename(whole)
    for old in _checkpoints(out)[:-_KEPT]:
        shutil.rmtree(old)


def last_checkpoint(
    out: Path, identity: Mapping[str, Any], device: str
) -> tuple[int, Any, list[dict[str, Any]]] | None:
    """Return the step, tensors and losses of the last checkpoint; None where there is none.

    One of another base model, other data or other settings is refused in a sentence.
    """
    import torch

    found = _checkpoints(out)
    if not found:
        return None
    last = found[-1]
    try:
        state = json.loads((last / _STATE).read_text())
        step, theirs, losses = state["step"], state["identity"], state["losses"]
    except (OSError, ValueError, KeyError) as error:
        raise ReelbenchError(
            f"{last} is not a checkpoint that can be read ({error}): remove it, and the training "
            "goes on from the one before, or begins anew."
        ) from None
    if theirs != json.loads(json.dumps(identity)):
        raise ReelbenchError(_other(last, theirs, identity))
    return step, torch.load(last / _TENSORS, map_location=device, weights_only=True), losses


def _other(last: Path, theirs: Mapping[str, Any], ours: Mapping[str, Any]) -> str:
    differ = [name for name in {**theirs, **ours} if theirs.get(name) != ours.get(name)]
    what = "another base model" if "base_digest" in differ else f"other {', '.join(differ)}"
    shown = "; ".join(f"{name}: {theirs.get(name)} there, {ours.get(name)} now" for name in differ)
    return (
        f"{last} is a checkpoint of a training with {what} ({shown}): name the same again, or "
        "another --out."
    )


def _checkpoints(out: Path) -> list[Path]:
    home = out / CHECKPOINTS
    found = home.glob("step-*") if home.is_dir() else ()
    return sorted(path for path in found if not path.name.endswith(_PARTIAL))
