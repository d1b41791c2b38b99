"""`reelbench import` as a user types it: with media, again, refused, and from files of others."""

import csv
import gzip
import json
import os
import shutil
import zipfile
from pathlib import Path

import pytest
from commands import CapturedCommand
from support import run_here, wait_until
from videos import make_video

from reelbench.data.benchmark import Benchmark
from reelbench.interop.imports import import_benchmark, sources

ROWS = [
    ["id", "video", "question", "options", "answer"],
    ["1", "one.mp4", "What is seen?", "A. a dog\nB. a cat", "B"],
    ["2", "deep/two", "Who runs?", "A. he\nB. she", "A"],
    ["3", "three.mp4", "Why?", "A. so\nB. no", "A"],
]
NEXTQA = Path(__file__).parents[3] / "shared/data/nextqa"


@pytest.fixture(scope="module")
def video(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_video(tmp_path_factory.mktemp("video") / "v.mp4", seconds=0.6, rate=5)


@pytest.fixture
def source(tmp_path: Path, video: Path) -> Path:
    """A list of three questions; two of its videos are there, somewhere."""
    folder = tmp_path / "source"
    (folder / "videos/chunk_1").mkdir(parents=True)
    with (folder / "questions.csv").open("w", newline="") as file:
        csv.writer(file).writerows(ROWS)
    shutil.copy(video, folder / "videos/chunk_1/one.mp4")
    shutil.copy(video, folder / "videos/two.mp4")
    return folder


def test_a_name_in_another_case_is_that_file_and_said(
    source: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [*ROWS[:2], ["2", "One.mp4", "Who runs?", "A. he\nB. she", "A"]]
    with (source / "questions.csv").open("w", newline="") as file:
        csv.writer(file).writerows(rows)
    out = tmp_path / "bench"
    assert run_here("import", source / "questions.csv", "--out", out) == 0
    talk = capsys.readouterr().err
    evened = "imported: but for upper and lower case, 'One.mp4' is videos/chunk_1/one.mp4"
    assert f"questions.csv:4 (2): {evened}" in talk
    assert f"Rows that were evened out: {out / 'import/odd_rows.csv'}." in talk
    assert evened in (out / "import/odd_rows.csv").read_text()
    assert not (out / "import/missing_media.csv").exists()
    paths = {item.media[0].path for item in Benchmark.load(out).items}
    assert paths == {"media/one.mp4"}


def test_ids_in_which_case_tells_are_not_evened_out(
    source: Path, video: Path, tmp_path: Path
) -> None:
    shutil.copy(video, source / "videos/dQw4w9WgXcQ.mp4")
    names = ("dQw4w9WgXcQ", "dqw4w9wgXcQ")
    rows = [
        ROWS[0],
        *([str(n), name, "Who?", "A. he\nB. she", "A"] for n, name in enumerate(names)),
    ]
    with (source / "questions.csv").open("w", newline="") as file:
        csv.writer(file).writerows(rows)
    out = tmp_path / "bench"
    assert run_here("import", source / "questions.csv", "--media", source, "--out", out) == 1
    assert [item.id for item in Benchmark.load(out).items] == ["0"]
    assert "dqw4w9wgXcQ" in (out / "import/missing_media.csv").read_text()


def test_subtitles_beside_the_source_are_found_and_the_others_listed(
    tmp_path: Path, video: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("videos", "texts"):
        (tmp_path / "data" / name).mkdir(parents=True)
    rows = [
        {"id": n, "video": f"{n}.mp4", "question": "What?", "options": ["x", "y"], "answer": "A", "srt": f"{n}.srt"}
        for n in "ab"
    ]  # fmt: skip
    (tmp_path / "data/rows.json").write_text(json.dumps(rows))
    (tmp_path / "data/texts/a.srt").write_text("1\n00:00:00,000 --> 00:00:01,000\nhello\n")
    for name in "ab":
        shutil.copy(video, tmp_path / f"data/videos/{name}.mp4")
    out, videos = tmp_path / "bench", tmp_path / "data/videos"
    assert run_here("import", tmp_path / "data/rows.json", "--media", videos, "--out", out) == 0
    assert (out / "media/a.srt").is_file()
    assert "1 file of subtitles not found, and left out, such as 'b.srt'" in capsys.readouterr().err
    listed = (out / "import/missing_subtitles.csv").read_text().splitlines()
    why = f"no file b.srt below {videos}, nor below {tmp_path / 'data'}"
    assert listed == ["id,wanted,why", f'b,b.srt,"{why}"']


def test_the_videos_beside_a_file_are_found_and_the_others_named(
    source: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "bench"
    assert run_here("import", source / "questions.csv", "--out", out) == 1
    talk = capsys.readouterr()
    assert talk.out == ""
    assert "answer as letter" in talk.err
    assert "questions.csv:6 (3): video not found: no file three.mp4" in talk.err
    assert [item.id for item in Benchmark.load(out).items] == ["1", "2"]
    assert (out / "media/one.mp4").is_file()
    assert (out / "media/deep/two.mp4").is_file()
    missing = (out / "import/missing_media.csv").read_text().splitlines()
    assert missing[0] == "id,wanted,reason,why"
    assert missing[1].startswith('3,three.mp4,missing,"no file three.mp4 below ')
    assert run_here("lint", out) == 0
    assert run_here("run", out, "--model", "baseline:random", "--out", tmp_path / "run") == 0


def test_the_same_import_again_updates_and_the_same_bytes_come_out(
    source: Path, video: Path, tmp_path: Path
) -> None:
    out = tmp_path / "bench"
    assert run_here("import", source, "--out", out) == 1
    first = (out / "items.jsonl").read_bytes()
    assert run_here("import", source, "--out", out) == 1
    assert (out / "items.jsonl").read_bytes() == first
    shutil.copy(video, source / "videos/three.mkv")
    assert run_here("import", source, "--out", out) == 0
    assert not (out / "import/odd_rows.csv").exists()
    assert not (out / "import/missing_media.csv").exists()
    assert Benchmark.load(out).items[2].media[0].path == "media/three.mkv"


def test_an_import_that_was_killed_is_repeated(source: Path, tmp_path: Path) -> None:
    out, folder = tmp_path / "bench", source / "videos"
    command = CapturedCommand("import", source, "--out", out, cwd=tmp_path)
    wait_until(lambda: (out / "import/source.json").exists() or command.poll() is not None)
    command.kill()
    command.wait()
    for name in ("items.jsonl", "benchmark.yaml"):  # as if it had been earlier
        (out / name).unlink(missing_ok=True)
    assert run_here("import", source, "--out", out, "--media", folder) == 1
    assert len(Benchmark.load(out).items) == 2


def test_a_benchmark_within_its_source_is_not_read_as_rows(source: Path) -> None:
    out = source / "bench"
    assert run_here("import", source, "--out", out) == 1
    first = (out / "items.jsonl").read_bytes()
    assert run_here("import", source, "--out", out) == 1
    assert (out / "items.jsonl").read_bytes() == first


def test_a_folder_of_something_else_is_never_written_into(
    source: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/notes.txt").write_text("mine")
    assert run_here("import", source, "--out", tmp_path / "mine") == 2
    assert "that no import made" in capsys.readouterr().err
    assert run_here("import", source, "--out", tmp_path / "bench") == 1
    other = shutil.copy(source / "questions.csv", tmp_path / "other.csv")
    assert run_here("import", other, "--out", tmp_path / "bench") == 2
    assert "another source" in capsys.readouterr().err
    assert os.listdir(tmp_path / "mine") == ["notes.txt"]


def test_a_dry_run_writes_items_to_stdout_and_nothing_else(
    source: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = sorted(tmp_path.rglob("*"))
    assert run_here("import", source / "questions.csv", "--dry-run", "--keep-missing") == 0
    items = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [item["id"] for item in items] == ["1", "2", "3"]
    assert sorted(tmp_path.rglob("*")) == before


def test_media_come_out_of_an_archive_unless_told_otherwise(
    source: Path, video: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with zipfile.ZipFile(source / "more.zip", "w") as archive:
        archive.write(video, "folder/three.mp4")
    assert run_here("import", source, "--out", tmp_path / "closed", "--no-unpack") == 1
    assert run_here("import", source, "--out", tmp_path / "open") == 0
    assert "1 file of them in archives" in capsys.readouterr().err
    assert (tmp_path / "open/media/three.mp4").read_bytes() == video.read_bytes()


def test_links_are_listed_and_not_fetched(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [
        {"url": f"https://example.invalid/{n}.mp4", "question": "What?", "options": ["a", "b"], "answer": "A"}
        for n in range(2)
    ]  # fmt: skip
    (tmp_path / "q.json").write_text(json.dumps(rows))
    assert run_here("import", tmp_path / "q.json", "--out", tmp_path / "bench") == 0
    assert "2 videos are links" in capsys.readouterr().err
    links = (tmp_path / "bench/import/links.txt").read_text()
    assert links == "https://example.invalid/0.mp4\nhttps://example.invalid/1.mp4\n"


def test_words_on_the_command_line_say_what_a_column_is(
    source: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = (
        "--set",
        "id={video}#{id}",
        "--set",
        "tags.asked=question",
        "--set",
        "title=Three",
        "--keep-missing",
    )
    assert run_here("import", source, "--out", tmp_path / "bench", *words) == 0
    made = Benchmark.load(tmp_path / "bench")
    assert made.items[0].id == "one.mp4#1"
    assert made.items[0].tags == {"asked": "What is seen?"}
    assert made.manifest.title == "Three"
    assert run_here("import", source, "--dry-run", "--set", "questoin=x") == 2
    assert "the names are id, video" in capsys.readouterr().err
    assert run_here("import", source, "--dry-run", "--set", "question=nope") == 2
    assert "no column 'nope'" in capsys.readouterr().err


OWN = """
def rows(path):
    for line in path.read_text().splitlines():
        video, question, answer = line.split("#")
        yield {"video": video, "question": question, "answer": answer}

def numbers(path):
    yield 3
"""


def test_an_importer_of_ones_own_is_a_function_in_a_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "own.py").write_text(OWN)
    (tmp_path / "q.txt").write_text("a.mp4#Is it red?#yes\nb.mp4#Is it blue?#no\n")
    own = f"{tmp_path / 'own.py'}:rows"
    assert run_here("import", tmp_path / "q.txt", "--out", tmp_path / "bench", "--as", own) == 0
    assert [item.answer for item in Benchmark.load(tmp_path / "bench").items] == [("A",), ("B",)]
    bad = own.replace("rows", "numbers")
    assert run_here("import", tmp_path / "q.txt", "--dry-run", "--as", bad) == 2
    assert "gives int as row 1" in capsys.readouterr().err
    assert sources.GROUP == "reelbench.importers"


def test_forms_are_listed_and_an_unknown_one_is_refused(
    source: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_here("import", "--list") == 0
    assert "next-qa " in capsys.readouterr().out
    assert run_here("import", source, "--dry-run", "--as", "nothing") == 2
    assert "There is no form 'nothing'. The known ones:" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "no rows"), (b"\x00\x01\x02\xff" * 50, ""), (b'{"a": [1, 2', ""), (b"just words, no table", ""),
        (b"video,question\n" + b'"a.mp4,' * 3, ""), (b"[" * 100_000, ""),
    ],
)  # fmt: skip
def test_a_broken_file_is_an_error_in_a_sentence(
    content: bytes, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "q.csv").write_bytes(content)
    assert run_here("import", tmp_path / "q.csv", "--out", tmp_path / "bench") == 2
    talk = capsys.readouterr().err
    assert message in talk
    assert "Traceback" not in talk
    assert not (tmp_path / "bench").exists()


def test_hostile_names_and_texts_stay_inside_and_on_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [
        {"id": "a\nb\x1b[31m", "video": "../../etc/passwd", "question": "What?\u202e", "options": ["x", "y"], "answer": "A"},
        {"id": "c", "video": "/root/.ssh/id", "question": "Who? \ud800", "options": ["x", "y\x00"], "answer": "B"},
        {"id": "d", "video": "C:\\v\\x.mp4", "question": "Q" * 100_000 + "?", "options": ["x", "y"], "answer": "B"},
    ]  # fmt: skip
    (tmp_path / "q.json").write_text(json.dumps(rows))
    run_here("import", tmp_path / "q.json", "--out", tmp_path / "bench")
    assert "\x1b" not in capsys.readouterr().err
    paths = [item.media[0].path for item in Benchmark.load(tmp_path / "bench").items]
    assert all(path.startswith("media/") and ".." not in path for path in paths)
    (tmp_path / "q.json").write_text(json.dumps([{"\x1b]0;x\x07": 1, "answer": "A"}] * 2))
    assert run_here("import", tmp_path / "q.json", "--dry-run", "--set", "id=none") == 2
    talk = capsys.readouterr().err
    assert r"its columns: \x1b]0;x\x07" in talk
    assert "\x1b" not in talk


@pytest.mark.skipif(not NEXTQA.is_dir(), reason="the reference data of others is not here")
def test_nextqa_imports_with_no_word_and_scores_as_published(tmp_path: Path) -> None:
    out, scores = tmp_path / "bench", tmp_path / "scores.json"
    assert run_here("import", NEXTQA / "val.csv.gz", "--out", out) == 0
    predictions = NEXTQA / "HGA-bert-ft-h256-val.json.gz"
    words = ("--benchmark", out, "--predictions", predictions, "--out", scores)
    assert run_here("score", *words) == 0
    (row,) = json.loads(scores.read_text())["results"]
    assert (row["items"], row["answered"]) == (4996, 4996)
    assert round(100 * row["correct"] / row["items"], 2) == 49.74


@pytest.mark.skipif(not NEXTQA.is_dir(), reason="the reference data of others is not here")
def test_nextqa_is_read_the_same_where_no_form_knows_it(tmp_path: Path) -> None:
    text = gzip.decompress((NEXTQA / "val.csv.gz").read_bytes()).decode()
    lines = "".join(text.splitlines(keepends=True)[:300])
    (tmp_path / "known.csv").write_text(lines)
    (tmp_path / "val.csv").write_text(lines.replace("frame_count,", "frames,", 1))
    found = import_benchmark(tmp_path / "val.csv", tmp_path / "bench", dry_run=True)
    known = import_benchmark(tmp_path / "known.csv", tmp_path / "bench", dry_run=True)
    assert (found.mapping.name, known.mapping.name) == ("", "next-qa")
    for one, other in zip(found.items, known.items, strict=True):
        assert (one.id, one.options, one.answer) == (other.id, other.options, other.answer)
