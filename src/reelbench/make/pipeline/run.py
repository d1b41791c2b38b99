"""Take rows through the stages of a recipe; results kept from an earlier make are used again."""

import asyncio
import copy
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from reelbench.base.errors import ReelbenchError
from reelbench.base.files import digest_of
from reelbench.base.progress import progress
from reelbench.client.client import Stopped
from reelbench.client.stopping import first_of
from reelbench.make.pipeline.context import StageContext, clip_of
from reelbench.make.pipeline.stage import (
    BatchStage,
    Recipe,
    Rejected,
    RowStage,
    Stage,
    Undecided,
    as_it_is,
    not_async,
)
from reelbench.make.pipeline.store import RowResult, RowStore, record_of, rejected_record, row_of
from reelbench.media.errors import MediaError

_AT_ONCE = 64  # rows that a stage works at


@dataclass(frozen=True, slots=True)
class StageResult:
    """What a stage made of each of its rows, or why that is undecided."""

    stage: Stage
    rows: Sequence[Any]
    results: Sequence[RowResult | Undecided]

    @property
    def out(self) -> list[Any]:
        """The rows that go on."""
        results = [result for result in self.results if isinstance(result, RowResult)]
        return [row for result in results for row in result.rows]


class BatchResult(msgspec.Struct, frozen=True):
    """What a stage made of all rows, by id; without ``rows``, the others pass unchanged."""

    rejected: dict[str, Any]
    rows: dict[str, list[Any]] | None = None
    notes: list[str] = []
    tables: list[Mapping[str, Any]] = []


@dataclass(frozen=True, slots=True)
class RoundRows:
    """What stages made of rows within a round, and what they rejected: stage, row and why."""

    out: Sequence[Any]
    rejects: Sequence[tuple[str, Any, Rejected]]


async def through(stages: Sequence[Stage], rows: Sequence[Any], ctx: StageContext) -> RoundRows:
    """Take rows through stages inside the work of another stage, in a context of that work.

    Each result is kept as in a make. A row that is undecided raises its ``Undecided``.
    """
    own = copy.copy(ctx)  # the stage at work is another
    kind = _NestedForecast if ctx.is_forecast else Pipeline
    pipeline = kind(StageList(tuple(stages)), own, ctx.store)
    rejects: list[tuple[str, Any, Rejected]] = []
    for stage in stages:
        _check_ids(stage, rows)
        pipeline.begin(stage)
        passed = StageResult(stage, rows, await pipeline.results(stage, rows, lambda: None))
        for row, result in zip(rows, passed.results, strict=True):
            if isinstance(result, Undecided):
                raise result
            if result.rejected:
                rejects.append((stage.name, row, result.rejected))
        rows = passed.out
    return RoundRows(rows, rejects)


def current_stages(stages: Sequence[Stage], ctx: StageContext) -> list[Stage]:
    """Return stages as the recipe has them now, without those whose models are not named."""
    current = {stage.name: stage for stage in ctx.stages}
    return [
        stage
        for stage in (current.get(stage.name, stage) for stage in stages)
        if not stage.optional or all(role in ctx.models for role in stage.roles)
    ]


@dataclass(frozen=True, slots=True)
class StageList:
    """Stages that rows go through, as a recipe has them."""

    stages: tuple[Stage, ...]


def _result(made: Any) -> RowResult | Undecided:
    """Take what a batch stage says of one row: rows, one row, or why there is none."""
    if isinstance(made, Undecided):
        return made
    if isinstance(made, Rejected):
        return RowResult(rejected=made)
    if not isinstance(made, list | tuple):
        return RowResult([made])
    return RowResult(made) if made else RowResult(rejected=Rejected("nothing made"))


class Pipeline:
    """One pass of rows through a recipe."""

    def __init__(self, recipe: Recipe | StageList, ctx: StageContext, store: RowStore) -> None:
        for stage in recipe.stages:
            _check_signature(stage)
        self._recipe, self._ctx, self._store = recipe, ctx, store
        ctx.stages = recipe.stages
        self._stopping = ctx.client.stopping

    async def take(self, rows: Sequence[Any]) -> list[StageResult]:
        """Take rows through all stages; raise ``KeyboardInterrupt`` after Ctrl-C."""
        passed: list[StageResult] = []
        self._ctx.passed = passed
        stages = self._recipe.stages
        for number, stage in enumerate(stages, 1):
            _check_ids(stage, rows)
            self.begin(stage)
            label = f"{number}/{len(stages)} {stage.name}"
            with progress(label, len(rows), "rows") as advance:
                results = await self.results(stage, rows, advance)
            if self._stopping.is_set():
                raise KeyboardInterrupt
            passed.append(StageResult(stage, rows, results))
            rows = passed[-1].out
        return passed

    def begin(self, stage: Stage) -> None:
        """Set the stage that runs next."""
        self._ctx.stage, self._ctx.at_work = stage.name, stage

    async def results(
        self, stage: Stage, rows: Sequence[Any], advance: Callable[[], None]
    ) -> list[RowResult | Undecided]:
        """Return what a stage makes of each row."""
        if isinstance(stage, BatchStage):
            return await self._all(stage, rows)
        assert isinstance(stage, RowStage)
        return await self._each(stage, rows, advance)

    async def _all(self, stage: BatchStage, rows: Sequence[Any]) -> list[RowResult | Undecided]:
        if stage.always or not (stage.filters or stage.roles or stage.may_ask):
            return await self._worked(stage, rows)
        # Kept: a filter may have read for minutes, and who asks may have gone many rounds.
        record: Any = {
            row.id: digest_of([record_of(row), *label_digests(stage, row, self._ctx)])
            if stage.labels
            else digest_of(record_of(row))
            for row in rows
        }
        read = await asyncio.to_thread(stage.reads, rows, self._ctx)
        key = key_of(stage, record if read is None else [record, read], self._ctx)
        known = self._store.get(key, BatchResult)
        if known is not None:
            self._ctx.notes += known.rows[0].notes
            self._ctx.tables += known.rows[0].tables
            return _restored(stage, rows, known.rows[0])
        before = len(self._ctx.notes), len(self._ctx.tables)
        results = await self._worked(stage, rows)
        decided = [result for result in results if isinstance(result, RowResult)]
        if len(decided) < len(rows):
            return results
        shown = self._ctx.notes[before[0] :], self._ctx.tables[before[1] :]
        kept = _batch_result(stage, rows, decided, *shown)
        self._store.put(key, stage.name, RowResult([kept]))
        return _restored(stage, rows, kept)

    async def _worked(self, stage: BatchStage, rows: Sequence[Any]) -> list[RowResult | Undecided]:
        try:
            made = await self.work_on_all(stage, rows)
        except Stopped:
            made = [Undecided("stopped", "stopped before it was asked")] * len(rows)
        except Undecided as undecided:
            made = [undecided] * len(rows)
        return [_result(each) for each in made]

    async def work_on_all(self, stage: BatchStage, rows: Sequence[Any]) -> Sequence[Any]:
        """Do a stage's work on all rows."""
        made: Any = await asyncio.to_thread(stage.work, rows, self._ctx, **stage.parameters)
        made = await made if inspect.isawaitable(made) else made
        if not isinstance(made, Sequence) or len(made) != len(rows):
            number = f"{len(made)} results" if isinstance(made, Sequence) else f"{made!r:.60}"
            raise ReelbenchError(
                f"The stage {stage.name} returned {number} for {len(rows)} rows: its work must "
                "return, for each row in order, a row, a list of rows, or a Rejected."
            )
        return made

    async def _each(
        self, stage: RowStage, rows: Sequence[Any], advance: Callable[[], None]
    ) -> list[RowResult | Undecided]:
        results: list[RowResult | Undecided] = [Undecided("stopped", "not begun")] * len(rows)
        places = asyncio.Semaphore(_AT_ONCE)

        async def work_at(number: int, key: str) -> None:
            try:
                results[number] = await self._one(stage, rows[number], key)
            finally:
                places.release()
                advance()

        # All of them first: what is wrong with a row's files is reported before any call.
        keys = [await self._key(stage, row) for row in rows]
        try:
            async with asyncio.TaskGroup() as tasks:
                for number, key in enumerate(keys):
                    known = self._store.get(key, stage.output) if key else None
                    if known and all(stage.outputs_exist(made, self._ctx) for made in known.rows):
                        results[number] = known
                        advance()
                        continue
                    await places.acquire()
                    if self._stopping.is_set():
                        break
                    tasks.create_task(work_at(number, key))
        except BaseExceptionGroup as group:
            raise first_of(group) from None
        return results

    async def _key(self, stage: RowStage, row: Any) -> str:
        """Return the key of a row's result; empty where a file that decides it cannot be read."""
        try:
            read = await asyncio.to_thread(stage.reads, row, self._ctx)
        except MediaError:
            return ""
        record = record_of(row)
        if stage.labels:
            record = [record, label_digests(stage, row, self._ctx)]
        if stage.version_of is not None:
            record = {"row": record, "version": stage.version_of(row)}
        return key_of(stage, record if read is None else [record, read], self._ctx)

    async def _one(self, stage: RowStage, row: Any, key: str) -> RowResult | Undecided:
        await asyncio.sleep(0)  # where Ctrl-C takes effect: a stage may never wait
        try:
            # As they will come back from the store, so that a second time is like the first.
            made = await self.work(stage, row)
            result = RowResult([row_of(record_of(each), stage.output) for each in made])
        except Rejected as rejected:
            result = RowResult(rejected=rejected)
        except MediaError as error:
            # Not kept: the file may be there again next time, and looking costs nothing.
            return RowResult(rejected=Rejected("media", str(error)))
        except Stopped:
            return Undecided("stopped", "stopped before it was asked")
        except Undecided as undecided:
            return undecided
        if not result.rows and not result.rejected:
            result = RowResult(rejected=Rejected("nothing made"))
        if key:
            self._store.put(key, stage.name, result)
        return result

    async def work(self, stage: RowStage, row: Any) -> Sequence[Any]:
        """Do a stage's work on one row."""
        working = stage.work(row, self._ctx, **stage.parameters)
        if not inspect.isawaitable(working):
            raise ReelbenchError(not_async(stage.name))
        made = await working
        if not isinstance(made, Sequence) or isinstance(made, str):
            raise ReelbenchError(
                f"The stage {stage.name} returned {made!r:.60} for the row {row.id}: its work must "
                "return a list of rows, or raise Rejected."
            )
        return made


class _NestedForecast(Pipeline):
    """Goes on with what a stage expects where made-up replies do not pass."""

    async def work(self, stage: RowStage, row: Any) -> Sequence[Any]:
        if not stage.writes:
            try:
                return await super().work(stage, row)
            except (Rejected, Undecided):
                if stage.estimate is as_it_is and stage.input is not stage.output:
                    raise
        return stage.estimate(row, self._ctx)


def label_digests(stage: Stage, row: Any, ctx: StageContext) -> list[Any]:
    """Return the names and hashes of the labels that a stage reads of a row's clip."""
    found = ctx.clip_labels.get(clip_of(row), {})
    return [[name, digest_of(found[name])] for name in stage.labels if name in found]


def _batch_result(
    stage: BatchStage,
    rows: Sequence[Any],
    results: Sequence[RowResult],
    notes: list[str],
    tables: list[Mapping[str, Any]],
) -> BatchResult:
    named = {row.id: result for row, result in zip(rows, results, strict=True)}
    rejects = {id_: rejected_record(r.rejected) for id_, r in named.items() if r.rejected}
    passed = {row.id: named[row.id].rows for row in rows if not named[row.id].rejected}
    if stage.filters and all(list(passed.get(row.id, [row])) == [row] for row in rows):
        return BatchResult(
            rejects, None, notes, tables
        )  # as most filters: nothing is written twice
    made = {id_: list(map(record_of, kept)) for id_, kept in passed.items()}
    return BatchResult(rejects, made, notes, tables)


def _restored(
    stage: BatchStage, rows: Sequence[Any], kept: BatchResult
) -> list[RowResult | Undecided]:
    """Give each row what is kept of it: a second time is like the first."""
    results: list[RowResult | Undecided] = []
    for row in rows:
        if row.id in kept.rejected:
            results.append(RowResult(rejected=Rejected(**kept.rejected[row.id])))
        elif kept.rows is None:
            results.append(RowResult([row]))
        else:
            results.append(RowResult([row_of(each, stage.output) for each in kept.rows[row.id]]))
    return results


def key_of(stage: Stage, record: Any, ctx: StageContext) -> str:
    """Hash all that decides what a stage makes of a row, or of all of them."""
    return digest_of(
        {
            "stage": stage.name,
            "version": stage.version,
            "parameters": dict(stage.parameters),
            "words": ctx.prompts.digest(stage.prompts),
            "models": {role: _models(ctx, role) for role in (*stage.roles, *stage.may_ask)},
            "seed": ctx.seed,
            **({"round": ctx.round} if ctx.round else {}),
            "row": record,
        }
    )


def _models(ctx: StageContext, role: str) -> list[Any]:
    return [
        [card.name, dict(model.parameters), card.sees, card.hears, card.video, card.frames]
        for model in ctx.models.get(role, ())
        for card in [model.card]
    ]


def _check_signature(stage: Stage) -> None:
    """Refuse work that cannot be called, before any stage is done."""
    try:
        signature = inspect.signature(stage.work)
    except ValueError:  # of what is not written in Python
        return
    try:
        signature.bind(None, None, **stage.parameters)
    except TypeError as error:
        names = ", ".join(stage.parameters) or "none"
        raise ReelbenchError(
            f"The work of the stage {stage.name} cannot be called with its input, the context and "
            f"its parameters by name ({names}): {error}."
        ) from None


def _check_ids(stage: Stage, rows: Sequence[Any]) -> None:
    seen: set[str] = set()
    for row in rows:
        if row.id in seen:
            raise ReelbenchError(
                f"Two rows have the id {row.id!r} before the stage {stage.name}: give each its own."
            )
        seen.add(row.id)
