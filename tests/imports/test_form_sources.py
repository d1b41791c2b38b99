"""Dataset folders of the hub, and tasks of lmms-eval: which files they mean, and what of them."""

import json
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.ipc
import pytest
from published_layouts import table

from reelbench.base.errors import ReelbenchError
from reelbench.interop.imports.hf_folder import load, read_dataset_folder, split_named
from reelbench.interop.imports.hub import hub_name
from reelbench.interop.imports.importing import import_benchmark
from reelbench.interop.imports.lmms_eval import is_lmms_task, read_lmms_task

ROWS = [
    {"video": "a.mp4", "question": f"What is {n}?", "options": ["red", "blue"], "gold": "B"}
    for n in range(2)
]


def write(folder: Path, files: dict[str, Any]) -> Path:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content if isinstance(content, str) else json.dumps(content))
    return folder


CARD = """---
license: cc-by-4.0
pretty_name: Mine
configs:
- config_name: first
  data_files:
  - split: test
    path: first/*.json
  - split: train
    path: [first/more/x.json]
- config_name: second
  data_files: second/held.csv
---
# Mine
"""


class TestDatasetFolders:
    def test_the_card_names_files_configurations_and_splits(self, tmp_path: Path) -> None:
        folder = write(
            tmp_path,
            {
                "README.md": CARD,
                "first/a.json": ROWS,
                "first/more/x.json": ROWS,
                "second/held.csv": "video,question,answer\na.mp4,Who?,me\n",
                "notes.json": [{"x": 1}],
            },
        )
        found = read_dataset_folder(folder)
        assert found is not None
        assert (found.title, found.licence, found.notes) == ("Mine", "cc-by-4.0", ())
        files = {f.path.relative_to(folder).as_posix(): (f.config, f.split) for f in found.files}
        assert files == {
            "first/a.json": ("first", "test"),
            "first/more/x.json": ("first", "train"),
            "second/held.csv": ("second", ""),
        }
        rows = [record.values for file in load(folder).files for record in file.records]
        assert [(row.get("config"), row.get("split")) for row in rows[:3]] == [
            ("first", "test"), ("first", "test"), ("first", "train"),
        ]  # fmt: skip

    @pytest.mark.parametrize(
        ("pattern", "taken"),
        [
            ("**", ["a.json", "b/c/d.json", "b/e.json"]), ("**/*.json", ["a.json", "b/c/d.json", "b/e.json"]),
            ("b/**", ["b/c/d.json", "b/e.json"]), ("*.json", ["a.json"]), ("b/**/d.json", ["b/c/d.json"]),
            ("b/?.json", ["b/e.json"]), ("../*.json", []), ("**/" * 40 + "x", []), ("*a" * 40 + "*b", []),
        ],
    )  # fmt: skip
    def test_patterns_of_a_card_go_into_folders_as_on_the_hub(
        self, tmp_path: Path, pattern: str, taken: list[str]
    ) -> None:
        write(
            tmp_path,
            {"a.json": ROWS, "b/c/d.json": ROWS, "b/e.json": ROWS, "a" * 200 + ".csv": "x"},
        )
        (tmp_path / "README.md").write_text(f'---\nconfigs: [{{data_files: "{pattern}"}}]\n---\n')
        found = read_dataset_folder(tmp_path)
        files = found.files if found else ()
        names = [file.path.relative_to(tmp_path).as_posix() for file in files]
        assert sorted(name for name in names if name.endswith(".json")) == taken

    @pytest.mark.parametrize(
        "card", ["", "---\nconfigs: [\n---\n", "---\nconfigs: 3\n---\n", "---\n- 1\n---\n", "\x00"]
    )
    def test_without_a_card_names_decide(self, tmp_path: Path, card: str) -> None:
        write(tmp_path, {"README.md": card, "MC/test-00000-of-00001.json": ROWS,
                         "OE/dev-00000-of-00002.json": ROWS, "else.json": ROWS})  # fmt: skip
        found = read_dataset_folder(tmp_path)
        assert found is not None
        assert [(file.config, file.split) for file in found.files] == [
            ("MC", "test"), ("OE", "validation"),
        ]  # fmt: skip

    def test_a_pattern_without_files_is_noted_and_none_leaves_the_folder(
        self, tmp_path: Path
    ) -> None:
        outside = write(tmp_path / "outside", {"secret.json": ROWS})
        folder = write(tmp_path / "in", {"README.md": CARD, "first/a.json": ROWS})
        (folder / "first" / "link.json").symlink_to(outside / "secret.json")
        card = CARD.replace("second/held.csv", "../outside/*.json")
        (folder / "README.md").write_text(card)
        found = read_dataset_folder(folder)
        assert found is not None
        assert [file.path.name for file in found.files] == ["a.json"]
        assert len(found.notes) == 2
        assert "../outside/*.json" in found.notes[1]

    def test_a_dataset_that_was_saved_to_disk_is_read_with_its_splits(self, tmp_path: Path) -> None:
        for split in ("train", "test"):
            path = tmp_path / split / "data-00000-of-00001.arrow"
            path.parent.mkdir()
            rows = pyarrow.Table.from_pylist([*ROWS, {**ROWS[0], "video": "b.mp4"}])
            with pyarrow.ipc.new_stream(str(path), rows.schema) as writer:
                writer.write_table(rows)
        write(tmp_path, {"dataset_dict.json": {"splits": ["train", "test"]},
                         "test/state.json": {}, "test/dataset_info.json": {}})  # fmt: skip
        result = import_benchmark(tmp_path, tmp_path / "out", dry_run=True)
        assert [item.tag("split") for item in result.items].count(("test",)) == 3
        assert len(result.items) == 6
        broken = tmp_path / "test" / "data-00000-of-00001.arrow"
        broken.write_bytes(broken.read_bytes()[:300])
        odd = import_benchmark(tmp_path, tmp_path / "out", dry_run=True).odd_rows
        assert [Path(row.file).parent.name for row in odd] == ["test"]

    @pytest.mark.parametrize(
        ("path", "split"),
        [
            ("test-00000-of-00002.parquet", "test"),
            ("data/val.csv", "validation"),
            ("dev/part.jsonl", "validation"),
            ("contest.csv", ""),
            ("short-00000-of-00001.parquet", "short"),
            ("my_train_set.json", "train"),
            ("train_test.json", ""),
        ],
    )
    def test_splits_are_read_from_names(self, path: str, split: str) -> None:
        assert split_named(path) == split


TASK = """
dataset_path: json
dataset_kwargs:
  data_files: {train: train.json, test: qa.json}
task: mine
test_split: test
output_type: generate_until
doc_to_visual: !function utils.visual
doc_to_text: !function utils.text
doc_to_target: gold
process_results: !!python/object/apply:os.system ["touch pwned"]
lmms_eval_specific_kwargs:
  default: {pre_prompt: "Watch closely.", post_prompt: "\\nGive the letter."}
"""


class TestTasksOfLmmsEval:
    def test_a_task_gives_its_tested_rows_its_answer_and_its_prompt(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(tmp_path)
        folder = write(tmp_path / "task", {"mine.yaml": TASK, "qa.json": ROWS, "train.json": ROWS})
        out = tmp_path / "out"
        result = import_benchmark(folder / "mine.yaml", out)
        assert [item.answer for item in result.items] == [("B",), ("B",)]
        assert (out / result.manifest.protocol.prompt / "single.md").read_text() == (
            "Watch closely.\n\n{{question}}\n\n{{options}}\n\nGive the letter.\n"
        )
        assert not (tmp_path / "pwned").exists()
        assert any("2 functions are not read" in note for note in result.notes)

    def test_included_files_are_below_the_task(self, tmp_path: Path) -> None:
        base = "dataset_path: json\ndataset_kwargs: {data_files: qa.json}\ntest_split: train\n"
        task = "include: _default_template_yaml\ntask: mine_x\ntest_split: test\n"
        write(tmp_path, {"_default_template_yaml": base, "x.yaml": task, "qa.json": ROWS})
        assert is_lmms_task(tmp_path / "x.yaml")
        read = read_lmms_task(tmp_path / "x.yaml")
        assert (read.name, [file.path.name for file in read.files]) == ("mine_x", ["qa.json"])

    @pytest.mark.parametrize(
        ("task", "sentence"),
        [
            ("task: a\ndataset_path: them/theirs\n", "--download"),
            ("task: a\ndataset_path: json\ndataset_kwargs: {data_files: no.json}\n", "no.json"),
            ("task: [a, b]\ndataset_path: json\n", "group of tasks"),
            ("task: a\ninclude: x.yaml\n", "includes itself"),
            ("task: a\ninclude: none\n", "no such file"),
        ],
    )
    def test_a_task_without_local_rows_is_refused_in_a_sentence(
        self, tmp_path: Path, task: str, sentence: str
    ) -> None:
        write(tmp_path, {"x.yaml": task})
        with pytest.raises(ReelbenchError, match=sentence):
            read_lmms_task(tmp_path / "x.yaml")


@pytest.mark.parametrize(
    ("source", "named"),
    [
        ("hf://them/theirs", ("them/theirs", "main")),
        ("hf://datasets/them/theirs@v1", ("them/theirs", "v1")),
        ("them/theirs", ("them/theirs", "main")),
        ("them/theirs/more", None),
        ("theirs", None),
        ("../them", None),
        ("here/file.json", None),
    ],
)
def test_a_name_of_the_hub_is_none_where_there_is_such_a_path(
    source: str, named: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, {"here/file.csv": table([{"a": 1}])})
    assert hub_name(source) == named
