"""What is known of the words of a language that answers are given in."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Vocabulary:
    """What one language says around an answer."""

    answer: str  # the noun: "the answer is B", "Answer: B"
    option: str  # the noun before a letter: "option B"
    right: str  # "B is correct"
    be: str  # between the noun and the letter
    deny: str = ""  # the same, denied, where that is not a negation behind it
    choose: str  # "I choose B"
    yes: str
    no: str
    negation: str
    negating: str = ""  # parts of words
    supposing: str = ""  # "a dog would bark": none is said to be there
    but: str = ""  # after a negation: "not A but B"
    joint: str  # "A and B"
    either: str  # "A or B"
    all_of_them: str
    filler: str = ""  # before a letter: "it's B", "probably B"
    article: str = ""
    ending: str = ""  # after a letter: "Bです"
    so: str  # a conclusion follows
    why: str  # a reason follows
    retraction: str = ""
    refusal: str
