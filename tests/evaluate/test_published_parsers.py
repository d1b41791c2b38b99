"""Published parsers do here what they do where they are published, their odd sides included."""

import ast
import gzip
import json
import subprocess
import sys
from pathlib import Path

import pytest
from support import REPOSITORY, SHARED, make_item

from reelbench.base.errors import ReelbenchError
from reelbench.data.items import LETTERS
from reelbench.evaluate.judge import Reply
from reelbench.evaluate.parse import parse_answer
from reelbench.evaluate.published_parsers import PUBLISHED, parsers_named, read_as

OPTIONS = ("a red door", "a blue door", "a dog", "two people walk along the river")
# The order of the letters in the table below.
NAMES = (
    "lmms-eval@0.7.2", "lmms-eval@before-9ca4445d", "lmms-eval:mvbench@0.7.2",
    "lmms-eval:nextqa@0.7.2", "lmms-eval:longvideobench@0.7.2", "vlmevalkit@a67ace50",
    "vlmevalkit@before-a67ace50", "vlmevalkit@before-c3371551", "vlmevalkit:guess@a67ace50",
    "vlmevalkit:videomme@a67ace50", "humanvbench@1ae56c0e", "mmou@lmms-eval-0.7.3",
    "mmmu-pro@8ac826a",
)  # fmt: skip


def read(name: str, reply: str, options: tuple[str, ...] = OPTIONS) -> str:
    """The letter that a parser reads, ``-`` for none, ``?`` for a guess."""
    (parser,) = parsers_named([name])
    found = parser.read(reply, options)
    if found.draw:
        return "?"
    return "-" if found.place is None else LETTERS[found.place]


@pytest.mark.parametrize(("reply", "theirs", "ours"), [
    ("B", "BBBBBBBBBBBBB", "B"),
    ("(B)", "BBBBBBBBBBBBB", "B"),
    ("b", "--B??---?--B?", "B"),
    ("**B**", "BBB?BBBBBBBB?", "B"),
    ("\\boxed{B}", "BBB?BBBBBBBB?", "B"),
    ("<answer>B</answer>", "BBB?B---?BBB?", "B"),
    ("B. a blue door", "BBBBBBBBBBBBB", "B"),
    ("Answer: B", "BABBABBBBBBBB", "B"),  # the A of "Answer" is the first capital
    ("The answer is B.", "BBBBBBBBBBBBB", "B"),
    ("The correct answer is (B) a blue door.", "BBBBBBBBBBBBB", "B"),
    ("A blue door", "AAAAAAAAAAAAA", "B"),  # the article
    ("It is a blue door.", "--A??BBBBBB-?", "B"),
    ("Based on the video, the door is blue, so B.", "BBBBBBBBBBBBB", "B"),
    ("A man opens the door. Answer: B", "AAABA---?AABB", "B"),
    ("A is wrong, B is right", "AAABA---?AAAB", "B"),
    ("The best answer is Option C", "CCCCCCCCCCCCC", "C"),
    ("two people walk along the rive", "---??---?-D-?", "-"),
    ("Because the dog barks", "BB-?B---?BBB?", "C"),
    ("C and D", "CCCDC---?CCCD", "-"),
    ("The DNA test shows C", "CDCCDCCCCDDCC", "-"),
    ("答案是B", "BB-BB---?BBBB", "B"),
    ("I'm sorry, I can't help with that.", "---??---?---?", "-"),
    ("Cannot determine the answer", "CC-?C----CCC?", "-"),
    ("Final answer: (D)", "DDDDDDDDDDDDD", "D"),
    ("A\n\nB is tempting but the door is red.", "AAABA---?AAAB", "A"),
    ("Z", "---??-------?", "-"),
    ("E", "---?----?---?", "-"),
    ("", "---??---?---?", "-"),
    ("...", "---??---?---?", "-"),
])  # fmt: skip
def test_each_reads_a_reply_as_it_is_published(reply: str, theirs: str, ours: str) -> None:
    assert "".join(read(name, reply) for name in NAMES) == theirs
    places = parse_answer(reply, "single", OPTIONS).places
    assert ("-" if places is None else LETTERS[places[0]]) == ours


TEN = tuple(
    f"option {word}"
    for word in ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
)


@pytest.mark.parametrize(("name", "reply", "options", "letter"), [
    # A refusal is option I wherever there are nine options and one letter alone will do.
    ("mmou", "I'm sorry, I can't help with that.", TEN, "I"),
    ("mmmu-pro", "I'm sorry, I can't help with that.", TEN, "I"),
    ("lmms-eval:nextqa", "I'm sorry, I can't help with that.", TEN, "I"),
    ("vlmevalkit", "I'm sorry, I can't help with that.", TEN, "-"),
    ("vlmevalkit", "I'm sorry, but without the image provided, B", TEN, "-"),
    ("vlmevalkit", "B is the right one of all these options here", OPTIONS, "-"),  # too far back
    ("vlmevalkit", "it is option B of all these", OPTIONS, "B"),
    ("vlmevalkit@before-c3371551", "B is the right one of all these options here", OPTIONS, "B"),
    ("vlmevalkit@before-c3371551", "the dog" + " barks" * 40, ("a cat", "the dog"), "B"),
    ("vlmevalkit@before-c3371551", "I'm afraid that I cannot say what it may be", TEN, "I"),
    ("vlmevalkit", "A DOG", ("a cat", "a dog"), "A"),
    ("vlmevalkit", "the dog" + " barks" * 40, ("a cat", "the dog"), "-"),  # too long for its text
    ("vlmevalkit", "Failed to obtain answer via API. B", OPTIONS, "-"),
    ("vlmevalkit:videomme", "Answer: B", OPTIONS, "B"),
    ("vlmevalkit:videomme", "it is the red one", ("Blue.", "The red one."), "B"),
    ("vlmevalkit", "The answer is **b** for many good reasons, as one sees", OPTIONS, "B"),
    ("vlmevalkit", "The answer is clearly the dog", OPTIONS, "C"),  # the letter of "clearly"
    ("vlmevalkit@before-a67ace50", "The answer is **B** as one sees there", OPTIONS, "-"),
    ("lmms-eval", "A man opens it, so (B) or (C)", OPTIONS, "A"),  # the first character
    ("lmms-eval", "About B: no. It is (C), D", OPTIONS, "D"),  # the last
    ("lmms-eval", "it says that the answer is B, not A, really", OPTIONS, "A"),
    ("lmms-eval", "so the answer is B and C; the answer is B then", OPTIONS, "C"),
    ("lmms-eval", "it is the right option: b, (C) or A. or so", OPTIONS, "C"),
    ("lmms-eval", "no letter but those of the DNA here", OPTIONS, "A"),
    ("lmms-eval", "我觉得答案是 B 吧", OPTIONS, "B"),
    ("lmms-eval", "J", TEN, "J"),  # as many letters as there are options
    ("lmms-eval@before-9ca4445d", "The best option is B", OPTIONS, "B"),
    ("lmms-eval@before-9ca4445d", "Option:\nC. a dog", ("x", "y", "z"), "C"),
    ("lmms-eval@before-9ca4445d", "D", ("x", "y", "z"), "-"),
    ("lmms-eval@before-9ca4445d", "J", TEN, "-"),  # A to D, whatever the options
    ("lmms-eval:mvbench", "c. a dog", OPTIONS, "C"),
    ("lmms-eval:mvbench", "c.\n a dog", OPTIONS, "C"),
    ("lmms-eval:mvbench", "c. a\ndog or a d", OPTIONS, "C"),
    ("lmms-eval:mvbench", "it is (b)", OPTIONS, "B"),
    ("lmms-eval:mvbench", "well,b", OPTIONS, "B"),
    ("lmms-eval:mvbench", "1,000 wells,b", OPTIONS, "-"),  # a comma between digits glues the rest
    ("lmms-eval:nextqa", "(A) or rather (C), not B ", OPTIONS, "C"),
    ("lmms-eval:nextqa", "B. or A.", OPTIONS, "A"),  # whose full stop is taken off
    ("lmms-eval:nextqa", "one sees a dog and then a red door", OPTIONS, "A"),
    ("lmms-eval:nextqa", "a red door, a dog", OPTIONS, "?"),  # too few words for texts
    ("lmms-eval:longvideobench", "Best option: the one with a dog", OPTIONS, "?"),
    ("lmms-eval:mvbench", "(F)", TEN, "F"),
    ("lmms-eval:mvbench", "the answer is F", TEN, "-"),  # A to E, but for a letter by itself
    ("mmmu-pro", "Answer: C or D", OPTIONS, "D"),
    ("mmmu-pro", "Answer: C. a Dog", OPTIONS, "C"),
    ("humanvbench", "The best answer is Option (C)", OPTIONS, "-"),
    ("humanvbench", "The best answer is option ", OPTIONS, "-"),
    ("humanvbench", "Answer C", OPTIONS, "C"),
    ("humanvbench", "Based upon it: C", OPTIONS, "C"),
    ("humanvbench", "at 1-2 s", ("x", "1,2"), "B"),
    ("humanvbench", "wo people walk along the riv.", OPTIONS, "-"),
    ("mmou", "The answer is (c) or D. Final answer: A", OPTIONS, "D"),
    ("mmou", "no", ("yes", "no"), "-"),
    ("mmou", "zzz", OPTIONS, "-"),
])  # fmt: skip
def test_single_rules(name: str, reply: str, options: tuple[str, ...], letter: str) -> None:
    assert read(name, reply, options) == letter


def test_all_are_in_the_tables_and_say_their_rules() -> None:
    assert tuple(PUBLISHED) == NAMES
    for parser in PUBLISHED.values():
        assert "1. " in parser.rules
        assert parser.used_by


LENGTH = 300_000
HOSTILE = {
    "spaces behind a letter": "A." + " " * LENGTH + "\nx\ny",
    "line feeds": "A." + "\n" * LENGTH + "x",
    "answers": "answer: " * (LENGTH // 8),
    "brackets": "answer:" + "([*" * (LENGTH // 3),
    "commas and digits": "1,a" * (LENGTH // 3),
    "an option without its end": "two people walk along the r" * (LENGTH // 27),
    "letters": "ABCD " * (LENGTH // 5),
    "points": "." * LENGTH,
    "no letter": "…" * LENGTH,
    "surrogates and marks": "\ud800\u202e\u0301\x00İß" * (LENGTH // 6),
}


@pytest.mark.parametrize("reply", HOSTILE.values(), ids=HOSTILE)
def test_a_huge_reply_is_read_at_once(reply: str) -> None:
    # A pattern that backtracks would take hours here.
    assert all(read(name, reply) in "ABCD-?" for name in NAMES)


def test_a_guess_is_drawn_by_the_seed_and_counted() -> None:
    parser = PUBLISHED["lmms-eval:nextqa@0.7.2"]
    replies = [
        Reply(make_item(number), "m", "protocol", 0, (3, 2, 1, 0), 0, "?") for number in range(200)
    ]
    drawn = [read_as(parser, reply, 7) for reply in replies]
    assert all(each.draw == 4 and each.place is not None for each in drawn)
    assert {each.place for each in drawn} == {0, 1, 2, 3}
    assert drawn == [read_as(parser, reply, 7) for reply in replies]
    assert drawn != [read_as(parser, reply, 8) for reply in replies]
    # One of five draws of a judge that fails is none of four options.
    none = [
        read_as(PUBLISHED["vlmevalkit:guess@a67ace50"], reply, 7).place is None for reply in replies
    ]
    assert 20 < sum(none) < 60


def test_a_name_without_a_version_is_the_newest() -> None:
    names = ["lmms-eval", "vlmevalkit", "lmms-eval@0.7.3", "lmms-eval@0.7.1", "vlmevalkit@a67ace50"]
    assert [parser.name for parser in parsers_named(names)] == [
        "lmms-eval@0.7.2",
        "vlmevalkit@a67ace50",
        "lmms-eval@before-9ca4445d",
    ]


@pytest.mark.parametrize(("name", "meant"), [
    ("lmms_eval", "perhaps lmms-eval is meant. There are lmms-eval@0.7.2, lmms-eval@before-"),
    ("lmms-eval:mmmu", "perhaps lmms-eval:nextqa is meant. There are "),
    ("vlmevalkit:earlier", "perhaps vlmevalkit@before-c3371551 is meant. There are "),
    ("gpt", r"'gpt' \(--parser\). There are .* mmmu-pro@8ac826a \(without a version, the newest"),
])  # fmt: skip
def test_an_unknown_parser_is_refused_with_the_known(name: str, meant: str) -> None:
    with pytest.raises(ReelbenchError, match=meant):
        parsers_named([name])


def test_a_function_of_a_file_is_a_parser_too(tmp_path: Path) -> None:
    path = tmp_path / "theirs.py"
    path.write_text(
        "def last(reply, options):\n"
        "    return {'p': 1, 'f': ' (c).', 'n': None, 'e': '', 'z': 'Z'}.get(reply[-1:], reply)\n"
    )
    own, again = parsers_named([f"{path}:last", "mmou", f"{path}:last", "all"])[:2]
    assert (own.name, again.name) == ("theirs.py:last", "mmou@lmms-eval-0.7.3")
    found = {letter: own.read(letter, OPTIONS).place for letter in "pfnez"}
    assert found == {"p": 1, "f": 2, "n": None, "e": None, "z": None}
    with pytest.raises(ReelbenchError, match="last returns 'hm': return a letter such as 'B'"):
        own.read("hm", OPTIONS)
    path = tmp_path / "broken.py"
    path.write_text("def read(reply, options):\n    return options[9]\n")
    with pytest.raises(ReelbenchError, match="read fails on the reply 'B': IndexError"):
        parsers_named([str(path)])[0].read("B", OPTIONS)


def test_a_programs_own_code_runs_beside_ours(tmp_path: Path) -> None:
    """Of its file only what is asked for, whatever else that imports and reads."""
    code = tmp_path / "lmms_eval" / "tasks" / "mmou" / "utils.py"
    code.parent.mkdir(parents=True)
    code.write_text(
        "import decord_of_nobody\nfrom nowhere import logger\nopen('not there')\nLETTER = 'B'\n"
        "def _extract_answer(response):\n    logger.info('read')\n    return LETTER\n"
    )
    row = {"response": "Answer: A", "options": "['a', 'b']"}
    (tmp_path / "replies.jsonl").write_text(json.dumps(row) + "\n")
    script = REPOSITORY / "benchmarks" / "parsers.py"
    words = [script, tmp_path / "replies.jsonl", "--peer", tmp_path, "--made", "0"]
    done = subprocess.run([sys.executable, *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[3:] == [
        "| mmou@lmms-eval-0.7.3 | HEAD | 1 |",
        "  they: B, we: A | 'Answer: A' | ('a', 'b')",
    ]


# Of the 1,730 replies of each file: how often each comes to the letter that MMMU-Pro published,
# and how many replies it guesses.
REPLIES = {
    "standard10_options_direct": (1723, 0, 7),
    "vision_cot": (1727, 0, 3),
    "vision_direct": (1682, 0, 48),
}


@pytest.mark.skipif(
    not SHARED.exists(), reason="the folder of real replies is not beside the repository"
)
@pytest.mark.parametrize("name", REPLIES)
def test_published_letters_are_reproduced_but_for_the_guesses(name: str) -> None:
    same = other = guesses = 0
    with gzip.open(SHARED / "data" / "responses" / f"gpt-4o_{name}.jsonl.gz") as lines:
        for row in map(json.loads, lines):
            options = tuple(map(str, ast.literal_eval(row["options"])))
            letter = read("mmmu-pro", row["response"] or "", options)
            guesses += letter == "?"
            same += letter == row["pred_indexs"]
            other += letter not in ("?", row["pred_indexs"])
    assert (same, other, guesses) == REPLIES[name]
