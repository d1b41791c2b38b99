"""What judges and people gave: scores by response and criterion, from the files that hold them.

Rows of ``judge synthesize`` (what a judge should reply), of ``judge use``, the ``judgements.jsonl``
of a run, and tables with a column for each criterion are all read.
"""

import csv
import io
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import floor
from pathlib import Path
from typing import Any

from reelbench.base.errors import ReelbenchError
from reelbench.base.limits import bounded_bytes, decode_json
from reelbench.data.clusters import video_clusters
from reelbench.data.items import Item, shown
from reelbench.evaluate.rubric import CHOICE, Rubric
from reelbench.judge.sharegpt import criterion_scores

_ID_NAMES = ("id", "item", "subject")


@dataclass(frozen=True, slots=True)
class ScoredResponse:
    """The scores of one response, by criterion, in whole numbers."""

    scores: Mapping[str, int]
    video: str = ""
    model: str = ""  # that gave the response


JudgeScores = dict[tuple[str, str], ScoredResponse]  # by item (or row) and model


def read_scores(name: str, rubric: Rubric, items: Sequence[Item] = ()) -> JudgeScores:
    """Read a file of scores; ``FILE#JUDGE`` is one judge of a run's ``judgements.jsonl``.

    ``items`` say which of them share a video, where the file does not.
    """
    videos = {item: str(number) for item, number in video_clusters(items).items()}
    path_name, _, judge = name.partition("#")
    path = Path(path_name)
    if not path.is_file():
        raise ReelbenchError(
            f"{path} is no file: name scores that `judge use` wrote, rows of `judge synthesize`, "
            "judgements.jsonl of a run, or a CSV with a column for each criterion."
        )
    found: dict[str, JudgeScores] = defaultdict(dict)
    for number, record in _records(path):
        try:
            read = _read(record, rubric, videos)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise ReelbenchError(
                f"{path}:{number} holds no scores that can be read ({type(error).__name__}: "
                f"{error}): {shown(str(record))}"
            ) from None
        if read:
            who, key, scored = read
            if key in found[who]:
                raise ReelbenchError(
                    f"{path}:{number} has a second score of {' by '.join(filter(None, key))}: give "
                    "each judge or person a name in `judge`, or a file of its own."
                )
            found[who][key] = scored
    if judge:
        found = {who: scores for who, scores in found.items() if who == judge}
    if len(found) != 1:
        known = ", ".join(sorted(found)) or "none" + (f" of {judge}" if judge else "")
        raise ReelbenchError(f"{path} has the scores of {known}: name one judge, as {path}#NAME.")
    return next(iter(found.values()))


def _records(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    text = bounded_bytes(path).decode("utf-8-sig")
    if path.suffix == ".csv":
        reader = csv.DictReader(io.StringIO(text, newline=""))
        yield from ((reader.line_num, dict(row)) for row in reader)
        return
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            try:
                yield number, decode_json(line)
            except ValueError as error:
                raise ReelbenchError(f"{path}:{number} is no JSON ({error}).") from None


def _read(
    record: Mapping[str, Any], rubric: Rubric, videos: Mapping[str, str]
) -> tuple[str, tuple[str, str], ScoredResponse] | None:
    name = str(next(record[each] for each in _ID_NAMES if record.get(each)))
    model = str(record.get("model") or "")
    video = str(record.get("video") or videos.get(name) or name)
    if "conversations" in record:
        scores = criterion_scores(rubric, decode_json(record["conversations"][-1]["value"]))
    elif "rounds" in record:
        if record["rubric"] == CHOICE:
            return None
        scores = _mean_of_rounds(record["rounds"], rubric)
        name = "/".join([name, str(record.get("order", 0)), str(record.get("round", 0))])
        model = f"{model} {record.get('condition') or ''}".strip()
    else:
        given = record.get("scores") or record
        scores = {n: float(given[n]) for n in _criteria(rubric) if given.get(n) not in (None, "")}
    if not scores:
        return None
    whole = {criterion: floor(score + 0.5) for criterion, score in scores.items()}
    return str(record.get("judge") or ""), (name, model), ScoredResponse(whole, video, model)


def _criteria(rubric: Rubric) -> list[str]:
    return list(criterion_weights(rubric))


def criterion_weights(rubric: Rubric) -> dict[str, float]:
    """Return what each criterion counts in the overall score; they add up to 1."""
    best = _extreme(rubric.schema)
    paths = rubric.values(best)
    worst = dict.fromkeys(paths, 0.0)
    weights = {path: rubric.grade({**worst, path: 1.0}) for path in paths}
    names = criterion_scores(rubric, best)
    return dict(zip(names, weights.values(), strict=True))


def _extreme(schema: Mapping[str, Any]) -> Any:
    """A reply with some number wherever a rubric has one."""
    if "properties" in schema:
        return {name: _extreme(inner) for name, inner in schema["properties"].items()}
    return 1


def _mean_of_rounds(rounds: list[Mapping[str, Any]], rubric: Rubric) -> dict[str, float]:
    given: dict[str, list[float]] = defaultdict(list)
    for each in rounds:
        if "reply" in each:
            for name, score in criterion_scores(rubric, each["reply"]).items():
                given[name].append(score)
    return {name: sum(scores) / len(scores) for name, scores in given.items()}
