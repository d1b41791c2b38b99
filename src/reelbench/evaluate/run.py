"""Run a benchmark: ask every model every item, into a folder that anyone can score again.

What the journal holds is never asked again, so running twice costs nothing and a run that was
killed goes on where it stopped.
"""

import asyncio
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from reelbench.base.files import json_line, pretty_json, write_atomically
from reelbench.base.progress import announce, progress
from reelbench.base.spool import LineSpool, open_spool
from reelbench.client.budget import Budget
from reelbench.client.client import Client
from reelbench.client.journal import Journal
from reelbench.client.session import open_session
from reelbench.data.benchmark import Benchmark
from reelbench.evaluate.folder import earlier_run, run_record
from reelbench.evaluate.judge import Judgement, judge_work, judged_before
from reelbench.evaluate.predict import replies
from reelbench.evaluate.prepare import Prepared, RunOptions, prepare, run_seed
from reelbench.evaluate.results import write_judgements, write_results
from reelbench.evaluate.schedule import Schedule, one_server_at_a_time
from reelbench.evaluate.selected import part_to_run
from reelbench.evaluate.status import RunState, StatusFile
from reelbench.models.base import ChatModel, token_limit
from reelbench.models.cascade import Cascade
from reelbench.models.local.engines import EngineSource
from reelbench.models.local.model import LocalModel
from reelbench.models.servers import Servers


def run_benchmark(
    benchmark: Benchmark,
    models: Sequence[str],
    out: Path | str,
    seed: int | None = None,
    *,
    conditions: Sequence[str] = (),
    condition_file: Path | None = None,
    judges: Sequence[str] = (),
    without: Sequence[str] = (),
    budget: Budget | None = None,
    engines: EngineSource | None = None,
) -> RunState:
    """Run a benchmark into a folder, or resume the run that is there; return its final state.

    A run keeps its models, conditions, judges, seed and budget unless others are given, and its
    items always: choose them with ``run_benchmark(benchmark.split("dev"), ...)``, or with
    ``benchmark.select(Selection(limit=10))``, whose limit a later call may raise. ``engines`` is
    where local models run, such as ``RayEngines()``, if not on this machine.
    """
    out = Path(out)
    wanted = RunOptions(models, conditions, condition_file, judges, without, seed, budget)
    # What is wrong with the options is an error before any folder is made.
    earlier = earlier_run(benchmark, wanted, out)
    benchmark = part_to_run(benchmark, run_seed(wanted, earlier), earlier, out)
    prepared = prepare(benchmark, wanted, earlier, out)
    for model in prepared.everyone:
        if engines is not None and isinstance(model, LocalModel):
            model.source = engines
    with open_session(
        out / "journal.sqlite", prepared.everyone, prepared.budget, seed=prepared.seed
    ) as session:
        for warning in prepared.warnings:
            announce(f"warning: {warning}.")
        write_atomically(out / "run.json", pretty_json(run_record(benchmark, prepared, out)))
        state = RunState(
            len(prepared.plan),
            limits={model.card.name: _limit(model) for model in prepared.models.values()},
            ledger=session.ledger,
            counts=session.counts,
            warnings=set(prepared.warnings),
            announced=frozenset(prepared.warnings),
        )
        with open_spool(out) as judged:
            asking = partial(_ask, prepared, session.servers, state, judged)
            finished = False
            try:
                with StatusFile(out / "status.json", state) as status:
                    session.run(partial(asking, status))
                finished = True
            finally:
                lines = judged if finished else _lines_before(prepared, session.journal)
                if prepared.judges:
                    write_judgements(out, lines)
                is_judged = bool(prepared.judges)
                write_results(out, prepared.plan, session.journal, state.unasked, is_judged)
    return state


def _limit(model: ChatModel) -> str:
    """Return the parameter to raise where replies are cut off; of a cascade, the answerer's."""
    if isinstance(model, Cascade):
        return f"{token_limit(model.answerer)} of {model.answerer.card.name}"
    return token_limit(model)


async def _ask(
    prepared: Prepared,
    servers: Servers,
    state: RunState,
    judged: LineSpool,
    status: StatusFile,
    client: Client,
) -> None:
    plan, judges = prepared.plan, list(prepared.judges.values())
    with progress("Asking models", len(plan), "questions", state.in_short) as advance:
        for models in one_server_at_a_time(plan.models, judges):
            await asyncio.to_thread(servers.end_all_but, models)
            await Schedule(client, state, status, advance).ask_all(plan.of(models))
    client.counts = state.judging

    def each(number: int, judgement: Judgement) -> None:
        judged.put(number, json_line(judgement.to_record()))
        state.judged += 1
        state.failures += judgement.failures()
        status.refresh()

    if judges:
        await asyncio.to_thread(servers.end_all_but, judges)
        count = sum(1 for _ in prepared.judging.work(replies(plan, client.journal)))
        work = prepared.judging.work(replies(plan, client.journal))
        await judge_work(work, count, client, each)


def _lines_before(prepared: Prepared, journal: Journal) -> Iterator[str]:
    """Yield the judgements of a run that was stopped: what was judged before still is."""
    found = replies(prepared.plan, journal)
    for judgement in judged_before(prepared.judging, found, journal, prepared.seed):
        yield json_line(judgement.to_record())
