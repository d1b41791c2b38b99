"""Writers reply as they like: what is right is kept, what is wrong is repaired once or counted."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from parts import Studio, by_turns, messages
from servers import Reply, Server, completion, without_waiting

from reelbench.files import digest_of
from reelbench.items import Item
from reelbench.make.funnel import funnel_record
from reelbench.make.generate import Commission, Draft, checking, questions_schema, writing
from reelbench.make.pipeline import Passed
from reelbench.make.rules import load_rules
from reelbench.make.stage import Rejected, Undecided
from reelbench.make.store import Result
from reelbench.make.wording import Wording

CONTEXT = "# A film\n\nScene 1: a boat leaves. Scene 2: a storm. Scene 3: it returns {{count}}."
PROMPT = "Write {{count}} questions.\n{{context}}\n{{rules}}\n{{examples}}\n{{reply}}"
RULES = """
name: ours
version: "7"
red_lines:
  - {id: R1, text: Never name a scene by its number., check: no_scene_numbers}
  - {id: R2, text: Options are about equally long., check: {similar_length: 2}}
categories:
  Weather:
    - {id: W1, text: Name nobody., check: no_proper_nouns}
"""
WRITE, CHECK = writing(("ask",), 2, 3), checking(3)


def wording(rules: str = "", **more: Any) -> Wording:
    texts = {"ask": PROMPT, "reply": "Reply with JSON."}
    return Wording(texts, load_rules(rules) if rules else None, more)


def commission(number: int = 1, **fields: Any) -> Commission:
    plain: dict[str, Any] = {
        "id": f"film-{number}",
        "category": "Weather",
        "prompt": "ask",
        "media": "media/film.mp4",
        "context": digest_of(CONTEXT),
        "context_file": "contexts/film.md",
        "spans": ((0.0, 5.0), (5.0, 9.5), (9.5, 20.0)),
        "tags": {"film": "A film"},
    }
    return Commission(**(plain | fields))


def question(number: int = 1, **fields: Any) -> dict[str, Any]:
    plain = {
        "question": f"What happens to the boat in storm {number}?",
        "answer": "its mast breaks",
        "distractors": ["its sail tears", "its crew sings", "its hull leaks"],
        "reasoning": "The mast is seen to break.",
        "scenes": [2, 3],
    }
    return plain | fields


def reply(*questions: Any) -> str:
    return json.dumps({"questions": list(questions)})


GOOD = reply(question(1), question(2))


def studio(folder: Path, *replies: str | Reply, rules: str = "", **card: Any) -> Studio:
    cast = {"writer": [{"name": "pen", **card}]}
    return Studio(folder, by_turns(*replies), cast, wording(rules), texts=[CONTEXT])


def written(folder: Path, *replies: str | Reply, **more: Any) -> tuple[Any, Server]:
    """The drafts of one commission, or why there are none."""
    return studio(folder, *replies, **more).work(WRITE, commission())


def made(folder: Path, *replies: str | Reply, **more: Any) -> tuple[list[Passed], Server]:
    """One commission through writing and checking."""
    return studio(folder, *replies, **more).take([commission()], WRITE, CHECK)


def reasons(passed: Passed) -> Counter[str]:
    """Why rows were rejected, counted as the funnel counts them."""
    (stage,) = funnel_record([passed], (), 0)["stages"]
    rejected = [r.rejected for r in passed.results if isinstance(r, Result) and r.rejected]
    assert stage["rejected"] == len(rejected)
    return Counter(each.reason for each in rejected)


def checked(folder: Path, said: Any, rules: str = "", **fields: Any) -> Any:
    """What the check makes of one draft: an item, or why it is none."""
    draft = Draft(id="d", commission=commission(**fields), said=said, writer="pen")
    result, _ = Studio(folder, wording=wording(rules)).work(CHECK, draft)
    return result if isinstance(result, Rejected) else result[0]


class TestWhatIsAsked:
    def test_the_prompt_holds_count_context_rules_and_examples(self, tmp_path: Path) -> None:
        words = wording(RULES, Weather=[{"question": "why?", "n": 1}], Other=[{"no": 1}])
        asked = Studio(
            tmp_path, by_turns(GOOD), {"writer": ["pen"]}, words, texts=[CONTEXT]
        )  # fmt: skip
        _, server = asked.work(WRITE, commission())
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
        assert schema == questions_schema(3)
        assert "fit this schema" not in messages(server, 0)[0][1]

    def test_and_told_in_words_to_who_cannot(self, tmp_path: Path) -> None:
        _, server = written(tmp_path, GOOD, schemas=False)
        assert "response_format" not in server.requests[0]
        told = messages(server, 0)[0][1].partition("The JSON must fit this schema:\n")[2]
        assert json.loads(told) == questions_schema(3)


class TestValidAtOnce:
    def test_drafts_are_numbered_and_know_where_they_come_from(self, tmp_path: Path) -> None:
        drafts, server = written(tmp_path, GOOD)
        assert [draft.id for draft in drafts] == ["film-1-01", "film-1-02"]
        assert [draft.said for draft in drafts] == [question(1), question(2)]
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
        assert first.provenance["writer"] == "pen"
        assert first.provenance["rules"]["version"] == "7"
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


# What comes, what is said about it, and how many drafts can be saved where nothing better comes.
WRONG = [
    pytest.param(GOOD[: len(GOOD) // 2], "no complete JSON", None, id="cut off in the middle"),
    pytest.param(GOOD[:-1], "no complete JSON", None, id="cut off at the end"),
    pytest.param(f"<think>hm {GOOD}", "the reply is empty", None, id="reasoning without an end"),
    pytest.param("I cannot do that.", "no complete JSON", None, id="no JSON"),
    pytest.param(f"{reply(question(1))}\n{reply(question(2))}", "two different pieces", None, id="two objects"),
    pytest.param("null", "None is not of type 'object'", None, id="null"),
    pytest.param('{"questions": null}', "questions: None is not of type 'array'", None, id="null inside"),
    pytest.param('{"questions": []}', "questions: [] ", None, id="empty list"),
    pytest.param("[]", "[] is not of type 'object'", None, id="a list"),
    pytest.param('{"items": []}', "'questions' is a required property", None, id="another name"),
    pytest.param('{"questions": "none"}', "questions: 'none' is not of type 'array'", None, id="questions as text"),
    pytest.param(reply(question(scenes="2 and 3"), question(2)), "questions.0.scenes: '2 and 3' is not of type 'array'", "not as asked for", id="scenes as text"),
    pytest.param(reply(question(scenes=["2"]), question(2)), "questions.0.scenes.0: '2' is not of type 'integer'", "not as asked for", id="a scene as text"),
    pytest.param(reply(question(distractors="a; b; c"), question(2)), "questions.0.distractors: 'a; b; c' is not of type 'array'", "not as asked for", id="distractors as text"),
    pytest.param(reply(question(answer=["its mast breaks"]), question(2)), "questions.0.answer: ['its mast breaks'] is not of type 'string'", "not as asked for", id="answer as list"),
    pytest.param(reply(question(distractors=["a", "b"]), question(2)), "questions.0.distractors: ['a', 'b'] is too short", "not as asked for", id="too few options"),
    pytest.param(reply(question(distractors=["a", "b", "c", "d"]), question(2)), "questions.0.distractors: ['a', 'b', 'c', 'd'] is too long", "not as asked for", id="too many options"),
    pytest.param(reply({"question": "why?"}, question(2)), "questions.0: 'answer' is a required property", "not as asked for", id="key missing"),
    pytest.param(reply(question(mood="sad"), question(2)), "'mood' was unexpected", "not as asked for", id="a field too many"),
    pytest.param(reply(question(scenes=[]), question(2)), "questions.0.scenes: [] ", "not as asked for", id="no scenes"),
    pytest.param(reply(question(answer=""), question(2)), "questions.0.answer: '' ", "not as asked for", id="empty answer"),
    pytest.param(reply("why?", question(2)), "questions.0: 'why?' is not of type 'object'", "not as asked for", id="a question as text"),
    pytest.param(reply(None, question(2)), "questions.0: None is not of type 'object'", "not as asked for", id="a question that is null"),
    pytest.param(reply(question(distractors=["a", "b", "a"]), question(2)), "questions.0: two of the options are the same", "duplicate options", id="duplicate options"),
    pytest.param(reply(question(distractors=["a", "b", "Its mast BREAKS."]), question(2)), "questions.0: two of the options are the same", "duplicate options", id="the key again, in capitals"),
    pytest.param(reply(question(distractors=["A. a dog", "b) A Dog", "c"]), question(2)), "questions.0: two of the options are the same", "duplicate options", id="differing in label and case"),
]  # fmt: skip


class TestWrong:
    @pytest.mark.parametrize(("bad", "fault", "_reason"), WRONG)
    def test_is_repaired_once_with_what_is_wrong_quoted_then_asked_for_afresh(
        self, bad: str, fault: str, _reason: str | None, tmp_path: Path
    ) -> None:
        drafts, server = written(tmp_path, bad, bad, GOOD)
        assert [draft.said for draft in drafts] == [question(1), question(2)]
        assert len(server.requests) == 3
        first, said, complaint = messages(server, 1)
        assert first == messages(server, 0)[0]
        assert said == ("assistant", bad)
        assert complaint[0] == "user"
        assert fault in complaint[1]
        assert messages(server, 2) == messages(server, 0)

    def test_and_repaired_is_as_good_as_right_at_once(self, tmp_path: Path) -> None:
        (_, check), server = made(tmp_path, GOOD[:-1], f"Sorry:\n```json\n{GOOD}\n```")
        assert len(check.out) == 2
        assert len(server.requests) == 2

    @pytest.mark.parametrize(("bad", "fault", "reason"), WRONG)
    def test_and_then_never_again_and_what_is_right_in_it_is_kept(
        self, bad: str, fault: str, reason: str | None, tmp_path: Path
    ) -> None:
        (write, check), server = made(tmp_path, bad)
        assert len(server.requests) == 4
        if reason is None:
            assert reasons(write) == {"no questions in the reply": 1}
            (result,) = write.results
            assert isinstance(result, Result)
            assert result.rejected is not None
            assert fault in result.rejected.detail
            assert result.rejected.words == (bad,)
            assert check.rows == []
        else:
            assert reasons(write) == {}
            assert [draft.id for draft in check.rows] == ["film-1-01", "film-1-02"]
            assert reasons(check) == {reason: 1}
            assert [item.id for item in check.out] == ["film-1-02"]
        again, server = made(tmp_path, GOOD)
        assert server.requests == []
        assert again[-1].out == check.out
        assert [reasons(each) for each in again] == [reasons(write), reasons(check)]

    def test_all_bad_questions_of_a_reply_are_counted(self, tmp_path: Path) -> None:
        bad = reply(
            question(1),
            question(2, distractors=["a", "b"]),
            question(3, distractors=["a", "a", "b"]),
            question(4, scenes=[9]),
            "five",
            question(6),
        )
        (_, check), _ = made(tmp_path, bad)
        assert reasons(check) == {
            "not as asked for": 2,
            "duplicate options": 1,
            "evidence that is not there": 1,
        }
        assert [item.id for item in check.out] == ["film-1-01", "film-1-06"]
        rejected = [r.rejected for r in check.results if isinstance(r, Result) and r.rejected]
        assert json.loads(rejected[0].words[0]) == question(2, distractors=["a", "b"])

    def test_of_one_commission_leaves_the_others_alone(self, tmp_path: Path) -> None:
        def answer(body: Any, _: int) -> Reply:
            text = body["messages"][0]["content"][0]["text"]
            return completion("no" if "Write 2 questions.\nbad" in text else GOOD)

        work = Studio(tmp_path, answer, {"writer": ["pen"]}, wording(), texts=[CONTEXT, "bad"])
        rows = [commission(1), commission(2, context=digest_of("bad")), commission(3)]
        (write, check), _ = work.take(rows, WRITE, CHECK)
        assert reasons(write) == {"no questions in the reply": 1}
        expected = ["film-1-01", "film-1-02", "film-3-01", "film-3-02"]
        assert [item.id for item in check.out] == expected


class TestNumbersThatOnlyJsonHas:
    """What a schema lets through, or a reply may hold, never ends a make."""

    def test_a_scene_written_as_a_float_is_that_scene(self, tmp_path: Path) -> None:
        item = checked(tmp_path, question(scenes=[2.0]))
        assert item.evidence == ((5.0, 9.5),)

    def test_a_number_beyond_all_floats_is_not_as_asked_for(self, tmp_path: Path) -> None:
        bad = reply(question(1, scenes=["?"]), question(2)).replace('"?"', "1e999")
        (_, check), _ = made(tmp_path, bad)
        assert [item.id for item in check.out] == ["film-1-02"]

    def test_a_huge_whole_number_is_no_scene(self, tmp_path: Path) -> None:
        said = checked(tmp_path, question(scenes=[10**30]))
        assert said.reason == "evidence that is not there"

    def test_half_a_character_is_replaced_or_rejected_and_can_be_kept(self, tmp_path: Path) -> None:
        """An escape such as \\ud83d is JSON, and no text: a second make must be able to read it."""
        bad = reply(question(1, answer="a half \ud83d of it"), question(2))
        before, _ = made(tmp_path, bad)
        after, _ = made(tmp_path, bad)
        assert after[-1].out == before[-1].out
        for item in after[-1].out:
            item.to_line().encode()

    def test_a_reply_that_nests_deeply_is_not_as_asked_for(self, tmp_path: Path) -> None:
        deep = "[" * 700 + "]" * 700
        bad = reply(question(1, scenes=["?"]), question(2)).replace('["?"]', deep)
        (write, check), _ = made(tmp_path, bad)
        assert len(check.out) + sum(reasons(write).values()) + sum(reasons(check).values()) >= 1


class TestFailures:
    def test_a_refusal_rejects_with_what_was_said(self, tmp_path: Path) -> None:
        refusal = completion(None, message={"refusal": "I will not."})
        (write, _), server = made(tmp_path, refusal)
        assert reasons(write) == {"refused": 1}
        (result,) = write.results
        assert isinstance(result, Result)
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
        assert why.detail == f"scenes {absent} of 3"

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
        assert isinstance(checked(tmp_path, said, RULES, category="Boats"), Item)

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
        draft = Draft(id="d", commission=commission(), said=question(), writer="pen")

        def orders(seed: int) -> tuple[str, ...]:
            item = Studio(tmp_path, wording=wording(), seed=seed).work(CHECK, draft)[0][0]
            assert item.correct == ("its mast breaks",)
            return tuple(item.options)

        assert orders(0) == orders(0)
        assert len({orders(seed) for seed in range(8)}) > 3
