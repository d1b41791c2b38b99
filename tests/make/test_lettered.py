"""Ten options in one lettered list: each check has a reply that fails it, and is repaired once."""

import json
from pathlib import Path
from typing import Any

import pytest
from mmou_actors import HEARD, NOWHERE, SEEN, fused, lettered, told
from parts import Studio, by_turns, messages
from servers import Server
from support import make_item

from reelbench.base.errors import ReelbenchError
from reelbench.data.items import Item, freeze
from reelbench.make.parts.distract import distract
from reelbench.make.parts.wording import (
    light_polish_fault,
    other_language,
    self_contained_fault,
    share_supported,
)
from reelbench.make.pipeline.stage import Rejected

KEY = "Um, the green coin is basically spinning on the round table"
POLISHED = "The green coin spins on the round table"
CAPTION = fused(f"<seen>\n{told(SEEN)}\n</seen>\n<heard>\n{told(HEARD)}\n</heard>")["caption"]
INSIDE = [f"{text} just then" for text in (*SEEN[:2], *HEARD[:2])]
OUTSIDE = [f"{text} just then" for text in NOWHERE[:5]]
STAGE = distract(from_context=4, out_of_context=5, lettered=True)


def reply(key: str = POLISHED, **changes: str) -> str:
    """A good reply, with other texts under some letters."""
    made = lettered(key, INSIDE, OUTSIDE)
    made["options"] |= changes
    return json.dumps(made)


def item(**fields: Any) -> Item:
    plain: dict[str, Any] = {
        "kind": "open",
        "question": "What happens right after the bell has rung?",
        "options": (),
        "answer": (),
        "reference": KEY,
        "context": freeze({"caption": CAPTION}),
    }
    return make_item(1, **(plain | fields))


def distracted(folder: Path, *replies: str, row: Item | None = None) -> tuple[Any, Server]:
    studio = Studio(folder, by_turns(*replies), {"distractor": ["wit"]})
    result, server = studio.work(STAGE, row or item())
    return (result[0] if isinstance(result, list) else result), server


def test_the_account_the_counts_and_the_form_are_in_the_prompt(tmp_path: Path) -> None:
    _, server = distracted(tmp_path, reply())
    ((_, text),) = messages(server, 0)
    for part in (CAPTION, KEY, "4 (B, C, D, E)", "5 (F, G, H, I, J)", '"option_explanations"'):
        assert part in text


def test_ten_options_come_out_the_reference_stays_as_it_was_written(tmp_path: Path) -> None:
    made, server = distracted(tmp_path, reply())
    assert len(server.requests) == 1
    assert (made.kind, made.correct, made.reference) == ("single", (POLISHED,), KEY)
    assert sorted(made.options) == sorted([POLISHED, *INSIDE, *OUTSIDE])
    assert set(made.context["explanations"]) == set(made.options)


def test_the_origin_of_each_is_kept_by_its_text(tmp_path: Path) -> None:
    made, _ = distracted(tmp_path, reply())
    origin = {d["text"]: d["from_context"] for d in made.provenance["distract"]["distractors"]}
    assert origin == {**dict.fromkeys(INSIDE, True), **dict.fromkeys(OUTSIDE, False)}


NINE = json.dumps(lettered(POLISHED, INSIDE, OUTSIDE[:4]))
OTHER_KEY = json.dumps({**lettered(POLISHED, INSIDE, OUTSIDE), "correct_option_letter": "B"})
OTHER_TEXT = json.dumps({**lettered(POLISHED, INSIDE, OUTSIDE), "correct_mcq_option_text": "x"})
UNEXPLAINED = json.dumps({**lettered(POLISHED, INSIDE, OUTSIDE), "option_explanations": {"A": "y"}})
WRONG = [
    pytest.param(NINE, "'J' is a required property", id="nine options"),
    pytest.param(reply(C=INSIDE[0]), "are too alike", id="two equal ones"),
    pytest.param(OTHER_KEY, "correct_option_letter: 'B' is not one of ['A']", id="another key"),
    pytest.param(OTHER_TEXT, "correct_mcq_option_text is not the text of option A", id="key twice told"),
    pytest.param(UNEXPLAINED, "'B' is a required property", id="no explanation"),
    pytest.param(reply("The red coin spins on the round table"), "drops green and adds red", id="another fact"),
    pytest.param(reply("The green coin does not spin on the round table"), "adds not", id="a negated key"),
    pytest.param(reply(B="some elephants march into town just then"), "option B, 'some elephants march into town just then', must be about what is in the video", id="not in the video"),
    pytest.param(reply(J="a silver drum rolls across the bridge just then"), "option J, 'a silver drum rolls across the bridge just then', must be about what is not in the video", id="in the video"),
    pytest.param(reply(F="the same thing that option B has it"), "speaks of other options", id="another option named"),
    pytest.param(reply(G="none of the above"), "speaks of other options", id="none of the above"),
    pytest.param(reply(G=OUTSIDE[0].replace("olive", "olives")), "are too alike", id="nearly equal"),
    pytest.param(reply(F="Snow."), "the options have 1 to", id="much shorter"),
]  # fmt: skip


@pytest.mark.parametrize(("bad", "fault"), WRONG)
def test_what_is_wrong_is_repaired_once(bad: str, fault: str, tmp_path: Path) -> None:
    made, server = distracted(tmp_path, bad, reply())
    assert isinstance(made, Item)
    assert len(server.requests) == 2
    assert fault in messages(server, 1)[-1][1]


def test_what_stays_wrong_is_rejected_with_its_words(tmp_path: Path) -> None:
    why, _ = distracted(tmp_path, NINE)
    assert isinstance(why, Rejected)
    assert (why.reason, why.words) == ("no good distractors", (NINE,))
    assert "'J' is a required property" in why.detail


def test_several_keys_have_no_letter_of_their_own(tmp_path: Path) -> None:
    row = item(kind="multi", options=("a b", "c d", "e f"), answer=("A", "B"), reference=None)
    why, server = distracted(tmp_path, reply(), row=row)
    assert isinstance(why, Rejected)
    assert (why.reason, server.requests) == ("several keys", [])


def test_strategies_cannot_be_asked_for_beside_letters() -> None:
    with pytest.raises(ReelbenchError, match="lettered is set"):
        distract(4, 5, lettered=True, required=("factual error",))


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("He basically just carries two bags", "He carried two bags", ""),
        ("The wooman laughs", "The woman laughs", ""),
        ("She runs to the left door", "She runs to the right door", "drops left and adds right"),
        ("He lifts it three times", "He lifts it four times", "drops three and adds four"),
        ("A man sings", "A man sings loudly in the rain", "adds in, loudly, rain"),
        ("A man sings and dances", "A man sings", "drops dances"),
    ],
)
def test_a_key_changes_in_grammar_and_filler_alone(old: str, new: str, fault: str) -> None:
    found = light_polish_fault(old, new)
    assert fault in found
    assert bool(found) == bool(fault)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("The bell rings, then the horn.", "The horn rings, then the bell."),
        ("(A.) (D.) (B.) (C.)", "(D.) (A.) (B.) (C.)"),
        ("The dog bites the man", "The man bites the dog."),
    ],
)
def test_the_words_of_a_key_keep_their_order(old: str, new: str) -> None:
    assert "its words into another order" in light_polish_fault(old, new)
    assert light_polish_fault(old, old) == ""


def test_orders_of_what_a_question_lists_speak_of_no_other_options() -> None:
    assert self_contained_fault(["A, D, B, C", "A, B, C, D", "B, A, C, D"]) == ""
    assert "speaks of other options" in self_contained_fault(["A and B", "a dog"])


def test_words_of_the_question_are_not_an_options_own() -> None:
    question = "What does the tall man do?"
    assert share_supported("The tall man", question, "a dog barks") is None
    assert share_supported("The tall man laughs and sings", question, "he laughed") == 0.5


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("The man opens the door and walks to the window of the house.", ""),
        ("A dog barks twice while a bell rings.", ""),
        ("A bell rings twice, then silence.", ""),
        ("Un perro ladra en la calle y suena una campana.", "hardly any"),
        ("Der Mann öffnet die Tür und geht zum Fenster seines alten Hauses.", "hardly any"),
        ("一个男人打开门走到窗前", "another script"),
        ("... 123 ...", "no words"),
    ],
)
def test_a_caption_in_another_language_is_known(text: str, fault: str) -> None:
    assert fault in other_language(text)
    assert bool(other_language(text)) == bool(fault)
