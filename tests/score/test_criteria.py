"""Four criteria: the published overall scores, means by skill, and options beside open answers."""

import json
from pathlib import Path
from typing import Any

import pytest
from support import blind_benchmark, make_item

from reelbench.data.items import Item, freeze
from reelbench.evaluate.rubric import load_rubric
from reelbench.score.score import score_predictions

NAMES = ("correctness", "completeness", "faithfulness", "clarity")
# Table 4 of MMOU: the four criteria, and the overall score that is printed.
TABLE_4 = {
    "Audio Flamingo 3": (1.77, 1.86, 2.99, 4.03, 2.37),
    "Qwen2.5-VL-7B-Instruct": (1.53, 1.64, 2.63, 3.83, 2.12),
    "Qwen3-VL-8B-Instruct": (1.30, 1.41, 2.06, 3.18, 1.76),
    "Gemma 3n": (1.71, 1.92, 2.48, 4.15, 2.28),
    "Qwen3-Omni-30B-Instruct": (2.27, 2.34, 3.36, 4.62, 2.86),
    "Qwen3-Omni-30B-Think": (2.31, 2.55, 2.45, 4.05, 2.66),
    "OmniVinci": (2.06, 2.17, 3.06, 4.40, 2.64),
    "Gemini 2.5 Pro": (3.71, 3.86, 3.80, 4.62, 3.90),
}


@pytest.mark.parametrize("model", TABLE_4)
def test_the_overall_score_of_each_row_of_table_4_is_recomputed(model: str, tmp_path: Path) -> None:
    *given, printed = TABLE_4[model]
    rubric = load_rubric("criteria", tmp_path)
    values = {f"ratings.{name}.score": score for name, score in zip(NAMES, given, strict=True)}
    # Four of the rows fall on a half of the last digit.
    assert rubric.grade(values) == pytest.approx(printed, abs=0.01)


def rating(**scores: int) -> dict[str, Any]:
    return {"ratings": {name: {"score": scores[name], "reason": "so"} for name in NAMES}}


def judgement(item: str, *replies: dict[str, Any]) -> dict[str, Any]:
    overall = [
        sum(w * r["ratings"][n]["score"] for n, w in zip(NAMES, (3, 1, 1, 1), strict=True)) / 6
        for r in replies
    ]
    return {
        "id": item, "model": "m", "condition": "protocol", "order": 0, "round": 0, "judge": "j",
        "rubric": "criteria", "score": sum(overall) / len(overall), "scale": [1, 5],
        "rounds": [{"reply": reply} for reply in replies],
    }  # fmt: skip


def pair(number: int, *skills: str) -> tuple[Item, Item]:
    more = {"tags": freeze({"skills": list(skills)}), "extra": freeze({"pair": f"q-{number}"})}
    closed = make_item(number, **more)
    opened = make_item(
        number, id=f"q-{number}-open", kind="open", options=(), answer=(), reference="r", **more
    )
    return closed, opened


def scored(folder: Path, given: dict[int, list[dict[str, Any]]], right: set[int]) -> dict[str, Any]:
    skills = {1: ("Needle",), 2: ("Needle", "Counting"), 3: ("Counting",)}
    items = [item for number in (1, 2, 3) for item in pair(number, *skills[number])]
    benchmark = blind_benchmark(folder / "b", *items)
    rows = [
        {"id": f"q-{n}", "model": "m", "parsed": ["B" if n in right else "A"]} for n in (1, 2, 3)
    ]
    rows += [
        {"id": f"q-{n}-open", "model": "m", "response": "so" if replies else None}
        for n, replies in given.items()
    ]
    judged = [judgement(f"q-{n}-open", *replies) for n, replies in given.items() if replies]
    for name, lines in (("p.jsonl", rows), ("j.jsonl", judged)):
        (folder / name).write_text("".join(json.dumps(line) + "\n" for line in lines))
    (row,) = score_predictions(benchmark, folder / "p.jsonl", judgements=folder / "j.jsonl")[
        "judged"
    ]
    return dict(row)


GOOD = rating(correctness=5, completeness=4, faithfulness=5, clarity=5)
# Clear and faithful, but wrong: overall 2.67, correctness 1.
WRONG = rating(correctness=1, completeness=3, faithfulness=5, clarity=5)


def test_means_are_kept_by_criterion_and_by_skill(tmp_path: Path) -> None:
    row = scored(tmp_path, {1: [GOOD, WRONG], 2: [WRONG], 3: [GOOD]}, right={1})
    found = {each["criterion"]: each for each in row["criteria"]}
    assert list(found) == list(NAMES)
    assert found["correctness"]["score"] == pytest.approx((3 + 1 + 5) / 3, abs=1e-6)
    assert found["clarity"]["score"] == 5
    assert found["correctness"]["by"]["skills"] == {
        "Counting": {"items": 2, "score": 3.0},
        "Needle": {"items": 2, "score": 2.0},
    }
    low, high = found["correctness"]["interval"]
    assert 1 <= low <= 3 <= high <= 5


def test_a_question_without_a_reply_has_the_lowest_score(tmp_path: Path) -> None:
    row = scored(tmp_path, {1: [GOOD], 2: [GOOD], 3: []}, right=set())
    found = {each["criterion"]: each for each in row["criteria"]}
    assert found["clarity"]["score"] == pytest.approx((5 + 5 + 1) / 3, abs=1e-6)
    assert found["clarity"]["unanswered"] == 1


def test_poor_is_a_correctness_below_two_whatever_the_overall_score(tmp_path: Path) -> None:
    row = scored(tmp_path, {1: [WRONG], 2: [WRONG], 3: [GOOD]}, right={1, 3})
    assert row["score"] > 2
    found = row["twins"]
    assert found["criterion"] == "correctness"
    assert (found["pairs"], found["open_poor"]) == (3, 0.666667)
    assert found["closed_right_among_poor"] == 0.5
    shares = {v: e["closed_right_among_poor"] for v, e in found["by"]["skills"].items()}
    assert shares == {"Needle": 0.5, "Counting": 0.0}


def test_wrong_choices_are_reported_by_the_origin_of_the_option(tmp_path: Path) -> None:
    notes = [
        {"text": "it snows", "from_context": True},
        {"text": "a door opens", "from_context": False},
    ]
    options = ("a door opens", "a dog barks", "it snows", "None of the above")
    known = [
        make_item(n, options=options, provenance=freeze({"distract": {"distractors": notes}}))
        for n in range(1, 5)
    ]
    benchmark = blind_benchmark(tmp_path / "b", *known, make_item(5))
    rows = [
        {"id": f"q-{n}", "model": "m", "parsed": [letter]} for n, letter in enumerate("CCDBA", 1)
    ]
    (tmp_path / "p.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (row,) = score_predictions(benchmark, tmp_path / "p.jsonl")["origins"]
    assert (row["items"], row["wrong"]) == (4, 3)
    shares = {name: each["share"] for name, each in row["origins"].items()}
    assert shares == {
        "in the video": 0.666667,
        "not in the video": 0.0,
        "none of the above": 0.333333,
    }


def test_the_report_has_tables_by_criterion_skill_and_origin(tmp_path: Path) -> None:
    from reelbench.report.criteria import criterion_tables, origins

    row = scored(tmp_path, {1: [WRONG], 2: [WRONG], 3: [GOOD]}, right={1, 3})
    tables = {table.name: table for table in criterion_tables({"judged": [row]})}
    assert set(tables) == {
        "criteria",
        "criteria-by-skills",
        "with-options",
        "with-options-by-skills",
    }
    (line,) = tables["criteria"].rows
    assert [cell.split()[0] for cell in line[2:]] == ["2.33", "3.33", "5.00", "5.00", "3.39"]
    assert line[2] == "2.33 (1.16 to 4.29)"
    assert ["m", "Needle", "2", "100.0%", "50.0%"] in tables["with-options-by-skills"].rows
    assert origins({"origins": []}).rows == []


def test_a_number_that_a_judge_adds_is_no_criterion(tmp_path: Path) -> None:
    more = {**GOOD, "overall_assessment": {"score": 2, "text": "so"}, "overall": 3}
    row = scored(tmp_path, {1: [more], 2: [WRONG], 3: [GOOD]}, right={1})
    assert [each["criterion"] for each in row["criteria"]] == list(NAMES)


def test_rows_of_several_judges_are_told_apart_also_after_other_criteria(tmp_path: Path) -> None:
    from reelbench.report.criteria import criterion_tables

    row = scored(tmp_path, {1: [WRONG], 2: [WRONG], 3: [GOOD]}, right={1, 3})
    other = {**row, "judge": "k", "rubric": "own", "criteria": row["criteria"][:2]}
    tables = {table.name: table for table in criterion_tables({"judged": [row, other]})}
    rows = tables["criteria-by-skills"].rows
    assert ["m (j, criteria)", "Needle", "1.00", "3.00", "5.00", "5.00", "2"] in rows
    assert ["m (k, own)", "Needle", "1.00", "3.00", "", "", "2"] in rows
    assert {line[0] for line in tables["with-options"].rows} == {"m (j, criteria)", "m (k, own)"}
