"""What models say around an answer at length: reasons, the other options, tables, disclaimers."""

import pytest

from reelbench.data.items import LETTERS, Kind
from reelbench.evaluate.parse import parse_answer

GENRES = ("a news broadcast", "an animated trailer", "a sports match", "a cooking show")
DEFECTS = ("blocking, and blur", "noise", "flicker", "banding")
WORKERS = ("C is cleaning", "C is cooking", "C is reading", "C is washing up")
TABLE = "| Option | {} |\n|---|---|\n| A | {} |\n| B | {} |\n| C | {} |\n| D | {} |"


def letters(reply: str, options: tuple[str, ...] = GENRES, kind: Kind = "single") -> str | None:
    places = parse_answer(reply, kind, options).places
    return None if places is None else "".join(LETTERS[place] for place in places)


@pytest.mark.parametrize("reply", [
    "The correct option is B. The other options (A, C, D) are not consistent with the video.", "The answer is B. (A) and (C) are wrong.",
    "The answer is: B. one. (Not D. three.)", "B. an animated trailer, since A. a news broadcast is impossible", "B (not A, C or D)",
    "The best choice is B (an animated trailer), although A might also be considered.", "B. The others (A, C, D) don't fit.",
    "The answer is B. (C) has no field and (D) no kitchen.", "B, whereas C is a sports match", "B rather than A", "B, definitely not A or C",
])  # fmt: skip
def test_the_other_options_beside_an_answer(reply: str) -> None:
    assert letters(reply) == "B"


@pytest.mark.parametrize("reply", [
    "The evidence points to B.", "The evidence (titles, cuts) points to B.", "That leaves B.", "This leaves us with option B.",
    "We are left with B.", "Everything suggests B.", "B is the most likely answer.", "B seems the most plausible.", "B best matches.",
    "I'd lean towards B.", "I lean towards B over C.", "I would go for (B).", "(A) or (B), but given the title, (B) is more accurate.",
    "I'm inclined to pick B.", "I'd say B because of the titles.", "I'd pick the second option.", "The title ends it -> B",
    "Alles deutet auf B hin.", "All of the evidence points to B.", "只剩下B。",
])  # fmt: skip
def test_what_reasons_and_leanings_come_to(reply: str) -> None:
    assert letters(reply) == "B"


@pytest.mark.parametrize("reply", [
    "The sign points to B.", "The arrow on the wall leads to B.", "Some of the evidence points to B.", "Part of this evidence suggests B.", "Some of the evidence points to B, some to C.", "That leaves B or C.",
    "The evidence doesn't point to B.", "If the evidence points to B, choose it.", "The evidence points to A man in a kitchen.",
    "That leaves A lot to be desired.", "I would go for A walk.", "I wouldn't lean towards B.", "I'd say B is wrong.",
    "B is more likely if there is a title.", "Bus A is more likely to arrive.", "Hepatitis B is the most likely diagnosis.",
    "B seems the least plausible.", "From the left: A", "I would not pick the second option.", "A while ago, as B played.",
    "I choose the first option that fits.", "The answer is B, although C is also possible.",
])  # fmt: skip
def test_letters_that_nothing_points_to(reply: str) -> None:
    assert letters(reply) is None


def test_a_letter_that_names_a_person_is_not_leaned_towards() -> None:
    assert letters("C fits best in the kitchen.", WORKERS) is None
    assert letters("C is more likely to be outside.", WORKERS) is None


@pytest.mark.parametrize(("reply", "answer"), [
    ("Answer (one letter): B", "B"), ("Final answer [A/B/C/D]: B", "B"), ("Answer (A or B): B", "B"), ("Answer (B): it has titles", "B"),
    ("{'choice': 'B', 'confidence': 0.9, 'sure': True}", "B"), ("{'note': 'a cook\\'s show', 'answer': 'D',}", "D"),
    ("{'A': 'a news broadcast', 'B': 'an animated trailer'}", None),
])  # fmt: skip
def test_labels_and_dictionaries(reply: str, answer: str | None) -> None:
    assert letters(reply) == answer


def test_a_table_of_verdicts() -> None:
    assert letters(TABLE.format("Verdict", "incorrect", "correct", "incorrect", "incorrect")) == "B"
    assert letters(TABLE.format("Correct?", "no", "✓", "✗", "no")) == "B"
    assert letters(TABLE.format("Ruled out?", "no", "yes", "no", "no")) is None
    assert letters(TABLE.format("Score", "1", "9", "2", "1")) is None
    assert letters(TABLE.format("Seen", "yes", "no", "yes", "no"), DEFECTS, "multi") == "AC"
    texts = "| A | a news broadcast | No |\n| B | an animated trailer | Yes |"
    assert letters(texts) == "B"


@pytest.mark.parametrize("reply", [
    "The correct answers are A (blocking, and blur) and C (flicker). The others, B and D, are not seen.", "A and C (not B or D)",
    "The correct options are A and C. The others (B, D) are not seen.", "The answers are A (blocking, and blur), C (flicker).",
])  # fmt: skip
def test_several_with_the_others_beside_them(reply: str) -> None:
    assert letters(reply, DEFECTS, "multi") == "AC"


@pytest.mark.parametrize(("reply", "answer"), [
    ("blocking and blur", "A"), ("Blocking & blur", "A"), ("There is blocking and blur.", "A"), ("A. blocking and blur", "A"),
    ("There is no blocking, no blur.", None), ("There is noise, and flicker.", None),
])  # fmt: skip
def test_options_that_are_punctuated_otherwise(reply: str, answer: str | None) -> None:
    assert letters(reply, DEFECTS) == answer


@pytest.mark.parametrize("reply", [
    "As an AI language model, I can't watch videos, but from the frames the film is drawn -> B", "I can't watch videos. From the frames: B",
    "Unfortunately I can't determine the answer with certainty. If I had to choose: B", "As an AI, I can't hear, but I'd say B.",
    "I cannot identify the people in the video, but the video is an animated trailer.", "I can't be certain. My best guess: B",
])  # fmt: skip
def test_an_answer_behind_a_disclaimer(reply: str) -> None:
    assert letters(reply) == "B"


@pytest.mark.parametrize("reply", [
    "I can't watch videos, but I can help with a sports match.", "I'm sorry, but I can't tell if it is a sports match.",
    "I can't view it, but if there is a field it is a sports match.", "I can't tell. If I had to guess, I'd look for a field.",
])  # fmt: skip
def test_a_refusal_that_stays_one(reply: str) -> None:
    parsed = parse_answer(reply, "single", GENRES)
    assert parsed.places is None
    assert parsed.failure == "refusal"
