"""Predictions in anyone's file: columns, ids and answers are found, and how is said."""

from reelbench.interop.predictions.answers import PREDICTION_FORMS
from reelbench.interop.predictions.read import ROLES, prediction_files, read_anyones

__all__ = ["PREDICTION_FORMS", "ROLES", "prediction_files", "read_anyones"]
