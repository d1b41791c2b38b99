"""Rules that were once written several times: each has one home, and all go by it."""

import re
from pathlib import Path

import pytest

import reelbench
from reelbench.base.errors import ReelbenchError
from reelbench.base.yaml_files import YamlError, read_yaml
from reelbench.data.fields import Rule, field_faults, is_text
from reelbench.data.paths import VIDEO_ENDINGS, link_outside

SOURCE = Path(reelbench.__file__).parent
RULES: dict[str, Rule] = {
    "name": (True, is_text, "a name"),
    "note": (False, is_text, "text"),
    "file": (False, lambda value: value == "a.csv", "a path"),
}


@pytest.mark.parametrize(
    ("sign", "home"),
    [(r'"\.mkv", ', "data/paths.py"), (r"commonpath", "data/paths.py"), (r"SafeLoader\)", "base/yaml_files.py")],
)  # fmt: skip
def test_each_is_written_once(sign: str, home: str) -> None:
    found = {
        path.relative_to(SOURCE).as_posix()
        for path in SOURCE.rglob("*.py")
        if re.search(sign, path.read_text())
    }
    assert home in found
    # What FFmpeg can write, and the lines of a list's entries, are other things.
    assert found - {home} <= {"media/edit/write.py", "interop/described_file.py"}


def test_a_link_is_followed_and_said_where_it_leads(tmp_path: Path) -> None:
    inside, outside = tmp_path / "in", tmp_path / "out"
    inside.mkdir()
    outside.mkdir()
    (inside / "link").symlink_to(outside)
    (inside / "own").symlink_to(inside)
    assert link_outside(inside, inside / "link" / "x.mp4") == str(outside / "x.mp4")
    assert link_outside(inside, inside / "own" / "x.mp4") == ""
    assert ".mp4" in VIDEO_ENDINGS


def test_fields_are_checked_by_rules_strictly_or_not() -> None:
    record = {"note": None, "nmae": "x", "file": "../b.csv"}
    lenient = list(field_faults(record, RULES, paths=frozenset({"file"})))
    assert lenient == [
        ("MISSING_FIELD", "name", "nothing", "a name"),
        ("BAD_FIELD", "file", "'../b.csv' (it leaves the folder)", "a path"),
        ("UNKNOWN_FIELD", "nmae", "an unknown field", "a known field: perhaps 'name' is meant"),
    ]
    strict = [fault[:2] for fault in field_faults(record, RULES, "top.", strict=True)]
    assert strict == [
        ("MISSING_FIELD", "top.name"),
        ("BAD_FIELD", "top.note"),
        ("BAD_FIELD", "top.file"),
        ("BAD_FIELD", "top.nmae"),
    ]


@pytest.mark.parametrize(
    ("content", "code", "said"),
    [
        (None, "UNREADABLE", "found no such file"),
        (b"a: \xff\n", "UNREADABLE", "line 1: found byte 0xFF, expected UTF-8"),
        (b"a: 1\na: 2\n", "NOT_YAML", "line 2: found 'a' twice"),
        (b"a: 2024-13-45\n", "NOT_YAML", "expected plain YAML"),
    ],
)
def test_every_yaml_file_is_refused_in_the_same_words(
    content: bytes | None, code: str, said: str, tmp_path: Path
) -> None:
    path = tmp_path / "x.yaml"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(YamlError) as caught:
        read_yaml(path)
    assert isinstance(caught.value, ReelbenchError)
    assert caught.value.code == code
    assert said in str(caught.value)
