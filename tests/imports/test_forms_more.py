"""What forms share: joined files, derived columns, replayed mappings, papers' readers, real rows."""

import gzip
import json
import zipfile
from collections import defaultdict
from dataclasses import replace
from pathlib import Path

import harness_layouts
import published_layouts
import pytest
from PIL import Image
from published_layouts import Layout
from support import SHARED
from videos import make_video

from reelbench.base.errors import ReelbenchError
from reelbench.client.media_input import MediaInput
from reelbench.data.benchmark import Benchmark
from reelbench.data.items import LETTERS
from reelbench.interop.humanvbench.published import published_humanvbench
from reelbench.interop.imports.importing import import_benchmark
from reelbench.interop.imports.joins import joined
from reelbench.interop.imports.mapping import Join, read_mapping
from reelbench.interop.records import read_records
from reelbench.media.subtitles import read_subtitles
from reelbench.models.base import AudioPart, ImagePart


def lay_out(layout: Layout, folder: Path) -> Path:
    """Write a layout with one tiny video for all its media."""
    folder.mkdir()
    video = make_video(folder / "v.mp4", seconds=1.0, sound=1.0)
    return layout.write(folder / "source", video, video, video)


@pytest.mark.parametrize(
    "layout",
    [
        published_layouts.EGOSCHEMA,  # joins
        published_layouts.MVBENCH,  # derives
        published_layouts.TEMPCOMPASS,  # goes into nested JSON
        harness_layouts.HUMANVBENCH,  # has a reader
    ],
    ids=lambda layout: layout.form,
)
def test_the_mapping_that_was_used_gives_the_same_benchmark_again(
    layout: Layout, tmp_path: Path
) -> None:
    source = lay_out(layout, tmp_path / "a")
    first, again = tmp_path / "first", tmp_path / "again"
    import_benchmark(source, first, name="mine")
    import_benchmark(source, again, mapping=first / "import" / "mapping.yaml", name="mine")
    for name in ("items.jsonl", "benchmark.yaml", "import/odd_rows.csv", "import/mapping.yaml"):
        made = [folder / name for folder in (first, again)]
        assert made[0].exists() == made[1].exists()
        assert not made[0].exists() or made[0].read_text() == made[1].read_text(), name


def test_humanvbench_gives_the_items_of_its_recipe(tmp_path: Path) -> None:
    source = lay_out(harness_layouts.HUMANVBENCH, tmp_path / "a")
    imported = import_benchmark(source, tmp_path / "out", form="humanvbench").items
    recipe = published_humanvbench(source).rows
    plain = [item.replace(media=()).to_record() for item in imported]
    assert plain == [item.replace(media=()).to_record() for item in recipe]


def test_the_media_of_a_paper_may_lie_elsewhere_and_one_file_will_do(tmp_path: Path) -> None:
    source = lay_out(harness_layouts.MMOU, tmp_path / "a")
    (source / "videos").rename(tmp_path / "elsewhere")
    out = tmp_path / "out"
    result = import_benchmark(source / "MMOU.json", out, media=tmp_path / "elsewhere")
    assert [item.id for item in result.items] == ["q1"]
    assert (out / result.items[0].media[0].path).is_file()


def test_subtitles_in_json_become_srt_on_the_clock_of_the_clip(tmp_path: Path) -> None:
    source = lay_out(published_layouts.LONGVIDEOBENCH, tmp_path / "a")
    result = import_benchmark(source, tmp_path / "out")
    beside = (tmp_path / "out" / result.items[0].media[0].path).with_suffix(".srt")
    assert [(cue.start, cue.end, cue.text) for cue in read_subtitles(beside)] == [
        (0.2, 0.7, "Who is it?"), (0.8, 0.9, "Me."),
    ]  # fmt: skip
    named = next(path for path in source.rglob("*.json") if "subtitles" in path.parts)
    named.unlink()
    result = import_benchmark(source, tmp_path / "without")
    assert any(note.startswith("1 file of subtitles not found") for note in result.notes)


def test_subtitles_in_an_archive_stay_there_if_archives_are_not_to_be_opened(
    tmp_path: Path,
) -> None:
    rows = "video,question,A,B,answer,subtitles\na.mp4,Who?,me,you,A,s.srt\n"
    (tmp_path / "q.csv").write_text(rows)
    make_video(tmp_path / "a.mp4", seconds=0.4)
    with zipfile.ZipFile(tmp_path / "s.zip", "w") as archive:
        archive.writestr("s.srt", "1\n00:00:00,100 --> 00:00:00,200\nhello\n")
    for open_them in (False, True):
        out = tmp_path / f"out-{open_them}"
        import_benchmark(tmp_path / "q.csv", out, look_into_archives=open_them)
        assert (out / "media/s.srt").exists() == open_them


def test_a_file_that_only_looks_like_a_form_is_imported_by_its_columns(tmp_path: Path) -> None:
    row = {"video": "a.mp4", "duration": 3, "question": "Who?", "options": ["me", "you", "they"],
           "answer": "B", "question_type": "who"}  # fmt: skip
    (tmp_path / "1_mine.json").write_text(json.dumps([row, {**row, "answer": "C"}]))
    result = import_benchmark(tmp_path / "1_mine.json", tmp_path / "out")
    assert [item.answer for item in result.items] == [("B",), ("C",)]
    assert any("It has the columns of mlvu" in note for note in result.notes)
    with pytest.raises(ReelbenchError, match="no row became an item"):
        import_benchmark(tmp_path / "1_mine.json", tmp_path / "other", form="mlvu")


ODD = [
    None, "", 0, -1, 3.7, True, [], {}, [None], ["a"], [["a", "b"], ["c"]], {"A": None}, "\x00",
    {"A": {"B": 1}}, "A" * 5000, "../../etc/passwd", "http://x/y?z=../..", "\ud800", "[1,2", "{'a': ",
    10**30, "nan", {"path": "x", "bytes": None},
]  # fmt: skip


def test_no_odd_value_of_a_published_row_stops_the_others(tmp_path: Path) -> None:
    layout = harness_layouts.DAILY_OMNI
    good = layout.files["qa.json"][0]
    rows = [{**good, name: value} for name in good for value in ODD]
    layout = replace(layout, files={"qa.json": [*rows, good]})
    result = import_benchmark(lay_out(layout, tmp_path / "a"), tmp_path / "out")
    assert result.items[-1].question == good["Question"]
    assert len(result.items) + len(result.odd_rows) == len(rows) + 1
    assert len(result.odd_rows) >= 4 * 9  # blank or nonsense as question, options, answer and video
    assert Benchmark.load(tmp_path / "out").items == result.items


class TestJoins:
    def test_rows_take_the_columns_of_their_partners_and_keep_their_own(
        self, tmp_path: Path
    ) -> None:
        (tmp_path / "x_q.json").write_text(json.dumps([{"id": 1, "q": "a"}, {"id": 2, "q": "b"}]))
        answers = [{"id": "1", "q": "other", "a": "yes"}, {"id": 1, "a": "no"}]
        (tmp_path / "x_a.json").write_text(json.dumps(answers))
        file = joined(read_records(tmp_path / "x_q.json"), Join(("*_a.json",), "id"))
        assert [record.values for record in file.records] == [
            {"id": 1, "q": "a", "a": "yes"}, {"id": 2, "q": "b"},
        ]  # fmt: skip
        assert file.columns == ("id", "q", "a")
        assert "1 of 2 rows not in x_a.json" in file.notes[-1]

    def test_without_a_partner_it_is_noted_and_nothing_is_lost(self, tmp_path: Path) -> None:
        (tmp_path / "q.json").write_text('[{"id": 1}]')
        file = joined(read_records(tmp_path / "q.json"), Join(("a.json",), "id", "x", "skip"))
        assert len(file.records) == 1
        assert "there is no a.json beside it" in file.notes[-1]

    def test_a_broken_partner_is_a_problem(self, tmp_path: Path) -> None:
        (tmp_path / "q.json").write_text('[{"id": 1}]')
        (tmp_path / "a.json").write_text('{"1": ')
        file = joined(read_records(tmp_path / "q.json"), Join(("a.json",), "id", "x"))
        assert [problem.file for problem in file.problems] == [str(tmp_path / "a.json")]


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ("join: {files: a.json}", "join.by"),
        ("join: {files: [], by: id}", "join.files"),
        ("join: {files: a, by: id, others: drop}", "join.others"),
        ("derived: {x: {column: a}}", "derived.x.values"),
        ("derived: {x: 3}", "derived.x"),
        ("derived: {x: {column: a, values: {b: [1]}}}", "derived.x.values"),
        ("reader: os.system", "reader"),
    ],
)
def test_what_is_wrong_with_a_join_or_a_derived_column_is_named(text: str, field: str) -> None:
    with pytest.raises(ReelbenchError, match=field.replace(".", r"\.")):
        read_mapping(f"fields: {{question: q}}\n{text}\n", "mine")


def test_a_sound_beside_a_picture_is_heard_and_not_looked_at(tmp_path: Path) -> None:
    picture, sound = tmp_path / "p.png", tmp_path / "s.mp3"
    Image.new("RGB", (8, 8)).save(picture)
    make_video(tmp_path / "v.mp4", seconds=1.0, sound=1.0).rename(sound)
    shown = MediaInput.of(picture, sound, audio=True, subtitles="never").render()
    kinds = [type(part) for part in shown.parts]
    assert (kinds.count(ImagePart), kinds.count(AudioPart)) == (1, 1)


NEXTQA = SHARED / "data" / "nextqa"


@pytest.mark.skipif(not NEXTQA.is_dir(), reason="../shared/data/nextqa is not here")
def test_the_real_rows_of_next_qa_have_the_keys_and_groups_that_were_published(
    tmp_path: Path,
) -> None:
    items = import_benchmark(NEXTQA / "val.csv.gz", tmp_path / "b", dry_run=True).items
    with gzip.open(NEXTQA / "HGA-bert-ft-h256-val.json.gz") as file:
        replies = json.load(file)  # a model's, with the keys as its authors read them
    assert {item.id: LETTERS.index(item.answer[0]) for item in items} == {
        name: reply["answer"] for name, reply in replies.items()
    }
    right: dict[str, list[bool]] = defaultdict(list)
    for item in items:
        group = item.tag("group")[0]
        right[group].append(LETTERS[replies[item.id]["prediction"]] == item.answer[0])
    accuracies = {name: round(100 * sum(each) / len(each), 2) for name, each in right.items()}
    assert accuracies == {"causal": 46.26, "temporal": 50.74, "descriptive": 59.33}
