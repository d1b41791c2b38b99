"""Balance as stages: yes as often as no by opposite questions, keys in every place alike."""

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from parts import Studio, by_turns, messages
from servers import Reply, completion
from support import make_item

from reelbench.data.items import Item, Media, freeze
from reelbench.lint.shortcuts import shortcut_findings
from reelbench.make.parts.balance_stages import (
    balance_key_positions,
    balance_ratio,
    choose_negations,
    negate,
    none_of_the_above,
    split,
)
from reelbench.make.pipeline.stage import Undecided
from reelbench.make.pipeline.store import RowResult

WRITER = {"writer": ["pen"]}


def yes_no(number: int, answer: str = "A", **fields: Any) -> Item:
    plain = {
        "kind": "yesno",
        "question": f"Is lamp {number} on?",
        "options": ("Yes", "No"),
        "answer": (answer,),
    }
    return make_item(number, **(plain | fields))


def opposite(body: Any, _: int) -> Reply:
    """A writer who does as asked."""
    text = body["messages"][0]["content"][0]["text"]
    question = text.split("\n\n")[1]
    return completion(json.dumps({"question": question.replace(" on?", " off?")}))


def keys(items: Sequence[Item]) -> Counter[str]:
    return Counter(item.correct[0] for item in items)


class TestYesAndNo:
    def test_come_out_even_by_opposite_questions(self, tmp_path: Path) -> None:
        rows = [yes_no(n, "A" if n < 8 else "B") for n in range(10)]
        (_, passed), server = Studio(tmp_path, opposite, WRITER).take(
            rows, choose_negations(), negate()
        )
        assert keys(passed.out) == {"Yes": 5, "No": 5}
        assert len(server.requests) == 3
        changed = [item for item in passed.out if " off?" in item.question]
        assert len(changed) == 3
        for item in changed:
            assert item.correct == ("No",)
            assert item.provenance["negate"]["negated_from"] == item.question.replace(
                " off?", " on?"
            )
        for before, after in zip(rows, passed.out, strict=True):
            assert after == before or after in changed

    def test_the_same_ones_whatever_the_order(self, tmp_path: Path) -> None:
        rows = [yes_no(n) for n in range(6)]
        stages = (choose_negations(), negate())
        (_, one), _ = Studio(tmp_path, opposite, WRITER).take(rows, *stages)
        (_, other), server = Studio(tmp_path, opposite, WRITER).take(rows[::-1], *stages)
        assert other.out == one.out[::-1]
        assert server.requests == []

    def test_leave_other_kinds_alone(self, tmp_path: Path) -> None:
        rows = [make_item(1), yes_no(2), yes_no(3, "B")]
        (_, passed), server = Studio(tmp_path, opposite, WRITER).take(
            rows, choose_negations(), negate()
        )
        assert passed.out == rows
        assert server.requests == []

    def test_no_items_at_all(self, tmp_path: Path) -> None:
        (_, passed), _ = Studio(tmp_path).take([], choose_negations(), negate())
        assert passed.out == []


def negated(folder: Path, *replies: str | Reply) -> Any:
    """The one of two that is marked, as it came out, and who was asked."""
    rows = [yes_no(1), yes_no(2)]
    (marked, passed), server = Studio(folder, by_turns(*replies), WRITER).take(
        rows, choose_negations(), negate()
    )
    (place,) = [n for n, item in enumerate(marked.out) if "choose-negations" in item.provenance]
    return rows[place], passed.results[place], server


GOOD = '{"question": "Is the lamp dark?"}'


class TestAnOpposite:
    @pytest.mark.parametrize("same", [str.strip, lambda q: f" {q}\n", str.upper, lambda q: q.replace(" ", "  ")], ids=["the same", "blanks around", "capitals", "blanks inside"])  # fmt: skip
    def test_that_is_the_same_question_is_complained_about(self, same: Any, tmp_path: Path) -> None:
        row, _, _ = negated(tmp_path / "which", GOOD)
        unchanged = json.dumps({"question": same(row.question)})
        _, result, server = negated(tmp_path, unchanged, GOOD)
        assert "the question has not been changed" in messages(server, 1)[-1][1]
        assert result.rows[0].question == "Is the lamp dark?"
        assert result.rows[0].correct == ("No",)
        assert len(server.requests) == 2

    def test_that_stays_the_same_question_leaves_it_as_it_is(self, tmp_path: Path) -> None:
        row, _, _ = negated(tmp_path / "which", GOOD)
        _, result, server = negated(tmp_path, json.dumps({"question": row.question}))
        assert isinstance(result, RowResult)
        (item,) = result.rows
        assert (item.question, item.correct) == (row.question, ("Yes",))
        note = item.provenance["negate"]
        assert note["not_negated"] == "no opposite question"
        assert note["detail"] == "the question has not been changed"
        assert len(server.requests) >= 4  # the other one was tried in its place

    @pytest.mark.parametrize("bad", ["No.", '{"question": ""}', '{"question": "  "}', '{"question": ["why?"]}', "null"])  # fmt: skip
    def test_that_is_none_is_repaired_then_given_up(self, bad: str, tmp_path: Path) -> None:
        _, result, server = negated(tmp_path / "a", bad, GOOD)
        assert result.rows[0].question == "Is the lamp dark?"
        assert len(server.requests) == 2
        row, result, server = negated(tmp_path / "b", bad)
        assert result.rows[0].question == row.question
        assert result.rows[0].provenance["negate"]["not_negated"] == "no opposite question"
        assert len(server.requests) == 8  # for both

    def test_that_cannot_be_had_decides_nothing(self, tmp_path: Path) -> None:
        assert isinstance(negated(tmp_path, (500, {}, b"oops"))[1], Undecided)


class TestKeyPositions:
    def test_are_uniform(self, tmp_path: Path) -> None:
        rows = [make_item(number) for number in range(40)]
        (passed,), _ = Studio(tmp_path).take(rows, balance_key_positions())
        assert Counter(item.answer for item in passed.out) == {(a,): 10 for a in "ABCD"}
        assert [item.id for item in passed.out] == [item.id for item in rows]
        for before, after in zip(rows, passed.out, strict=True):
            assert after.correct == before.correct
            assert sorted(after.options) == sorted(before.options)

    def test_are_those_of_the_seed(self, tmp_path: Path) -> None:
        rows = [make_item(number) for number in range(8)]

        def placed(seed: int) -> list[Item]:
            (passed,), _ = Studio(tmp_path, seed=seed).take(rows, balance_key_positions())
            return passed.out

        assert placed(1) == placed(1)
        assert placed(1) != placed(2)


class TestOtherBalance:
    def test_items_beyond_the_ratio_are_rejected_and_counted(self, tmp_path: Path) -> None:
        moods = ["good"] * 6 + ["plain"] * 5 + ["bad"] * 8
        rows = [make_item(n, tags=freeze({"mood": mood})) for n, mood in enumerate(moods)]
        stage = balance_ratio("mood", {"good": 1, "plain": 1, "bad": 2})
        (passed,), _ = Studio(tmp_path, opposite, WRITER).take(rows, stage)
        assert Counter(item.tag("mood")[0] for item in passed.out) == {
            "good": 4, "plain": 4, "bad": 8,
        }  # fmt: skip
        rejected = [r.rejected for r in passed.results if isinstance(r, RowResult) and r.rejected]
        assert [each.reason for each in rejected] == ["more than the ratio takes"] * 3

    def test_none_of_the_above_stands_last_and_is_right_as_often_as_said(
        self, tmp_path: Path
    ) -> None:
        rows = [make_item(n) for n in range(30)]
        (passed,), _ = Studio(tmp_path, opposite, WRITER).take(rows, none_of_the_above())
        offered = [item for item in passed.out if item.options[-1] == "None of the above"]
        assert len(offered) == 8
        assert sum(item.correct == ("None of the above",) for item in offered) == 4

    def test_a_video_is_in_one_split(self, tmp_path: Path) -> None:
        rows = [
            make_item(
                n, media=(Media(f"media/{n // 3}.mp4"),), tags=freeze({"category": "ab"[n % 2]})
            )
            for n in range(30)
        ]
        (passed,), _ = Studio(tmp_path, opposite, WRITER).take(
            rows, split({"dev": 0.5, "test": 0.5})
        )
        splits = {(item.media[0].path, item.tag("split")) for item in passed.out}
        assert len(splits) == 10
        assert Counter(item.tag("split") for item in passed.out) == {("dev",): 15, ("test",): 15}


class TestUnevenKeyPositions:
    def balanced(self, folder: Path, rows: Sequence[Item]) -> list[Item]:
        (passed,), _ = Studio(folder).take(rows, balance_key_positions(if_uneven=True))
        return passed.out

    def test_favoured_keys_are_put_into_other_places_and_none_is_dropped(
        self, tmp_path: Path
    ) -> None:
        rows = [make_item(n, answer=("ABCD"[max(0, n % 12 - 8)],)) for n in range(240)]
        out = self.balanced(tmp_path, rows)
        assert [item.id for item in out] == [row.id for row in rows]
        assert set(Counter(item.answer[0] for item in out).values()) == {60}
        findings, _ = shortcut_findings(out)
        assert "KEY_POSITION" not in {finding.tag for finding in findings}
        for row, item in zip(rows, out, strict=True):
            assert item.correct == row.correct
            order = item.provenance["key-positions"]["order"] if item is not row else range(4)
            assert item.options == tuple(row.options[place] for place in order)

    def test_letters_that_items_repeat_are_named_anew(self, tmp_path: Path) -> None:
        said = freeze({"correct_answer": "A", "correct_answers": ["A"], "label": "kept"})
        out = self.balanced(tmp_path, [make_item(n, answer=("A",), extra=said) for n in range(40)])
        for item in out:
            assert item.extra["correct_answer"] == item.answer[0]
            assert item.extra["correct_answers"] == item.answer
            assert item.extra["label"] == "kept"

    def test_even_ones_keep_the_order_they_were_published_in(self, tmp_path: Path) -> None:
        rows = [make_item(n, answer=("ABCD"[n % 4],)) for n in range(80)]
        assert self.balanced(tmp_path, rows) == rows

    def test_a_question_that_lists_its_options_keeps_them_where_they_are(
        self, tmp_path: Path
    ) -> None:
        listing = "Is it A. a door opens B. a dog barks C. it snows D. a bell rings"
        rows = [make_item(n, answer=("A",)) for n in range(40)]
        rows.append(make_item(99, question=listing, answer=("A",)))
        assert self.balanced(tmp_path, rows)[-1] == rows[-1]

    def test_other_kinds_and_none_at_all(self, tmp_path: Path) -> None:
        rows = [make_item(1, kind="open", options=(), answer=(), reference="so")]
        assert self.balanced(tmp_path / "a", rows) == rows
        assert self.balanced(tmp_path / "b", []) == []
