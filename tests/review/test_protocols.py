"""Every number of a protocol acts: another number, another behaviour."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from review.steps import ANN, BEN, BOSS, CAT, DAN, act, opened, take, verify
from support import make_item

from reelbench.base.errors import ReelbenchError
from reelbench.data.items import Item, Media
from reelbench.review.actions import Action
from reelbench.review.decisions import settled_decisions
from reelbench.review.errors import AccessError, ActionError
from reelbench.review.people import Person
from reelbench.review.protocol import (
    ReviewProtocol,
    Sample,
    built_in_protocols,
    find_protocol,
    read_protocol,
)
from reelbench.review.rounds import rounds_by_category
from reelbench.review.subjects import subject_of
from reelbench.review.written import check_written

PROTOCOLS = built_in_protocols()


def of(name: str, **changes: Any) -> ReviewProtocol:
    """A built-in protocol, over the benchmark's own items."""
    protocol = read_protocol(PROTOCOLS[name])
    return replace(protocol, **{"items": "benchmark", **changes})


def questions(count: int, **fields: Any) -> list[Item]:
    return [make_item(number).replace(**fields) for number in range(1, count + 1)]


@pytest.mark.parametrize("name", PROTOCOLS)
def test_every_built_in_protocol_is_read_and_says_what_to_do(name: str) -> None:
    protocol = read_protocol(PROTOCOLS[name])
    assert protocol.name == name
    assert protocol.title
    general = ("write", "verify", "rate", "answer")
    assert protocol.instructions or name in general
    first = PROTOCOLS[name].read_text().splitlines()[0]
    assert name in general or re.match(r"# \S+.*(\d|appendix|supplement)", first)


def test_the_numbers_are_those_of_the_papers() -> None:
    single, pair = of("qbench-video-write"), of("qbench-video-write-pair")
    assert (single.per_day, single.watch, single.options) == (30, "full", (2, 4))
    assert (pair.gap, pair.pairs, pair.per_day) == (5, True, 30)
    for name in ("verify", "answer"):  # who reviews and answers sees a pair as its writer did
        shown = of(f"qbench-video-{name}")
        assert (shown.gap, shown.pairs, shown.watch) == (5, True, "full")
    four = of("qbench-video-verify")
    assert (four.reviewers, four.author_agrees, four.agree, four.dispute) == (
        3,
        True,
        "all",
        "drop",
    )
    audit = of("mmou-audit")
    assert (audit.sample.share, len(audit.axes)) == (0.2, 5)  # the four, and dependency
    writing = of("mmou-write")
    assert len(writing.tags[0].choices) == 13
    assert len(writing.tags[1].choices) == 10
    assert [writing.fewest_questions(s) for s in (60, 299.9, 300, 599, 600, 7200)] == [
        2,
        2,
        3,
        3,
        6,
        6,
    ]
    rate = of("musebench-rate")
    assert (rate.sample.count, rate.calibration.count, rate.reviewers) == (93, 3, 2)
    assert [(axis.lowest, axis.highest) for axis in rate.axes] == [(0, 5)] * 4
    assert all(
        list(axis.anchors) == ["1", "3", "5"] and "clear cases" in axis.about for axis in rate.axes
    )
    assert of("musebench-verify").rounds == 3
    assert of("humanvbench-verify").reviewers == 2
    cross = of("humanvbench-cross")
    assert (cross.reviewers, cross.author_agrees, cross.dispute) == (1, True, "discuss")
    assert of("humanvbench-agree").sample.count == 240
    assert of("mmou-answer").back is False


@pytest.mark.parametrize("most", [2, 3])
def test_a_day_has_so_many_videos_and_no_more(most: int, tmp_path: Path) -> None:
    items = [
        make_item(number).replace(media=(Media(f"media/{number // 2}.mp4"),))
        for number in range(12)
    ]
    protocol = of("qbench-video-verify", per_day=most, author_agrees=False, reviewers=1)
    with opened(tmp_path, items, protocol) as review:
        for _ in range(2 * most):  # two questions of each video count once
            verify(review, ANN, protocol.name)
        with pytest.raises(AccessError, match=f"{most} today"):
            take(review, ANN, protocol.name)
        assert take(review, BEN, protocol.name)


def test_a_day_counts_the_videos_of_pairs_and_of_other_queues(tmp_path: Path) -> None:
    (tmp_path / "media").mkdir()
    for number in range(8):
        (tmp_path / "media" / f"{number}.mp4").write_bytes(b"")
    single = of("qbench-video-write", items="media", per_day=5)
    pairs = of("qbench-video-write-pair", items="media", per_day=5)
    with opened(tmp_path, [], single, pairs) as review:
        for queue in (pairs.name, single.name, pairs.name):  # 0 and 1; 0 again; 2 and 3
            act(review, ANN, take(review, ANN, queue), "finished", watched=True)
        assert review.queue(single.name).today(ANN) == review.queue(pairs.name).today(ANN) == 4
        with pytest.raises(AccessError, match="4 today, and 5 are the most"):
            take(review, ANN, pairs.name)  # two more would be six
        for _ in range(4):  # 1 to 3 were seen in pairs, 4 is new
            act(review, ANN, take(review, ANN, single.name), "finished", watched=True)
        with pytest.raises(AccessError, match="5 today"):
            take(review, ANN, single.name)
        assert take(review, BEN, pairs.name)


def test_who_writes_may_go_back_to_the_video_before(tmp_path: Path) -> None:
    (tmp_path / "media").mkdir()
    for number in range(3):
        (tmp_path / "media" / f"{number}.mp4").write_bytes(b"")
    protocol = of("qbench-video-write", items="media")
    question = {"kind": "open", "question": "What is wrong with it?", "reference": "Noise."}
    question["tags"] = {"concern": ["Technical"], "context": ["Global"]}
    with opened(tmp_path, [], protocol, replace(protocol, name="forward", back=False)) as review:
        first = take(review, ANN, protocol.name)
        act(review, ANN, first, "finished", watched=True)
        second = take(review, ANN, protocol.name)
        assert second["previous"] == first["item"]
        back = review.task(ANN, protocol.name, first["item"])
        assert act(review, ANN, back, "wrote", item=question, watched=True).event.type == "wrote"
        assert act(review, ANN, back, "finished", watched=True)
        assert take(review, ANN, protocol.name)["item"] == second["item"]
        task = take(review, ANN, "forward")
        act(review, ANN, task, "finished", watched=True)
        with pytest.raises(ActionError, match="finished"):
            act(review, ANN, task, "finished", watched=True)
        assert "previous" not in take(review, ANN, "forward")


@pytest.mark.parametrize("watched", [True, False])
def test_nothing_is_saved_before_the_video_was_watched_in_full(
    watched: bool, tmp_path: Path
) -> None:
    protocol = of("qbench-video-answer")
    with opened(tmp_path, questions(1), protocol) as review:
        task = take(review, ANN, protocol.name)
        if watched:
            act(review, ANN, task, "answered", choice=[0], watched=True)
        else:
            with pytest.raises(ActionError, match="Watch the whole video"):
                act(review, ANN, task, "answered", choice=[0], watched=False)


@pytest.mark.parametrize("reviewers", [1, 3])
def test_an_item_goes_to_so_many_reviewers(reviewers: int, tmp_path: Path) -> None:
    protocol = of("verify", reviewers=reviewers)
    with opened(tmp_path, questions(1), protocol) as review:
        for person in (ANN, BEN, CAT)[:reviewers]:
            verify(review, person, protocol.name)
        assert review.next_task(DAN, protocol.name) is None


def test_only_what_all_four_agree_on_is_kept(tmp_path: Path) -> None:
    protocol = of("qbench-video-verify")
    items = [each.replace(provenance={"author": "dan"}) for each in questions(2)]
    with opened(tmp_path, items, protocol) as review:
        queue = review.queue(protocol.name)
        assert review.next_task(DAN, protocol.name) is None  # who wrote them
        for person in (ANN, BEN):
            verify(review, person, protocol.name)
        task = take(review, CAT, protocol.name)
        act(review, CAT, task, "verdict", decision="reject", tags=["key is wrong"], watched=True)
        first = queue.settlement(queue.subjects()[task["item"]])
        assert (first.status, first.agreeing, first.deciding) == ("settled", 3, 4)
        assert first.verdict is not None
        assert first.verdict.decision == "reject"
        other = next(id_ for id_ in queue.subjects() if id_ != task["item"])
        for person in (ANN, BEN, CAT):
            assert verify(review, person, protocol.name)["item"] == other
        second = queue.settlement(queue.subjects()[other])
        assert (second.agreeing, second.deciding) == (4, 4)
        assert second.verdict is not None
        assert second.verdict.decision == "accept"


def test_what_was_decided_stays_when_the_item_has_left_the_queue(tmp_path: Path) -> None:
    protocol = of("qbench-video-verify")
    items = [each.replace(provenance={"author": "dan"}) for each in questions(2)]
    with opened(tmp_path, items, protocol) as review:
        queue = review.queue(protocol.name)
        for person in (ANN, BEN, CAT):  # all would change it alike, and its author would not
            task = take(review, person, protocol.name)
            act(review, person, task, "answered", choice=[0], watched=True)
            new = {"question": "Which one now?"}
            act(review, person, task, "verdict", decision="change", changes=new, watched=True)
        path = tmp_path / "items.jsonl"
        kept = [line for line in path.read_text().splitlines(True) if task["item"] not in line]
        path.write_text("".join(kept))
        assert task["item"] not in queue.subjects()
        (decided,) = settled_decisions(queue, task["item"])
        assert decided.verdict is not None
        assert (decided.verdict.decision, decided.verdict.tags) == ("reject", ("not all agree",))


def test_a_dispute_goes_to_another_reviewer_and_then_to_discussion(tmp_path: Path) -> None:
    protocol = of("humanvbench-verify")
    with opened(tmp_path, questions(1), protocol) as review:
        queue = review.queue(protocol.name)
        task = verify(review, ANN, protocol.name)
        subject = queue.subjects()[task["item"]]
        assert queue.settlement(subject).status == "open"
        bad = {"decision": "reject", "tags": ["video freezes"]}
        task = take(review, BEN, protocol.name)
        act(review, BEN, task, "verdict", **bad)
        assert queue.settlement(subject).status == "disputed"
        task = take(review, CAT, protocol.name)
        act(review, CAT, task, "answered", choice=[1])
        act(review, CAT, task, "verdict", decision="change", changes={"question": "Which one now?"})
        assert queue.settlement(subject).status == "discussion"
        with pytest.raises(AccessError):
            act(review, DAN, task, "resolved", decision="accept")
        seen = review.task(BOSS, protocol.name, task["item"])
        assert [each["who"] for each in seen["discussion"] if each["type"] == "verdict"] == [
            "ann", "ben", "cat",
        ]  # fmt: skip
        act(review, BOSS, seen, "resolved", decision="accept")
        settled = queue.settlement(subject)
        assert settled.verdict is not None
        assert (settled.status, settled.verdict.who) == ("settled", "boss")


def test_a_third_reviewer_can_settle_a_dispute(tmp_path: Path) -> None:
    protocol = of("humanvbench-verify")
    with opened(tmp_path, questions(1), protocol) as review:
        verify(review, ANN, protocol.name)
        task = take(review, BEN, protocol.name)
        act(review, BEN, task, "verdict", decision="reject", tags=["video freezes"])
        verify(review, CAT, protocol.name)
        settled = review.queue(protocol.name).settlement(
            review.queue(protocol.name).subjects()[task["item"]]
        )
        assert settled.verdict is not None
        assert (settled.status, settled.verdict.decision) == ("settled", "accept")


def test_a_written_answer_is_refused_where_the_protocol_has_none(tmp_path: Path) -> None:
    with opened(tmp_path, questions(1), of("humanvbench-verify")) as review:
        task = take(review, ANN, "humanvbench-verify")
        act(review, ANN, task, "answered", written="Something else")
    with opened(tmp_path, questions(1), of("qbench-video-verify")) as review:
        task = take(review, ANN, "qbench-video-verify")
        with pytest.raises(ActionError, match="one of the options"):
            act(review, ANN, task, "answered", written="Something else", watched=True)


def test_experts_get_what_they_know(tmp_path: Path) -> None:
    items = [
        make_item(number).replace(tags={"category": name})
        for number, name in enumerate(("Game", "Cinematic"), 1)
    ]
    protocol = of("musebench-verify")
    with opened(tmp_path, items, protocol) as review:
        expert = Person("eve", "annotator", ("Cinematic",))
        assert take(review, expert, protocol.name)["item"] == items[1].id
        assert review.next_task(ANN, protocol.name) is None


def test_a_queue_takes_what_waits_at_its_stage_and_has_its_tags(tmp_path: Path) -> None:
    kinds = ("HC", "TSA", "ASD")
    items = [
        make_item(number).replace(tags={"category": name}) for number, name in enumerate(kinds, 1)
    ]
    count, cross = of("humanvbench-count", items="candidates"), of("humanvbench-cross", items="all")
    with opened(tmp_path, items, count, cross) as review:
        for stage, waiting in (("annotation", items[:2]), ("cross-verification", items[2:])):
            path = tmp_path / "make" / f"{stage}-waiting.jsonl"
            path.parent.mkdir(exist_ok=True)
            path.write_text(
                "".join(f"{item.replace(id=f'w-{item.id}').to_line()}\n" for item in waiting)
            )
        assert list(review.queue(count.name).subjects()) == ["w-q-1"]
        assert list(review.queue(cross.name).subjects()) == ["w-q-3", "q-1", "q-2", "q-3"]


@pytest.mark.parametrize(("share", "count"), [(0.2, 4), (0.5, 10)])
def test_a_sample_is_an_exact_share_and_keeps_what_was_begun(
    share: float, count: int, tmp_path: Path
) -> None:
    protocol = of("mmou-audit", sample=Sample(share))
    with opened(tmp_path, questions(20), protocol) as review:
        queue = review.queue(protocol.name)
        drawn = set(queue.subjects())
        assert len(drawn) == count
        begun = take(review, ANN, protocol.name)["item"]
    with opened(tmp_path, questions(40), protocol) as review:
        review.catch_up()
        assert begun in review.queue(protocol.name).subjects()


def test_calibration_comes_first_and_for_everyone(tmp_path: Path) -> None:
    items = [make_item(number).replace(tags={"category": "ab"[number % 2]}) for number in range(12)]
    protocol = of(
        "musebench-rate",
        expertise="",
        sample=Sample(0.0, 4, "category"),
        calibration=Sample(0.0, 1, "category"),
    )
    rating = {axis.name: 4 for axis in protocol.axes}
    with opened(tmp_path, items, protocol) as review:
        assert len(review.queue(protocol.name).subjects()) == 8
        for person in (ANN, BEN, CAT):
            for number in range(3):
                task = take(review, person, protocol.name)
                assert task["calibration"] is (number < 2)
                act(review, person, task, "rated", rating=rating)
        task = take(review, DAN, protocol.name)
        with pytest.raises(ActionError, match="from 0 to 5"):
            act(review, DAN, task, "rated", rating={**rating, "Visual Necessity": 6})


def test_there_is_no_way_back_where_the_protocol_says_so(tmp_path: Path) -> None:
    for name, back in (("mmou-answer", False), ("mmou-answer", True)):
        protocol = of(name, back=back)
        folder = tmp_path / str(back)
        folder.mkdir()
        with opened(folder, questions(2), protocol) as review:
            task = take(review, ANN, protocol.name)
            act(review, ANN, task, "answered", choice=[0])
            if back:
                act(review, ANN, task, "answered", choice=[1])
            else:
                with pytest.raises(ActionError):
                    act(review, ANN, task, "answered", choice=[1])


def test_a_category_is_done_after_so_many_rounds_without_a_new_tag(tmp_path: Path) -> None:
    items = [
        make_item(number).replace(tags={"category": "Game"}, provenance={"round": number})
        for number in range(1, 5)
    ]
    protocol = of("musebench-verify", expertise="", rounds=3)
    with opened(tmp_path, items, protocol) as review:
        for number in range(1, 5):
            task = take(review, ANN, protocol.name)
            found = ["ambiguous stem"] if number < 3 else []
            decision = "reject" if found else "accept"
            act(review, ANN, task, "answered", choice=[0])
            act(review, ANN, task, "verdict", decision=decision, tags=found)
        (game,) = rounds_by_category(review.queue(protocol.name))
        assert game.new_tags == (("ambiguous stem",), (), (), ())
        assert (game.clean, game.done) == (3, True)
        assert replace(game, needed=4).done is False


VIDEO = Item("v", "open", (Media("media/a.mp4"),), "?")


@pytest.mark.parametrize(
    ("changed", "field"),
    [
        ({"question": "Is there a dog?"}, "question"),
        ({"kind": "single", "options": ["a", "b"], "answer": ["A"]}, "kind"),
        ({"evidence": []}, "evidence"),
        ({"evidence": [[1, 20.5]]}, "evidence"),
        ({"evidence": [[5, 2]]}, "evidence"),
        ({"tags": {"skills": ["Flying"], "domain": "Film"}}, "tags.skills"),
        ({"tags": {"skills": ["Needle"], "domain": ["Film", "Music"]}}, "tags.domain"),
        ({"tags": {"skills": [["Needle"]], "domain": "Film"}}, "tags.skills"),
        ({"reference": ""}, "reference"),
    ],
)
def test_what_writers_must_not_do_is_said_as_they_type(changed: dict[str, Any], field: str) -> None:
    good = {
        "kind": "open",
        "question": "What does the horn make the dog do?",
        "reference": "It runs to the door.",
        "evidence": [[1, 4.5]],
        "tags": {"skills": ["Needle", "Context"], "domain": "Film"},
    }
    protocol, subject = of("mmou-write", items="media"), subject_of(VIDEO)
    assert check_written(protocol, subject, good, seconds=20.0)[1] == []
    found = check_written(protocol, subject, {**good, **changed}, seconds=20.0)[1]
    assert any(each["field"].startswith(field) for each in found), found
    assert any(each["level"] == "error" for each in found)


def test_everything_wrong_with_a_protocol_is_listed_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "own.yaml"
    path.write_text("page: verifi\nreviewers: many\ngap: 300\nper_dya: 3\naxes: {Q: {lowest: x}}\n")
    with pytest.raises(ReelbenchError) as error:
        read_protocol(path)
    lines = str(error.value).splitlines()
    assert len(lines) == 5
    assert all(line.startswith(f"{path}:") for line in lines)
    assert ":2: reviewers: found" in str(error.value)
    assert "per_day" in str(error.value)
    with pytest.raises(ReelbenchError, match="perhaps mmou-write"):
        find_protocol("mmou-writ")


def test_an_answer_in_one_queue_shows_no_key_of_another(tmp_path: Path) -> None:
    queues = of("answer", items="benchmark"), of("verify", items="benchmark")
    with opened(tmp_path, [make_item(1)], *queues) as review:
        task = take(review, ANN, "answer")
        answer = Action("0" * 16, "answered", task["item"], task["digest"], 0, {"choice": [0]})
        assert review.act(ANN, "answer", answer).reveal is None
        with pytest.raises(ActionError, match="another action"):
            review.act(ANN, "verify", answer)


def test_two_options_that_are_the_same_are_refused() -> None:
    twice = {
        "kind": "single",
        "question": "Which?",
        "options": ["One", "two", " one"],
        "answer": ["A"],
    }
    problems = check_written(of("write"), subject_of(VIDEO), twice)[1]
    assert [each["message"] for each in problems] == ["Two options are the same."]
