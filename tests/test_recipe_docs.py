"""Everything that the page of a recipe names is there, and every part of its paper is on the page."""

import contextlib
import importlib
import io
import json
import re
import shlex
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml
from actors import Actors, on_stage, tiny_videos, write_movie
from quality_actors import Critics, gallery
from support import REPOSITORY, reelbench

from reelbench.cli import COMMANDS, _parser
from reelbench.cli.say import settings
from reelbench.errors import ReelbenchError
from reelbench.evaluate.condition import conditions_for
from reelbench.items import Item
from reelbench.make.cast import parse_roles
from reelbench.make.make import used_prompts
from reelbench.make.rules import load_rules
from reelbench.make.stage import Recipe
from reelbench.media.looks import CORNERS, DAMAGES
from reelbench.recipes import RECIPES, load_recipe
from reelbench.recipes.qbench_exact.asking import ask
from reelbench.recipes.qbench_exact.clips import Take
from reelbench.recipes.qbench_exact.plan import FAMILIES, WORDS, Order
from reelbench.recipes.qbench_exact.shots import imagine
from reelbench.recipes.qbench_exact.wants import MARGINS
from reelbench.score.metrics import METRICS

PAGES = sorted((REPOSITORY / "docs" / "recipes").glob("*.md"))
PAPERS = {
    "cineaste": (
        ["1", "2", "2.1", "2.2", "2.3", "3", "3.1", "3.2", "3.3", "3.4"]
        + ["4", "4.1", "4.2", "4.3", "4.4", "5"]
        + [f"{part} {number}" for part in ("Table", "Figure") for number in range(1, 6)]
        + ["Equation 1", "Supplement 1", "Supplement 1.1", "Supplement 1.2"]
    ),
    "qbench-video": (
        [str(section) for section in range(1, 18)]
        + ["2.1", "2.2", "3.1", "3.2", "3.3", "3.3.1", "3.3.2", "3.3.3", "3.3.4", "3.4", "4.1", "4.2"]
        + [f"11.{number}" for number in range(1, 7)]
        + [f"13.{number}" for number in range(1, 6)]
        + [f"Table {number}" for number in range(1, 8)]
        + [f"Figure {number}" for number in range(1, 9)]
        + [f"Equation {number}" for number in range(1, 7)]
        + ["Algorithm 1"]
    ),
}  # fmt: skip
# Recipes beside the one that a page is called after.
ALSO = {"qbench-video": ("qbench-exact", "qbench-published")}

_PART = re.compile(r"(?:(?:Table|Figure|Equation|Algorithm|Supplement) )?\d+(?:\.\d+)*(?= |$)")
_CODE = re.compile(r"`([^`\n]+)`")
_FENCED = re.compile(r"^```(\w+)[^\n]*\n(.*?)^```", re.MULTILINE | re.DOTALL)
_NAMED = re.compile(
    r"\b(stage|condition|prompt|role|rule|metric)s? (`[^`\n]+`(?:(?:,| and|, and| or) `[^`\n]+`)*)", re.I
)  # fmt: skip


class Named:
    """What there is to be named on the page of a recipe, or of several."""

    def __init__(self, name: str) -> None:
        self.recipes = [load_recipe(each) for each in (name, *ALSO.get(name, ()))]
        self.manifest = self.recipes[0].manifest((), Path("source"))
        self.of_recipes = {
            "stage": {stage.name for recipe in self.recipes for stage in recipe.stages},
            "condition": {
                name for r in self.recipes for name in r.manifest((), Path("source")).conditions
            },
            "prompt": {name for recipe in self.recipes for name in own_prompts(recipe)},
            "role": {role for recipe in self.recipes for role in recipe.roles},
        }
        self.all = {
            **self.of_recipes,
            "rule": {rule for recipe in self.recipes for rule in rules_of(recipe)},
            "metric": set(METRICS),
        }


def own_prompts(recipe: Recipe) -> Iterator[str]:
    """The prompts that a recipe has in its own folder."""
    for name in used_prompts(recipe):
        if recipe.home is not None and (recipe.home / "prompts" / f"{name}.md").is_file():
            yield name


def rules_of(recipe: Recipe) -> Iterator[str]:
    """The rules that a recipe has for what is written, if it has any."""
    if recipe.home is None or not (recipe.home / "rules.yaml").is_file():
        return
    rules = load_rules((recipe.home / "rules.yaml").read_text(), None)
    for rule in (*rules.red_lines, *(r for some in rules.categories.values() for r in some)):
        yield rule.id


def faults(page: Path) -> list[str]:
    """Say all that is wrong with a page: what it names that is not there, and what it leaves out."""
    named = Named(page.stem)
    text = page.read_text()
    return [
        *_parts(page.stem, text),
        *_places(text),
        *_things(text, named),
        *_commands(text, named),
        *_options(text, named),
    ]


def rows_under(text: str, heading: str) -> list[list[str]]:
    """The rows of the table under a heading, without its head."""
    part = text.split(f"## {heading}\n", 1)[1].split("\n## ", 1)[0]
    lines = [line for line in part.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines[2:]]


def paper_rows(text: str) -> list[list[str]]:
    return rows_under(text, "The paper, and where it is here")


def _parts(name: str, text: str) -> Iterator[str]:
    """Parts of the paper without a row, and rows about what the paper has not."""
    told = {
        match[0]
        for row in paper_rows(text)
        for words in row[0].split(", ")
        if (match := _PART.match(words))
    }
    yield from (f"{part} of the paper has no row" for part in PAPERS[name] if part not in told)
    yield from (f"the paper has no {part}" for part in sorted(told - set(PAPERS[name])))


def _places(text: str) -> Iterator[str]:
    """Modules and files that are not there; rows that lead nowhere."""
    for row in paper_rows(text):
        if len(row) != 3 or not row[2]:
            yield f"the row {row[0]!r} does not say what differs"
            continue
        if row[1] != "nothing" and not _CODE.search(row[1]):
            yield f"the row {row[0]!r} leads nowhere"
        for code in _CODE.findall(row[1]):
            is_path = "/" in code and not code.startswith("reelbench ")
            if is_path and not (REPOSITORY / "src" / "reelbench" / code).is_file():
                yield f"there is no file {code}"
    for code in _CODE.findall(text):
        if re.fullmatch(r"reelbench(\.\w+)+", code) and not _is_there(code):
            yield f"there is no {code}"


def _is_there(name: str) -> bool:
    """Whether a module has such a part, or is such a module."""
    parts = name.split(".")
    for count in range(len(parts), 0, -1):
        try:
            found: Any = importlib.import_module(".".join(parts[:count]))
        except ModuleNotFoundError:
            continue
        for part in parts[count:]:
            found = getattr(found, part, None)
        return found is not None
    return False


def _things(text: str, named: Named) -> Iterator[str]:
    """Stages, conditions, prompts and so on that are not there, and those that go unsaid."""
    said: dict[str, set[str]] = {kind: set() for kind in named.all}
    for kind, names in _NAMED.findall(text):
        said[kind.lower()] |= set(_CODE.findall(names))
    for kind, names in said.items():
        yield from (f"there is no {kind} {name}" for name in sorted(names - named.all[kind]))
    for kind, names in named.of_recipes.items():
        yield from (f"the {kind} {name} is not named" for name in sorted(names - said[kind]))


def commands(text: str) -> list[str]:
    """All commands: those to run, those only shown, and those in the text."""
    found = [code for code in _CODE.findall(_FENCED.sub("", text)) if code.startswith("reelbench ")]
    for language, block in _FENCED.findall(text):
        if language in ("console", "sh"):
            lines = block.replace("\\\n", " ").splitlines()
            found += [line.removeprefix("$ ") for line in lines]
    return [words for words in found if words.startswith("reelbench ")]


def _commands(text: str, named: Named) -> Iterator[str]:
    for line in commands(text):
        words = shlex.split(line)[1:]
        if len(words) == 1:  # a command as such
            if words[0] not in COMMANDS:
                yield f"{line}: there is no such command"
            continue
        said = io.StringIO()
        try:
            with contextlib.redirect_stderr(said):
                _check(_parser(words).parse_args(words), named)
        except SystemExit:
            yield f"{line}: {said.getvalue().splitlines()[-1]}"
        except ReelbenchError as error:
            yield f"{line}: {error}"


def _check(options: Any, named: Named) -> None:
    """Raise a sentence for a role, stage, dial, parameter or condition that is not there."""
    if options.command == "make":
        recipe = load_recipe(options.recipe)
        parse_roles(options.model, recipe)
        turns = {"items": options.items, "margin": options.margin}
        dialled = recipe.dialled({name: to for name, to in turns.items() if to is not None})
        changed = recipe.changed(dialled | settings(options.set, "STAGE.NAME=VALUE"))
        changed.until(options.until).without(options.without)
    elif options.command == "run":
        conditions_for(named.manifest, None, options.condition)


def _options(text: str, named: Named) -> Iterator[str]:
    """Options that stand alone in the text: of ``make``, ``run`` or ``score``."""
    known = {name for command in ("make", "run", "score") for name in _options_of(command)}
    for code in _CODE.findall(_FENCED.sub("", text)):
        if not code.startswith("--"):
            continue
        option, *value = shlex.split(code)
        if option not in known:
            yield f"there is no option {option}"
        elif option == "--set" and value != ["STAGE.NAME=VALUE"]:
            refusals = [_refusal(recipe, value) for recipe in named.recipes]
            if all(refusals):
                yield f"{code}: {refusals[0]}"


def _refusal(recipe: Recipe, changes: list[str]) -> str:
    """Say why a recipe cannot be changed so; nothing where it can."""
    try:
        recipe.changed(settings(changes, "STAGE.NAME=VALUE"))
    except ReelbenchError as error:
        return str(error)
    return ""


def _options_of(command: str) -> list[str]:
    told = io.StringIO()
    with contextlib.redirect_stdout(told), contextlib.suppress(SystemExit):
        _parser([command]).parse_args([command, "--help"])
    return re.findall(r"--[a-z][a-z-]*", told.getvalue())


def test_every_page_is_of_a_recipe_with_a_paper() -> None:
    assert PAGES
    for page in PAGES:
        assert page.stem in RECIPES
        assert page.stem in PAPERS, "say which parts its paper has"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_all_that_a_page_names_is_there(page: Path) -> None:
    assert faults(page) == []


def without_row(start: str) -> Callable[[str], str]:
    return lambda text: re.sub(rf"^\| {re.escape(start)}.*\n", "", text, flags=re.MULTILINE)


def instead(right: str, wrong: str) -> Callable[[str], str]:
    return lambda text: text.replace(right, wrong)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (instead("filters.context_independence", "filters.context_freedom"), "there is no reelbench.make.filters.context_freedom"),
        (instead("reelbench.make.funnel.", "reelbench.make.tunnel."), "there is no reelbench.make.tunnel.funnel_record"),
        (instead("cineaste/taxonomy.yaml", "cineaste/categories.yaml"), "there is no file recipes/cineaste/categories.yaml"),
        (instead("stage `veracity`", "stage `truth`"), "there is no stage truth"),
        (instead("prompts `context` and `scene`", "prompts `context` and `act`"), "there is no prompt act"),
        (instead("prompts `context` and `scene`", "prompt `context`"), "the prompt scene is not named"),
        (instead("`no-context` and `captions`", "`no-context` and `words`"), "there is no condition words"),
        (instead("`no-context` and `captions`", "`no-context`"), "the condition captions is not named"),
        (instead("role `veracity`", "role `verifier`"), "there is no role verifier"),
        (instead("rule `R1`", "rule `R99`"), "there is no rule R99"),
        (instead("metric `steady`", "metric `stable`"), "there is no metric stable"),
        (instead("--limit 20", "--most 20"), "unrecognized arguments: --most 20"),
        (instead("--until independence", "--until blindness"), "has no stage 'blindness'"),
        (instead("--model blind=", "--model deaf="), "gives no role of cineaste"),
        (instead("--condition fps-0.1", "--condition fps-0.2"), "has no condition 'fps-0.2'"),
        (instead("reelbench lint bench", "reelbench tidy bench"), "invalid choice: 'tidy'"),
        (instead("`reelbench make`", "`reelbench create`"), "reelbench create: there is no such command"),
        (instead("`--without STAGE`", "`--minus STAGE`"), "there is no option --minus"),
        (instead("`--set veracity.keep_at=1.0`", "`--set veracity.share=1.0`"), "nothing called veracity.share"),
        (without_row("3.2"), "3.2 of the paper has no row"),
        (without_row("Equation 1"), "Equation 1 of the paper has no row"),
        (without_row("Supplement 1.1"), "Supplement 1.1 of the paper has no row"),
        (instead("| Table 1,", "| Table 6,"), "the paper has no Table 6"),
        (instead("| Table 1, other benchmarks | nothing |", "| Table 1, other benchmarks | somewhere |"), "leads nowhere"),
    ],
)  # fmt: skip
def test_what_is_not_there_is_found(
    change: Callable[[str], str], told: str, tmp_path: Path
) -> None:
    check_found("cineaste.md", change, told, tmp_path)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (instead("sampling.bounds_of", "sampling.limits_of"), "there is no reelbench.recipes.qbench_video.sampling.limits_of"),
        (instead("qbench/yesno-pair.md", "qbench/yesno-both.md"), "there is no file evaluate/prompts/qbench/yesno-both.md"),
        (instead("stage `pair`", "stage `match`"), "there is no stage match"),
        (instead("`cut`, `plan`, `order`", "`cut`, `order`"), "the stage plan is not named"),
        (instead("and `concerns-generated`", ""), "the prompt concerns-generated is not named"),
        (instead("condition `fps-1`", "condition `fps-2`"), "there is no condition fps-2"),
        (instead("condition `image-models`", "as"), "the condition image-models is not named"),
        (instead("role `reviewer`", "role `critic`"), "there is no role critic"),
        (instead("Rules `R2`, `W1`", "Rules `R2`, `W9`"), "there is no rule W9"),
        (instead("--condition image-models", "--condition photographs"), "has no condition 'photographs'"),
        (instead("--model reviewer=qwen", "--model referee=qwen"), "gives no role of qbench-video"),
        (instead("reelbench make qbench-published --source", "reelbench make qbench-private --source"), "There is no recipe 'qbench-private'"),
        (instead("make qbench-exact --source", "make qbench-video --source"), "qbench-video has no --items"),
        (instead("`--margin`", "`--distance`"), "there is no option --distance"),
        (instead("`--set cut.seconds=4.0`", "`--set cut.minutes=4.0`"), "nothing called cut.minutes"),
        (instead("`--set sample.intervals=5`", "`--set sample.intervals=five`"), "cannot be 'five'"),
        (without_row("11.6"), "11.6 of the paper has no row"),
        (without_row("16 Comparison"), "Algorithm 1 of the paper has no row"),
        (without_row("3.3.2"), "3.3.2 of the paper has no row"),
        (instead("| Equation 6 |", "| Equation 7 |"), "the paper has no Equation 7"),
        (instead("| 12 Human", "| 18 Human"), "the paper has no 18"),
        (instead("| Figure 6, the page for people | nothing |", "| Figure 6, the page for people | soon |"), "leads nowhere"),
    ],
)  # fmt: skip
def test_what_is_not_there_is_found_where_a_page_has_several_recipes(
    change: Callable[[str], str], told: str, tmp_path: Path
) -> None:
    check_found("qbench-video.md", change, told, tmp_path)


def check_found(page: str, change: Callable[[str], str], told: str, folder: Path) -> None:
    """A page that is changed for the worse has a fault that says so."""
    text = (REPOSITORY / "docs" / "recipes" / page).read_text()
    assert change(text) != text
    wrong = folder / page
    wrong.write_text(change(text))
    assert any(told in fault for fault in faults(wrong)), faults(wrong)


def quality_page() -> str:
    return (REPOSITORY / "docs" / "recipes" / "qbench-video.md").read_text()


def test_the_families_of_exact_questions_are_as_the_page_says() -> None:
    told = {row[0].strip("`"): row[1:] for row in rows_under(quality_page(), "Families")}
    for name, family in FAMILIES.items():
        share, context, example, _ = told[name]
        assert (share, context) == (str(family["share"]), family["context"])
        texts = [family["question"], family.get("opposite", family["question"])]
        asked = {
            text.format(**words, corner=corner)
            for text, words, corner in product(texts, WORDS.values(), CORNERS)
        }
        assert example in asked


def test_the_damages_of_exact_questions_are_as_the_page_says() -> None:
    told = {row[0]: row[1:] for row in rows_under(quality_page(), "Exact items") if len(row) == 4}
    assert told == {
        name: [WORDS[name]["concern"], ", ".join(damage.kinds), damage.quality]
        for name, damage in DAMAGES.items()
    }


def test_what_makes_a_key_a_fact_is_recorded_as_the_page_says() -> None:
    told = dict(rows_under(quality_page(), "What is recorded"))
    take = Take("a.mp4#0000", "a.mp4", "0" * 64, 0.0, 4.0)
    order = Order("exact-1", "which", "blur", "defocus", 0, False, ((take, take),))
    desk: Any = SimpleNamespace(seed=0, notes=[])
    (item,) = ask(imagine(order, desk), desk, items=1)
    assert isinstance(item, Item)
    facts = item.provenance["exact"]
    named = {field for cell in told for field in _CODE.findall(cell)}
    assert named == {*facts, *facts["videos"][0], "begin", "corner", "levels"}


def test_the_margins_are_as_the_page_says() -> None:
    least, most = MARGINS
    assert f"from {least}, hard, to {most}, easy" in " ".join(quality_page().split())


def test_what_comes_out_is_as_the_page_says(tmp_path: Path) -> None:
    write_movie(tmp_path / "movies", "lighthouse", tiny_videos(tmp_path))
    bench = tmp_path / "bench"
    with on_stage(tmp_path, Actors()) as (_, roles):
        done = reelbench(
            "make", "cineaste", "--source", tmp_path / "movies", "--out", bench, *roles
        )
    assert done.returncode == 0, done.stderr
    check_what_comes_out("cineaste.md", bench)


def test_and_so_is_what_comes_out_of_scores(tmp_path: Path) -> None:
    with gallery(tmp_path, Critics(disputed="in part 1 of 5")) as hall:
        told = hall.make(tmp_path / "bench", *hall.words)
    assert told.status == 0, told.err
    check_what_comes_out("qbench-video.md", tmp_path / "bench")


def check_what_comes_out(page: str, bench: Path) -> None:
    text = (REPOSITORY / "docs" / "recipes" / page).read_text()
    told = rows_under(text, "What comes out")
    assert len(told) > 10
    for name, holds in told:
        path = bench / name.strip("`")
        assert path.is_file(), name
        said = _CODE.findall(holds)
        keys = set(_keys(_content(path)))
        for field in said:
            assert field in keys or (path.parent / field).is_file(), f"{name} has no {field}"
    for heading in re.findall(r'`made.html`, "([^"]+)"', text):
        assert f"<h2>{heading}" in (bench / "made.html").read_text()


def _content(path: Path) -> Any:
    readers: dict[str, Callable[[str], Any]] = {
        ".json": json.loads,
        ".jsonl": lambda lines: [json.loads(line) for line in lines.splitlines()],
        ".yaml": yaml.safe_load,
    }
    return readers[path.suffix](path.read_text()) if path.suffix in readers else None


def _keys(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        yield from value
        value = list(value.values())
    for part in value if isinstance(value, list) else ():
        yield from _keys(part)
