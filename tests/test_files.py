"""Files are written whole or not at all; draws depend on their names alone."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from reelbench.base.files import (
    canonical_json,
    digest_of,
    pretty_json,
    pretty_object,
    sweep_partial_files,
    write_atomically,
)
from reelbench.base.json_faults import json_fault
from reelbench.base.limits import decode_json
from reelbench.base.seeds import rng_for, seed_for


def test_a_failed_write_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "scores.json"
    write_atomically(path, "old")

    def full_disk(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full_disk)
    with pytest.raises(OSError, match="No space"):
        write_atomically(path, "new")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_an_object_of_pretty_pieces_is_the_pretty_object() -> None:
    value = {"b": {"x": [1, {"y": "two\nlines"}], "a": {}}, "a": [], 'odd "name"': "ü"}
    assert pretty_object({k: pretty_json(v) for k, v in value.items()}) == pretty_json(value)
    assert pretty_object({}) == pretty_json({})


def test_modes_and_links_are_kept(tmp_path: Path) -> None:
    real, link = tmp_path / "real", tmp_path / "link"
    real.write_text("old")
    real.chmod(0o640)
    link.symlink_to(real)
    write_atomically(link, "new")
    assert link.is_symlink()
    assert real.read_text() == "new"
    assert real.stat().st_mode & 0o777 == 0o640


def test_a_device_is_written_to_and_not_replaced(tmp_path: Path) -> None:
    screen, terminal = os.openpty()
    out = tmp_path / "scores.json"
    out.symlink_to(os.ttyname(terminal))
    write_atomically(out, "new")
    assert os.read(screen, 100) == b"new"
    program = "from reelbench.base.files import *; write_atomically(Path('/dev/stdout'), 'new')"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert done.stdout == b"new"


def test_hashes_know_one_spelling() -> None:
    assert canonical_json({"b": (1, 2), "a": "é"}) == '{"a":"é","b":[1,2]}'
    assert digest_of({"a": 1, "b": 2}) == digest_of({"b": 2, "a": 1})


def test_draws_are_the_same_on_every_machine() -> None:
    assert seed_for(0, "options", "q-1") == 12901181034866348212
    rng = rng_for(0, "options", "q-1")
    assert [rng.randrange(100) for _ in range(5)] == [81, 68, 72, 89, 81]
    assert seed_for("ab", "c") != seed_for("a", "bc")


@pytest.mark.parametrize(("text", "fault"), [
    ('{"a": 1,\n\n}', ("a comma with nothing behind it, before }", 1, 8)),
    ("[1,\n2 ,]", ("a comma with nothing behind it, before ]", 2, 3)),
    ('{"a" 1}', ("a missing colon behind a name", 1, 6)),
    ('{"a": 1 "b": 2}', ("a missing comma", 1, 9)),
    ("[1, 2", ("an end without ]", 1, 6)),
    ('{"a": [{"b": "}"', ("an end without }]}", 1, 17)),
    ('{"a":', ("an end without a value and }", 1, 6)),
    ('"a": 1}', ("a name outside of an object: a missing { before it", 1, 4)),
    ('{"a": 1}}', ("} that closes nothing", 1, 9)),
    ('{"a": 1} {}', ("more behind it", 1, 10)),
    ("{'a': 1}", ("single quotes instead of double ones", 1, 2)),
    ("{a: 1}", ("a name without double quotes", 1, 2)),
    ('{"a": None}', ("None instead of null", 1, 7)),
    ('{"a": yes}', ("a missing value, or a text without double quotes", 1, 7)),
    ('["a]', ("a text whose quote is not closed", 1, 2)),
    ('["a\n"]', ("a line break or tab within a text instead of \\n or \\t", 1, 4)),
    ('["C:\\new\\data"]', ("a single backslash instead of two", 1, 9)),
    ("[1}", ("} that closes nothing", 1, 3)),
    ("", ("nothing", 1, 1)),
    ("}", ("} that closes nothing", 1, 1)),
    ("[}", ("} that closes nothing", 1, 2)),
    ('{"a": }', ("a missing value, or a text without double quotes", 1, 7)),
])  # fmt: skip
def test_what_is_wrong_with_json_is_told_alike_by_every_python(
    text: str, fault: tuple[str, int, int]
) -> None:
    with pytest.raises(json.JSONDecodeError) as caught:
        json.loads(text)
    assert json_fault(caught.value) == fault
    with pytest.raises(ValueError, match=re.escape(f"{fault[0]}, in line {fault[1]} at column")):
        decode_json(text)


HOLDING = """
import sys, time
from pathlib import Path
from reelbench.base.files import partial_file
with partial_file(Path(sys.argv[1]), ".mp4") as (handle, name):
    print(name, flush=True)
    time.sleep(600)
"""


def test_what_a_killed_process_left_is_swept_by_the_next_that_writes(tmp_path: Path) -> None:
    """And nothing that a living one holds."""
    command = [sys.executable, "-c", HOLDING, str(tmp_path)]
    both = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    killed, living = (Path(process.stdout.readline().strip()) for process in both)
    try:
        both[0].kill()
        both[0].wait()
        assert killed.exists()
        write_atomically(tmp_path / "status.json", "{}")
        assert not killed.exists()
        assert living.exists()
    finally:
        for process in both:
            process.kill()
            process.communicate()
    assert sorted(path.name for path in tmp_path.iterdir()) == [living.name, "status.json"]


def test_files_of_others_are_not_swept(tmp_path: Path) -> None:
    for name in (".status.json.swp", ".reelbench-notes", "reelbench-partial-a"):
        (tmp_path / name).write_text("mine")
    sweep_partial_files(tmp_path)
    assert len(list(tmp_path.iterdir())) == 3
