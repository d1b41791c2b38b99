"""CondensedMovies, and what is laid out alike, is read with all that is wrong told at once."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from condensing import film_id, write_metadata, write_summaries
from filming import SRT
from support import reelbench
from videos import make_video

from reelbench.make.pipeline.store import record_of, row_of
from reelbench.recipes.cineaste.film import film_statistics
from reelbench.recipes.cineaste.source import Movie, MovieSourceError, Sources, movies_in

CLIPS = "videoid,year,clip_idx,clip_tot,upload_year,title,clip_name,imdbid\n"


Condensed = Callable[..., Path]


@pytest.fixture
def condensed(tmp_path: Path, clip: Path) -> Condensed:
    """Write a source as CondensedMovies has it: two movies of two clips; any file can be given."""

    def write(**files: str | bytes | None) -> Path:
        source = tmp_path / "condensed"
        (source / "videos" / "2019").mkdir(parents=True)
        for place in ("2019/-aX.mp4", "2019/bbb.mp4", "ccc.mp4", "ddd.mp4"):
            shutil.copy(clip, source / "videos" / place)
        rows = (
            "bbb,2012.0,2,10,2019,Les Misérables,One Day More Scene,tt002\n"
            '-aX,2012.0,1.0,10,2019,Les Misérables,"I Dreamed, a Dream",tt002\n'
            "ccc,-1.0,6,8,2011,Anchorman,Jazz,tt001\n"
            "ddd,,3,8,2011,Anchorman: The Legend,Fight,tt001\n"
        )
        plain = {
            "clips": CLIPS + rows,
            "descriptions": 'videoid,description\nbbb,They sing.\n-aX,She dreams.\nccc,"A flute,\nplayed."\nddd,News.\n',
            "movie_info": "imdbid,genre,country\ntt001,['Comedy'],['USA']\n",
            "summaries": "imdbid,summary\ntt001,A newsreader falls.\ntt002,A convict rises.\n",
        }
        for name, text in (plain | files).items():
            if text is not None:
                (source / f"{name}.csv").write_bytes(
                    text.encode() if isinstance(text, str) else text
                )
        return source

    return write


def told(source: Path) -> str:
    """What is wrong, with the place of the source taken out."""
    with pytest.raises(MovieSourceError) as error:
        movies_in(source)
    return str(error.value).replace(f"{source}/", "")


def ids(sources: Sources) -> list[str]:
    return [movie.id for movie in sources.rows]


def test_condensed_movies_are_read(condensed: Condensed) -> None:
    source = condensed()
    (source / "videos" / "2019" / "bbb.en.srt").write_text(SRT)
    read = movies_in(source)
    assert ids(read) == ["tt001", "tt002"]
    assert read.warnings == ()
    anchorman, miserables = read.rows
    assert (anchorman.year, miserables.year) == (None, 2012)
    assert miserables.title == "Les Misérables"
    assert miserables.summary == "A convict rises."
    assert [s.video for s in miserables.scenes] == ["videos/2019/-aX.mp4", "videos/2019/bbb.mp4"]
    assert [s.title for s in miserables.scenes] == ["I Dreamed, a Dream", "One Day More Scene"]
    assert [s.captions for s in miserables.scenes] == ["", "Hold on!\nI can't."]
    assert [s.logline for s in anchorman.scenes] == ["News.", "A flute,\nplayed."]
    assert all(s.seconds > 0.9 and len(s.sha256) == 64 for s in anchorman.scenes)


def test_the_files_may_lie_in_metadata(condensed: Condensed) -> None:
    source = condensed(movies="imdbid,title,year\ntt001,Anchorman (uncut),2004.0\n")
    (source / "metadata").mkdir()
    for path in source.glob("*.csv"):
        path.rename(source / "metadata" / path.name)
    movie = movies_in(source).rows[0]
    assert (movie.title, movie.year) == ("Anchorman (uncut)", 2004)


def test_summaries_may_be_a_column_of_movie_info(condensed: Condensed) -> None:
    source = condensed(summaries=None, movie_info="imdbid,genre,plot\ntt001,x,One.\ntt002,y,Two.\n")
    assert [movie.summary for movie in movies_in(source).rows] == ["One.", "Two."]


def test_a_movie_without_a_summary_is_left_out_by_name(condensed: Condensed) -> None:
    source = condensed(summaries="imdbid,summary\ntt001,A.\n")
    read = movies_in(source)
    assert ids(read) == ["tt001"]
    assert read.broken == (("tt002", "no summary"),)
    assert read.warnings == ("1 of 2 films in clips.csv are left out: no summary (1).",)
    (source / "summaries.csv").unlink()
    said = told(source)
    assert "summary: found none for any of 2 movies" in said
    assert "1 problem " in said


def test_what_was_taken_down_costs_its_clip_or_its_film(condensed: Condensed) -> None:
    source = condensed()
    (source / "videos" / "ddd.mp4").unlink()
    read = movies_in(source)
    assert [len(movie.scenes) for movie in read.rows] == [1, 2]
    assert read.without == (("ddd", "it has no video (clips.csv:5, tt001)"),)
    assert (read.broken, read.warnings) == ((), ())
    (source / "videos" / "ccc.mp4").unlink()
    (source / "videos" / "other.mp4").write_bytes(b"of no line")
    read = movies_in(source)
    assert ids(read) == ["tt002"]
    assert read.broken == (("tt001", "no video"),)
    assert read.warnings == (
        "1 of 2 films in clips.csv are left out: no video (1).",
        "1 video in no line of clips.csv: other.",
    )
    shutil.rmtree(source / "videos")
    assert "clips.csv: videoid: found no video for any of its 4 clips, expected videos/" in told(
        source
    )


def test_two_videos_of_one_clip_are_a_problem(condensed: Condensed) -> None:
    source = condensed()
    shutil.copy(source / "videos" / "ccc.mp4", source / "videos" / "2019" / "ccc.MKV")
    said = told(source)
    assert "clips.csv:4: videoid: found 2 videos: videos/ccc.mp4, videos/2019/ccc.MKV" in said
    assert "1 problem" in said


def test_what_is_odd_in_films_that_nobody_has_stops_nobody(condensed: Condensed) -> None:
    odd = [
        "eee,soon,x,10,once,T,,tt003", "eee,2012,1,10,2019,T,B,../../tt",
        ",2012,1,10,2019,T,C,", "fff,2012,1,10,2019,T,D,tt001",
    ]  # fmt: skip
    plain = condensed()
    rows = (plain / "clips.csv").read_text()
    (plain / "clips.csv").write_text(rows + "\n".join(odd) + "\n")
    read = movies_in(plain)
    assert ids(read) == ["tt001", "tt002"]
    nothing = "no video; no summary"
    assert read.broken == (("(no imdbid)", nothing), ("../../tt", nothing), ("tt003", nothing))
    assert read.without == (("fff", "it has no video (clips.csv:9, tt001)"),)


@pytest.mark.parametrize(("rows", "kept", "without"), [
    # No name; no number, as the dataset has it.
    (["2,10,2019,A", "1,10,2019,", "-1,10,2019,C", ",10,2019,D"], "a",
     {"b": "it has no name", "c": "its number in the film is not known", "d": "its number in the film is not known"}),
    # Uploaded twice: the numbering that more clips are of.
    (["2,10,2019,A", "1,8,2011,B", "1,10,2019,C", "5,8,2011,D"], "ca",
     {"b": "it is number 1 of 8, and others are of 10", "d": "it is number 5 of 8, and others are of 10"}),
    (["2,-1,2019,A", "1,-1,2019,B", "1,10,2014,C"], "ba",
     {"c": "it is number 1 of 10, and others are of an unknown number"}),
    # Of as many, and of the same number: the later.
    (["2,10,2019,A", "1,10,2019,B", "1,10,2011,C", "2,10,2011,D"], "ba",
     {"c": "numbers come twice, and others were uploaded in 2019", "d": "numbers come twice, and others were uploaded in 2019"}),
    # A series may go on in January.
    (["2,10,2019,A", "1,10,2018,B", "3,10,2019,C"], "bac", {}),
    # What cannot be told apart.
    (["2,10,2019,A", "2,10,2019,B", "1,10,2019,C"], "c",
     {"a": "another clip is number 2 too", "b": "another clip is number 2 too"}),
])  # fmt: skip
def test_clips_are_in_one_order_or_left_out(
    rows: list[str], kept: str, without: dict[str, str], condensed: Condensed, clip: Path
) -> None:
    lines = [f"{n},2012,{i},{of},{up},T,{name},tt002" for n, row in zip("abcd", rows, strict=False)
             for i, of, up, name in [row.split(",")]]  # fmt: skip
    source = condensed(clips=CLIPS + "\n".join(lines), descriptions=None)
    for name in "abcd"[: len(rows)]:
        shutil.copy(clip, source / "videos" / f"{name}.mp4")
    read = movies_in(source)
    assert [scene.video for scene in read.rows[0].scenes] == [f"videos/{n}.mp4" for n in kept]
    assert {name: why.partition(" (")[0] for name, why in read.without} == without


def test_a_film_without_a_clip_in_order_is_left_out_with_all_reasons(condensed: Condensed) -> None:
    rows = "ccc,2012,1,10,2019,T,,tt001\nddd,2012,1,10,2019,T,B,tt002\nbbb,,1,10,2019,T,C,tt002\n"
    source = condensed(clips=CLIPS + rows)
    said = told(source)
    assert (
        "no film of 2 that can be used: no clip that can be used (2), expected a film with" in said
    )
    (source / "clips.csv").write_text(CLIPS + rows.replace("ddd,2012,1", "ddd,2012,2"))
    read = movies_in(source)
    assert ids(read) == ["tt002"]
    assert read.broken == (("tt001", "no clip that can be used; ccc: it has no name"),)


def test_the_year_of_the_upload_goes_with_each_scene(condensed: Condensed) -> None:
    assert [s.uploaded for movie in movies_in(condensed()).rows for s in movie.scenes] == [
        2011, 2011, 2019, 2019,
    ]  # fmt: skip


def test_a_video_linked_from_outside_is_refused(condensed: Condensed, clip: Path) -> None:
    source = condensed()
    (source / "videos" / "ccc.mp4").unlink()
    (source / "videos" / "ccc.mp4").symlink_to(clip)
    assert "clips.csv:4: video: found videos/ccc.mp4, a link to" in told(source)


def test_everything_wrong_in_clips_is_listed(condensed: Condensed) -> None:
    rows = [
        "bbb,2012.0,2,10,2019,T,A,tt002",
        "-aX,twelve,2.0,10,soon,T,B,tt002",
        "ccc,2012,2.5,10,2019,T,C,../../tt",
        "ddd,2012,4,10,2019,T,D,",
        "bbb,2012,7,10,2019,T,A,tt002",
        "too,few",
        ",,,,,,,",
        "",
    ]
    said = told(condensed(clips=CLIPS + "\n".join(rows)))
    for part in [
        "clips.csv:3: year: found 'twelve', expected a year from 1870",
        "clips.csv:3: upload_year: found 'soon', expected a year from 1870",
        "clips.csv:4: clip_idx: found '2.5', expected a whole number from 0, or nothing",
        "clips.csv:4: imdbid: found '../../tt', expected at most 100",
        "clips.csv:5: imdbid: found nothing",
        "clips.csv:6: videoid: found 'bbb', as on line 2, expected each videoid once",
        "clips.csv:7: row: found 2 fields, expected 8, as in the first line",
        "7 problems",
    ]:
        assert part in said, said


@pytest.mark.parametrize(
    ("clips", "found"),
    [
        (b"", "clips.csv: file: found an empty file, expected a first line with the columns"),
        (b"\n\r\n  \n", "found an empty file"),
        (CLIPS.encode(), "clips.csv: file: found no clips"),
        (
            b"video_id,imdbid,clip_idx,clip_name\na,b,1,c\n",
            "clips.csv:1: videoid: found no such column among 'video_id, imdbid, clip_idx, clip_name', expected such a column (perhaps 'video_id' is meant)",
        ),
        (b"videoid;imdbid;clip_idx;clip_name\n", "clips.csv:1: clip_idx: found no such column"),
        (
            b"videoid,videoid,imdbid,clip_idx,clip_name\n",
            "clips.csv:1: videoid: found 2 columns of that name, expected one",
        ),
        (
            CLIPS.encode() + b"caf\xe9,,,,,,,\n",
            "clips.csv:2: file: found byte 0xE9, expected UTF-8",
        ),
        (CLIPS.encode("utf-16"), "found UTF-16"),
        (CLIPS.encode() + b"a\0b,,,,,,,\n", "clips.csv:2: row: found a NUL character"),
        (
            CLIPS.encode() + b'a,"never closed,,,\n',
            "clips.csv:2: row: found unexpected end of data",
        ),
        (
            CLIPS.encode() + b"a" * 200_000 + b",,,,,,,\n",
            "clips.csv:2: row: found field larger than field limit",
        ),
        (CLIPS.encode() + b'"a"b,,,,,,,\n', "clips.csv:2: row: found"),
    ],
)
def test_hostile_csv_is_a_sentence(condensed: Condensed, clips: bytes, found: str) -> None:
    assert found in told(condensed(clips=clips))


def test_captions_and_lines_that_are_wrong_are_listed_together(condensed: Condensed) -> None:
    rows = "ccc,2012,1,10,2019,T,A,tt001\nddd,2012,x,10,2019,T,B,tt001\n"
    source = condensed(clips=CLIPS + rows)
    (source / "videos" / "ccc.srt").write_text("no times in here")
    said = told(source)
    assert "clips.csv:3: clip_idx: found 'x'" in said
    assert "clips.csv:2: captions: found videos/ccc.srt: " in said
    assert "2 problems" in said


def test_csv_of_other_editors_is_read(condensed: Condensed) -> None:
    source = condensed()
    plain = movies_in(source)
    for path in source.glob("*.csv"):
        text = path.read_bytes().replace(b"\n", b"\r\n").replace(b"A flute,\r\n", b"A flute,\n")
        path.write_bytes(b"\xef\xbb\xbf" + text)
    assert movies_in(source) == plain


def test_two_things_of_one_clip_are_a_problem(condensed: Condensed) -> None:
    source = condensed(
        descriptions="videoid,description\nbbb,One.\nbbb,One.\nbbb,Two.\n",
        durations="videoid,duration\nbbb,long\n",
    )
    said = told(source)
    assert (
        "descriptions.csv:4: description: found a second one for 'bbb', expected one per videoid"
        in said
    )
    assert "durations.csv: duration: found 'long' for 'bbb', expected seconds" in said
    assert "2 problems" in said


def test_what_is_odd_is_warned_about(condensed: Condensed, clip: Path) -> None:
    source = condensed(
        descriptions="videoid,description\nbbb,They sing.\nccc,\n-aX,x\n",
        durations="videoid,duration\nbbb,1.0\nccc,133\n",
    )
    make_video(source / "videos" / "2019" / "bbb.mp4", seconds=5.0)
    undescribed, outro = movies_in(source).warnings
    assert undescribed.startswith("2 of 4 clips have no description")
    assert "ccc" in undescribed
    assert outro.startswith("1 of 4 videos last longer")
    assert outro.endswith(" of videos/2019/bbb.mp4.")
    (source / "descriptions.csv").unlink()
    assert "no descriptions.csv" in movies_in(source).warnings[0]


def test_a_video_that_cannot_be_decoded_costs_its_clip(condensed: Condensed) -> None:
    source = condensed()
    (source / "videos" / "ccc.mp4").write_bytes(b"")
    read = movies_in(source)
    assert ids(read) == ["tt001", "tt002"]
    assert [len(movie.scenes) for movie in read.rows] == [1, 2]
    ((name, why),) = read.without
    assert name == "ccc"
    assert why.startswith("videos/ccc.mp4: ")
    assert why.endswith(" (tt001)")
    (source / "videos" / "ddd.mp4").write_bytes(b"")
    read = movies_in(source)
    assert ids(read) == ["tt002"]
    assert read.broken[0][0] == "tt001"
    assert "; videos/ccc.mp4: " in read.broken[0][1]


def test_the_dataset_is_read_with_the_films_that_are_there(tmp_path: Path, clip: Path) -> None:
    """Its columns, gaps and oddities; of a hundred films, two."""
    rows = write_metadata(tmp_path / "metadata", 100)
    numbered = [row for row in rows if row["clip_name"]]
    twice = next(
        row["imdbid"] for row in numbered
        if len({r["clip_tot"] for r in numbered if r["imdbid"] == row["imdbid"]}) > 1
    )  # fmt: skip
    taken = sorted({twice, film_id(0)})
    write_summaries(tmp_path / "metadata", [*taken, film_id(99)])
    here = [row for row in rows if row["imdbid"] in taken]
    for row in here:
        folder = tmp_path / "videos" / row["upload_year"]
        folder.mkdir(parents=True, exist_ok=True)
        shutil.copy(clip, folder / f"{row['videoid']}.mkv")
    read = movies_in(tmp_path)
    assert ids(read) == taken
    assert len(read.broken) == 98
    assert read.warnings[0].startswith("98 of 100 films in clips.csv are left out: no video (98), ")
    assert len(read.without) + sum(len(movie.scenes) for movie in read.rows) == len(here)
    by_id = {row["videoid"]: row for row in here}
    for movie in read.rows:
        clips = [by_id[Path(scene.video).stem] for scene in movie.scenes]
        numbers = [int(row["clip_idx"]) for row in clips]
        assert numbers == sorted(set(numbers))
        assert len({row["clip_tot"] for row in clips}) == 1
        assert movie.title == f"Film {movie.id}"


def test_a_make_tells_how_much_is_left_out_and_lists_it(condensed: Condensed) -> None:
    source = condensed(summaries="imdbid,summary\ntt002,A convict rises.\n")
    (source / "videos" / "2019" / "bbb.mp4").unlink()
    out = source.parent / "bench"
    make = ("make", "cineaste", "--source", source, "--out", out, "--until", "concatenate")
    done = reelbench(*make)
    assert done.returncode == 0, done.stderr
    assert "warning: 1 of 2 films in clips.csv are left out: no summary (1)." in done.stderr
    assert f"1 source and 1 part of others could not be used: {out}/rejects.jsonl" in done.stderr
    rejects = [json.loads(line) for line in (out / "rejects.jsonl").read_text().splitlines()]
    assert [(r["stage"], r["id"], r["reason"], r["detail"]) for r in rejects] == [
        ("sources", "tt001", "source", "no summary"),
        ("sources", "bbb", "part of a source", "it has no video (clips.csv:2, tt002)"),
    ]
    record = json.loads((out / "funnel.json").read_text())["sources"]
    assert record == {"in": 2, "out": 1, "rejected": 1, "without": 1}
    assert "1 of 2 movies" in (out / "made.html").read_text()
    assert "1 of 2 films in clips.csv" in reelbench(*make, "--dry-run").stderr


def test_statistics_have_the_years_of_the_uploads(condensed: Condensed) -> None:
    movies = movies_in(condensed()).rows
    found = film_statistics({"describe": movies})
    assert found["distributions"]["Upload year"] == [2011, 2011, 2019, 2019]
    assert found["distributions"]["Year"] == [2012]
    assert found["numbers"]["mean Upload year"] == 2015


def test_rows_of_films_that_tell_no_upload_are_those_of_earlier_makes(condensed: Condensed) -> None:
    source = condensed()
    text = (source / "clips.csv").read_text().replace("upload_year", "uploaded_in")
    (source / "clips.csv").write_text(text)
    (movie, _) = movies_in(source).rows
    assert "uploaded" not in record_of(movie)["scenes"][0]
    assert row_of(record_of(movie), Movie) == movie
