"""Annotate clips: every operator that is asked for, and those it needs, on every clip.

Operator after operator goes over all clips, so that a worker holds one model at a time. What an
operator said of a clip is kept under the hash of the clip's bytes, of the operator's version,
parameters and weights, and of the labels it went by: it is not done again, here or after a kill.
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

Outcome = dict[str, Any]  # {"value": ...}, {"none": why} or {"failed": why}


@dataclass
class Annotated:
    """What came of it."""

    out: Path
    clips: Mapping[str, Clip]  # by name
    broken: dict[str, str]  # files that are no clips, and why
    outcomes: dict[str, dict[str, Outcome]] = field(default_factory=dict)  # by clip, by label
    worked: int = 0  # pieces of work that were done now
    ledger: Ledger = field(default_factory=Ledger)  # of what models took

    @property
    def failures(self) -> list[tuple[str, str, str]]:
        """Each clip, label and reason of what failed."""
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
    """Annotate all clips of a folder, or one clip, into a folder of labels.

    ``budget`` is the most that the captioner may take, what it took before in the same folder
    among it.
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
    """What annotating would ask, and what it cannot foresee."""

    rows: Sequence[CallForecast]  # by label
    unknown: Mapping[str, int]  # clips, by label that asks, whose labels it needs are not made yet
    broken: Mapping[str, str]  # files that are no clips, and why


def forecast(
    source: Path,
    labels: Sequence[str],
    out: Path,
    captioner: ChatModel,
    parameters: Mapping[str, Mapping[str, Any]] | None = None,
) -> AnnotateForecast:
    """Say what annotating would ask a model, without asking, annotating or writing anything.

    Labels that are there already are read; what asks nobody is not made.
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
    """Return the operators of labels, and of those they need, each after what it needs."""
    names = in_order(list(labels))
    unused = sorted(set(parameters) - set(names))
    if unused:
        raise ReelbenchError(f"{', '.join(unused)} is not among the labels {', '.join(names)}.")
    operators = [load_operator(name, **parameters.get(name, {})) for name in names]
    if captioner is None:
        return operators
    model = digest_of([captioner.card.name, dict(captioner.parameters)])
    return [
        replace(each, model=model) if isinstance(each, ModelOperator) else each
        for each in operators
    ]


def clips_in(source: Path, out: Path | None = None) -> tuple[dict[str, Clip], dict[str, str]]:
    """Return the clips of a folder by name, and the files that cannot be opened, with why.

    Previews that were written into ``out`` are none, wherever that is.
    """
    if source.is_dir():
        drawn = (out or source / "none") / PREVIEWS
        files = [p for p in source.rglob("*") if p.suffix.lower() in ENDINGS and p.is_file()]
        paths = sorted(p for p in files if not p.resolve().is_relative_to(drawn.resolve()))
    elif source.is_file():
        paths = [source]
    else:
        raise ReelbenchError(f"{source} is not there: name a clip, or a folder of them.")
    if not paths:
        raise ReelbenchError(f"{source} holds no clips ({', '.join(sorted(ENDINGS))}).")
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
    """Add what one operator says of all clips to ``found``; what is on the shelf is not redone."""
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
    """What is said where a label that is needed is not there."""
    for fate in ("none", "unknown"):
        if fate in outcome:
            return {fate: f"{label}: {outcome[fate]}"}
    return {"failed": f"it needs {label}, which failed"}


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
            "weights": [sha256_of(name) for name in operator.uses],
            "clip": clip.digest,
            "beside": operator.beside(clip),
            "labels": {name: digest_of(value) for name, value in labels.items()},
        }
    )


def run_operator(operator: Operator, clip: Clip, labels: Labels) -> Outcome:
    """Do one piece of work, in whatever process it is."""
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
        return {"failed": f"what it said is no JSON ({error})"}
    if "value" in outcome and not isinstance(outcome["value"], dict):
        return {"failed": f"what it said is no label ({outcome['value']!r:.60})"}
    return outcome


def _write(found: Annotated, operators: Sequence[Operator]) -> None:
    """Write one file of labels for each clip, and one that says how they were made."""
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
    """Name the clips that show the same, whole or one a piece of the other."""
    prints = {
        name: dict(_values(outcome)).get("fingerprint") for name, outcome in found.outcomes.items()
    }
    pairs = near_duplicate_clips({name: value for name, value in prints.items() if value})
    return [asdict(pair) for pair in pairs]


def _labels_before(path: Path, digest: str) -> dict[str, Any]:
    """What earlier runs said of the same clip, other labels among it."""
    try:
        record = decode_json(path.read_text(encoding="utf-8"))
        return dict(record["labels"]) if record["clip"]["sha256"] == digest else {}
    except (OSError, ValueError, KeyError, TypeError):
        return {}  # there is none, or none of ours


def label_file(out: Path, clip: str) -> Path:
    """Return where the labels of a clip are."""
    return out / "labels" / f"{clip}.json"


def _how(operator: Operator) -> dict[str, Any]:
    return {
        "version": operator.version,
        "parameters": operator.parameters,
        "models": {name: sha256_of(name) for name in operator.uses},
    }


def values_of(found: Annotated, clip: str) -> Labels:
    """Return the values of a clip's labels, those that there are."""
    return dict(_values(found.outcomes[clip]))


def _values(outcome: Mapping[str, Outcome]) -> Iterator[tuple[str, Value]]:
    for name, each in outcome.items():
        if "value" in each:
            yield name, each["value"]
