"""The run: ask every item of every model, write each response down, and end with a folder.

Work goes by video: its frames are decoded once and serve all questions, orders and models.
What the journal holds is never asked again, so running twice costs nothing and a run that was
killed goes on where it stopped.
"""

import asyncio
import json
import os
import platform
import time
from collections.abc import Coroutine, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any

import av

from reelbench import __version__
from reelbench.benchmark import ITEMS_FILE, Benchmark
from reelbench.errors import ReelbenchError
from reelbench.evaluate.ask import Ask, frames_for, plan, wish_for
from reelbench.evaluate.condition import Condition
from reelbench.evaluate.parse import parse_answer
from reelbench.evaluate.prompt import PromptSet, load_prompts
from reelbench.files import digest_of, json_line, pretty_json, write_atomically
from reelbench.item_rules import LATEST_SECOND
from reelbench.items import LETTERS, Span
from reelbench.journal import Journal, open_journal
from reelbench.media.digests import media_digest
from reelbench.media.errors import MediaError
from reelbench.models.base import ChatModel, Part, Response
from reelbench.models.load import load_model
from reelbench.progress import Advance, progress, track

_STATUS_EVERY = 1.0  # seconds between two writes of status.json


@dataclass
class RunState:
    """How far a run is, as ``status.json`` tells it."""

    total: int
    done: int = 0  # have an answer
    asked: int = 0  # by this call
    known: int = 0  # were answered before it
    repeated: int = 0  # were answered by it for another item, word for word the same
    failures: list[dict[str, Any]] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)  # about media of which a part was shown


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
        names, seed = _continued(benchmark, model_names, out, seed)
        models = [load_model(name) for name in names]
        digests = _media_digests(benchmark)
        asks = list(plan(benchmark, models, condition, prompts, digests, seed))
        record = _run_record(benchmark, models, condition, prompts, digests, seed, out)
        write_atomically(out / "run.json", pretty_json(record))
        state = RunState(total=len(asks))
        status = _StatusFile(out / "status.json", state)
        try:
            with status, progress("Asking models", len(asks), "questions") as advance:
                _finish(_ask_all(benchmark, asks, journal, state, status, advance))
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
    """The models of an earlier run in this folder beside those named now, and its seed."""
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
    names = [model["name"] for model in earlier.get("models", [])]
    names = list(dict.fromkeys([*names, *wanted]))
    if not names:
        raise ReelbenchError("No model to ask: name at least one, such as --model baseline:random.")
    return names, earlier.get("seed", seed or 0)


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
    models: Sequence[ChatModel],
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
        "models": [{"name": m.name, "parameters": dict(m.parameters)} for m in models],
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


class _StatusFile:
    """Keeps ``status.json`` fresh while a run goes on, and true when it ends."""

    def __init__(self, path: Path, state: RunState) -> None:
        self._path, self._state = path, state
        self._written = float("-inf")

    def __enter__(self) -> "_StatusFile":
        self._write("running")
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        self._write("stopped" if kind else "done")

    def refresh(self) -> None:
        """Write again, unless it was written a moment ago."""
        if time.monotonic() - self._written >= _STATUS_EVERY:
            self._write("running")

    def _write(self, word: str) -> None:
        self._written = time.monotonic()
        state = self._state
        content = {
            "state": word,
            "total": state.total,
            "done": state.done,
            "asked_now": state.asked,
            "failures": state.failures,
            "warnings": state.warnings,
        }
        write_atomically(self._path, pretty_json(content))


async def _ask_all(
    benchmark: Benchmark,
    asks: Sequence[Ask],
    journal: Journal,
    state: RunState,
    status: _StatusFile,
    advance: Advance,
) -> None:
    for _, group in groupby(sorted(asks, key=_shown), key=_shown):
        together = list(group)
        pending = [ask for ask in together if not journal.answer(ask.key)]
        state.known += len(together) - len(pending)
        state.repeated += len(pending)  # less what will be asked
        frames, warnings, broken = _frames_for(benchmark, pending)
        state.warnings += [warning for warning in warnings if warning not in state.warnings]
        for ask in together:
            # Looked up again: the same question may just have been answered for another item.
            response = journal.answer(ask.key)
            if response is None:
                await asyncio.sleep(0)  # where Ctrl-C takes effect: models may never wait
                if broken and ask.model.sees:
                    response = broken
                else:
                    response = await ask.model.ask(ask.request(frames))
                journal.record(ask.key, ask.model.name, response)
                state.asked += 1
                state.repeated -= 1
            if response.status == "ok":
                state.done += 1
            else:
                state.failures.append(_failure(ask, response))
            status.refresh()
            advance()


def _shown(ask: Ask) -> list[tuple[str, float, float, tuple[Span, ...]]]:
    """What decides the frames of a question: those that share it are asked together."""
    wishes = [(media.path, wish_for(media, ask.item, ask.condition)) for media in ask.item.media]
    return [(path, w.start or 0, LATEST_SECOND if w.end is None else w.end, w.evidence)
            for path, w in wishes]  # fmt: skip


def _frames_for(
    benchmark: Benchmark, pending: Sequence[Ask]
) -> tuple[list[Part], list[str], Response | None]:
    """Decode what the pending questions need; a broken file costs its own questions only."""
    seeing = next((ask for ask in pending if ask.model.sees), None)
    if seeing is None:
        return [], [], None
    try:
        return *frames_for(benchmark, seeing.item, seeing.condition), None
    except MediaError as error:
        return [], [], Response("error", error=str(error))


def _failure(ask: Ask, response: Response) -> dict[str, Any]:
    return {
        "id": ask.item.id,
        "model": ask.model.name,
        "status": response.status,
        "error": response.error,
    }


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
