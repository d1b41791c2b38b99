"""What the page of a recipe names, and whether it is there."""

import contextlib
import importlib
import io
import json
import re
import shlex
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import yaml
from support import REPOSITORY

from reelbench.base.errors import ReelbenchError
from reelbench.cli import COMMANDS, parsed
from reelbench.cli.make import flag_values
from reelbench.cli.say import settings
from reelbench.evaluate.condition import conditions_for
from reelbench.make.parts.rules import load_rules
from reelbench.make.pipeline.make import used_prompts
from reelbench.make.pipeline.roles import parse_roles
from reelbench.make.pipeline.stage import Recipe
from reelbench.recipes import load_recipe
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
    "mmou": (
        [str(section) for section in range(1, 9)]
        + ["3.1", "3.2", "3.3", "3.4", "4.1", "4.2", "Equation 1"]
        + [f"Table {number}" for number in range(1, 9)]
        + [f"Figure {number}" for number in range(1, 15)]
        + [f"Appendix {letter}" for letter in "ABCDEFG"]
        + [f"Appendix E.{number}" for number in range(1, 7)]
        + [f"Appendix G.{number}" for number in range(1, 6)]
    ),
    "humanvbench": (
        [str(section) for section in range(1, 6)]
        + ["3.1", "3.2", "3.3", "3.4", "4.1", "4.2", "4.2.1", "4.2.2", "4.3", "4.3.1", "4.3.2", "4.4", "4.5"]
        + [f"Table {number}" for number in range(1, 10)]
        + [f"Figure {number}" for number in range(1, 25)]
        + ["Equation 1"]
        + [f"Appendix {letter}" for letter in "ABCDEFGHIJKL"]
        + [f"Appendix J.{number}" for number in range(1, 5)]
        + [f"Appendix L.{number}" for number in range(1, 4)]
    ),
    "musebench": (
        [str(section) for section in range(1, 6)]
        + [f"3.{number}" for number in range(1, 7)]
        + [f"4.{number}" for number in range(1, 4)]
        + [f"Table {number}" for number in range(1, 8)]
        + [f"Figure {number}" for number in range(1, 23)]
        + [f"Equation {number}" for number in range(1, 10)]
        + [f"Appendix {letter}" for letter in "ABCDEFG"]
        + [f"Appendix B.{number}" for number in range(1, 5)]
        + [f"Appendix C.{number}" for number in range(1, 10)]
        + ["Appendix D.1", "Appendix D.2"]
    ),
}  # fmt: skip
# Recipes beside the one that a page is called after.
ALSO = {
    "qbench-video": ("qbench-exact", "qbench-published"),
    "mmou": ("mmou-published",),
    "humanvbench": ("humanvbench-published",),
}

_PART = re.compile(
    r"(?:(?:(?:Table|Figure|Equation|Algorithm|Supplement) )?\d+|Appendix [A-Z])(?:\.\d+)*(?= |$)"
)
CODE = re.compile(r"`([^`\n]+)`")
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
        if row[1] != "nothing" and not CODE.search(row[1]):
            yield f"the row {row[0]!r} leads nowhere"
        for code in CODE.findall(row[1]):
            is_path = "/" in code and not code.startswith("reelbench ")
            if is_path and not (REPOSITORY / "src" / "reelbench" / code).is_file():
                yield f"there is no file {code}"
    for code in CODE.findall(text):
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
        said[kind.lower()] |= set(CODE.findall(names))
    for kind, names in said.items():
        yield from (f"there is no {kind} {name}" for name in sorted(names - named.all[kind]))
    for kind, names in named.of_recipes.items():
        yield from (f"the {kind} {name} is not named" for name in sorted(names - said[kind]))


def commands(text: str) -> list[str]:
    """All commands: those to run, those only shown, and those in the text."""
    found = [code for code in CODE.findall(_FENCED.sub("", text)) if code.startswith("reelbench ")]
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
                _check(parsed(words), named)
        except SystemExit:
            yield f"{line}: {said.getvalue().splitlines()[-1]}"
        except ReelbenchError as error:
            yield f"{line}: {error}"


def _check(options: Any, named: Named) -> None:
    """Raise a sentence for a role, stage, dial, parameter or condition that is not there."""
    if options.command == "make":
        recipe = load_recipe(options.recipe)
        parse_roles(options.model, recipe)
        said = flag_values(options, recipe) | settings(options.set, "STAGE.NAME=VALUE")
        changed = recipe.changed(said)
        changed.until(options.until).without(options.without)
    elif options.command == "run":
        conditions_for(named.manifest, None, options.condition)


def _options(text: str, named: Named) -> Iterator[str]:
    """Options that stand alone in the text: of ``make``, ``run`` or ``score``."""
    makes = [["make", recipe.name] for recipe in named.recipes]
    known = {name for words in (*makes, ["run"], ["score"]) for name in _options_of(words)}
    for code in CODE.findall(_FENCED.sub("", text)):
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


def _options_of(words: list[str]) -> list[str]:
    told = io.StringIO()
    with contextlib.redirect_stdout(told), contextlib.suppress(SystemExit):
        parsed([*words, "--help"])
    return re.findall(r"--[a-z][a-z-]*", told.getvalue())


def content_of(path: Path) -> Any:
    readers: dict[str, Callable[[str], Any]] = {
        ".json": json.loads,
        ".jsonl": lambda lines: [json.loads(line) for line in lines.splitlines()],
        ".yaml": yaml.safe_load,
    }
    return readers[path.suffix](path.read_text()) if path.suffix in readers else None


def keys_in(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        yield from value
        value = list(value.values())
    for part in value if isinstance(value, list) else ():
        yield from keys_in(part)
