"""A sentence that states one option's text, and no other's, is an answer; nothing less is."""

import pytest

from reelbench.evaluate.parse import parse_answer

THINGS = ("a red door", "a blue door", "a dog", "a cat")
COLOURS = ("Red", "Green", "Blue", "Yellow")
ANIMALS = ("Cat", "Bird", "Dog", "Horse")
SPEEDS = ("normal speed", "time-lapse", "slow motion")
WAYS = ("towards the camera", "parallel to the screen", "away from the camera")
NUMBERS = ("1", "2", "3", "4")


@pytest.mark.parametrize(("reply", "options", "place"), [
    ("It shows a blue door.", THINGS, 1),
    ("The man opens the blue door.", THINGS, 1),
    ("I see a blue door, not a red door.", THINGS, 1),
    ("It is not a red door but a blue door.", THINGS, 1),
    ("It's a blue door rather than a red door.", THINGS, 1),
    ("It is a dog and not a cat.", THINGS, 2),
    ("No dog is seen, but there is a blue door.", THINGS, 1),
    ("While no cat is visible, the video clearly shows a dog.", THINGS, 2),
    ("The man does not hesitate, he opens a blue door.", THINGS, 1),
    ("There is no doubt about the scene; the man opens a blue door.", THINGS, 1),
    ("He opens a blue door.\nHe does not look back, or wait.", THINGS, 1),
    ("The scene is dark.\nA dog runs by.\nIt is late.", THINGS, 2),
    ("Based on the frames, the animal is a dog, which barks or growls.", THINGS, 2),
    ("The object is a blue door; it cannot be a dog.", THINGS, 1),
    ("The light is green.", COLOURS, 1),
    ("The light is red, not green.", COLOURS, 0),
    ("It is not red but green.", COLOURS, 1),
    ("There are 3 people in the video.", NUMBERS, 2),
    ("The video is a time-lapse. This can be deduced from the light. In a normal speed video, it would take hours. "
     "Slow motion is characterised by a reduced speed, which is not the case here.", SPEEDS, 1),
    ("The tempo is at a normal speed. The two skate on a rink, and one is bent forward. Their movements are fluid, "
     "not a slow-motion or sped-up video.", SPEEDS, 0),
    ("The people are skating away from the camera. This is evident from the perspective, which shows the skaters "
     "moving towards the horizon. They become smaller, which would not be the case if they were moving towards the "
     "camera or parallel to the screen.", WAYS, 2),
    ("The actions are too fluid and quick for the video to be slow motion. It plays at normal speed.", SPEEDS, 0),
    ('The term that describes it is "slow motion." The leaves fall slowly.', SPEEDS, 2),
    ("The speed of the video is B. time-lapse. This is seen in the clouds, which move faster than at normal speed.", SPEEDS, 1),
    ("It could be time-lapse or slow motion. Therefore, the video is in slow motion.", SPEEDS, 2),
])  # fmt: skip
def test_stated(reply: str, options: tuple[str, ...], place: int) -> None:
    assert parse_answer(reply, "single", options).places == (place,)


@pytest.mark.parametrize(("reply", "options"), [
    ("The light changes from red to green.", COLOURS),
    ("The cat chases the bird.", ANIMALS),
    ("The light is not green.", COLOURS),
    ("The video shows a red door and a blue door.", THINGS),
    ("It could be a red door or a blue door.", THINGS),
    ("It is either a red door or something else.", THINGS),
    ("It might be a dog, or a cat.", THINGS),
    ("Is it a blue door?", THINGS),
    ("A dog? A cat? Who knows.", THINGS),
    ("There is no blue door in the video.", THINGS),
    ("A blue door is not visible.", THINGS),
    ("a blue door is incorrect.", THINGS),
    ("The man walks a dog past a blue door.", THINGS),
    ("The blue door is not there and no dog is seen.", THINGS),
    ("It is unlike a blue door.", THINGS),
    ("Instead of a blue door there is a wall.", THINGS),
    ("It does not show a red door and a blue door.", THINGS),
    ("There is no red door or blue door.", THINGS),
    ("It is not a red door, a blue door, or a dog.", THINGS),
    ("If it were a blue door, he would open it.", THINGS),
    ("I cannot tell whether it is a blue door.", THINGS),
    ("The options are a red door, a blue door, a dog and a cat.", THINGS),
    ("In frame 3 a man appears.", NUMBERS),
    ("The man jumps 2 times within 3 seconds.", NUMBERS),
    ("It happens 12 times.", NUMBERS),
    ("The dogs bark.", THINGS),
    ("It starts in slow motion. Then it goes on at normal speed.", SPEEDS),
])  # fmt: skip
def test_not_stated(reply: str, options: tuple[str, ...]) -> None:
    assert parse_answer(reply, "single", options).places is None


def test_in_a_long_text_an_option_may_come_up_without_being_the_answer() -> None:
    thoughts = "The room has a blue door. " + "The light is dim and it is hard to see. " * 60
    assert parse_answer(thoughts, "single", THINGS).places is None
    assert parse_answer(thoughts + "So it is a dog.", "single", THINGS).places == (2,)


def test_numbers_of_options_only_where_options_are_no_numbers() -> None:
    assert parse_answer("Option 2", "single", THINGS).places == (1,)
    assert parse_answer("Option 2", "single", ("4", "3", "2", "1")).places is None
