"""What a model is called whose file of predictions does not name it."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from support import make_item

from reelbench.data.benchmark import Benchmark
from reelbench.interop.predictions import read_anyones


def test_logs_of_several_models_in_one_folder_are_told_apart_by_their_files(
    save: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    benchmark = Benchmark.load(save(make_item(1), make_item(2)))
    rows = [{"doc_id": place, "target": "B", "resps": [["C"]]} for place in range(2)]
    paths = [tmp_path / "samples_a.jsonl", tmp_path / "samples_b.jsonl"]
    for path in paths:
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    read, notes = read_anyones(paths, benchmark)
    assert sorted(model for model, _ in read) == ["samples_a", "samples_b"]
    assert "are about the same items" in notes[-1]
    monkeypatch.chdir(tmp_path)  # a log that is named alone is not called by any folder
    read, _ = read_anyones(Path(paths[0].name), benchmark)
    assert [model for model, _ in read] == ["samples_a"]
