"""Write the report of a run."""

import base64
import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from reelbench.base.files import write_atomically
from reelbench.base.limits import decode_json
from reelbench.base.progress import counted, track
from reelbench.data.benchmark import Benchmark
from reelbench.data.items import Item, Span
from reelbench.evaluate.captioners import shared_captioners
from reelbench.media.decode.frames import FrameSpec, frames_of
from reelbench.media.decode.isolated import probe_isolated
from reelbench.media.errors import MediaError
from reelbench.pages import COLOURS, Figure, page
from reelbench.report.classes import class_table
from reelbench.report.comparison import pairs, people, standings
from reelbench.report.criteria import criterion_tables, origins
from reelbench.report.declared import (
    NONE,
    best_cells,
    declared,
    difference_in,
    guessing_rows,
    interval_of,
    measured_in,
    name_of,
    notes_on,
    second_cells,
    signed,
    text_of,
    tier_above,
)
from reelbench.report.figures import figures, shown_tags
from reelbench.report.profile_figures import position_table
from reelbench.report.rows import main_rows, numbers
from reelbench.report.tables import (
    ablation,
    accuracy_of,
    failures,
    judge_orders,
    judged,
    measures,
)
from reelbench.score.coverage import no_score
from reelbench.score.estimates import few_videos
from reelbench.score.predictions import ItemOutcome
from reelbench.score.rounding import fixed, points
from reelbench.score.score import ScoredRuns, score_runs, unanswered_in_words

_FRAMES_PER_VIDEO, _FRAME_SIZE, _FRAME_ENCODING = 12, "long:220", "jpeg:60"
_MOST_FRAMES = 1000  # in one page: about 4.4 MB; with more videos, each shows fewer, or none


def report_run(benchmark: Benchmark, out: Path) -> Path:
    """Score a run, write the report into its folder, and return the path of the page."""
    return write_report(score_runs(benchmark, [out]), out / "report.html")


def write_report(scored: ScoredRuns, path: Path) -> Path:
    """Write one report of runs that were scored together, and return the path of the page."""
    write_atomically(path, _page(scored))
    return path


def _together(runs: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the records of several runs as one, with each model, judge and condition once."""
    merged = dict(runs[0])
    for part in ("models", "judges", "conditions"):
        merged[part] = list(
            {each["name"]: each for run in runs for each in run.get(part, ())}.values()
        )
    return merged


def _captioners(run: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return the captioners of each cascade by its name."""
    pairs = ((each["name"], each.get("parameters") or {}) for each in run["models"])
    return {name: parameters.get("captioners", []) for name, parameters in pairs}


def _page(scored: ScoredRuns) -> str:
    benchmark, scores = scored.benchmark, scored.scores
    run = _together(list(scored.runs.values()))
    tags = _tags(scores)
    results = scores["results"]
    drawn = figures(scores, tags)
    return page(
        __package__,
        "report.html.j2",
        title=benchmark.manifest.title or benchmark.manifest.name,
        styles=["report.css"],
        scripts=["elements.js", "figures.js", "tables.js", "report.js"],
        data=_data(scored, _category(scores, tags), drawn),
        figures=True,
        facts=_facts(scores, len(run["models"])),
        scores=scores,
        tags=tags,
        measures=measures(scores),
        standings=standings(scores),
        pairs=pairs(scores),
        people=people(scores),
        accuracy_of=accuracy_of,
        no_score=no_score,
        few_videos=few_videos,
        sureness=_sureness,
        several_conditions=len({row["condition"] for row in results}) > 1,
        failures=failures(scores) if results else None,
        positions=position_table(scores),
        ablations=[
            (number, ablation(found))
            for number, found in enumerate(scores["ablations"])
            if found["models"]
        ],
        judged=judged(scores),
        criteria=criterion_tables(scores),
        origins=origins(scores),
        classes=class_table(scores, run),
        shared=list(shared_captioners(benchmark.items, _captioners(run))),
        judge_orders=list(zip(judge_orders(scores), scores["judge_orders"], strict=True)),
        declared=[(each, best_cells(each), second_cells(each)) for each in declared(scores)],
        tier_above=tier_above,
        name_of=name_of,
        notes_on=notes_on,
        text_of=text_of,
        measured_in=measured_in,
        difference_in=difference_in,
        guessing_rows=guessing_rows,
        signed=signed,
        interval_of=interval_of,
        nothing=NONE,
        spent=_spent(scored.runs),
        suspects=_suspects(benchmark, scores),
        suspects_note=(scores.get("items") or {}).get("suspects_note"),
        drawings={figure.name: figure for figure in drawn},
        provenance=_provenance(run, scores),
        colours=COLOURS,
        numbers=numbers(scores),
        main=main_rows(scores),
        whole=lambda share: points(share, 0),
        two_digits=lambda value: fixed(value, 2),
        unanswered=lambda row: unanswered_in_words(row) or "none",
        first=lambda tag, value: results[0]["by"][tag][value],  # all have the same items
    )


def _facts(scores: Mapping[str, Any], models: int) -> list[str]:
    """Return the facts under the title: benchmark, items, models."""
    about = scores["benchmark"]
    split = f" of split {about['split']}" if "split" in about else ""
    return [
        counted(about["items"], "item") + split,
        counted(about["videos"], "video"),
        counted(models, "model"),
        f"{about['name']} {about['version']}",
    ]


def _sureness(cell: Mapping[str, Any]) -> str:
    """Return the tooltip of an interval: its standard error and number of videos."""
    error, videos = cell["standard_error"], counted(cell["videos"], "video")
    return videos if error is None else f"standard error {points(error)} points, {videos}"


def _spent(outs: Iterable[Path]) -> dict[str, Mapping[str, Any]]:
    """Return what each model used, from the runs' status files; empty where none used anything."""
    found: dict[str, Mapping[str, Any]] = {}
    for out in outs:
        try:
            spent = decode_json((out / "status.json").read_text(encoding="utf-8"))["spent"]
            found |= {name: each for name, each in spent.items() if each["input_tokens"]}
        except (OSError, ValueError, KeyError, TypeError):
            continue  # a run of an earlier version, or one that was killed
    return found


def _suspects(benchmark: Benchmark, scores: Mapping[str, Any]) -> list[dict[str, Any]]:
    items = {item.id: item for item in benchmark.items}
    found = (scores.get("items") or {}).get("suspects", ())
    return [{**suspect, "question": items[suspect["id"]].question} for suspect in found[:50]]


def _tags(scores: Mapping[str, Any]) -> list[str]:
    """The tags to show: those with more than one value, the benchmark's own first."""
    tags = [tag for tag in shown_tags(scores) if len(scores["chance"]["by"][tag]) > 1]
    return tags or list(scores["chance"]["by"])[:1]


def _category(scores: Mapping[str, Any], tags: Sequence[str]) -> str:
    """The tag by which items can be picked: one that they carry."""
    return next((tag for tag in tags if tag in scores["tags"]), "kind")


def _provenance(run: Mapping[str, Any], scores: Mapping[str, Any]) -> dict[str, str]:
    benchmark, versions = run["benchmark"], run["versions"]
    conditions = {
        f"Condition {condition['name']}": _condition_in_words(condition)
        for condition in run["conditions"]
    }
    judges = "; ".join(judge["name"] for judge in run.get("judges", ()))
    return {
        "Benchmark": f"{benchmark['name']} {benchmark['version']}, sha256 {benchmark['digest']}",
        **({"Split": benchmark["split"]} if "split" in benchmark else {}),
        "Media": f"sha256 {benchmark['media_digest']}",
        "Models": "; ".join(
            f"{model['name']} {json.dumps(model['parameters'])}" for model in run["models"]
        ),
        **conditions,
        **({"Judges": judges} if judges else {}),
        "Majority": f"over option orders and rounds; {scores['ties']}",
        "Seed": str(run["seed"]),
        "Versions": ", ".join(f"{name} {version}" for name, version in versions.items()),
    }


def _condition_in_words(condition: Mapping[str, Any]) -> str:
    """Return the settings of a condition as one line of text."""
    shown = [condition["sampling"], condition["frame_size"], condition["frame_encoding"]]
    words = [condition["modalities"]]
    words += filter(None, shown) if "V" in condition["modalities"] else []
    words += [condition["sound_encoding"]] if "A" in condition["modalities"] else []
    flags = {
        "timestamps": "timestamps",
        "subtitles": "subtitles",
        "accept_damage": "also of damaged media",
    }
    words += [text for name, text in flags.items() if condition[name]]
    words.append(f"option orders {condition['orders']}")
    words += [f"{condition['rounds']} rounds"] if condition["rounds"] > 1 else []
    return f"{', '.join(words)}; prompt {condition['prompt']}, sha256 {condition['prompt_digest']}"


def _data(scored: ScoredRuns, tag: str, drawn: Sequence[Figure]) -> dict[str, Any]:
    benchmark, scores, outcomes = scored.benchmark, scored.scores, scored.outcomes
    ranked = [(row["model"], row["condition"]) for row in scores["results"]]
    asked = ranked or list(outcomes)  # where nothing is scored, nothing is ranked
    several = len({condition for _, condition in asked}) > 1
    return {
        "models": [f"{model}, {condition}" if several else model for model, condition in asked],
        "tag": tag,
        "categories": list(scores["chance"]["by"].get(tag, ())),
        "items": [
            _item(item, [outcomes[a].get(item.id) for a in asked], tag) for item in benchmark.items
        ],
        "frames": _frames(benchmark),
        "figures": {figure.name: figure.to_record() for figure in drawn},
    }


def _item(item: Item, outcomes: Sequence[ItemOutcome | None], tag: str) -> dict[str, Any]:
    return {
        "id": item.id,
        "kind": item.kind,
        "question": item.question,
        "options": item.options,
        "answer": item.answer,
        "reference": item.reference or "",
        "category": item.tag(tag) or (item.kind,),
        "videos": [media.path for media in item.media],
        "evidence": item.evidence,
        "replies": [_reply(item, outcome) for outcome in outcomes],
    }


def _reply(item: Item, outcome: ItemOutcome | None) -> dict[str, Any]:
    """Return a model's answer to an item: right, wrong, or none that can be scored."""
    if outcome is None:
        return {"verdict": "none", "text": "not asked"}
    if item.kind == "open" and any(turn.replied for turn in outcome.turns):
        verdict = "unscored"
    elif outcome.answer is None:
        verdict = "none"
    else:
        verdict = "right" if outcome.answer == frozenset(item.answer) else "wrong"
    replies = dict.fromkeys(turn.reply for turn in outcome.turns)
    if len(outcome.turns) == 1:
        return {"verdict": verdict, "text": outcome.turns[0].reply}
    chosen = ", ".join(sorted(outcome.answer or ())) or "no answer"
    return {"verdict": verdict, "text": f"{chosen} by majority of: {' | '.join(replies)}"}


def _frames(benchmark: Benchmark) -> dict[str, list[dict[str, Any]]]:
    """A few small pictures of every video that can be opened, some within its evidence."""
    evidence: dict[str, list[Span]] = defaultdict(list)
    for item in benchmark.items:
        for media in item.media:
            evidence[media.path] += item.evidence
    most = min(_FRAMES_PER_VIDEO, max(1, _MOST_FRAMES // max(1, len(evidence))))
    shown = sorted(evidence)[:: -(-len(evidence) // _MOST_FRAMES) or 1]
    pictures: dict[str, list[dict[str, Any]]] = {}
    for path in track(shown, "Picking frames for the report", len(shown), "videos"):
        try:
            pictures[path] = _pictures(benchmark.root / path, evidence[path], most)
        except MediaError:
            continue  # its questions are listed as failures, with the reason
    return pictures


def _pictures(path: Path, evidence: Sequence[Span], most: int) -> list[dict[str, Any]]:
    duration = probe_isolated(path).duration
    times = ",".join(f"{time:.3f}" for time in _moments(duration, evidence, most))
    clip = frames_of(path, FrameSpec(f"times:{times}", size=_FRAME_SIZE, encoding=_FRAME_ENCODING))
    kind = f"data:{clip.media_type};base64,"
    return [
        {"time": round(picture.time, 2), "image": kind + base64.b64encode(picture.data).decode()}
        for picture in clip.pictures
    ]


def _moments(duration: float, evidence: Sequence[Span], most: int) -> list[float]:
    """Spread half of the pictures evenly, and put the others where evidence has none."""
    half = max(1, most // 2)
    times = [(number + 0.5) * duration / half for number in range(half)]
    for start, end in sorted(evidence, key=lambda span: (span[1] - span[0], span)):
        if len(times) < most and not any(start <= time <= end for time in times):
            times.append(max(0.0, min((start + end) / 2, duration - 0.001)))
    return sorted(times)
