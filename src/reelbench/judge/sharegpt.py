"""Rated responses as rows of a ShareGPT file: a prompt, and the reply that a judge should give."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jsonschema

from reelbench.base.errors import ReelbenchError
from reelbench.base.files import digest_of_file, json_line, write_atomically
from reelbench.base.json_faults import json_fault
from reelbench.base.limits import bounded_lines, decode_json
from reelbench.base.progress import counted
from reelbench.base.seeds import seed_for
from reelbench.client.structured import accepted_schema
from reelbench.data.benchmark import BenchmarkError
from reelbench.data.items import Problem, shown
from reelbench.evaluate.rubric import Rubric, criterion_of

_HUMAN, _REPLY = ("human", "user"), ("gpt", "assistant")


@dataclass(frozen=True, slots=True)
class RatedResponse:
    """One row: what a judge is asked, what it should reply, and which video it is about."""

    id: str
    video: str
    prompt: str
    reply: Mapping[str, Any]
    kind: str = ""  # of the synthetic response
    model: str = ""  # that gave the response, where a model did

    def to_record(self) -> dict[str, Any]:
        """Return it as a line of a ShareGPT file."""
        reply = json.dumps(self.reply, ensure_ascii=False)
        more = {"model": self.model} if self.model else {}
        return {
            "id": self.id,
            "video": self.video,
            "type": self.kind,
            **more,
            "conversations": [
                {"from": "human", "value": self.prompt},
                {"from": "gpt", "value": reply},
            ],
        }


def write_rows(path: Path, rows: Iterable[RatedResponse]) -> None:
    """Write rows as JSONL."""
    write_atomically(path, "".join(json_line(row.to_record()) for row in rows))


def read_rows(path: Path, rubric: Rubric) -> list[RatedResponse]:
    """Read a ShareGPT file; raise ``BenchmarkError`` that names every row that is not right."""
    validator = jsonschema.Draft202012Validator(accepted_schema(rubric.schema))
    rows: list[RatedResponse] = []
    problems: list[Problem] = []
    if not path.is_file():
        raise ReelbenchError(f"{path} is no file: name rows that `judge synthesize` wrote.")
    with path.open("rb") as file:
        for number, line in enumerate(bounded_lines(file), 1):
            if not line.strip():
                continue
            row, fault = _row(line, number, validator)
            if row:
                rows.append(row)
            else:
                name, found, expected = fault
                problems.append(Problem("BAD_ROW", name, found, expected, str(path), number))
    twice = [name for name, count in Counter(row.id for row in rows).items() if count > 1]
    problems += [
        Problem("BAD_ROW", "id", f"{shown(name)} more than once", "an id for each", str(path), 0)
        for name in twice[:10]
    ]
    if not rows and not problems:
        problems.append(Problem("BAD_ROW", "file", "no rows", "a row a line", str(path), 0))
    if problems:
        raise BenchmarkError(problems)
    return rows


Fault = tuple[str, str, str]  # the field, what was found, what was expected


def _row(
    line: bytes, number: int, validator: jsonschema.Draft202012Validator
) -> tuple[RatedResponse | None, Fault]:
    try:
        record = decode_json(line.decode())
        turns = [(turn["from"], turn["value"]) for turn in record["conversations"]]
    except json.JSONDecodeError as error:
        return None, ("line", json_fault(error)[0], "a JSON object")
    except (ValueError, KeyError, TypeError) as error:
        found = f"{type(error).__name__}: {error}"
        return None, ("conversations", found, 'a list of {"from": ..., "value": ...}')
    names = [name for name, _ in turns if name != "system"]
    if len(names) != 2 or names[0] not in _HUMAN or names[1] not in _REPLY:
        return None, ("conversations", f"turns of {', '.join(names)}", "one of human, one of gpt")
    (prompt,), (text,) = ([v for n, v in turns if n in side] for side in (_HUMAN, _REPLY))
    try:
        reply = decode_json(text)
    except (ValueError, TypeError) as error:
        reason = json_fault(error)[0] if isinstance(error, json.JSONDecodeError) else str(error)
        return None, ("gpt", f"a reply that is no JSON ({reason}): {shown(text)}", "JSON")
    for fault in validator.iter_errors(reply):
        where = ".".join(map(str, fault.absolute_path))
        return None, (f"gpt {where}".strip(), fault.message[:200], "a reply that fits the rubric")
    name, video = record.get("id") or f"line {number}", str(record.get("video") or "")
    kind, model = str(record.get("type") or ""), str(record.get("model") or "")
    return RatedResponse(str(name), video, str(prompt), reply, kind, model), ("", "", "")


def split_by_video(
    rows: Sequence[RatedResponse], test_share: float, seed: int
) -> tuple[list[RatedResponse], list[RatedResponse]]:
    """Split rows so that no video is in both: the test part has about that share of the videos."""
    videos = sorted({row.video for row in rows}, key=lambda v: seed_for(seed, "judge split", v))
    count = round(test_share * len(videos))
    count = min(max(count, 1 if test_share > 0 else 0), len(videos) - 1)
    test = set(videos[: max(0, count)])
    return [r for r in rows if r.video not in test], [r for r in rows if r.video in test]


def check_disjoint(train: Sequence[RatedResponse], test: Sequence[RatedResponse]) -> None:
    """Refuse training and test rows about the same video."""
    both = sorted({row.video for row in train if row.video} & {row.video for row in test})
    if both:
        raise ReelbenchError(
            f"{counted(len(both), 'video')} of the test rows are trained on ({', '.join(both[:3])}"
            f"{', ...' if len(both) > 3 else ''}): what is measured there would be memory. Split "
            "by video, as `judge synthesize` does."
        )


def file_record(path: Path, rows: Sequence[RatedResponse]) -> dict[str, Any]:
    """Return what a file of rows holds, with its hash, for the card of what was trained on it."""
    kinds = Counter(row.kind for row in rows if row.kind)
    return {
        "file": path.name,
        "sha256": digest_of_file(path),
        "rows": len(rows),
        "videos": len({row.video for row in rows}),
        "types": dict(sorted(kinds.items())),
    }


def score_histogram(rows: Sequence[RatedResponse], rubric: Rubric) -> dict[str, dict[str, int]]:
    """Return how often each criterion has each score."""
    counts: dict[str, Counter[str]] = {}
    for row in rows:
        for name, value in criterion_scores(rubric, row.reply).items():
            counts.setdefault(name, Counter())[f"{value:g}"] += 1
    return {name: dict(sorted(found.items())) for name, found in counts.items()}


def criterion_scores(rubric: Rubric, reply: Any) -> dict[str, float]:
    """Return the scores of a reply by criterion, wherever in it they stand."""
    return {criterion_of(path.split(".")): value for path, value in rubric.values(reply).items()}
