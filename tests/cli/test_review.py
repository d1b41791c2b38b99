"""``reelbench review`` as a user types it."""

import signal
import socket
import sys
from pathlib import Path

import pytest
from review.serving import served
from support import make_item, run_here

from reelbench.data.benchmark import Benchmark
from reelbench.data.manifest import Manifest


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    """A benchmark without any media file."""
    root = tmp_path / "b"
    Benchmark(root, Manifest("b", "1"), (make_item(1), make_item(2))).save(root)
    return root


def test_the_protocols_are_listed_on_stdout(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_here("review", "--list-protocols") == 0
    said = capsys.readouterr()
    assert "humanvbench-verify  " in said.out
    assert said.err == ""


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ([], "Name the folder of a benchmark"),
        (["nowhere"], "nowhere is not a folder"),
        (["BENCH", "--protocol", "humanvbench-verfy"], "perhaps humanvbench-verify?"),
        (["BENCH", "--local", "--host", "0.0.0.0"], "--local is for this machine alone"),
        (["BENCH", "--database", "mysql://x/y"], "postgresql://user:password@host/name"),
        (["BENCH", "--language", "xx"], "choose one of en"),
    ],
)
def test_wrong_use_gets_a_sentence(
    words: list[str], sentence: str, texts: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    named = [str(texts) if word == "BENCH" else word for word in words]
    assert run_here("review", *named, "--no-browser", "--port", 0) == 2
    assert sentence in capsys.readouterr().err


def test_without_the_extra_the_command_to_get_it_is_named(
    texts: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in [each for each in sys.modules if each.startswith("reelbench.review")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "sqlalchemy", None)
    assert run_here("review", texts) == 2
    assert "[web]" in capsys.readouterr().err


def test_a_folder_starts_with_its_protocols_which_are_then_its_own(texts: Path) -> None:
    with served(texts, "--local"):
        kept = sorted(path.stem for path in (texts / "review").glob("*.yaml"))
        assert kept == ["answer", "rate", "verify", "write"]
        assert "items: all" in (texts / "review" / "verify.yaml").read_text()


def test_a_taken_port_is_told_and_another_one_used(texts: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with served(texts, "--local", "--port", port) as running:
            assert f":{port}/" not in running.link
            assert running.address.startswith("http://127.0.0.1:")


def test_ctrl_c_ends_it_as_it_ends_every_command(texts: Path) -> None:
    with served(texts, "--local") as running:
        running.process.send_signal(signal.SIGINT)
        assert running.process.wait(200) == 130
