"""Rows without a reply are failed calls, and replies that ended at a limit of tokens were cut off."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from support import make_item, reelbench

Save = Callable[..., Path]
Row = dict[str, Any]
CUT = "One sees a door, and it may be A, or"


def write_lines(path: Path, rows: list[Row]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def statuses(save: Save, path: Path, *words: object) -> tuple[dict[str, int], int, str]:
    """How calls ended, by `reelbench score`; how many replies are unread; what it said."""
    folder = save(*map(make_item, range(1, 5)))
    done = reelbench("score", "--benchmark", folder, "--predictions", path, "--json", *words)
    assert done.returncode == 0, done.stderr
    (found,) = json.loads(done.stdout)["results"]
    return found["statuses"], found["unread"], done.stderr


def four(**last: Any) -> list[Row]:
    """Three rows with answers, and a fourth."""
    more = {"reason": "", **dict.fromkeys(last.keys() - {"response", "status"}, "stop")}
    rows: list[Row] = [{"question_id": f"q-{n}", "response": "B", **more} for n in range(1, 4)]
    return [*rows, {"question_id": "q-4", **more, **last}]


@pytest.mark.parametrize("text", [
    None, "None", "nan", "Failed to obtain answer via API.", "Failed to obtain answer",
    "[LMMS_EVAL_REQUEST_FAILED after 5 retries] timeout", "[LMMS_EVAL_BUDGET_EXCEEDED]",
    "API Error", "invalid_request_error",
])  # fmt: skip
def test_no_reply_is_a_failed_call(text: str | None, save: Save, tmp_path: Path) -> None:
    path = write_lines(tmp_path / "x.jsonl", four(response=text))
    found, unread, notes = statuses(save, path)
    assert (found, unread) == ({"ok": 3, "error": 1}, 0)
    assert "Rows of failed calls, counted as unanswered: 1 ('q-4')." in notes


@pytest.mark.parametrize("rows", [
    [{"id": "q-1", "response": "B"}, {"id": "q-2", "response": None}],
    [{"id": "q-1", "response": "B"}, {"id": "q-2", "response": "Failed to obtain answer via API. "}],
    [{"id": "q-1", "parsed": ["B"]}, {"id": "q-2", "response": None, "parsed": None}],
    [{"id": "q-1", "parsed": ["B"], "response": None}, {"id": "q-2", "response": None}],
])  # fmt: skip
def test_lines_of_our_own_form_are_held_to_it_too(
    rows: list[Row], save: Save, tmp_path: Path
) -> None:
    found, unread, _ = statuses(save, write_lines(tmp_path / "x.jsonl", rows))
    assert (found, unread) == ({"ok": 1, "error": 1}, 0)


def test_what_says_nothing_and_what_nobody_could_read_are_no_failed_calls(
    save: Save, tmp_path: Path
) -> None:
    rows = four(response="")
    (tmp_path / "x.csv").write_text("qid,response\nq-1,B\nq-2,B\nq-3,B\nq-4,\n")
    read = [{"qid": f"q-{n}", "parsed_pred": "B" if n < 4 else None} for n in range(1, 5)]
    book = openpyxl.Workbook()
    for row in (["qid", "response"], *([f"q-{n}", "B" if n < 4 else None] for n in range(1, 5))):
        book.active.append(row)
    book.save(tmp_path / "x.xlsx")
    for path in (
        write_lines(tmp_path / "x.jsonl", rows),
        write_lines(tmp_path / "read.jsonl", read),
        tmp_path / "x.xlsx",
        tmp_path / "x.csv",
        write_lines(tmp_path / "ours.jsonl", [
            *({"id": f"q-{n}", "parsed": ["B"]} for n in range(1, 4)), {"id": "q-4", "parsed": None}
        ]),
    ):  # fmt: skip
        found, unread, _ = statuses(save, path)
        assert (found, unread) == ({"ok": 4}, 1), path.name


@pytest.mark.parametrize("last", [
    {"response": CUT, "finish_reason": "length"},
    {"response": CUT, "stop_reason": "max_tokens"},
    {"response": CUT, "finishReason": "MAX_TOKENS"},
    {"response": CUT, "finish_reason": "FinishReason.MAX_TOKENS"},
    {"response": CUT, "done_reason": "length"},
    {"response": CUT, "Finish Reason": ["length"]},
    {"response": CUT, "status": "ok", "finish_reason": "length"},
    {"response": {"body": {"choices": [
        {"finish_reason": "length", "message": {"content": CUT}},
    ]}}},
    {"response": CUT, "meta": {"finish_reason": "length"}},
])  # fmt: skip
def test_a_reply_that_ended_at_a_limit_was_cut_off(last: Row, save: Save, tmp_path: Path) -> None:
    found, _, notes = statuses(save, write_lines(tmp_path / "x.jsonl", four(**last)))
    assert found == {"ok": 3, "truncated": 1}
    assert "Replies that were cut off at the limit of tokens: 1." in notes


@pytest.mark.parametrize(("text", "correct"), [
    (CUT, 0), ("The answer is B. To see why, look at the", 4),
])  # fmt: skip
def test_a_cut_reply_is_read_as_those_of_a_run(
    text: str, correct: int, save: Save, tmp_path: Path
) -> None:
    """What it weighs is no answer; one that stands in full is."""
    rows = [{"qid": f"q-{n}", "response": text, "finish_reason": "length"} for n in range(1, 5)]
    path = write_lines(tmp_path / "x.jsonl", rows)
    folder = save(*map(make_item, range(1, 5)))
    done = reelbench("score", "--benchmark", folder, "--predictions", path, "--json")
    (found,) = json.loads(done.stdout)["results"]
    assert (found["correct"], found["statuses"]) == (correct, {"truncated": 4})


@pytest.mark.parametrize(("word", "status"), [
    ("failed", "error"), ("FAILED", "error"), ("fail", "error"), ("Failure", "error"),
    ("error", "error"), ("exception", "error"), ("500", "error"), (429, "error"),
    ("Timeout", "timeout"), ("success", "ok"), ("DONE", "ok"), ("completed", "ok"), (200, "ok"),
])  # fmt: skip
@pytest.mark.parametrize("name", ["id", "qid"])  # in our own form, and in another
def test_words_of_others_for_a_status(
    word: str | int, status: str, name: str, save: Save, tmp_path: Path
) -> None:
    rows = [{name: f"q-{n}", "response": "B", "status": "Success"} for n in range(1, 4)]
    rows.append({name: "q-4", "response": "B", "status": word})
    found, unread, _ = statuses(save, write_lines(tmp_path / "x.jsonl", rows))
    expected = {"ok": 4} if status == "ok" else {"ok": 3, status: 1}
    assert (found, unread) == (expected, 0)


@pytest.mark.parametrize("heading", ["id,response,status", "qid,output,Status"])
def test_a_status_of_another_word_is_refused(heading: str, save: Save, tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text(f"{heading}\nq-1,B,ok\nq-2,B,\nq-3,B,pending\n")
    folder = save(*map(make_item, range(1, 5)))
    done = reelbench("score", "--benchmark", folder, "--predictions", path)
    assert done.returncode == 2
    for part in ("x.csv:4", "'pending'", "one of ok, truncated,", "failed", "4xx"):
        assert part in done.stderr
