"""Make a benchmark by a recipe, into a folder that can be made again at no cost.

Beside what a benchmark holds there are ``funnel.json`` and its picture, ``rejects.jsonl``, and in
``make/`` the journal of calls, the store of rows and ``make.json``, which says all that decided the
result.
"""

import contextlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from reelbench.base.errors import ReelbenchError
from reelbench.base.files import json_line, pretty_json, write_atomically
from reelbench.base.progress import counted, working
from reelbench.base.seeds import seed_for
from reelbench.client.budget import Budget, Ledger
from reelbench.client.client import Client, Counts
from reelbench.client.forecast import CallForecast
from reelbench.client.session import open_session
from reelbench.data.benchmark import ITEMS_FILE, Benchmark
from reelbench.data.items import Item
from reelbench.data.sources import Sources
from reelbench.engine.base import Engine
from reelbench.make.page.page import write_pages
from reelbench.make.parts.existing import bring_files, bring_media
from reelbench.make.parts.prompt_changes import SettledChanges, settle_changes
from reelbench.make.pipeline.context import StageContext
from reelbench.make.pipeline.folder import earlier_make, make_record, refuse_to_overwrite
from reelbench.make.pipeline.forecast import (
    DryRunClient,
    DryRunContext,
    DryRunPipeline,
)
from reelbench.make.pipeline.funnel import funnel_record, reject_lines
from reelbench.make.pipeline.prompts import Prompts, load_prompts
from reelbench.make.pipeline.rates import read_rates, write_rates
from reelbench.make.pipeline.roles import RoleModels, load_models, missing_roles, warnings_about
from reelbench.make.pipeline.run import Pipeline, StageResult
from reelbench.make.pipeline.stage import WAITING, Recipe, Undecided
from reelbench.make.pipeline.store import RowStore, copied_store, open_store, record_of
from reelbench.models.base import ChatModel

TABLES_FILE = "tables.json"


@dataclass(frozen=True, slots=True)
class MakeOptions:
    """What a user asks for; what is left out is as in the folder's earlier make, or the default."""

    sources: Sequence[Path] = ()
    models: Mapping[str, Sequence[str]] = field(default_factory=dict)  # by role
    prompts: Path | None = None  # a folder with prompts of one's own
    parameters: Mapping[str, Any] = field(default_factory=dict)  # by STAGE.NAME
    seed: int | None = None
    limit: int | None = None  # sources, drawn by the seed
    until: str | None = None  # the stage to end with
    without: Sequence[str] = ()  # names of stages to leave out
    budget: Budget | None = None
    engine: Callable[[], Engine] | None = None  # where operators run; on this machine by default


@dataclass(frozen=True, slots=True)
class MakeResult:
    """The result of a make: what passed each stage, the items, and what was asked and spent."""

    passed: Sequence[StageResult]
    items: Sequence[Item]
    funnel: Mapping[str, Any]
    counts: Counts
    ledger: Ledger
    warnings: Sequence[str]
    left_out: Mapping[str, Sequence[str]]  # optional stages, with the roles that have no model


@dataclass(frozen=True, slots=True)
class _Prepared:
    recipe: Recipe
    order: MakeOptions
    sources: Sources
    role_models: RoleModels
    prompts: Prompts
    left_out: Mapping[str, Sequence[str]]
    settled: SettledChanges  # of prompts, which are in ``prompts`` and not yet in their files

    @property
    def source(self) -> Path:
        return self.order.sources[0] if self.order.sources else Path()

    @property
    def seed(self) -> int:
        return self.order.seed or 0

    def ctx(
        self, kind: type[StageContext], out: Path, store: RowStore, client: Client
    ) -> StageContext:
        ctx = kind(self.source, out, store, client, self.role_models, self.prompts, self.seed)
        ctx.engine = self.order.engine or ctx.engine
        ctx.sources = tuple(self.order.sources)
        ctx.notes += self.settled.notes
        ctx.media = self.source if self.recipe.media == "source" else out
        return ctx

    @property
    def models(self) -> list[ChatModel]:
        return list(dict.fromkeys(each for models in self.role_models.values() for each in models))


def make_benchmark(recipe: Recipe, out: Path, order: MakeOptions) -> MakeResult:
    """Make a benchmark in a folder, or go on with one; wrong options raise before any call."""
    prepared = _prepare(recipe, out, order)
    work = out / "make"
    with (
        open_session(
            work / "journal.sqlite", prepared.models, prepared.order.budget, seed=prepared.seed
        ) as session,
        open_store(work / "rows.sqlite") as rows,
    ):
        prepared.settled.write(out, prepared.order.prompts)
        record = make_record(
            prepared.recipe, prepared.order, prepared.role_models, prepared.prompts, out
        )
        write_atomically(work / "make.json", pretty_json(record))

        async def take(client: Client) -> tuple[StageContext, list[StageResult]]:
            ctx = prepared.ctx(StageContext, out, rows, client)
            return ctx, await Pipeline(prepared.recipe, ctx, rows).take(prepared.sources.rows)

        ctx, passed = session.run(take)
        funnel = funnel_record(passed, prepared.sources.broken, prepared.sources.without)
        items = _write(prepared, out, ctx, passed, record, funnel)
        write_rates(work, passed, ctx.replies)
    warnings = [
        *prepared.sources.warnings,
        *ctx.notes,
        *warnings_about(recipe, prepared.role_models),
    ]
    return MakeResult(
        passed, items, funnel, session.counts, session.ledger, warnings, prepared.left_out
    )


def _prepare(recipe: Recipe, out: Path, order: MakeOptions) -> _Prepared:
    refuse_to_overwrite(recipe, out, order.seed)
    named_now = [name for names in order.models.values() for name in names]
    order = earlier_make(out, order)
    _check_sources(recipe, out, order.sources)
    recipe = recipe.changed(order.parameters)
    role_models = load_models(recipe, order.models, named_now)
    recipe, left_out = _played(_shortened(recipe, order), role_models)
    lacking = missing_roles(recipe, role_models)
    if lacking:
        empty = [each for each in order.sources if each.is_dir() and not any(each.iterdir())]
        faults = [f"{each} is an empty folder: name another in --source." for each in empty]
        raise ReelbenchError("\n".join([*faults, lacking]))
    prompts = load_prompts(recipe.home, order.prompts, recipe.categories or None)
    found = _read_sources(recipe, order.sources)
    sources = _limited(found, order.limit, order.seed or 0)
    if not sources.rows and not sources.broken:
        where = f" in {', '.join(map(str, order.sources))}: check --source" if order.sources else ""
        raise ReelbenchError(f"No sources for {recipe.name} were found{where}.")
    settled = settle_changes(out, order.prompts, prompts.texts)
    prompts = replace(prompts, texts={**prompts.texts, **settled.texts})
    return _Prepared(recipe, order, sources, role_models, prompts, left_out, settled)


def _shortened(recipe: Recipe, order: MakeOptions) -> Recipe:
    """Return the recipe up to a stage; what is left out may stand behind it, or not be done."""
    kept = {stage.name for stage in recipe.without(order.without).stages}
    shorter = recipe.until(order.until)
    return shorter.only(tuple(stage for stage in shorter.stages if stage.name in kept))


def _check_sources(recipe: Recipe, out: Path, sources: Sequence[Path]) -> None:
    if sources and not recipe.needs_source:
        raise ReelbenchError(f"{recipe.name} reads no sources: leave out --source.")
    if not sources and recipe.needs_source:
        raise ReelbenchError(f"{recipe.name} needs sources: name them with --source PATH.")
    if len(sources) > 1 and not recipe.several_sources:
        raise ReelbenchError(f"{recipe.name} takes one --source, not {len(sources)}.")
    for source in sources:
        if out.resolve().is_relative_to(source.resolve()):
            raise ReelbenchError(
                f"{out} is inside {source}: name a folder outside of it with --out."
            )


@working("Reading the sources")
def _read_sources(recipe: Recipe, paths: Sequence[Path]) -> Sources:
    """Read the sources by the recipe's function; refuse rows that its first stage cannot take."""
    found: object = recipe.sources(*paths, **recipe.source_parameters)
    if not isinstance(found, Sources):
        raise ReelbenchError(
            f"The function sources of the recipe {recipe.name} returned a "
            f"{type(found).__name__}: it must return Sources(rows), which reelbench.make has."
        )
    kind = recipe.stages[0].input
    for number, row in enumerate(found.rows, 1):
        if not isinstance(row, kind) or not isinstance(getattr(row, "id", None), str):
            raise ReelbenchError(
                f"Row {number} of the sources of {recipe.name} is a {type(row).__name__}: its "
                f"first stage, {recipe.stages[0].name}, takes a {kind.__name__} with an id."
            )
    return found


def _played(recipe: Recipe, role_models: RoleModels) -> tuple[Recipe, dict[str, list[str]]]:
    """Leave out optional stages that have no model for a role; return these roles by stage."""
    absent = {
        stage.name: lacking
        for stage in recipe.stages
        if stage.optional and (lacking := [role for role in stage.roles if role not in role_models])
    }
    kept = tuple(stage for stage in recipe.stages if stage.name not in absent)
    if not kept:
        raise ReelbenchError(
            f"No stage of {recipe.name} is left to run: name fewer with --without, or name models "
            "with --model ROLE=NAME."
        )
    return recipe.only(kept), absent


def _limited(sources: Sources, limit: int | None, seed: int) -> Sources:
    """Draw some of the sources by the seed; a larger limit includes those of a smaller one."""
    if limit is None:
        return sources
    drawn = sorted(sources.rows, key=lambda row: seed_for(seed, "limit", row.id))[:limit]
    ids = {row.id for row in drawn}
    return replace(sources, rows=[row for row in sources.rows if row.id in ids])


@working("Writing what was made")
def _write(
    prepared: _Prepared,
    out: Path,
    ctx: StageContext,
    passed: Sequence[StageResult],
    record: Mapping[str, Any],
    funnel: Mapping[str, Any],
) -> Sequence[Item]:
    """Write what was made; the benchmark itself only where all stages ran."""
    broken, without = prepared.sources.broken, prepared.sources.without
    write_atomically(out / "funnel.json", pretty_json(funnel))
    write_atomically(out / "rejects.jsonl", "".join(reject_lines(passed, broken, without)))
    statistics = prepared.recipe.statistics
    found = statistics({each.stage.name: each.out for each in passed}) if statistics else {}
    if found:
        write_atomically(out / "statistics.json", pretty_json(found))
    write_pages(out, prepared.recipe.name, record, funnel, found, passed, ctx.tables)
    _write_tables(out, ctx.tables)
    _write_waiting(out, ctx.media, passed)
    last = passed[-1].out
    if prepared.order.until is not None:
        lines = [json_line(record_of(row)) for row in last]
        write_atomically(out / "make" / f"{prepared.order.until}.jsonl", "".join(lines))
        return ()
    items = tuple(last)
    if items:
        _write_contexts(out, ctx, items)
        manifest = prepared.recipe.manifest(items, prepared.source)
        Benchmark(out, manifest, items).save(out)
    elif not funnel["undecided"]:
        (out / ITEMS_FILE).unlink(missing_ok=True)  # of an earlier time: nothing is left of it
    elif (out / ITEMS_FILE).exists():
        rows = counted(len(funnel["undecided"]), "row")
        ctx.notes.append(
            f"{out / ITEMS_FILE} is still that of an earlier make; undecided in this one: {rows}"
        )
    return items


def _write_tables(out: Path, tables: Sequence[Mapping[str, Any]]) -> None:
    """Write the tables of stages to ``tables.json``, where there are any."""
    if tables:
        write_atomically(out / TABLES_FILE, pretty_json(list(tables)))
    else:
        (out / TABLES_FILE).unlink(missing_ok=True)


def _write_waiting(out: Path, media: Path, passed: Sequence[StageResult]) -> None:
    """Put the rows that wait for people where they can be read: ``make/STAGE-waiting.jsonl``.

    Their videos are brought along: who decides must see them, and nothing outside of the folder
    is served.
    """
    for each in passed:
        pairs = zip(each.rows, each.results, strict=True)
        rows = list(_waiting_rows(pairs))
        path = waiting_file(out, each.stage.name)
        for row in rows:
            if isinstance(row, Item) and media != out:
                bring_media(row, media, out)
            elif media != out:  # a video or pair that questions are to be written about
                bring_files((each.path for each in getattr(row, "media", ())), media, out)
        if rows:
            write_atomically(path, "".join(json_line(record_of(row)) for row in rows))
        else:
            path.unlink(missing_ok=True)


def _waiting_rows(pairs: Iterable[tuple[Any, Any]]) -> Iterator[Any]:
    """Yield what people are to decide about, each once: rows, or items that a row waits for."""
    seen = set()
    for row, made in pairs:
        if not isinstance(made, Undecided) or made.status != WAITING:
            continue
        for each in made.items or (row,):
            if each.id not in seen:
                seen.add(each.id)
                yield each


def waiting_file(out: Path, stage: str) -> Path:
    """Return the path of the rows of a stage that wait for people's verdicts."""
    return out / "make" / f"{stage}-waiting.jsonl"


def _write_contexts(out: Path, ctx: StageContext, items: Sequence[Item]) -> None:
    """Write the texts that items were made from beside them, for review and later checks."""
    files = {item.context.get("file"): item.context.get("sha256") for item in items}
    for name, digest in files.items():
        text = digest and ctx.store.kept(digest)
        if name and text:
            path = out / name
            path.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(path, text)


def forecast(
    recipe: Recipe, out: Path, order: MakeOptions
) -> tuple[list[CallForecast], list[StageResult], list[str]]:
    """Return the calls that a make would take, what passes each stage, and warnings.

    No model is called and no file is written.
    """
    prepared = _prepare(recipe, out, order)
    work = out / "make"
    with contextlib.ExitStack() as stack:
        path = work / "journal.sqlite"
        opened = open_session(path, prepared.models, reading=True, seed=prepared.seed)
        session = stack.enter_context(opened)
        store = stack.enter_context(copied_store(work / "rows.sqlite"))
        rates = read_rates(work)
        client = DryRunClient(session.journal, rates)
        ctx = prepared.ctx(DryRunContext, out, store, client)
        pipeline = DryRunPipeline(prepared.recipe, ctx, store, client, rates)
        passed = session.run(lambda _: pipeline.take(prepared.sources.rows), lambda *_: client)
    return client.found, passed, [*prepared.sources.warnings, *ctx.notes]


def used_prompts(recipe: Recipe) -> Iterator[str]:
    """Yield the names of all prompts of a recipe, each once."""
    yield from dict.fromkeys(name for stage in recipe.stages for name in stage.prompts)
