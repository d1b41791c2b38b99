"""Label clips as a stage: operators run through the engine, and other stages read their labels.

Labels are not part of a row. They belong to its clip, and a stage lists those that it reads in its
``labels``: when the value of one changes, because an operator has another version or other
parameters, the stages that read it are done again for that clip, and no others.
"""

import asyncio
from collections.abc import Callable, Collection, Generator, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from reelbench.annotate.annotate import operators_for
from reelbench.annotate.asking import ask_all
from reelbench.annotate.labelling import LIMIT, Ask, Receive, label_clips
from reelbench.annotate.operator import Clip, Operator
from reelbench.annotate.outcomes import Annotated, Outcome, values_of
from reelbench.annotate.registry import label_of
from reelbench.base.durable import (
    RESULT_SCHEMA,
    ResultStore,
    open_durable,
    open_in_memory,
    open_result_store,
)
from reelbench.base.extensions import beside_loading
from reelbench.client.client import Stopped
from reelbench.data.items import Item
from reelbench.engine.base import Engine, Job, JobResult
from reelbench.make.parts.only import among_others
from reelbench.make.pipeline.context import StageContext, clip_of
from reelbench.make.pipeline.stage import BatchStage, Rejected, Undecided
from reelbench.media.decode.isolated import probe_isolated
from reelbench.media.digests import media_digest
from reelbench.media.errors import MediaError, refuse_no_file
from reelbench.weights import provide


def label(
    labels: Sequence[str],
    *,
    name: str = "label",
    role: str = "",
    rows: type = Item,
    set: Mapping[str, Mapping[str, Any]] | None = None,  # noqa: A002 - as the command calls it
    require: Sequence[str] = (),
    limit: float = LIMIT,
    root: Callable[[StageContext], Path] = lambda ctx: ctx.media,
    applies: Callable[[Any], bool] = lambda _row: True,
    optional: bool = False,
) -> BatchStage:
    """Return the stage that labels the clips of rows, for ``ctx.labels`` of the stages after it.

    A row's clip is the first medium of an item, or the field ``clip`` of any other row, as a path
    under ``root``. ``labels`` may have operators of your own as ``FILE.py:NAME``, from a file
    beside the recipe's. ``set`` has parameters of operators by label; a row without a value for a
    label in ``require`` is rejected; ``role`` names the model of operators that ask one, and with
    ``optional`` the stage is left out where it has none; ``limit`` is the most seconds for an
    operator on a clip. Rows to which it does not apply pass as they are. Labels that others need
    and that a stage before has made are used as they are, unless ``set`` has parameters for them.
    """
    labels = [label_of(beside_loading(each)) for each in labels]

    async def work(given: Sequence[Any], ctx: StageContext, **settings: Any) -> list[Any]:
        loop = asyncio.get_running_loop()
        work = _Labelling(ctx, root(ctx), role, limit, lambda asking: _on(loop, asking))
        chosen = [row for row in given if applies(row)]
        try:
            results = await asyncio.to_thread(work.results, chosen, settings)
        except asyncio.CancelledError:  # a second Ctrl-C does not wait for operators
            work.close()
            raise
        return among_others(given, chosen, results)

    def known(given: Sequence[Any], ctx: StageContext) -> list[Any]:
        settings = {"labels": labels, "set": set or {}, "require": list(require)}
        chosen = [row for row in given if applies(row)]
        results = _Labelling(ctx, root(ctx), role, limit, None).known(chosen, settings)
        return among_others(given, chosen, results)

    return BatchStage(
        name=name,
        input=rows,
        output=rows,
        work=work,
        roles=(role,) if role else (),
        parameters={
            "labels": labels,
            "set": {each: dict(values) for each, values in (set or {}).items()},
            "require": list(require),
        },
        validate=_fault,
        optional=optional,
        always=True,
        writes=True,
        estimate=known,
    )


def _fault(parameters: Mapping[str, Any]) -> str:
    operators = operators_for(parameters["labels"], parameters["set"])
    made = [operator.name for operator in operators]
    absent = [each for each in parameters["require"] if each not in made]
    return f"require names {', '.join(absent)}, which is not among labels" if absent else ""


def _on(loop: asyncio.AbstractEventLoop, asking: Any) -> Any:
    return asyncio.run_coroutine_threadsafe(asking, loop).result()


class _Labelling:
    """The clips of all rows, and their labels."""

    def __init__(
        self,
        ctx: StageContext,
        root: Path,
        role: str,
        limit: float,
        wait_for: Callable[[Any], Any] | None,
    ) -> None:
        self._ctx, self._root, self._role, self._limit = ctx, root, role, limit
        self._wait_for = wait_for
        self._file = ctx.out / "make" / "labels.sqlite"
        self._engine: _Opened | None = None

    def close(self) -> None:
        """End the operators that run."""
        if self._engine is not None:
            self._engine.close()

    def results(self, rows: Sequence[Any], settings: Mapping[str, Any]) -> list[Any]:
        """Label all clips; return each row, or why it is rejected or undecided."""
        found, operators = self._begin(rows, settings)
        stopping = self._ctx.client.stopping
        self._engine = engine = _Opened(self._ctx.engine, operators, stopping.is_set)
        self._file.parent.mkdir(parents=True, exist_ok=True)
        try:
            with open_result_store(self._file) as store:
                ask = self._ask() if self._role else None
                label_clips(found, operators, store, engine, self._limit, ask)
        finally:
            engine.close()
        return self._gather(rows, found, settings["require"])

    def known(self, rows: Sequence[Any], settings: Mapping[str, Any]) -> list[Any]:
        """Return rows with labels of earlier makes; no operator runs and nothing is written."""
        found, operators = self._begin(rows, settings)
        opened = (
            open_durable(self._file, RESULT_SCHEMA, reading=True)
            if self._file.exists()
            else open_in_memory(RESULT_SCHEMA)
        )
        with opened as connection:
            store = ResultStore(self._file, connection)
            label_clips(found, operators, store, _Nowhere(), self._limit, title="Known labels")
        results = self._gather(rows, found, ())
        pairs = zip(rows, results, strict=True)
        return [
            row if isinstance(result, Undecided) or not self._is_written(row) else result
            for row, result in pairs
        ]

    def _is_written(self, row: Any) -> bool:
        """Whether the clip of a row is there: a stage before this one may still have to cut it."""
        return (self._root / clip_of(row)).exists()

    def _ask(self) -> Ask:
        """Return how operators ask a model: through the journal and the budget of this make."""
        client, model, wait_for = self._ctx.client, self._ctx.model(self._role), self._wait_for
        assert wait_for is not None

        def ask(jobs: Sequence[Job], receive: Receive) -> None:
            wait_for(ask_all(jobs, receive, model, client))

        return ask

    def _begin(
        self, rows: Sequence[Any], settings: Mapping[str, Any]
    ) -> tuple[Annotated, list[Operator]]:
        clips: dict[str, Clip] = {}
        broken: dict[str, str] = {}
        for name in dict.fromkeys(map(clip_of, rows)):
            path = self._root / name
            try:
                refuse_no_file(path)
                clips[name] = Clip(path.absolute(), media_digest(path), probe_isolated(path))
            except (MediaError, OSError) as error:
                broken[name] = str(error)
        model = self._ctx.model(self._role) if self._role else None
        operators = operators_for(settings["labels"], settings["set"], model)
        asked = {*map(label_of, settings["labels"]), *settings["set"]}
        found = {name: self._made_before(name, asked) for name in clips}
        return Annotated(self._ctx.out, clips, broken, found), _to_run(operators, asked, found)

    def _made_before(self, clip: str, asked: Collection[str]) -> dict[str, Outcome]:
        """Return what stages before this one made of a clip, without what is asked for now."""
        values = self._ctx.clip_labels.get(clip, {})
        return {
            label: {"value": values[label]} if label in values else {"none": "It has no value."}
            for label in sorted(self._ctx.labelled.get(clip, ()))
            if label not in asked
        }

    def _gather(self, rows: Sequence[Any], found: Annotated, require: Sequence[str]) -> list[Any]:
        for name in found.clips:
            labels = self._ctx.clip_labels.setdefault(name, {})
            labels |= values_of(found, name)
            outcomes = found.outcomes[name].items()
            self._ctx.labelled[name] |= {each for each, made in outcomes if "failed" not in made}
        return [_row_outcome(row, found, require) for row in rows]


def _to_run(
    operators: Sequence[Operator], asked: Collection[str], found: Mapping[str, Mapping[str, Any]]
) -> list[Operator]:
    """Return the operators of labels that are asked for, and of what these need and is not made."""
    needed = set(asked)
    chosen: list[Operator] = []
    for operator in reversed(operators):  # each comes after those that it needs
        lacks = any(operator.name not in made for made in found.values())
        if operator.name in asked or (operator.name in needed and lacks):
            chosen.insert(0, operator)
            needed |= set(operator.needs)
    return chosen


def _row_outcome(row: Any, found: Annotated, require: Sequence[str]) -> Any:
    clip = clip_of(row)
    if clip in found.broken:
        return Rejected("media", found.broken[clip])
    outcomes = found.outcomes[clip]
    for name, each in outcomes.items():
        if "failed" in each:  # it is tried again next time
            return Undecided("error", f"{name}: {each['failed']}")
    lacking = next((name for name in require if "value" not in outcomes[name]), None)
    if lacking is not None:
        return Rejected(f"no {lacking}", outcomes[lacking]["none"])
    return row


class _Opened:
    """An engine that is opened, and weights that are fetched, when there is something to do.

    Once the make is stopped, the first result that comes is the last one.
    """

    def __init__(
        self,
        open_engine: Callable[[], Engine],
        operators: Sequence[Operator],
        is_stopped: Callable[[], bool],
    ) -> None:
        self._open, self._operators = open_engine, operators
        self._is_stopped = is_stopped
        self._engine: Engine | None = None

    def run(self, jobs: Sequence[Job], limit: float) -> Iterator[JobResult]:
        if self._engine is None:
            provide({each for one in self._operators for each in one.loads.values()}, False)
            self._engine = self._open()
        results = self._engine.run(jobs, limit)
        try:
            for result in results:
                if not (self._is_stopped() and result.lost):
                    yield result
                if self._is_stopped():
                    raise Stopped
        finally:
            if isinstance(results, Generator):
                results.close()  # or jobs that nobody waits for would still be run

    def close(self) -> None:
        if self._engine is not None:
            self._engine.close()


class _Nowhere:
    """An engine that does nothing."""

    def run(self, jobs: Sequence[Job], _limit: float) -> Iterator[JobResult]:
        return (JobResult(job, lost="was not asked") for job in jobs)

    def close(self) -> None:
        """Nothing is held."""
