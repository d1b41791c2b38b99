"""Tables that a benchmark declares: every cell by hand, and again by a plain loop."""

import json
import random
from pathlib import Path
from statistics import mean
from typing import Any

import pytest
from support import make_item

from reelbench.base.files import pretty_json
from reelbench.data.benchmark import Benchmark
from reelbench.data.items import Item, Media, freeze
from reelbench.data.manifest import Manifest
from reelbench.data.selection import items_with
from reelbench.score.intervals import Cell, intervals
from reelbench.score.score import score_predictions

TABLES = {
    "table-2": {
        "title": "Types and concerns",
        "where": {"split": "test"},
        "columns": {
            "Yes-or-No": {"type": "Yes-or-No"},
            "Open": {"type": "Open"},
            "Technical": {"concern": "Technical"},
            "Either": {"concern": ["Technical", "Temporal"]},
            "Technical yes": {"concern": "Technical", "type": "Yes-or-No"},
            "AIGC": {"concern": "AIGC"},
            "Overall": {},
        },
    }
}


def yes_or_no(number: int, *concerns: str, split: str = "test", **more: Any) -> Item:
    tags = {"type": "Yes-or-No", "concern": concerns, "split": split}
    return make_item(
        number, kind="yesno", options=("Yes", "No"), answer=("A",), tags=freeze(tags), **more
    )


def what(number: int, *concerns: str, split: str = "test", **more: Any) -> Item:
    tags = {"type": "What-How", "concern": concerns, "split": split}
    return make_item(number, tags=freeze(tags), **more)


def opened(number: int, *concerns: str, split: str = "test", **more: Any) -> Item:
    tags = {"type": "Open", "concern": concerns, "split": split}
    return make_item(
        number, kind="open", options=(), answer=(), reference="r", tags=freeze(tags), **more
    )


def answer(number: int, letter: str | None, model: str = "m", **more: Any) -> dict[str, Any]:
    return {"id": f"q-{number}", "model": model, "parsed": letter and [letter], **more}


def reply(number: int, status: str = "ok", model: str = "m", **more: Any) -> dict[str, Any]:
    said = "so" if status == "ok" else None
    return {"id": f"q-{number}", "model": model, "response": said, "status": status, **more}


def grade(number: int, score: float | None, model: str = "m", **more: Any) -> dict[str, Any]:
    return {
        "id": f"q-{number}", "model": model, "condition": "protocol", "order": 0, "round": 0,
        "judge": "one", "rubric": "points", "score": score, "scale": [0, 2],
        "rounds": [{"reply": {}} if score is not None else {"failure": "HTTP 500"}] * 5, **more,
    }  # fmt: skip


def scored(
    folder: Path,
    items: list[Item],
    rows: list[dict[str, Any]],
    grades: list[dict[str, Any]] | None = None,
    tables: Any = TABLES,
) -> dict[str, Any]:
    root = folder / "b"
    Benchmark(root, Manifest("b", "1", tables=freeze(tables)), tuple(items)).save(root)
    predictions, judgements = folder / "p.jsonl", folder / "j.jsonl"
    predictions.write_text("".join(json.dumps(row) + "\n" for row in rows))
    judgements.write_text("".join(json.dumps(row) + "\n" for row in grades or ()))
    return score_predictions(Benchmark.load(root), predictions, judgements=judgements)


def cells(table: dict[str, Any], row: int = 0) -> dict[str, tuple[Any, int, int]]:
    """Value, items and covered items of each column."""
    names = [column["name"] for column in table["columns"]]
    found = table["rows"][row]["cells"]
    return {
        n: (c["value"], c["items"], c["covered"]) for n, c in zip(names, found, strict=True)
    }  # fmt: skip


ITEMS = [
    yes_or_no(1, "Technical"),
    yes_or_no(2, "Technical", "Temporal"),
    what(3, "Temporal"),
    opened(4, "Technical"),
    opened(5, "Aesthetic"),
    yes_or_no(6, "Technical", split="dev"),
]
ROWS = [answer(1, "A"), answer(2, "B"), answer(3, "B"), reply(4), reply(5), answer(6, "B")]


def test_by_hand(tmp_path: Path) -> None:
    """Right, wrong, right; 1.5 and 0.4 of 2 points; the sixth is of another split."""
    (table,) = scored(tmp_path, ITEMS, ROWS, [grade(4, 1.5), grade(5, 0.4)])["tables"]
    assert (table["name"], table["title"], table["judge"]) == ("table-2", "Types and concerns", "one")  # fmt: skip
    assert cells(table) == {
        "Yes-or-No": (0.5, 2, 2),
        "Open": (0.475, 2, 2),  # 0.75 and 0.2
        "Technical": (0.583333, 3, 3),  # 1, 0 and 0.75
        "Either": (0.6875, 4, 4),  # 1, 0, 1 and 0.75
        "Technical yes": (0.5, 2, 2),
        "AIGC": (None, 0, 0),
        "Overall": (0.59, 5, 5),  # 1, 0, 1, 0.75 and 0.2
    }
    assert [column["chance"] for column in table["columns"]] == [
        0.5, None, 0.5, 0.416667, 0.5, None, 0.416667,
    ]  # fmt: skip
    assert [column["open"] for column in table["columns"]] == [0, 2, 1, 1, 0, 0, 2]
    # A video each.
    (estimate,) = intervals([Cell(range(5), [1, 0, 1, 0.75, 0.2])], 5)
    overall = table["rows"][0]["cells"][-1]
    assert overall["interval"] == pytest.approx(estimate.interval, abs=1e-5)
    assert table["rows"][0]["cells"][5]["interval"] is None
    assert table["warnings"] == []


def test_without_a_judge_open_items_are_left_out_and_the_cover_says_so(tmp_path: Path) -> None:
    rows = [*ROWS[:3], reply(4), reply(5, "refused")]  # even the one without a reply
    (table,) = scored(tmp_path, ITEMS, rows)["tables"]
    found = cells(table)
    assert (found["Open"], found["Technical"]) == ((None, 2, 0), (0.5, 3, 2))
    assert found["Overall"] == (0.666667, 5, 3)
    assert table["judge"] is None


def test_no_answer_is_worth_nothing_and_no_grade_is_left_out(tmp_path: Path) -> None:
    """Of six open items two are graded, one was refused, one timed out, one never asked and left out; one has
    a reply that the judge could not grade."""
    items = [what(1), *(opened(n) for n in range(2, 8))]
    rows = [answer(1, None), reply(2), reply(3), reply(4, "refused"), reply(5, "timeout"), reply(7)]
    grades = [grade(2, 2.0), grade(3, 1.0), grade(7, None)]
    scores = scored(tmp_path, items, rows, grades)
    found = cells(scores["tables"][0])
    assert found["Open"] == (0.375, 6, 4)  # 1, 0.5 and twice nothing
    assert found["Overall"] == (0.3, 7, 5)
    together = scores["judged"][0]["with_closed"]  # the same rule there
    assert (together["value"], together["items"], together["covered"]) == (0.3, 6, 5)


def test_the_judge_is_the_first_named_and_one_for_all_rows(tmp_path: Path) -> None:
    rows = [*ROWS, *({**row, "model": "n"} for row in ROWS)]
    grades = [
        grade(4, 2.0, judge="zed"), grade(5, 2.0, judge="zed"), grade(4, 0.0), grade(5, 0.0),
        grade(4, 1.0, "n"), grade(5, 1.0, "n"),
    ]  # fmt: skip
    (table,) = scored(tmp_path, ITEMS, rows, grades)["tables"]
    assert table["judge"] == "zed"
    assert [row["model"] for row in table["rows"]] == ["m", "n"]
    assert cells(table)["Open"] == (1.0, 2, 2)
    assert cells(table, 1)["Open"] == (None, 2, 0)  # only the other judge graded it


def test_another_scale_goes_from_0_to_1_too(tmp_path: Path) -> None:
    grades = [grade(4, 4.0, scale=[1, 5]), grade(5, 1.0, scale=[1, 5])]
    (table,) = scored(tmp_path, ITEMS, ROWS, grades)["tables"]
    assert cells(table)["Open"] == (0.375, 2, 2)


def test_guessing_is_what_the_paper_prints(tmp_path: Path) -> None:
    """Q-Bench-Video, Table 2: 50.00, 25.00 and 37.79% for 22 questions of two options to 21 of four."""
    items = [*(yes_or_no(n) for n in range(22)), *(what(n) for n in range(22, 43)), opened(43)]
    columns = {
        "Y": {"type": "Yes-or-No"},
        "W": {"type": "What-How"},
        "O": {"type": "Open"},
        "All": {},
    }
    (table,) = scored(tmp_path, items, [answer(1, "A")], tables={"t": {"columns": columns}})["tables"]  # fmt: skip
    chances = [column["chance"] for column in table["columns"]]
    assert [share and f"{share:.2%}" for share in chances] == ["50.00%", "25.00%", None, "37.79%"]


def test_people_share_a_row_and_their_mean(tmp_path: Path) -> None:
    items = [what(n) for n in (1, 2)]
    given = {"human:a": "BB", "human:b": "BA", "human:c": "AA", "m": "BA"}
    rows = [answer(n, letter, model) for model, letters in given.items() for n, letter in enumerate(letters, 1)]  # fmt: skip
    scores = scored(tmp_path, items, rows)
    (table,) = scores["tables"]
    assert [(row["model"], row.get("participants")) for row in table["rows"]] == [("m", None), ("people", 3)]  # fmt: skip
    assert cells(table, 1)["Overall"] == (0.5, 2, 2)
    assert scores["humans"][0]["accuracy"] == 0.5
    (alone,) = scored(tmp_path, items, rows[:2])["tables"]
    assert [(row["model"], row["participants"]) for row in alone["rows"]] == [("human:a", 1)]


def test_conditions_have_rows_of_their_own(tmp_path: Path) -> None:
    rows = [answer(1, "A"), answer(1, "B", condition="few")]
    (table,) = scored(tmp_path, [yes_or_no(1)], rows)["tables"]
    found = {row["condition"]: row["cells"][-1]["value"] for row in table["rows"]}
    assert found == {"protocol": 1.0, "few": 0.0}


def test_overall_is_the_leaderboard_where_all_items_are_closed(tmp_path: Path) -> None:
    draw = random.Random(5)
    items = [what(n, media=(Media(f"media/{n % 9}.mp4"),)) for n in range(60)]
    rows = [answer(n, draw.choice("ABCD")) for n in range(50)]
    scores = scored(tmp_path, items, rows)
    overall, best = scores["tables"][0]["rows"][0]["cells"][-1], scores["results"][0]
    assert (overall["value"], overall["interval"]) == (best["accuracy"], best["interval"])
    assert (overall["items"], overall["covered"]) == (60, 50)
    assert (best["items"], best["all_items"]) == (50, 60)


def test_the_kind_needs_no_tag(tmp_path: Path) -> None:
    columns = {"Open": {"kind": "open"}, "Closed": {"kind": ["single", "yesno"]}}
    (table,) = scored(tmp_path, ITEMS, ROWS, tables={"t": {"columns": columns}})["tables"]
    assert [column["items"] for column in table["columns"]] == [2, 4]
    assert (table["title"], table["warnings"]) == ("t", [])
    tagged = make_item(1, tags=freeze({"kind": "mine"}))
    assert items_with([tagged], {"kind": "mine"}) == [tagged]
    assert items_with([tagged], {"kind": "single"}) == []


def test_open_questions_alone_have_their_tables(tmp_path: Path) -> None:
    (table,) = scored(tmp_path, [opened(1)], [reply(1)], [grade(1, 2.0)])["tables"]
    assert cells(table)["Overall"] == (1.0, 1, 1)
    assert [column["chance"] for column in table["columns"]] == [None] * 7


def test_what_is_perhaps_misspelt_is_told(tmp_path: Path) -> None:
    table = {
        "where": {"splitt": "test"},
        "columns": {"T": {"concern": "Technicl"}, "E": {"colour": "red"}, "AIGC": {"concern": "AIGC"}},
    }  # fmt: skip
    (found,) = scored(tmp_path, ITEMS, ROWS, tables={"t": table})["tables"]
    assert found["warnings"] == [
        "The table t asks for the tag 'splitt', which no item has; perhaps 'split' is meant.",
        "The table t asks for concern 'Technicl', which no item has; perhaps 'Technical' is meant.",
        "The table t asks for the tag 'colour', which no item has.",
    ]
    assert [cell["items"] for cell in found["rows"][0]["cells"]] == [0, 0, 0]


def test_a_column_that_waits_for_its_items_is_no_mistake(tmp_path: Path) -> None:
    items = [make_item(1, tags=freeze({"context": "Compare-fine"}))]
    columns = {"fine": {"context": "Compare-fine"}, "coarse": {"context": "Compare-coarse"}}
    (found,) = scored(tmp_path, items, [answer(1, "B")], tables={"t": {"columns": columns}})["tables"]  # fmt: skip
    assert found["warnings"] == []


def test_a_benchmark_without_tables_has_none(tmp_path: Path) -> None:
    scores = scored(tmp_path, ITEMS, ROWS, [grade(4, 1.0)], tables={})
    assert scores["tables"] == []


def simulated(seed: int) -> tuple[list[Item], list[dict[str, Any]], list[dict[str, Any]]]:
    """Items of all kinds in a few videos, models that fail in every way, and a judge who does."""
    draw = random.Random(seed)
    items, rows, grades = [], [], []
    for n in range(draw.randint(3, 60)):
        concerns = draw.sample(["Technical", "Temporal", "Aesthetic"], draw.randint(0, 3))
        made = draw.choice([yes_or_no, what, opened])
        media = (Media(f"media/{draw.randint(0, 12)}.mp4"),)
        items.append(made(n, *concerns, split=draw.choice(["dev", "test"]), media=media))
        for model in ("a", "b", "human:x", "human:y"):
            if draw.random() < 0.1:
                continue
            if items[-1].kind == "open":
                status = draw.choice(["ok", "ok", "ok", "refused", "error"])
                rows.append(reply(n, status, model))
                if status == "ok" and model != "b":
                    grades.append(grade(n, draw.choice([None, 0.0, 0.4, 1.2, 2.0]), model))
            else:
                rows.append(answer(n, draw.choice(["A", "B", None]), model))
    for n, item in enumerate(items):  # one who answers all and whom nobody grades
        rows.append(reply(n, model="c") if item.kind == "open" else answer(n, "A", "c"))
    return items, rows, grades


def plainly(items: list[Item], rows: list[dict[str, Any]], grades: list[dict[str, Any]]) -> Any:
    """Every cell by a loop that shares no code with ours."""
    # Nothing is guessed for what a person did not answer.
    said = {
        (row["model"], row["id"]): row
        for row in rows
        if not row["model"].startswith("human:")
        or (row["status"] == "ok" if "status" in row else row["parsed"])
    }
    given = {(row["model"], row["id"]): row["score"] / 2 for row in grades if row["score"] is not None}  # fmt: skip
    judged = {model for model, _ in given}

    def value(model: str, item: Item) -> float | None:
        row = said.get((model, item.id))
        if row is None:
            return None
        if item.kind != "open":
            return float(row["parsed"] == list(item.answer))
        if model not in judged:
            opens = {each.id for each in items if each.kind == "open"}
            ends = [each["status"] for (m, name), each in said.items() if m == model and name in opens]  # fmt: skip
            return 0.0 if judged and ends and "ok" not in ends else None
        replied = row["status"] == "ok"
        return given.get((model, item.id)) if replied else 0.0

    def cell(models: list[str], choice: dict[str, Any]) -> Any:
        found, count, asked = [], 0, list[str]()
        for item in items:
            wants = {**choice, "split": "test"}
            listed = {tag: [want] if isinstance(want, str) else want for tag, want in wants.items()}
            if any(not set(item.tag(tag)) & set(values) for tag, values in listed.items()):
                continue
            count += 1
            asked += [model for model in models if (model, item.id) in said]
            values = [v for model in models if (v := value(model, item)) is not None]
            found += [mean(values)] if values else []
        if not asked:
            return None, count, 0
        return (round(mean(found), 6) if found else None), count, len(found)

    everyone = {"a": ["a"], "b": ["b"], "c": ["c"], "people": ["human:x", "human:y"]}
    there = {model for model, _ in said}
    return {
        name: {c: cell([m for m in models if m in there], choice) for c, choice in TABLES["table-2"]["columns"].items()}  # type: ignore[attr-defined]
        for name, models in everyone.items()
        if there & set(models)
    }  # fmt: skip


@pytest.mark.parametrize("seed", range(12))
def test_a_plain_loop_finds_the_same_in_any_order(seed: int, tmp_path: Path) -> None:
    items, rows, grades = simulated(seed)
    expected = plainly(items, rows, grades)
    texts = set()
    for turn in range(2):
        scores = scored(tmp_path, items, rows, grades)
        (table,) = scores["tables"]
        names = [row["model"].replace("human:x", "people").replace("human:y", "people") for row in table["rows"]]  # fmt: skip
        assert {name: cells(table, place) for place, name in enumerate(names)} == expected
        for row in table["rows"]:
            for cell in row["cells"]:
                assert (cell["interval"] is None) == (cell["value"] is None)
                if cell["value"] is not None:
                    low, high = cell["interval"]
                    assert 0 <= low <= cell["value"] + 1e-6 <= high + 2e-6 <= 1 + 2e-6
        texts.add(pretty_json(scores))
        for each in (items, rows, grades):
            random.Random(turn).shuffle(each)  # type: ignore[arg-type]
    assert len(texts) == 1
