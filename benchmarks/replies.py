"""What our parser makes of real replies beside another's letters: MMMU-Pro's, who guess by chance.

Each row of a file (JSON lines, gzip or not) has ``response``, ``options`` and ``pred_indexs``, the
letter that the benchmark's own parser took. Prints the parse rate, what could not be read and why,
and the disagreements by kind; with --all, every one of them.

Then how long it takes to read replies that loop, against their length, beside the letter rule of
the kind that evaluation harnesses use: a search for the last letter that stands by itself.

Run: python benchmarks/replies.py [--all] [FILE ...]
"""

import argparse
import ast
import gzip
import json
import re
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from reelbench.data.items import LETTERS
from reelbench.evaluate.parse import parse_answer


def main() -> None:
    """Print one table for each file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", type=Path, nargs="*", help="such as MMMU-Pro publishes them")
    parser.add_argument("--all", action="store_true", help="show every disagreement")
    options = parser.parse_args()
    for path in options.files:
        report(path, options.all)
    report_lengths()


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


# What a model that loops says over and over, and what is read of an ordinary reply.
LOOPS = {
    "is option": "is option ",
    "brackets": "[[",
    "newlines": "\n",
    "reasoning tags": "<think>",
    "LaTeX": "\\text{",
    "Answer: A": "Answer: A\n",
    "an option's text": "a red door or ",
    "labels": "A. a red door\n",
    "corrections": "Answer: A. Wait, no. ",
    "答案": "答案",
    "prose": "The man walks to the door, looks back once and then goes on along the water. ",
}
LENGTHS = (4_096, 65_536, 1_048_576)
LETTER = re.compile(r"(?<![A-Za-z])\(?([A-D])\)?(?![A-Za-z])")


def report_lengths() -> None:
    """Print the CPU time of reading loops of three lengths, ours and the letter rule's."""
    choices = ("a red door", "a blue door", "a dog", "I do not know")
    parse_answer("Answer: B", "single", choices)  # what is made once is not counted
    print(f"\n{'ms of CPU':<18}" + "".join(f"{length // 1024:>9} kB" for length in LENGTHS), end="")
    print(f"{'letter rule':>14}{'ratio':>8}  (at {LENGTHS[-1] // 1024} kB)")
    for name, piece in LOOPS.items():
        replies = [(piece * (length // len(piece) + 1))[:length] for length in LENGTHS]
        ours = [cpu(partial(parse_answer, text, "single", choices)) for text in replies]
        peer = cpu(partial(LETTER.findall, replies[-1]))
        print(f"{name:<18}" + "".join(f"{ms:>12.1f}" for ms in ours), end="")
        print(f"{peer:>14.1f}{ours[-1] / peer:>8.1f}")


def cpu(work: Callable[[], object]) -> float:
    """Milliseconds of CPU that a piece of work takes, the best of three."""
    best = float("inf")
    for _ in range(3):
        start = time.process_time()
        work()
        best = min(best, time.process_time() - start)
    return best * 1000


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
