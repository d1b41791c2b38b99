"""Who must agree, whatever the order in which people decide."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st
from support import make_item

from reelbench.data.verdicts import Verdict
from reelbench.review.protocol import ReviewProtocol
from reelbench.review.settle import settle

ITEM = make_item(1)
CHANGES = ({"question": "What then?"}, {"question": "What now?"})
PROTOCOL = ReviewProtocol("p", "verify", "P", "benchmark", reviewers=3)


def verdict(who: str, kind: int) -> Verdict:
    if kind < 2:
        return Verdict(item=ITEM.id, who=who, decision=("accept", "reject")[kind])
    return Verdict(item=ITEM.id, who=who, decision="change", changes=CHANGES[kind - 2])


KINDS = st.lists(st.integers(0, 3), min_size=0, max_size=5)


@given(KINDS)
def test_too_few_verdicts_leave_an_item_open_and_say_how_many_lack(kinds: list[int]) -> None:
    found = settle(PROTOCOL, ITEM.id, [verdict(f"p{n}", kind) for n, kind in enumerate(kinds)])
    assert (found.status == "open") == (len(kinds) < 3)
    if len(kinds) < 3:
        assert found.needed == 3 - len(kinds)
        assert found.verdict is None


@given(st.lists(st.integers(0, 3), min_size=3, max_size=3))
def test_all_must_agree_on_the_same_outcome(kinds: list[int]) -> None:
    found = settle(PROTOCOL, ITEM.id, [verdict(f"p{n}", kind) for n, kind in enumerate(kinds)])
    assert (found.status == "settled") == (len(set(kinds)) == 1)
    assert found.agreeing == max(kinds.count(kind) for kind in kinds)
    dropped = settle(
        replace(PROTOCOL, dispute="drop"),
        ITEM.id,
        [verdict(f"p{n}", kind) for n, kind in enumerate(kinds)],
    )
    assert dropped.status == "settled"
    if len(set(kinds)) > 1:
        assert dropped.verdict is not None
        assert (dropped.verdict.decision, dropped.verdict.who) == ("reject", "protocol")


@given(
    st.lists(st.integers(0, 3), min_size=4, max_size=4).filter(
        lambda kinds: len(set(kinds[:3])) > 1
    )
)
def test_after_a_further_reviewer_the_majority_decides_or_a_discussion(kinds: list[int]) -> None:
    found = settle(PROTOCOL, ITEM.id, [verdict(f"p{n}", kind) for n, kind in enumerate(kinds)])
    most = max(kinds.count(kind) for kind in kinds)
    assert found.status == ("settled" if most >= 3 else "discussion")


@given(st.permutations([0, 0, 0, 1]))
def test_the_order_of_verdicts_does_not_change_the_decision(kinds: list[int]) -> None:
    found = settle(PROTOCOL, ITEM.id, [verdict(f"p{n}", kind) for n, kind in enumerate(kinds)])
    assert found.verdict is not None
    assert (found.status, found.verdict.decision, found.agreeing) == ("settled", "accept", 3)


@given(KINDS)
def test_a_resolution_ends_every_dispute(kinds: list[int]) -> None:
    end = verdict("boss", 1)
    given_ = [verdict(f"p{n}", kind) for n, kind in enumerate(kinds)]
    found = settle(PROTOCOL, ITEM.id, given_, resolution=end)
    assert (found.status, found.verdict) == ("settled", end)


def test_reasons_of_all_who_reject_are_gathered() -> None:
    three = [
        Verdict(item=ITEM.id, who=who, decision="reject", tags=tags)
        for who, tags in (("a", ("x",)), ("b", ("y", "x")), ("c", ()))
    ]
    found = settle(PROTOCOL, ITEM.id, three)
    assert found.verdict is not None
    assert found.verdict.tags == ("x", "y")


@given(st.integers(0, 3))
def test_who_comes_later_changes_nothing_once_the_first_agree(late: int) -> None:
    for dispute in ("drop", "discuss"):
        four = [verdict(f"p{n}", kind) for n, kind in enumerate((0, 0, 0, late))]
        found = settle(replace(PROTOCOL, dispute=dispute), ITEM.id, four)
        assert found.verdict is not None
        assert (found.verdict.decision, found.agreeing, found.deciding) == ("accept", 3, 3)


@given(st.integers(1, 3))
def test_the_key_of_the_writer_counts_as_one_who_accepts(kind: int) -> None:
    strict = replace(PROTOCOL, author_agrees=True, dispute="drop")
    found = settle(strict, ITEM.id, [verdict(f"p{n}", kind) for n in range(3)])
    assert found.verdict is not None
    assert (found.verdict.decision, found.agreeing, found.deciding) == ("reject", 3, 4)
