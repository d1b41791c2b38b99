"""What models were given: of V (video), A (audio) and T (text), by card and condition."""

from collections.abc import Iterable, Mapping
from typing import Any


def given_modalities(model: Mapping[str, Any], condition: Mapping[str, Any]) -> str:
    """Return what a model was given under a condition, from their records in ``run.json``.

    Who does not hear reads subtitles in place of the audio, which is text.
    """
    asked = str(condition.get("modalities", "V+T")).split("+")
    senses = {"V": model.get("sees", True), "A": model.get("hears", False), "T": True}
    return "+".join(letter for letter in asked if senses[letter])


def modalities_in(runs: Iterable[Mapping[str, Any]]) -> dict[tuple[str, str], str]:
    """Return what each model was given under each condition of the records of some runs."""
    return {
        (model["name"], condition["name"]): given_modalities(model, condition)
        for run in runs
        for model in run.get("models", ())
        for condition in run.get("conditions", ())
    }
