"""What a reply denies, supposes, takes back or merely mentions is not its answer."""

import pytest

from reelbench.data.items import LETTERS, Kind
from reelbench.evaluate.parse import complete_answer, parse_answer

CITIES = ("Beijing", "Shanghai", "Guangzhou", "Shenzhen")
COLOURS = ("Red", "Green", "Blue", "Yellow")
DEFECTS = ("Blur", "Noise", "Flicker", "Banding", "Ringing")
COOK = ("C is cleaning the counter.", "C is cooking.", "C is reading.", "C is washing dishes.")
WAYS = ("Left", "Right", "Up", "Down")
RIDES = ("riding a bike", "riding a horse", "driving a car", "walking a dog")
GRADES = ("Good", "Average", "Poor")
YES_NO = ("Yes", "No")
PEOPLE = ("A man", "A man with a hat", "A woman", "A woman with a hat")
LABELLED = ("A. cat", "B. dog", "C. horse", "D. rabbit")
PETS = ("cat", "dog", "bird", "fish")
NUMBERS = ("3", "4", "5", "6")


def letters(reply: str, kind: Kind, options: tuple[str, ...]) -> str | None:
    places = parse_answer(reply, kind, options).places
    return None if places is None else "".join(LETTERS[place] for place in places)


@pytest.mark.parametrize("reply", [
    "I don't think the answer is B.", "I do not believe that the correct answer is C.", "The wrong answer is B.",
    "A common wrong answer is B.", "Incorrect answer: B", "This is not consistent with option B.", "I would not go with B.",
    "I'm not going with C.", "I don't think A is correct.", "A seems right but isn't.", "It is hard to say that the answer is C.",
    "It is unlikely that the correct answer is A.", "If the man is the father, the answer is B.", "The least likely answer is C.",
    "Many people would say the answer is A.", "My friends say the answer is C.", "Nothing matches option A.",
    "It is not the case that the answer is B.", "None of the evidence points to option C.", "Suppose the answer is C.",
    "Aは正解ではありません。", "A는 정답이 아닙니다.", "A सही उत्तर नहीं है।", "不选A。", "答案肯定不是A。", "No elijo la B.",
    "Я не выбираю B.", "Je ne choisis pas C.", "Não escolho a C.", "Non scelgo la C.", "لا أختار C.", "Ich wähle nicht C.",
])  # fmt: skip
def test_denied_or_supposed_or_said_by_others(reply: str) -> None:
    assert letters(reply, "single", CITIES) is None


@pytest.mark.parametrize("reply", [
    "There is no doubt that the answer is C.", "Since the tower is not in the north, the answer is C.",
    "If we look closely, the answer is C.", "The city that is not shown is option C.", "The answer is C, not B.",
    "You might think the answer is A. The answer is C.", "One might think the answer is A, but it is actually C.",
    "At first it looks like the north, but the answer is C.", "Answer: C, but not B.",
    "Answer: C. Could it be B? No, the tower is different.", "It is hard to be sure. My best guess is C.", "Answer: C. B is wrong, it is far.",
    "That leaves option C as the correct answer.", "It is best captured by C.", "The third option is correct.",
    "I think it's (C), since he waits.", "I think it's C, since he waits.", "ASSISTANT: C", "A resposta correta é a letra C.",
])  # fmt: skip
def test_stated_though_something_else_is_denied(reply: str) -> None:
    assert letters(reply, "single", CITIES) == "C"


@pytest.mark.parametrize("reply", [
    "Answer: A. No, B.", "Answer: A. Hmm, on reflection, B.", "Answer: A\n\nEdit: B", "The answer is C. Sorry, I meant B.",
    "A... I mean B.", "Answer: A, or rather B.", "The answer is A. Actually, it's B.", "Answer: A\nCorrection: B",
])  # fmt: skip
def test_a_correction_counts(reply: str) -> None:
    assert letters(reply, "single", CITIES) == "B"


@pytest.mark.parametrize("reply", [
    "Answer: A. Or maybe C.", "Answer: A (50%) or B (50%)", "Answer: A? B? Not sure.", "Answer: A; alternatively D.",
    "Answer: A - but D is equally plausible.", "Answer: B (maybe C)", "The answer is B, although C is also possible.",
    "Answer: B (if it is about the first clip), D (if about the second)", "First A. Then B.",
    "At first glance, the answer is A. However, a closer look shows otherwise.",
])  # fmt: skip
def test_alternatives_behind_an_answer(reply: str) -> None:
    assert letters(reply, "single", CITIES) is None


@pytest.mark.parametrize("reply", [
    "C. difficile infection is likely.", "The answer is C. difficile.", "D.C.", "D.C. is the city.", "A.M. radio is heard.",
    "B.C. 200", "B-12 is low.", "Answer: A-1 antitrypsin", "C:\\videos\\clip.mp4 could not be opened.",
    "A: Hello, how can I help you?", "C. elegans", "D-Day", "I was right about the video.",
])  # fmt: skip
def test_abbreviations_paths_and_speakers_are_no_labels(reply: str) -> None:
    assert letters(reply, "single", CITIES) is None


def test_an_option_that_looks_like_a_label_is_read_by_its_text() -> None:
    germs = ("S. aureus", "E. coli", "P. aeruginosa", "K. pneumoniae", "C. albicans")
    assert letters("The answer is E. coli, a rod.", "single", germs) == "B"
    assert letters("B. because of the tower", "single", CITIES) == "B"
    assert letters("Z", "single", ("X", "Y", "Z", "W")) == "C"


@pytest.mark.parametrize(("reply", "answer"), [
    ("C is right now washing dishes.", None), ("C is right-handed.", None), ("C is right next to the sink.", None),
    ("Therefore, the camera wearer (C) is busy.", None), ("Option C is correct.", "C"), ("C", "C"),
    ("The answer is C.", "C"), ("C is washing dishes.", "D"),
])  # fmt: skip
def test_a_letter_that_names_a_person(reply: str, answer: str | None) -> None:
    assert letters(reply, "single", COOK) == answer


@pytest.mark.parametrize(("reply", "kind", "answer"), [
    ('{"answer": "A"}\n{"answer": "B"}', "single", None), ('{"A": true, "B": false, "C": true}', "multi", "AC"),
    ('{"option": "A", "correct": false}\n{"option": "B", "correct": true}', "single", "B"), ('{} {"answer": "B"} {}', "single", "B"),
    ('The form is {"answer": "A"}. My reply is B. Green.', "single", "B"), ('{"A": true, "B": true}', "single", None),
])  # fmt: skip
def test_json(reply: str, kind: Kind, answer: str | None) -> None:
    assert letters(reply, kind, COLOURS) == answer


@pytest.mark.parametrize("reply", [
    "B\n\nQuestion: Which animal?\nA. cat\nB. dog\nAnswer: A", "B\n\nHuman: And the next?\nAssistant: The answer is C.",
    "Question: Which city?\nAnswer: B", "Let me see.\nQuestion: Which city?\nAnswer: B", "Q: Which city?\nA: B",
    "A. Beijing B. Shanghai C. Guangzhou D. Shenzhen Answer: B",
])  # fmt: skip
def test_questions_that_the_model_asks_itself(reply: str) -> None:
    assert letters(reply, "single", CITIES) == "B"


@pytest.mark.parametrize(("reply", "options", "answer"), [
    ("He picks up the cup and drinks.", WAYS, None), ("Let's break this down step by step.", WAYS, None),
    ("He left the room.", WAYS, None), ("You are right.", WAYS, None), ("He moves left.", WAYS, "A"),
    ("The arrow points up.", WAYS, "C"), ("Good question!", GRADES, None), ("On average, he walks.", GRADES, None),
    ("The quality is good, with sharp details.", GRADES, "A"), ("The video quality is good.", GRADES, "A"), ("The man drinks a Red Bull.", COLOURS, None),
    ("The shirt is red.", COLOURS, "A"), ("The man eats a hot dog.", PETS, None), ("There's no dog, only a cat.", PETS, "A"),
    ("It is a man wearing a hat.", PEOPLE, None), ("It is a man.", PEOPLE, "A"), ("It is a man with a hat.", PEOPLE, "B"),
    ("There are over 4 people.", NUMBERS, None), ("It is -5 degrees.", NUMBERS, None), ("There are 4 people.", NUMBERS, "B"),
    ("The image is free of noise.", DEFECTS, None), ("It's anything but green.", COLOURS, None),
    ("Beijing can be dismissed.", CITIES, None), ("I initially guessed Beijing.", CITIES, None),
    ("dog", LABELLED, "B"), ("A dog chases a cat.", LABELLED, None), ("It is a dog.", LABELLED, "B"),
    ("The patient has vitamin E.", ("Vitamin A", "Vitamin B"), None), ("It is vitamin A.", ("Vitamin A", "Vitamin B"), "A"),
    ("The man is riding a bike without a helmet.", RIDES, "A"), ("He is riding a bike down the road or path.", RIDES, "A"),
    ("I don't think it is red; it is green.", COLOURS, "B"), ("I do not see red. It is clearly green.", COLOURS, "B"),
    ("Unfortunately, the car turns green.", COLOURS, "B"), ("I don't know if it is red or green.", COLOURS, None),
    ("I cannot tell for sure, but the man appears to be riding a bike.", RIDES, "A"),
])  # fmt: skip
def test_words_of_options(reply: str, options: tuple[str, ...], answer: str | None) -> None:
    assert letters(reply, "single", options) == answer


@pytest.mark.parametrize("reply", [
    "Let's analyze each option:\n\nA. Red: the car is", "Let's consider each option.\nOption A: It does not look red.",
    "Some might choose B. Green.", "I considered B. Green, but the light changes.", "A. Red - the video doesn't show it.",
])  # fmt: skip
def test_one_label_of_an_analysis(reply: str) -> None:
    assert letters(reply, "single", COLOURS) is None


@pytest.mark.parametrize(("reply", "answer"), [
    ("Yes. No.", None), ("Yes, I can help you with that. Please upload the video.", None),
    ("Yes, I can see the video. What would you like to know?", None), ("No, based on these frames I can't tell.", None),
    ("No, there isn't enough information to determine that.", None), ("Based on the frames, yes, he is.", "A"),
    ("Yes, I can see that the man opens the door.", "A"), ("No, the man can't open the door.", "B"),
])  # fmt: skip
def test_yes_and_no(reply: str, answer: str | None) -> None:
    assert letters(reply, "yesno", YES_NO) == answer


@pytest.mark.parametrize(("reply", "answer"), [
    ("A. Blur - yes\nB. Noise - no\nC. Flicker - yes", "AC"), ("A: Yes\nB: No\nC: Yes\nD: No\nE: No", "AC"),
    ("A is correct. C is correct.", "AC"), ("All except D", "ABCE"), ("A and C, but not D.", "AC"),
    ("1. A. Blur\n2. D. Banding", "AD"), ("A. Blur B. Noise C. Flicker D. Banding E. Ringing Answer: B", "B"),
    ("The correct answers are A and C, since B is not visible.", "AC"), ("Answer: A, possibly C", None), ("I don't think A and C are correct.", None),
])  # fmt: skip
def test_several(reply: str, answer: str | None) -> None:
    assert letters(reply, "multi", DEFECTS) == answer


@pytest.mark.parametrize("reply", [
    "The answer could be A. Let me check. The answer", "I think the answer is B. But let me check each option:",
    "The answer is A. However, looking at the last frames again it seems",
])  # fmt: skip
def test_a_reply_that_was_cut_off_while_it_thought_again(reply: str) -> None:
    assert complete_answer(reply, "single", CITIES).places is None


@pytest.mark.parametrize(
    "piece",
    ["\ufdfa", "{} ", "\\boxed{%d} ", "A. %d text\n", '{"answer": "%d"} ', "the answer %d is "],
)
def test_loops_that_count_are_read_to_their_end(piece: str) -> None:
    loop = "".join(piece % number if "%" in piece else piece for number in range(12_000))
    assert parse_answer(loop, "single", CITIES).places is None


def test_an_answer_at_either_end_of_a_long_reply_is_read() -> None:
    prose = "The man walks to the door and looks back once. " * 4000
    assert letters(f"Answer: B\n\n{prose}", "single", CITIES) == "B"
    assert letters(f"{prose}\n\nAnswer: B", "single", CITIES) == "B"
