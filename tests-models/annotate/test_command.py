"""The annotate command on real clips, with the models inside its operators."""

import json
import math
import multiprocessing
import shutil
import sqlite3
import time
import wave
from contextlib import closing
from pathlib import Path
from typing import Any

import av
import pytest
from actors import perform
from support import SHARED, run_here, wait_until

from reelbench.annotate.registry import OPERATORS

VIDEO = SHARED / "data" / "video"
pytestmark = pytest.mark.skipif(not VIDEO.exists(), reason="../shared/data/video is not there")
# Shots by the changes of colours: the network takes longer than all the others together.
PEOPLE = ("--labels", "tracks,face_ratio,count", "--set", "shots.detector=content")
MADE = ["faces", "shots", "detections", "tracks", "face_ratio", "count"]


@pytest.fixture(scope="module")
def clips(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two real clips, a copy, a sound, a broken file."""
    folder = tmp_path_factory.mktemp("real") / "clips"
    folder.mkdir()
    shutil.copy(VIDEO / "speech_two_faces.mp4", folder / "two faces.mp4")
    shutil.copy(VIDEO / "speech_two_faces.mp4", folder / "wieder dasselbe – ö.mp4")
    shutil.copy(VIDEO / "single_face.mp4", folder / "one face.mp4")
    (folder / "broken.mp4").write_bytes((VIDEO / "video1.mp4").read_bytes()[:5000])
    with wave.open(str(folder / "tone.wav"), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(16000)
        samples = [round(9000 * math.sin(n / 5)) for n in range(32000)]
        file.writeframes(b"".join(n.to_bytes(2, "little", signed=True) for n in samples))
    return folder


@pytest.fixture(scope="module")
def made(clips: Path) -> Path:
    """Their labels. Read them, do not write to them."""
    out = clips.with_name("labels")
    status = run_here("annotate", clips, *PEOPLE, "--out", out, "--parquet", "--preview")
    assert status == 1, "for one file is broken"
    return out


def labels(out: Path, name: str) -> dict[str, Any]:
    return dict(json.loads((out / "labels" / f"{name}.json").read_text())["labels"])


def written(out: Path) -> dict[str, bytes]:
    files = [*(out / "labels").rglob("*.json"), out / "annotate.json"]
    return {path.relative_to(out).as_posix(): path.read_bytes() for path in files}


def rows_in(out: Path) -> int:
    with closing(sqlite3.connect(out / "labels.sqlite")) as shelf:
        return int(shelf.execute("SELECT count(*) FROM results").fetchone()[0])


def test_labels_of_real_clips(made: Path) -> None:
    found = labels(made, "two faces.mp4")
    assert sorted(found) == sorted(MADE)
    assert found["count"]["value"]["people"] == 2
    assert found["face_ratio"]["value"]["share"] > 0.9
    assert found["shots"]["value"]["cuts"] == []
    assert len(found["tracks"]["value"]["people"]) == 2
    assert len(found["faces"]["operator"]["models"]["face"]) == 64
    assert labels(made, "wieder dasselbe – ö.mp4") == found
    summary = json.loads((made / "annotate.json").read_text())
    assert list(summary["broken"]) == ["broken.mp4"]
    assert not summary["failures"]


def test_of_a_sound_there_is_nothing_to_see(made: Path) -> None:
    found = labels(made, "tone.wav")
    assert sorted(found) == sorted(MADE)
    assert all("none" in said for said in found.values())
    assert found["count"]["none"].startswith(("tracks: ", "detections: "))


def test_a_second_run_does_nothing_and_writes_the_same_bytes(
    clips: Path, made: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = written(made)
    began = time.process_time()
    assert run_here("annotate", clips, *PEOPLE, "--out", made, "--offline") == 1
    assert time.process_time() - began < 5
    assert "0 pieces of work done now." in capsys.readouterr().err
    assert written(made) == before


def test_a_parameter_redoes_what_reads_the_label_alone(
    clips: Path, made: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = Path(shutil.copytree(made, tmp_path / "out"))
    words = ("annotate", clips, *PEOPLE, "--out", out)
    run_here(*words, "--set", "face_ratio.least_size=0.9")
    assert "2 pieces of work done now." in capsys.readouterr().err, "equal clips are one"
    assert labels(out, "one face.mp4")["face_ratio"]["value"]["share"] == 0
    run_here(*words, "--set", "tracks.embeddings=true")
    assert "4 pieces of work done now." in capsys.readouterr().err, "tracks and count"
    assert "embedding" in labels(out, "two faces.mp4")["tracks"]["value"]["people"][0]
    assert labels(out, "two faces.mp4")["faces"] == labels(made, "two faces.mp4")["faces"]


def test_the_tables_can_be_queried(made: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    table = parquet.read_table(made / "parquet" / "labels.parquet")
    assert table.column_names == ["clip", "sha256", "label", "status", "reason"]
    assert {str(kind) for kind in table.schema.types} == {"string"}
    rows = table.to_pylist()
    assert len(rows) == 4 * len(MADE)
    for row in rows:
        made_of_it = labels(made, row["clip"])[row["label"]]
        assert made_of_it.get(row["status"]) == (row["reason"] or made_of_it["value"])
    boxes = parquet.read_table(made / "parquet" / "tracks_people_tracks_boxes.parquet")
    types = {field.name: str(field.type) for field in boxes.schema}
    sides = dict.fromkeys(("left", "top", "right", "bottom"), "double")
    assert types == {"clip": "string", "person": "string", "track": "int64", "time": "double",
                     "score": "double"} | sides  # fmt: skip
    people = labels(made, "two faces.mp4")["tracks"]["value"]["people"]
    first = people[0]["tracks"][0]["boxes"][0]
    row = next(row for row in boxes.to_pylist() if row["clip"] == "two faces.mp4")
    assert [row[side] for side in sides] == first["box"]
    assert (row["person"], row["time"], row["score"]) == ("p1", first["time"], first["score"])
    counts = parquet.read_table(made / "parquet" / "count.parquet").to_pylist()
    assert {row["clip"]: row["people"] for row in counts}["two faces.mp4"] == 2


def test_a_table_without_rows(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    (tmp_path / "clips").mkdir()
    (tmp_path / "clips" / "a.mp4").write_text("no video")
    out = tmp_path / "out"
    words = ("annotate", tmp_path / "clips", "--labels", "format", "--out", out, "--parquet")
    assert run_here(*words) == 1
    assert parquet.read_table(out / "parquet" / "labels.parquet").num_rows == 0


def test_previews_can_be_watched(made: Path) -> None:
    videos = sorted((made / "preview").glob("*.mp4"))
    assert [path.name.split(".")[0] for path in videos] == [
        "one face",
        "two faces",
        "wieder dasselbe – ö",
    ]
    with av.open(str(videos[1])) as container:
        assert float(container.duration or 0) / av.time_base == pytest.approx(8.7, abs=0.3)
        assert container.streams.audio, "with its sound"
        assert next(container.decode(video=0)).width >= 320
    assert len(list((made / "preview").glob("*.png"))) == 3


def test_ray_gives_the_same_bytes(clips: Path, made: Path, tmp_path: Path) -> None:
    pytest.importorskip("ray")
    pytest.importorskip("reelbench.engine.cluster")
    out = tmp_path / "ray"
    words = ("annotate", clips, *PEOPLE, "--out", out, "--engine", "ray")
    # In a process of its own: Ray holds on to the one it was started in.
    process = multiprocessing.get_context("spawn").Process(
        target=perform, args=([*map(str, words)], str(tmp_path / "told"))
    )
    process.start()
    process.join(150)
    assert process.exitcode == 1, (tmp_path / "told").read_text()
    assert written(out) == written(made)
    assert "Traceback" not in (tmp_path / "told").read_text()


def test_killed_it_goes_on_and_ends_the_same(clips: Path, made: Path, tmp_path: Path) -> None:
    out = tmp_path / "killed"
    words = [*map(str, ("annotate", clips, *PEOPLE, "--out", out))]
    process = multiprocessing.get_context("spawn").Process(
        target=perform, args=(words, str(tmp_path / "told"))
    )
    process.start()
    log = out / "labels.sqlite-wal"
    wait_until(lambda: log.exists() and log.stat().st_size >= 20_000)  # the first labels are in it
    process.kill()
    process.join()
    assert 0 < rows_in(out) < rows_in(made)
    assert run_here(*words) == 1
    assert written(out) == written(made)


def test_all_labels_there_are(
    clips: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("annotate", clips / "two faces.mp4", "--labels", "all", "--out", tmp_path)
    assert run_here(*words, "--parquet", "--preview") == 0, capsys.readouterr().err
    skipped = {"expression", "caption", "speech_emotion"}
    told = capsys.readouterr().err
    assert all(f"skipped: {name}: " in told for name in skipped)
    found = labels(tmp_path, "two faces.mp4")
    assert set(found) == set(OPERATORS) - skipped
    assert [name for name in found if "value" not in found[name]] == []
    tables = {path.stem for path in (tmp_path / "parquet").iterdir()}
    assert {"labels", "count", "speaker_people", "transcript_segments_words"} <= tables
    assert len(list((tmp_path / "preview").iterdir())) == 2, "a video and a sheet"
    before = written(tmp_path)
    assert run_here(*words, "--offline") == 0
    assert "0 pieces of work done now." in capsys.readouterr().err
    assert written(tmp_path) == before
