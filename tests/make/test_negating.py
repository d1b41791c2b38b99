"""The balance of yes and no gives way only where nothing is left to turn, and never in silence."""

import json
import re
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Any

import pytest
from parts import Studio, recipe_of
from servers import Reply, completion
from support import make_item

from reelbench.base.files import json_line
from reelbench.data.items import Item
from reelbench.lint.shortcuts import shortcut_findings
from reelbench.make.parts.balance_stages import balance_yes_no, choose_negations, negate
from reelbench.make.pipeline.context import StageContext
from reelbench.make.pipeline.run import Pipeline, StageResult
from reelbench.make.pipeline.stage import Undecided

STAGES = (choose_negations(), negate(), balance_yes_no())
WRITER = {"writer": ["pen"]}


def rows(yes: int, no: int = 0) -> list[Item]:
    return [
        make_item(
            number,
            kind="yesno",
            question=f"Is lamp {number} bright in this video?",
            options=("Yes", "No"),
            answer=("A" if number < yes else "B",),
        )
        for number in range(yes + no)
    ]


def writer(stubborn: Collection[int], instead: str = "Is lamp {} not bright in this video?") -> Any:
    """A writer who merely negates the questions about some lamps, and turns the others."""

    def answer(body: Any, _: int) -> Reply:
        number = int(re.search(r"lamp (\d+) ", body["messages"][0]["content"][0]["text"])[1])  # type: ignore[index]
        form = instead if number in stubborn else "Is lamp {} dark in this video?"
        return completion(json.dumps({"question": form.format(number)}))

    return answer


class Make:
    """What came out, and what was said about it."""

    def __init__(self, folder: Path, items: Sequence[Item], answer: Callable[..., Any]) -> None:
        async def work(ctx: StageContext) -> tuple[list[StageResult], StageContext]:
            return await Pipeline(recipe_of(*STAGES), ctx, ctx.store).take(items), ctx

        (self.passed, ctx), server = Studio(folder, answer, WRITER).with_context(work)
        self.out: list[Item] = self.passed[-1].out
        self.notes, self.tables, self.asked = ctx.notes, ctx.tables, len(server.requests)

    @property
    def keys(self) -> Counter[str]:
        return Counter(item.correct[0] for item in self.out)

    @property
    def turned(self) -> set[str]:
        return {item.id for item in self.out if "dark" in item.question}


def findings(items: Sequence[Item]) -> list[str]:
    return [f.message for f in shortcut_findings(items)[0] if f.tag == "YES_NO_IMBALANCE"]


class TestAnotherInItsPlace:
    def test_is_turned_and_the_set_is_even(self, tmp_path: Path) -> None:
        first = Make(tmp_path / "all", rows(8), writer(())).turned
        stubborn = {int(name.removeprefix("q-")) for name in sorted(first)[:3]}
        made = Make(tmp_path / "some", rows(8), writer(stubborn))
        assert made.keys == {"Yes": 4, "No": 4}
        assert len(made.turned) == 4
        assert not made.turned & {f"q-{number}" for number in stubborn}
        for item in made.out:
            note = item.provenance.get("negate", {})
            assert ("not_negated" in note) == (item.id in {f"q-{n}" for n in stubborn})
        assert not made.notes
        assert not findings(made.out)

    def test_no_item_is_lost_and_none_is_turned_without_need(self, tmp_path: Path) -> None:
        made = Make(tmp_path, rows(5, 4), writer(range(20)))
        assert [item.id for item in made.out] == [item.id for item in rows(5, 4)]
        assert made.asked == 0

    def test_the_same_comes_out_whatever_the_order(self, tmp_path: Path) -> None:
        items = rows(9, 1)
        one = Make(tmp_path / "a", items, writer({0, 3, 5}))
        other = Make(tmp_path / "b", items[::-1], writer({0, 3, 5}))
        assert other.out == one.out[::-1]

    def test_a_second_time_asks_nothing(self, tmp_path: Path) -> None:
        one = Make(tmp_path, rows(6), writer({0, 1, 2}))
        again = Make(tmp_path, rows(6), writer({0, 1, 2}))
        assert one.asked
        assert (again.asked, again.out, again.tables) == (0, one.out, one.tables)

    def test_a_call_that_fails_decides_nothing_and_nothing_is_turned_for_it(
        self, tmp_path: Path
    ) -> None:
        made = Make(tmp_path, rows(4), lambda *_: (500, {}, b"oops"))
        undecided = [r for r in made.passed[1].results if isinstance(r, Undecided)]
        assert len(undecided) == 2
        again = Make(tmp_path, rows(4), writer(()))
        assert again.keys == {"Yes": 2, "No": 2}


class TestAShortfall:
    def test_is_said_shown_and_linted(self, tmp_path: Path) -> None:
        made = Make(tmp_path, rows(8, 2), writer(range(20)))
        assert made.keys == {"Yes": 8, "No": 2}
        (note,) = made.notes
        assert "Yes 8, No 2: 3 more questions would have to be turned" in note
        (table,) = made.tables
        assert table["rows"] == [
            ["Yes", 8],
            ["No", 2],
            ["turned into their opposite", 0],
            ["could not be turned: no opposite question", 8],
        ]
        (message,) = findings(made.out)
        assert "8 of 10 yes/no items have the answer yes" in message
        assert "8 questions could not be turned" in message

    def test_of_one_is_none(self, tmp_path: Path) -> None:
        made = Make(tmp_path, rows(5), writer({0, 1}))
        assert made.keys == {"Yes": 3, "No": 2}
        assert not made.notes
        assert not findings(made.out)

    def test_every_question_that_has_an_opposite_is_turned_first(self, tmp_path: Path) -> None:
        made = Make(tmp_path, rows(8), writer(range(6)))
        assert made.turned == {"q-6", "q-7"}
        assert made.keys == {"Yes": 6, "No": 2}
        assert len(made.notes) == 1


class TestPeople:
    @pytest.mark.parametrize("settled", [True, False])
    def test_who_reject_an_opposite_have_another_question_turned(
        self, settled: bool, tmp_path: Path
    ) -> None:
        made = Make(tmp_path, rows(6), writer(()))
        bad = next(item for item in made.passed[1].out if item.id in made.turned)
        verdict = {"item": bad.id, "who": "ann", "decision": "reject", "tags": ["not opposite"]}
        verdict |= {"digest": bad.content_digest, "settled": settled}
        (tmp_path / "verdicts.jsonl").write_text(json_line(verdict))
        again = Make(tmp_path, rows(6), writer(()))
        assert again.keys == {"Yes": 3, "No": 3}
        assert again.turned > made.turned - {bad.id}
        assert bad.id not in again.turned
        kept = next(item for item in again.out if item.id == bad.id)
        assert kept.question == bad.provenance["negate"]["negated_from"]
        assert kept.provenance["negate"]["not_negated"] == "rejected by people"
        assert kept.provenance["negate"]["detail"] == "not opposite"
        assert again.asked == 4 - 3

    def test_verdicts_on_the_question_as_it_was_are_not_about_its_opposite(
        self, tmp_path: Path
    ) -> None:
        lines = [
            {"item": row.id, "who": "ann", "decision": "reject", "digest": digest}
            for row in rows(6)
            for digest in (row.content_digest, "")
        ]
        tmp_path.joinpath("verdicts.jsonl").write_text("".join(map(json_line, lines)))
        assert Make(tmp_path, rows(6), writer(())).keys == {"Yes": 3, "No": 3}
