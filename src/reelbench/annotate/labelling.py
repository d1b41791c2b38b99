"""Makes labels of clips: each as soon as the labels that it reads are there.

An operator on a clip is a job, or several on parts of a long clip; jobs that do not wait for each
other run at the same time. The label of a clip is stored under the hash of the clip's bytes, of the
operator's version, parameters and weights, and of the labels it reads, and so are its parts: none
is made again, also not after a crash.
"""

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from reelbench.annotate.ask_model import ModelOperator
from reelbench.annotate.operator import Clip, Labels, NotApplicable, Operator, PartOperator, Value
from reelbench.annotate.outcomes import (
    Annotated,
    Outcome,
    outcome_of,
    outcome_without,
    values_in,
)
from reelbench.base.durable import ResultStore
from reelbench.base.files import digest_of
from reelbench.base.progress import progress
from reelbench.data.items import Span
from reelbench.engine.base import Engine, Job, JobResult
from reelbench.weights import sha256_of

LIMIT = 1800.0  # seconds that one operator may take over one clip, or over one part of a long one
# Clips worked at together: enough that a model, once loaded, has much to do and many cores are
# busy, and few enough that the first are complete long before the last are begun.
_MOST_OPEN = 64

Receive = Callable[[JobResult], None]
# Runs the jobs of operators that ask a model, and hands over each result as it comes.
Ask = Callable[[Sequence[Job], Receive], None]
Changed = Callable[[str], None]  # called with the name of a clip that got a label


def label_clips(
    found: Annotated,
    operators: Sequence[Operator],
    store: ResultStore,
    engine: Engine,
    limit: float = LIMIT,
    ask: Ask | None = None,
    changed: Changed = lambda _: None,
    title: str = "Labelling",
) -> None:
    """Add the outcomes of all operators on all clips to ``found``; those in the store are reused.

    ``operators`` come each after those whose labels it reads. ``ask`` runs those that can ask a
    model; without it, the engine does.
    """
    work = _Labelling(found, operators, store, changed, asks=ask is not None)
    total = len(found.clips) * len(operators)
    with progress(title, total, "labels", lambda: work.latest) as work.advance:
        while work.prepare():
            for done in engine.run(work.jobs, limit) if work.jobs else ():
                work.receive(done)
                work.open_clips()
            work.jobs = []
            if ask is not None and work.questions:
                questions, work.questions = work.questions, []
                ask(questions, work.receive)


@dataclass(eq=False)
class _Label:
    """A label that is being made: of one clip, or of several with the same bytes."""

    key: str
    operator: Operator
    clip: Clip
    labels: Labels
    names: list[str]  # of the clips
    spans: list[Span]
    parts: dict[int, Outcome] = field(default_factory=dict)
    values: list[Any] = field(default_factory=list)  # of the parts, while they are merged

    def part_key(self, number: int) -> str:
        start, end = self.spans[number]
        return f"{self.key} {start}-{end}"

    @property
    def part_keys(self) -> list[str]:
        many = len(self.spans) > 1
        return [self.part_key(number) for number in range(len(self.spans))] if many else []


class _Labelling:
    """The labels that are made, those that wait for others, and the jobs to run."""

    def __init__(
        self,
        found: Annotated,
        operators: Sequence[Operator],
        store: ResultStore,
        changed: Changed,
        asks: bool,
    ) -> None:
        self._found, self._operators, self._store = found, operators, store
        self._changed, self._asks = changed, asks
        self.jobs: list[Job] = []  # for the engine, which runs what is appended
        self.questions: list[Job] = []  # for the model
        self.latest = ""  # the operator of the latest result
        self.advance: Callable[..., None] = lambda _=1.0: None
        self._names = {operator.name for operator in operators}
        self._unopened = deque(found.clips)
        self._making: dict[str, _Label] = {}  # by key
        self._under_way: dict[str, set[str]] = {name: set() for name in found.clips}
        self._running: dict[str, int] = {}  # jobs of the engine, by clip: those are open
        self._missed: dict[str, Outcome] = {}  # what is not stored, such as failures, by key

    def prepare(self) -> bool:
        """Open clips; return whether there is anything to run or to ask."""
        self.open_clips()
        return bool(self.jobs or self.questions)

    def open_clips(self) -> None:
        """Begin with further clips while few are worked at."""
        while self._unopened and len(self._running) < _MOST_OPEN:
            name = self._unopened.popleft()
            if self._begin_ready(name):
                self._changed(name)

    def receive(self, done: JobResult) -> None:
        """Take the result of a job, and begin with what waited for it."""
        key, _, place = done.job.name.partition(" ")
        label = self._making[key]
        self.latest = label.operator.name
        if done.job.work is run_part:
            outcome = outcome_of(done, is_label=False)
            self._keep_part(label, int(place), outcome)
        else:
            self._finish(label, outcome_of(done, is_label=True))
        if not self._asked(label.operator):
            for name in label.names:
                self._count_running(name, -1)

    def _asked(self, operator: Operator) -> bool:
        return self._asks and isinstance(operator, ModelOperator)

    def _count_running(self, name: str, change: int) -> None:
        count = self._running.get(name, 0) + change
        if count:
            self._running[name] = count
        else:
            self._running.pop(name, None)

    def _begin_ready(self, name: str) -> bool:
        """Begin with all labels of a clip that wait for none; return whether some are known now."""
        known, under_way = self._found.outcomes[name], self._under_way[name]
        before = len(known)
        for operator in self._operators:
            read = [each for each in operator.reads if each in self._names]
            is_begun = operator.name in known or operator.name in under_way
            if not is_begun and all(each in known for each in read):
                outcome = self._outcome_or_begin(name, operator, known)
                if outcome is not None:
                    known[operator.name] = outcome
                    self.advance()
        return len(known) > before

    def _outcome_or_begin(
        self, name: str, operator: Operator, known: dict[str, Outcome]
    ) -> Outcome | None:
        """Return what is known of a label, or begin to make it."""
        lacking = next((need for need in operator.needs if "value" not in known[need]), None)
        if lacking is not None:
            return outcome_without(lacking, known[lacking])
        clip = self._found.clips[name]
        labels = {label: value for label, value in values_in(known) if label in operator.reads}
        key = _key(operator, clip, labels)
        outcome: Outcome | None = self._store.get(key) or self._missed.get(key)
        if outcome is None:
            self._under_way[name].add(operator.name)
            if key in self._making:  # equal files are looked at once
                self._making[key].names.append(name)
                self._count_running(name, self._jobs_left(self._making[key]))
            else:
                self._begin(_Label(key, operator, clip, labels, [name], _spans(operator, clip)))
        return outcome

    def _jobs_left(self, label: _Label) -> int:
        return 0 if self._asked(label.operator) else len(label.spans) - len(label.parts) or 1

    def _begin(self, label: _Label) -> None:
        self._making[label.key] = label
        if len(label.spans) == 1:
            self._add_job(label, label.key, run_operator)
            return
        for number, span in enumerate(label.spans):
            kept = self._store.get(label.part_key(number))
            if kept is None:
                self._add_job(label, f"{label.key} {number}", run_part, span)
            else:
                label.parts[number] = kept
                self.advance(1 / (len(label.spans) + 1))
        self._merge_if_complete(label)

    def _add_job(self, label: _Label, name: str, work: Callable[..., Any], *more: Any) -> None:
        operator = label.operator
        args = (operator, label.clip, label.labels, *more)
        job = Job(name, work, args, operator.name, operator.cpus, operator.gpus)
        if self._asked(operator):
            self.questions.append(job)
            return
        self.jobs.append(job)
        for each in label.names:
            self._count_running(each, 1)

    def _keep_part(self, label: _Label, number: int, outcome: Outcome) -> None:
        if "failed" not in outcome:
            self._store.put(label.part_key(number), f"{label.operator.name} part", outcome)
        label.parts[number] = outcome
        self.advance(1 / (len(label.spans) + 1))
        self._merge_if_complete(label)

    def _merge_if_complete(self, label: _Label) -> None:
        if len(label.parts) < len(label.spans):
            return
        parts = [label.parts[number] for number in range(len(label.spans))]
        missing = next((part for part in parts if "value" not in part), None)
        if missing is not None:
            self._finish(label, missing)
        else:
            label.values = [part["value"] for part in parts]
            label.parts = {number: {} for number in label.parts}
            self._add_job(label, label.key, merge_parts, label.values)

    def _finish(self, label: _Label, outcome: Outcome) -> None:
        del self._making[label.key]
        label.values.clear()  # the list of jobs holds it
        if set(outcome) & {"value", "none"}:
            self._store.put(label.key, label.operator.name, outcome, label.part_keys)
        else:
            self._missed[label.key] = outcome
        self._found.worked += 1
        for number, name in enumerate(label.names):
            self._found.outcomes[name][label.operator.name] = outcome
            self._under_way[name].discard(label.operator.name)
            in_parts = not number and len(label.spans) > 1
            self.advance(1 / (len(label.spans) + 1) if in_parts else 1.0)
            self._begin_ready(name)
            self._changed(name)


def _spans(operator: Operator, clip: Clip) -> list[Span]:
    return operator.spans(clip) if isinstance(operator, PartOperator) else [(0.0, 0.0)]


def _key(operator: Operator, clip: Clip, labels: Labels) -> str:
    return digest_of(
        {
            "operator": operator.name,
            "version": operator.version,
            **({"source": operator.source} if operator.source else {}),
            "parameters": {
                operator.former_names.get(name, name): value
                for name, value in operator.parameters.items()
            },
            "weights": [sha256_of(each) for each in operator.loads.values()],
            "clip": clip.digest,
            "beside": operator.beside(clip),
            "labels": {name: digest_of(value) for name, value in labels.items()},
        }
    )


def run_operator(operator: Operator, clip: Clip, labels: Labels) -> Outcome:
    """Return the outcome of an operator on a clip; called in a worker process."""
    try:
        value: Value = operator(clip, labels)
    except NotApplicable as nothing:
        return {"none": str(nothing)}
    return {"value": value}


def run_part(operator: PartOperator, clip: Clip, labels: Labels, span: Span) -> Outcome:
    """Return what an operator finds in a part of a clip; called in a worker process."""
    try:
        return {"value": operator.part(clip, labels, span)}
    except NotApplicable as nothing:
        return {"none": str(nothing)}


def merge_parts(
    operator: PartOperator, clip: Clip, labels: Labels, parts: Sequence[Any]
) -> Outcome:
    """Return the outcome of an operator on a clip from its parts; called in a worker process."""
    try:
        return {"value": operator.merge(clip, labels, parts)}
    except NotApplicable as nothing:
        return {"none": str(nothing)}
