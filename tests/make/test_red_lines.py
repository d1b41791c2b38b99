"""What code can decide of MuseBench's red lines: names, leads, lists, narrators and keys."""

from typing import Any

import name_attempts
import pytest
from art_stems import APART, TUNED

from reelbench.make.parts.names import named_in, names_in
from reelbench.make.parts.perceptible import lead_of
from reelbench.make.parts.rule_checks import CHECKS, Asked

TEXT = """Mario is the hero. In the first level, Mario runs to the right, and the player is Mario.
The director, Stanley Kubrick, holds the shot. Kubrick waits. We see Grace near the window; then Grace
smiles, and she moves with grace. In The Lord of the Rings there is a tower. So do
GTA and Red Dead Redemption. I think Mr. Anderson's coat is black. Look at Amélie there. Amélie looks back.
Nintendo never explains. Interestingly, light is enough. 《霸王别姬》里的灯光很暗。
https://example.org — Chapter One: The Long Take"""
NAMES = names_in(["How Mario Teaches You Without Words", "Pixel Mentor"], [TEXT])
ACCEPTED = ["Baroque", "Rembrandt lighting", "Dutch angle"]


def wrong(check: str, question: str, *options: str, keys: int = 1, setting: Any = None) -> str:
    return CHECKS[check].held(Asked(question, options, options[:keys], NAMES), setting)


class TestNamesOfASource:
    def test_names_are_found_by_their_capitals_in_sentences_and_titles(self) -> None:
        assert {"mario", "kubrick", "amélie", "Grace", "Anderson", "GTA", "Nintendo"} <= set(NAMES)
        assert {"stanley kubrick", "lord of the rings", "red dead redemption"} <= set(NAMES)
        assert {"Pixel", "Mentor", "霸王别姬"} <= set(NAMES)

    def test_what_is_also_written_small_or_begins_any_sentence_is_none(self) -> None:
        low = {name.lower() for name in NAMES}
        assert low.isdisjoint(
            {"the", "in", "look", "light", "interestingly", "grace smiles", "level", "chapter", "i"}
        )
        assert "long take" not in low, "a heading has capitals for another reason"

    def test_a_term_that_is_written_with_capitals_once_is_no_name(self) -> None:
        text = "Here, Theatrical Lighting comes in, a theatrical thing. We call it Warm Light, and warm light it is."
        assert not {"theatrical lighting", "warm light"} & set(names_in([], [text]))
        assert "dead space" in names_in(
            [],
            ["there is nothing like Dead Space, and nobody makes halls like those in Dead Space"],
        )

    def test_texts_without_capitals_or_with_nothing_else_give_none(self) -> None:
        assert names_in([], ["mario runs to the right. then mario jumps."]) == ()
        assert names_in([], ["", "\n", "THE LIGHT IS LOW AND THE DOOR IS SHUT"]) == ()

    def test_a_title_in_capitals_is_read_as_others_are(self) -> None:
        assert named_in("Mario walks", names_in(["WHY MARIO WORKS"], []))

    def test_the_order_of_texts_decides_nothing(self) -> None:
        one, other = "We see Ada.", "Ada waits. Then Ada runs."
        assert names_in([], [one, other]) == names_in([], [other, one])


class TestNoNames:
    """Attempts to slip a name past the check: in a stem, in an option, and in the key."""

    SLIPPED = (
        "When Mario jumps, what is heard?", "Mario jumps over the pit; why?", "mario jumps over the pit; why?",
        "MARIO JUMPS over the pit; why?", "As M4rio runs, what is seen?", "As M a r i o runs, what is seen?",
        "As M.a.r.i.o runs, what is seen?", "As Ma-rio runs, what is seen?", "As Ma\u200brio runs, what is seen?",
        "As Mаrio runs, what is seen?", "As \uff2d\uff41\uff52\uff49\uff4f runs, what is seen?", "Marios cap falls; why?", "Mario's cap falls; why?",
        "A mario-like hero runs; why?", "SuperMario jumps; why?", "As _Mario_ runs, what is seen?", "As the hero (Mario) runs, what is seen?",
        "“Mario” blinks on the screen; why?", "What is heard?\nMario runs.", "Amelie looks at us; why?", "AMÉLIE looks at us; why?",
        "A Kubrickian stare meets us; why?", "a kubrick stare meets us; why?", "Grace smiles at the window; why?",
        "A tower as in the lord of the rings burns; why?", "A rider as in red dead redemption waits; why?", "RedDeadRedemption glows; why?",
        "red-dead-redemption glows; why?", "GTA glows on the screen; why?", "The map of GTA5 glows; why?", "Nintendo glows on the screen; why?",
        "《霸王别姬》里的灯光为什么很暗?", "霸王别姬里的灯光为什么很暗?", "Anderson's coat is black; why?",
        # Not in the texts about the source.
        "As Geralt rides on, what is heard?", "Geralt walks through the rain; why?", "Zelda's theme swells; why?", "A sword from Hyrule glows; why?",
        "An iPhone glows in the dark; why?", "McDonald waits in the dark; why?", "The NKVD waits in the dark; why?", "A Japanese garden lies in fog; why?",
        "The lamp glows. Then Zelda walks in; why?",
    )  # fmt: skip

    @pytest.mark.parametrize("text", SLIPPED)
    def test_it_does_not_slip_past(self, text: str) -> None:
        assert wrong("no_names", text, "a lamp", "a door")
        assert "option B" in wrong("no_names", "A lamp glows; why?", "a lamp", text)
        assert "option A" in wrong("no_names", "A lamp glows; why?", text, "a lamp", keys=1)

    @pytest.mark.parametrize("text", [
        # A name that is also a word, at the start and nowhere in the texts; one in quotation marks;
        # who a description fits alone.
        "Link draws his sword; why?", 'The sign says "Geralt" in red; why?', "The plumber in the red cap jumps; why?",
    ])  # fmt: skip
    def test_what_it_does_not_find(self, text: str) -> None:
        assert wrong("no_names", text) == ""

    @pytest.mark.parametrize("text", [
        "With grace she moves to the window; why?", "As the lamp swings, what does the HUD show, and why?", "Why do the NPCs wait in 3D on a TV?",
        "Look at the lamp. The man goes on; why?", "Light falls on the floor. Rain hammers on the roof; why?", "Rapid cuts follow; why?",
        "Shadows move over the wall, and I'm shown a door; why?", "她为什么走进房间?", "Teaching goes on without words; why?",
        "The Baroque facade glows; why?", "A Dutch angle tilts the hall; why?", "Rembrandt lighting models half the face; why?",
    ])  # fmt: skip
    def test_what_names_nobody_is_left_alone(self, text: str) -> None:
        assert wrong("no_names", text, setting=ACCEPTED) == ""

    def test_an_accepted_term_is_a_name_where_the_source_is_about_its_bearer(self) -> None:
        text = "Rembrandt lighting models half the face; why?"
        about = names_in(
            [], ["We see how Rembrandt paints. Here, Rembrandt waits. The Baroque, Baroque."]
        )
        asked = Asked(text, (), (), about)
        assert CHECKS["no_names"].held(asked, ACCEPTED) == "the question names 'Rembrandt'"
        baroque = Asked("The Baroque facade glows; why?", (), (), about)
        assert CHECKS["no_names"].held(baroque, ACCEPTED) == ""

    def test_attempts_that_were_held_apart(self) -> None:
        """31 of 34 before what was seen in titles counted too; the others are a title in small
        letters, and the false alarm is a word that the texts have only where a sentence begins.
        """
        tried = [
            [
                bool(CHECKS["no_names"].held(Asked(text, (), (), name_attempts.NAMES), None))
                for text in texts
            ]
            for texts in (name_attempts.SLIPPED, name_attempts.HARMLESS)
        ]
        assert [(sum(found), len(found)) for found in tried] == [(32, 34), (1, 20)]

    def test_good_stems_name_nobody(self) -> None:
        stems = (*TUNED[0], *APART[0])
        assert [stem for stem in stems if wrong("no_names", stem)] == []


class TestLeads:
    def test_the_stems_that_the_words_were_tuned_on(self) -> None:
        good, bad = TUNED
        assert [stem for stem in good if wrong("leads_with_perceptible", stem)] == []
        assert [stem for stem in bad if not wrong("leads_with_perceptible", stem)] == []

    def test_the_stems_that_were_held_apart(self) -> None:
        good, bad = APART
        kept = sum(not wrong("leads_with_perceptible", stem) for stem in good)
        found = sum(bool(wrong("leads_with_perceptible", stem)) for stem in bad)
        assert (kept, len(good)) == (24, 24)
        assert (found, len(bad)) == (28, 30)

    @pytest.mark.parametrize(("stem", "lead"), [
        ("What glows?", ""), ("As a lamp glows, what does it do?", "As a lamp glows"),
        ("A lamp glows. Why?", "A lamp glows"), ("A lamp that glows and swings: in what way does it lead?", "A lamp that glows and swings"),
        ("In the room where a lamp glows, does it lead?", "In the room where a lamp glows"), ("", ""),
    ])  # fmt: skip
    def test_the_lead_is_all_before_the_question(self, stem: str, lead: str) -> None:
        assert lead_of(stem) == lead

    def test_it_says_what_is_wrong(self) -> None:
        assert "asks before it describes" in wrong("leads_with_perceptible", "What is it about?")
        said = wrong("leads_with_perceptible", "In this film of our time, what is meant?")
        assert said == "'In this film of our time' describes nothing seen or heard"

    def test_stems_in_other_scripts_are_not_judged(self) -> None:
        assert wrong("leads_with_perceptible", "导演的意图是什么?") == ""


class TestInlineOptions:
    @pytest.mark.parametrize("text", [
        "A lamp glows; is it A) a warning B) a guide?", "A lamp glows; is it (a) a warning or (b) a guide?", "Which is it?\nA. a warning\nB. a guide",
        "A lamp glows; is it (1) a warning (2) a guide?", "A lamp glows; is it 1. a warning 2. a guide?", "Which is it? i) a warning ii) a guide",
        "Which is it?\n- a warning\n- a guide", "Which is it? Options: a warning, a guide", "A lamp glows. Choose one of these.", "Select from fear, grief or joy.",
        "As the lamp fades, which fits best: a. fear b. hope c. calm?",
    ])  # fmt: skip
    def test_found(self, text: str) -> None:
        assert wrong("no_inline_options", text) == "the question lists options"

    @pytest.mark.parametrize("text", [
        "A lamp glows; is it fear, grief or anger that it stands for?", "A lamp glows; is it either a warning, a guide or a threat?",
        "In 1. e4 style, a pawn moves; why?", "A lamp (small) glows; why?", "In which order are A) the lamp and B) the door lit?", "A 3D lamp glows - why?",
        "It comes to plan a. Behind it, a lamp glows; why?",
    ])  # fmt: skip
    def test_left_alone(self, text: str) -> None:
        assert wrong("no_inline_options", text) == ""


class TestNarration:
    @pytest.mark.parametrize("text", [
        "According to the narrator, why does the lamp glow?", "What does the video essay say?", "As the commentary says, why?", "Why, in the narrator's view?",
        "The voice-over explains the lamp; why?", "What does the transcript say?", "As explained in the video, why?", "What does the speaker argue?",
        "The essayist points at it; why?", "According to the critic, why?", "根据旁白,为什么?",
    ])  # fmt: skip
    def test_found(self, text: str) -> None:
        assert wrong("no_mention_of_narration", text)
        assert "option A" in wrong("no_mention_of_narration", "Why?", text)

    @pytest.mark.parametrize("text", [
        "The narrow hall grows dark; why?", "A narrative of light leads on; why?", "The host of candles burns; why?", "A speaker crackles; why?",
        "The presenter's desk is lit from below; why?", "The camera comments on nothing; why?",
    ])  # fmt: skip
    def test_left_alone(self, text: str) -> None:
        assert wrong("no_mention_of_narration", text) == ""


class TestClipsAndKeys:
    @pytest.mark.parametrize(
        "text",
        ["In clip 3, why?", "In Clips 3 and 4, why?", "In segment #2, why?", "See (clip 12)."],
    )
    def test_clips_do_not_go_by_numbers(self, text: str) -> None:
        assert wrong("no_clip_numbers", text)

    def test_other_numbers_may_stand(self) -> None:
        assert wrong("no_clip_numbers", "In the clip, 3 lamps glow; why?") == ""

    def test_keys_are_independent_and_at_most_four(self) -> None:
        points = (
            "the light leads on",
            "a hum warns of danger",
            "dust hides the way",
            "red means stop",
            "a bell tolls",
        )
        assert wrong("independent_keys", "", *points, keys=4) == ""
        assert "5 right options" in wrong("independent_keys", "", *points, keys=5)
        inside = (points[0], "above all, the light leads on")
        assert "contains the other" in wrong("independent_keys", "", *inside, keys=2)
        assert wrong("independent_keys", "", *inside, keys=1) == "", "the other one is wrong"
        again = ("so the light softly leads on", "on the light softly leads")
        assert "the same words" in wrong("independent_keys", "", *again, keys=2)
