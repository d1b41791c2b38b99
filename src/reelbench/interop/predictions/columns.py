"""Which column of a file of predictions has what: by name, and never the key for the prediction."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from reelbench.interop.imports.column_names import ANSWER, ID, REFERENCE, name_key
from reelbench.interop.imports.values import text_of as cell_text
from reelbench.interop.records import SourceRecord

Values = dict[str, Any]  # of one row, by column; "doc/question" for what lies in an object

# Names as ``name_key`` spells them, the more telling ones first. A reply comes before what someone
# made of it, since a parser is to read it.
PREDICTIONS = (
    "response", "responses", "modelresponse", "rawresponse", "fullresponse", "llmresponse",
    "responsetext", "reply", "modelreply", "output", "outputs", "modeloutput", "rawoutput",
    "outputtext", "generatedtext", "generated", "generation", "completion", "resps",
    "filteredresps", "prediction", "predictions", "modelprediction", "rawprediction", "pred",
    "preds", "modelanswer", "answerpred", "predanswer", "predictedanswer", "predicted",
    "predictedoption", "predoption", "predictedlabel", "predlabel", "predictedchoice",
    "predchoice", "predictedletter", "predletter", "predictedindex", "predindex", "predid",
    "predindexs", "parsed", "parsedanswer", "parsedpred", "extractedanswer", "extractedpred",
    "modelchoice", "choice", "chosen", "chosenoption", "selected", "selectedoption",
    "selectedanswer", "useranswer", "useroption", "submission", "submittedanswer", "guess", "hyp",
    "hypothesis", "value",
)  # fmt: skip
KEYS = (*ANSWER, *REFERENCE, "trueanswer", "goldlabel", "refanswer")
IDS = (*ID, "item", "itemno", "itemnumber", "itemindex", "itemidx", "questionno", "questionnumber")
CONDITIONS = ("condition",)
PROMPTS = ("input", "inputtext", "fullprompt", "doctotext")


def plain_name(column: str) -> str:
    """Return a column's name as it is compared, without the object that it lies in."""
    return name_key(column.rsplit("/", 1)[-1])


def flat(record: SourceRecord) -> Values:
    """Return the values of a row, with those of the objects in it beside them."""
    values: Values = {}
    for name, value in record.values.items():
        values[name] = value
        if isinstance(value, Mapping):
            values |= {f"{name}/{inner}": each for inner, each in value.items()}
    return values


def columns_called(columns: Sequence[str], names: Sequence[str]) -> list[str]:
    """Return the columns with one of some names, in the order of the names."""
    keys = [(plain_name(column), column) for column in columns]
    return [column for name in names for key, column in keys if key == name]


def prediction_columns(columns: Sequence[str]) -> list[str]:
    """Return the columns that may hold predictions, the likeliest first.

    What lies beside the key in an object about the question, as ``doc`` has it, is no prediction.
    """
    found = columns_called(columns, PREDICTIONS)
    return [column for column in found if not column.startswith(("doc/", "item/"))]


def text_of(value: Any) -> str:
    """Return an id or a name as text: 3.0 is 3, and what is no scalar is nothing."""
    if isinstance(value, bool | list | Mapping):
        return ""
    text = cell_text(value)
    return text[:-2] if re.fullmatch(r"\d+\.0", text) else text
