"""Replies that were cut off, empty or broken off by their server: each has a status of its own."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from servers import Reply, Server, completion, serving
from support import blind_benchmark, make_item, run_here

from reelbench.data.benchmark import Benchmark

# What is said to each question, how it ended, and what is to become of it.
ENDS: dict[str, tuple[str | None, str, str, list[str] | None]] = {
    "in full": ("B", "stop", "ok", ["B"]),
    "answered, then cut": ("Answer: B\n\nExplanation: the ma", "length", "truncated", ["B"]),
    "cut in a sentence": ("The man in the blue shirt opens a door", "length", "truncated", None),
    "cut in its thoughts": ("<think>It may be B. Or", "length", "truncated", None),
    "cut before a word": (None, "length", "truncated", None),
    "empty": ("", "stop", "error", None),
    "null": (None, "stop", "error", None),
    "broken off": ("The answer is B", "error", "error", None),
}


def answer(body: dict[str, Any], _: int) -> Reply:
    text = body["messages"][0]["content"][-1]["text"]
    said, reason, _, _ = next(end for name, end in ENDS.items() if f"Question {name}?" in text)
    return completion(said, reason=reason)


@pytest.fixture
def benchmark(tmp_path: Path) -> Benchmark:
    items = [make_item(n, question=f"Question {name}?") for n, name in enumerate(ENDS)]
    return blind_benchmark(tmp_path / "b", *items, modalities="T")


def run(folder: Path, server: Server, **parameters: Any) -> list[dict[str, Any]]:
    fields = {"name": "far", "endpoint": server.url, "retries": 0, "parameters": parameters}
    (folder / "far.yaml").write_text(json.dumps(fields))
    words = "run", folder / "b", "--model", folder / "far.yaml", "--out", folder / "r"
    assert run_here(*words) == 1
    lines = (folder / "r" / "predictions.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines]


def test_each_has_its_status_and_only_complete_answers_count(
    benchmark: Benchmark, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with serving(answer) as server:
        rows = run(tmp_path, server, max_tokens=64)
    found = {name: (row["status"], row["parsed"]) for name, row in zip(ENDS, rows, strict=True)}
    assert found == {name: (status, parsed) for name, (_, _, status, parsed) in ENDS.items()}
    told = capsys.readouterr().err
    assert "far: 4 replies cut off at the token limit" in told
    assert "Raise max_tokens (now 64) under parameters: in its card" in told
    scores = json.loads((tmp_path / "r" / "scores.json").read_text())["results"][0]
    assert (scores["correct"], scores["answered"]) == (2, 2)
    assert scores["statuses"] == {"error": 3, "ok": 1, "truncated": 4}
    assert scores["unread"] == 0
    status = json.loads((tmp_path / "r" / "status.json").read_text())
    assert (status["truncated"], status["done"], status["failed"]) == ({"far": 4}, 5, 3)


def test_what_was_cut_off_is_final_and_what_was_empty_is_asked_again(
    benchmark: Benchmark, tmp_path: Path
) -> None:
    with serving(answer) as server:
        first = run(tmp_path, server)
        asked = Counter(body["messages"][0]["content"][-1]["text"] for body in server.requests)
        assert set(asked.values()) == {1}
        assert run(tmp_path, server) == first
        again = [
            body["messages"][0]["content"][-1]["text"] for body in server.requests[len(ENDS) :]
        ]
    assert len(again) == 3
    assert all(
        any(f"Question {name}?" in text for name in ("empty", "null", "broken off"))
        for text in again
    )


def test_a_larger_limit_is_another_question(
    benchmark: Benchmark, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with serving(answer) as server:
        run(tmp_path, server, max_tokens=64)
        before = len(server.requests)
        run(tmp_path, server, max_tokens=128)
        assert len(server.requests) == before + len(ENDS)
    assert "Raise max_tokens (now 128)" in capsys.readouterr().err


def test_judges_are_not_asked_about_half_a_reply_nor_a_refusal(tmp_path: Path) -> None:
    said = {
        "cut": completion("Well, that furry thing made a lot of", reason="length"),
        "refused": completion("I'm sorry, but I can't help with that."),
        "unreadable": completion("Well, that furry thing made a lot of noise."),
    }
    items = [make_item(n, question=f"Question {name}?") for n, name in enumerate(said)]
    blind_benchmark(tmp_path / "b", *items, modalities="T")

    def both(body: dict[str, Any], _: int) -> Reply:
        text = str(body["messages"])
        if body["model"] == "judge":
            return completion('{"choice": "B"}')
        return next(reply for name, reply in said.items() if f"Question {name}?" in text)

    with serving(both) as server:
        for name in ("far", "judge"):
            card = {"name": name, "endpoint": server.url, "retries": 0}
            (tmp_path / f"{name}.yaml").write_text(json.dumps(card))
        run_here("run", tmp_path / "b", "--model", tmp_path / "far.yaml",
                 "--judge", tmp_path / "judge.yaml", "--out", tmp_path / "r")  # fmt: skip
    lines = (tmp_path / "r" / "predictions.jsonl").read_text().splitlines()
    rows = dict(zip(said, map(json.loads, lines), strict=True))
    assert {name: "judge" in row for name, row in rows.items()} == {
        "cut": False, "refused": False, "unreadable": True
    }  # fmt: skip
    assert rows["refused"]["parse_failure"] == "refusal"
    assert [row["parsed"] for row in rows.values()] == [None, None, ["B"]]
