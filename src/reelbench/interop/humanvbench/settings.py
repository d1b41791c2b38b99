"""How each model of the paper was asked (Table 8), as data for cards and conditions."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any

from reelbench.base.yaml_files import load_yaml


@dataclass(frozen=True, slots=True)
class PaperModel:
    """One row of Table 8; what is not in it is empty."""

    model: str
    size: str
    minutes: float  # for all questions of the paper
    frames: str  # as it is printed
    sampling: str  # the same in our words
    hears: bool = False
    parameters: Mapping[str, Any] = field(default_factory=dict)

    @property
    def card(self) -> dict[str, Any]:
        """The fields of a card for it, but for the endpoint."""
        hears = {"hears": True} if self.hears else {}
        return {"name": self.model, **hears, "parameters": dict(self.parameters)}

    @property
    def condition(self) -> str:
        """The words of ``--condition`` that show it the frames it was shown; empty if unknown."""
        modalities = "V+A+T" if self.hears else "V+T"
        return f"own modalities={modalities} sampling={self.sampling}" if self.sampling else ""


def paper_models() -> list[PaperModel]:
    """Return the models of Table 8 in its order."""
    text = (files(__package__) / "models.yaml").read_text(encoding="utf-8")
    return [PaperModel(**row) for row in load_yaml(text)[0]]
