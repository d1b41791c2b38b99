"""Tables in benchmark.yaml: kept whole, and refused with every fault and where it is."""

from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from support import make_item

from reelbench.data.benchmark import Benchmark, BenchmarkError
from reelbench.data.items import freeze
from reelbench.data.manifest import Manifest

Save = Callable[..., Path]
HEAD = "name: x\nversion: '1'\n"
TABLES = {
    "table-2": {
        "title": "Types",
        "where": {"split": "test"},
        "columns": {"Single, overall": {"context": ["Global", "Referring"]}, "Overall": {}},
    },
    "table_3": {"columns": {"Overall": {}}, "note": "ours"},
}


def load(save: Save, text: str) -> Benchmark:
    root = save(make_item(1))
    (root / "benchmark.yaml").write_text(HEAD + text)
    return Benchmark.load(root)


def test_they_come_back_as_they_were_in_their_order(save: Save) -> None:
    root = save(make_item(1), tables=freeze(TABLES))
    manifest = Benchmark.load(root).manifest
    assert manifest.tables == freeze(TABLES)
    assert manifest.extra == {}
    assert list(manifest.tables["table-2"]["columns"]) == ["Single, overall", "Overall"]
    assert yaml.safe_load(manifest.to_yaml())["tables"] == TABLES
    assert Manifest("test", "1", tables=freeze(TABLES)) == manifest


def test_without_them_nothing_has_changed(save: Save) -> None:
    root = save(make_item(1))
    assert "tables" not in (root / "benchmark.yaml").read_text()
    before = (
        "141f8ef6163df6acdca02ed68058a67f058cfdde93c14fda16ad0bc820233983"  # of all earlier runs
    )
    assert Benchmark.load(root).digest == before


@pytest.mark.parametrize(("text", "line", "words"), [
    ("tables: [a]\n", 3, "tables: found a list, expected a mapping with text as keys"),
    ("tables:\n  a: 3\n", 4, "tables.a: found 3, expected a mapping with columns"),
    ("tables:\n  a: {title: T}\n", 4, "tables.a.columns: found nothing, expected a mapping of columns"),
    ("tables:\n  a:\n    columns: {}\n", 5, "{} for all items"),
    ("tables:\n  a:\n    columns: [x]\n", 5, "tables.a.columns: found"),
    ("tables:\n  a/b: {columns: {O: {}}}\n", 4, "letters, digits, - and _"),
    ("tables:\n  ..: {columns: {O: {}}}\n", 4, "letters, digits, - and _"),
    ("tables:\n  a:\n    title: 3\n    columns: {O: {}}\n", 5, "tables.a.title: found 3, expected text"),
    ("tables:\n  a:\n    where: test\n    columns: {O: {}}\n", 5, "a mapping of tags to their values"),
    ("tables:\n  a:\n    where: {year: 2024}\n    columns: {O: {}}\n", 5, "tables.a.where.year: found 2024"),
    ("tables:\n  a:\n    columns:\n      O: test\n", 6, "tables.a.columns.O: found 'test'"),
    ("tables:\n  a:\n    columns:\n      O:\n        type: No\n", 7, "numbers, yes and no in quotes"),
    ("tables:\n  a:\n    columns:\n      O: {type: []}\n", 6, "or a list of texts"),
    ("tables:\n  a:\n    columns:\n      O: {type: [x, 3]}\n", 6, "tables.a.columns.O.type: found"),
    ("tables:\n  a:\n    columns:\n      v1.5: {type: 3}\n", 6, "tables.a.columns.v1.5.type"),
    ("tables:\n  a:\n    columns:\n      ' ': {}\n", 5, "a name for the column"),
    ("tables:\n  a:\n    columns:\n      O: {}\n      O: {t: x}\n", 7, "'tables.a.columns.O' twice"),
    ("tables:\n  a:\n    columns:\n      O: {t: x, t: y}\n", 6, "'tables.a.columns.O.t' twice"),
    ("tables:\n  a:\n    columns:\n      O: {}\n      M: {mean_of: O}\n", 7, "a list of the names of other columns"),
    ("tables:\n  a:\n    columns:\n      O: {}\n      M: {mean_of: []}\n", 7, "tables.a.columns.M.mean_of: found"),
    ("tables:\n  a:\n    columns:\n      O: {}\n      M: {mean_of: [O, P]}\n", 7, "found 'P', expected a column of this table that selects items: O"),
    ("tables:\n  a:\n    columns:\n      O: {}\n      M: {mean_of: [O, M]}\n", 7, "found 'M', expected a column"),
    ("tables:\n  a:\n    columns:\n      O: {}\n      M: {mean_of: [O, O]}\n", 7, "found 'O' twice, expected each column once"),
    ("tables:\n  a:\n    columns:\n      O: {}\n      M: {mean_of: [O], t: x}\n", 7, "mean_of alone"),
    ("tables:\n  a:\n    columns:\n      Yes: {}\n", 3, "the name True, which is not text"),
    ("tables:\n  a:\n    kind: pie\n    columns: {O: {}}\n", 5, "expected scores or distractors"),
    ("tables:\n  a:\n    conditions: protocol\n    columns: {O: {}}\n", 5, "a list of names of conditions"),
    ("tables:\n  a:\n    averages: [people]\n    columns: {O: {}}\n", 5, "a list with some of: models, tiers"),
    ("tables:\n  a:\n    bands: [0.5, 0.2]\n    columns: {O: {}}\n", 5, "rising shares of the models"),
    ("tables:\n  a:\n    pooled_chance: 1\n    columns: {O: {}}\n", 5, "true or false"),
    ("tables:\n  a:\n    columns:\n      O: {measured: hours}\n", 6, "measured alone, with one of: seconds, minutes"),
    ("tables:\n  a:\n    columns:\n      O: {measured: minutes, t: x}\n", 6, "measured alone"),
    ("tables:\n  a:\n    columns:\n      O: {wrong_options_with: shock}\n", 6, "a list of beginnings of words"),
    ("tables:\n  a:\n    columns:\n      O: {against: P}\n", 6, "found 'P', expected another column of the same sort: there is none"),
    ("tables:\n  a:\n    columns:\n      O: {}\n      P: {against: P}\n", 7, "another column of the same sort: O"),
    ("tables:\n  a:\n    columns:\n      O: {}\n      P: {wrong_options_with: [x], against: O}\n", 7, "another column of the same sort"),
    ("tables:\n  a:\n    columns:\n      O: {measured: minutes}\n      M: {mean_of: [O]}\n", 7, "found 'O', expected a column of this table that selects items"),
    ("tables:\n  a:\n    best_by_tier: true\n    columns: {O: {}}\n", 5, "found no tiers, expected tiers: true as well"),
    ("tables:\n  a:\n    best_by_tier: yes please\n    columns: {O: {}}\n", 5, "the best are marked within each tier"),
    ("tables:\n  a:\n    frames: 8\n    columns: {O: {}}\n", 5, "true or false: whether rows tell how many were shown"),
    ("tables:\n  a:\n    frames: true\n    columns: {O: {condition: c}}\n", 5, "no frames where columns have a condition each"),
    ("tables:\n  a:\n    note: 3\n    columns: {O: {}}\n", 5, "a sentence to print with the table"),
    ("tables:\n  a:\n    against: protocol\n    columns:\n      O: {}\n      P: {against: O}\n", 8, "for the table, or for columns, not for both"),
])  # fmt: skip
def test_what_is_wrong_is_told_with_its_line(text: str, line: int, words: str, save: Save) -> None:
    with pytest.raises(BenchmarkError) as caught:
        load(save, text)
    assert words in str(caught.value)
    assert [problem.line for problem in caught.value.problems] == [line]


def test_all_faults_come_at_once(save: Save) -> None:
    text = "tables:\n  a b: {columns: {O: 3, P: {t: 1}}, where: {s: []}}\n  c: {}\n"
    with pytest.raises(BenchmarkError) as caught:
        load(save, text)
    assert [problem.field for problem in caught.value.problems] == [
        "tables.a b", "tables.a b.where.s", "tables.a b.columns.O", "tables.a b.columns.P.t", "tables.c.columns",
    ]  # fmt: skip


def test_a_misspelt_field_is_refused(save: Save) -> None:
    with pytest.raises(BenchmarkError, match=r"tables\.a\.titel: .* perhaps 'title' is meant"):
        load(save, "tables:\n  a: {columns: {O: {}}, titel: T}\n")
    with pytest.raises(BenchmarkError, match="perhaps 'tables' is meant"):
        load(save, "table: {}\n")
