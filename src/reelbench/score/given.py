"""What models were given: of V (video), A (audio) and T (text), and how many frames."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from reelbench.base.files import canonical_json
from reelbench.media.decode.sample import parse_sampling
from reelbench.score.ablation import settings_as_asked


@dataclass(frozen=True, slots=True)
class Given:
    """What a model was given under a condition; two that are equal are the same requests."""

    modalities: str = ""  # such as V+T; empty where it is not known
    frames: str = ""  # such as 32, or 0.1 fps; empty where there were none, or it is not known
    settings: str = ""  # all else that the condition says, as JSON


def given_in(runs: Iterable[Mapping[str, Any]]) -> dict[tuple[str, str], Given]:
    """Return what each model was given under each condition of the records of some runs."""
    return {
        (model["name"], condition["name"]): _given(model, condition)
        for run in runs
        for model in run.get("models", ())
        for condition in run.get("conditions", ())
    }


def _given(model: Mapping[str, Any], condition: Mapping[str, Any]) -> Given:
    modalities = given_modalities(model, condition)
    frames = _frames(model, condition) if "V" in modalities else ""
    others = {n: v for n, v in settings_as_asked(condition).items() if n != "sampling"}
    return Given(modalities, frames, canonical_json(others))


def given_modalities(model: Mapping[str, Any], condition: Mapping[str, Any]) -> str:
    """Return what a model was given under a condition, from their records in ``run.json``.

    Who does not hear reads subtitles in place of the audio, which is text.
    """
    asked = str(condition.get("modalities", "V+T")).split("+")
    senses = {"V": model.get("sees", True), "A": model.get("hears", False), "T": True}
    return "+".join(letter for letter in asked if senses[letter])


def _frames(model: Mapping[str, Any], condition: Mapping[str, Any]) -> str:
    """Return how many frames were shown: what was asked for, cut down to what the model takes."""
    if model.get("video") in ("clip", "file"):
        return "video"
    if not condition.get("sampling"):
        return ""
    sampling = parse_sampling(condition["sampling"])
    if not sampling.moments:
        sampling = sampling.at_most(model.get("frames", 0))
    if sampling.text == f"uniform:{sampling.count}":
        return str(sampling.count)
    if sampling.rate is None or sampling.evidence:
        return sampling.text
    most = f", at most {sampling.most}" if sampling.most else ""
    return f"{sampling.rate:g} fps{most}"
