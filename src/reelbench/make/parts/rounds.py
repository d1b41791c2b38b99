"""Work in rounds: write, check, use the findings, repeat until a quota is full or nothing is new.

Rows are taken in groups, such as categories. Each round of a group gets what the rounds before made
and remembered, and returns what there is after it. A group is finished when its quota is full, when
some rounds in a row found nothing new, or after the most rounds it may have.

Two examples. Keywords: a round asks a model for variants of the last keywords, searches, has
candidates judged, and adds those admitted; the quota is a number of videos. A quality loop: a round
has questions written by the rules so far and reviewed, names the kinds of failure in ``findings``,
and remembers the rules with new ones added; three rounds without a new kind of failure end it.
"""

from collections import defaultdict
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from reelbench.base.progress import counted
from reelbench.make.pipeline.context import StageContext, together
from reelbench.make.pipeline.stage import BatchStage, Rejected, Undecided


@dataclass(frozen=True, slots=True)
class RoundState:
    """What a round is handed: its number from 1, and the outcome of the round before.

    Pass ``number`` as ``round`` to ``ctx.text`` and ``ctx.json``: a prompt that stays the same is
    then asked again.
    """

    group: str
    number: int = 1
    made: Mapping[str, Sequence[Any]] = field(default_factory=dict)  # rows, by the id of their row
    memory: Any = None  # whatever the round before chose to remember, such as rules


@dataclass(frozen=True, slots=True)
class RoundOutcome:
    """What a round returns: all rows made so far, and what the next round is to remember.

    ``findings`` has names of what the round found; one that no earlier round had is new. Without
    ``findings``, new ids of rows count as new.
    """

    made: Mapping[str, Sequence[Any]]
    memory: Any = None
    findings: Collection[str] | None = None

    @property
    def count(self) -> int:
        """How many rows there are."""
        return sum(map(len, self.made.values()))


Round = Callable[..., Awaitable[RoundOutcome]]  # of the rows of a group, the context and the state


def rounds(
    one_round: Round,
    *,
    input: type,  # noqa: A002 - as the stage calls it
    output: type,
    name: str = "rounds",
    roles: Sequence[str] = (),
    prompts: Sequence[str] = (),
    group: Callable[[Any], str] = lambda _row: "",
    quiet: int = 1,
    most: int = 10,
    quota: Mapping[str, int] | int | None = None,
    parameters: Mapping[str, Any] | None = None,
    **more: Any,
) -> BatchStage:
    """Return a stage that takes each group of rows through rounds.

    ``one_round`` is an ``async`` function of the rows of a group, the ``StageContext``, a
    ``RoundState`` and ``parameters`` by name; it returns a ``RoundOutcome``. ``group`` returns the
    group of a row. A group ends after ``quiet`` rounds in a row without anything new, when
    its ``quota`` of rows is full (one number, or by group), or after ``most`` rounds.
    """
    own = dict(parameters or {})

    async def work(
        rows: Sequence[Any],
        ctx: StageContext,
        *,
        quiet: int,
        most: int,
        quota: Mapping[str, int] | int | None,
        **values: Any,
    ) -> list[Any]:
        groups: dict[str, list[Any]] = defaultdict(list)
        for row in rows:
            groups[group(row)].append(row)

        async def one(named: str) -> dict[str, Any]:
            goal = quota.get(named) if isinstance(quota, Mapping) else quota
            limits = _Limits(name, quiet, most, goal)
            return await _through(one_round, named, groups[named], ctx, limits, values)

        found = await together([one(named) for named in sorted(groups)])
        results = {id_: made for part in found for id_, made in part.items()}
        return [results[row.id] for row in rows]

    return BatchStage(
        name=name,
        input=input,
        output=output,
        work=work,
        roles=tuple(roles),
        prompts=tuple(prompts),
        parameters={"quiet": quiet, "most": most, "quota": _plain(quota), **own},
        validate=_fault,
        **more,
    )


@dataclass(frozen=True, slots=True)
class _Limits:
    stage: str
    quiet: int
    most: int
    quota: int | None


async def _through(
    one_round: Round,
    group: str,
    rows: Sequence[Any],
    ctx: StageContext,
    limits: _Limits,
    values: Mapping[str, Any],
) -> dict[str, Any]:
    """Do rounds until one of the limits is reached; return the result of each row by id."""
    state = RoundState(group)
    seen: set[str] = set()
    without_news = 0
    try:
        while True:
            outcome = await one_round(rows, ctx, state, **values)
            ids = {row.id for made in outcome.made.values() for row in made}
            findings = ids if outcome.findings is None else set(outcome.findings)
            without_news = 0 if findings - seen else without_news + 1
            seen |= findings
            ended = _ended(outcome.count, state.number, without_news, limits)
            if ended:
                break
            state = RoundState(group, state.number + 1, outcome.made, outcome.memory)
    except (Undecided, Rejected) as why:  # as a call that failed: the other groups go on
        return {row.id: why for row in rows}
    if limits.quota is not None and outcome.count < limits.quota:
        where = f" of {group}" if group else ""
        ctx.notes.append(
            f"{limits.stage}: {outcome.count} of {counted(limits.quota, 'row')}{where}: {ended}"
        )
    nothing = Rejected("nothing made", f"{counted(state.number, 'round')}: {ended}")
    return {row.id: list(outcome.made.get(row.id, ())) or nothing for row in rows}


def _ended(count: int, number: int, without_news: int, limits: _Limits) -> str:
    """Return why a group is finished; empty where it goes on."""
    if limits.quota is not None and count >= limits.quota:
        return "the quota is full"
    if without_news >= limits.quiet:
        return f"{counted(without_news, 'round')} in a row brought nothing new"
    if number >= limits.most:
        return f"the most rounds ({limits.most}) were done"
    return ""


def _plain(quota: Mapping[str, int] | int | None) -> dict[str, int] | int | None:
    return dict(quota) if isinstance(quota, Mapping) else quota


def _fault(parameters: Mapping[str, Any]) -> str:
    for name in ("quiet", "most"):
        if parameters[name] < 1:
            return f"{name} is {parameters[name]}: give a number from 1 on"
    return ""
