"""Write the report of a run."""

import base64
import json
from collections import defaultdict
from collections.abc import Mapping
from importlib.resources import files
from io import BytesIO
from pathlib import Path
from typing import Any

from jinja2 import Environment, StrictUndefined
from PIL import Image

from reelbench import __version__
from reelbench.benchmark import Benchmark
from reelbench.files import write_atomically
from reelbench.items import Item
from reelbench.media.decode import frames_at
from reelbench.media.errors import MediaError
from reelbench.media.probe import probe
from reelbench.progress import track

# Okabe and Ito's colours, which the colour-blind tell apart.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#999999")
_FRAMES_PER_VIDEO, _FRAME_WIDTH, _FRAME_QUALITY = 8, 220, 60


def write_report(
    benchmark: Benchmark,
    run: Mapping[str, Any],
    scores: Mapping[str, Any],
    predictions: Path,
    out: Path,
) -> None:
    """Write one HTML file with everything in it."""
    tags = _tags(scores)
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True)
    page = environment.from_string(_own("page.html.j2")).render(
        title=benchmark.manifest.title or benchmark.manifest.name,
        scores=scores,
        tags=tags,
        several_conditions=len({row["condition"] for row in scores["results"]}) > 1,
        provenance=_provenance(run, scores),
        colours=COLOURS,
        percent=lambda share: f"{100 * share:.1f}%",
        failures=_failures,
        count=lambda tag, value: scores["results"][0]["by"][tag][value]["items"],
        version=__version__,
        style=_own("style.css"),
        script=_own("script.js"),
        plotly=files("plotly").joinpath("package_data/plotly.min.js").read_text("utf-8"),
        data=_embedded(_data(benchmark, scores, predictions, tags[0])),
    )
    write_atomically(out, page)


def _own(name: str) -> str:
    return files(__package__).joinpath(name).read_text("utf-8")


def _embedded(data: Any) -> str:
    """JSON inside a script element: no text in it can end the element."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return text.replace("<", "\\u003c")


def _tags(scores: Mapping[str, Any]) -> list[str]:
    """The tags to show: those with more than one value, kinds last."""
    tags = [tag for tag, values in scores["chance"]["by"].items() if len(values) > 1]
    return sorted(tags, key=lambda tag: (tag == "kind", tag)) or ["kind"]


def _provenance(run: Mapping[str, Any], scores: Mapping[str, Any]) -> dict[str, str]:
    benchmark, versions = run["benchmark"], run["versions"]
    condition = run["conditions"][0]
    return {
        "Benchmark": f"{benchmark['name']} {benchmark['version']}, sha256 {benchmark['digest']}",
        "Media": f"sha256 {benchmark['media_digest']}",
        "Models": "; ".join(
            f"{model['name']} {json.dumps(model['parameters'])}" for model in run["models"]
        ),
        "Frames": condition["sampling"] + (", with timestamps" if condition["timestamps"] else ""),
        "Prompt": f"{condition['prompt']}, sha256 {condition['prompt_digest']}",
        "Option orders": f"{condition['orders']} (ties: {scores['ties']})",
        "Seed": str(run["seed"]),
        "Versions": ", ".join(f"{name} {version}" for name, version in versions.items()),
    }


def _failures(row: Mapping[str, Any]) -> str:
    """Say in words what did not end in an answer."""
    failed = [f"{n} {status}" for status, n in row["statuses"].items() if status != "ok"]
    if row["missing"]:
        failed.append(f"{row['missing']} not asked")
    unread = row["statuses"].get("ok", 0) - row["answered"]
    if unread > 0 and not failed:
        failed.append(f"{unread} without a readable answer")
    return ", ".join(failed) or "none"


def _data(
    benchmark: Benchmark, scores: Mapping[str, Any], predictions: Path, tag: str
) -> dict[str, Any]:
    models = [row["model"] for row in scores["results"]]
    replies = _replies(predictions)
    return {
        "models": models,
        "categories": list(scores["chance"]["by"][tag]),
        "items": [_item(item, models, replies, tag) for item in benchmark.items],
        "frames": _frames(benchmark),
        "figure": _figure(scores, tag),
    }


def _replies(predictions: Path) -> dict[tuple[str, str], dict[str, Any]]:
    """The reply to each item in the first order, by model."""
    replies: dict[tuple[str, str], dict[str, Any]] = {}
    for line in predictions.read_text("utf-8").splitlines():
        row = json.loads(line)
        replies.setdefault((row["id"], row.get("model", predictions.stem)), row)
    return replies


def _item(
    item: Item, models: list[str], replies: Mapping[tuple[str, str], dict[str, Any]], tag: str
) -> dict[str, Any]:
    return {
        "id": item.id,
        "kind": item.kind,
        "question": item.question,
        "options": item.options,
        "answer": item.answer,
        "category": [item.kind] if tag == "kind" else item.tag(tag),
        "videos": [media.path for media in item.media],
        "evidence": item.evidence,
        "replies": [_reply(item, replies.get((item.id, model))) for model in models],
    }


def _reply(item: Item, row: Mapping[str, Any] | None) -> dict[str, Any]:
    if row is None:
        return {"right": False, "text": "not asked"}
    if row.get("status", "ok") != "ok":
        return {"right": False, "text": f"{row['status']}: {row.get('error') or ''}"}
    right = set(row.get("parsed") or ()) == set(item.answer)
    return {"right": right, "text": row.get("response") or ", ".join(row.get("parsed") or ())}


def _frames(benchmark: Benchmark) -> dict[str, list[dict[str, Any]]]:
    """A few small pictures of every video that can be opened."""
    paths = sorted({media.path for item in benchmark.items for media in item.media})
    pictures: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for path in track(paths, "Picking frames for the report", len(paths), "videos"):
        try:
            duration = probe(benchmark.root / path).duration
            times = [(n + 0.5) * duration / _FRAMES_PER_VIDEO for n in range(_FRAMES_PER_VIDEO)]
            for frame in frames_at(benchmark.root / path, times):
                pictures[path].append({"time": round(frame.time, 2), "image": _small(frame.image)})
        except MediaError:
            continue  # its questions are listed as failures, with the reason
    return pictures


def _small(image: Any) -> str:
    picture = Image.fromarray(image)
    picture.thumbnail((_FRAME_WIDTH, _FRAME_WIDTH))
    data = BytesIO()
    picture.save(data, "JPEG", quality=_FRAME_QUALITY)
    return "data:image/jpeg;base64," + base64.b64encode(data.getvalue()).decode()


def _figure(scores: Mapping[str, Any], tag: str) -> dict[str, Any]:
    """Accuracy by category as points with intervals, one colour a model."""
    traces: list[dict[str, Any]] = []
    for number, row in enumerate(scores["results"]):
        cells = row["by"][tag]
        shares = [100 * cell["accuracy"] for cell in cells.values()]
        traces.append(
            {
                "type": "bar",
                "name": row["model"],
                "x": list(cells),
                "y": shares,
                "marker": {"color": COLOURS[number % len(COLOURS)]},
                "error_y": {
                    "type": "data",
                    "symmetric": False,
                    "array": [100 * c["interval"][1] - 100 * c["accuracy"] for c in cells.values()],
                    "arrayminus": [
                        100 * c["accuracy"] - 100 * c["interval"][0] for c in cells.values()
                    ],
                    "color": "#888",
                    "thickness": 1.2,
                    "width": 3,
                },
                "hovertemplate": "%{x}: %{y:.1f}%<extra>" + row["model"] + "</extra>",
            }
        )
    chance = scores["chance"]["by"][tag]
    traces.append(
        {
            "type": "scatter",
            "mode": "markers",
            "name": "chance",
            "x": list(chance),
            "y": [100 * share for share in chance.values()],
            "marker": {"symbol": "line-ew", "size": 26, "line": {"width": 2, "color": "#777"}},
            "hovertemplate": "chance %{y:.1f}%<extra></extra>",
        }
    )
    layout = {
        "barmode": "group",
        "autosize": True,
        "margin": {"l": 50, "r": 10, "t": 10, "b": 60},
        "legend": {"orientation": "h", "y": 1.12},
        "yaxis": {"title": {"text": "accuracy, %"}, "range": [0, 105]},
        "xaxis": {},
    }
    return {"data": traces, "layout": layout}
