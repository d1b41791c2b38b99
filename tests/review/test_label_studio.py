"""Tasks go to Label Studio as its documentation has them, and its annotations come back."""

import json
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest
from review.steps import opened
from support import make_item, run_here

from reelbench.data.benchmark import Benchmark
from reelbench.data.items import Media
from reelbench.data.manifest import Manifest
from reelbench.review.decisions import decisions
from reelbench.review.exchange import import_file, label_studio_files
from reelbench.review.export import export_files, reading_review
from reelbench.review.protocol import Axis, ReviewProtocol

TAGS = ("dull", 'a "quoted" <tag>')
CHECK = ReviewProtocol("check", "verify", "Check", "benchmark", failure_tags=TAGS)
RATE = ReviewProtocol(
    "rate", "rate", "Rate", "benchmark", axes=(Axis("Quality"), Axis("Stars", 1, 5))
)
ANSWER = ReviewProtocol("test", "answer", "Test", "benchmark")
ITEMS = [
    make_item(1, media=(Media("media/a b.mp4", 1, 2.5),)),
    make_item(2),
    make_item(3),
    make_item(4, kind="open", options=(), answer=(), reference="snow"),
]


def annotation(number: int, who: Any, **values: Any) -> dict[str, Any]:
    """An annotation as Label Studio exports it."""
    kinds = {
        "written": ("textarea", "text"),
        "comment": ("textarea", "text"),
        "Stars": ("rating",) * 2,
    }
    result = []
    for name, value in values.items():
        kind, key = kinds.get(name, ("choices", "choices"))
        result.append(
            {"id": f"r{number}{name}", "from_name": name, "to_name": "video", "type": kind,
             "origin": "manual", "value": {key: value}}
        )  # fmt: skip
    return {"id": number, "completed_by": who, "result": result, "was_cancelled": False,
            "lead_time": 12.5, "created_at": "2026-01-01T00:00:00Z"}  # fmt: skip


def exported(files: dict[str, str], queue: str, *annotations: list[dict[str, Any]]) -> str:
    """The tasks of a queue with annotations, as Label Studio exports them."""
    tasks = json.loads(files[f"label-studio/{queue}.json"])
    found = [
        {"id": 100 + place, **task, "annotations": annotations[place]}
        for place, task in enumerate(tasks)
        if place < len(annotations)
    ]
    return json.dumps(found)


def test_tasks_and_configuration_fit_together(tmp_path: Path) -> None:
    with opened(tmp_path, ITEMS, CHECK, RATE, ANSWER) as review:
        files = label_studio_files(review)
    for queue in ("check", "rate", "test"):
        tasks = json.loads(files[f"label-studio/{queue}.json"])
        view = ET.fromstring(files[f"label-studio/{queue}.xml"])
        names = [each.get("name") for each in view if each.get("name")]
        assert len(set(names)) == len(names)
        assert all(each.get("toName") in (None, "video") for each in view)
        used = {each.get("value", "")[1:] for each in view if each.get("value", "").startswith("$")}
        assert all(used <= set(task["data"]) for task in tasks)
    first = json.loads(files["label-studio/check.json"])[0]["data"]
    assert first["video"] == "/data/local-files/?d=media/a%20b.mp4"
    assert first["options"][1] == {"value": "a dog barks", "alias": "B"}
    assert "key" not in first
    config = ET.fromstring(files["label-studio/check.xml"])
    assert [each.get("value") for each in config.find("Choices[@name='tags']") or ()] == list(TAGS)
    rate = ET.fromstring(files["label-studio/rate.xml"])
    stars = rate.find("Rating")
    assert stars is not None
    assert (stars.get("name"), stars.get("maxRating")) == ("Stars", "5")
    assert len(rate.find("Choices[@name='Quality']") or ()) == 6  # stars know no zero


def test_annotations_come_back_as_answers_verdicts_and_ratings(tmp_path: Path) -> None:
    path = tmp_path / "export.json"
    with opened(tmp_path, ITEMS, CHECK, RATE, ANSWER) as review:
        files = label_studio_files(review)
        mail = {"id": 3, "email": "eve@example.org"}
        path.write_text(exported(
            files, "check",
            [annotation(1, mail, answer=["B"], decision=["keep"])],
            [annotation(2, 7, answer=["C"], decision=["keep"], comment=["it snows"])],
            [annotation(3, 7, answer=["A"], decision=["reject"], tags=["dull"])],
            [annotation(4, 7, written=["snow"], decision=["keep"])],
        ))  # fmt: skip
        report = import_file(review, path)
        assert report.problems == []
        assert import_file(review, path).problems == []  # and nothing twice
        found = {each.item: each.verdict for each in decisions(review)}
        decided = {name: each and (each.who, each.decision) for name, each in found.items()}
        assert decided == {
            "q-1": ("eve@example.org", "accept"), "q-2": ("label-studio-7", "change"),
            "q-3": ("label-studio-7", "reject"), "q-4": ("label-studio-7", "accept"),
        }  # fmt: skip
        assert found["q-2"] is not None
        assert found["q-2"].new_fields == {"answer": ["C"]}
        path.write_text(exported(files, "rate", [annotation(5, 7, Quality=["0"], Stars=4)]))
        assert import_file(review, path).problems == []
        path.write_text(exported(files, "test", [annotation(6, 7, answer=["D"])]))
        assert import_file(review, path).problems == []
        out = export_files(review)
        assert "q-1,label-studio-7,0\n" in out["ratings/rate-Quality.csv"]
        assert "q-1,label-studio-7,4\n" in out["ratings/rate-Stars.csv"]
        (row,) = map(json.loads, out["predictions.jsonl"].splitlines())
        assert (row["model"], row["parsed"]) == ("human:label-studio-7", ["D"])


def test_an_option_that_someone_wrote_becomes_the_key(tmp_path: Path) -> None:
    path = tmp_path / "export.json"
    with opened(tmp_path, ITEMS[:1], CHECK) as review:
        files = label_studio_files(review)
        path.write_text(
            exported(files, "check", [annotation(1, 7, written=["a cat meows"], decision=["keep"])])
        )
        assert import_file(review, path).problems == []
        item = json.loads(export_files(review)["benchmark/items.jsonl"])
        assert (item["options"][-1], item["answer"]) == ("a cat meows", ["E"])


@pytest.mark.parametrize("text", ["[", '[{"data": 1}]', '[{"data": {"item": "q-1"}}]', "[3]"])
def test_what_is_no_export_of_ours_is_named(text: str, tmp_path: Path) -> None:
    path = tmp_path / "export.json"
    path.write_text(text)
    with opened(tmp_path, ITEMS, CHECK) as review:
        report = import_file(review, path)
    assert len(report.problems) == 1
    assert "export.json" in report.problems[0]


def test_annotations_that_the_protocol_does_not_allow_are_named_and_others_taken(
    tmp_path: Path,
) -> None:
    path = tmp_path / "export.json"
    with opened(tmp_path, ITEMS, CHECK) as review:
        text = exported(
            label_studio_files(review), "check",
            [annotation(1, 7, answer=["B"], decision=["reject"])],
            [annotation(2, 7, decision=["keep"])],
            [annotation(3, 7, answer=["B"], decision=["keep"])],
        )  # fmt: skip
        path.write_text(text.replace('"q-2"', '"q-9"'))
        report = import_file(review, path)
        assert [each.split(":")[0] for each in report.problems] == [
            "label-studio-7 on q-1", "label-studio-7 on q-9",
        ]  # fmt: skip
        assert [each.item for each in decisions(review)] == ["q-3"]


def test_the_command_brings_tasks_out_and_annotations_in(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root, out = tmp_path / "b", tmp_path / "out"
    Benchmark(root, Manifest("b", "1"), tuple(ITEMS)).save(root)
    (root / "review").mkdir()
    (root / "review" / "check.yaml").write_text("page: verify\nitems: benchmark\n")
    assert run_here("review", root, "--export", out, "--format", "label-studio") == 0
    paths = capsys.readouterr().out.split()
    assert paths == [str(out / "label-studio" / name) for name in ("check.json", "check.xml")]
    files = {"label-studio/check.json": Path(paths[0]).read_text()}
    path = tmp_path / "export.json"
    path.write_text(exported(files, "check", [annotation(1, 7, answer=["B"], decision=["keep"])]))
    assert run_here("review", root, "--import", path) == 0
    assert "1 answered, 1 verdict" in capsys.readouterr().err
    with reading_review(root) as review:
        assert [each.item for each in decisions(review)] == ["q-1"]
