"""What our parser makes of real replies beside another's letters: MMMU-Pro's, who guess by chance.

Each row of a file (JSON lines, gzip or not) has ``response``, ``options`` and ``pred_indexs``, the
letter that the benchmark's own parser took. Prints the parse rate, what could not be read and why,
and the disagreements by kind; with --all, every one of them.

Run: python benchmarks/replies.py [--all] FILE ...
"""

import argparse
import ast
import gzip
import json
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from reelbench.evaluate.parse import parse_answer
from reelbench.items import LETTERS


def main() -> None:
    """Print one table for each file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", type=Path, nargs="*", help="such as MMMU-Pro publishes them")
    parser.add_argument("--all", action="store_true", help="show every disagreement")
    options = parser.parse_args()
    for path in options.files:
        report(path, options.all)


def report(path: Path, everything: bool) -> None:
    """Compare one file's letters with ours."""
    unread: dict[str, list[str]] = defaultdict(list)
    other: dict[str, list[str]] = defaultdict(list)
    total = same = 0
    for row in rows(path):
        total += 1
        choices = tuple(map(str, ast.literal_eval(row["options"])))
        reply, theirs = row["response"] or "", row["pred_indexs"]
        parsed = parse_answer(reply, "single", choices)
        if parsed.places is None:
            unread[parsed.failure or ""].append(f"they: {theirs} | {shown(reply)}")
            continue
        ours = LETTERS[parsed.places[0]]
        same += ours == theirs
        if ours != theirs:
            other[kind(reply, theirs)].append(f"we: {ours}, they: {theirs} | {shown(reply)}")
    read = total - sum(map(len, unread.values()))
    print(f"{path.name}: {read} of {total} read ({read / total:.1%}), {same} as they did")
    for heading, found in (("not read", unread), ("read otherwise", other)):
        for name, lines in sorted(found.items(), key=lambda each: -len(each[1])):
            print(f"  {heading}, {name}: {len(lines)}")
            for line in lines if everything else ():
                print(f"      {line}")


def rows(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the rows of a file, packed or not."""
    with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as lines:
        yield from map(json.loads, lines)


def kind(reply: str, theirs: str) -> str:
    """Where a letter that is not ours may come from."""
    letters = re.findall(r"(?<![A-Za-z])[A-Z](?![A-Za-z])", reply)
    if theirs not in letters:
        return "their letter is nowhere in the reply, so it was drawn"
    if letters[-1] == theirs:
        return "theirs is the last letter in the reply"
    return "theirs is a letter on the way"


def shown(reply: str) -> str:
    """The end of a reply, on one line."""
    text = " ".join(reply.split())
    return text if len(text) <= 160 else f"… {text[-158:]}"


if __name__ == "__main__":
    main()
