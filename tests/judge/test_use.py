"""Any judge grades rated responses: each once, failures named, and the scores can be compared."""

import json
from pathlib import Path
from typing import Any

from servers import Reply, completion, serving
from support import make_item, reelbench

from reelbench.evaluate.rubric import load_rubric
from reelbench.judge.bands import CRITERIA
from reelbench.judge.sharegpt import write_rows
from reelbench.judge.synthesize import SyntheticResponse, SyntheticSet, rated_rows


def test_a_stronger_judge_grades_what_ours_is_held_against(tmp_path: Path) -> None:
    rubric = load_rubric("criteria", tmp_path)
    rows = []
    for n in range(8):
        item = make_item(n, kind="open", options=(), answer=(), reference=f"{n} dogs.")
        ratings = {name: {"score": 1 + n % 5, "reason": "So."} for name in CRITERIA}
        rows += rated_rows(
            SyntheticSet(item, [SyntheticResponse(f"{n} cats.", "", ratings)]), rubric, f"v{n}"
        )
    write_rows(tmp_path / "rows.jsonl", rows)

    def answer(body: dict[str, Any], _: int) -> Reply:
        prompt = json.dumps(body["messages"])
        n = next(n for n in range(8) if f"{n} cats." in prompt)
        if n == 7:  # cut off at its limit
            return completion('{"ratings": {"correct', reason="length")
        ratings = {name: {"reason": "So.", "score": 1 + n % 5} for name in CRITERIA}
        return completion(json.dumps({"ratings": ratings}))

    with serving(answer) as server:
        card = tmp_path / "m.yaml"
        card.write_text(json.dumps({"name": "strong", "endpoint": server.url, "retries": 0}))
        words = (
            "judge",
            "use",
            card,
            "--data",
            tmp_path / "rows.jsonl",
            "--out",
            tmp_path / "s.jsonl",
        )
        done = reelbench(*words)
        asked = len(server.requests)
        again = reelbench(*words)
        assert len(server.requests) == asked
    for each in (done, again):
        assert each.returncode == 1
        assert "7 of 8 responses graded" in each.stderr
        assert "q-7/01: " in each.stderr
        assert "cut off" in each.stderr
    scores = [json.loads(line) for line in (tmp_path / "s.jsonl").read_text().splitlines()]
    assert {row["judge"] for row in scores} == {"strong"}
    compared = reelbench(
        "judge", "compare", tmp_path / "s.jsonl", tmp_path / "rows.jsonl", "--json"
    )
    record = json.loads(compared.stdout)
    assert record["responses"] == 7
    assert record["left_out"] == [0, 1]
    assert all(row["exact"]["value"] == 1 for row in record["criteria"])
    assert all(row["quadratic_kappa"]["value"] == 1 for row in record["criteria"])
