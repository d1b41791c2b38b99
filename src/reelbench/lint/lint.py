"""Lint a benchmark folder or a file of items, valid or not, in our format or another."""

import codecs
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from reelbench.base.errors import ReelbenchError
from reelbench.base.limits import MOST_TABLE, bounded_bytes, bounded_lines
from reelbench.base.progress import track, working
from reelbench.data.benchmark import (
    ITEMS_FILE,
    MANIFEST_FILE,
    ItemsFile,
    no_benchmark,
    read_items,
    split_problems,
    tidy_line,
)
from reelbench.data.item_rules import decode_strictly
from reelbench.data.items import Item, Problem
from reelbench.data.manifest import Manifest, read_manifest
from reelbench.data.paths import TABLE_ENDINGS
from reelbench.interop.foreign_items import draft_item
from reelbench.lint.duplicates import duplicate_findings
from reelbench.lint.findings import Finding, LintReport
from reelbench.lint.media import media_findings
from reelbench.lint.options import answer_findings, option_findings
from reelbench.lint.protocol import protocol_findings
from reelbench.lint.shortcuts import shortcut_findings
from reelbench.lint.tags import tag_findings


def lint_benchmark(path: Path | str, *, check_media: bool = True) -> LintReport:
    """Return all findings about a benchmark folder or a file of items; nothing is changed.

    With ``check_media``, every media file is decoded as a run would.
    """
    path = Path(path)
    material = _material(path)
    whole = [(line, item) for line, item in material.items.items() if line not in material.broken]
    findings = list(material.findings)
    checked = track(material.items.items(), "Reading items", len(material.items), "items")
    for line, item in checked:
        findings += option_findings(item, line)
        if line not in material.broken:
            findings += answer_findings(item, line)
    if material.manifest:
        findings += tag_findings(whole, material.manifest.taxonomy)
    with working("Looking for duplicates and shortcuts"):
        findings += duplicate_findings(whole)
        given_away, figures = shortcut_findings([item for _, item in whole])
    findings += given_away
    if check_media and not material.foreign:
        findings += media_findings(items_path(path).parent, whole, material.manifest)
    findings.sort(key=lambda finding: (-finding.severity, finding.tag, finding.line))
    media = {medium.path for item in material.items.values() for medium in item.media}
    return LintReport(str(path), len(material.items), len(media), tuple(findings), figures)


def items_path(path: Path) -> Path:
    """Return the file of items that a folder, or the path itself, names."""
    if not path.exists():
        raise ReelbenchError(
            f"{path} does not exist: name the folder of a benchmark, or its items.jsonl."
        )
    if path.suffix.lower() in (*TABLE_ENDINGS, ".pdf") and path.is_file():
        raise ReelbenchError(no_benchmark(path))
    return path / ITEMS_FILE if path.is_dir() else path


@dataclass
class _Material:
    """The items to check by line, and the findings of reading them."""

    items: dict[int, Item]
    broken: set[int]  # lines whose item does not keep the contract
    findings: list[Finding] = field(default_factory=list)
    manifest: Manifest | None = None
    foreign: bool = False


def _material(path: Path) -> _Material:
    file = read_items(items_path(path))
    foreign = None if file.items else _foreign_material(file)
    if foreign and not path.is_dir():
        return foreign
    problems = list(file.problems)
    broken = {problem.line for problem in problems if not problem.is_warning}
    material = _Material(dict(zip(file.lines, file.items, strict=True)), broken)
    if path.is_dir():
        material.manifest, more = read_manifest(path / MANIFEST_FILE)
        problems = [*more, *problems]
        if material.manifest:
            problems += split_problems(material.manifest, file)
            material.findings += protocol_findings(material.manifest, path, file.items)
    material.findings += [_from_problem(problem, material.items) for problem in problems]
    if foreign:  # what run would refuse, and beside it what can be seen all the same
        foreign.manifest, foreign.findings = None, [*material.findings, *foreign.findings]
        return foreign
    return material


def _foreign_material(file: ItemsFile) -> _Material | None:
    """Return the items of a file in another format; None where it has none."""
    drafts: dict[int, Item] = {}
    unread: dict[int, str] = {}
    for number, record, fault in _records(file.path) if file.path.is_file() else ():
        draft = None if fault else draft_item(record, number)
        if draft:
            drafts[number] = draft
        else:
            unread[number] = fault or "no question with options and an answer"
    if not drafts:
        return None
    note = f"{len(drafts)} items are in another format: they are checked, but cannot be run"
    material = _Material(drafts, set(), [Finding.of("FOREIGN_FORMAT", note)], foreign=True)
    for number, reason in unread.items():
        message = f"this line cannot be read: {reason}"
        material.findings.append(Finding.of("BAD_FIELD", message, line=number))
    for line, item in drafts.items():
        if not item.answer or not set(item.answer) <= set(item.letters):
            material.broken.add(line)
            material.findings.append(_without_answer(item, line))
    return material


def _without_answer(item: Item, line: int) -> Finding:
    found = ", ".join(item.answer) or "no letter"
    message = f"answer: found {found}, expected letters among {item.letters}"
    empty = "MULTI_0_ANSWER" if item.kind == "multi" else "BAD_FIELD"
    return Finding.of("INVALID_LABEL" if item.answer else empty, message, item, line)


def _records(path: Path) -> Iterator[tuple[int, object, str]]:
    """Yield the records of a file with one a line, or of one JSON list; or why one is none."""
    with path.open("rb") as file:
        listed = file.peek(64).lstrip(codecs.BOM_UTF8 + b" \t\r\n").startswith(b"[")
    if listed:
        whole, faults = decode_strictly(bounded_bytes(path), MOST_TABLE)
        if not faults and isinstance(whole, list):
            yield from ((number, record, "") for number, record in enumerate(whole, 1))
            return
    with path.open("rb") as file:
        for number, line in enumerate(bounded_lines(file), 1):
            content, _ = tidy_line(line, number)
            if content:
                record, faults = decode_strictly(content)
                yield number, record, f"found {faults[0].found}" if faults else ""


def _from_problem(problem: Problem, items: dict[int, Item]) -> Finding:
    found = Finding.from_problem(problem, items.get(problem.line))
    if problem.file.endswith(MANIFEST_FILE):
        where = f", line {problem.line}" if problem.line else ""
        return Finding.of(found.tag, f"{MANIFEST_FILE}{where}: {found.message}")
    return found
