"""Have judges read anyone's predictions: open replies, and closed ones that no rule can read."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from reelbench.base.errors import ReelbenchError
from reelbench.base.files import json_line, write_atomically
from reelbench.client.budget import Budget, Ledger
from reelbench.client.session import open_session
from reelbench.data.benchmark import Benchmark
from reelbench.evaluate.condition import conditions_for
from reelbench.evaluate.judge import JudgedChoice, Judgement, Judges, Key, Reply, decided, judge_all
from reelbench.evaluate.predict import answer_fields
from reelbench.evaluate.rubric import load_rubric
from reelbench.models.load import Loader
from reelbench.score.predictions import Asked, Rows, has_reply, reply_in


@dataclass
class JudgingResult:
    """The result of asking judges."""

    path: Path  # of the judgements
    judges: Sequence[str]  # their names
    judgements: Sequence[Judgement] = ()
    failures: list[dict[str, Any]] = field(default_factory=list)
    ledger: Ledger = field(default_factory=Ledger)
    warnings: Sequence[str] = ()


def judge_rows(
    benchmark: Benchmark,
    rows: Rows,
    judges: Sequence[str],
    folder: Path,
    budget: Budget | None = None,
    same_as: Sequence[str] = (),
) -> JudgingResult:
    """Ask judges about rows, and fill in the answers that they find.

    ``folder`` keeps their replies: what was judged once is not asked again. ``same_as`` are the
    names of the judges of a run beside which the rows are to stand: tables have the grades of the
    first, so it must be among these.
    """
    loader = Loader()
    models = [loader.load(name) for name in dict.fromkeys(judges)]
    if same_as and same_as[0] not in [model.card.name for model in models]:
        raise ReelbenchError(
            f"The run was graded by {same_as[0]}: name that judge with --judge, so that all rows "
            "of a table are on one scale."
        )
    asked = Judges(models, _rubrics(benchmark, rows))
    found = JudgingResult(
        folder / "judgements.jsonl",
        [judge.card.name for judge in asked.models],
        warnings=list(asked.warnings()),
    )
    replies = list(_replies(benchmark, rows))
    with open_session(folder / "journal.sqlite", models, budget) as session:
        found.ledger = session.ledger
        found.judgements = session.run(
            lambda client: judge_all(
                asked, replies, client, lambda each: found.failures.extend(each.failures())
            )
        )
    write_atomically(found.path, "".join(json_line(each.to_record()) for each in found.judgements))
    _fill_in(rows, replies, decided(found.judgements))
    return found


def _rubrics(benchmark: Benchmark, rows: Rows) -> dict[str, Any]:
    """The rubric of each condition; one that the benchmark does not know is asked as usual."""
    if not any(item.kind == "open" for item in benchmark.items):
        return {}
    known = {
        condition.name: condition.protocol.rubric
        for condition in conditions_for(benchmark.manifest, None, (), ())
    }
    usual = benchmark.manifest.protocol.rubric
    names = {condition: known.get(condition, usual) for _, condition in rows}
    return {name: load_rubric(rubric, benchmark.root) for name, rubric in names.items()}


def _replies(benchmark: Benchmark, rows: Rows) -> Iterator[Reply]:
    """What was replied, where nobody has read an answer in it yet."""
    items = {item.id: item for item in benchmark.items}
    for asked, by_item in rows.items():
        for name, turns in by_item.items():
            for place, row in sorted(turns.items()):
                if has_reply(row) and not row.get("parsed"):
                    yield reply_in(items[name], asked, place, row)


def _fill_in(rows: Rows, replies: Sequence[Reply], judged: Mapping[Key, JudgedChoice]) -> None:
    for reply in replies:
        judgement = judged.get(reply.key)
        if judgement is not None:
            asked: Asked = (reply.model, reply.condition)
            row = rows[asked][reply.item.id][reply.number, reply.round]
            row |= answer_fields(reply, judgement)
