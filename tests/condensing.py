"""Metadata of the shape that CondensedMovies' repository has: its columns, its gaps, its oddities.

All words are made up. The dataset has 3,605 films and 33,976 clips; tests take fewer.
"""

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from reelbench.base.seeds import rng_for

CLIP_COLUMNS = ("videoid", "year", "clip_idx", "clip_tot", "upload_year", "title", "clip_name",
                "imdbid")  # fmt: skip
_SIGNS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
_WORDS = ("The", "Last", "Meet", "Café", "Chase", "Don't", "Go", "Home,", '"Mother"', "Scene")
SPLITS = ("train", "val", "test")


def film_id(number: int) -> str:
    return f"tt{20_000 + number:07d}"


def write_metadata(folder: Path, films: int, *, seed: int = 0) -> list[dict[str, str]]:
    """Write the CSV files of so many films, without summaries; return the rows of clips.csv.

    Of a hundred films about eight were uploaded twice in part, one has a clip without a name, five
    are of the years in which the channel told no totals, and each third has no year of its own.
    """
    draw = rng_for(seed, "metadata")
    rows: list[dict[str, Any]] = []
    for number in range(films):
        title = f"{_words(draw)} {number}"
        total = draw.choice((8, 9, 10, 10, 10, 10, 11, 12))
        year, uploaded = draw.randint(1931, 2019), draw.randint(2011, 2020)
        known = draw.random() > 0.05
        clips = list(range(1, total + 1))
        if draw.random() < 0.2:  # some of the numbers are not there
            clips = [index for index in clips if draw.random() > 0.3] or [1]
        series = [(index, total if known else -1, uploaded) for index in clips]
        if draw.random() < 0.08:
            series += [(index, total - 2, 2011) for index in draw.sample(range(1, total - 1), 2)]
        nameless = draw.random() < 0.012
        for place, (index, of, upload_year) in enumerate(series):
            rows.append({
                "videoid": "".join(draw.choice(_SIGNS) for _ in range(11)),
                "year": "" if number % 3 == 2 else f"{year}.0", "clip_idx": index, "clip_tot": of,
                "upload_year": upload_year, "title": title,
                "clip_name": "" if nameless and place == 1 else f"{_words(draw)} Scene",
                "imdbid": film_id(number),
            })  # fmt: skip
    draw.shuffle(rows)
    texts = [{name: str(value) for name, value in row.items()} for row in rows]
    ids = [film_id(number) for number in range(films)]
    _table(folder / "clips.csv", CLIP_COLUMNS, [[*row.values()] for row in texts])
    _table(folder / "movies.csv", ("imdbid", "title", "year"),
           [[each, f"Film {each}", "1999.0" if place % 2 else ""] for place, each in enumerate(ids)])  # fmt: skip
    _table(folder / "movie_info.csv", ("imdbid", "genre", "country"),
           [[each, "['Drama', 'War']", "['USA']"] for each in ids])  # fmt: skip
    _table(folder / "descriptions.csv", ("videoid", "description"),
           [[row["videoid"], f"{_words(draw)} {_words(draw)},\nas they {_words(draw)}."] for row in texts])  # fmt: skip
    _table(folder / "durations.csv", ("videoid", "duration"),
           [[row["videoid"], str(draw.randint(40, 240))] for row in texts])  # fmt: skip
    _table(folder / "split.csv", ("imdbid", "split"),
           [[each, SPLITS[place % 3]] for place, each in enumerate(ids)])  # fmt: skip
    _table(folder / "casts.csv", ("imdbid", "cast"),
           [[each, "{'A. Nobody': 'Ann', 'B. Noone': 'Bo'}"] for each in ids])  # fmt: skip
    return texts


def write_summaries(folder: Path, films: Sequence[str]) -> None:
    lines = [[film, f"What happens in {film}, from beginning to end."] for film in films]
    _table(folder / "summaries.csv", ("imdbid", "summary"), lines)


def _words(draw: Any) -> str:
    return " ".join(draw.choice(_WORDS) for _ in range(draw.randint(2, 6)))


def _table(path: Path, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows([columns, *rows])
