"""Videos to write about, and whose the questions are that people write."""

from dataclasses import replace
from pathlib import Path

import pytest
from review.steps import ANN, BEN, BOSS, act, opened, take

from reelbench.base.errors import ReelbenchError
from reelbench.review.actions import Action
from reelbench.review.apply import decided_benchmark
from reelbench.review.errors import ActionError, ConflictError
from reelbench.review.protocol import ReviewProtocol

WRITE = ReviewProtocol("write", "write", "Write", "media", reviewers=2)
QUESTION = {"kind": "open", "question": "What falls?", "reference": "A cup."}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with one video."""
    (tmp_path / "media").mkdir()
    (tmp_path / "media" / "a.mp4").write_bytes(b"")
    return tmp_path


def test_pairs_are_those_of_the_file_or_neighbours_by_name(folder: Path) -> None:
    for name in "bcd":
        (folder / "media" / f"{name}.mp4").write_bytes(b"")
    with opened(folder, (), replace(WRITE, pairs=True)) as review:
        queue = review.queue("write")
        assert list(queue.subjects()) == ["media/a.mp4 + media/b.mp4", "media/c.mp4 + media/d.mp4"]
        (folder / "review").mkdir()
        pairs = folder / "review" / "pairs.csv"
        pairs.write_text("first,second\nmedia/a.mp4,media/d.mp4\n")
        assert list(queue.subjects()) == ["media/a.mp4 + media/d.mp4"]
        pairs.write_text("first,second\nmedia/a.mp4,../d.mp4\n")
        with pytest.raises(ReelbenchError, match=r"pairs.csv:2: second: found '../d.mp4'"):
            queue.subjects()


def test_videos_that_come_and_go_are_noticed_and_others_stay_what_they_were(folder: Path) -> None:
    with opened(folder, (), WRITE) as review:
        queue = review.queue("write")
        before = queue.subjects()
        assert queue.subjects() is before  # nothing is put together again for every click
        for count in range(2, 6):
            (folder / "media" / f"{count}.mp4").write_bytes(b"")
            assert len(queue.subjects()) == count


def test_questions_belong_to_who_wrote_them(folder: Path) -> None:
    with opened(folder, (), WRITE) as review:
        task = take(review, ANN, "write")
        act(review, ANN, task, "wrote", item=QUESTION)
        (written,) = review.task(ANN, "write", task["item"])["written"]
        other = take(review, BEN, "write")
        for kind, body in (
            ("wrote", {"item": {**QUESTION, "id": written["id"]}}),
            ("withdrew", {"id": written["id"]}),
        ):
            with pytest.raises(ActionError, match="ann wrote this question"):
                act(review, BEN, other, kind, **body)
        with pytest.raises(ActionError, match="not there"):
            act(review, BEN, other, "wrote", item={**QUESTION, "id": "q-1"})
        act(review, ANN, task, "wrote", item={**QUESTION, "id": written["id"], "question": "What?"})
        act(review, ANN, task, "withdrew", id=written["id"])
        with pytest.raises(ActionError, match="not there"):
            act(review, ANN, task, "withdrew", id=written["id"])
        assert review.task(ANN, "write", task["item"])["written"] == []


def test_a_question_stays_its_authors_whoever_sends_what(folder: Path) -> None:
    check = ReviewProtocol("verify", "verify", "Verify", "candidates")
    with opened(folder, (), WRITE, check) as review:
        task, other = take(review, ANN, "write"), take(review, BEN, "write")
        key = "0123456789ab-0000"
        first = Action(key, "wrote", task["item"], task["digest"], 0, {"item": QUESTION})
        seen = review.act(ANN, "write", first).event.seq
        like_it = Action(f"{key}1", "wrote", other["item"], other["digest"], seen, first.body)
        with pytest.raises(ActionError, match="another question"):
            review.act(BEN, "write", like_it)
        (written,) = review.task(BOSS, "write", task["item"])["written"]
        shown = review.task(BOSS, "write", task["item"])
        edited = {**QUESTION, "id": written["id"], "question": "What fell?"}
        act(review, BOSS, shown, "wrote", item=edited)
        (written,) = review.task(BOSS, "write", task["item"])["written"]
        assert (written["author"], written["question"]) == ("ann", "What fell?")
        assert review.next_task(ANN, "verify") is None  # it is still her own
        assert take(review, BOSS, "verify")["question"] == "What fell?"


def test_who_works_on_what_another_did_meanwhile_sees_it_first(folder: Path) -> None:
    with opened(folder, (), WRITE) as review:
        first, second = take(review, ANN, "write"), take(review, BEN, "write")
        saved = act(review, ANN, first, "wrote", item=QUESTION)
        with pytest.raises(ConflictError) as conflict:
            act(review, BEN, second, "wrote", item=QUESTION)
        assert [each.who for each in conflict.value.events] == ["ann"]
        act(review, BEN, {**second, "seen": saved.event.seq}, "wrote", item=QUESTION)


def test_what_was_written_is_taken_as_it_is_where_nobody_verifies_it(folder: Path) -> None:
    verify = ReviewProtocol("verify", "verify", "Verify", "candidates")
    with opened(folder, (), WRITE) as review:
        act(review, ANN, take(review, ANN, "write"), "wrote", item=QUESTION)
        (item,) = decided_benchmark(review).items
        assert (item.question, item.reference) == ("What falls?", "A cup.")
        assert item.provenance["author"] == "ann"
    with opened(folder, (), WRITE, verify) as review:
        review.catch_up()
        assert decided_benchmark(review).items == []
