"""Write the report of a run."""

import base64
import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

from jinja2 import Environment, StrictUndefined
from markupsafe import escape

from reelbench import __version__
from reelbench.benchmark import Benchmark
from reelbench.evaluate.folder import read_run
from reelbench.files import canonical_json, write_atomically
from reelbench.items import Item, Span
from reelbench.media.errors import MediaError
from reelbench.media.frames import Wish, frames_of
from reelbench.media.safely import probe_safely
from reelbench.progress import track
from reelbench.score.predictions import Outcome, read_predictions
from reelbench.score.score import score_folder, unanswered_in_words

# Okabe and Ito's colours, which the colour-blind tell apart.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#999999")
_FRAMES_PER_VIDEO, _FRAME_SIZE, _FRAME_ENCODING = 12, "long:220", "jpeg:60"
_MOST_FRAMES = 1600  # in one page: about 7 MB; with more videos, each shows fewer


def report_run(benchmark: Benchmark, out: Path, page: Path | None = None) -> Path:
    """Write the report of a run, into its folder or elsewhere, and return where it is."""
    run = read_run(out)
    predictions = out / "predictions.jsonl"
    page = page or out / "report.html"
    scores = score_folder(benchmark, out, run["seed"])
    write_atomically(page, _page(benchmark, run, scores, predictions))
    return page


def _page(
    benchmark: Benchmark, run: Mapping[str, Any], scores: Mapping[str, Any], predictions: Path
) -> str:
    tags = _tags(scores)
    results = scores["results"]
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True)
    return environment.from_string(_own("page.html.j2")).render(
        title=benchmark.manifest.title or benchmark.manifest.name,
        scores=scores,
        tags=tags,
        several_conditions=len({row["condition"] for row in results}) > 1,
        provenance=_provenance(run, scores),
        colours=COLOURS,
        percent=lambda share: f"{100 * share:.1f}%",
        whole=lambda share: f"{100 * share:.0f}",
        models=len(run["models"]),
        counted=lambda number, thing: f"{number:,} {thing}{'' if number == 1 else 's'}",
        failures=lambda row: unanswered_in_words(row) or "none",
        count=lambda tag, value: results[0]["by"][tag][value]["items"],
        version=__version__,
        style=_own("style.css"),
        script=_own("script.js"),
        plotly=files("plotly").joinpath("package_data/plotly.min.js").read_text("utf-8"),
        data=_embedded(_data(benchmark, scores, predictions, tags[0] if tags else "kind")),
    )


def _own(name: str) -> str:
    return files(__package__).joinpath(name).read_text("utf-8")


def _embedded(data: Any) -> str:
    """JSON inside a script element: no text in it can end the element."""
    return canonical_json(data).replace("<", "\\u003c")


def _tags(scores: Mapping[str, Any]) -> list[str]:
    """The tags to show: those with more than one value, kinds last."""
    tags = [tag for tag, values in scores["chance"]["by"].items() if len(values) > 1]
    return sorted(tags, key=lambda tag: (tag == "kind", tag)) or list(scores["chance"]["by"])[:1]


def _provenance(run: Mapping[str, Any], scores: Mapping[str, Any]) -> dict[str, str]:
    benchmark, versions = run["benchmark"], run["versions"]
    conditions = {
        f"Condition {condition['name']}": _condition_in_words(condition)
        for condition in run["conditions"]
    }
    judges = "; ".join(judge["name"] for judge in run.get("judges", ()))
    return {
        "Benchmark": f"{benchmark['name']} {benchmark['version']}, sha256 {benchmark['digest']}",
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
    """All that is asked and how, in the words of the protocol."""
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


def _data(
    benchmark: Benchmark, scores: Mapping[str, Any], predictions: Path, tag: str
) -> dict[str, Any]:
    outcomes = read_predictions(predictions, benchmark)
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
        "figure": _figure(scores, tag),
    }


def _item(item: Item, outcomes: Sequence[Outcome | None], tag: str) -> dict[str, Any]:
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


def _reply(item: Item, outcome: Outcome | None) -> dict[str, Any]:
    """What a model made of an item: right, wrong, or nothing one could score."""
    if outcome is None:
        return {"verdict": "none", "text": "not asked"}
    if item.kind == "open" and "ok" in outcome.statuses:
        verdict = "unscored"
    elif outcome.answer is None:
        verdict = "none"
    else:
        verdict = "right" if outcome.answer == frozenset(item.answer) else "wrong"
    replies = dict.fromkeys(outcome.replies)
    if len(outcome.replies) == 1:
        return {"verdict": verdict, "text": outcome.replies[0]}
    chosen = ", ".join(sorted(outcome.answer or ())) or "no answer"
    return {"verdict": verdict, "text": f"{chosen} by majority of: {' | '.join(replies)}"}


def _frames(benchmark: Benchmark) -> dict[str, list[dict[str, Any]]]:
    """A few small pictures of every video that can be opened, some within its evidence."""
    evidence: dict[str, list[Span]] = defaultdict(list)
    for item in benchmark.items:
        for media in item.media:
            evidence[media.path] += item.evidence
    most = min(_FRAMES_PER_VIDEO, _MOST_FRAMES // max(1, len(evidence)))
    pictures: dict[str, list[dict[str, Any]]] = {}
    for path in track(sorted(evidence), "Picking frames for the report", len(evidence), "videos"):
        try:
            pictures[path] = _pictures(benchmark.root / path, evidence[path], most)
        except MediaError:
            continue  # its questions are listed as failures, with the reason
    return pictures


def _pictures(path: Path, evidence: Sequence[Span], most: int) -> list[dict[str, Any]]:
    duration = probe_safely(path).duration
    times = ",".join(f"{time:.3f}" for time in _moments(duration, evidence, most))
    clip = frames_of(path, Wish(f"times:{times}", size=_FRAME_SIZE, encoding=_FRAME_ENCODING))
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


def _figure(scores: Mapping[str, Any], tag: str) -> dict[str, Any]:
    """Accuracy by category as points with intervals, one colour a model, and chance as dashes."""
    rows = [row for row in scores["results"] if tag in row["by"]]
    several = len({row["condition"] for row in rows}) > 1
    chance = [100 * share for share in scores["chance"]["by"].get(tag, {}).values()]
    dashes = [
        {
            "type": "line",
            "x0": place - 0.42,
            "x1": place + 0.42,
            "y0": share,
            "y1": share,
            "line": {"color": "#808080", "dash": "dash", "width": 2},
        }
        for place, share in enumerate(chance)
    ]
    layout = {
        "scattermode": "group",
        "scattergap": 0.35,
        "autosize": True,
        "margin": {"l": 50, "r": 10, "t": 10, "b": 64},
        "showlegend": False,
        "shapes": dashes,
        "yaxis": {"title": {"text": "accuracy, %"}, "range": [-3, 103]},
        "xaxis": {"type": "category"},
    }
    return {
        "data": [_points(row, tag, number, several) for number, row in enumerate(rows)],
        "layout": layout,
    }


def _points(row: Mapping[str, Any], tag: str, number: int, several: bool) -> dict[str, Any]:
    cells, colour = row["by"][tag].values(), COLOURS[number % len(COLOURS)]
    name = f"{row['model']}, {row['condition']}" if several else row["model"]
    return {
        "type": "scatter",
        "mode": "markers",
        "name": name,
        "x": _as_text(row["by"][tag]),
        "y": [100 * cell["accuracy"] for cell in cells],
        "marker": {"color": colour, "size": 11},
        "error_y": {
            "type": "data",
            "symmetric": False,
            "array": [100 * (cell["interval"][1] - cell["accuracy"]) for cell in cells],
            "arrayminus": [100 * (cell["accuracy"] - cell["interval"][0]) for cell in cells],
            "color": colour,
            "thickness": 2,
            "width": 0,
        },
        "hovertemplate": "%{x}: %{y:.1f}%<extra>" + str(escape(name)) + "</extra>",
        "offsetgroup": str(number),
    }


def _as_text(names: Iterable[str]) -> list[str]:
    """Plotly reads some HTML in labels: show it instead."""
    return [str(escape(name)) for name in names]
