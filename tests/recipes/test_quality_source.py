"""Files of scores as people have them: what is read, what is set apart and what is refused."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from quality_actors import write_datasets
from support import SHARED

from reelbench.base.errors import ReelbenchError
from reelbench.data.sources import Sources
from reelbench.recipes.qbench_video.source import ScoreSourceError, videos_in

PLAIN = {"name": "set", "type": "natural", "scores": "s.csv", "video": "id", "score": "mos"}


def read(folder: Path, content: str | bytes, **fields: Any) -> Sources:
    """Read one dataset; a field that is None is left out."""
    dataset = {name: value for name, value in (PLAIN | fields).items() if value is not None}
    write_datasets(folder, dataset)
    raw = content.encode() if isinstance(content, str) else content
    (folder / str(dataset["scores"])).write_bytes(raw)
    return videos_in(folder)


def refused(folder: Path, content: str | bytes, **fields: Any) -> str:
    with pytest.raises(ScoreSourceError) as error:
        read(folder, content, **fields)
    return str(error.value)


def scores(sources: Sources) -> dict[str, float]:
    return {video.name: video.score for video in sources.rows}


class TestForms:
    EXPECTED = {"a.mp4": 1.5, "b.mp4": 4.0}  # noqa: RUF012

    @pytest.mark.parametrize(
        ("file", "content", "fields"),
        [
            ("s.csv", "id,mos,std\na.mp4,1.5,0.1\nb.mp4,4,0.2\n", {}),
            ("s.csv", "\ufeffid,mos\r\na.mp4,1.5\r\n\r\nb.mp4,4.0\r\n", {}),
            ("s.csv", "mos;id\n1.5;a.mp4\n4;b.mp4\n", {}),
            ("s.csv", 'id,mos\n"a.mp4",1.5\nb.mp4, 4e0\n', {}),
            ("s.tsv", "id\tmos\na.mp4\t1.5\nb.mp4\t4\n", {}),
            ("s.txt", "a.mp4 1.5\nb.mp4   4\n", {"video": 1, "score": 2}),
            ("s.txt", "a.mp4, -1, -1, 1.5\nb.mp4, -1, -1, 4\n", {"video": 1, "score": 4}),
            ("s.txt", "mos id\n1.5 a.mp4\n4 b.mp4\n", {}),
            ("s.csv", "1.5,a.mp4\n4,b.mp4\n", {"video": 2, "score": 1}),
            (
                "s.json",
                '[{"id": "a.mp4", "mos": 1.5, "std": 3}, {"id": "b.mp4", "mos": "4.0"}]',
                {},
            ),
            ("s.json", '{"a.mp4": 1.5, "b.mp4": 4}', {"video": None, "score": None}),
            ("s.json", '{"a.mp4": {"mos": 1.5}, "b.mp4": {"mos": 4}}', {"video": None}),
            ("s.list", '{"a.mp4": 1.5, "b.mp4": 4}', {"video": None, "score": None}),
        ],
    )
    def test_all_forms_say_the_same(
        self, file: str, content: str, fields: dict[str, Any], tmp_path: Path
    ) -> None:
        sources = read(tmp_path, content, scores=file, **fields)
        assert scores(sources) == self.EXPECTED
        assert not sources.broken
        assert not sources.warnings

    def test_numbers_of_json_keep_their_digits(self, tmp_path: Path) -> None:
        content = '[{"id": 3339962845, "mos": 4.6400000000}, {"id": 7, "mos": 1}]'
        sources = read(tmp_path, content, scores="s.json")
        assert scores(sources) == {"3339962845": 4.64, "7": 1.0}

    def test_the_order_of_rows_is_forgotten(self, tmp_path: Path) -> None:
        one = read(tmp_path, "id,mos\na,1\nb,2\nc,3\n")
        other = read(tmp_path, "id,mos\nc,3\na,1\nb,2\n")
        assert one.rows == other.rows

    def test_ids_can_be_told_apart_whatever_names_hold(self, tmp_path: Path) -> None:
        sources = read(tmp_path, "id,mos\na/b c+d:é.mp4,1\na.mp4,2\n")
        assert [video.id for video in sources.rows] == [
            "set:a%2Fb%20c%2Bd%3A%C3%A9.mp4",
            "set:a.mp4",
        ]


class TestSetApart:
    @pytest.mark.parametrize("word", ["", "NaN", "nan", "NA", "n/a", "null"])
    def test_a_row_without_a_score_is_named_and_not_used(self, word: str, tmp_path: Path) -> None:
        sources = read(tmp_path, f"id,mos\na,1\nb,{word}\nc,3\n")
        assert scores(sources) == {"a": 1.0, "c": 3.0}
        ((name, reason),) = sources.broken
        assert name == "set:b"
        assert reason == f"no score: mos is {word!r} in s.csv"

    @pytest.mark.parametrize("word", ["NaN", "null", '""'])
    def test_nor_one_of_json(self, word: str, tmp_path: Path) -> None:
        content = f'{{"a": 1, "b": {word}}}'
        sources = read(tmp_path, content, scores="s.json", video=None, score=None)
        assert scores(sources) == {"a": 1.0}
        assert [name for name, _ in sources.broken] == ["set:b"]

    def test_the_same_said_twice_counts_once_and_is_warned_about(self, tmp_path: Path) -> None:
        sources = read(tmp_path, "id,mos\na,1\nb,2\na,1.0\n")
        assert scores(sources) == {"a": 1.0, "b": 2.0}
        (warning,) = sources.warnings
        assert "1 of 3 rows" in warning
        assert warning.endswith(": a")

    def test_videos_are_found_with_and_without_their_ending(self, tmp_path: Path) -> None:
        for name in ("v/a.mp4", "v/deep/b.MKV", "v/c.webm", "v/c.mp4", "v/d.x.mp4", "v/e.txt"):
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_bytes(b"x")
        (tmp_path / "v/out.mp4").symlink_to(os.devnull)
        content = "id,mos\na.mp4,1\ndeep/b,2\nc,3\nc.webm,3\nd.x,4\ne,4\nout,4\n"
        sources = read(tmp_path, content, videos="v")
        assert {video.name: video.path for video in sources.rows} == {
            "a.mp4": "v/a.mp4",
            "deep/b": "v/deep/b.MKV",
            "c.webm": "v/c.webm",
            "d.x": "v/d.x.mp4",
        }
        reasons = dict(sources.broken)
        assert "several videos: c.mp4, c.webm" in reasons["set:c"]
        assert "e is not in v" in reasons["set:e"]
        assert "leads out" in reasons["set:out"]


def many(*more: str, rows: int = 20) -> str:
    """A file of so many good rows, and others."""
    return "\n".join(["id,mos", *(f"v{n},{n}" for n in range(rows)), *more]) + "\n"


class TestFewBadRows:
    @pytest.mark.parametrize(
        ("row", "name", "reason"),
        [
            ("a,good", "set:a", "mos: found 'good', expected a number such as 3.5 in s.csv"),
            ("a,inf", "set:a", "mos: found 'inf', expected a number such as 3.5 in s.csv"),
            ("a,1,7", "set:a", "row: found 3 fields, expected 2, as in the first line in s.csv"),
            ("a", "set:a", "row: found 1 fields, expected 2, as in the first line in s.csv"),
            (",3", "set:", "video: found nothing, expected a video's name in s.csv"),
            ("v3,8", "set:v3", "several scores: '3' and '8' in s.csv"),
            ("v3,NaN", "set:v3", "several scores: '3' and 'NaN' in s.csv"),
        ],
    )
    def test_are_set_apart_with_the_reason_and_named(
        self, row: str, name: str, reason: str, tmp_path: Path
    ) -> None:
        sources = read(tmp_path, many(row))
        assert sources.broken == ((name, reason),)
        assert len(sources.rows) == 20 - (name == "set:v3")
        (warning,) = sources.warnings
        assert warning.startswith("set: 1 of 21 rows of s.csv are bad and set apart: ")
        assert reason in warning

    def test_thirteen_names_with_two_scores_leave_the_others(self, tmp_path: Path) -> None:
        """As in a published list; neither score is known to be right."""
        twice = [f"v{n},{n + 0.5}" for n in range(13)]
        sources = read(tmp_path, many(*twice, rows=200))
        assert set(scores(sources)) == {f"v{n}" for n in range(13, 200)}
        assert len(sources.broken) == 13
        mixed = "\n".join(["id,mos", *reversed(many(*twice, rows=200).splitlines()[1:])])
        again = read(tmp_path, mixed)
        assert (again.rows, again.broken) == (sources.rows, sources.broken)
        assert again.warnings == sources.warnings

    def test_of_json_and_of_names_that_lead_out(self, tmp_path: Path) -> None:
        good = ", ".join(f'"v{n}": {n}' for n in range(30))
        content = f'{{{good}, "a": true, "b": [1], "v3": 9}}'
        sources = read(tmp_path, content, scores="s.json", video=None, score=None)
        assert dict(sources.broken) == {
            "set:a": "score: found true, expected a number or text in s.json",
            "set:b": "score: found a list, expected a number or text in s.json",
            "set:v3": "several scores: '3' and '9' in s.json",
        }
        listed = [{"id": f"v{n}", "mos": n} for n in range(30)] + ["x", {"id": "c"}, {"mos": 1}]
        sources = read(tmp_path, json.dumps(listed), scores="s.json")
        assert [name for name, _ in sources.broken] == ["set:", "set:", "set:c"]
        (tmp_path / "v").mkdir()
        for n in range(10):
            (tmp_path / "v" / f"v{n}.mp4").write_bytes(b"x")
        ((_, reason),) = read(tmp_path, many("../s.csv,1", rows=10), videos="v").broken
        assert "it leaves the folder" in reason

    def test_more_than_a_tenth_is_a_wrong_file_and_every_row_is_named(self, tmp_path: Path) -> None:
        assert len(read(tmp_path, many("a,x", "b,y", rows=18)).rows) == 18
        told = refused(tmp_path, many("a,x", "b,y", rows=17))
        assert "s.csv: file: found 2 bad rows of 19, expected at most a tenth" in told
        assert "s.csv:19: mos: found 'x'" in told
        assert "s.csv:20: mos: found 'y'" in told

    @pytest.mark.parametrize(
        ("file", "column", "name"),
        [("KONVID_1K_metadata.csv", "mos", "flickr_id"), ("YOUTUBE_UGC_metadata.csv", "MOSFull", "vid")],
    )  # fmt: skip
    def test_of_real_files(self, file: str, column: str, name: str, tmp_path: Path) -> None:
        path = SHARED / "data" / "quality_scores" / file
        if not path.exists():
            pytest.skip(f"{path} is absent: it is reference data, which is not ours to copy")
        content = path.read_text()
        head, *rows = content.splitlines()
        columns = head.split(",")
        whole = read(tmp_path, content, video=name, score=column)
        place = columns.index(column)
        other = [row.split(",") for row in rows[::100][:13]]
        twice = [",".join([*row[:place], "1.234", *row[place + 1 :]]) for row in other]
        sources = read(
            tmp_path, "\n".join([head, *rows, *twice, "mean,3"]), video=name, score=column
        )
        left_out = {each.split(",")[columns.index(name)] for each in twice}
        assert scores(sources) == {n: s for n, s in scores(whole).items() if n not in left_out}
        assert len(sources.broken) == len(whole.broken) + len(twice) + 1
        pieces = [row.replace(".", ",") for row in rows]
        assert "bad rows of" in refused(
            tmp_path, "\n".join([head, *pieces]), video=name, score=column
        )


class TestRefused:
    @pytest.mark.parametrize(
        ("content", "fields", "words"),
        [
            ("id,MOS\na,1\n", {}, "s.csv:1: mos: found no such column among 'id, MOS'"),
            ("id,mos,mos\na,1,2\n", {}, "s.csv:1: mos: found 2 columns of that name"),
            ("id,mos\na,good\nb,2\n", {}, "s.csv:2: mos: found 'good', expected a number"),
            ("id,mos\na,inf\nb,2\n", {}, "s.csv:2: mos: found 'inf'"),
            ("id,mos\na,1e999\nb,2\n", {}, "s.csv:2: mos: found '1e999'"),
            ("id,mos\na,1_0\nb,2\n", {}, "s.csv:2: mos: found '1_0'"),
            ("id;mos\na;3,5\nb;2\n", {}, "s.csv:2: mos: found '3,5', expected a number such as 3.5"),
            ("id,mos\na,1\na,2\n", {}, "s.csv:3: video: found 'a' again, with '2', not '1'"),
            ("id,mos\n,1\nb,2\n", {}, "s.csv:2: video: found nothing"),
            ("id,mos\na,1,7\nb,2\n", {}, "s.csv:2: row: found 3 fields, expected 2"),
            ('id,mos\n"a,1\n', {}, "s.csv:2: row: found"),
            ("id,mos\na,NaN\nb,\n", {}, "none of 2 rows can be used"),
            ("id,mos\n", {}, "s.csv: file: found no rows"),
            ("", {}, "s.csv: file: found an empty file"),
            (b"id,mos\n\xff\xfe,1\n", {}, "s.csv:2: file: found byte 0xFF, expected UTF-8"),
            ("id,mos\na,1\n", {"type": "cartoon"}, "type: found 'cartoon', expected one of natural, AIGC, CG"),
            ("id,mos\na,1\n", {"type": None}, "type: found nothing"),
            ("id,mos\na,1\n", {"sample": 0}, "sample: found 0, expected a whole number from 1 on"),
            ("id,mos\na,1\n", {"pairs": True}, "pairs: found True"),
            ("id,mos\na,1\n", {"name": "a:b"}, "name: found 'a:b'"),
            ("id,mos\na,1\n", {"score": None}, "datasets[0].score: found nothing"),
            ("id,mos\na,1\n", {"score": ["mos", "std"]}, "score: found a list, expected one column"),
            ("id,mos\na,1\n", {"score": 2}, "two names, or two numbers"),
            ("id,mos\na,1\n", {"video": 1, "score": 2}, "if this is a line of names, give names"),
            ("a,1\n", {"video": 1, "score": 3}, "s.csv:1: column 3: found no such column, expected a number from 1 to 2"),
            ("id,mos\na,1\n", {"videos": "../v"}, "videos: found '../v' (it leaves the folder)"),
            ("id,mos\na,1\n", {"videos": "v"}, "videos: found v, which is not a folder"),
            ("id,mos\na,1\n", {"vidoes": "v"}, "vidoes: found an unknown field, expected a known field: perhaps 'videos'"),
        ],
    )  # fmt: skip
    def test_what_is_wrong_is_said_with_its_place(
        self, content: str | bytes, fields: dict[str, Any], words: str, tmp_path: Path
    ) -> None:
        assert words in refused(tmp_path, content, **fields)

    @pytest.mark.parametrize(
        ("content", "words"),
        [
            ('{"a": 1, "b": 2, "a": 3}', "a.video: found 'a' again, with '3', not '1'"),
            ('{"a": true}', "a.score: found true"),
            ('{"a": [1, 2]}', "a.score: found a list"),
            ('{"a": -Infinity}', "found '-Infinity'"),
            ('[{"id": "a"}]', "[0].mos: found no such field among 'id'"),
            ('[{"id": "a", "mos": 1, "mos": 2}]', "[0].mos: found 2 fields of that name"),
            ('["a"]', "found 'a', expected an object"),
            ('"a"', "expected a list of objects"),
            ("{}", "no scores"),
            ('{"a": 1,\n}', "s.json:1: file: found a comma with nothing behind it"),
            ("[" * 200_000, "s.json: file:"),
        ],
    )
    def test_and_in_json(self, content: str, words: str, tmp_path: Path) -> None:
        assert words in refused(tmp_path, content, scores="s.json")

    def test_a_mapping_to_objects_needs_to_know_which_field(self, tmp_path: Path) -> None:
        content = json.dumps({str(n): {"mos": n, "std": 1} for n in range(50)})
        told = refused(tmp_path, content, scores="s.json", score=None)
        assert told.count("score: found nothing, expected the name of a field") == 1

    def test_a_name_that_leaves_the_folder_of_videos(self, tmp_path: Path) -> None:
        (tmp_path / "v").mkdir()
        told = refused(tmp_path, "id,mos\n../s.csv,1\n", videos="v")
        assert "s.csv:2: video: found '../s.csv' (it leaves the folder)" in told

    def test_scores_that_are_a_link_out_of_the_folder(self, tmp_path: Path) -> None:
        (tmp_path / "real.csv").write_text("id,mos\na,1\n")
        folder = tmp_path / "source"
        write_datasets(folder, PLAIN)
        (folder / "s.csv").symlink_to(tmp_path / "real.csv")
        with pytest.raises(ScoreSourceError, match=r"s\.csv, a link that leads out"):
            videos_in(folder)

    def test_all_problems_of_all_files_at_once(self, tmp_path: Path) -> None:
        datasets = [
            PLAIN | {"name": "one", "scores": "one.csv"},
            PLAIN | {"name": "two", "scores": "two.csv"},
            PLAIN | {"name": "two", "scores": "gone.csv", "type": "film"},
        ]
        write_datasets(tmp_path, *datasets)
        (tmp_path / "one.csv").write_text("id,mos\na,x\nb,y\n")
        (tmp_path / "two.csv").write_text("id,quality\na,1\n")
        with pytest.raises(ScoreSourceError) as error:
            videos_in(tmp_path)
        told = str(error.value)
        for words in ("one.csv:2:", "one.csv:3:", "two.csv:1:", "'film'", "each name once"):
            assert words in told

    @pytest.mark.parametrize(
        "content", ["- 1", "datasets: {}", "datasets: []", "datasets: [x]", "a: [", "a: 1\na: 2"]
    )
    def test_a_file_of_datasets_that_holds_none(self, content: str, tmp_path: Path) -> None:
        (tmp_path / "datasets.yaml").write_text(content)
        with pytest.raises(ScoreSourceError, match=r"datasets\.yaml"):
            videos_in(tmp_path)

    def test_no_folder_and_no_file(self, tmp_path: Path) -> None:
        with pytest.raises(
            ReelbenchError, match=r"is not a folder: name one with a datasets\.yaml"
        ):
            videos_in(tmp_path / "nowhere")
        with pytest.raises(ScoreSourceError, match="no such file"):
            videos_in(tmp_path)
