"""What published parsers make of the same real replies: accuracy, guesses, and who agrees.

Each row of a file (JSON lines, gzip or not) has ``response``, ``options``, ``answer`` and
``pred_indexs``, the letter that the benchmark's own parser took, as MMMU-Pro publishes them. Prints
one table for each file: what `reelbench score --parser all` would, how often each parser comes to
the published letter and to ours, and how many of the replies that we hold for refusals it takes for
an answer. The letters in the file stand among the parsers: they are MMMU-Pro's own.

Run: python benchmarks/parsers.py FILE ...
"""

import argparse
import ast
import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reelbench.data.benchmark import Benchmark
from reelbench.data.items import LETTERS, Item, Media
from reelbench.data.manifest import Manifest
from reelbench.evaluate.published_parsers import PUBLISHED
from reelbench.score.parser_differences import COLUMNS, ParserComparison, compare_parsers
from reelbench.score.rounding import percent

if TYPE_CHECKING:
    from reelbench.score.predictions import Rows

SEED = 0


def main() -> None:
    """Print one table for each file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", type=Path, nargs="+", help="such as MMMU-Pro publishes them")
    for path in parser.parse_args().files:
        report(path)


def report(path: Path) -> None:
    """Print what each parser makes of one file."""
    items, turns = [], {}
    for number, row in enumerate(rows(path)):
        item = as_item(number, row)
        letter = row["pred_indexs"]
        parsed = [letter] if letter in item.letters else None
        items.append(item)
        turns[item.id] = {(0, 0): {"response": row["response"] or "", "parsed": parsed}}
    benchmark = Benchmark(path.parent, Manifest("replies", "1"), tuple(items))
    asked: Rows = {(path.name.split(".", 1)[0], "protocol"): turns}
    compared = compare_parsers(benchmark, asked, list(PUBLISHED.values()), SEED)
    print(f"\n{path.name}: {len(items):,} replies")
    headings = [*COLUMNS[2:], "as published", "as ours", "refusals answered"]
    print(f"| {' | '.join(headings)} |\n|{'---|' * len(headings)}")
    for score, more in zip(compared.scores, agreement(compared), strict=True):
        print(f"| {' | '.join([*score.cells(), *more])} |")
    print("\n".join(compared.sentences()))


def as_item(number: int, row: dict[str, Any]) -> Item:
    """The question of a row, each about a video of its own."""
    return Item(
        id=f"{row['id']}-{number}",
        kind="single",
        media=(Media(f"media/{number}.mp4"),),
        question=row["question"],
        options=tuple(map(str, ast.literal_eval(row["options"]))),
        answer=(row["answer"],),
    )


def agreement(compared: ParserComparison) -> Iterator[list[str]]:
    """Yield how often each parser agrees with the published letters and with ours."""
    ours, published = (each.replies for each in compared.read[:2])
    refusals = [place for place, read in ours.items() if read.rule == "refusal"]
    for each in compared.read:
        same = sum(published[place].answer == read.answer for place, read in each.replies.items())
        mine = sum(ours[place].answer == read.answer for place, read in each.replies.items())
        answers = [each.replies[place].answer for place in refusals]
        as_i = sum(answer == frozenset(LETTERS[8]) for answer in answers)
        given = len(answers) - answers.count(None)
        total = len(ours)
        yield [
            percent(same / total),
            percent(mine / total),
            f"{given} of {len(refusals)} ({as_i} as I)",
        ]


def rows(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the rows of a file, packed or not."""
    with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as lines:
        yield from map(json.loads, lines)


if __name__ == "__main__":
    main()
