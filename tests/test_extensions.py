"""Operators, model backends, recipes and metrics of one's own: by a file, or by a package."""

import asyncio
import re
from pathlib import Path

import pytest
from parts import a_recipe, ending
from support import make_item, run_here
from videos import make_video

from reelbench.annotate.annotate import annotate
from reelbench.annotate.registry import in_order, load_operator
from reelbench.base.errors import ReelbenchError
from reelbench.base.extensions import load_file
from reelbench.base.files import digest_of_file
from reelbench.data.sources import Sources
from reelbench.engine.local import LocalEngine
from reelbench.make import label
from reelbench.make.pipeline.make import MakeOptions, make_benchmark
from reelbench.models.load import load_model
from reelbench.recipes import load_recipe
from reelbench.score import metrics

OPERATOR = """
from dataclasses import dataclass
from typing import ClassVar

from reelbench.annotate.operator import Operator


@dataclass(frozen=True)
class Length(Operator):
    name: ClassVar[str] = "{label}"
    step: float = 1.0

    def __call__(self, clip, labels):
        return {{"steps": round(clip.info.duration / self.step), "note": "{note}"}}
"""
BACKEND = """
from reelbench.models.base import Response
from reelbench.models.baselines.shortcuts import Offline


class Parrot(Offline):
    async def ask(self, request):
        return Response("ok", self.card.model)


def load(card):
    return Parrot(card)
"""
METRIC = """
from reelbench.score.metrics import Metric

LENIENT = Metric("any right option", ("multi",), lambda item, answer: float(bool(answer)))
"""
RECIPE = """
import asyncio
from pathlib import Path

from reelbench.data.items import Item, Media
from reelbench.data.manifest import Manifest
from reelbench.data.sources import Sources
from reelbench.make.pipeline.stage import Recipe, RowStage, Undecided


def sources():
    return Sources([Item("q", "open", (Media("a.mp4"),), "Why?", reference="So.")])


{work}


STAGE = RowStage(name="mine", input=Item, output=Item, work=work)
RECIPE = Recipe(name="mine", description="", sources=sources, needs_source=False, stages=(STAGE,),
                roles={{}}, manifest=lambda items, source: Manifest("mine", "1"))
"""


def write(path: Path, text: str) -> str:
    path.write_text(text)
    return str(path)


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where installed packages are found, with one that registers something of each sort."""
    site = tmp_path / "site"
    (site / "kit-1.0.dist-info").mkdir(parents=True)
    (site / "kit-1.0.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: kit\n")
    (site / "kit-1.0.dist-info" / "entry_points.txt").write_text(
        "[reelbench.operators]\nkit_length = kit_operator:Length\nkit_broken = kit_none:None\n"
        "[reelbench.models]\nkit = kit_backend\n"
        "[reelbench.metrics]\nkit_lenient = kit_metric:LENIENT\n"
        "[reelbench.recipes]\nkit-recipe = kit_metric:LENIENT\n"
    )
    write(site / "kit_operator.py", OPERATOR.format(label="kit_length", note=""))
    write(site / "kit_backend.py", BACKEND)
    write(site / "kit_metric.py", METRIC)
    monkeypatch.syspath_prepend(str(site))
    monkeypatch.setattr(metrics, "METRICS", dict(metrics.METRICS))
    return site


class TestOperators:
    def test_of_a_file_work_in_worker_processes_and_are_kept_while_the_file_is_the_same(
        self, tmp_path: Path
    ) -> None:
        clip = make_video(tmp_path / "clip.mp4", seconds=2.0, rate=5)
        spec = write(tmp_path / "own.py", OPERATOR.format(label="own_length", note="a"))
        engine = LocalEngine(1)
        try:
            first = annotate(clip, [f"{spec}:Length"], tmp_path / "out", engine,
                             {"own_length": {"step": 2.0}})  # fmt: skip
            again = annotate(clip, [spec], tmp_path / "out", engine, {"own_length": {"step": 2.0}})
            assert load_operator("own_length").source == digest_of_file(tmp_path / "own.py")
            type(load_operator("own_length")).source = "of another text"
            changed = annotate(clip, [spec], tmp_path / "out", engine,
                               {"own_length": {"step": 2.0}})  # fmt: skip
        finally:
            engine.close()
        (labels,) = first.outcomes.values()
        assert labels["own_length"]["value"] == {"steps": 1, "note": "a"}
        assert (first.worked, again.worked, changed.worked) == (1, 0, 1)

    def test_what_is_wrong_with_a_file_is_a_sentence(self, tmp_path: Path) -> None:
        twice = OPERATOR.format(label="own_a", note="") + "\n\nclass Other(Length):\n    pass\n"
        for text, name, sentence in (
            ("x = 1\ny = nothing\n", "", r"fails at line 2: NameError"),
            (
                "x = 1\n",
                ":Length",
                r"defines no Length that is an Operator; it defines nothing of that kind",
            ),
            (twice, "", r"defines more than one Operator \(Length, Other\): write .*:NAME"),
            (OPERATOR.format(label="shots", note=""), "", "which another operator has"),
            (OPERATOR.format(label="two words", note=""), "", "has no valid name of its label"),
            (
                OPERATOR.format(label="own_b", note="") + '\n    needs = "format"\n',
                "",
                r"own.*\.py:Length has needs = 'format', which is not a tuple .* \(\"format\",\)",
            ),
        ):
            path = tmp_path / f"own{abs(hash(text))}.py"
            with pytest.raises(ReelbenchError, match=sentence):
                in_order([write(path, text) + name])
        with pytest.raises(ReelbenchError, match=r"gone\.py does not exist"):
            in_order([str(tmp_path / "gone.py")])

    @pytest.mark.parametrize(("slip", "is_defect"), [("{}['secs']", False), ("clip.length", True)])
    def test_a_slip_in_one_is_told_with_its_line(
        self, slip: str, is_defect: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        clip = make_video(tmp_path / "clip.mp4", seconds=0.4, rate=5)
        text = OPERATOR.format(label=f"own_slip_{is_defect}", note="")
        spec = write(tmp_path / "own.py", text.replace("return {", f"return {slip}\n        {{"))
        status = run_here("annotate", clip, "--labels", spec, "--out", tmp_path / "out")
        said = capsys.readouterr().err
        assert re.search(r"own\.py fails at line 14: (KeyError: 'secs'|AttributeError: )", said)
        assert "Traceback" not in said
        assert status == (2 if is_defect else 1)

    def test_of_a_package_are_found_by_their_label(self, package: Path) -> None:
        assert load_operator("kit_length", step=3.0).parameters == {"step": 3.0}
        with pytest.raises(ReelbenchError, match="the package kit registers under reelbench"):
            load_operator("kit_broken")
        with pytest.raises(ReelbenchError, match=r"known ones: format, .* kit_length"):
            load_operator("shoes")


class TestBackends:
    def test_of_a_file_beside_its_card(self, tmp_path: Path) -> None:
        write(tmp_path / "parrot.py", BACKEND)
        write(tmp_path / "card.yaml", "name: polly\nbackend: parrot.py\nmodel: B\n")
        model = load_model(str(tmp_path / "card.yaml"))
        assert model.card.name == "polly"
        assert asyncio.run(model.ask(None)).text == "B"  # type: ignore[arg-type]
        assert load_model(f"{tmp_path / 'parrot.py'}:A").card.model == "A"

    def test_without_ask_are_refused_before_anything_is_asked(self, tmp_path: Path) -> None:
        text = "from reelbench import SimpleModel\n\ndef load(card):\n    return Silent(card)\n\nclass Silent(SimpleModel): pass\n"
        write(tmp_path / "silent.py", text)
        with pytest.raises((ReelbenchError, TypeError), match="abstract"):
            load_model(f"{tmp_path / 'silent.py'}:x")

    def test_are_asked_again_when_their_file_is_another(self, tmp_path: Path) -> None:
        parameters = []
        for number, text in enumerate((BACKEND, BACKEND, BACKEND + "# changed")):
            (tmp_path / str(number)).mkdir()
            write(tmp_path / str(number) / "parrot.py", text)
            card = write(tmp_path / str(number) / "card.yaml", "name: polly\nbackend: parrot.py\n")
            parameters.append(load_model(card).parameters)
        assert parameters[0] == parameters[1] != parameters[2]

    @pytest.mark.parametrize(("old", "new", "told"), [
        ('Response("ok", self.card.model)', '"A"', "must be `async def` and return a Response; it returned 'A'"),
        ("async def", "def", "must be `async def` and return a Response; it returned Response"),
        ("Parrot(card)", "None", "returned None, which has no card, is_random, parameters, ask"),
    ])  # fmt: skip
    def test_that_return_something_else_are_told_what_is_expected(
        self, old: str, new: str, told: str, tmp_path: Path
    ) -> None:
        path = write(tmp_path / "parrot.py", BACKEND.replace(old, new))
        with pytest.raises(ReelbenchError, match=told):
            asyncio.run(load_model(f"{path}:A").ask(None))  # type: ignore[arg-type]

    def test_without_a_name_one_is_asked_for(self, tmp_path: Path) -> None:
        with pytest.raises(
            ReelbenchError, match=r"name of a model is missing: write parrot\.py:NAME"
        ):
            load_model("parrot.py")

    def test_of_a_package(self, package: Path) -> None:
        assert load_model("kit:C").card.backend == "kit"

    def test_without_load_it_is_said_what_is_missing(self, tmp_path: Path) -> None:
        path = write(tmp_path / "empty.py", "")
        with pytest.raises(ReelbenchError, match=r"empty\.py has no function load\(card\)"):
            load_model(f"{path}:A")
        with pytest.raises(ReelbenchError, match="inspect, or a Python file"):
            load_model("nobody:A")


class TestMetrics:
    def test_of_a_package_and_of_a_file(self, package: Path, tmp_path: Path) -> None:
        metrics.add_metric("kit_lenient")
        metrics.add_metric(write(tmp_path / "m.py", METRIC) + ":LENIENT")
        assert {"kit_lenient", "lenient"} <= set(metrics.METRICS)
        other = METRIC.replace("any right", "some right")
        with pytest.raises(ReelbenchError, match="There is a metric 'lenient' already"):
            metrics.add_metric(write(tmp_path / "n.py", other) + ":LENIENT")
        with pytest.raises(ReelbenchError, match=r"FILE\.py:NAME, .* \(kit_lenient\)"):
            metrics.add_metric("lenience")

    def test_those_that_a_file_holds_are_named(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(metrics, "METRICS", dict(metrics.METRICS))
        metrics.add_metric(write(tmp_path / "one.py", METRIC))
        assert "one" in metrics.METRICS
        two = write(tmp_path / "two.py", METRIC + "\nSTRICT = Metric('s', (), LENIENT.credit)\n")
        with pytest.raises(
            ReelbenchError, match=r"more than one Metric \(LENIENT, STRICT\): write"
        ):
            metrics.add_metric(two)
        with pytest.raises(ReelbenchError, match=r"no NOPE that is .* it defines LENIENT, STRICT"):
            metrics.add_metric(f"{two}:NOPE")
        with pytest.raises(ReelbenchError, match=r"defines nothing that is a Metric"):
            metrics.add_metric(write(tmp_path / "none.py", "from reelbench.score import metrics"))


class TestRecipes:
    def test_of_a_package_must_be_recipes(self, package: Path) -> None:
        with pytest.raises(ReelbenchError, match="kit-recipe is not a recipe"):
            load_recipe("kit-recipe")

    def test_a_file_without_one_is_told_so(self, tmp_path: Path) -> None:
        with pytest.raises(ReelbenchError, match=r"r\.py defines no RECIPE that is a Recipe"):
            load_recipe(write(tmp_path / "r.py", "RECIPE = 1\n"))

    def test_operators_that_one_names_are_found_beside_it(self, tmp_path: Path) -> None:
        (tmp_path / "kit").mkdir()
        write(tmp_path / "kit" / "near.py", OPERATOR.format(label="near_length", note=""))
        labelling = "RECIPE = label(['near.py:Length'], require=['near_length'])\n"
        path = tmp_path / "kit" / "r.py"
        stage = load_file(
            Path(write(path, f"from reelbench.make import label\n{labelling}"))
        ).RECIPE
        assert stage.parameters["labels"] == ["near_length"]
        with pytest.raises(ReelbenchError, match=r"near\.py does not exist"):
            label(["near.py:Length"])

    @pytest.mark.parametrize(("found", "sentence"), [
        ([make_item()], r"sources of the recipe parts returned a list: it must return Sources\(rows\)"),
        (Sources([make_item(), "b.mp4"]), "Row 2 of the sources of parts is a str: .* end, takes"),
    ])  # fmt: skip
    def test_that_read_no_rows_are_told_what_rows_are(
        self, found: object, sentence: str, tmp_path: Path
    ) -> None:
        recipe = a_recipe(ending(), sources=lambda: found, needs_source=False)
        with pytest.raises(ReelbenchError, match=sentence):
            make_benchmark(recipe, tmp_path / "out", MakeOptions())
        with pytest.raises(ReelbenchError, match="No stage of parts is left"):
            make_benchmark(recipe, tmp_path / "out", MakeOptions(without=["end"]))
        assert not (tmp_path / "out").exists()

    @pytest.mark.parametrize(("work", "told"), [
        ("async def work(row, ctx):\n    raise KeyError('secs')", r"r\.py fails at line 16: KeyError: 'secs'"),
        ("async def work(row, ctx):\n    int('x')", r"r\.py fails at line 16: ValueError"),
        ("async def work(row, ctx):\n    return None", r"mine returned None for the row q: .* a list"),
        ("work = lambda row, ctx: [row]", r"the stage mine must be a coroutine: write `async def`"),
        ("def work(row, ctx):\n    return [row]", r"fails at line 19: .*mine must be a coroutine"),
        ("async def work(row):\n    return [row]", r"the stage mine cannot be called with"),
        ("async def work(row, ctx):\n    raise Undecided('timeout', 'late')", r"No item is made yet: all rows are undecided\."),
    ])  # fmt: skip
    def test_a_slip_in_one_is_told_with_its_line(
        self, work: str, told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        path = write(tmp_path / "r.py", RECIPE.format(work=work))
        status = run_here("make", path, "--out", tmp_path / "out")
        said = capsys.readouterr().err
        assert re.search(told, said)
        assert "Traceback" not in said
        assert status == (1 if "Undecided" in work else 2)
