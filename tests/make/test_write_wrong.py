"""Writers reply as they like: what is wrong is repaired once or counted."""

import json
from pathlib import Path
from typing import Any

import pytest
from parts import Studio, messages
from servers import Reply, completion
from writing import (
    CHECK,
    CONTEXT,
    GOOD,
    WRITE,
    checked,
    made,
    prompts,
    question,
    reasons,
    reply,
    writing_task,
    written,
)

from reelbench.base.files import digest_of
from reelbench.make.pipeline.store import RowResult

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
        assert [draft.reply for draft in drafts] == [question(1), question(2)]
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
            assert isinstance(result, RowResult)
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
        rejected = [r.rejected for r in check.results if isinstance(r, RowResult) and r.rejected]
        assert json.loads(rejected[0].words[0]) == question(2, distractors=["a", "b"])

    def test_of_one_task_leaves_the_others_alone(self, tmp_path: Path) -> None:
        def answer(body: Any, _: int) -> Reply:
            text = body["messages"][0]["content"][0]["text"]
            return completion("no" if "Write 2 questions.\nbad" in text else GOOD)

        work = Studio(tmp_path, answer, {"writer": ["pen"]}, prompts(), texts=[CONTEXT, "bad"])
        rows = [writing_task(1), writing_task(2, context=digest_of("bad")), writing_task(3)]
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
