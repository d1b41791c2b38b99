"""Every command in the README and the docs runs, and does what the text says."""

import ast
import inspect
import os
import re
import shutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from commands import shim
from support import REPOSITORY

PAGES = [
    REPOSITORY / "README.md",
    REPOSITORY / "CONTRIBUTING.md",
    *sorted((REPOSITORY / "docs").rglob("*.md")),
]
_BLOCK = re.compile(r"^```console\n(.*?)^```", re.MULTILINE | re.DOTALL)
_FILE = re.compile(r"^```\w+ title=\"(.*?)\"\n(.*?)^```", re.MULTILINE | re.DOTALL)


def commands(page: Path) -> list[str]:
    """The lines that begin with a prompt, in the console blocks of a page."""
    blocks = _BLOCK.findall(page.read_text())
    return [line[2:] for block in blocks for line in block.splitlines() if line.startswith("$ ")]


def steps(page: Path) -> list[tuple[str, str]]:
    """Commands and files to write, in the order a reader meets them."""
    text = page.read_text()
    found = [(match.start(), match[1], match[2]) for match in _FILE.finditer(text)]
    for block in _BLOCK.finditer(text):
        found += [
            (block.start(), "", line[2:]) for line in block[1].splitlines() if line.startswith("$ ")
        ]
    return [(name, content) for _, name, content in sorted(found, key=lambda step: step[0])]


def run_as_shown(command: str, folder: Path, programs: Path) -> subprocess.CompletedProcess[str]:
    """Run a command of the docs; `make` runs where the Makefile is."""
    if command == "make test":
        command = "make --dry-run test"  # this is make test: a real one would never end
    path = os.pathsep.join(map(str, (programs, Path(sys.executable).parent, os.environ["PATH"])))
    return subprocess.run(
        command,
        shell=True,
        cwd=REPOSITORY if command.startswith("make ") else folder,
        env=os.environ | {"PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a ``reelbench`` that begins at once."""
    folder = tmp_path_factory.mktemp("programs")
    shim(folder)
    return folder


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_command_of_the_page_runs(
    page: Path, tiny_demo: Path, programs: Path, tmp_path: Path
) -> None:
    shutil.copytree(tiny_demo, tmp_path / "demo")
    for name, content in steps(page):
        if name:
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text(content)
            continue
        done = run_as_shown(content, tmp_path, programs)
        assert done.returncode == 0, f"{page.name}: {content}\n{done.stdout}{done.stderr}"
        if content == "make demo":
            table = [
                line
                for line in done.stdout.splitlines()
                if re.match(r"model|baseline:|chance", line)
            ]
            assert "\n".join(table) in page.read_text()


def test_a_section_about_why_scores_differ_can_be_read_alone() -> None:
    page = (REPOSITORY / "docs" / "why-scores-differ.md").read_text()
    runs = re.findall(r"^(?:\$ )?reelbench run .*", page, re.MULTILINE)
    assert len(runs) > 5
    assert [run for run in runs if "--model" not in run] == []


def test_the_pages_show_every_command_there_is() -> None:
    from reelbench.cli import COMMANDS

    shown = {
        line.split()[1]
        for page in PAGES
        for line in commands(page)
        if line.startswith("reelbench ")
    }
    assert set(COMMANDS) <= shown


def test_links_lead_somewhere() -> None:
    for page in PAGES:
        for target in re.findall(r"\]\((?!https?:|#)([^)#]+)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_every_tag_of_the_linter_is_explained() -> None:
    from reelbench.lint.findings import TAGS

    page = (REPOSITORY / "docs" / "lint.md").read_text()
    for tag, (severity, _) in TAGS.items():
        rows = [row for row in page.splitlines() if f"`{tag}`" in row and row.startswith("|")]
        assert len(rows) == 1, tag
        assert severity.name in rows[0]


def test_every_test_that_a_design_page_names_is_there() -> None:
    folders = (REPOSITORY / "tests", REPOSITORY / "tests-models")
    files = [path for folder in folders for path in folder.rglob("test_*.py")]
    written = "\n".join(path.read_text() for path in files)
    tests = set(re.findall(r"def (test_\w+)", written))
    pages = sorted((REPOSITORY / "docs" / "design").glob("*.md"))
    named = {page.name: set(re.findall(r"`(test_\w+)`", page.read_text())) for page in pages}
    assert {page: names - tests for page, names in named.items() if names - tests} == {}
    assert all(named[page] for page in ("frame-store.md", "journal.md", "parser.md"))


SHARED = ("name", "role", "more", "expected_pass_rate")  # by all stages that have them


def test_the_page_of_making_shows_every_stage_as_it_is_called() -> None:
    """With its parameters and defaults; those that all of them take are said once."""
    make, page = import_module("reelbench.make"), (REPOSITORY / "docs" / "make.md").read_text()
    table = page[page.index("| stage | does |") :].split("\n\n")[0]
    shown: dict[str, inspect.Signature] = {}
    for signature in re.findall(r"`(\w+\(.*?\))`(?=[ ,])", table):
        scope: dict[str, Any] = {"Item": import_module("reelbench").Item}
        exec(f"def {signature}: ...", scope)
        name = signature.partition("(")[0]
        shown[name] = inspect.signature(scope[name])
    others = {"items_in", "same_manifest"}
    stages = {name for name in make.__all__ if inspect.isfunction(getattr(make, name))} - others
    assert set(shown) == stages
    for name, signature in shown.items():
        there = inspect.signature(getattr(make, name)).parameters.values()
        usual = [each for each in there if each.name not in SHARED]
        assert [(p.name, p.kind) for p in signature.parameters.values()] == [
            (p.name, p.kind) for p in usual
        ], name
        for said, meant in zip(signature.parameters.values(), usual, strict=True):
            assert said.default in (..., meant.default), f"{name}: {said.name}"


PUBLIC = ("reelbench", "reelbench.make", "reelbench.media")


def test_what_the_docs_import_is_public_and_nothing_else_is() -> None:
    pages = [page for page in PAGES if "design" not in page.parent.name]
    imported: set[tuple[str, str]] = set()
    for page in pages:
        for block in re.findall(r"^```python.*?\n(.*?)^```", page.read_text(), re.M | re.S):
            for node in ast.walk(ast.parse(block)):
                if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("reelbench"):
                    imported |= {(str(node.module), alias.name) for alias in node.names}
                elif isinstance(node, ast.Import):
                    assert not any(a.name.startswith("reelbench") for a in node.names), page.name
    names = {package: set(import_module(package).__all__) for package in PUBLIC}
    hidden = sorted(f"{module}.{name}" for module, name in imported
                    if name not in names.get(module, ()))  # fmt: skip
    assert hidden == []
    assert {name for module, name in imported if module == "reelbench"} == names["reelbench"]
    words = {
        word
        for page in pages
        for word in re.findall(r"`(?:[\w.]*\.)?(\w+)(?:\(.*?)?`", page.read_text())
    }
    for package in PUBLIC[1:]:
        shown = {name for module, name in imported if module == package} | words
        assert names[package] <= shown, f"{package}: {sorted(names[package] - shown)}"
        assert all(getattr(import_module(package), name) for name in names[package])
