"""A run's folder: its ``run.json``, and whether its benchmark is still the same."""

import os
import platform
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

import av

from reelbench import __version__
from reelbench.base.errors import ReelbenchError
from reelbench.base.files import check_output_folder, digest_of
from reelbench.base.limits import decode_json
from reelbench.data.benchmark import ITEMS_FILE, Benchmark
from reelbench.data.manifest import Protocol
from reelbench.evaluate.prepare import Prepared, RunOptions
from reelbench.evaluate.selected import of_run, selection_of
from reelbench.models.base import ChatModel, sends_seeds
from reelbench.models.servers import commands_of


def read_run(out: Path) -> dict[str, Any]:
    """Return the content of the ``run.json`` of a run folder."""
    path = out / "run.json"
    try:
        record: dict[str, Any] = decode_json(path.read_text(encoding="utf-8"))
        # What we read of it again; anything else in it is for people.
        _ = [model["name"] for model in record["models"] + record.get("judges", [])]
        _ = record["conditions"][0]["name"], record["seed"]
        _ = record["benchmark"]["name"], record["benchmark"]["path"], record["versions"]
        _ = selection_of(record)
        usual = {name: value for name, value in asdict(Protocol()).items() if name != "extra"}
        # What an earlier version did not write down was as usual.
        record["conditions"] = [usual | condition for condition in record["conditions"]]
    except FileNotFoundError:
        raise ReelbenchError(f"{out} is not a run folder: there is no run.json in it.") from None
    except (ValueError, KeyError, TypeError, IndexError, ReelbenchError) as error:
        raise ReelbenchError(
            f"{path} is damaged ({error!r}): run again, naming its models with --model and its "
            "items as the first time, to rewrite it; nothing that was answered is asked again."
        ) from None
    return record


def is_finished(out: Path) -> bool:
    """Whether the latest run in a folder was finished."""
    try:
        return bool(
            decode_json((out / "status.json").read_text(encoding="utf-8"))["state"] == "done"
        )
    except (OSError, ValueError, KeyError, TypeError):
        return False


def benchmark_among(out: Path, record: dict[str, Any], moved: Sequence[Path] = ()) -> Benchmark:
    """Return the benchmark that a run was made with, in its place or where it may have moved to."""
    for root in moved[:-1]:
        with suppress(ReelbenchError):
            return benchmark_of(out, record, root)
    return benchmark_of(out, record, moved[-1] if moved else None)


def benchmark_of(out: Path, record: dict[str, Any], moved_to: Path | None = None) -> Benchmark:
    """Return the benchmark that a run was made with; refuse one that has changed since."""
    root = moved_to or Path(os.path.normpath(out / record["benchmark"]["path"]))
    if not root.is_dir():
        raise ReelbenchError(
            f"The benchmark of {out} is no longer at {root}: name it with --benchmark."
        )
    benchmark = of_run(Benchmark.load(root), record)
    if benchmark.digest != record["benchmark"]["digest"]:
        raise ReelbenchError(
            f"{root} has changed since {out} was made: run it again (what did not change is not "
            "asked again), or name the benchmark it was made with (--benchmark)."
        )
    return benchmark


def earlier_run(benchmark: Benchmark, wanted: RunOptions, out: Path) -> dict[str, Any]:
    """Return the record of the run in a folder, empty if there is none; refuse other options."""
    if (out / ITEMS_FILE).exists():
        raise ReelbenchError(
            f"{out} is a benchmark: name a folder of its own for the run with --out."
        )
    check_output_folder(out, "run", ("run.json", "journal.sqlite"))
    if not (out / "run.json").exists():
        return {}
    try:
        earlier = read_run(out)
    except ReelbenchError:
        if not wanted.models:
            raise
        return {}
    if earlier["benchmark"]["name"] != benchmark.manifest.name:
        raise ReelbenchError(
            f"{out} holds a run of {earlier['benchmark']['name']}, not of "
            f"{benchmark.manifest.name}: name another folder with --out."
        )
    if wanted.seed is not None and wanted.seed != earlier["seed"]:
        raise ReelbenchError(
            f"{out} holds a run with seed {earlier['seed']}: leave --seed out to resume it, or "
            "name another folder with --out."
        )
    return earlier


def run_record(benchmark: Benchmark, prepared: Prepared, out: Path) -> dict[str, Any]:
    """Return the content of ``run.json``: everything that decides the result."""
    selection = benchmark.selection
    repeated = any(condition.protocol.rounds > 1 for condition in prepared.conditions)
    return {
        "benchmark": {
            "name": benchmark.manifest.name,
            "version": benchmark.manifest.version,
            **({"selection": selection.to_record()} if selection else {}),
            "digest": benchmark.digest,
            "media_digest": digest_of(prepared.digests),
            # Seen from the run, so that both can be moved together.
            "path": os.path.relpath(benchmark.root.resolve(), out.resolve()),
        },
        "models": [_model(*named, repeated) for named in prepared.models.items()],
        "judges": [_model(*named, repeated=True) for named in prepared.judges.items()],
        "conditions": [
            condition.to_record() | {"prompt_digest": prompts.digest}
            for condition, prompts in prepared.conditions.items()
        ],
        **({"servers": servers} if (servers := commands_of(prepared.everyone)) else {}),
        "seed": prepared.seed,
        **({"budget": prepared.budget.to_record()} if prepared.budget.to_record() else {}),
        "versions": {
            "reelbench": __version__,
            "python": platform.python_version(),
            "av": av.__version__,
            "ffmpeg": ".".join(map(str, av.library_versions["libavcodec"])),
        },
    }


def _model(source: str, model: ChatModel, repeated: bool) -> dict[str, Any]:
    card = model.card
    senses = {"sees": card.sees, "hears": card.hears, "video": card.video, "frames": card.frames}
    tier = {"tier": card.tier} if card.tier else {}
    more = {**senses, **tier, **({"sends_seeds": True} if sends_seeds(model, repeated) else {})}
    return {"name": card.name, "parameters": dict(model.parameters), **more, "from": source}
