"""Run a benchmark: ask every item of every model, and leave a folder anyone can score again.

What the journal holds is never asked again, so running twice costs nothing and a run that was
killed goes on where it stopped.
"""

import asyncio
from collections.abc import Coroutine, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from reelbench.asking.asker import Asker
from reelbench.asking.spend import Budget, Ledger
from reelbench.benchmark import Benchmark
from reelbench.evaluate.folder import earlier_run, run_record
from reelbench.evaluate.judge import Judgement, judge_all
from reelbench.evaluate.predict import prediction_lines
from reelbench.evaluate.prepare import Prepared, Wanted, prepare
from reelbench.evaluate.schedule import Schedule
from reelbench.evaluate.status import RunState, StatusFile
from reelbench.files import json_line, pretty_json, write_atomically
from reelbench.journal import Journal, open_journal
from reelbench.models.base import ChatModel
from reelbench.models.cascade import Cascade, members_of
from reelbench.progress import progress


def run_benchmark(
    benchmark: Benchmark,
    models: Sequence[str],
    out: Path | str,
    seed: int | None = None,
    *,
    conditions: Sequence[str] = (),
    condition_file: Path | None = None,
    judges: Sequence[str] = (),
    budget: Budget | None = None,
) -> RunState:
    """Run a benchmark into a folder, or go on with the run that is there."""
    out = Path(out)
    wanted = Wanted(models, conditions, condition_file, judges, seed)
    # What is wrong with it is told before any folder is made.
    prepared = prepare(benchmark, wanted, earlier_run(benchmark, wanted, out))
    ledger = Ledger(budget or Budget())
    everyone = list(members_of([*prepared.models.values(), *prepared.judges.values()]))
    for model in everyone:
        ledger.check_price(model.card)
    out.mkdir(parents=True, exist_ok=True)
    with open_journal(out / "journal.sqlite") as journal:
        _remember(journal, ledger, everyone)
        write_atomically(out / "run.json", pretty_json(run_record(benchmark, prepared, out)))
        state = RunState(total=len(prepared.asks), ledger=ledger)
        judgements: list[Judgement] = []
        try:
            with StatusFile(out / "status.json", state) as status:
                _finish(_ask(benchmark, prepared, everyone, journal, state, status, judgements))
        finally:
            lines = prediction_lines(prepared.asks, journal, state.unasked, judgements)
            write_atomically(out / "predictions.jsonl", "".join(lines))
            if prepared.judges:
                rows = [json_line(judgement.to_record()) for judgement in judgements]
                write_atomically(out / "judgements.jsonl", "".join(rows))
    return state


def _remember(journal: Journal, ledger: Ledger, models: Iterable[ChatModel]) -> None:
    """Count what earlier calls into the same folder took."""
    cards = {model.card.name: model.card for model in models}
    for name, requests, taken, given, guessed in journal.taken():
        if name in cards and guessed:
            ledger.count(cards[name], None, None, (taken, given), requests)
        elif name in cards:
            ledger.count(cards[name], taken, given, requests=requests)


async def _ask(
    benchmark: Benchmark,
    prepared: Prepared,
    everyone: Sequence[ChatModel],
    journal: Journal,
    state: RunState,
    status: StatusFile,
    judgements: list[Judgement],
) -> None:
    asker = Asker(journal, state.ledger)
    state.counts = asker.counts
    for model in everyone:
        if isinstance(model, Cascade):
            model.relay = asker.ask
    try:
        with progress("Asking models", len(prepared.asks), "questions") as advance:
            await Schedule(benchmark, asker, state, status, advance).ask_all(prepared.asks)
        if prepared.judges:
            await judge_all(prepared, asker, state, judgements)
    finally:
        for model in everyone:
            await model.close()


def _finish(work: Coroutine[Any, Any, None]) -> None:
    """Run to the end, also from within a notebook, whose own loop is running already."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        asyncio.run(work)
    else:
        with ThreadPoolExecutor(1) as thread:
            thread.submit(asyncio.run, work).result()
