"""Where MuseBench's essays come from: folders, catalogues and searches, good and broken."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from servers import hosting

from reelbench.base.errors import ReelbenchError
from reelbench.data.benchmark import BenchmarkError
from reelbench.interop.musebench.taxonomy import CATEGORIES, category_named
from reelbench.make.candidates.catalogue import VideoCandidate, file_id
from reelbench.make.candidates.catalogue import read_catalogue as read_with_categories
from reelbench.make.candidates.search import LocalSearch
from reelbench.make.candidates.web import download_video, web_candidate
from reelbench.media.errors import MediaError
from reelbench.recipes.musebench.source import essay_source, plans_in

INFO = {
    "id": "dQ-x_1",
    "title": "Why the dolly zoom works",
    "channel": "Frames",
    "uploader": "somebody",
    "description": "An essay.",
    "view_count": 1200,
    "webpage_url": "https://example.org/watch?v=dQ-x_1",
    "categories": ["Film & Animation"],
    "formats": [{"url": "https://example.org/media"}],
}


def put(path: Path, content: Any = b"video") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
    return path


def read_catalogue(source: Path) -> Any:
    return read_with_categories(source, tuple(CATEGORIES), category_named)


class TestFolders:
    def test_have_metadata_as_yt_dlp_writes_them_or_of_our_own(self, tmp_path: Path) -> None:
        put(tmp_path / "a" / "Why.mp4")
        put(tmp_path / "a" / "Why.info.json", INFO)
        put(tmp_path / "b.webm")
        put(tmp_path / "b.json", {"title": "Vermeer's light", "category": "static visual"})
        assert read_catalogue(tmp_path).candidates == [
            VideoCandidate(
                video_id="dQ-x_1", title="Why the dolly zoom works", channel="Frames",
                description="An essay.", view_count=1200, file="a/Why.mp4",
                url="https://example.org/watch?v=dQ-x_1",
            ),
            VideoCandidate(
                video_id="b", title="Vermeer's light", file="b.webm", category="Static Visual Arts"
            ),
        ]  # fmt: skip

    def test_a_video_without_metadata_goes_by_its_name_and_is_warned_about(self, tmp_path) -> None:
        put(tmp_path / "On the Kuleshov effect.mp4")
        found = read_catalogue(tmp_path)
        assert [each.title for each in found.candidates] == ["On the Kuleshov effect"]
        assert "1 video has no metadata but" in found.warnings[0]

    def test_metadata_alone_are_of_a_video_to_be_downloaded(self, tmp_path: Path) -> None:
        put(tmp_path / "x.info.json", INFO)
        put(tmp_path / "list.info.json", {"_type": "playlist", "id": "p", "title": "all"})
        put(tmp_path / "settings.json", {"colour": "red"})
        (found,) = read_catalogue(tmp_path).candidates
        assert (found.video_id, found.file, found.url) == ("dQ-x_1", "", INFO["webpage_url"])

    def test_every_file_that_cannot_be_read_is_listed_with_its_line(self, tmp_path: Path) -> None:
        for name, content in [
            ("a", b'{"id": "a",\n "title": }'),
            ("b", b'{"id": "b",\n"title": "Caf\xe9"}'),
            ("c", {"title": 7, "category": "Culinary Arts"}),
            ("d", b"[1]"),
        ]:
            put(tmp_path / f"{name}.mp4")
            put(tmp_path / f"{name}.info.json", content)
        with pytest.raises(BenchmarkError) as caught:
            read_catalogue(tmp_path)
        text = str(caught.value)
        assert "a.info.json:2: file" in text
        assert "b.info.json:2: file: found byte 0xE9, expected UTF-8" in text
        assert "c.info.json: title: found 7, expected a text" in text
        assert "c.info.json: category: found 'Culinary Arts', expected one of Cinematic" in text
        assert "d.info.json: line: found a list" in text

    def test_a_link_out_of_the_folder_is_left_out(self, tmp_path: Path) -> None:
        secret = put(tmp_path / "secret.mp4")
        put(tmp_path / "in" / "a.mp4")
        os.symlink(secret, tmp_path / "in" / "b.mp4")
        found = read_catalogue(tmp_path / "in")
        assert [each.file for each in found.candidates] == ["a.mp4"]
        assert "outside of" in found.broken[0][1]


class TestCatalogues:
    def test_as_csv_and_as_json_lines_are_the_same(self, tmp_path: Path) -> None:
        put(tmp_path / "v.mp4")
        put(
            tmp_path / "catalogue.csv",
            "\ufeffvideo_id,title,channel,description,view_count,url,file,category,licence\r\n"
            '1,"Light, in Opera",,"Two\r\nlines",31.0,,v.mp4,SPA,CC\r\n'
            "2,Levels,Ludens,,,https://example.org/2,,,\r\n".encode(),
        )
        lines = [
            {"video_id": "1", "title": "Light, in Opera", "description": "Two\r\nlines",
             "view_count": 31, "file": "v.mp4", "category": "Stage Performing Arts"},
            {"id": "2", "title": "Levels", "uploader": "Ludens", "channel": None,
             "webpage_url": "https://example.org/2", "url": "https://example.org/raw"},
        ]  # fmt: skip
        text = "\n".join(map(json.dumps, lines)) + "\n\n"
        put(tmp_path / "more.jsonl", text.encode())
        found = read_catalogue(tmp_path).candidates
        assert found == read_catalogue(tmp_path / "more.jsonl").candidates
        assert [(each.view_count, each.file, each.category) for each in found] == [
            (31, "v.mp4", "Stage Performing Arts"),
            (None, "", ""),
        ]

    def test_bad_lines_are_all_listed_with_file_and_line(self, tmp_path: Path) -> None:
        path = put(
            tmp_path / "bad.csv",
            b"video_id,title,view_count,url,file\n"
            b",No id,1,https://example.org/1,\n"
            b"2,Views,many,https://example.org/2,\n"
            b"3,Nowhere,,,\n"
            b"4,Elsewhere,,ftp://example.org,../x.mp4\n",
        )
        with pytest.raises(BenchmarkError) as caught:
            read_catalogue(path)
        found = {(each.line, each.field) for each in caught.value.problems}
        expected = {(2, "video_id"), (3, "view_count"), (4, "url"), (5, "url"), (5, "file")}
        assert found == expected

    @pytest.mark.parametrize(
        ("name", "content", "expected"),
        [
            ("a.csv", "video_id,title,url\n1,Café,https://e.org\n".encode("latin-1"), "UTF-8"),
            ("a.csv", "video_id,title,url\n".encode("utf-16"), "iconv"),
            ("a.csv", b"video_id,titel,url\n1,x,https://e.org\n", "perhaps 'titel' is meant"),
            ("a.csv", b"video_id,title\n1,x\n", "one of these columns"),
            ("a.jsonl", b'{"video_id": "1"\n', "a.jsonl:1: line"),
            ("a.jsonl", b'{"id": "1", "title": "Caf\xe9", "url": "https://e.org"}', "UTF-8"),
            ("a.txt", b"x", "a folder, a catalogue"),
        ],
    )
    def test_what_cannot_be_read_is_a_sentence(self, name, content, expected, tmp_path) -> None:
        with pytest.raises(ReelbenchError, match=expected):
            read_catalogue(put(tmp_path / name, content))

    def test_a_dead_link_and_a_second_line_are_left_out_with_the_reason(self, tmp_path) -> None:
        put(tmp_path / "here.mp4")
        path = put(
            tmp_path / "c.csv",
            b"video_id,title,url,file\n"
            b"1,Here,,here.mp4\n"
            b"2,Gone,,gone.mp4\n"
            b"3,Gone too,https://example.org/3,gone.mp4\n"
            b"1,Again,,here.mp4\n",
        )
        found = plans_in(path)
        assert dict(found.broken) == {
            "2": "c.csv:3: gone.mp4 is not there, and no url is known",
            "1": "c.csv:5: the same video_id as c.csv:2",
        }
        assert found.rows[0].id == "Cinematic Arts"
        (other,) = [each for each in read_catalogue(path).candidates if each.video_id == "3"]
        assert (other.file, other.url) == ("", "https://example.org/3")

    def test_nothing_to_choose_from_is_a_sentence(self, tmp_path: Path) -> None:
        with pytest.raises(ReelbenchError, match="has no videos that could be chosen"):
            plans_in(tmp_path)

    def test_some_categories_can_be_named(self, tmp_path: Path) -> None:
        put(tmp_path / "a.mp4")
        assert [plan.id for plan in plans_in(tmp_path, ["game", "Cin"]).rows] == [
            "Game Arts",
            "Cinematic Arts",
        ]
        with pytest.raises(ReelbenchError, match="names Food: the categories are"):
            plans_in(tmp_path, ["Food"])


class TestSearch:
    VIDEOS = (
        VideoCandidate(video_id="zoom", title="The dolly zoom, explained", description="film"),
        VideoCandidate(video_id="colour", title="Colours of film", view_count=5),
        VideoCandidate(video_id="boheme", title="La Boheme", description="The zoom of a phone"),
        VideoCandidate(video_id="film", title="Colour in film", view_count=90),
        VideoCandidate(video_id="game", title="Zoom", category="Game Arts"),
    )

    def found(self, keyword: str, category: str = "Cinematic Arts", most: int = 9) -> list[str]:
        return [each.video_id for each in LocalSearch(self.VIDEOS).search(keyword, category, most)]

    def test_ranks_by_rare_words_and_by_where_they_stand(self) -> None:
        assert self.found("dolly zoom vertigo effect") == ["zoom", "boheme"]

    def test_takes_plurals_and_accents_for_the_same_and_views_for_equals(self) -> None:
        assert self.found("colour films") == ["film", "colour", "zoom"]
        assert self.found("Puccini La Bohème") == ["boheme"]

    def test_of_a_video_that_names_a_category_is_for_that_alone(self) -> None:
        assert self.found("zoom", "Game Arts") == ["game", "zoom", "boheme"]

    def test_returns_the_first_and_nothing_without_a_common_word(self) -> None:
        assert self.found("dolly zoom", most=1) == ["zoom"]
        assert self.found("the how and why of it") == []


class TestWeb:
    def test_what_yt_dlp_describes_is_a_candidate(self) -> None:
        assert web_candidate({**INFO, "view_count": None, "channel": None}) == VideoCandidate(
            video_id="dQ-x_1", title="Why the dolly zoom works", channel="somebody",
            description="An essay.", url="https://example.org/watch?v=dQ-x_1",
        )  # fmt: skip
        assert web_candidate({"id": "private", "title": None}) is None

    def test_without_yt_dlp_a_sentence_says_how_to_install_it(self, tmp_path: Path) -> None:
        path = put(tmp_path / "search.yaml", b"searches: [ytsearch]\n")
        with pytest.raises(ReelbenchError, match="pip install yt-dlp"):
            essay_source(path)

    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            (b"search: [ytsearch]\n", "perhaps 'searches' is meant"),
            (b"searches: [youtube.com]\n", "such as .ytsearch."),
            (b"- ytsearch\n", "write `searches"),
            (b"searches: [\n", "cannot be read"),
            (b"searches: [ytsearch]\noptions: {netrc_cmd: rm}\n", "some of cookiefile, "),
        ],
    )
    def test_settings_that_are_wrong_are_a_sentence(self, text, expected, tmp_path) -> None:
        with pytest.raises(ReelbenchError, match=expected):
            essay_source(put(tmp_path / "search.yaml", text))


class TestDownloads:
    def test_a_file_is_taken_as_it_is(self, tmp_path: Path) -> None:
        with hosting(lambda call: (200, {}, b"moving pictures")) as server:
            path = download_video(f"{server.url}/essays/One.MP4?x=1", tmp_path, "v1")
        assert path == tmp_path / "v1.mp4"
        assert path.read_bytes() == b"moving pictures"
        assert server.paths() == ["GET /essays/One.MP4?x=1"]

    def test_a_dead_link_is_told_with_the_reason(self, tmp_path: Path) -> None:
        with hosting(lambda call: (404, {}, b"")) as server:
            url = f"{server.url}/gone.mp4"
            with pytest.raises(MediaError, match="cannot be downloaded: 404"):
                download_video(url, tmp_path, "v1")
        with pytest.raises(MediaError, match=r"cannot be downloaded: .*refused"):
            download_video(url, tmp_path, "v1")  # nobody is there any more

    @pytest.mark.parametrize("at", ["/a b.mp4", "/cut.mp4"])
    def test_an_address_or_a_reply_that_is_no_http_is_told_like_a_dead_link(
        self, at: str, tmp_path: Path
    ) -> None:
        unended = {"Transfer-Encoding": "chunked"}
        with (
            hosting(lambda call: (200, unended, b"not a length\r\n")) as server,
            pytest.raises(MediaError, match="cannot be downloaded: "),
        ):
            download_video(f"{server.url}{at}", tmp_path, "v1")

    def test_a_page_needs_yt_dlp(self, tmp_path: Path) -> None:
        with pytest.raises(MediaError, match="yt-dlp is not installed: run `pip install yt-dlp`"):
            download_video("https://example.org/watch?v=1", tmp_path, "v1")


def test_files_are_named_after_an_id_without_signs_and_two_ids_never_share_a_name() -> None:
    assert file_id("dQ-x_1") == "dQ-x_1"
    odd = {file_id(each) for each in ("a/b", "a b", "a-b", "été", "x" * 99, "x" * 98)}
    assert len(odd) == 6
    assert all(each.replace("-", "").replace("_", "").isascii() for each in odd)
