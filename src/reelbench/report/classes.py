"""Models by class: what each took in, and whether it answered from captions."""

from collections.abc import Mapping
from typing import Any

from reelbench.pages.table import Table
from reelbench.score.given import given_modalities
from reelbench.score.rounding import percent

CLASSES = ("audio-visual", "video-only", "audio-only", "text-only", "cascaded")


def model_class(model: Mapping[str, Any], condition: Mapping[str, Any]) -> str:
    """Return the class of a model under a condition, from their records in ``run.json``."""
    given = given_modalities(model, condition)
    sees, hears = "V" in given, "A" in given
    if (model.get("parameters") or {}).get("captioners") and (sees or hears):
        return "cascaded"
    if sees and hears:
        return "audio-visual"
    return "video-only" if sees else "audio-only" if hears else "text-only"


def class_table(scores: Mapping[str, Any], run: Mapping[str, Any]) -> Table:
    """Return accuracy by class of models; it has no rows where all are of one class.

    Official is over the items that were asked, those without an answer wrong; beside it stands that
    of the items that were answered, with how many these are.
    """
    models = {each["name"]: each for each in run["models"]}
    conditions = {each["name"]: each for each in run.get("conditions", ())}
    found = []
    for row in scores["results"]:
        if row["model"] in models and row["condition"] in conditions:
            name = model_class(models[row["model"]], conditions[row["condition"]])
            found.append((CLASSES.index(name), row))
    found.sort(key=lambda each: (each[0], -(each[1]["accuracy"] or 0)))
    rows = [
        [
            CLASSES[place].capitalize(),
            row["model"],
            row["condition"],
            "" if row["accuracy"] is None else percent(row["accuracy"]),
            percent(row["coverage"]),
            "" if row["accuracy_of_answered"] is None else percent(row["accuracy_of_answered"]),
        ]
        for place, row in found
    ]
    columns = ["Class", "Model", "Condition", "Official", "Answered", "Of answered"]
    several = len({place for place, _ in found}) > 1
    return Table("classes", "Accuracy by class of models", columns, rows if several else [])
