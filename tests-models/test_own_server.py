"""Real servers that a card starts: transformers' own, and that of llama.cpp in xllamacpp."""

import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from support import blind_benchmark, make_item
from tiny_gguf import make_gguf

from reelbench.data.benchmark import Benchmark
from reelbench.evaluate.run import run_benchmark


def card(folder: Path, **fields: Any) -> str:
    path = folder / "m.yaml"
    path.write_text(json.dumps({"name": "m", "connections": 2, "startup": 240} | fields))
    return str(path)


def test_transformers_serve(
    tiny: Path, benchmark: Benchmark, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It says the same as the model that is asked directly, and is gone afterwards."""
    program = str(Path(sys.executable).with_name("transformers"))
    serve = [program, "serve", "{model}", "--host", "{host}", "--port", "{port}", "--device", "cpu"]
    (tmp_path / "home" / "hub").mkdir(parents=True)
    served = card(
        tmp_path,
        model=str(tiny),
        serve=serve,
        environment={"HF_HOME": str(tmp_path / "home"), "HF_HUB_OFFLINE": "1"},
        parameters={"max_tokens": 8},
    )
    state = run_benchmark(benchmark, [served], tmp_path / "r")
    talk = capsys.readouterr().err
    assert state.done == state.total == 12, (tmp_path / "r" / "servers" / "m.log").read_text()
    assert "its server is ready" in talk
    assert "warning" not in talk
    direct = tmp_path / "direct.yaml"
    fields = {"name": "m", "backend": "hf", "model": str(tiny), "parameters": {"max_new_tokens": 8}}
    direct.write_text(json.dumps(fields))
    run_benchmark(benchmark, [str(direct)], tmp_path / "d")
    assert replies(tmp_path / "r") == replies(tmp_path / "d")
    assert still_there(str(tiny)) == []


def test_the_server_of_llama_cpp(
    tmp_path: Path, small_gguf: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    items = [make_item(n, media=make_item(1).media, question=f"Why {n}?") for n in range(3)]
    benchmark = blind_benchmark(tmp_path / "b", *items, modalities="T")
    serve = [sys.executable, "-m", "reelbench.models.gguf", str(small_gguf), "--port", "{port}"]
    serve += ["--name", "{model}", "--threads", "1", "--context", "2048"]
    fields = {"serve": serve, "sees": False, "parameters": {"max_tokens": 8, "seed": 1}}
    state = run_benchmark(benchmark, [card(tmp_path, **fields)], tmp_path / "r")
    assert state.done == 3, (tmp_path / "r" / "servers" / "m.log").read_text()
    assert replies(tmp_path / "r") == ["A" * 8] * 3
    assert "warning" not in capsys.readouterr().err
    (usage,) = json.loads((tmp_path / "r" / "usage.json").read_text())
    assert 0 < usage["cached_tokens"] < usage["input_tokens"]  # they all begin alike
    assert still_there(str(small_gguf)) == []


def test_a_file_that_llama_cpp_cannot_read(small_gguf: Path, tmp_path: Path) -> None:
    cut = tmp_path / "cut.gguf"
    cut.write_bytes(small_gguf.read_bytes()[:100])
    command = [sys.executable, "-m", "reelbench.models.gguf", str(cut), "--port", "0"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 2
    assert f"llama.cpp cannot serve {cut}" in done.stderr  # its own lines come in their own time


@pytest.fixture(scope="module")
def small_gguf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny model as a file of llama.cpp."""
    if find_spec("xllamacpp") is None:
        pytest.skip("xllamacpp is not installed: pip install 'reelbench[local]'")
    path = tmp_path_factory.mktemp("gguf") / "tiny.gguf"
    make_gguf(path)
    return path


def replies(out: Path) -> list[str]:
    lines = (out / "predictions.jsonl").read_text().splitlines()
    return [json.loads(line)["response"] for line in lines]


def still_there(word: str) -> list[str]:
    """The processes with this word in their command line."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            line = path.read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
        except OSError:
            continue
        if word in line:
            found.append(line)
    return found
