"""Everything that decides the numbers of a report, as it stands at the end of the page."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from reelbench import __version__
from reelbench.evaluate.selected import items_in_words
from reelbench.score.score import ScoredRuns


def merged_run(scored: ScoredRuns) -> dict[str, Any]:
    """Return the records of all runs as one, with each model, judge and condition once.

    Of predictions without a run, the names of the models are all that is known.
    """
    runs = list(scored.runs.values())
    if not runs:
        models = dict.fromkeys(model for model, _ in scored.outcomes)
        return {"models": [{"name": model} for model in models], "judges": [], "conditions": []}
    merged = dict(runs[0])
    for part in ("models", "judges", "conditions"):
        merged[part] = list(
            {each["name"]: each for run in runs for each in run.get(part, ())}.values()
        )
    return merged


def provenance(scored: ScoredRuns) -> dict[str, str]:
    """Return what decides the numbers, by its name."""
    run, about = merged_run(scored), scored.scores["benchmark"]
    chosen = {"Items": items_in_words(scored.benchmark)} if "selection" in about else {}
    majority = {"Majority": f"over option orders and rounds; {scored.scores['ties']}"}
    if not scored.runs:
        return {
            "Benchmark": f"{about['name']} {about['version']}, sha256 {about['digest']}",
            **chosen,
            "Predictions": "; ".join(scored.files),
            "Models": "; ".join(model["name"] for model in run["models"]),
            **majority,
            "Versions": f"reelbench {__version__}",
        }
    benchmark = run["benchmark"]
    judges = "; ".join(judge["name"] for judge in run["judges"])
    return {
        "Benchmark": f"{benchmark['name']} {benchmark['version']}, sha256 {benchmark['digest']}",
        **chosen,
        "Media": f"sha256 {benchmark['media_digest']}",
        "Models": "; ".join(
            f"{model['name']} {json.dumps(model['parameters'])}" for model in run["models"]
        ),
        **_conditions(run["conditions"]),
        **({"Judges": judges} if judges else {}),
        **({"Predictions beside it": "; ".join(scored.files)} if scored.files else {}),
        **majority,
        "Seed": str(run["seed"]),
        "Versions": ", ".join(f"{name} {version}" for name, version in run["versions"].items()),
    }


def _conditions(conditions: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    return {f"Condition {each['name']}": _condition_in_words(each) for each in conditions}


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
