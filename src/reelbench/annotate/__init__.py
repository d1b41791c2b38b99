"""Operators, which make labels of clips, and what runs them. One operator, one file, one label."""

from typing import TYPE_CHECKING

from reelbench.base.lazy import lazily

__all__ = [
    "OPERATORS",
    "Annotated",
    "Clip",
    "Labels",
    "NotApplicable",
    "Operator",
    "PartOperator",
    "clips_in",
    "label_clips",
    "load_operator",
    "operators_for",
    "values_of",
]

if TYPE_CHECKING:
    from reelbench.annotate.annotate import clips_in, operators_for
    from reelbench.annotate.labelling import label_clips
    from reelbench.annotate.operator import Clip, Labels, NotApplicable, Operator, PartOperator
    from reelbench.annotate.outcomes import Annotated, values_of
    from reelbench.annotate.registry import OPERATORS, load_operator

_HOMES = {
    "Annotated": "outcomes",
    "Clip": "operator",
    "Labels": "operator",
    "NotApplicable": "operator",
    "OPERATORS": "registry",
    "Operator": "operator",
    "PartOperator": "operator",
    "clips_in": "annotate",
    "label_clips": "labelling",
    "load_operator": "registry",
    "operators_for": "annotate",
    "values_of": "outcomes",
}
__getattr__, __dir__ = lazily(__name__, _HOMES)
