"""What a real model decides as filter, reviewer and judge, beside what a reader decides.

The films, questions and replies in ``deciding/`` were written for this, and so was what a reader
decides on each, before any model was asked. The model is the blind one and the veracity one in a
make of Cinéaste, the reviewer of the same questions, and the judge of Q-Bench-Video. The tables
are Markdown. The same command goes on where it was stopped, and nothing is asked twice.

Run: python benchmarks/real_model.py --model CARD --judge CARD --out FOLDER
"""

import argparse
import statistics
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

HERE = Path(__file__).parent
sys.path.append(str(HERE.parent / "tests"))

from deciding.figures import AGREEMENT, COST, agreement_row, crossed, taken  # noqa: E402
from deciding.films import DECISIONS, Film, read_films  # noqa: E402
from deciding.filters import STAGES, Filtered, filtered, is_dropped  # noqa: E402
from deciding.replies import Labelled, judged, read_replies  # noqa: E402
from deciding.reviewing import reviewed  # noqa: E402

from reelbench.base.errors import ReelbenchError  # noqa: E402
from reelbench.data.items import Item  # noqa: E402
from reelbench.evaluate.judge import ROUNDS, Judgement  # noqa: E402
from reelbench.models.load import Loader  # noqa: E402
from reelbench.pages.table import Table  # noqa: E402

PARTS = ("filters", "review", "grades", "letters")


def main() -> None:
    """Have it all decided, and print the tables."""
    options = _options()
    if not options.model:
        print("Name a model: --model CARD, see docs/real-models.md")
        return
    judge = options.judge or options.model
    films = read_films(options.labelled / "films", options.split)
    reader = {name: each for film in films for name, each in film.decisions().items()}
    for part in options.part or PARTS:
        if part == "filters":
            counts = (options.seeds, options.veracity_seeds or options.seeds)
            seeds = dict(zip(STAGES, counts, strict=True))
            show_filters(films, reader, options.model, options.out, seeds)
        elif part == "review":
            show_review(films, reader, judge, options.out / "review")
        else:
            file = options.labelled / f"{part}.yaml"
            show_judge(part, read_replies(file, options.replies), judge, options.out)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", help="card of the model that filters")
    parser.add_argument("--judge", help="card of the one that reviews and judges; default: --model")
    parser.add_argument("--out", type=Path, default=Path("real-model"), help="work folder")
    parser.add_argument(
        "--labelled", type=Path, default=HERE / "deciding", help="its films, replies"
    )
    parser.add_argument("--split", default="test", help="test, or tuning")
    parser.add_argument("--seeds", type=int, default=5, help="of both filters; the paper has 5")
    parser.add_argument("--veracity-seeds", type=int, help="of that filter; default: --seeds")
    parser.add_argument("--replies", type=int, help="how many to judge; default: all")
    parser.add_argument("--part", action="append", choices=PARTS, help="repeatable; default: all")
    return parser.parse_args()


def show_filters(
    films: Sequence[Film], reader: Mapping[str, str], card: str, out: Path, seeds: Mapping[str, int]
) -> None:
    """Print what the filters keep and drop."""
    found = filtered(films, card, out, seeds)
    model = found.decisions()
    reader = {name: reader[name] for name in model}
    print(f"\n## Filters: {len(reader)} questions, {len(found.kept)} kept by the make")
    print(f"{found.undecided} undecided\n" if found.undecided else "")
    _put(crossed("filters", reader, model, DECISIONS))
    rows = [agreement_row("keep, blind or hallucinated", reader, model, DECISIONS)]
    rows.append(_one_against_rest("keep or drop", "keep", reader, model))
    for stage, why in STAGES.items():
        drops = {each.id: why if is_dropped(each, stage) else "other" for each in found.items}
        rows.append(_one_against_rest(f"{stage} alone: drop or not", why, reader, drops))
    _put(Table("agreement", "", AGREEMENT, rows))
    _put(_right(found, reader, seeds))
    costs = [
        cost.row(stage, len(found.items), found.unreadable(stage))
        for stage, cost in found.costs.items()
    ]
    _put(Table("costs", "", (*COST[:-1], "unreadable"), costs))
    _put(Table("differ", "", ("id", "question", "key", "reader", "model", "right"),
               list(_different(found.items, reader, model))))  # fmt: skip


def _one_against_rest(
    what: str, name: str, reader: Mapping[str, str], model: Mapping[str, str]
) -> list[str]:
    """Return the agreement on one decision against all others."""
    one, other = (
        {item: each if each == name else "other" for item, each in given.items()}
        for given in (reader, model)
    )
    return agreement_row(what, one, other, (name, "other"))


def _right(found: Filtered, reader: Mapping[str, str], seeds: Mapping[str, int]) -> Table:
    """Return how many answers were right in the mean, by the reader's decision."""
    rows = []
    for decision in DECISIONS:
        items = [item for item in found.items if reader[item.id] == decision]
        right = [[item.provenance[stage]["right"] for item in items] for stage in STAGES]
        means = [f"{statistics.fmean(each):.2f}" if each else "-" for each in right]
        rows.append([decision, str(len(items)), *means])
    names = (f"right in {stage}, of {count}" for stage, count in seeds.items())
    columns = ("reader", "questions", *names)
    return Table("right", "", columns, rows)


def _different(
    items: Sequence[Item], reader: Mapping[str, str], model: Mapping[str, str]
) -> Iterator[list[str]]:
    for item in items:
        if reader[item.id] != model[item.id]:
            key = item.options["ABCDE".index(item.answer[0])]
            right = "{} blind, {} from the text".format(
                *(item.provenance[stage]["right"] for stage in STAGES)
            )
            yield [item.id, item.question, key, reader[item.id], model[item.id], right]


def show_review(films: Sequence[Film], reader: Mapping[str, str], card: str, out: Path) -> None:
    """Print what a reviewer finds in the same questions."""
    model, warnings = reviewed(films, card, out)
    cost = taken(out / "bench" / "make" / "journal.sqlite", _name(card))
    reader = {name: reader[name] for name in model}
    print(f"\n## Review: {len(reader)} questions\n", *warnings, sep="\n")
    _put(crossed("review", reader, model, DECISIONS))
    rows = [agreement_row("keep, blind or hallucinated", reader, model, DECISIONS)]
    rows += [_one_against_rest("keep or drop", "keep", reader, model)]
    _put(Table("agreement", "", AGREEMENT, rows))
    _put(Table("costs", "", COST, [cost.row("review", len(model), 0)]))


def show_judge(part: str, replies: list[Labelled], card: str, out: Path) -> None:
    """Print what a judge makes of replies: grades of open ones, letters of closed ones."""
    found, result = judged(replies, card, out / part)
    print(f"\n## {part}: {len(found)} replies\n", *result.warnings, sep="\n")
    reader = {each.id: each.label for each in replies}
    read = _letters if part == "letters" else _grades
    names = ("A", "B", "C", "D", "none") if part == "letters" else ("0", "1", "2")
    model = {name: read(each) for name, each in found.items()}
    reader = {name: reader[name] for name in model if model[name] in names}
    model = {name: model[name] for name in reader}
    _put(crossed(part, reader, model, names))
    rows = [agreement_row(part, reader, model, names)]
    if part == "grades":
        rows.append(agreement_row("grades: near is better", reader, model, names, "quadratic"))
    _put(Table("agreement", "", AGREEMENT, rows))
    if part == "grades":
        _put(_means(found, reader, names))
    _put(_steadiness(found, names))
    cost = taken(out / part / "journal.sqlite", _name(card))
    _put(Table("costs", "", COST, [cost.row(part, len(found), len(result.failures))]))
    rows = [
        [each.id, each.text, reader[each.id], " ".join(_rounds(found[each.id]))]
        for each in replies
        if each.id in reader and reader[each.id] != model[each.id]
    ]
    _put(Table("differ", "", ("id", "reply", "reader", "rounds"), rows))


def _means(
    found: Mapping[str, Judgement], reader: Mapping[str, str], names: Sequence[str]
) -> Table:
    """Return the mean grade of the judge, by the reader's."""
    rows = []
    for grade in names:
        scores = [found[name].score or 0.0 for name, each in reader.items() if each == grade]
        mean = f"{statistics.fmean(scores):.2f}" if scores else "-"
        rows.append([grade, str(len(scores)), mean])
    return Table("means", "", ("reader", "replies", "mean grade of the judge"), rows)


def _rounds(judgement: Judgement) -> list[str]:
    """Return the grade or letter of each round; a dash where it failed."""
    replies = [each.get("reply", {}) for each in judgement.rounds]
    return [str(each.get("score", each.get("choice", "-"))) for each in replies]


def _grades(judgement: Judgement) -> str:
    """Return the grade that the mean of the rounds is nearest to."""
    score = judgement.score
    return "-" if score is None else str(int(score + 0.5))


def _letters(judgement: Judgement) -> str:
    choice = judgement.choice
    return "none" if choice is None else "ABCD"[choice[0]]


def _steadiness(found: Mapping[str, Judgement], names: Sequence[str]) -> Table:
    """Return how many replies got the same in so many of their rounds."""
    modes = [max(_rounds(each).count(name) for name in names) for each in found.values()]
    columns = [f"{count} of {ROUNDS}" for count in range(ROUNDS, 0, -1)]
    row = [str(modes.count(count)) for count in range(ROUNDS, 0, -1)]
    return Table("steady", "", ("rounds that agree", *columns), [["replies", *row]])


def _name(card: str) -> str:
    return Loader().load(card).card.name


def _put(table: Table) -> None:
    if table.rows:
        print(table.to_markdown(), flush=True)


if __name__ == "__main__":
    try:
        main()
    except ReelbenchError as error:
        sys.exit(str(error))
    except KeyboardInterrupt:
        sys.exit("Stopped: the same command goes on from here.")
