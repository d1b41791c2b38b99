"""Wrong options are written anew as is wanted, and held against what would make them worse."""

import json
from pathlib import Path
from typing import Any

import pytest
from parts import Studio, by_turns, messages
from servers import Server
from support import make_item

from reelbench.data.items import Item, freeze
from reelbench.make.parts.rewrite_options import (
    WantedOptions,
    can_be_rewritten,
    marked,
    rewrite_options,
)
from reelbench.make.pipeline.stage import Rejected

KEY = "the mast breaks in the wind"  # 27 characters
WRONG = ("the sail tears", "her rudder does not jam", "a plank floats away")
LONGER = "the old sail tears in the storm"
NEW = (LONGER, "her rudder does not jam", "a plank floats away")
WANTED = WantedOptions(("it is the longest",), longer=1)
STAGE = rewrite_options()


def reply(*texts: str) -> str:
    return json.dumps({"distractors": [{"text": text} for text in texts]})


def item(**fields: Any) -> Item:
    plain: dict[str, Any] = {
        "question": "What happens to the boat in the end?",
        "options": (WRONG[0], KEY, *WRONG[1:]),
        "answer": ("B",),
        "context": freeze({"text": "A boat leaves the harbour."}),
    }
    return make_item(1, **(plain | fields))


def rewritten(
    folder: Path, *replies: str, row: Item | None = None, wanted: WantedOptions = WANTED
) -> tuple[Any, Server]:
    studio = Studio(folder, by_turns(*replies), {"writer": ["pen"]})
    made, server = studio.work(STAGE, marked(row or item(), STAGE.name, wanted))
    return (made[0] if isinstance(made, list) else made), server


def test_the_prompt_says_why_and_which_lengths_are_wanted(tmp_path: Path) -> None:
    _, server = rewritten(tmp_path, reply(*NEW))
    ((_, text),) = messages(server, 0)
    for part in (
        "What happens to the boat in the end?",
        f"The right answer is: {KEY}",
        "A boat leaves the harbour.",
        "- it is the longest",
        "1. the sail tears (has 14 characters, may have 14 to 26)",
        "2. her rudder does not jam (has 23 characters, may have 28 to 34)",
        "3. a plank floats away (has 19 characters, may have 19 to 26)",
        "1 of the wrong options must be longer than that and 2 shorter",
    ):
        assert part in text


def test_the_key_and_all_places_stay(tmp_path: Path) -> None:
    made, server = rewritten(tmp_path, reply(*NEW))
    assert len(server.requests) == 1
    assert made.options == (LONGER, KEY, *WRONG[1:])
    assert made.answer == ("B",)
    (note,) = made.provenance[STAGE.name]["rewritings"]
    assert note == {
        "model": "pen",
        "why": ("it is the longest",),
        "options": ({"text": LONGER, "was": WRONG[0]},),
    }
    assert "wanted" not in made.provenance[STAGE.name]


def test_an_item_that_is_not_marked_passes_unasked(tmp_path: Path) -> None:
    made, server = Studio(tmp_path).work(STAGE, item())
    assert (made, server.requests) == ([item()], [])


FAULTY = [
    pytest.param(reply(*WRONG), "none of the options has been changed", id="the same"),
    pytest.param(reply(LONGER, LONGER, WRONG[2]), "two of the options are the same", id="twice"),
    pytest.param(reply(f"{KEY}.", *WRONG[1:]), "or one is the right answer", id="the key"),
    pytest.param(
        reply(LONGER, "her rudder does jam", WRONG[2]), "negates 'her rudder does not jam'",
        id="its negation is gone",
    ),
    pytest.param(
        reply(LONGER, WRONG[1], "a plank never floats away"), "negates 'a plank floats away'",
        id="a negation is new",
    ),
    pytest.param(
        reply(LONGER, WRONG[1], "a plank no longer floats away"), "negates 'a plank floats away'",
        id="a negation in other words",
    ),
    pytest.param(
        reply("the sail is torn", *WRONG[1:]), "no wrong option is longer than the right one",
        id="still the longest",
    ),
    pytest.param(
        reply(*(f"{each} in the storm of that night" for each in ("sail", "deck", "mast"))),
        "no wrong option is shorter", id="now the shortest",
    ),
    pytest.param(
        reply(f"{LONGER}, as do the flag and the small net at its stern", *WRONG[1:]),
        "the options have", id="much longer",
    ),
    pytest.param(reply(LONGER, WRONG[1]), "is too short", id="one is lacking"),
    pytest.param("I would rather not.", "no complete JSON", id="no JSON"),
]  # fmt: skip


@pytest.mark.parametrize(("bad", "fault"), FAULTY)
def test_a_bad_reply_is_sent_back_and_a_good_one_taken(
    tmp_path: Path, bad: str, fault: str
) -> None:
    made, server = rewritten(tmp_path, bad, reply(*NEW))
    assert isinstance(made, Item)
    assert fault in messages(server, 1)[-1][1]


def test_replies_that_stay_bad_reject_with_the_reason_and_the_words(tmp_path: Path) -> None:
    why, server = rewritten(tmp_path, reply(*WRONG))
    assert isinstance(why, Rejected)
    assert (why.reason, why.detail) == (
        "no good options",
        "none of the options has been changed",
    )
    assert why.words == (reply(*WRONG),)
    assert len(server.requests) == 4


@pytest.mark.parametrize(
    ("longer", "texts"),
    [(0, ("the sail tears a bit", *WRONG[1:])),
     (3, (LONGER, "her rudder does not jam at all", "a plank floats away from here"))],
)  # fmt: skip
def test_the_key_may_be_wanted_at_either_end(
    tmp_path: Path, longer: int, texts: tuple[str, ...]
) -> None:
    wanted = WantedOptions(("why",), longer)
    made, server = rewritten(tmp_path, reply(*texts), wanted=wanted)
    assert isinstance(made, Item), made.detail
    assert len(server.requests) == 1
    others = ("too long a text, at any rate", *WRONG[1:]) if longer == 0 else NEW
    _, server = rewritten(tmp_path / "b", reply(*others), reply(*texts), wanted=wanted)
    assert len(server.requests) == 2


def test_numbers_are_wanted_above_and_below(tmp_path: Path) -> None:
    row = item(options=("3 boats", "4 boats", "5 boats", "6 boats"), answer=("B",))
    wanted = WantedOptions(("the middle",), longer=0, greater=3)
    bad = (reply("2 boats", "5 boats", "7 boats"), reply("5 boats", "no boats", "7 boats"))
    good = reply("5 boats", "7 boats", "8 boats")
    for number, each in enumerate(bad):
        made, server = rewritten(tmp_path / str(number), each, good, row=row, wanted=wanted)
        assert made.options == ("5 boats", "4 boats", "7 boats", "8 boats")
        assert len(server.requests) == 2
    assert "The numbers of 3 of the wrong options must be greater" in messages(server, 0)[0][1]


def test_signs_of_wording_are_told(tmp_path: Path) -> None:
    wanted = WantedOptions(("worded",), 1, None, ("it says 'wind'",), ("it is the shortest",))
    _, server = rewritten(tmp_path, reply(*NEW), wanted=wanted)
    text = messages(server, 0)[0][1]
    assert "- Let some wrong options have this too: it says 'wind'." in text
    assert "- Avoid this in wrong options: it is the shortest." in text


def test_explanations_of_new_options_take_the_place_of_the_old(tmp_path: Path) -> None:
    known = {text: f"about {text}" for text in (KEY, *WRONG)}
    row = item(context=freeze({"text": "A boat.", "explanations": known}))
    new = [{"text": text, "explanation": f"anew {text}"} for text in NEW]
    made, _ = rewritten(tmp_path, reply(*NEW), json.dumps({"distractors": new}), row=row)
    assert made.context["explanations"] == {
        LONGER: f"anew {LONGER}", KEY: f"about {KEY}", **{t: f"anew {t}" for t in WRONG[1:]},
    }  # fmt: skip


def test_none_of_the_above_stays_and_stays_last(tmp_path: Path) -> None:
    row = item(options=(WRONG[0], KEY, WRONG[1], "None of the above"))
    made, _ = rewritten(tmp_path, reply(LONGER, WRONG[1]), row=row)
    assert made.options == (LONGER, KEY, WRONG[1], "None of the above")


@pytest.mark.parametrize(
    "fields",
    [
        {"kind": "open", "options": (), "answer": (), "reference": "so"},
        {"kind": "yesno", "options": ("Yes", "No"), "answer": ("A",)},
        {"options": (KEY, WRONG[0], "Both A and B"), "answer": ("A",)},
        {"options": (*WRONG, "None of the above"), "answer": ("D",)},
        {"kind": "multi", "options": WRONG, "answer": ("A", "B", "C")},
    ],
    ids=["open", "yes or no", "refers to others", "none is right", "all are right"],
)
def test_what_cannot_be_written_anew(fields: dict[str, Any]) -> None:
    assert not can_be_rewritten(item(**fields))
    assert can_be_rewritten(item())
