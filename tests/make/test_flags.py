"""A recipe has options of its own, several sources, and parameters of its sources."""

import contextlib
import io
import json
from pathlib import Path
from typing import Any

import pytest
from parts import a_recipe, ending
from support import run_here

from reelbench.base.errors import ReelbenchError
from reelbench.data.items import Item
from reelbench.make.pipeline.stage import Flag, RowStage, whole_number

OWN = """
from pathlib import Path
from reelbench import Item, Manifest, Media
from reelbench.data.sources import Sources
from reelbench.make.pipeline.stage import Flag, Recipe, RowStage, whole_number

def rows(*sources, word="dog"):
    return Sources([
        Item(id=path.stem, kind="open", media=(Media("a.mp4"),), question=word, reference="x")
        for source in sources for path in sorted(source.iterdir())
    ])

async def work(item, ctx, *, share):
    assert ctx.source == ctx.sources[0]
    return [item]

RECIPE = Recipe(
    name="own",
    description="for tests",
    sources=rows,
    several_sources=SEVERAL,
    source_parameters={"word": "dog"},
    stages=(RowStage(name="work", input=Item, output=Item, work=work, parameters={"share": 0.5}),),
    roles={},
    manifest=lambda items, source: Manifest("own", "1"),
    flags=(
        Flag("share", "how much, in % of all", ("work.share",), float),
        Flag("the-word", "which word", ("sources.word",)),
    ),
)
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, recipe in (("own.py", "True"), ("one.py", "False")):
        (tmp_path / name).write_text(OWN.replace("SEVERAL", recipe))
    for source, names in (("a", "xy"), ("b", "z")):
        (tmp_path / source).mkdir()
        for name in names:
            (tmp_path / source / name).touch()
    return tmp_path


def run(*words: Any) -> tuple[int, str, str]:
    """The exit status of a command, and what it said on both streams."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            status = run_here(*words)
        except SystemExit as end:
            status = int(end.code or 0)
    return status, out.getvalue(), err.getvalue()


def make(folder: Path, *words: Any) -> tuple[int, str, str]:
    return run("make", folder / "own.py", "--out", folder / "out", *words)


def record(folder: Path) -> Any:
    return json.loads((folder / "out" / "make" / "make.json").read_text())


class TestFlags:
    def test_are_listed_by_help_with_their_defaults(self, folder: Path) -> None:
        status, told, _ = make(folder, "--help")
        assert status == 0
        assert "options of own:" in told
        assert "how much, in % of all (default: 0.5)" in " ".join(told.split())
        assert "--the-word THE_WORD" in told

    def test_set_their_parameters(self, folder: Path) -> None:
        status, _, told = make(
            folder, "--source", folder / "a", "--share", "0.25", "--the-word", "cat"
        )
        assert status == 0, told
        assert record(folder)["changed"] == {"work.share": 0.25, "sources.word": "cat"}

    def test_that_are_unknown_name_those_there_are(self, folder: Path) -> None:
        status, _, told = make(folder, "--shares", "1")
        assert status == 2
        assert (
            "unrecognized arguments: --shares (perhaps '--share') 1 (own has --share, --the-word of its own)"
            in told
        )

    def test_before_the_recipe_are_its_own_too(self, folder: Path) -> None:
        words = ("--share", "0.25", "--out", folder / "out", folder / "own.py")
        assert run("make", "--source", folder / "a", *words)[0] == 0
        assert record(folder)["changed"] == {"work.share": 0.25}

    def test_that_cannot_be_read_are_a_sentence(self, folder: Path) -> None:
        status, _, told = make(folder, "--share", "much")
        assert status == 2
        assert "argument --share: could not convert string to float: 'much'" in told

    def test_that_set_what_is_not_there_are_refused(self) -> None:
        with pytest.raises(ReelbenchError, match=r"--n of the recipe parts sets end\.n, which"):
            a_recipe(ending(), flags=(Flag("n", "what", ("end.n",), int),))

    def test_of_a_name_that_make_has_itself_are_refused(self, folder: Path) -> None:
        path = folder / "own.py"
        path.write_text(path.read_text().replace('Flag("share"', 'Flag("limit"'))
        status, _, told = make(folder)
        assert status == 2
        assert "own has a flag --limit, which make has too" in told

    @pytest.mark.parametrize("word", ["0", "-1", "1.5", "many", ""])
    def test_that_count_begin_with_one(self, word: str) -> None:
        with pytest.raises(ValueError, match="is not a whole number from 1 on"):
            whole_number(word)
        assert whole_number("12") == 12


class TestSources:
    def test_may_be_several_and_are_remembered(self, folder: Path) -> None:
        status, _, told = make(folder, "--source", folder / "a", "--source", folder / "b")
        assert status == 0, told
        assert record(folder)["source"] == ["../a", "../b"]
        (folder / "b" / "w").touch()
        assert make(folder)[0] == 0
        lines = (folder / "out" / "items.jsonl").read_text().splitlines()
        assert [json.loads(line)["id"] for line in lines] == ["x", "y", "w", "z"]

    def test_have_parameters(self, folder: Path) -> None:
        status, _, told = make(folder, "--source", folder / "a", "--set", "sources.word=cat")
        assert status == 0, told
        assert record(folder)["source_parameters"] == {"word": "cat"}
        assert '"question":"cat"' in (folder / "out" / "items.jsonl").read_text().replace(" ", "")

    def test_are_one_where_the_recipe_takes_one(self, folder: Path) -> None:
        words = ("--out", folder / "out", "--source", folder / "a", "--source", folder / "b")
        status, _, told = run("make", folder / "one.py", *words)
        assert status == 2
        assert "own takes one --source, not 2." in told
        assert run("make", folder / "one.py", *words[:4])[0] == 0
        assert record(folder)["source"] == "../a", "as folders of earlier versions have it"

    def test_are_no_name_for_a_stage(self) -> None:
        async def work(item: Item, _ctx: Any) -> list[Item]:
            return [item]

        with pytest.raises(ReelbenchError, match="A stage of parts is called sources"):
            a_recipe(RowStage(name="sources", input=Item, output=Item, work=work))
