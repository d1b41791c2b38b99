"""An option that the reply supposes, or doubts, in the option's own words is not its answer."""

import pytest

from reelbench.data.items import LETTERS
from reelbench.evaluate.parse import parse_answer

GENRES = ("a news broadcast", "an animated trailer", "a sports match", "a cooking show")
ACTS = ("sleeping", "eating", "talking", "singing")
SEATS = ("in a car", "in a boat", "on a bench", "in a plane")
SETTINGS = ("indoors", "outdoors", "a studio", "a cave")
ENDS = ("with a cut to black", "with a person in view", "with a title", "with a logo")
GERMAN = ("eine Katze", "ein Hund", "ein Vogel", "ein Fisch")


def letter(reply: str, options: tuple[str, ...]) -> str | None:
    places = parse_answer(reply, "single", options).places
    return None if places is None else "".join(LETTERS[place] for place in places)


@pytest.mark.parametrize(("reply", "options"), [
    ("A news broadcast would have an anchor.", GENRES), ("A cooking show would include food. There is no food.", GENRES),
    ("A sports match usually has a field.", GENRES), ("For a cooking show, one would expect food.", GENRES),
    ("A cooking show should show food.", GENRES), ("A. a news broadcast would have an anchor.", GENRES),
    ("Usually a news broadcast opens so.", GENRES), ("We would expect a sports match.", GENRES),
    ("Sleeping would require closed eyes.", ACTS), ("Eating requires food.", ACTS), ("He might be singing, but I can't tell without sound.", ACTS),
    ("Perhaps he is singing. It is hard to tell.", ACTS), ("He may be singing, although nothing is heard.", ACTS),
    ("In a plane there'd be small windows.", SEATS), ("In a plane, one would see small windows.", SEATS),
    ("The wall could make one think it's indoors, however the sky is visible.", SETTINGS),
    ("The lamp tricks viewers into believing that it is indoors.", SETTINGS),
    ("Earlier there's a title with a logo; at the end a person is in view.", ENDS), ("Eine Katze würde miauen.", GERMAN),
])  # fmt: skip
def test_supposed_or_doubted(reply: str, options: tuple[str, ...]) -> None:
    assert letter(reply, options) is None


@pytest.mark.parametrize(("reply", "options", "answer"), [
    ("A news broadcast would have an anchor; this shows characters. So I'd pick the second option.", GENRES, "B"),
    ("A sports match usually has a field. This one has none, so it is probably the trailer (second choice).", GENRES, "B"),
    ("Talking would be my answer.", ACTS, "C"), ("He is talking, I would say.", ACTS, "C"), ("I would say he is talking.", ACTS, "C"),
    ("He is talking; singing would need music.", ACTS, "C"), ("He might be talking.", ACTS, "C"), ("It would be a cooking show.", GENRES, "D"),
    ("The stove would suggest a cooking show.", GENRES, "D"), ("He is talking, though it is hard to tell what.", ACTS, "C"),
    ("The man is in a car, which would explain the belt.", SEATS, "A"), ("Es ist eine Katze.", GERMAN, "A"),
    ("Earlier he walks; at the end he is in a car.", SEATS, "A"),
])  # fmt: skip
def test_stated_beside_what_is_supposed(reply: str, options: tuple[str, ...], answer: str) -> None:
    assert letter(reply, options) == answer
