"""What a table in ``benchmark.yaml`` may have: rows, columns, and what they are held against.

A column chooses items by their tags. A few names in it are no tags: ``mean_of`` (the mean of other
columns), ``against`` (the difference from another column), ``wrong_options_with`` (which wrong
options were chosen), ``measured`` (time, tokens or memory), ``metric`` (what an answer is worth)
and ``condition`` (the answers under which).
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from reelbench.data.fields import Fault, Rule, field_faults, found_as, is_text
from reelbench.data.items import shown

MEAN_OF = "mean_of"
AGAINST = "against"
WRONG_WITH = "wrong_options_with"
MEASURED = "measured"
METRIC = "metric"
CONDITION = "condition"
NOT_TAGS = (MEAN_OF, AGAINST, WRONG_WITH, MEASURED, METRIC, CONDITION)
ACCURACY = "accuracy"
# Means over items of what each answer is worth, from 0 to 1: these alone can be averaged again.
SHARE_METRICS = (ACCURACY, "steady", "exact_match", "precision", "recall", "f1")
POOLED_METRICS = ("precision_micro", "recall_micro", "f1_micro")  # over the options of all items
F1_OF_MEANS = "f1_of_means"  # the harmonic mean of the mean precision and the mean recall
TABLE_METRICS = (*SHARE_METRICS, "caa", F1_OF_MEANS, *POOLED_METRICS)
# How a set of options is guessed; of questions with one right option, each is as likely.
RANDOM_POLICIES = {
    "subsets": "each non-empty set of the options is as likely",
    "coin": "each option is chosen or not with the same probability, and perhaps none is",
    "size": "each number of options is as likely, then each set of so many",
    "two-to-four": "two, three or four options, each number as likely, then each set of so many",
    "one": "one option alone",
    "key-size": "each set of as many options as are right is as likely",
}
MEASURES = ("seconds", "minutes", "input_tokens", "output_tokens", "memory_gb")
AVERAGES = ("models", "tiers")  # rows that are the mean of others
SCORES, DISTRACTORS = "scores", "distractors"  # kinds of tables


def are_texts(value: Any) -> bool:
    """Whether a value is a list of texts, or an empty one."""
    return isinstance(value, list | tuple) and all(map(is_text, value))


def is_mapping(value: Any) -> bool:
    """Whether a value is a mapping with text as keys."""
    return isinstance(value, dict) and all(isinstance(name, str) for name in value)


def table_faults(where: str, name: str, table: Any) -> Iterator[Fault]:
    """Yield all that is wrong with a table of this name."""
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_-]*", name):
        expected = "a name of letters, digits, - and _, since files are named after it"
        yield "BAD_FIELD", where, shown(name), expected
    if not is_mapping(table):
        yield "BAD_FIELD", where, found_as(table), "a mapping with columns"
        return
    yield from field_faults(table, _TABLE, f"{where}.", strict=True)
    yield from _choice_faults(f"{where}.where", table.get("where"))
    yield from _people_faults(f"{where}.people", table.get("people"))
    columns = table.get("columns")
    yield from _condition_faults(where, table, columns if is_mapping(columns) else {})
    if table.get("best_by_tier") is True and not table.get("tiers"):
        expected = "tiers: true as well, which puts models under their tiers"
        yield "BAD_FIELD", f"{where}.best_by_tier", "no tiers", expected
    for column, chosen in columns.items() if is_mapping(columns) else ():
        here = f"{where}.columns.{column}"
        if not is_text(column):
            yield "BAD_FIELD", f"{where}.columns", shown(column), "a name for the column"
        if not is_mapping(chosen):
            expected = "a mapping of tags to their values, {} for all items"
            yield "BAD_FIELD", here, found_as(chosen), expected
            continue
        yield from _column_faults(here, column, columns)
        yield from _metric_faults(here, chosen, table)
        if AGAINST in chosen and AGAINST in table:
            expected = f"{AGAINST} for the table, or for columns, not for both"
            yield "BAD_FIELD", f"{here}.{AGAINST}", shown(str(chosen[AGAINST])), expected


def _column_faults(here: str, column: str, columns: Mapping[str, Any]) -> Iterator[Fault]:
    chosen = columns[column]
    if MEAN_OF in chosen:
        yield from _mean_faults(here, column, columns)
    elif MEASURED in chosen:
        if chosen[MEASURED] not in MEASURES or len(chosen) > 1:
            expected = f"{MEASURED} alone, with one of: {', '.join(MEASURES)}"
            yield "BAD_FIELD", here, shown(str(chosen[MEASURED])), expected
    else:
        tags = {name: value for name, value in chosen.items() if name not in NOT_TAGS}
        yield from _choice_faults(here, tags)
        words = chosen.get(WRONG_WITH, ["-"])
        if not (are_texts(words) and words):
            expected = "a list of beginnings of words, such as [surpris, shock]"
            yield "BAD_FIELD", f"{here}.{WRONG_WITH}", found_as(words), expected
    if AGAINST in chosen and not _is_alike(column, chosen[AGAINST], columns):
        alike = [name for name in columns if _is_alike(column, name, columns)]
        expected = f"another column of the same sort: {', '.join(alike) or 'there is none'}"
        yield "BAD_FIELD", f"{here}.{AGAINST}", shown(str(chosen[AGAINST])), expected


def _metric_faults(
    here: str, chosen: Mapping[str, Any], table: Mapping[str, Any]
) -> Iterator[Fault]:
    """What is wrong with the metric of a column."""
    if METRIC not in chosen or {MEAN_OF, MEASURED} & set(chosen):
        return  # these stand alone, which is checked where they are
    metric, where = chosen[METRIC], f"{here}.{METRIC}"
    if metric not in TABLE_METRICS:
        yield "BAD_FIELD", where, shown(str(metric)), f"one of: {', '.join(TABLE_METRICS)}"
    elif WRONG_WITH in chosen or table.get("kind") == DISTRACTORS:
        expected = "no metric: wrong options are counted, and no answers scored"
        yield "BAD_FIELD", where, shown(metric), expected
    elif metric in POOLED_METRICS and table.get("averages"):
        expected = f"a mean over items where the table has averages: {', '.join(SHARE_METRICS)}"
        yield "BAD_FIELD", where, shown(metric), expected


def _condition_faults(
    where: str, table: Mapping[str, Any], columns: Mapping[str, Any]
) -> Iterator[Fault]:
    """What is wrong with columns that are each about another condition."""
    scored = {
        name: chosen
        for name, chosen in columns.items()
        if is_mapping(chosen) and not {MEAN_OF, MEASURED} & set(chosen)
    }
    named = [name for name, chosen in scored.items() if CONDITION in chosen]
    for name in named:
        if not is_text(scored[name][CONDITION]):
            found = found_as(scored[name][CONDITION])
            yield "BAD_FIELD", f"{where}.columns.{name}.{CONDITION}", found, "a condition's name"
    rest = [name for name in columns if name not in named]
    if named and rest:
        expected = f"a {CONDITION} for each column, or for none"
        yield "BAD_FIELD", f"{where}.columns.{rest[0]}", "none", expected
    for field in ("conditions", AGAINST, "modality", "frames", "averages") if named else ():
        if table.get(field):
            expected = f"no {field} where columns have a {CONDITION} each"
            yield "BAD_FIELD", f"{where}.{field}", found_as(table[field]), expected


def _people_faults(where: str, people: Any) -> Iterator[Fault]:
    if is_mapping(people):
        yield from field_faults(people, _PEOPLE, f"{where}.", strict=True, closed=True)


def _is_alike(column: str, other: Any, columns: Mapping[str, Any]) -> bool:
    """Whether the difference of two columns means something."""
    if other == column or not isinstance(other, str) or not is_mapping(columns.get(other)):
        return False
    sorts = [{WRONG_WITH, MEASURED} & set(columns[name]) for name in (column, other)]
    metrics = [columns[name].get(METRIC, ACCURACY) for name in (column, other)]
    return sorts[0] == sorts[1] and MEASURED not in sorts[0] and metrics[0] == metrics[1]


def _mean_faults(here: str, column: str, columns: Mapping[str, Any]) -> Iterator[Fault]:
    """What is wrong with a column that is the mean of others."""
    parts = columns[column][MEAN_OF]
    others = [name for name in columns[column] if name not in (MEAN_OF, AGAINST)]
    known = {n for n, choice in columns.items() if not is_mapping(choice) or _has_items(choice)}
    if others:
        expected = f"{MEAN_OF} alone: the columns that it averages select the items"
        yield "BAD_FIELD", here, shown(", ".join(map(str, others))), expected
    if not are_texts(parts) or not parts:
        expected = "a list of the names of other columns"
        yield "BAD_FIELD", f"{here}.{MEAN_OF}", found_as(parts), expected
        return
    for part in dict.fromkeys(parts):
        if part not in known:
            expected = "a column of this table that selects items: " + ", ".join(sorted(known))
            yield "BAD_FIELD", f"{here}.{MEAN_OF}", shown(part), expected
        elif parts.count(part) > 1:
            yield "BAD_FIELD", f"{here}.{MEAN_OF}", f"{shown(part)} twice", "each column once"


def _has_items(choice: Mapping[str, Any]) -> bool:
    plain = choice.get(METRIC, ACCURACY) in SHARE_METRICS
    return plain and not {MEAN_OF, WRONG_WITH, MEASURED} & set(choice)


def _choice_faults(where: str, chosen: Any) -> Iterator[Fault]:
    """What is wrong with a choice of items by their tags, if it is one at all."""
    for tag, values in chosen.items() if is_mapping(chosen) else ():
        if not is_text(values) and not (are_texts(values) and values):
            expected = "text or a list of texts (put numbers, yes and no in quotes)"
            yield "BAD_FIELD", f"{where}.{tag}", found_as(values), expected


def _are_bands(value: Any) -> bool:
    """Whether a value is a list of shares that rise."""
    numbers = isinstance(value, list | tuple) and all(type(n) in (int, float) for n in value)
    return numbers and bool(value) and list(value) == sorted({n for n in value if 0 < n <= 1})


def _is_true_or_false(value: Any) -> bool:
    return isinstance(value, bool)


_PEOPLE: dict[str, Rule] = {
    "title": (False, is_text, "text, such as Human expert"),
    "protocol": (True, is_text, "a sentence that says who was asked, and how"),
}
_TABLE: dict[str, Rule] = {
    "title": (False, is_text, 'text (put a number in quotes: "1.0")'),
    "note": (False, is_text, "a sentence to print with the table"),
    "where": (False, is_mapping, "a mapping of tags to their values"),
    "columns": (
        True,
        lambda value: is_mapping(value) and bool(value),
        f"a mapping of columns to tags and their values, {{}} for all items, or {MEAN_OF}",
    ),
    "kind": (False, (SCORES, DISTRACTORS).__contains__, f"{SCORES} or {DISTRACTORS}"),
    "conditions": (
        False,
        lambda value: are_texts(value) and bool(value),
        "a list of names of conditions, whose rows the table has",
    ),
    AGAINST: (False, is_text, "the name of the condition that the others are held against"),
    "averages": (
        False,
        lambda value: are_texts(value) and set(value) <= set(AVERAGES),
        f"a list with some of: {', '.join(AVERAGES)}",
    ),
    "bands": (False, _are_bands, "a list of rising shares of the models, each up to 1"),
    "pooled_chance": (False, _is_true_or_false, "true or false"),
    "modality": (
        False,
        _is_true_or_false,
        "true or false: whether rows tell what models were given",
    ),
    "frames": (False, _is_true_or_false, "true or false: whether rows tell how many were shown"),
    "tiers": (False, _is_true_or_false, "true or false: whether rows stand under their tiers"),
    "best_by_tier": (
        False,
        _is_true_or_false,
        "true or false: whether the best are marked within each tier",
    ),
    "second_best": (False, _is_true_or_false, "true or false: whether the second best is marked"),
    "random": (
        False,
        lambda value: isinstance(value, str) and value in RANDOM_POLICIES,
        f"how sets of options are guessed, one of: {', '.join(RANDOM_POLICIES)}",
    ),
    "people": (False, is_mapping, "a mapping with protocol, and perhaps title"),
}
