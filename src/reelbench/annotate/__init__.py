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
    "clips_in",
    "load_operator",
    "operators_for",
    "run_operator_over",
    "values_of",
]

if TYPE_CHECKING:
    from reelbench.annotate.annotate import (
        Annotated,
        clips_in,
        operators_for,
        run_operator_over,
        values_of,
    )
    from reelbench.annotate.operator import Clip, Labels, NotApplicable, Operator
    from reelbench.annotate.registry import OPERATORS, load_operator

_HOMES = {
    "Annotated": "annotate",
    "Clip": "operator",
    "Labels": "operator",
    "NotApplicable": "operator",
    "OPERATORS": "registry",
    "Operator": "operator",
    "clips_in": "annotate",
    "load_operator": "registry",
    "operators_for": "annotate",
    "run_operator_over": "annotate",
    "values_of": "annotate",
}
__getattr__, __dir__ = lazily(__name__, _HOMES)
