"""What a reply takes back is not its answer, whether or not another stands in its place."""

import pytest

from reelbench.data.items import LETTERS
from reelbench.evaluate.parse import parse_answer

GENRES = ("a news broadcast", "an animated trailer", "a sports match", "a cooking show")
WAITS = ("Stand up", "Sit down", "Run away", "Wait for the bus")
SAYS = ("Yes, he waves", "No, he sits", "No, he runs")
YES_NO = ("Yes", "No")


def letter(reply: str, options: tuple[str, ...] = GENRES) -> str | None:
    kind = "yesno" if options == YES_NO else "single"
    places = parse_answer(reply, kind, options).places
    return None if places is None else "".join(LETTERS[place] for place in places)


@pytest.mark.parametrize("reply", [
    "Answer: C\n\nHold on, there is no field. It's B.", "The answer is C. Wait, the characters are drawn, so B.",
    "I think the answer is C... no wait, the characters are drawn. B.", "The answer is C. Hmm, but they are drawn. B.",
    "The answer is C. Hmm, actually the characters are drawn, so B.", "The answer is C... wait, no. They are drawn, so it's B.",
    "The answer is C. On second thought, B is the better fit.", "C. Oops, B.", "It's C. Sorry, I meant B.",
    "C. Let me double check: there is no field. They are drawn. The answer is B.", "Answer: C\n\nI made a mistake. Answer: B",
    "The answer is C. No, they are drawn, so B.", "Answer: C. Hang on, they are drawn, which makes it B.",
    "Answer: C. Wait, is there a field? Let me check. No field. So B.", "Answer: A. Wait, C. Hmm, they are drawn: B.",
    "The answer is C. Hold on, it is an animated trailer.", "Answer: C, or rather B since they are drawn.",
])  # fmt: skip
def test_what_stands_behind_a_correction_counts(reply: str) -> None:
    assert letter(reply) == "B"


@pytest.mark.parametrize("reply", [
    "The answer is C. Wait, there is no field.", "Answer: C\n\nHold on, that can't be right.", "C. Actually, they are drawn.",
    "Answer: C. Hmm, is this a field? Hard to say.", "Answer: C. Wait: A or B?", "The answer is C. No, there is no field.",
    "Answer: C. On second thought, it cannot be confirmed.", "Answer: C. Or rather, the one that is drawn.",
    "Answer: C. Wait, I'm not so sure.", "Answer: C. Hmm, I am not quite sure of the field.",
])  # fmt: skip
def test_what_is_taken_back_and_not_replaced_is_no_answer(reply: str) -> None:
    assert letter(reply) is None


@pytest.mark.parametrize("reply", [
    "Answer: B. Wait, let me check... yes, B.", "Answer: B. Wait, let me check... yes, they are drawn.",
    "Answer: B. Actually, B has the titles.", "Answer: B. Hmm, let me check again. Yes, B is right.",
    "The answer is B. Let me verify: they are drawn, so my answer stands.", "B. Actually, the titles confirm it.",
    "The answer is B. Let me double-check. Yes, they are drawn throughout.", "B. It is actually a drawn film.",
    "B. The people stand still, and wait for the end.", "B. They actually move like dolls, as actually seen.",
    'B. A sign says "Wait, stop here".', "Hmm, let me see. Wait, the titles are drawn. Answer: B", "Answer: B, actually.",
    "Answer: B. Actually, I'm quite confident.", "Let me check each option. A has no anchor. The answer is B.", "I mean, it's obvious. Answer: B. I mean, look at it.",
])  # fmt: skip
def test_what_comes_to_the_same_or_takes_nothing_back(reply: str) -> None:
    assert letter(reply) == "B"


def test_words_of_an_option_are_no_correction() -> None:
    assert letter("D. Wait for the bus", WAITS) == "D"
    assert letter("B. No, he sits", SAYS) == "B"
    assert letter("The answer is D. Wait for the bus. He looks at his watch.", WAITS) == "D"


@pytest.mark.parametrize(("reply", "answer"), [
    ("Yes. Or rather no: the objects move.", "B"), ("Yes. Wait, it never opens. No.", "B"), ("Yes. Hmm, actually it never opens.", None),
    ("Yes, or more precisely no, as it never opens.", "B"), ("Yes. He waits, and then it opens.", "A"), ("No. Correction: yes, it opens.", "A"),
    ("Yes. Well, no: it stays shut.", "B"), ("No. Well, yes, at the end.", "A"), ("Yes. It works well, not badly.", "A"),
])  # fmt: skip
def test_yes_and_no_that_are_taken_back(reply: str, answer: str | None) -> None:
    assert letter(reply, YES_NO) == answer


@pytest.mark.parametrize("reply", [
    "Die Antwort ist C. Moment, die Figuren sind gezeichnet, also B.", "La respuesta es C. Espera, son dibujos. Es B.",
    "La réponse est C. Attendez, ce sont des dessins, donc B.", "答案是C。等等，人物是画的，所以答案是B。",
])  # fmt: skip
def test_corrections_in_other_languages(reply: str) -> None:
    assert letter(reply) == "B"


WEATHER = ("rain", "snow", "fog", "sun")
ACTS = ("he chops onions", "he washes the pan", "he lights the stove", "he opens the fridge")


@pytest.mark.parametrize(("reply", "options", "answer"), [
    ("There is snow, no rain.", WEATHER, "B"), ("The answer is B. No rain.", WEATHER, "B"), ("Snow. No rain.", WEATHER, "B"),
    ("La respuesta es B, no A.", GENRES, "B"), ("La réponse est A, non B.", GENRES, "A"), ("It's B. No, C.", GENRES, "C"),
    ("C. No, he lights the stove.", ("he sits", "he stands", "he runs", "he lights the stove"), "D"),
])  # fmt: skip
def test_what_is_not_there_is_no_correction(
    reply: str, options: tuple[str, ...], answer: str
) -> None:
    assert letter(reply, options) in (answer, None)


@pytest.mark.parametrize("reply", [
    "The answer is C. Actually, he opens the fridge before that.", "Answer: C. Let me check against A, B, D.",
    "C. Let me double check. At 0:02 he opens the fridge.", "Answer: C. Hmm, I also considered A, B.",
    "The answer is C. Wait, he washes the pan too, but that is at the end. Still C.",
])  # fmt: skip
def test_what_a_second_look_recounts_is_no_answer(reply: str) -> None:
    assert letter(reply, ACTS) in ("C", None)


def test_a_word_that_agrees_is_no_option() -> None:
    assert letter("The answer is A. Let me double check. Yes, right.", ("left", "right")) == "A"


@pytest.mark.parametrize(("reply", "answer"), [
    ("A, C. Wait, D is there, too. So A, C, D.", (0, 2, 3)), ("Answer: A. a cat (as shown), C. a horse", (0, 2)),
    ("A. a cat, since it meows; C. a horse, since it neighs", (0, 2)), ("A. a cat with no tail, C. a horse with no saddle", (0, 2)),
    ("A. a cat, as well as C. a horse", (0, 2)),
])  # fmt: skip
def test_lists_stay_whole(reply: str, answer: tuple[int, ...]) -> None:
    animals = ("a cat", "a dog", "a horse", "a cow")
    assert parse_answer(reply, "multi", animals).places == answer


@pytest.mark.parametrize("reply", [
    "The first option (A) is incorrect. The second option (B) is correct.", "First answer: A\nFinal answer: B",
    "The first option is plausible, but the second option is correct.", "If I had to eliminate one: A. Answer: B",
    "A, although shown, is not the answer. B is the answer.", "Timeline: D -> B -> A\nThe answer is B.",
])  # fmt: skip
def test_what_comes_first_or_is_ruled_out_is_not_the_answer(reply: str) -> None:
    assert letter(reply) == "B"
