"""The files of a run's results, written line by line as the plan is walked."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from reelbench.base.files import replacing, write_atomically, write_chunks_atomically
from reelbench.base.limits import decode_json
from reelbench.base.progress import working
from reelbench.client.journal import Journal
from reelbench.evaluate.calls import CALLS_FILE, call_line
from reelbench.evaluate.judge import JudgedChoice, Key
from reelbench.evaluate.plan import RunPlan
from reelbench.evaluate.predict import outcomes, prediction_line, reply_of
from reelbench.evaluate.rubric import CHOICE
from reelbench.evaluate.usage import USAGE_FILE, UsageSums
from reelbench.models.base import Response

JUDGEMENTS_FILE = "judgements.jsonl"


def write_judgements(out: Path, lines: Iterable[str]) -> None:
    """Write the file of judgements, whose lines come in the order of the plan."""
    write_chunks_atomically(out / JUDGEMENTS_FILE, (line.encode() for line in lines))


@working("Writing the results")
def write_results(
    out: Path, plan: RunPlan, journal: Journal, unasked: Mapping[str, Response], judged: bool
) -> None:
    """Write the predictions, the calls and the usage of a run, in one walk over its plan.

    ``judged`` is whether a file of judgements has what judges found in replies.
    """
    usage = UsageSums(out / USAGE_FILE)
    choices = _Choices(out / JUDGEMENTS_FILE if judged else None)
    with replacing(out / "predictions.jsonl") as predictions, replacing(out / CALLS_FILE) as calls:
        # Both at once, so that a reply is read and parsed once for both.
        for ask, response in outcomes(plan, journal, unasked):
            reply, taken = reply_of(ask, response), journal.taken_by(ask.key)
            frames = journal.frames_of(ask.key) if response.replied else None
            line = prediction_line(ask, reply, response, choices.of(reply.key))
            predictions.write(line.encode())
            calls.write(call_line(ask, reply, response, taken, frames).encode())
            usage.add(ask, taken)
    write_atomically(out / USAGE_FILE, usage.text)


class _Choices:
    """What judges found in closed replies, read beside a walk over the plan."""

    def __init__(self, path: Path | None) -> None:
        self._rows = _choices_in(path) if path else iter(())
        self._next = next(self._rows, None)

    def of(self, key: Key) -> JudgedChoice | None:
        """Return what was found in a reply, if it was judged; replies come as in the plan."""
        if self._next is None or self._next[0] != key:
            return None
        choice = self._next[1]
        self._next = next(self._rows, None)
        return choice


def _choices_in(path: Path) -> Iterator[tuple[Key, JudgedChoice]]:
    with path.open("rb") as file:
        for line in file:
            row = decode_json(line)
            if row["rubric"] == CHOICE:
                key: Key = (row["id"], row["model"], row["condition"], row["order"], row["round"])
                yield key, JudgedChoice(row["judge"], row["choice"])
