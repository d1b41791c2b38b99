"""A media file shows what is in it: none can make FFmpeg open another, inside the folder or out."""

from collections.abc import Callable
from pathlib import Path

import av
import numpy as np
import pytest
from PIL import Image
from videos import make_video

from reelbench.media.decode.frames import FrameSpec, decoded_frames, frames_of
from reelbench.media.decode.probe import probe
from reelbench.media.decode.stream import scan_frames
from reelbench.media.decode.timeline import frame_times
from reelbench.media.edit.audio import read_audio
from reelbench.media.errors import MediaError

SECRET = (200, 30, 30)  # a colour that nothing else here has


@pytest.fixture(scope="module")
def secret(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a video, a transport stream and pictures that nobody outside may see."""
    folder = tmp_path_factory.mktemp("secret")
    make_video(folder / "s.mp4", seconds=1, sound=1)
    make_video(folder / "s.ts", seconds=1, sound=1)
    for number in range(3):
        Image.new("RGB", (64, 64), SECRET).save(folder / f"s{number}.png")
    return folder


def hls(secret: Path) -> str:
    return f"#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\nfile://{secret}/s.ts\n#EXT-X-ENDLIST\n"


def master(secret: Path) -> str:
    return f"#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=9\n{secret}/list.m3u8\n"


def concat(secret: Path) -> str:
    return f"ffconcat version 1.0\nfile '{secret}/s.mp4'\n"


def dash(secret: Path) -> str:
    return (
        '<?xml version="1.0"?><MPD xmlns="urn:mpeg:dash:schema:mpd:2011" type="static" '
        'mediaPresentationDuration="PT1S"><Period><AdaptationSet mimeType="video/mp4">'
        f'<Representation id="0" bandwidth="9"><BaseURL>{secret}/s.mp4</BaseURL></Representation>'
        "</AdaptationSet></Period></MPD>"
    )


def sdp(_: Path) -> str:
    return "v=0\no=- 0 0 IN IP4 127.0.0.1\ns=x\nc=IN IP4 127.0.0.1\nt=0 0\nm=video 9 RTP/AVP 96\n"


def blank_before(secret: Path) -> str:
    return "\ufeff\n \n" + hls(secret)


LISTS = [hls, master, concat, dash, sdp, blank_before]
NAMES = ["a.m3u8", "a.mp4", "a.txt", "a.ffconcat", "a.mpd", "a.sdp", "a.srt"]
READERS: list[Callable[[Path], object]] = [
    probe,
    frame_times,
    read_audio,
    lambda path: list(scan_frames(path)),
    lambda path: decoded_frames(path, FrameSpec("uniform:2")),
]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("kind", LISTS)
def test_lists_of_other_files_are_refused_under_any_name(
    kind: Callable[[Path], str], name: str, secret: Path, tmp_path: Path
) -> None:
    (tmp_path / name).write_text(kind(secret))
    for read in READERS:
        with pytest.raises(MediaError):
            read(tmp_path / name)


def test_the_refusal_says_what_to_do(secret: Path, tmp_path: Path) -> None:
    (tmp_path / "a.mp4").write_text(hls(secret))
    with pytest.raises(MediaError, match=r"an HLS playlist.*put the video itself"):
        frames_of(tmp_path / "a.mp4", FrameSpec("uniform:2"))


def test_a_picture_whose_name_is_a_pattern_is_that_picture(secret: Path, tmp_path: Path) -> None:
    for number in range(3):
        (tmp_path / f"p{number}.png").symlink_to(secret / f"s{number}.png")
    Image.new("RGB", (32, 32), (0, 0, 255)).save(tmp_path / "p%d.png")
    Image.new("RGB", (32, 32), (0, 0, 255)).save(tmp_path / "p[0-9].png")
    for name in ("p%d.png", "p[0-9].png"):
        info = probe(tmp_path / name)
        assert (info.width, info.frame_count) == (32, 1)
        (frame,) = decoded_frames(tmp_path / name, FrameSpec("uniform:2"))
        assert np.abs(frame.image.astype(int) - (0, 0, 255)).max() < 4


def test_planes_in_files_of_their_own_are_refused(tmp_path: Path) -> None:
    for plane in "YUV":
        (tmp_path / f"a.{plane}").write_bytes(bytes(64 * 64))
    with pytest.raises(MediaError, match="refers to other files"):
        probe(tmp_path / "a.Y")


def boxed(kind: bytes, content: bytes) -> bytes:
    return (8 + len(content)).to_bytes(4, "big") + kind + content


def alias(name: str) -> bytes:
    """A Macintosh alias to a file in the same folder, as an old QuickTime movie has them."""
    path = name.encode()
    head = bytes(10) + bytes(1) + bytes(27) + bytes(12) + bytes([len(path)]) + path.ljust(63, b"\0")
    levels = bytes(16) + (1).to_bytes(2, "big") * 2 + bytes(16)
    absolute = (2).to_bytes(2, "big") + len(path).to_bytes(2, "big") + path + bytes(len(path) % 2)
    return bytes(4) + head + levels + absolute + b"\xff\xff\0\0"


def grown(data: bytes, path: list[bytes], replace: Callable[[bytes], bytes]) -> bytes:
    """Change the content of a box within boxes, and their sizes with it."""
    done, place = b"", 0
    while place < len(data):
        length = int.from_bytes(data[place : place + 4], "big")
        kind, content = data[place + 4 : place + 8], data[place + 8 : place + length]
        if kind == path[0]:
            content = replace(content) if len(path) == 1 else grown(content, path[1:], replace)
        done += boxed(kind, content)
        place += length
    return done


def test_a_movie_that_refers_to_another_shows_nothing_of_it(tmp_path: Path) -> None:
    make_video(tmp_path / "secret.mov", seconds=1)
    data = (tmp_path / "secret.mov").read_bytes()
    way = [b"moov", b"trak", b"mdia", b"minf", b"dinf", b"dref"]
    movie = grown(data, way, lambda _: bytes(7) + b"\1" + boxed(b"alis", alias("secret.mov")))
    emptied = movie.index(b"mdat") + 4
    size = int.from_bytes(movie[emptied - 8 : emptied - 4], "big")
    movie = movie[:emptied] + bytes(size - 8) + movie[emptied + size - 8 :]
    (tmp_path / "a.mov").write_bytes(movie)
    with av.open(str(tmp_path / "a.mov"), options={"enable_drefs": "1"}) as container:
        assert next(container.decode(video=0))  # so it is a reference that works
    with pytest.raises(MediaError):
        decoded_frames(tmp_path / "a.mov", FrameSpec("uniform:2"))
