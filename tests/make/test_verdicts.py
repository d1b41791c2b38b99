"""People decide: what they accept goes on, and what they have not decided waits for them."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from parts import Studio, a_recipe
from stages import stage
from support import make_item, run_here

from reelbench.base.errors import ReelbenchError
from reelbench.data.sources import Sources
from reelbench.data.verdicts import Verdict, read_verdicts
from reelbench.make.parts.balance import negated
from reelbench.make.parts.verdict_agreement import agreement_table
from reelbench.make.parts.verdicts import verdicts
from reelbench.make.pipeline.make import MakeOptions, make_benchmark, waiting_file
from reelbench.make.pipeline.stage import WAITING, Undecided
from reelbench.make.pipeline.store import RowResult

ITEM = make_item(1)


def write(folder: Path, *lines: Any) -> None:
    folder.mkdir(exist_ok=True)
    text = "\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines)
    (folder / "verdicts.jsonl").write_text(text + "\n")


def said(who: str, decision: str, **more: Any) -> dict[str, Any]:
    return {"item": "q-1", "who": who, "decision": decision, **more}


def fate(folder: Path, *lines: Any, needed: int = 1) -> RowResult | Undecided:
    write(folder, *lines)
    (passed,), _ = Studio(folder).take([ITEM], verdicts(needed=needed))
    return passed.results[0]


def accepted(folder: Path, *lines: Any, needed: int = 1) -> Any:
    result = fate(folder, *lines, needed=needed)
    assert isinstance(result, RowResult)
    assert result.rejected is None
    return result.rows[0]


class TestDecisions:
    def test_to_accept_let_through_and_are_noted(self, tmp_path: Path) -> None:
        line = said("ann", "accept", rating={"quality": 4}, comment="fine", shown_at="noon")
        item = accepted(tmp_path, line)
        assert item.question == ITEM.question
        noted = item.to_record()["provenance"]["verdicts"]
        assert list(noted) == [{"who": "ann", "decision": "accept", "rating": {"quality": 4}}]

    def test_to_reject_reject_with_the_tags(self, tmp_path: Path) -> None:
        line = said("ann", "reject", tags=["ambiguous", "dull"], comment="what?")
        result = fate(tmp_path, line)
        assert isinstance(result, RowResult)
        assert result.rejected is not None
        assert (result.rejected.reason, result.rejected.detail, list(result.rejected.words)) == (
            "rejected by people", "ambiguous, dull", ["ann: what?"],
        )  # fmt: skip

    def test_to_change_change_the_item(self, tmp_path: Path) -> None:
        line = said("ann", "change", changes={"question": "Who?"}, answer=["C"])
        item = accepted(tmp_path, line)
        assert (item.question, item.answer, item.id) == ("Who?", ("C",), "q-1")

    def test_to_change_into_what_is_no_item_wait(self, tmp_path: Path) -> None:
        result = fate(tmp_path, said("ann", "change", answer=["Z"]))
        assert isinstance(result, Undecided)
        assert result.status == WAITING
        assert "it is not a valid item: answer" in result.error

    def test_to_change_into_what_the_linter_tags_wait(self, tmp_path: Path) -> None:
        options = [ITEM.options[1], *ITEM.options[1:]]
        result = fate(tmp_path, said("ann", "change", changes={"options": options}))
        assert isinstance(result, Undecided)
        assert result.status == WAITING
        assert "it would have DUPLICATE_OPTS: two options have the same text" in result.error

    @pytest.mark.parametrize(
        "change",
        [{"answer": ["C"]}, {"changes": {"options": ["it rains", *ITEM.options[1:]]}}],
    )
    def test_to_change_the_key_change_where_it_is_written_out(
        self, change: dict[str, Any], tmp_path: Path
    ) -> None:
        written = make_item(1, answer=("A",), reference=ITEM.options[0])
        write(tmp_path, said("ann", "change", **change))
        (passed,), _ = Studio(tmp_path).take([written], verdicts())
        (item,) = passed.out
        assert item.reference == item.correct[0] != written.reference

    @pytest.mark.parametrize(("decisions", "needed", "what"), [
        ((), 1, "waits"), (("accept",), 2, "waits"), (("accept", "reject"), 2, "waits"),
        (("accept", "reject"), 1, "waits"), (("accept", "reject", "reject"), 2, "rejected"),
        (("accept", "change", "reject"), 2, "passes"), (("accept", "accept"), 2, "passes"),
    ])  # fmt: skip
    def test_of_several_people_are_by_majority(
        self, decisions: Any, needed: int, what: str, tmp_path: Path
    ) -> None:
        lines = [said(f"p{number}", each) for number, each in enumerate(decisions)]
        result = fate(tmp_path, *lines, needed=needed)
        if isinstance(result, Undecided):
            assert (what, result.status) == ("waits", WAITING)
        else:
            assert what == ("rejected" if result.rejected else "passes")

    def test_that_are_settled_decide_alone_whoever_else_decided_what(self, tmp_path: Path) -> None:
        people = (said("ann", "reject"), said("bo", "reject"), said("cy", "accept"))
        end = said("discussion", "change", changes={"question": "Who?"}, settled=True)
        item = accepted(tmp_path, *people, end, needed=9)
        assert item.question == "Who?"
        noted = item.to_record()["provenance"]["verdicts"]
        assert [each["who"] for each in noted] == ["ann", "bo", "cy", "discussion"]
        assert noted[-1]["settled"] is True
        result = fate(
            tmp_path, said("ann", "accept"), said("bo", "reject", settled=True, tags=["dull"])
        )
        assert isinstance(result, RowResult)
        assert result.rejected is not None
        assert result.rejected.detail == "dull"

    def test_of_a_review_are_found_by_a_stage_with_a_file_of_its_own(self, tmp_path: Path) -> None:
        own = verdicts("own.jsonl", needed=2)
        write(tmp_path, said("ann", "accept"), said("ann", "accept", settled=True))
        (passed,), _ = Studio(tmp_path).take([ITEM], own)
        assert isinstance(passed.results[0], RowResult)
        write(tmp_path, said("ann", "accept"), said("bo", "accept"))
        (passed,), _ = Studio(tmp_path).take([ITEM], own)
        assert isinstance(passed.results[0], Undecided)

    def test_on_what_had_the_id_before_are_not_used(self, tmp_path: Path) -> None:
        settled = said("ann", "accept", settled=True)
        assert accepted(tmp_path, {**settled, "digest": ITEM.content_digest}).id == "q-1"
        earlier = {**settled, "digest": ITEM.replace(question="What was it?").content_digest}
        assert isinstance(fate(tmp_path, earlier), Undecided)

    def test_on_a_turned_question_say_that_they_are_about_it(self, tmp_path: Path) -> None:
        asked = make_item(1, kind="yesno", options=("Yes", "No"), answer=("A",))
        turned = negated(asked, "Does it stay dry?")
        for words in ({}, {"decision": "change", "changes": {"question": asked.question}}):
            line = {**said("ann", "accept"), **words}
            write(tmp_path, line)
            (passed,), _ = Studio(tmp_path).take([turned], verdicts())
            (waiting,) = passed.results
            assert isinstance(waiting, Undecided), "it may be about what was turned"
            assert f'with "digest": "{turned.content_digest}"' in waiting.error
        write(tmp_path, line, {**said("ann", "accept"), "digest": turned.content_digest})
        (passed,), _ = Studio(tmp_path).take([turned], verdicts())
        (item,) = passed.out
        assert (item.question, item.correct) == ("Does it stay dry?", ("No",))

    def test_by_one_person_twice_are_the_last(self, tmp_path: Path) -> None:
        assert accepted(tmp_path, said("ann", "reject"), said("ann", "accept"))


class TestAFileOfVerdicts:
    def test_that_is_wrong_has_every_bad_line_named(self, tmp_path: Path) -> None:
        lines = (
            "{",
            said("ann", "maybe"),
            said("ann", "accept"),
            "",
            said("b", "change", changes={"id": "x"}),
        )
        write(tmp_path, *lines)
        with pytest.raises(ReelbenchError) as error:
            read_verdicts(tmp_path / "verdicts.jsonl")
        told = str(error.value).splitlines()
        assert [line.split(": ")[0].rsplit(" ", 1)[1] for line in told] == ["1", "2", "5"]
        assert "decision" in told[1]
        assert "changes: id cannot be changed, only question" in told[2]

    def test_that_is_not_there_is_empty(self, tmp_path: Path) -> None:
        assert read_verdicts(tmp_path / "none.jsonl") == {}


def test_the_command_says_how_many_rows_wait_and_where(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "own.py"
    path.write_text(
        "from reelbench import Item, Manifest, Media\n"
        "from reelbench.data.sources import Sources\n"
        "from reelbench.make.parts.verdicts import verdicts\n"
        "from reelbench.make.pipeline.stage import Recipe\n"
        "rows = [Item(id=f'q-{n}', kind='open', media=(Media('a.mp4'),), question='x', reference='y')\n"
        "        for n in range(3)]\n"
        "RECIPE = Recipe(name='own', description='for tests', sources=lambda _: Sources(rows), roles={},\n"
        "                stages=(verdicts(),), manifest=lambda items, source: Manifest('own', '1'))\n"
    )
    out = tmp_path / "out"
    words = ("make", path, "--source", tmp_path / "clips", "--out", out)
    assert run_here(*words) == 1
    told = capsys.readouterr().err
    assert re.search(rf"3 rows wait for people: \S*reelbench review {out}\n", told)
    assert f"verdicts: 3 items in {waiting_file(out, 'verdicts')}; " in told
    assert re.search(rf"Then resume: \S*reelbench make \S+ --out {out}\n", told)
    assert f"1 more verdict needed in {out / 'verdicts.jsonl'}" in told
    write(out, *({**said("ann", "accept"), "item": f"q-{n}"} for n in range(3)))
    assert run_here(*words) == 0


def test_a_make_waits_for_people_and_goes_on(tmp_path: Path) -> None:
    rows = [make_item(1), make_item(2)]
    after = stage(name="after")
    recipe = a_recipe(verdicts(), after, sources=lambda _: Sources(rows))
    out, options = tmp_path / "out", MakeOptions(sources=[tmp_path / "source"])
    made = make_benchmark(recipe, out, options)
    assert len(made.items) == 0
    assert [row["status"] for row in made.funnel["undecided"]] == [WAITING] * 2
    waiting = waiting_file(out, "verdicts").read_text().splitlines()
    assert [json.loads(line)["id"] for line in waiting] == ["q-1", "q-2"]
    write(out, said("ann", "accept"), {**said("ann", "reject"), "item": "q-2"})
    made = make_benchmark(recipe, out, options)
    assert [item.id for item in made.items] == ["q-1"]
    assert made.funnel["undecided"] == []
    assert not waiting_file(out, "verdicts").exists()


def test_what_is_made_stays_while_people_decide_about_more(tmp_path: Path) -> None:
    rows = [make_item(1), make_item(2)]
    recipe = a_recipe(verdicts(together=True), sources=lambda _: Sources(rows[: len(given)]))
    out, options = tmp_path / "out", MakeOptions(sources=[tmp_path / "source"])
    given = [said("ann", "accept")]
    write(out, *given)
    make_benchmark(recipe, out, options)
    before = (out / "items.jsonl").read_bytes()
    given.append({**said("ann", "reject"), "item": "q-2"})  # a late row, nothing said of it yet
    made = make_benchmark(recipe, out, options)
    assert made.items == ()
    assert (out / "items.jsonl").read_bytes() == before
    (told,) = [each for each in made.warnings if "earlier make" in each]
    assert told.startswith(f"{out / 'items.jsonl'} is still that of an earlier make; ")
    assert told.endswith("undecided in this one: 2 rows")
    write(out, *({**each, "decision": "reject"} for each in given))
    assert make_benchmark(recipe, out, options).items == ()
    assert not (out / "items.jsonl").exists(), "nothing is left of it"


class TestSeveral:
    """Three people who must all agree, and items that go on together."""

    def took(self, folder: Path, *given: Any, **more: Any) -> list[Any]:
        items = [make_item(number) for number in (1, 2, 3)]
        write(folder, *given)
        (passed,), _ = Studio(folder).take(
            items, verdicts(**{"needed": 3, "unanimous": True, **more})
        )
        return list(passed.results)

    def all_say(self, item: str, *decisions: str) -> list[dict[str, Any]]:
        people = zip(("ann", "ben", "cat"), decisions, strict=False)
        return [said(who, decision, item=item) for who, decision in people]

    def test_one_who_does_not_agree_rejects_it_and_is_quoted(self, tmp_path: Path) -> None:
        accept, reject = ("accept",) * 3, ("accept", "accept", "reject")
        first, second, third = self.took(
            tmp_path,
            *self.all_say("q-1", *accept),
            *self.all_say("q-2", *reject),
            *self.all_say("q-3", "accept", "accept"),
        )
        assert first.rejected is None
        assert (second.rejected.reason, second.rejected.detail) == (
            "rejected by people",
            "not all agree",
        )
        assert "cat: reject" in second.rejected.words
        assert third.status == WAITING
        assert "1 more verdict needed" in third.error

    def test_what_all_would_change_alike_its_author_would_not(self, tmp_path: Path) -> None:
        more = {"changes": {"question": "What then?"}}
        alike = [{**each, **more} for each in self.all_say("q-1", *["change"] * 3)]
        bad = [{**each, "tags": ["dull"]} for each in self.all_say("q-2", *["reject"] * 3)]
        changed, refused, _ = self.took(tmp_path, *alike, *bad)
        assert changed.rejected.detail == "not all agree"
        assert refused.rejected.detail == "dull", "what all reject has their reasons"

    def test_together_what_is_decided_waits_for_the_others(self, tmp_path: Path) -> None:
        given = [*self.all_say("q-1", *["accept"] * 3), *self.all_say("q-2", *["reject"] * 3)]
        first, second, third = self.took(tmp_path, *given, together=True)
        assert isinstance(first, Undecided)
        assert [item.id for item in first.items] == ["q-3"], "what people are to decide about"
        assert "1 of 3 items still need verdicts" in first.error
        assert second.rejected is not None, "a rejection need not wait"
        assert isinstance(third, Undecided)
        first, *_ = self.took(
            tmp_path, *given, *self.all_say("q-3", *["accept"] * 3), together=True
        )
        assert isinstance(first, RowResult)

    def test_what_the_stage_is_not_about_passes(self, tmp_path: Path) -> None:
        first, *others = self.took(tmp_path, applies=lambda item: item.id != "q-1", together=True)
        assert isinstance(first, RowResult)
        assert "verdicts" not in first.rows[0].provenance
        assert all(isinstance(each, Undecided) for each in others)

    def test_how_many_agree_is_counted_with_the_author(self) -> None:
        def given(*decisions: str, settled: bool = True) -> list[Verdict]:
            people = [
                Verdict(item="q", who=f"p{n}", decision=each) for n, each in enumerate(decisions)
            ]  # type: ignore[arg-type]
            return [
                *people,
                *([Verdict(item="q", who="", decision="reject", settled=True)] if settled else []),
            ]

        found = [
            given("accept", "accept", "accept"), given("accept", "reject", "accept"),
            given("reject", "reject", "accept"), given("reject", "reject", "reject"),
            given("accept", "accept", settled=False),
        ]  # fmt: skip
        table = agreement_table("verify", found, 3, {4: 0.851, 3: 0.102, 2: 0.047})
        assert table is not None
        assert [row[:3] for row in table["rows"]] == [
            ["4 of 4", 1, "25.0%"], ["3 of 4", 2, "50.0%"], ["2 of 4", 1, "25.0%"],
        ]  # fmt: skip
        assert agreement_table("verify", [given("accept")], 3, {}) is None
        alone = agreement_table("verify", found, 3, {})
        assert alone is not None
        assert alone["columns"] == table["columns"][:-1], "nothing is published of it"
        assert alone["rows"] == [row[:-1] for row in table["rows"]]
