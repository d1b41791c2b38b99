"""Lint a benchmark folder or a file of items, good or bad."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from reelbench.benchmark import ITEMS_FILE, MANIFEST_FILE, read_items
from reelbench.errors import ReelbenchError
from reelbench.items import Item, Problem
from reelbench.make.lint.duplicates import duplicate_findings
from reelbench.make.lint.findings import TAGS, Finding, LintReport
from reelbench.make.lint.media import media_findings
from reelbench.make.lint.options import answer_findings, option_findings
from reelbench.make.lint.shortcuts import shortcut_findings, tag_findings
from reelbench.manifest import read_manifest


def lint_benchmark(path: Path | str, *, check_media: bool = True) -> LintReport:
    """Look for everything an editor would want to know; nothing is changed."""
    path = Path(path)
    file = read_items(items_path(path))
    by_line = dict(zip(file.lines, file.items, strict=True))
    findings = [_from_problem(problem, by_line) for problem in file.problems]
    taxonomy: dict[str, set[str]] = {}
    if path.is_dir():
        manifest, problems = read_manifest(path / MANIFEST_FILE)
        findings += [_from_problem(problem, {}) for problem in problems]
        taxonomy = _taxonomy(manifest.taxonomy) if manifest else {}
    broken = {problem.line for problem in file.problems if not problem.is_warning}
    whole = [(line, item) for line, item in by_line.items() if line not in broken]
    for line, item in by_line.items():
        findings += option_findings(item, line)
    for line, item in whole:
        findings += answer_findings(item, line)
    findings += tag_findings(whole, taxonomy)
    findings += duplicate_findings(whole)
    given_away, figures = shortcut_findings([item for _, item in whole])
    findings += given_away
    if check_media:
        findings += media_findings(file.path.parent, whole)
    findings.sort(key=lambda finding: (-finding.severity, finding.tag, finding.line))
    media = {medium.path for item in file.items for medium in item.media}
    return LintReport(str(path), len(file.items), len(media), tuple(findings), figures)


def items_path(path: Path) -> Path:
    """Return the file of items that a folder, or the path itself, names."""
    if not path.exists():
        raise ReelbenchError(f"{path} does not exist: name a benchmark's folder or its items file.")
    return path / ITEMS_FILE if path.is_dir() else path


def _from_problem(problem: Problem, by_line: dict[int, Item]) -> Finding:
    tag = problem.code if problem.code in TAGS else "BAD_FIELD"
    message = f"{problem.field}: found {problem.found}, expected {problem.expected}"
    if problem.file.endswith(MANIFEST_FILE):
        return Finding.of(tag, f"{MANIFEST_FILE}, line {problem.line}: {message}")
    return Finding.of(tag, message, by_line.get(problem.line), problem.line)


def _taxonomy(tree: Any) -> dict[str, set[str]]:
    return {tag: set(_names(part)) for tag, part in tree.items()}


def _names(part: Any) -> Iterator[str]:
    """All names of a taxonomy, which may be a list or a tree: inner nodes are values too."""
    if isinstance(part, dict):
        for name, deeper in part.items():
            yield name
            yield from _names(deeper)
    elif isinstance(part, tuple):
        for deeper in part:
            yield from _names(deeper)
    elif part is not None:
        yield str(part)
