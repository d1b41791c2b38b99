"""Every text that people read on the pages is in one file, by name, so that it can be translated."""

import json
import re
from html.parser import HTMLParser
from importlib.resources import files
from pathlib import Path

import pytest
from review.serving import local, served

from reelbench.base.errors import ReelbenchError
from reelbench.review.strings import strings_in

ROOM = Path(str(files("reelbench.review")))
TEMPLATES = sorted((ROOM / "templates").glob("*.j2"))
SCRIPTS = sorted((ROOM / "static").glob("*.js"))
TEXTS = json.loads((ROOM / "strings" / "en.json").read_text())
_CALL = re.compile(r"""(?<![\w.])t\(\s*["'`](\w+)""")
# Put together from what an event says: its type and its decision.
PUT_TOGETHER = ("verdict_", "resolved_")


def named(path: Path) -> tuple[set[str], set[str]]:
    """The names of texts that a file asks for, and the beginnings of names that it puts together."""
    found = set(_CALL.findall(path.read_text()))
    beginnings = {name for name in found if name.endswith("_")}
    return found - beginnings, beginnings


@pytest.mark.parametrize("path", [*TEMPLATES, *SCRIPTS], ids=lambda path: path.name)
def test_every_text_that_a_page_asks_for_is_there(path: Path) -> None:
    names, beginnings = named(path)
    assert names - set(TEXTS) == set()
    for start in beginnings:
        assert any(name.startswith(start) for name in TEXTS), start


def test_every_text_in_the_file_is_used() -> None:
    source = "".join(path.read_text() for path in [*TEMPLATES, *SCRIPTS, *ROOM.rglob("*.py")])
    words = set(re.findall(r"\w+", source))
    starts = {start for path in [*TEMPLATES, *SCRIPTS] for start in named(path)[1]}
    starts |= {*PUT_TOGETHER, *re.findall(r"`(\w+_)\$\{", source)}
    unused = [name for name in TEXTS if name not in words and not name.startswith(tuple(starts))]
    assert unused == []
    assert list(TEXTS) == sorted(TEXTS)


class _Words(HTMLParser):
    """Gathers what a template would show or say itself."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_data(self, data: str) -> None:
        self.found.append(data)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        spoken = ("aria-label", "title", "placeholder", "alt")
        self.found += [value or "" for name, value in attrs if name in spoken]


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.name)
def test_no_template_holds_a_text_of_its_own(path: Path) -> None:
    text = re.sub(r"\{\{.*?\}\}|\{%.*?%\}|\{#.*?#\}", "", path.read_text(), flags=re.S)
    words = _Words()
    words.feed(text)
    own = [part.strip() for part in words.found if re.search(r"[A-Za-z]{2}", part)]
    assert [part for part in own if part not in ("· Reelbench", "CSV")] == []


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.name)
def test_no_script_holds_a_sentence_of_its_own(path: Path) -> None:
    code = re.sub(r"//[^\n]*|/\*.*?\*/", "", path.read_text(), flags=re.S)
    strings = [a or b or c for a, b, c in re.findall(r'"([^"\n]*)"|\'([^\'\n]*)\'|`([^`]*)`', code)]
    sentences = [text for text in strings if re.match(r"[A-Z][a-z]+ [a-z]+", text)]
    assert sentences == []


def test_a_translators_file_takes_the_place_of_all_texts(benchmark: Path, tmp_path: Path) -> None:
    own = tmp_path / "xx.json"
    own.write_text(json.dumps({name: f"⟦{text}⟧" for name, text in TEXTS.items()}))
    with served(benchmark, "--local", "--language", own) as running:
        text = local(running).visit("/")
    assert f"⟦{TEXTS['home_title']}⟧" in text
    assert 'lang="xx"' in text


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("[]", "not a JSON object"),
        ('{"hello": "Hallo"}', "hello: the pages have no text of this name"),
        ('{"join_note": "Willkommen"}', "join_note: expected a text with the same slots"),
    ],
)
def test_a_translation_that_does_not_fit_is_refused(
    content: str, sentence: str, tmp_path: Path
) -> None:
    own = tmp_path / "yy.json"
    own.write_text(content)
    with pytest.raises(ReelbenchError, match=sentence):
        strings_in(str(own))


def test_a_slot_of_a_text_is_filled_in() -> None:
    strings = strings_in("en")
    assert strings.text("join_note", role="a reviewer").startswith("You are invited as a reviewer")
