"""The pixels baseline measures frames to answer about quality, and guesses about all else."""

import asyncio
import io
from collections.abc import Sequence
from functools import cache
from itertools import product

import numpy as np
import pytest
from ordinary import ordinary_frames
from PIL import Image as Pillow

from reelbench.data.items import Kind
from reelbench.media.edit.degrade import degrade_images
from reelbench.media.measure.local import tiles
from reelbench.media.measure.quality import CORNERS, DAMAGES, all_qualities
from reelbench.models.base import ImagePart, Message, Part, Request, TextPart
from reelbench.models.baselines.quality import answer_about_quality
from reelbench.models.load import load_model
from reelbench.recipes.qbench_exact.plan import FAMILIES, STILL, WORDS

Video = Sequence[np.ndarray]
CLEAN = tuple(ordinary_frames(1, 48))
KINDS = {name: damage.kinds[0] for name, damage in DAMAGES.items()} | {"blur": "motion blur"}
YESNO = ("Yes", "No")
QUARTERS = ("The first quarter", "The second quarter", "The third quarter", "The fourth quarter")
PLACES = ("The top left", "The top right", "The bottom left", "The bottom right")


def shown(images: Video, name: str) -> Video:
    """Some frames: few are enough where each shows it."""
    return images[2::5] if DAMAGES[name].in_time else images[2::20]


@cache
def damaged(name: str, severity: float) -> Video:
    """A clip that is damaged throughout."""
    if DAMAGES[name].in_time:
        return shown(degrade_images(CLEAN, KINDS[name], severity, 2), name)
    return degrade_images(shown(CLEAN, name), KINDS[name], severity, 2)


UNDAMAGED = CLEAN[::3]


@cache
def _png(data: bytes, shape: tuple[int, ...]) -> bytes:
    out = io.BytesIO()
    Pillow.fromarray(np.frombuffer(data, np.uint8).reshape(shape)).save(
        out, "png", compress_level=1
    )
    return out.getvalue()


def picture(image: np.ndarray) -> ImagePart:
    return ImagePart(_png(image.tobytes(), image.shape), "image/png", 0.0)


def request(
    question: str, options: Sequence[str], *videos: Video, kind: Kind = "single"
) -> Request:
    parts: list[Part] = []
    for number, video in enumerate(videos, 1):
        parts += [TextPart(f"Video {number}:")] if len(videos) > 1 else []
        parts += [picture(image) for image in video]
    return Request(
        "k", (Message("user", (*parts, TextPart(question))),), kind, question, tuple(options)
    )


def answer(question: str, options: Sequence[str], *videos: Video) -> str | None:
    found = answer_about_quality(request(question, options, *videos))
    return options[found[0]] if found else None


def asked(family: str, turned: bool, damage: str, corner: str = "") -> str:
    text = FAMILIES[family]["opposite" if turned else "question"]
    return str(text.format(**WORDS[damage], corner=corner))


@pytest.mark.parametrize("damage", DAMAGES)
class TestEachDamage:
    def test_it_is_there_or_not(self, damage: str) -> None:
        for video, there in ((damaged(damage, 0.9), True), (shown(CLEAN, damage), False)):
            for turned in (False, True):
                said = answer(asked("is", turned, damage), YESNO, video)
                assert said == ("Yes" if there != turned else "No"), (there, turned)

    def test_one_of_two_has_more_of_it(self, damage: str) -> None:
        less, more = damaged(damage, 0.25), damaged(damage, 0.9)
        options = FAMILIES["which"]["options"]
        for first_is_more, turned in product((True, False), repeat=2):
            videos = (more, less) if first_is_more else (less, more)
            said = answer(asked("which", turned, damage), options, *videos)
            assert said == options[0 if first_is_more != turned else 1]
            said = answer(asked("more", turned, damage), YESNO, *videos)
            assert said == ("Yes" if first_is_more != turned else "No")

    def test_it_is_the_most_apparent_one(self, damage: str) -> None:
        bad = damaged(damage, 0.9)
        others = [name for name in DAMAGES if name != damage][::3][:3]
        options = [WORDS[name]["noun"].capitalize() for name in (*others, damage)]
        assert answer(FAMILIES["what"]["question"], options, bad) == options[-1]
        assert answer(FAMILIES["shared"]["question"], options, bad, bad) == options[-1]

    def test_how_strong_it_is(self, damage: str) -> None:
        options = FAMILIES["strength"]["options"]
        question = asked("strength", False, damage)
        assert answer(question, options, shown(CLEAN, damage)) == "There is none"
        if DAMAGES[damage].in_time:
            return  # what a severity does depends on the draw
        clean = all_qualities(shown(CLEAN, damage))
        for level, said in ((0.45, "It is slight"), (0.9, "It is severe")):
            found = {
                s: all_qualities(damaged(damage, s)) for s in np.linspace(0.04, 1, 13).tolist()
            }
            facts = DAMAGES[damage]
            best = min(found, key=lambda s: abs(facts.level(found[s]) - level))
            if abs(facts.level(found[best]) - level) < 0.1:
                assert answer(question, options, damaged(damage, best)) == said
            compared = facts.extent(clean, found[best])
            if 0.1 < compared < 0.5 or compared > 0.6:
                much = "slightly" if compared < 0.5 else "much"
                both = (shown(CLEAN, damage), damaged(damage, best))
                question_two, four = asked("compare", False, damage), FAMILIES["compare"]["options"]
                assert answer(question_two, four, *both) == f"It is {much} stronger"
                assert answer(question_two, four, *both[::-1]) == f"It is {much} weaker"


@pytest.mark.parametrize("damage", ["noise", "under-exposure", "flicker"])
def test_both_have_it_or_not(damage: str) -> None:
    bad, good = damaged(damage, 0.9), shown(CLEAN, damage)
    for videos, turned in product(((bad, bad), (bad, good), (good, bad), (good, good)), (0, 1)):
        both = videos == (bad, bad)
        said = answer(asked("both", bool(turned), damage), YESNO, *videos)
        assert said == ("Yes" if both != bool(turned) else "No")


class TestPlaces:
    # Without compression: blocks hardly show in a quarter of so small a picture.
    @pytest.mark.parametrize("damage", [name for name in STILL if name != "compression"])
    def test_where_it_is(self, damage: str) -> None:
        for corner, region in CORNERS.items():
            video = degrade_images(CLEAN[2::20], KINDS[damage], 0.9, 2, region)
            assert answer(asked("where", False, damage), PLACES[::-1], video) == f"The {corner}"
            named = {corner, "top left", "bottom right"}
            for other, turned in product(named, (False, True)):
                said = answer(asked("place", turned, damage, other), YESNO, video)
                assert said == ("Yes" if (other == corner) != turned else "No")

    @pytest.mark.parametrize("damage", ["noise", "blur", "over-exposure"])
    def test_which_part_has_more_of_it(self, damage: str) -> None:
        for corner in ("top right", "bottom left"):
            mild = degrade_images(CLEAN[2::20], KINDS[damage], 0.3, 2)
            odd = degrade_images(CLEAN[2::20], KINDS[damage], 0.9, 2, CORNERS[corner])
            rows, columns = _halves(corner, mild[0].shape)
            for image, worse in zip(mild, odd, strict=True):
                image[rows, columns] = worse[rows, columns]
            assert answer(asked("copy", False, damage), PLACES, mild) == f"The {corner}"
            two = ("The top left", f"The {corner}")
            assert answer(asked("worse", False, damage), two, mild) == two[1]
            assert answer(asked("worse", True, damage), two, mild) == two[0]

    @pytest.mark.parametrize("damage", ["noise", "blur", "over-exposure"])
    def test_which_quarter_has_more_of_it_or_less(self, damage: str) -> None:
        mild, bad = (degrade_images(UNDAMAGED, KINDS[damage], s, 2) for s in (0.3, 0.9))
        for quarter in (0, 2):
            inside = range(quarter * 4, quarter * 4 + 4)
            more, less = (
                [(one if n in inside else other)[n] for n in range(16)]
                for one, other in ((bad, mild), (mild, bad))
            )
            assert answer(asked("odd", False, damage), QUARTERS, more) == QUARTERS[quarter]
            assert answer(asked("odd", True, damage), QUARTERS, less) == QUARTERS[quarter]

    @pytest.mark.parametrize("damage", ["noise", "blur", "over-exposure"])
    def test_how_often_it_comes(self, damage: str) -> None:
        bad, options = (
            degrade_images(UNDAMAGED, KINDS[damage], 0.9, 2),
            FAMILIES["times"]["options"],
        )
        for count in (1, 2, 3, 4):
            spans = {4 * n + step for n in range(count) for step in (1, 2)}
            video = [(bad if n in spans else UNDAMAGED)[n] for n in range(16)]
            assert answer(asked("times", False, damage), options, video) == options[count - 1]

    def test_which_of_two_comes_first(self) -> None:
        noisy, bright = (
            degrade_images(UNDAMAGED, KINDS[name], 0.9, 2) for name in ("noise", "over-exposure")
        )
        for early, late, first in ((noisy, bright, "Noise"), (bright, noisy, "Over-exposure")):
            video = [*UNDAMAGED[:2], *early[2:6], *UNDAMAGED[6:9], *late[9:13], *UNDAMAGED[13:16]]
            for options in (("Noise", "Over-exposure"), ("Over-exposure", "Noise")):
                assert answer(FAMILIES["first"]["question"], options, video) == first
                assert answer(FAMILIES["first"]["opposite"], options, video) != first

    @pytest.mark.parametrize("damage", ["noise", "low contrast"])
    def test_where_and_when_a_spot_is_worse_for_a_while(self, damage: str) -> None:
        still = [UNDAMAGED[0]] * 16
        for ninth, first, quarter in ((5, 2, 0), (6, 9, 2)):
            spot = tiles(ninth // 3 * 3, ninth % 3 * 3, 2)
            bad = degrade_images(still[first : first + 2], KINDS[damage], 0.7, 2, spot)
            video = [*still[:first], *bad, *still[first + 2 :]]
            ninths = FAMILIES["spot"]["options"]
            assert answer(asked("spot", False, damage), ninths, video) == ninths[ninth]
            assert answer(asked("hidden", False, damage), QUARTERS, video) == QUARTERS[quarter]

    def test_which_two_are_there_at_once(self) -> None:
        dark = degrade_images(UNDAMAGED[:4], "under-exposure", 0.8, 2)
        both = degrade_images(dark, "noise", 0.7, 2)
        options = ("Flicker and noise", "Noise and under-exposure", "Under-exposure and stutter")
        for order in (options, options[::-1]):
            assert answer(FAMILIES["together"]["question"], order, both) == options[1]

    @pytest.mark.parametrize("damage", STILL)
    def test_when_it_begins(self, damage: str) -> None:
        for begin in (1, 4, 8, 15):
            late = degrade_images(UNDAMAGED[begin:], KINDS[damage], 0.9, 2)
            said = answer(asked("when", False, damage), QUARTERS, [*UNDAMAGED[:begin], *late])
            assert said == QUARTERS[begin // 4]


def _halves(corner: str, shape: tuple[int, ...]) -> tuple[slice, slice]:
    left, top, right, bottom = CORNERS[corner]
    rows = slice(round(top * shape[0]), round(bottom * shape[0]))
    return rows, slice(round(left * shape[1]), round(right * shape[1]))


class TestOtherQuestions:
    @pytest.mark.parametrize("question", [
        "What happens in this video?", "Is this video about a dog?", "Which one is red?",
        "Which of the two videos is longer?", "How strong is the man in this video?",
        "In which quarter of this video does the song begin?",
    ])  # fmt: skip
    def test_they_are_left_to_chance(self, question: str) -> None:
        video = UNDAMAGED[:4]
        assert answer(question, ("red", "blue"), video, video) is None
        draws = {
            asyncio.run(load_model("baseline:pixels").ask(_keyed(question, n))).text
            for n in range(12)
        }
        assert draws == {"A", "B"}

    def test_prose_is_not_attempted(self) -> None:
        for family in ("explain", "better"):
            question = FAMILIES[family]["question"]
            assert answer_about_quality(request(question, (), *[UNDAMAGED[:4]] * 2)) == []

    @pytest.mark.parametrize("question", [
        FAMILIES["what"]["question"], asked("strength", False, "noise"), asked("where", False, "noise")
    ])  # fmt: skip
    def test_options_that_it_cannot_read_are_left_to_chance(self, question: str) -> None:
        assert answer(question, ("red", "blue"), UNDAMAGED[:4]) is None

    def test_the_model_answers_by_what_it_measures(self) -> None:
        bad = damaged("noise", 0.9)
        for video, letter in ((bad, "A"), (UNDAMAGED, "B")):
            asking = load_model("baseline:pixels").ask(
                request("Is this video noisy?", YESNO, video)
            )
            assert asyncio.run(asking).text == letter


def _keyed(question: str, key: int) -> Request:
    parts = (picture(UNDAMAGED[0]), TextPart(question))
    return Request(f"k{key}", (Message("user", parts),), "single", question, ("red", "blue"))


ALL_FORMS = [
    (asked(family, turned, "noise", "top left"), family)
    for family, facts in FAMILIES.items()
    for turned in ((False, True) if "opposite" in facts else (False,))
    if facts["kind"] != "open"
]


def _options(family: str) -> Sequence[str]:
    facts = FAMILIES[family]
    named: Sequence[str] = facts.get("options", ("Noise", "Blur", "Flicker", "Stutter"))
    return YESNO if facts["kind"] == "yesno" else named


@pytest.mark.parametrize(("question", "family"), ALL_FORMS)
class TestOddInput:
    def test_no_pictures_are_left_to_chance(self, question: str, family: str) -> None:
        assert answer(question, _options(family)) is None

    @pytest.mark.parametrize("odd", ["one picture", "grey", "black", "palette", "narrow"])
    def test_odd_pictures_are_answered_about_or_left_to_chance(
        self, question: str, family: str, odd: str
    ) -> None:
        video: Video = {
            "one picture": UNDAMAGED[:1],
            "grey": [image[..., 0] for image in UNDAMAGED[:4]],
            "black": [np.zeros((32, 48, 3), np.uint8)] * 4,
            "palette": [np.full((40, 40), 200, np.uint8)] * 3,
            "narrow": [np.full((18, 100, 3), 9, np.uint8)] * 5,
        }[odd]
        pair = FAMILIES[family]["context"] in ("Compare", "Joint")
        said = answer(question, _options(family), *([video, video] if pair else [video]))
        assert said is None or said in _options(family)

    def test_a_pair_without_the_frames_of_one_is_not_compared(
        self, question: str, family: str
    ) -> None:
        for videos in (((), UNDAMAGED[:4]), (UNDAMAGED[:4], ())):
            said = answer(question, _options(family), *videos)
            if FAMILIES[family]["context"] == "Compare":
                assert said is None
            else:
                assert said is None or said in _options(family)

    def test_pictures_of_four_pixels(self, question: str, family: str) -> None:
        chance = np.random.default_rng(5)
        tiny = [chance.integers(0, 255, (2, 2, 3)).astype(np.uint8) for _ in range(8)]
        said = answer(question, _options(family), tiny, tiny)
        assert said is None or said in _options(family)
