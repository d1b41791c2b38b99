"""What published parsers make of the same real replies: accuracy, guesses, and who agrees.

Each row of a file (JSON lines, gzip or not) has ``response``, ``options``, ``answer`` and
``pred_indexs``, the letter that the benchmark's own parser took, as MMMU-Pro publishes them. Prints
one table for each file: what `reelbench score --parser all` would, how often each parser comes to
the published letter and to ours, and how many of the replies that we hold for refusals it takes for
an answer. The letters in the file stand among the parsers: they are MMMU-Pro's own.

With --peer CHECKOUT, a clone of lmms-eval, VLMEvalKit, MMMU or data-juicer with its history, or a
folder of installed packages: the programs' own code runs beside ours instead, on the files and on
--made replies of many forms, and prints what the two read differently. Each version that we name is
taken from the history; the newest is compared with what is checked out, too.

Run: python benchmarks/parsers.py FILE ... [--peer CHECKOUT] [--made 5000]
"""

import argparse
import ast
import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from made_replies import made_replies
from peer_code import PEERS, PeerParser, peer_reading

from reelbench.data.benchmark import Benchmark
from reelbench.data.items import LETTERS, Item, Media
from reelbench.data.manifest import Manifest
from reelbench.evaluate.published_parsers import PUBLISHED, ParserReading
from reelbench.score.parser_differences import COLUMNS, ParserComparison, compare_parsers
from reelbench.score.rounding import percent

if TYPE_CHECKING:
    from reelbench.score.predictions import Rows

SEED = 0
REPLIES = Path(__file__).parents[2] / "shared" / "data" / "responses"


def main() -> None:
    """Print one table for each file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", type=Path, nargs="*", help="such as MMMU-Pro publishes them")
    parser.add_argument("--peer", type=Path, action="append", default=[], metavar="CHECKOUT")
    parser.add_argument("--made", type=int, default=5_000, help="replies made for --peer")
    parser.add_argument("--parser", default="", metavar="NAME", help="of --peer, only this one")
    options = parser.parse_args()
    files = options.files or sorted(REPLIES.glob("*.jsonl.gz"))
    if not options.peer:
        for path in files:
            report(path)
        return
    asked = [(row["response"] or "", choices_of(row)) for path in files for row in rows(path)]
    asked += made_replies(options.made, SEED)
    print(f"{len(asked):,} replies, {options.made:,} of them made")
    print("| parser | their code | differences |\n|---|---|---|")
    wanted = [peer for peer in PEERS if options.parser in peer.name]
    for checkout in options.peer:
        if not sum(beside(peer, checkout, asked) for peer in wanted):
            print(f"{checkout} has no such parser: name a clone of one of those programs.")


def beside(peer: PeerParser, checkout: Path, asked: list[tuple[str, tuple[str, ...]]]) -> int:
    """Print what one published parser's own code and ours read differently.

    Return how many revisions of it the checkout has.
    """
    ours, found = PUBLISHED[peer.name], 0
    revisions = [peer.revision] if ours.version.startswith("before-") else [peer.revision, "HEAD"]
    for revision in revisions:
        names = peer.load(checkout, revision)
        if names is None:
            continue
        found += 1
        differences = [
            (theirs, letter, reply, choices)
            for reply, choices in asked
            if (theirs := peer_reading(peer, names, reply, choices))
            != (letter := letter_of(ours.read(reply, choices)))
        ]
        print(f"| {peer.name} | {revision} | {len(differences)} |", flush=True)
        for theirs, letter, reply, choices in differences[:5]:
            print(f"  they: {theirs}, we: {letter} | {reply[-300:]!r} | {choices!r}")
    return found


def letter_of(read: ParserReading) -> str:
    """The letter that we read; ``?`` for a guess, ``-`` for none."""
    if read.draw:
        return "?"
    return "-" if read.place is None else LETTERS[read.place]


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
        options=choices_of(row),
        answer=(row["answer"],),
    )


def choices_of(row: dict[str, Any]) -> tuple[str, ...]:
    """The options of a row."""
    return tuple(map(str, ast.literal_eval(row["options"])))


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
