"""Links are fetched whole, within limits and politely; what is no medium is not kept."""

import csv
import hashlib
import os
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
from servers import Call, Reply, Server, hosting

from reelbench.base.errors import ReelbenchError
from reelbench.cli import main
from reelbench.interop.imports import http_files
from reelbench.interop.imports.downloads import Downloads, download_media
from reelbench.interop.imports.http_files import FetchRules

VIDEO = b"\0\0\0\x20ftypisom" + os.urandom(300_000)
TAG = {"ETag": '"v1"', "Content-Type": "video/mp4"}


# Called as yt-dlp is, which tests cannot have: it writes a video and subtitles where it is told to.
YT_DLP = """
from pathlib import Path
class utils:
    class YoutubeDLError(Exception): pass
class YoutubeDL:
    def __init__(self, options): self.options = options
    def __enter__(self): return self
    def __exit__(self, *_): pass
    def extract_info(self, url, download):
        for ending in ("webm", "en.vtt"):
            Path(self.options["outtmpl"] % {"ext": ending}).write_text(url)
"""
BROKEN: dict[str, Reply] = {
    "/down": (500, {}, b""),
    "/gone": (404, {}, b"no"),
    "/page": (200, {"Content-Type": "text/html; charset=utf-8"}, b"<html>"),
    "/sly": (200, {"Content-Type": "video/mp4"}, b"<!DOCTYPE html><html>" + b" " * 5000),
    "/noise": (200, {}, b"moving pictures"),
    "/empty": (200, {}, b""),
}


class Host:
    """Serves one video as real hosts do, and fails in the ways that its paths name."""

    def __init__(self) -> None:
        self.pauses: list[float] = []
        self.tag = '"v1"'
        self.server: Server

    def answer(self, call: Call) -> Reply | None:
        path = call.path.split("?")[0].removesuffix(".mp4")
        first = sum(each.path == call.path for each in self.server.calls) == 1
        if path == "/hangs" and first:
            return None
        if path == "/busy" and first:
            return 503, {"Retry-After": "7"}, b""
        if path.startswith("/to"):
            return 302, {"Location": call.path.partition("?")[2]}, b""
        return BROKEN.get(path) or self.ranged(call)

    def ranged(self, call: Call) -> Reply:
        start = int(call.headers.get("range", "bytes=0-")[6:-1])
        headers = {**TAG, "ETag": self.tag}
        same = call.headers.get("if-range") == self.tag or "stubborn" in call.path
        if not start or not same:
            return 200, headers, VIDEO
        if start >= len(VIDEO):
            return 416, headers, b""
        headers["Content-Range"] = f"bytes {start}-{len(VIDEO) - 1}/{len(VIDEO)}"
        return 206, headers, VIDEO[start:]

    def fetch(self, out: Path, *paths: str, **rules: object) -> Downloads:
        links = {f"media/{path.strip('/').split('?')[0]}": self.server.url + path for path in paths}
        return download_media(links, out, FetchRules(pause=self.pauses.append, **rules))  # type: ignore[arg-type]

    def ranges(self) -> list[str]:
        return [call.headers.get("range", "") for call in self.server.calls]


@pytest.fixture
def host() -> Iterator[Host]:
    made = Host()
    with hosting(made.answer) as server:
        made.server = server
        yield made


def test_a_file_is_fetched_once_and_recorded_with_its_checksum(host: Host, tmp_path: Path) -> None:
    for _ in range(2):
        made = host.fetch(tmp_path, "/a/x.mp4?token=1", "/y.mp4")
        assert made == Downloads({"media/a/x.mp4": "media/a/x.mp4", "media/y.mp4": "media/y.mp4"})
    assert (tmp_path / "media/a/x.mp4").read_bytes() == VIDEO
    assert len(host.server.calls) == 2
    with (tmp_path / "import/downloads.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert rows[0] == {
        "link": f"{host.server.url}/a/x.mp4?token=1",
        "path": "media/a/x.mp4",
        "bytes": str(len(VIDEO)),
        "sha256": hashlib.sha256(VIDEO).hexdigest(),
    }
    assert os.listdir(tmp_path / "import") == ["downloads.csv"]


def test_one_link_under_two_names_is_fetched_once(host: Host, tmp_path: Path) -> None:
    link = f"{host.server.url}/x.mp4"
    wanted = {"media/a.mp4": link, "media/b.mp4": f'"{link}"'}
    for _ in range(2):
        assert download_media(wanted, tmp_path).paths == {name: name for name in wanted}
    assert len(host.server.calls) == 1
    assert sorted(os.listdir(tmp_path / "media")) == ["a.mp4", "b.mp4"]


def test_what_comes_of_a_link_is_not_confused_with_another_medium(
    host: Host, tmp_path: Path
) -> None:
    (tmp_path / "media").mkdir()
    (tmp_path / "media/x.wav").write_bytes(b"RIFF....WAVE")
    assert host.fetch(tmp_path, "/x.mp4").paths == {"media/x.mp4": "media/x.mp4"}


def half(host: Host, out: Path, path: str = "/x.mp4", tag: str = '"v1"') -> None:
    """Leave what a killed download leaves."""
    partial = out / "import/downloads" / http_files.partial_name(host.server.url + path)
    partial.parent.mkdir(parents=True)
    partial.write_bytes(VIDEO[:1000])
    if tag:
        partial.with_name(f"{partial.name}.tag").write_text(tag)


def test_a_download_that_broke_off_goes_on_from_there(host: Host, tmp_path: Path) -> None:
    half(host, tmp_path)
    assert host.fetch(tmp_path, "/x.mp4").faults == {}
    assert host.ranges() == ["bytes=1000-"]
    assert (tmp_path / "media/x.mp4").read_bytes() == VIDEO


@pytest.mark.parametrize(("tag", "asked"), [('"v0"', "bytes=1000-"), ("", "")])
def test_a_file_that_may_have_changed_is_fetched_anew(
    tag: str, asked: str, host: Host, tmp_path: Path
) -> None:
    half(host, tmp_path, tag=tag)
    assert host.fetch(tmp_path, "/x.mp4").faults == {}
    assert host.ranges() == [asked]
    assert (tmp_path / "media/x.mp4").read_bytes() == VIDEO


def test_parts_of_two_versions_are_never_joined(host: Host, tmp_path: Path) -> None:
    half(host, tmp_path, path="/stubborn.mp4", tag='"v0"')  # it goes on whatever one has
    assert host.fetch(tmp_path, "/stubborn.mp4").faults == {}
    assert host.ranges() == ["bytes=1000-", ""]
    assert (tmp_path / "media/stubborn.mp4").read_bytes() == VIDEO


def test_a_host_that_is_down_is_not_asked_for_everything(host: Host, tmp_path: Path) -> None:
    links = {f"media/{number}.mp4": f"{host.server.url}/down.mp4?{number}" for number in range(9)}
    made = download_media(links, tmp_path, FetchRules(tries=1))
    assert len(made.faults) == 9
    assert len(host.server.calls) < 9
    assert "others of its host failed" in made.faults["media/8.mp4"]


def test_a_busy_host_is_asked_again_when_it_wants_to_be(host: Host, tmp_path: Path) -> None:
    made = host.fetch(tmp_path, "/busy.mp4", "/hangs.mp4")
    assert made.faults == {}
    assert sorted(host.pauses) == [1.0, 7.0]


@pytest.mark.parametrize(
    ("path", "why", "tries"),
    [
        ("/gone.mp4", "404 Not Found", 1),
        ("/down.mp4", "500 Internal Server Error", 4),
        ("/page", "is a web page: for its video, run `pip install yt-dlp`", 1),
        ("/sly.mp4", "is a web page", 1),
        ("/noise.mp4", "is no medium that is known", 1),
        ("/empty.mp4", "is empty", 1),
        ("/a b.mp4", "cannot be downloaded: ", 0),
        ("/to.mp4?file:///etc/passwd", "Redirection", 1),
        ("/to.mp4?ftp://127.0.0.1/x", "it redirects to ftp:", 1),
    ],
)
def test_what_cannot_be_fetched_is_named_and_leaves_nothing(
    path: str, why: str, tries: int, host: Host, tmp_path: Path
) -> None:
    made = host.fetch(tmp_path, path, "/x.mp4")
    (fault,) = made.faults.values()
    assert why in fault
    assert sum(call.path == path for call in host.server.calls) == tries
    assert os.listdir(tmp_path / "media") == ["x.mp4"]
    assert os.listdir(tmp_path / "import/downloads") == []


@pytest.mark.parametrize("link", ["http://[bad/x.mp4", "http://user:word@/x.mp4", "https://x:y/z"])
def test_an_address_that_is_none_is_a_fault_of_its_own(link: str, tmp_path: Path) -> None:
    made = download_media({"media/x.mp4": link}, tmp_path, FetchRules(tries=1))
    assert "cannot be downloaded: " in made.faults["media/x.mp4"]


def test_what_is_too_large_is_not_fetched(host: Host, tmp_path: Path) -> None:
    made = host.fetch(tmp_path, "/x.mp4", most_bytes=1000)
    assert "allow more with --download-limit" in made.faults["media/x.mp4"]
    assert os.listdir(tmp_path / "import/downloads") == []


def test_a_redirect_is_followed_but_not_into_a_private_network(
    host: Host, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert host.fetch(tmp_path, f"/to.mp4?{host.server.url}/x.mp4").faults == {}
    assert http_files.is_private("127.0.0.1")
    assert http_files.is_private("169.254.169.254")
    assert not http_files.is_private("8.8.8.8")
    monkeypatch.setattr(http_files, "is_private", lambda name: name == "localhost")
    elsewhere = host.server.url.replace("127.0.0.1", "localhost")
    made = host.fetch(tmp_path, f"/to2.mp4?{elsewhere}/x.mp4")
    assert "localhost, which is in a private network" in made.faults["media/to2.mp4"]


def test_a_full_disk_stops_all_in_a_sentence(
    host: Host, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http_files.shutil, "disk_usage", lambda _: SimpleNamespace(free=10))
    with pytest.raises(ReelbenchError, match=r"make room, or name a folder on another disk"):
        host.fetch(tmp_path, "/x.mp4")


def test_once_stopped_nothing_goes_on(host: Host, tmp_path: Path) -> None:
    stopped = threading.Event()
    stopped.set()
    made = host.fetch(tmp_path, "/x.mp4", stopped=stopped)
    assert "it was stopped" in made.faults["media/x.mp4"]


def test_a_web_page_is_left_to_yt_dlp_where_it_is_installed(
    host: Host, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib/yt_dlp.py").write_text(YT_DLP)
    monkeypatch.syspath_prepend(tmp_path / "lib")
    out = tmp_path / "100%"
    try:
        for _ in range(2):
            made = host.fetch(out, "/page.mp4")
            assert made == Downloads({"media/page.mp4": "media/page.webm"})
    finally:
        sys.modules.pop("yt_dlp", None)
    assert sorted(os.listdir(out / "media")) == ["page.vtt", "page.webm"]
    assert len(host.server.calls) == 1


@pytest.mark.parametrize("limit", ["0", "-1", "nan", "inf", "ten"])
def test_a_limit_that_is_none_is_wrong_use(
    limit: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["import", str(tmp_path), "--download", "--download-limit", limit])
    assert "is not a number of gigabytes above 0" in capsys.readouterr().err
