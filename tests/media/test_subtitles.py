"""Subtitles are read as they come: two formats, many habits; what is none is named."""

from pathlib import Path

import pytest

from reelbench.media.errors import MediaError
from reelbench.media.subtitles import Cue, read_subtitles, within

SRT = """1
00:00:01,000 --> 00:00:02,500
The door
opens.

2
01:00:03,250 --> 01:00:04,000
It snows.
"""
VTT = """WEBVTT

NOTE nobody reads this

intro
00:01.000 --> 00:02.500 position:10% align:start
<v Ada>The <b>door</b>
opens.

01:00:03.250 --> 01:00:04.000
It <00:00:03.500><c.loud>snows</c>.
"""
CUES = [Cue(1.0, 2.5, "The door opens."), Cue(3603.25, 3604.0, "It snows.")]


def read(path: Path, content: str | bytes, name: str = "a.srt") -> list[Cue]:
    (path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    return read_subtitles(path / name)


@pytest.mark.parametrize("content", [
    SRT,
    VTT,
    SRT.replace("\n", "\r\n"),
    VTT.replace("\n", "\r\n"),
    SRT.replace("\n", "\r"),
    "\ufeff" + SRT,
    "\ufeff" + VTT,
    SRT.replace(",", "."),
    SRT.replace("-->", "  -->\t"),
    SRT.rstrip("\n"),
    "\n\n" + SRT,
    SRT.replace("The door", "<i>The</i> {\\an8}<font color='red'>door</font>"),
    SRT.replace("00:00:02,500", "00:00:02,500  X1:40 X2:600 Y1:20 Y2:50"),
    SRT.replace("1\n00", "00").replace("2\n01", "01"),
    "".join(f"{part}\n\n" for part in reversed(SRT.split("\n\n"))),
], ids=range(15))  # fmt: skip
def test_the_same_words_in_many_dresses(content: str, tmp_path: Path) -> None:
    assert read(tmp_path, content) == CUES


@pytest.mark.parametrize(("line", "start", "end"), [
    ("00:01.000 --> 00:02.000", 1.0, 2.0),
    ("00:01,5 --> 00:02,25", 1.5, 2.25),
    ("1:00:00.000 --> 1:00:01.000", 3600.0, 3601.0),
    ("100:00:00.000 --> 100:00:01.000", 360000.0, 360001.0),
    ("  00:59:59.999 --> 01:00:00.001", 3599.999, 3600.001),
    ("00:00:01,000-->00:00:02,000", 1.0, 2.0),
])  # fmt: skip
def test_clocks(line: str, start: float, end: float, tmp_path: Path) -> None:
    assert read(tmp_path, f"{line}\nwords\n") == [Cue(start, end, "words")]


@pytest.mark.parametrize(("said", "text"), [
    ("Tom &amp; Jerry &lt;3", "Tom & Jerry <3"),
    ("&lt;i&gt; is a tag", "<i> is a tag"),
    ("  wide   words  ", "wide words"),
    ("雪が降る。", "雪が降る。"),
    ("5 --> 6", "5 --> 6"),
    ("{braces} stay", "{braces} stay"),
])  # fmt: skip
def test_words(said: str, text: str, tmp_path: Path) -> None:
    assert read(tmp_path, f"00:01.000 --> 00:02.000\n{said}\n") == [Cue(1.0, 2.0, text)]


def test_cues_may_overlap_and_are_in_order(tmp_path: Path) -> None:
    content = (
        "00:02.000 --> 00:09.000\nlong\n\n00:03.000 --> 00:04.000\ninside\n\n"
        "00:01.000 --> 00:05.000\nfirst\n\n00:02.000 --> 00:03.000\nshort\n"
    )
    assert [cue.text for cue in read(tmp_path, content)] == ["first", "short", "long", "inside"]


def test_cues_without_words_or_with_a_clock_that_runs_back_say_nothing(tmp_path: Path) -> None:
    content = (
        "00:01.000 --> 00:02.000\n<i></i>\n\n00:05.000 --> 00:04.000\nback\n\n"
        "00:06.000 --> 00:07.000\nreal\n"
    )
    assert [cue.text for cue in read(tmp_path, content)] == ["real"]


@pytest.mark.parametrize("content", ["", "\n", "WEBVTT", "WEBVTT\n\n", "\ufeffWEBVTT\n"])
def test_nothing_is_said(content: str, tmp_path: Path) -> None:
    assert read(tmp_path, content, "a.vtt") == []


@pytest.mark.parametrize(
    "header",
    [
        "WEBVTT - The silent one",
        "WEBVTT\nKind: captions\nLanguage: en",
        "WEBVTT\n\nNOTE no words",
    ],
)
def test_nothing_is_said_below_a_longer_header(header: str, tmp_path: Path) -> None:
    assert read(tmp_path, f"{header}\n", "a.vtt") == []


@pytest.mark.parametrize(("content", "said"), [
    ("Dear diary, today it snowed.", "has no line of the form"),
    ("00:00:01 --> soon\nwords", "has no line of the form"),
    ("Größe".encode("latin-1"), "is not UTF-8"),
    (SRT.encode("utf-16"), "is not UTF-8"),
    (b"\x00\x00\x00\x18ftypmp42\xff\xfe", "is not UTF-8"),
    (b"\x00\x00", "has no line of the form"),
])  # fmt: skip
def test_no_subtitles(content: str | bytes, said: str, tmp_path: Path) -> None:
    with pytest.raises(MediaError, match=said) as caught:
        read(tmp_path, content)
    assert str(tmp_path / "a.srt") in str(caught.value)


def test_no_file(tmp_path: Path) -> None:
    with pytest.raises(MediaError, match="no such file"):
        read_subtitles(tmp_path / "absent.srt")
    with pytest.raises(MediaError, match="not a file"):
        read_subtitles(tmp_path)


@pytest.mark.parametrize(("spans", "texts"), [
    ([(0.0, 10.0)], ["a", "b", "c"]),
    ([(1.0, 2.0)], ["a"]),  # b begins when it ends
    ([(1.9, 2.1)], ["a", "b"]),
    ([(0.0, 1.0)], []),
    ([(0.0, 1.5), (5.5, 9.0)], ["a", "c"]),
    ([], []),
])  # fmt: skip
def test_within(spans: list[tuple[float, float]], texts: list[str]) -> None:
    cues = [Cue(1.0, 2.0, "a"), Cue(2.0, 3.0, "b"), Cue(5.0, 6.0, "c")]
    assert [cue.text for cue in within(cues, spans)] == texts
