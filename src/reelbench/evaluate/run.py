"""Run a benchmark: ask every model every item, into a folder that anyone can score again.

What the journal holds is never asked again, so running twice costs nothing and a run that was
killed goes on where it stopped.
"""

from collections.abc import Sequence
from pathlib import Path

from reelbench.base.files import json_line, pretty_json, write_atomically
from reelbench.base.progress import announce, progress
from reelbench.client.budget import Budget
from reelbench.client.client import Client
from reelbench.client.session import open_session, run_to_the_end
from reelbench.data.benchmark import Benchmark
from reelbench.evaluate.folder import earlier_run, of_run, run_record
from reelbench.evaluate.judge import Judgement, judge_all, judged_before
from reelbench.evaluate.predict import prediction_lines, replies
from reelbench.evaluate.prepare import Prepared, RunOptions, prepare
from reelbench.evaluate.schedule import Schedule
from reelbench.evaluate.status import RunState, StatusFile
from reelbench.evaluate.usage import USAGE_FILE, usage_text
from reelbench.models.base import ChatModel, token_limit
from reelbench.models.cascade import Cascade


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
) -> RunState:
    """Run a benchmark into a folder, or resume the run that is there; return its final state.

    A run keeps its models, conditions, judges, seed and budget unless others are given, and its
    split always: run one with ``run_benchmark(benchmark.split("dev"), ...)``.
    """
    out = Path(out)
    wanted = RunOptions(models, conditions, condition_file, judges, without, seed, budget)
    # What is wrong with the options is an error before any folder is made.
    earlier = earlier_run(benchmark, wanted, out)
    benchmark = of_run(benchmark, earlier)
    prepared = prepare(benchmark, wanted, earlier, out)
    with open_session(out / "journal.sqlite", prepared.everyone, prepared.budget) as session:
        for warning in prepared.warnings:
            announce(f"warning: {warning}.")
        write_atomically(out / "run.json", pretty_json(run_record(benchmark, prepared, out)))
        state = RunState(
            len(prepared.asks),
            limits={model.card.name: _limit(model) for model in prepared.models.values()},
            ledger=session.ledger,
            counts=session.counts,
            warnings=set(prepared.warnings),
            announced=frozenset(prepared.warnings),
        )
        judgements: list[Judgement] | None = None
        try:
            with StatusFile(out / "status.json", state) as status:
                judgements = session.run(lambda client: _ask(prepared, client, state, status))
        finally:
            if judgements is None:  # it was stopped: what was judged before still is
                replied = replies(prepared.asks, session.journal)
                before = judged_before(prepared.judging, replied, session.journal)
                judgements = run_to_the_end(before)
            lines = prediction_lines(prepared.asks, session.journal, state.unasked, judgements)
            write_atomically(out / "predictions.jsonl", "".join(lines))
            usage = usage_text(prepared.asks, session.journal, out / USAGE_FILE)
            write_atomically(out / USAGE_FILE, usage)
            if prepared.judges:
                rows = [json_line(judgement.to_record()) for judgement in judgements]
                write_atomically(out / "judgements.jsonl", "".join(rows))
    return state


def _limit(model: ChatModel) -> str:
    """Return the parameter to raise where replies are cut off; of a cascade, the answerer's."""
    if isinstance(model, Cascade):
        return f"{token_limit(model.answerer)} of {model.answerer.card.name}"
    return token_limit(model)


async def _ask(
    prepared: Prepared, client: Client, state: RunState, status: StatusFile
) -> list[Judgement]:
    total = len(prepared.asks)
    with progress("Asking models", total, "questions", state.in_short) as advance:
        await Schedule(client, state, status, advance).ask_all(prepared.asks)
    client.counts = state.judging

    def judged(judgement: Judgement) -> None:
        state.judged += 1
        state.failures += judgement.failures()
        status.refresh()

    if not prepared.judges:
        return []
    return await judge_all(prepared.judging, replies(prepared.asks, client.journal), client, judged)
