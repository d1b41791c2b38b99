"""What the README claims and shows beyond the commands that tests/test_docs.py runs."""

import gzip
import re
import shlex
from collections import Counter
from pathlib import Path

import pytest
from servers import completion, serving
from support import REPOSITORY, SHARED, reelbench

from reelbench.interop import import_benchmark
from reelbench.lint.lint import lint_benchmark

README = REPOSITORY / "README.md"
QUESTIONS = """clip,question,A,B,C,right,topic
scene-01,Which shape is seen first?,a star,a ring,a cross,B,shapes
scene-01,What is heard?,a bell,nothing,a dog,A,sounds
scene-02,What moves?,the star,the ring,nothing,C,shapes
"""


def test_five_lines_lead_from_a_spreadsheet_and_a_server_to_a_page_and_a_table(
    small_demo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    block = re.search(r"```sh\n(reelbench import questions.*?)```", README.read_text(), re.S)
    assert block
    lines = [shlex.split(line, comments=True) for line in block[1].splitlines()]
    assert len(lines) == 5
    (tmp_path / "questions.csv").write_text(QUESTIONS)
    (tmp_path / "videos").symlink_to(small_demo / "benchmark" / "media")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "any")
    with serving(lambda *_: completion("The answer is B.")) as server:
        for words in lines:
            if words[0] == "export":
                monkeypatch.setenv("OPENAI_BASE_URL", f"{server.url}/v1")
                continue
            done = reelbench(*words[1:])
            assert done.returncode == 0, done.stderr
    assert len(server.requests) == 3
    assert (tmp_path / "run" / "report.html").exists()
    assert "\\toprule" in (tmp_path / "tables" / "by-topic.tex").read_text()


def test_what_is_found_in_a_known_benchmark(tmp_path: Path) -> None:
    source = SHARED / "data" / "nextqa" / "val.csv.gz"
    if not source.exists():
        pytest.skip("../shared/data/nextqa is absent: it holds real questions")
    (tmp_path / "val.csv").write_bytes(gzip.decompress(source.read_bytes()))
    import_benchmark(tmp_path / "val.csv", tmp_path / "nextqa")
    found = lint_benchmark(tmp_path / "nextqa", check_media=False).findings
    counts = Counter(finding.tag for finding in found)
    words = " ".join(README.read_text().split())
    assert counts["DUPLICATE_OPTS"] == 3
    assert counts["NEAR_DUPLICATE"] == 2
    assert f"in {counts['KEY_STANDS_OUT']} the right option stands out" in words
