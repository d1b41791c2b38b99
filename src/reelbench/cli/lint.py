"""``reelbench lint``."""

import argparse
import re
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

from reelbench.base.progress import counted
from reelbench.cli.say import put, put_table, tell
from reelbench.score.rounding import percent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reelbench.lint import Finding, LintReport

TIERS = ("low", "medium", "high", "critical", "never")


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.epilog = (
        "examples:\n"
        "  reelbench lint my-benchmark\n"
        "  reelbench lint items.jsonl --no-media --fail-on medium\n"
        "  reelbench lint my-benchmark --json | jq .tags\n"
        "  reelbench lint my-benchmark --fix     # fixes LOW findings, and nothing else"
    )
    parser.add_argument("benchmark", type=Path, help="benchmark folder, or a file of items")
    parser.add_argument(
        "--json", action="store_true", help="print all findings and statistics as JSON"
    )
    parser.add_argument(
        "--fail-on",
        choices=TIERS,
        default="high",
        help="exit with status 1 for findings of this severity or worse (default: high)",
    )
    parser.add_argument(
        "--fix",
        action="store_true",
        help="fix LOW findings automatically, then check again",
    )
    parser.add_argument("--no-media", action="store_true", help="do not open the videos")
    parser.add_argument(
        "--most",
        type=int,
        default=10,
        help="maximum findings to show per tag (default: 10; 0 shows all)",
    )


def main(options: argparse.Namespace) -> int:
    """Lint, and fix first if asked to."""
    from reelbench.base.files import pretty_json
    from reelbench.lint import Severity, fix, lint_benchmark

    if options.fix:
        changed = fix(options.benchmark)
        done = f"Aligned {counted(changed, 'line')}" if changed else "Nothing to align in"
        tell(f"{done} {'of ' if changed else ''}{options.benchmark}.")
    report = lint_benchmark(options.benchmark, check_media=not options.no_media)
    if options.json:
        put(pretty_json(report.to_record()).rstrip("\n"))
    else:
        put_report(report, options.most)
    if options.fail_on == "never" or report.worst is None:
        return 0
    return 1 if report.worst >= Severity[options.fail_on.upper()] else 0


def put_report(report: "LintReport", most: int) -> None:
    """Write the findings for a person, the gravest first."""
    from reelbench.data.benchmark import in_spans

    by_tag: dict[str, list[Finding]] = defaultdict(list)
    for finding in report.findings:
        by_tag[finding.tag].append(finding)
    shown = {tag: _chosen(found, most) for tag, found in by_tag.items()}
    rows = [
        (each.severity.name, each.tag, f"line {each.line}" if each.line else "", each.item,
         each.message)
        for found in shown.values()
        for each in found
    ]  # fmt: skip
    if rows:
        put_table(("tier", "tag", "where", "item", "finding"), rows)
    for tag, found in by_tag.items():
        rest = [finding for finding in found if finding not in shown[tag]]
        if rest:
            lines = sorted({finding.line for finding in rest if finding.line})
            where = f", on {in_spans(lines)}" if lines else ""
            put(f"{tag}: {len(rest):,} more (--most 0 shows all){where}")
    for line in _figures(report):
        put(line)
    total = counted(len(report.findings), "finding") if report.findings else "no findings"
    put(f"{counted(report.items, 'item')}, {report.media:,} media, {total}")


def _chosen(found: "Sequence[Finding]", most: int) -> "Sequence[Finding]":
    """Choose so many findings, in order, each kind of message among them before any comes again."""
    if not most or len(found) <= most:
        return found
    first: dict[str, int] = {}
    for number, finding in enumerate(found):
        kind = re.sub(r"'[^']*'|\"[^\"]*\"|\[[^\]]*\]|\d+", "", finding.message)
        first.setdefault(kind, number)
    places = dict.fromkeys([*first.values(), *range(len(found))])
    return [found[place] for place in sorted(list(places)[:most])]


def _figures(report: "LintReport") -> list[str]:
    lines = []
    places = report.figures["key_positions"]
    if places:
        lines.append(
            f"key positions: chi-square {places['chi_square']:.1f}, "
            f"{places['degrees_of_freedom']} degrees of freedom, p = {places['p']:.2g}"
        )
    for word, bet in (report.figures["key_lengths"] or {}).items():
        lines.append(
            f"pick the {word} option: {percent(bet['accuracy'])} right, "
            f"chance {percent(bet['chance'])}"
        )
    numbers = report.figures["key_numbers"]
    if numbers:
        lines.append(
            f"pick the {numbers['best']} number: {percent(numbers['accuracy'])} of "
            f"{counted(numbers['items'], 'item')} right, p = {numbers['p']:.2g}"
        )
    wording = report.figures["key_wording"]
    if wording:
        lines.append(
            f"learn from one half how keys are worded: {percent(wording['accuracy'])} of the other "
            f"right, chance {percent(wording['chance'])}, p = {wording['p']:.2g}"
        )
    sides = {k: v for k, v in (report.figures["yes_no"] or {}).items() if k != "p"}
    if sides:
        lines.append("yes/no: " + ", ".join(f"{count} {side}" for side, count in sides.items()))
    return lines
