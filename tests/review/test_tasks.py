"""Items are handed out, answered and decided; what is acknowledged is kept."""

from pathlib import Path

from review.serving import ServedReview, local, served


def test_the_key_is_shown_after_the_answer_and_not_before(review: ServedReview) -> None:
    someone = local(review)
    task = someone.next("verify")
    assert task is not None
    assert "reveal" not in task
    assert someone.act(task, "verdict", {"decision": "accept"})[0] == 422
    status, saved = someone.act(task, "answered", {"choice": [0]})
    assert status == 200
    right = saved["reveal"]["answer"]
    assert len(right) == 1
    status, again = someone.act(task, "answered", {"choice": right})
    assert status == 422
    assert "stays" in again["error"]
    assert someone.act(task, "verdict", {"decision": "accept"})[0] == 200
    following = someone.next("verify")
    assert following is not None
    assert following["item"] != task["item"]


def test_an_action_that_is_sent_twice_is_kept_once(review: ServedReview) -> None:
    someone = local(review)
    task = someone.next("answer")
    assert task is not None
    key = "0123456789abcdef0123456789abcdef"
    first = someone.act(task, "answered", {"choice": [1]}, id=key)
    assert first[0] == 200
    assert someone.act(task, "answered", {"choice": [1]}, id=key) == first


def test_what_was_acknowledged_is_there_after_kill_9(benchmark: Path) -> None:
    with served(benchmark, "--local") as running:
        someone = local(running)
        done = []
        for _ in range(3):
            task = someone.next("answer")
            assert task is not None
            assert someone.act(task, "answered", {"choice": [0]})[0] == 200
            done.append(task["item"])
        running.process.kill()
        running.process.wait()
    with served(benchmark, "--local") as running:
        someone = local(running)
        task = someone.next("answer")
        assert task is not None
        assert task["progress"]["done"] == 3
        assert task["item"] not in done


def test_one_further_item_is_handed_out_ahead_and_no_more(review: ServedReview) -> None:
    someone = local(review)
    task = someone.next("answer")
    assert task is not None
    for _ in range(2):  # asking again gives the same
        status, answer = someone.send("POST", f"/api/q/answer/next?besides={task['item']}")
        assert status == 200
        ahead = answer["task"]
        assert ahead["item"] != task["item"]
    assert someone.next("answer") == task  # which is still the one to work on
    assert someone.act(task, "answered", {"choice": [0]})[0] == 200
    following = someone.next("answer")
    assert following is not None
    assert following["item"] == ahead["item"]
