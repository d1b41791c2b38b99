"""Make small videos of every kind for tests, and decode them the plain way for reference."""

import hashlib
import os
import shutil
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path

import av
import numpy as np

X264 = {"preset": "fast", "threads": "1"}
X265 = "keyint=25:bframes=4:log-level=none:pools=1:frame-threads=1"
# name of the file -> codec, options, times of the frames in milliseconds (None: an even pace)
KINDS: dict[str, tuple[str, dict[str, str], Callable[[int], int] | None]] = {
    "plain.mp4": ("libx264", {**X264, "g": "30", "bf": "0"}, None),
    "b-frames.mp4": ("libx264", {**X264, "g": "40", "bf": "3"}, None),
    "b-frames.mkv": ("libx264", {**X264, "g": "40", "bf": "3"}, None),
    "b-frames.mov": ("libx264", {**X264, "g": "40", "bf": "3"}, None),
    "open-gop.mp4": ("libx264", {**X264, "x264-params": "open-gop=1:bframes=4:b-pyramid=normal:keyint=25:scenecut=0"}, None),
    "one-key-frame.mp4": ("libx264", {**X264, "g": "999", "keyint_min": "999", "sc_threshold": "0"}, None),
    "hevc-open.mp4": ("libx265", {"preset": "ultrafast", "x265-params": f"{X265}:open-gop=1"}, None),
    "hevc-closed.mkv": ("libx265", {"preset": "ultrafast", "x265-params": f"{X265}:open-gop=0"}, None),
    "vp9.webm": ("libvpx-vp9", {"g": "30", "cpu-used": "8", "deadline": "realtime", "lag-in-frames": "16"}, None),
    "av1.mp4": ("libsvtav1", {"g": "32", "preset": "12", "svtav1-params": "lp=1"}, None),
    "mpeg4.mp4": ("mpeg4", {"g": "24", "bf": "2"}, None),
    "mpeg4.avi": ("mpeg4", {"g": "24", "bf": "2"}, None),
    "uneven.mp4": ("libx264", {**X264, "g": "30", "bf": "3"}, lambda i: i * 40 + i % 7 * 3 + 3000 * (i > 70)),
    "uneven.mkv": ("libx264", {**X264, "g": "30", "bf": "3"}, lambda i: i * 40 + i % 5 * 5 + 2000 * (i > 50)),
    "stream.ts": ("libx264", {**X264, "g": "40", "bf": "3"}, None),
    "picture.gif": ("gif", {}, None),
    "late-start.mp4": ("libx264", {**X264, "g": "40", "bf": "3"}, None),
    "late-sound.mkv": ("libx264", {**X264, "g": "40", "bf": "3"}, None),
    "cut-h264.mp4": ("libx264", {**X264, "g": "50", "bf": "3"}, None),
    "cut-hevc.mp4": ("libx265", {"preset": "ultrafast", "x265-params": f"{X265}:open-gop=0"}, None),
    "cut-mpeg4.mp4": ("mpeg4", {"g": "50", "bf": "2"}, None),
    "h264.avi": ("libx264", {**X264, "g": "40", "bf": "3"}, None),
    "intra-refresh.mp4": ("libx264", {**X264, "x264-params": "intra-refresh=1:keyint=30"}, None),
}  # fmt: skip


def pictures(count: int, width: int = 320, height: int = 180, seed: int = 1) -> list[np.ndarray]:
    """A texture that moves, and a patch that tells the number of the frame."""
    generator = np.random.default_rng(seed)
    tiles = (generator.random((height // 4 + 1, width // 4 + 300, 3)) * 255).astype(np.uint8)
    ground = tiles.repeat(4, 0).repeat(4, 1)[:height]
    made = []
    for number in range(count):
        shift = number * 5 % 1000
        picture = ground[:, shift : shift + width].copy()
        if number % 40 > 20:
            picture = picture[::-1].copy()
        picture[20:60, 20:60] = (number * 7 % 256, number * 13 % 256, number * 29 % 256)
        made.append(picture)
    return made


def make_video(
    path: Path,
    codec: str = "libx264",
    options: dict[str, str] | None = None,
    times: Callable[[int], int] | None = None,
    seconds: float = 4.0,
    sound: float = 0.0,
    rotation: int = 0,
    rate: int = 25,
    container: dict[str, str] | None = None,
    seed: int = 1,
) -> Path:
    """Write a test video, with so many seconds of sound; copy it if this test run has made it."""
    gif = codec == "gif"
    rate = 10 if gif else rate
    moments = times and [times(number) for number in range(int(seconds * rate))]
    facts = (codec, options, moments, seconds, sound, rotation, rate, container, seed)
    store = os.environ.get("REELBENCH_TEST_VIDEOS")
    if store is None:
        _encode(path, *facts)
        return path
    kept = Path(store, f"{hashlib.sha256(repr(facts).encode()).hexdigest()}{path.suffix}")
    if not kept.exists():
        part = kept.with_name(f"{os.getpid()}-{kept.name}")
        _encode(part, *facts)
        part.rename(kept)
    shutil.copyfile(kept, path)
    return path


def _encode(
    path: Path,
    codec: str,
    options: dict[str, str] | None,
    moments: list[int] | None,
    seconds: float,
    sound: float,
    rotation: int,
    rate: int,
    container: dict[str, str] | None,
    seed: int,
) -> None:
    gif = codec == "gif"
    with av.open(str(path), "w", options=container or {}) as target:
        stream = target.add_stream(codec, rate=rate)
        stream.width, stream.height = (160, 90) if gif else (320, 180)
        stream.pix_fmt = "rgb8" if gif else "yuv420p"
        stream.options = options or {**X264, "g": "30"}
        if rotation:
            stream.set_display_rotation(rotation)
        if moments:
            stream.codec_context.time_base = Fraction(1, 1000)
        voice = target.add_stream("aac", rate=16000, layout="mono") if sound else None
        for number, picture in enumerate(
            pictures(int(seconds * rate), stream.width, stream.height, seed)
        ):
            frame = av.VideoFrame.from_ndarray(picture, "rgb24")
            if moments:
                frame.pts, frame.time_base = moments[number], Fraction(1, 1000)
            target.mux(stream.encode(frame))
        target.mux(stream.encode(None))
        if voice:
            for frame in tone(sound):
                target.mux(voice.encode(frame))
            target.mux(voice.encode(None))


def tone(seconds: float) -> Iterator[av.AudioFrame]:
    """A sine of 440 Hz."""
    time = np.arange(int(seconds * 16000)) / 16000
    samples = (np.sin(time * 2 * np.pi * 440) / 4).astype(np.float32)
    for begin in range(0, len(samples), 1024):
        frame = av.AudioFrame.from_ndarray(samples[None, begin : begin + 1024], "fltp", "mono")
        frame.sample_rate, frame.pts = 16000, begin
        yield frame


def copy_from(source: Path, out: Path, start: float) -> Path:
    """Copy packets from the key frame before a moment, with that moment as 0: an edit list."""
    with av.open(str(source)) as container, av.open(str(out), "w") as target:
        stream = container.streams.video[0]
        copy = target.add_stream_from_template(stream)
        shift = round(start / stream.time_base)
        container.seek(shift, stream=stream)
        for packet in container.demux(stream):
            if packet.size:
                packet.pts, packet.dts = packet.pts - shift, packet.dts - shift
                packet.stream = copy
                target.mux(packet)
    return out


def make_kind(folder: Path, name: str) -> Path:
    """Write one of the kinds above."""
    codec, options, times = KINDS[name]
    if name.startswith("cut-"):
        whole = make_video(folder / f"whole-{name}", codec, options, seconds=5.3)
        return copy_from(whole, folder / name, 1.3)
    late = name.startswith("late-")
    return make_video(
        folder / name,
        codec,
        options,
        times,
        seconds=2.0 if codec == "gif" else 4.0,
        sound=5.0 if late else 0.0,
        rate=30 if late else 25,
        container={"use_editlist": "0"} if name == "late-start.mp4" else None,
    )


def fingerprint(image: np.ndarray) -> str:
    return hashlib.sha256(np.ascontiguousarray(image)).hexdigest()


def decode_plainly(path: Path) -> list[tuple[float, str]]:
    """Decode a whole file in order: the time and the fingerprint of every frame."""
    with av.open(str(path)) as container:
        stream = container.streams.video[0]
        begin = Fraction(container.start_time or 0, av.time_base)
        own = (stream.start_time or 0) * stream.time_base
        begin = own if abs(own - begin) < 2e-6 else begin
        rate = stream.average_rate
        untimed = path.suffix == ".avi"  # frames out of order have made-up times there
        return [
            (
                float(number / rate if untimed else frame.pts * stream.time_base - begin),
                fingerprint(frame.to_ndarray(format="rgb24")),
            )
            for number, frame in enumerate(container.decode(stream))
        ]


def on_screen(reference: list[tuple[float, str]], time: float) -> str:
    """The fingerprint of the frame that a player shows at a moment."""
    shown = [frame for at, frame in reference if at <= time + 1e-6]
    return shown[-1] if shown else reference[0][1]
