"""Writers are asked for questions: what is right is kept, and what is not is rejected or undecided."""

import json
from pathlib import Path
from typing import Any

import pytest
from parts import Studio, by_turns, messages
from servers import completion, without_waiting
from writing import (
    CHECK,
    CONTEXT,
    GOOD,
    RULES,
    WRITE,
    checked,
    made,
    prompts,
    question,
    reasons,
    writing_task,
    written,
)

from reelbench.base.files import digest_of
from reelbench.data.items import Item
from reelbench.make.parts.drafts import Draft
from reelbench.make.pipeline.prompts import Prompts
from reelbench.make.pipeline.stage import Rejected, Undecided
from reelbench.make.pipeline.store import RowResult


class TestWhatIsAsked:
    def test_the_prompt_holds_count_context_rules_and_examples(self, tmp_path: Path) -> None:
        words = prompts(RULES, Weather=[{"question": "why?", "n": 1}], Other=[{"no": 1}])
        asked = Studio(
            tmp_path, by_turns(GOOD), {"writer": ["pen"]}, words, texts=[CONTEXT]
        )  # fmt: skip
        _, server = asked.work(WRITE, writing_task())
        ((role, text),) = messages(server, 0)
        assert role == "user"
        assert text.startswith("Write 2 questions.\n# A film")
        assert "R1. Never name a scene" in text
        assert "W1. Name nobody." in text
        assert '{"question": "why?", "n": 1}' in text
        assert '"no"' not in text
        assert text.endswith("Reply with JSON.")

    def test_what_a_context_holds_is_not_read_as_a_slot(self, tmp_path: Path) -> None:
        _, server = written(tmp_path, GOOD)
        assert "it returns {{count}}." in messages(server, 0)[0][1]

    def test_a_schema_is_sent_to_who_can_be_told(self, tmp_path: Path) -> None:
        _, server = written(tmp_path, GOOD)
        schema = server.requests[0]["response_format"]["json_schema"]["schema"]
        assert schema == writing_task().schema(2)
        assert "fit this schema" not in messages(server, 0)[0][1]

    def test_and_told_in_words_to_who_cannot(self, tmp_path: Path) -> None:
        _, server = written(tmp_path, GOOD, schemas=False)
        assert "response_format" not in server.requests[0]
        told = messages(server, 0)[0][1].partition("The JSON must fit this schema:\n")[2]
        assert json.loads(told) == writing_task().schema(2)


class TestValidAtOnce:
    def test_drafts_are_numbered_and_know_where_they_come_from(self, tmp_path: Path) -> None:
        drafts, server = written(tmp_path, GOOD)
        assert [draft.id for draft in drafts] == ["film-1-01", "film-1-02"]
        assert [draft.reply for draft in drafts] == [question(1), question(2)]
        assert {(draft.writer, draft.category) for draft in drafts} == {("pen", "Weather")}
        assert len(server.requests) == 1

    def test_and_become_items(self, tmp_path: Path) -> None:
        (_, passed), _ = made(tmp_path, GOOD, rules=RULES)
        first, second = passed.out
        assert isinstance(first, Item)
        assert first.correct == ("its mast breaks",)
        assert sorted(first.options) == sorted(["its mast breaks", *question()["distractors"]])
        assert first.evidence == ((5.0, 9.5), (9.5, 20.0))
        assert first.tags == {"category": "Weather", "film": "A film"}
        assert first.context["sha256"] == digest_of(CONTEXT)
        assert first.context["scenes"] == (2, 3)
        assert first.provenance["write"]["model"] == "pen"
        assert first.provenance["write"]["rules"]["version"] == "7"
        assert second.id == "film-1-02"

    @pytest.mark.parametrize("said", [
        f"Sure! Here they are:\n{GOOD}\nShall I write more?",
        f"```json\n{GOOD}\n```",
        f"Here:\n```\n{GOOD}\n```\nI hope this helps [1].",
        f"<think>Perhaps {{\"questions\": []}}?</think>\n{GOOD}",
        f"{GOOD}\n\nAnd once more:\n\n{GOOD}",
    ], ids=["chatty", "fenced", "fenced and chatty", "reasoning before", "said twice"])  # fmt: skip
    def test_whatever_stands_around_it(self, said: str, tmp_path: Path) -> None:
        (_, passed), server = made(tmp_path, said)
        assert len(passed.out) == 2
        assert len(server.requests) == 1


class TestFailures:
    def test_a_refusal_rejects_with_what_was_said(self, tmp_path: Path) -> None:
        refusal = completion(None, message={"refusal": "I will not."})
        (write, _), server = made(tmp_path, refusal)
        assert reasons(write) == {"refused": 1}
        (result,) = write.results
        assert isinstance(result, RowResult)
        assert result.rejected is not None
        assert result.rejected.words == ("I will not.",)
        assert len(server.requests) == 1

    def test_a_server_that_fails_decides_nothing_and_nothing_is_kept(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        without_waiting(monkeypatch)
        (write, _), server = made(tmp_path, (500, {}, b"oops"), retries=2)
        (undecided,) = write.results
        assert isinstance(undecided, Undecided)
        assert undecided.status == "error"
        assert "HTTP 500: oops" in undecided.error
        assert len(server.requests) == 3
        (_, check), server = made(tmp_path, GOOD)
        assert len(check.out) == 2
        assert len(server.requests) == 1

    def test_a_repair_that_fails_is_gone_on_with_another_time(self, tmp_path: Path) -> None:
        """The first reply was paid for, and is not asked for again."""
        (write, _), _ = made(tmp_path, "no", (500, {}, b"oops"))
        assert isinstance(write.results[0], Undecided)
        (_, check), server = made(tmp_path, GOOD)
        assert len(check.out) == 2
        assert len(server.requests) == 1
        assert len(messages(server, 0)) == 3


class TestChecking:
    @pytest.mark.parametrize("scenes", [[0], [4], [1, 9], [-1]])
    def test_scenes_that_are_not_there(self, scenes: list[int], tmp_path: Path) -> None:
        why = checked(tmp_path, question(scenes=scenes))
        assert why.reason == "evidence that is not there"
        absent = [number for number in scenes if number != 1]
        assert why.detail == f"scenes {absent}, but there are 3"

    def test_a_scene_said_twice_is_evidence_once_and_in_order(self, tmp_path: Path) -> None:
        item = checked(tmp_path, question(scenes=[3, 1, 3]))
        assert item.evidence == ((0.0, 5.0), (9.5, 20.0))
        assert item.context["scenes"] == (1, 3)

    def test_a_broken_rule_is_named_with_the_words(self, tmp_path: Path) -> None:
        why = checked(tmp_path, question(question="What happens to the boat in scene 2?"), RULES)
        assert why.reason == "rule R1"
        assert why.detail == "R1: the question says 'scene 2'"

    def test_all_broken_rules_are_told_and_the_first_is_counted(self, tmp_path: Path) -> None:
        long = "its mast, which was new that very morning, breaks in two in the wind"
        said = question(question="What does Anna see in scene 2?", answer=long)
        why = checked(tmp_path, said, RULES)
        assert why.reason == "rule R1"
        assert "R2: the options have 3 to 14 words" in why.detail
        assert "W1: the question names 'Anna'" in why.detail

    def test_rules_of_another_category_do_not_hold(self, tmp_path: Path) -> None:
        said = question(question="What does Anna see while it storms?")
        assert checked(tmp_path, said, RULES).reason == "rule W1"
        assert isinstance(checked(tmp_path, said, RULES, tags={"category": "Boats"}), Item)

    @pytest.mark.parametrize("blank", [
        {"question": "  "}, {"answer": " \n"}, {"distractors": ["a", "\t", "b"]},
    ], ids=lambda blank: next(iter(blank)))  # fmt: skip
    def test_a_blank_text_is_not_as_asked_for(self, blank: Any, tmp_path: Path) -> None:
        """An item with a blank text cannot be saved, so that one would end the whole make."""
        why = checked(tmp_path, question(**blank))
        assert isinstance(why, Rejected)

    def test_options_that_are_single_letters_are_no_duplicates(self, tmp_path: Path) -> None:
        """What stands behind the label of "B." is nothing, and so it is behind that of "C."."""
        said = question(answer="A.", distractors=["B.", "C.", "D."])
        item = checked(tmp_path, said)
        assert sorted(item.options) == ["A.", "B.", "C.", "D."]

    def test_options_that_are_signs_are_no_duplicates(self, tmp_path: Path) -> None:
        item = checked(tmp_path, question(answer="?", distractors=["!", "...", "%"]))
        assert sorted(item.options) == sorted(["?", "!", "...", "%"])

    def test_blanks_around_texts_are_taken_off(self, tmp_path: Path) -> None:
        item = checked(tmp_path, question(question=" Why? ", answer=" so\n"))
        assert item.question == "Why?"
        assert item.correct == ("so",)

    def test_the_order_of_options_is_that_of_the_seed(self, tmp_path: Path) -> None:
        draft = Draft(id="d", task=writing_task(), reply=question(), writer="pen")

        def orders(seed: int) -> tuple[str, ...]:
            item = Studio(tmp_path, prompts=prompts(), seed=seed).work(CHECK, draft)[0][0]
            assert item.correct == ("its mast breaks",)
            return tuple(item.options)

        assert orders(0) == orders(0)
        assert len({orders(seed) for seed in range(8)}) > 3


def test_texts_for_slots_are_in_the_prompt(tmp_path: Path) -> None:
    texts = {"ask": "Write.\n{{guidance}}\n{{context}}\n{{reply}}", "reply": "Reply with JSON."}
    words = Prompts(texts, None, {})
    asked = Studio(tmp_path, by_turns(GOOD), {"writer": ["pen"]}, words, texts=[CONTEXT])
    _, server = asked.work(WRITE, writing_task(slots={"guidance": "Mind the lighting."}))
    assert messages(server, 0)[0][1].startswith("Write.\nMind the lighting.\n# A film")
