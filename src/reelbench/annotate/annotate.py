"""Annotates clips: runs the requested operators, and those they need, on every clip.

One operator after the other runs over all clips, so that a worker holds one model at a time. The
label of a clip is stored under the hash of the clip's bytes, of the operator's version, parameters
and weights, and of the labels it reads: it is not made again, also not after a crash.
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from reelbench.annotate.ask_model import ModelOperator
from reelbench.annotate.asking import AskingEngine, ForecastEngine, ReadOnlyResultStore
from reelbench.annotate.operator import Clip, Labels, NotApplicable, Operator, Value
from reelbench.annotate.operators.fingerprint import near_duplicate_clips
from reelbench.annotate.registry import in_order, load_operator
from reelbench.base.durable import (
    RESULT_SCHEMA,
    ResultStore,
    open_durable,
    open_in_memory,
    open_result_store,
)
from reelbench.base.errors import DEFECTS, ExtensionError, ReelbenchError, extension_error
from reelbench.base.files import canonical_json, digest_of, pretty_json, write_atomically
from reelbench.base.limits import decode_json
from reelbench.base.progress import progress, track
from reelbench.client.budget import Budget, Ledger
from reelbench.client.forecast import CallForecast
from reelbench.client.session import open_session
from reelbench.data.paths import SOUND_ENDINGS, VIDEO_ENDINGS
from reelbench.engine.base import Engine, Job, JobResult
from reelbench.media.decode.isolated import probe_isolated
from reelbench.media.digests import media_digest
from reelbench.media.errors import MediaError
from reelbench.models.base import ChatModel
from reelbench.weights import sha256_of

ENDINGS = frozenset(VIDEO_ENDINGS + SOUND_ENDINGS)
PREVIEWS = "preview"  # the folder of drawn copies
LIMIT = 1800.0  # seconds that one operator may take over one clip

Outcome = dict[str, Any]  # {"value": label}, {"none": reason} or {"failed": reason}


@dataclass
class Annotated:
    """The result of annotating: the outcome of each label of each clip."""

    out: Path
    clips: Mapping[str, Clip]  # by name
    broken: dict[str, str]  # files that cannot be opened, and why
    outcomes: dict[str, dict[str, Outcome]] = field(default_factory=dict)  # by clip, by label
    worked: int = 0  # labels that were made now, not read from the store
    ledger: Ledger = field(default_factory=Ledger)  # what models used and cost

    @property
    def failures(self) -> list[tuple[str, str, str]]:
        """The failures, as clip, label and reason."""
        return [
            (clip, label, outcome["failed"])
            for clip, labels in self.outcomes.items()
            for label, outcome in labels.items()
            if "failed" in outcome
        ]


def annotate(
    source: Path,
    labels: Sequence[str],
    out: Path,
    engine: Engine,
    parameters: Mapping[str, Mapping[str, Any]] | None = None,
    limit: float = LIMIT,
    captioner: ChatModel | None = None,
    budget: Budget | None = None,
) -> Annotated:
    """Make the labels of all clips of a folder, or of one clip, and write them to ``out``.

    ``captioner`` is the model for operators that ask one; ``budget`` limits what it may cost,
    earlier runs on the same folder included.
    """
    operators = operators_for(labels, parameters or {}, captioner)
    clips, broken = clips_in(source, out)
    found = Annotated(out, clips, broken, {name: {} for name in clips})
    with ExitStack() as stack:
        asking: Engine = engine
        if captioner is not None and any(isinstance(each, ModelOperator) for each in operators):
            opened = open_session(out / "journal.sqlite", [captioner], budget)
            session = stack.enter_context(opened)
            asking, found.ledger = AskingEngine(session, captioner), session.ledger
        out.mkdir(parents=True, exist_ok=True)
        store = stack.enter_context(open_result_store(out / "labels.sqlite"))
        for number, operator in enumerate(operators, 1):
            title = f"{number}/{len(operators)} {operator.name}"
            place = asking if isinstance(operator, ModelOperator) else engine
            run_operator_over(found, operator, store, place, title, limit)
    _write(found, operators)
    return found


@dataclass
class AnnotateForecast:
    """The calls that annotating would make, and the clips for which they cannot be counted."""

    rows: Sequence[CallForecast]  # by label
    unknown: Mapping[str, int]  # clips that lack the labels which the operator needs, by its label
    broken: Mapping[str, str]  # files that cannot be opened, and why


def forecast(
    source: Path,
    labels: Sequence[str],
    out: Path,
    captioner: ChatModel,
    parameters: Mapping[str, Mapping[str, Any]] | None = None,
) -> AnnotateForecast:
    """Return the calls that annotating would make, without making any or writing anything.

    Existing labels are read; operators that ask no model are not run.
    """
    operators = operators_for(labels, parameters or {}, captioner)
    clips, broken = clips_in(source, out)
    found = Annotated(out, clips, broken, {name: {} for name in clips})
    rows: dict[tuple[str, str], CallForecast] = {}
    path = out / "labels.sqlite"
    with (
        open_session(out / "journal.sqlite", [captioner], reading=True) as session,
        open_durable(path, RESULT_SCHEMA, True)
        if path.exists()
        else open_in_memory(RESULT_SCHEMA) as connection,
    ):
        store = ReadOnlyResultStore(path, connection)
        for operator in operators:
            asks = isinstance(operator, ModelOperator)
            engine = ForecastEngine(session, captioner, rows, asks)
            run_operator_over(found, operator, store, engine, f"Counting {operator.name}", LIMIT)
    unknown = Counter(
        operator.name
        for outcomes in found.outcomes.values()
        for operator in operators
        if isinstance(operator, ModelOperator) and "unknown" in outcomes[operator.name]
    )
    return AnnotateForecast(list(rows.values()), unknown, broken)


def operators_for(
    labels: Sequence[str],
    parameters: Mapping[str, Mapping[str, Any]],
    captioner: ChatModel | None = None,
) -> list[Operator]:
    """Return the operators of labels and of the labels they need, in the order to run them."""
    names = in_order(list(labels), parameters)
    unused = sorted(set(parameters) - set(names))
    if unused:
        raise ReelbenchError(
            f"Parameters are set for {', '.join(unused)}, which is not among the labels to make "
            f"({', '.join(names)}): add it to --labels, or leave its --set out."
        )
    operators = [load_operator(name, **parameters.get(name, {})) for name in names]
    if captioner is None:
        return operators
    model = digest_of([captioner.card.name, dict(captioner.parameters)])
    return [
        replace(each, model=model) if isinstance(each, ModelOperator) else each
        for each in operators
    ]


def clips_in(source: Path, out: Path | None = None) -> tuple[dict[str, Clip], dict[str, str]]:
    """Return the clips of a folder by name, and the files that cannot be opened with the reason.

    Previews that were written to ``out`` are left out.
    """
    if source.is_dir():
        drawn = (out or source / "none") / PREVIEWS
        files = [p for p in source.rglob("*") if p.suffix.lower() in ENDINGS and p.is_file()]
        paths = sorted(p for p in files if not p.resolve().is_relative_to(drawn.resolve()))
    elif source.is_file():
        paths = [source]
    else:
        raise ReelbenchError(f"{source} does not exist: name a clip, or a folder with clips.")
    if not paths:
        raise ReelbenchError(
            f"{source} contains no clips, files that end with {', '.join(sorted(ENDINGS))}."
        )
    root = source if source.is_dir() else source.parent
    clips: dict[str, Clip] = {}
    broken: dict[str, str] = {}
    for path in track(paths, "Opening clips", len(paths), "clips"):
        name = path.relative_to(root).as_posix()
        try:
            clips[name] = Clip(path.absolute(), media_digest(path), probe_isolated(path))
        except (MediaError, OSError) as error:
            broken[name] = str(error)
    return clips, broken


def run_operator_over(
    found: Annotated,
    operator: Operator,
    store: ResultStore,
    engine: Engine,
    title: str,
    limit: float,
) -> None:
    """Add the outcomes of one operator on all clips to ``found``; those in the store are reused."""
    jobs: dict[str, Job] = {}
    waiting: dict[str, list[str]] = {}  # names of clips by key: equal files are looked at once
    for name, clip in found.clips.items():
        known = found.outcomes[name]
        lacking = next((need for need in operator.needs if "value" not in known[need]), None)
        if lacking is not None:
            known[operator.name] = _without(lacking, known[lacking])
            continue
        read = (*operator.needs, *operator.may_use)
        labels = {label: value for label, value in _values(known) if label in read}
        key = _key(operator, clip, labels)
        outcome = store.get(key)
        if outcome is not None:
            known[operator.name] = outcome
            continue
        work = (operator, clip, labels)
        jobs[key] = Job(key, run_operator, work, operator.name, operator.cpus, operator.gpus)
        waiting.setdefault(key, []).append(name)
    with progress(title, len(jobs), "clips") as advance:
        for done in engine.run(list(jobs.values()), limit) if jobs else ():
            outcome = _outcome(done)
            if "failed" not in outcome:
                store.put(done.job.name, operator.name, outcome)
            for name in waiting[done.job.name]:
                found.outcomes[name][operator.name] = outcome
            found.worked += 1
            advance()


def _without(label: str, outcome: Outcome) -> Outcome:
    """Return the outcome of an operator that needs a label which the clip does not have."""
    for status in ("none", "unknown"):
        if status in outcome:
            return {status: f"{label}: {outcome[status]}"}
    return {"failed": f"it needs the label {label}, which failed"}


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


def _outcome(done: JobResult) -> Outcome:
    error = done.error and (extension_error(done.error) or done.error)
    if isinstance(error, DEFECTS) or (isinstance(error, ExtensionError) and error.is_defect):
        raise error  # no clip is at fault, and the next ones would fail as well
    if error is not None:
        own = isinstance(error, ReelbenchError)
        return {"failed": str(error) if own else f"{type(error).__name__}: {error}"}
    if done.lost:
        return {"failed": f"the worker {done.lost}"}
    try:
        outcome: Outcome = json.loads(canonical_json(done.result))
    except (TypeError, ValueError) as error:
        return {"failed": f"the operator returned what is not JSON ({error})"}
    if "value" in outcome and not isinstance(outcome["value"], dict):
        return {"failed": f"the operator returned {outcome['value']!r:.60}, expected a dict"}
    return outcome


def _write(found: Annotated, operators: Sequence[Operator]) -> None:
    """Write a file of labels for each clip, and ``annotate.json`` with how they were made."""
    made = {operator.name: _how(operator) for operator in operators}
    for name, clip in found.clips.items():
        path = label_file(found.out, name)
        new = {
            label: {**outcome, "operator": made[label]}
            for label, outcome in found.outcomes[name].items()
        }
        record = {
            "clip": {"name": name, "sha256": clip.digest, "seconds": clip.info.duration},
            "labels": {**_labels_before(path, clip.digest), **new},
        }
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(path, pretty_json(record))
        except OSError as error:  # a name too long for the disk, say; the others have theirs
            found.broken[name] = f"its labels cannot be written ({error.strerror})"
    summary = {
        "clips": {name: clip.digest for name, clip in found.clips.items()},
        "broken": dict(found.broken),
        "operators": made,
        "failures": [dict(zip(("clip", "label", "reason"), each, strict=True))
                     for each in found.failures],
        **({"twins": _near_duplicates(found)} if "fingerprint" in made else {}),
    }  # fmt: skip
    write_atomically(found.out / "annotate.json", pretty_json(summary))


def _near_duplicates(found: Annotated) -> list[dict[str, Any]]:
    """Return the pairs of clips that show the same video, or one a part of the other."""
    prints = {
        name: dict(_values(outcome)).get("fingerprint") for name, outcome in found.outcomes.items()
    }
    pairs = near_duplicate_clips({name: value for name, value in prints.items() if value})
    return [asdict(pair) for pair in pairs]


def _labels_before(path: Path, digest: str) -> dict[str, Any]:
    """Return the labels that earlier runs wrote for the same clip."""
    try:
        record = decode_json(path.read_text(encoding="utf-8"))
        return dict(record["labels"]) if record["clip"]["sha256"] == digest else {}
    except (OSError, ValueError, KeyError, TypeError):
        return {}  # there is no such file, or it is not ours


def label_file(out: Path, clip: str) -> Path:
    """Return the path of the file with the labels of a clip."""
    return out / "labels" / f"{clip}.json"


def _how(operator: Operator) -> dict[str, Any]:
    return {
        "version": operator.version,
        "parameters": operator.parameters,
        "models": {name: sha256_of(each) for name, each in operator.loads.items()},
        **({"replaced": _replaced(operator)} if operator.replaced else {}),
        **({"source": operator.source} if operator.source else {}),
    }


def _replaced(operator: Operator) -> dict[str, str]:
    """Return what a user put in the place of weights; of a path its name, as others have others."""
    return {name: Path(each).name for name, each in operator.replaced}


def values_of(found: Annotated, clip: str) -> Labels:
    """Return the labels of a clip by name, without those that are not applicable or failed."""
    return dict(_values(found.outcomes[clip]))


def _values(outcome: Mapping[str, Outcome]) -> Iterator[tuple[str, Value]]:
    for name, each in outcome.items():
        if "value" in each:
            yield name, each["value"]
