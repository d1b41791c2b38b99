"""One loader of the decoding benchmark, run in a process of its own.

Run, in benchmarks/: python -m decoding.loaders LOADER VIDEO COUNT OUT [lmms-eval wheel]

Prints CPU seconds and the peak of memory as JSON, and writes the frames to OUT.
"""

import importlib.util
import json
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np


def numbers(total: int, count: int) -> list[int]:
    """Which frames all loaders give: from the first to the last, evenly, as lmms-eval does."""
    return [int(number) for number in np.linspace(0, total - 1, count, dtype=int)]


def ours() -> Callable[[str, int], Any]:
    """Reelbench, decoding in this process."""
    from reelbench.media.decode.decode import frames_at
    from reelbench.media.decode.probe import probe

    def load(video: str, count: int) -> Any:
        info = probe(video)
        # In the middle of the time that each is on the screen.
        asked = [(number + 0.5) / info.frame_rate for number in numbers(info.frame_count, count)]
        return [frame.image for frame in frames_at(video, asked)]

    return load


def naive() -> Callable[[str, int], Any]:
    """PyAV as one writes it first: seek before each frame, decode until it comes."""
    import av

    def load(video: str, count: int) -> Any:
        images = []
        with av.open(video) as container:
            stream = container.streams.video[0]
            rate, base = stream.average_rate, stream.time_base
            assert rate
            assert base
            for number in numbers(stream.frames, count):
                target = round(number / rate / base)
                container.seek(target, stream=stream)
                for frame in container.decode(stream):
                    if frame.pts is not None and frame.pts >= target:
                        images.append(frame.to_ndarray(format="rgb24"))
                        break
        return images

    return load


def opencv() -> Callable[[str, int], Any]:
    """OpenCV, set to each frame's number."""
    import cv2

    def load(video: str, count: int) -> Any:
        capture = cv2.VideoCapture(video)
        images = []
        for number in numbers(int(capture.get(cv2.CAP_PROP_FRAME_COUNT)), count):
            capture.set(cv2.CAP_PROP_POS_FRAMES, number)
            _, image = capture.read()
            images.append(cv2.cvtColor(image, cv2.COLOR_BGR2RGB))
        return images

    return load


def decord() -> Callable[[str, int], Any]:
    """decord with one thread, which costs it the least."""
    from decord import VideoReader, cpu

    def load(video: str, count: int) -> Any:
        reader = VideoReader(video, ctx=cpu(0), num_threads=1)
        return reader.get_batch(numbers(len(reader), count)).asnumpy()

    return load


def torchcodec(mode: str) -> Callable[[str, int], Any]:
    """torchcodec with one thread, its default."""
    from torchcodec.decoders import VideoDecoder

    def load(video: str, count: int) -> Any:
        decoder = VideoDecoder(video, dimension_order="NHWC", seek_mode=mode)
        total = decoder.metadata.num_frames
        return decoder.get_frames_at(numbers(total, count)).data.numpy()

    return load


def lmms_eval(wheel: str) -> ModuleType:
    """The loaders of lmms-eval, alone: the package itself needs far more than they do."""
    folder = tempfile.mkdtemp()
    inside = "lmms_eval/models/model_utils/load_video.py"
    path = zipfile.ZipFile(wheel).extract(inside, folder)
    spec = importlib.util.spec_from_file_location("load_video", path)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def loader(name: str, wheel: str) -> Callable[[str, int], Any]:
    """Import what a loader needs, and return it."""
    plain = {"ours": ours, "naive": naive, "opencv": opencv, "decord": decord}
    if name in plain:
        return plain[name]()
    if name.startswith("torchcodec"):
        return torchcodec(name.partition(" ")[2])
    module = lmms_eval(wheel)
    if name == "lmms-eval pyav":
        return lambda video, count: module.read_video(video, num_frm=count)
    importlib.import_module("decord")
    return lambda video, count: module.load_video_decord(video, count)


def main() -> None:
    """Load, and say what it cost."""
    name, video, count, out, *wheel = sys.argv[1:]
    load = loader(name, *(wheel or [""]))
    began = time.process_time()
    images = load(video, int(count))
    cpu = time.process_time() - began
    peak = peak_mb()
    np.save(Path(out), np.asarray(images))
    print(json.dumps({"cpu": cpu, "peak_mb": peak}))


def peak_mb() -> float:
    """The most memory this process has held; getrusage would count its parent's as well."""
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) / 1024


if __name__ == "__main__":
    main()
