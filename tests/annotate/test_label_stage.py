"""Operators as a stage of a recipe: a change of one redoes what rests on it, and nothing else."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import operators_for_tests as ours
import pytest
from annotating import Given
from msgspec import Struct
from parts import Studio, by_turns, recipe_of
from servers import Reply, completion
from stages import Worker, stage
from support import make_item, run_here

from reelbench.annotate import registry
from reelbench.annotate.ask_model import ModelOperator
from reelbench.annotate.operator import Clip, Labels, NotApplicable, Value
from reelbench.base.errors import ReelbenchError
from reelbench.client.client import Client
from reelbench.data.items import Item, Media
from reelbench.engine.base import Engine, Job, JobResult
from reelbench.make.parts.label import label
from reelbench.make.pipeline.context import StageContext
from reelbench.make.pipeline.forecast import DryRunClient, DryRunContext, DryRunPipeline
from reelbench.make.pipeline.run import Pipeline, StageResult
from reelbench.make.pipeline.stage import BatchStage, RowStage, Stage, Undecided
from reelbench.make.pipeline.store import RowResult
from reelbench.models.base import ChatModel


@dataclass
class Counting:
    """The engine of the tests, which stays open, and how often work came to it."""

    engine: Engine
    jobs: int = 0

    def run(self, jobs: Sequence[Job], limit: float) -> Iterator[JobResult]:
        for done in self.engine.run(jobs, limit):
            self.jobs += 1
            yield done

    def close(self) -> None:
        """It is used by others."""


def rows(*names: str) -> list[Item]:
    return [make_item(n, media=(Media(f"clips/{name}"),)) for n, name in enumerate(names, 1)]


def take(given: Given, items: Sequence[Item], *stages: Stage) -> tuple[list[StageResult], int]:
    """Take items through stages; return also how many pieces of work the engine was given."""
    root = given.clips.parent
    engine = Counting(given.engine)

    async def through(ctx: StageContext) -> list[StageResult]:
        ctx.media, ctx.engine = root, lambda: engine
        return await Pipeline(recipe_of(*stages), ctx, ctx.store).take(items)

    passed, _ = Studio(root / "made").with_context(through)
    return passed, engine.jobs


class Reading(Worker):
    """Work that notes which labels it was given of which row."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name, self.read = name, dict[str, Any]()

    async def __call__(self, item: Item, ctx: StageContext, **_: Any) -> Any:
        self.read[item.id] = ctx.labels(item).get(self.name)
        return await super().__call__(item, ctx)


def reads(name: str) -> tuple[Reading, RowStage]:
    work = Reading(name)
    return work, stage(work, name=f"read_{name}", labels=(name,))


class TestLabels:
    def test_reach_the_stages_that_read_them(self, given: Given) -> None:
        given.add("a.mp4", "b.mp4")
        reader, reading = reads("reader")
        plain = label(["reader"], set={"plain": {"word": "dog"}})
        passed, jobs = take(given, rows("a.mp4", "b.mp4", "a.mp4"), plain, reading)
        assert [row.id for row in passed[-1].out] == ["q-1", "q-2", "q-3"]
        assert reader.read == {f"q-{number}": {"read": "dog"} for number in (1, 2, 3)}
        assert jobs == 4, "plain and reader, of two clips"

    def test_must_be_declared_by_who_reads_them(self, given: Given) -> None:
        given.add("a.mp4")
        for declared in ((), ("other",)):
            reading = stage(Reading("plain"), name="unsaid", labels=declared)
            with pytest.raises(ReelbenchError, match=r"unsaid .* write labels=\(\"plain\",\)"):
                take(given, rows("a.mp4"), label(["plain"]), reading)

    def test_are_made_once(self, given: Given) -> None:
        given.add("a.mp4")
        take(given, rows("a.mp4"), label(["reader", "other"]), reads("other")[1])
        other, reading = reads("other")
        _, jobs = take(given, rows("a.mp4"), label(["reader", "other"]), reading)
        assert (jobs, other.done) == (0, [])

    @pytest.mark.parametrize("changed", ["parameter", "version"])
    def test_of_an_operator_that_changed_redo_what_rests_on_it_alone(
        self, given: Given, changed: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        given.add("a.mp4", "b.mp4")
        items = rows("a.mp4", "b.mp4")
        names = ("plain", "reader", "other")
        take(given, items, label(names), *(reads(name)[1] for name in names))
        before = ours.counts(given.clips)
        settings = {"plain": {"word": "y"}} if changed == "parameter" else {}
        if changed == "version":
            monkeypatch.setattr(ours.Plain, "version", 2)
        workers = {name: reads(name) for name in names}
        take(given, items, label(names, set=settings), *(each[1] for each in workers.values()))
        again = ours.counts(given.clips) - before
        done = {name: work.done for name, (work, _) in workers.items()}
        everything = ["q-1", "q-2"]
        if changed == "parameter":
            assert again == Counter(plain=2, reader=2)
            assert done == {"plain": everything, "reader": everything, "other": []}
        else:  # it said the same as before: what is read did not change
            assert again == Counter(plain=2)
            assert done == {"plain": [], "reader": [], "other": []}

    def test_of_a_clip_that_changed_redo_the_rows_of_that_clip(self, given: Given) -> None:
        given.add("a.mp4", "b.mp4")
        items = rows("a.mp4", "b.mp4")
        take(given, items, label(["plain"]), reads("plain")[1])
        path = given.clips / "b.mp4"
        path.write_bytes(path.read_bytes() + b"\0\0\0\x08free")
        plain, reading = reads("plain")
        _, jobs = take(given, items, label(["plain"]), reading)
        assert (jobs, plain.done) == (1, ["q-2"])

    def test_that_failed_leave_the_row_undecided(self, given: Given) -> None:
        given.add("fails-once.mp4", "fine.mp4")
        items = rows("fails-once.mp4", "fine.mp4")
        passed, _ = take(given, items, label(["odd"]))
        failed, fine = passed[0].results
        assert isinstance(failed, Undecided)
        assert failed.error == "odd: ValueError: not yet"
        assert isinstance(fine, RowResult)
        passed, jobs = take(given, items, label(["odd"]))
        assert ([row.id for row in passed[0].out], jobs) == (["q-1", "q-2"], 1)

    @pytest.mark.parametrize(("require", "left"), [((), ["q-1"]), (("odd",), [])])
    def test_that_there_are_none_of_reject_where_they_are_required(
        self, given: Given, require: tuple[str, ...], left: list[str]
    ) -> None:
        given.add("has-nothing.mp4")
        passed, _ = take(given, rows("has-nothing.mp4"), label(["odd"], require=require))
        assert [row.id for row in passed[0].out] == left
        (result,) = passed[0].results
        assert isinstance(result, RowResult)
        if require:
            assert result.rejected is not None
            assert (result.rejected.reason, result.rejected.detail) == ("no odd", "it is empty")

    def test_that_others_need_are_used_as_an_earlier_stage_made_them(self, given: Given) -> None:
        given.add("a.mp4")
        first = label(["plain"], name="first", set={"plain": {"word": "dog"}})
        reader, reading = reads("reader")
        _, jobs = take(given, rows("a.mp4"), first, label(["reader"], name="second"), reading)
        assert reader.read == {"q-1": {"read": "dog"}}
        assert jobs == 2, "plain was not made again"
        own = label(["reader"], name="second", set={"plain": {"word": "cat"}})
        reader, reading = reads("reader")
        take(given, rows("a.mp4"), first, own, reading)
        assert reader.read == {"q-1": {"read": "cat"}}

    def test_are_not_made_of_rows_to_which_they_do_not_apply(self, given: Given) -> None:
        given.add("a.mp4", "b.mp4")
        plain, reading = reads("plain")
        some = label(["plain"], applies=lambda item: item.id == "q-2")
        passed, jobs = take(given, rows("a.mp4", "b.mp4"), some, reading)
        assert [row.id for row in passed[-1].out] == ["q-1", "q-2"]
        assert jobs == 1
        assert plain.read["q-1"] is None
        assert plain.read["q-2"] is not None

    def test_of_a_file_that_is_no_clip_reject(self, given: Given) -> None:
        given.add("a.mp4")
        passed, _ = take(given, rows("a.mp4", "absent.mp4"), label(["plain"]))
        assert [row.id for row in passed[0].out] == ["q-1"]
        result = passed[0].results[1]
        assert isinstance(result, RowResult)
        assert result.rejected is not None
        assert result.rejected.reason == "media"

    @pytest.mark.parametrize(("fields", "told"), [
        ({"set": {"plain": {"wrd": "x"}}}, r"The operator plain has no parameter 'wrd'"),
        ({"set": {"other": {}}}, "for other, which is not among the labels to make"),
        ({"require": ["other"]}, r"label\.require names other"),
    ])  # fmt: skip
    def test_that_cannot_be_are_refused_before_any_work(
        self, operators: None, fields: Any, told: str
    ) -> None:
        with pytest.raises(ReelbenchError, match=told):
            label(["plain"], **fields)


@dataclass
class Interrupted(Counting):
    """An engine during whose first job the user presses Ctrl-C."""

    stop: Callable[[], None] = lambda: None

    def run(self, jobs: Sequence[Job], limit: float) -> Iterator[JobResult]:
        for done in super().run(jobs, limit):
            self.stop()
            yield done


def test_after_a_first_interrupt_no_more_labels_are_begun(given: Given) -> None:
    given.add("a.mp4", "b.mp4")
    root = given.clips.parent
    engine = Interrupted(given.engine)

    async def through(ctx: StageContext) -> list[StageResult]:
        ctx.media, ctx.engine = root, lambda: engine
        engine.stop = ctx.client.stop
        stages = recipe_of(label(["plain"]))
        return await Pipeline(stages, ctx, ctx.store).take(rows("a.mp4", "b.mp4"))

    with pytest.raises(KeyboardInterrupt):
        Studio(root / "out").with_context(through)
    assert engine.jobs == 1


def test_a_forecast_labels_nothing_and_reads_what_is_known(given: Given) -> None:
    given.add("a.mp4")
    items = rows("a.mp4")
    estimate: Callable[..., Any] = label(["plain"]).estimate

    async def known(ctx: StageContext) -> Any:
        ctx.media = given.clips.parent
        return estimate(items, ctx), dict(ctx.labels(items[0]))

    studio = Studio(given.clips.parent / "made")
    assert studio.with_context(known)[0] == (items, {})
    assert not (given.clips.parent / "made" / "make").exists()
    take(given, items, label(["plain"]))
    found, labels = studio.with_context(known)[0]
    assert (found, labels["plain"]["word"]) == (items, "x")
    assert ours.counts(given.clips) == Counter(plain=1)


class Square(Struct, frozen=True):
    """A row that a stage makes of an item."""

    id: str


async def plain_word(item: Item, ctx: StageContext) -> list[Item]:
    return [item] if ctx.labels(item)["plain"]["word"] == "x" else []


async def squared(item: Item, ctx: StageContext) -> list[Square]:
    return [Square(ctx.labels(item)["plain"]["word"])]


def all_at_once(items: Sequence[Item], ctx: StageContext) -> list[Item]:
    return [item for item in items if ctx.labels(item)["plain"]]


def test_a_forecast_goes_on_where_labels_are_not_made_yet(given: Given) -> None:
    given.add("a.mp4")
    items, reads_plain = rows("a.mp4"), {"labels": ("plain",)}
    stages = (
        label(["plain"]),
        stage(plain_word, name="each", **reads_plain),
        BatchStage(name="all", input=Item, output=Item, work=all_at_once, labels=("plain",)),
        RowStage(name="square", input=Item, output=Square, work=squared, labels=("plain",)),
    )
    recipe = recipe_of(*stages)

    async def through(ctx: StageContext) -> Any:
        dry = DryRunContext(
            ctx.source, ctx.out, ctx.store, DryRunClient(ctx.client.journal, {}), {},
            ctx.prompts, 0,
        )  # fmt: skip
        dry.media = given.clips.parent
        client = dry.client
        assert isinstance(client, DryRunClient)
        passed = await DryRunPipeline(recipe, dry, ctx.store, client, {}).take(items)
        return [len(each.out) for each in passed], dry.notes

    studio = Studio(given.clips.parent / "made")
    counts, notes = studio.with_context(through)[0]
    assert counts == [1, 1, 1, 0]
    (note,) = notes  # once, where it begins
    assert note.startswith("from each on, which reads labels of clips that are not labelled yet")
    take(given, items, stages[0])
    assert studio.with_context(through)[0] == ([1, 1, 1, 1], [])


@dataclass(frozen=True)
class Tells(ModelOperator):
    """Says what a model says."""

    name: ClassVar[str] = "tells"

    def __call__(self, clip: Clip, labels: Labels) -> Value:
        raise NotApplicable("nobody is there to ask")

    async def ask(self, clip: Clip, labels: Labels, client: Client, model: ChatModel) -> Value:
        response = await client.ask_prompt(model, f"What is {clip.path.name}?", None)
        if not response.replied:
            raise ReelbenchError("no reply")
        return {"text": response.text}


def test_operators_that_ask_do_so_through_the_journal_of_the_make(
    given: Given, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ours, "Tells", Tells, raising=False)
    monkeypatch.setitem(registry.OPERATORS, "tells", (ours.MODULE, "Tells", "for tests"))
    given.add("a.mp4", "b.mp4")
    items = rows("a.mp4", "b.mp4")

    def taken(answer: Any) -> tuple[list[StageResult], dict[str, Any], int]:
        tells, reading = reads("tells")

        async def through(ctx: StageContext) -> list[StageResult]:
            ctx.media = given.clips.parent
            stages = recipe_of(label(["tells"], role="captioner"), reading)
            return await Pipeline(stages, ctx, ctx.store).take(items)

        studio = Studio(given.clips.parent / "made", answer, {"captioner": ["pen"]})
        passed, server = studio.with_context(through)
        return passed, tells.read, len(server.requests)

    def first_fails(_body: Any, number: int) -> Reply:
        return completion("a dog") if number else (500, {}, b"{}")

    passed, read, asked = taken(first_fails)
    assert (len(passed[0].out), asked) == (1, 2)
    assert list(read.values()) == [{"text": "a dog"}]
    passed, _, asked = taken(by_turns("a cat"))
    assert (len(passed[-1].out), asked) == (2, 1)


def test_make_refuses_an_engine_that_cannot_be(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("--source", tmp_path, "--out", tmp_path / "out", "--address", "here:1")
    assert run_here("make", "filters", *words) == 2
    assert "--address is that of a Ray cluster: add --engine ray" in capsys.readouterr().err
