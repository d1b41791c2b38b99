"""The run: ask every item of every model, write each response down, and end with a folder.

Work goes by video: its frames are decoded once and serve all questions, orders and models.
What the journal holds is never asked again, so running twice costs nothing and a run that was
killed goes on where it stopped.
"""

import asyncio
import json
import os
import platform
from collections.abc import Coroutine, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import av

from reelbench import __version__
from reelbench.benchmark import ITEMS_FILE, Benchmark
from reelbench.errors import ReelbenchError
from reelbench.evaluate.ask import Ask, plan
from reelbench.evaluate.condition import Condition
from reelbench.evaluate.parse import parse_answer
from reelbench.evaluate.prompt import PromptSet, load_prompts
from reelbench.evaluate.schedule import Schedule
from reelbench.evaluate.status import RunState, StatusFile
from reelbench.files import digest_of, json_line, pretty_json, write_atomically
from reelbench.items import LETTERS
from reelbench.journal import Journal, open_journal
from reelbench.media.digests import media_digest
from reelbench.models.base import ChatModel, Response
from reelbench.models.load import CARDS, load_model
from reelbench.progress import Advance, progress, track


def run_benchmark(
    benchmark: Benchmark, model_names: Sequence[str], out: Path | str, seed: int | None = None
) -> RunState:
    """Run a benchmark into a folder, or go on with the run that is there."""
    out = Path(out)
    if (out / ITEMS_FILE).exists():
        raise ReelbenchError(
            f"{out} is a benchmark: name a folder of its own for the run with --out."
        )
    for name in model_names:
        load_model(name)  # a wrong name is told before any folder is made
    condition = Condition.from_protocol(benchmark.manifest.protocol)
    prompts = load_prompts(condition.prompt, benchmark.root, {i.kind for i in benchmark.items})
    out.mkdir(parents=True, exist_ok=True)
    with open_journal(out / "journal.sqlite") as journal:
        sources, seed = _continued(benchmark, model_names, out, seed)
        loaded = {model.name: (model, name) for name in sources for model in [load_model(name)]}
        models = [model for model, _ in loaded.values()]
        digests = _media_digests(benchmark)
        asks = list(plan(benchmark, models, condition, prompts, digests, seed))
        record = _run_record(benchmark, loaded.values(), condition, prompts, digests, seed, out)
        write_atomically(out / "run.json", pretty_json(record))
        state = RunState(total=len(asks))
        status = StatusFile(out / "status.json", state)
        try:
            with status, progress("Asking models", len(asks), "questions") as advance:
                _finish(_ask_all(benchmark, asks, models, journal, state, status, advance))
        finally:
            rows = "".join(_prediction_lines(asks, journal))
            write_atomically(out / "predictions.jsonl", rows)
    return state


def _finish(work: Coroutine[Any, Any, None]) -> None:
    """Run to the end, also from within a notebook, whose own loop is running already."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        asyncio.run(work)
    else:
        with ThreadPoolExecutor(1) as thread:
            thread.submit(asyncio.run, work).result()


def _continued(
    benchmark: Benchmark, wanted: Sequence[str], out: Path, seed: int | None
) -> tuple[list[str], int]:
    """The models, by name or card, of an earlier run here and of this one; and the seed."""
    earlier: dict[str, Any] = {}
    if (out / "run.json").exists():
        try:
            earlier = read_run(out)
        except ReelbenchError:
            if not wanted:
                raise
    if earlier and earlier["benchmark"]["name"] != benchmark.manifest.name:
        raise ReelbenchError(
            f"{out} holds a run of {earlier['benchmark']['name']}, not of "
            f"{benchmark.manifest.name}: name another folder with --out."
        )
    if earlier and seed is not None and seed != earlier["seed"]:
        raise ReelbenchError(
            f"{out} holds a run with seed {earlier['seed']}: leave --seed out to go on with it, or "
            "name another folder with --out."
        )
    sources = [model.get("from", model["name"]) for model in earlier.get("models", [])]
    sources += [os.path.abspath(name) if name.endswith(CARDS) else name for name in wanted]
    if not sources:
        raise ReelbenchError("No model to ask: name at least one, such as --model baseline:random.")
    return list(dict.fromkeys(sources)), earlier.get("seed", seed or 0)


def read_run(out: Path) -> dict[str, Any]:
    """Read the ``run.json`` of a run folder."""
    path = out / "run.json"
    try:
        record: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        # What we read of it again; anything else in it is for people.
        _ = [model["name"] for model in record["models"]], record["conditions"][0], record["seed"]
        _ = record["benchmark"]["name"], record["benchmark"]["path"], record["versions"]
    except FileNotFoundError:
        raise ReelbenchError(f"{out} is not a run folder: there is no run.json in it.") from None
    except (ValueError, KeyError, TypeError, IndexError) as error:
        raise ReelbenchError(
            f"{path} is damaged ({error!r}): run again, naming its models with --model, to write "
            "it anew; nothing that was answered is asked again."
        ) from None
    return record


def is_finished(out: Path) -> bool:
    """Whether the latest run in a folder came to its end."""
    try:
        return bool(
            json.loads((out / "status.json").read_text(encoding="utf-8"))["state"] == "done"
        )
    except (OSError, ValueError, KeyError, TypeError):
        return False


def benchmark_of(out: Path, record: dict[str, Any], moved_to: Path | None = None) -> Benchmark:
    """Load the benchmark that a run was made with, and make sure that it is still the same."""
    root = moved_to or Path(os.path.normpath(out / record["benchmark"]["path"]))
    if not root.is_dir():
        raise ReelbenchError(
            f"The benchmark of {out} is no longer at {root}: name it by --benchmark."
        )
    benchmark = Benchmark.load(root)
    if benchmark.digest != record["benchmark"]["digest"]:
        raise ReelbenchError(
            f"{root} has changed since {out} was made: run it again (what did not change is not "
            "asked again), or name the benchmark it was made with by --benchmark."
        )
    return benchmark


def _media_digests(benchmark: Benchmark) -> dict[str, str | None]:
    """Hash each file once; one that cannot be read fails its own questions later, by name."""
    digests: dict[str, str | None] = {}
    paths = sorted({media.path for item in benchmark.items for media in item.media})
    for path in track(paths, "Hashing media", len(paths), "files"):
        file = benchmark.root / path
        try:
            # Not a pipe or a device, which would never end.
            digests[path] = media_digest(file) if file.is_file() else None
        except OSError:
            digests[path] = None
    return digests


def _run_record(
    benchmark: Benchmark,
    models: Iterable[tuple[ChatModel, str]],
    condition: Condition,
    prompts: PromptSet,
    digests: dict[str, str | None],
    seed: int,
    out: Path,
) -> dict[str, Any]:
    """Everything that decides the result."""
    return {
        "benchmark": {
            "name": benchmark.manifest.name,
            "version": benchmark.manifest.version,
            "digest": benchmark.digest,
            "media_digest": digest_of(digests),
            "path": _relative(benchmark.root, out),
        },
        "models": [
            {"name": model.name, "parameters": dict(model.parameters), "from": source}
            for model, source in models
        ],
        "conditions": [condition.to_record() | {"prompt_digest": prompts.digest}],
        "seed": seed,
        "versions": {
            "reelbench": __version__,
            "python": platform.python_version(),
            "av": av.__version__,
            "ffmpeg": ".".join(map(str, av.library_versions["libavcodec"])),
        },
    }


def _relative(root: Path, out: Path) -> str:
    """Where the benchmark is, seen from the run, so that both can be moved together."""
    return os.path.relpath(root.resolve(), out.resolve())


async def _ask_all(
    benchmark: Benchmark,
    asks: Sequence[Ask],
    models: Sequence[ChatModel],
    journal: Journal,
    state: RunState,
    status: StatusFile,
    advance: Advance,
) -> None:
    try:
        await Schedule(benchmark, journal, state, status, advance).ask_all(asks)
    finally:
        for model in models:
            await model.close()


def _prediction_lines(asks: Sequence[Ask], journal: Journal) -> Iterator[str]:
    for ask in asks:
        response = journal.outcome(ask.key)
        if response is not None:
            yield json_line(_prediction(ask, response))


def _prediction(ask: Ask, response: Response) -> dict[str, Any]:
    row: dict[str, Any] = {
        "id": ask.item.id,
        "model": ask.model.name,
        "condition": ask.condition.name,
        "order": ask.number,
        "status": response.status,
        "response": response.text,
        "parsed": None,
    }
    if ask.number:
        row["permutation"] = list(ask.order)
    if response.status != "ok":
        return row | {"error": response.error}
    if ask.item.kind == "open":
        return row
    asked_options = tuple(ask.item.options[place] for place in ask.order)
    parsed = parse_answer(response.text or "", ask.item.kind, asked_options)
    if parsed.places is None:
        return row | {"parse_failure": parsed.failure}
    # Letters of the benchmark's own order, so that a file of predictions can be scored alone.
    return row | {"parsed": sorted(LETTERS[ask.order[place]] for place in parsed.places)}
