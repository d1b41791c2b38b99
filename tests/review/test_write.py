"""People write questions about videos: checked as they type, kept when they save, never lost."""

from review.serving import ServedReview, local

QUESTION = {"kind": "open", "question": "What falls first?", "reference": "The red ball."}


def test_only_ones_own_questions_are_edited_and_a_question_is_taken_back_once(
    review: ServedReview,
) -> None:
    someone = local(review)
    task = someone.next("write")
    assert task is not None
    stranger = {"item": {**QUESTION, "id": "of-another"}}
    status, refused = someone.act(task, "wrote", stranger)
    assert status == 422
    assert "is not there" in refused["error"]
    assert someone.act(task, "wrote", {"item": QUESTION})[0] == 200
    (written,) = someone.next("write")["written"]  # type: ignore[index]
    changed = {"item": {**QUESTION, "id": written["id"], "question": "What falls last?"}}
    assert someone.act(task, "wrote", changed)[0] == 200
    (written,) = someone.next("write")["written"]  # type: ignore[index]
    assert written["question"] == "What falls last?"
    assert someone.act(task, "withdrew", {"id": written["id"]})[0] == 200
    status, refused = someone.act(task, "withdrew", {"id": written["id"]})
    assert status == 422
    assert "taken back" in refused["error"]
    assert someone.next("write")["written"] == []  # type: ignore[index]
