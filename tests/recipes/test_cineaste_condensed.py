"""CondensedMovies, and what is laid out alike, is read with all that is wrong told at once."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from filming import SRT
from videos import make_video

from reelbench.recipes.cineaste.source import MovieSourceError, Sources, movies_in

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


def test_a_movie_without_a_summary_is_named(condensed: Condensed) -> None:
    source = condensed(summaries="imdbid,summary\ntt001,A.\n")
    assert "summary of tt002: found none for tt002, expected summaries.csv" in told(source)
    (source / "summaries.csv").unlink()
    said = told(source)
    assert "summary: found none for any of 2 movies" in said
    assert "1 problem " in said


def test_missing_videos_are_all_named(condensed: Condensed) -> None:
    source = condensed()
    (source / "videos" / "ddd.mp4").unlink()
    (source / "videos" / "2019" / "bbb.mp4").unlink()
    (source / "videos" / "2019" / "bbb.mp4").mkdir()
    shutil.copy(source / "videos" / "ccc.mp4", source / "videos" / "2019" / "ccc.MKV")
    said = told(source)
    assert (
        "clips.csv:5: videoid: found no video for 1 of the 2 clips of tt001: ddd (line 5), expected videos/<videoid>.mp4"
        in said
    )
    assert (
        "clips.csv:2: videoid: found no video for 1 of the 2 clips of tt002: bbb (line 2)" in said
    )
    assert (
        "clips.csv:4: videoid: found 2 videos: videos/ccc.mp4, videos/2019/ccc.MKV, expected one"
        in said
    )
    assert "3 problems" in said
    shutil.rmtree(source / "videos")
    assert "clips.csv: videoid: found no video for any of its 4 clips" in told(source)


def test_a_video_linked_from_outside_is_refused(condensed: Condensed, clip: Path) -> None:
    source = condensed()
    (source / "videos" / "ccc.mp4").unlink()
    (source / "videos" / "ccc.mp4").symlink_to(clip)
    assert "clips.csv:4: video: found videos/ccc.mp4, a link to" in told(source)


def test_everything_wrong_in_clips_is_listed(condensed: Condensed) -> None:
    rows = [
        "bbb,2012.0,2,10,2019,T,A,tt002",
        "-aX,twelve,2.0,10,2019,T,B,tt002",
        "ccc,2012,2.5,10,2019,T,C,../../tt",
        ",2012,-1,10,2019,T,,tt002",
        "bbb,2012,7,10,2019,T,A,tt002",
        "ddd,2012,2.0,10,2019,T,D,tt002",
        "too,few",
        ",,,,,,,",
        "",
    ]
    said = told(condensed(clips=CLIPS + "\n".join(rows)))
    for part in [
        "clips.csv:3: year: found 'twelve', expected a year from 1870",
        "clips.csv:4: clip_idx: found '2.5', expected a whole number from 0",
        "clips.csv:4: imdbid: found '../../tt', expected at most 100",
        "clips.csv:5: videoid: found nothing",
        "clips.csv:5: clip_name: found nothing",
        "clips.csv:5: clip_idx: found '-1'",
        "clips.csv:6: videoid: found 'bbb', as on line 2, expected each videoid once",
        "clips.csv:7: clip_idx: found 2, as on line 2, expected a number of its own among the clips of tt002",
        "clips.csv:8: row: found 2 fields, expected 8, as in the first line",
        "9 problems",
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


def test_a_broken_clip_costs_its_own_movie(condensed: Condensed) -> None:
    source = condensed()
    (source / "videos" / "ccc.mp4").write_bytes(b"")
    read = movies_in(source)
    assert ids(read) == ["tt002"]
    assert read.broken[0][0] == "tt001"
    assert read.broken[0][1].startswith("videos/ccc.mp4: ")
