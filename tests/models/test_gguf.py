"""The command that serves a GGUF model says in a sentence why it cannot."""

from importlib.util import find_spec
from pathlib import Path

import pytest

from reelbench.models.gguf import main


def fault(file: Path, capsys: pytest.CaptureFixture[str]) -> str:
    with pytest.raises(SystemExit) as ended:
        main([str(file), "--port", "0"])
    assert ended.value.code == 2
    return capsys.readouterr().err


def test_a_file_that_is_not_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "no.gguf"
    assert f"there is no file {file}: name a GGUF model" in fault(file, capsys)


@pytest.mark.skipif(find_spec("xllamacpp") is not None, reason="xllamacpp is installed")
def test_without_the_extra(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "m.gguf"
    file.write_bytes(b"GGUF")
    assert "xllamacpp is not installed: pip install " in fault(file, capsys)
