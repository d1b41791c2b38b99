"""Annotates clips: runs the requested operators, and those they need, on every clip."""

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from reelbench.annotate.ask_model import ModelOperator
from reelbench.annotate.asking import (
    AskingModel,
    ForecastEngine,
    ForecastingModel,
    ReadOnlyResultStore,
)
from reelbench.annotate.label_files import LabelFiles
from reelbench.annotate.labelling import LIMIT, Ask, label_clips
from reelbench.annotate.operator import Clip, Operator
from reelbench.annotate.outcomes import Annotated
from reelbench.annotate.registry import in_order, load_operator
from reelbench.base.durable import (
    RESULT_SCHEMA,
    open_durable,
    open_in_memory,
    open_result_store,
)
from reelbench.base.errors import ReelbenchError
from reelbench.base.files import digest_of
from reelbench.base.progress import track
from reelbench.client.budget import Budget
from reelbench.client.forecast import CallForecast
from reelbench.client.session import open_session
from reelbench.data.paths import SOUND_ENDINGS, VIDEO_ENDINGS
from reelbench.engine.base import Engine
from reelbench.media.decode.isolated import probe_isolated
from reelbench.media.digests import media_digest
from reelbench.media.errors import MediaError
from reelbench.models.base import ChatModel

ENDINGS = frozenset(VIDEO_ENDINGS + SOUND_ENDINGS)
PREVIEWS = "preview"  # the folder of drawn copies


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
    paths = _clip_paths(source, out)
    with ExitStack() as stack:
        ask: Ask | None = None
        session = None
        if captioner is not None and any(isinstance(each, ModelOperator) for each in operators):
            opened = open_session(out / "journal.sqlite", [captioner], budget)
            session = stack.enter_context(opened)
            ask = AskingModel(session, captioner).ask
        out.mkdir(parents=True, exist_ok=True)
        store = stack.enter_context(open_result_store(out / "labels.sqlite"))
        clips, broken = _open_clips(source, paths)
        found = Annotated(out, clips, broken, {name: {} for name in clips})
        if session is not None:
            found.ledger = session.ledger
        with LabelFiles(found, operators) as files:
            label_clips(found, operators, store, engine, limit, ask, files.update)
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
        ask = ForecastingModel(session, captioner, rows).ask
        label_clips(found, operators, store, ForecastEngine(), ask=ask, title="Counting")
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
    return _open_clips(source, _clip_paths(source, out))


def _clip_paths(source: Path, out: Path | None) -> list[Path]:
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
    return paths


def _open_clips(source: Path, paths: Sequence[Path]) -> tuple[dict[str, Clip], dict[str, str]]:
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
