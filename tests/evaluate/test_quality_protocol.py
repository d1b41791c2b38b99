"""Q-Bench-Video's protocol (its supplement 11 and 13) from the command line to the scores.

Two models and a judge live behind one server. What they are sent is read off the wire.
"""

import base64
import io
import json
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Any

import av
import numpy as np
import pytest
from actors import write_card
from PIL import Image
from servers import Reply, Server, completion, serving
from support import make_item, run_here
from videos import decode_plainly, fingerprint, make_video, on_screen
from videos import pictures as numbered_pictures

from reelbench.data.benchmark import Benchmark
from reelbench.data.items import Media, freeze
from reelbench.data.manifest import Manifest
from reelbench.interop.qbench_video.taxonomy import CONDITIONS, PROTOCOL

SECONDS = {"media/long.mp4": 4.0, "media/short.mp4": 2.0}
ONE, TWO = (Media("media/long.mp4"),), (Media("media/long.mp4"), Media("media/short.mp4"))
YES_NO, HOW = ("Yes", "No"), ("Much sharper", "Slightly sharper", "About the same", "Much blurrier")
OPEN = {"kind": "open", "options": (), "answer": ()}
ITEMS = (
    make_item(1, kind="yesno", media=ONE, question="Is it of high clarity?", options=YES_NO, answer=("A",)),
    make_item(2, kind="single", media=ONE, question="How sharp is it?", options=HOW, answer=("C",)),
    make_item(3, kind="single", media=TWO, question="How sharp is the second?", options=HOW, answer=("B",)),
    make_item(4, kind="yesno", media=TWO, question="Is the first brighter?", options=YES_NO, answer=("A",)),
    make_item(5, media=ONE, question="Why is it poor?", reference="Compression blurs it.", **OPEN),
    make_item(6, media=TWO, question="Which is better, and why?", reference="The first: no noise.", **OPEN),
)  # fmt: skip
# What the better model says; the other always says "A." or "It is fine."
SAID = {
    "Is it of high clarity?": "A.",
    "How sharp is it?": "Its edges look neither better nor worse than usual.",
    "How sharp is the second?": "Hard to tell; maybe a bit crisper, maybe not.",
    "Is the first brighter?": "B.",
    "Why is it poor?": "Because of its blur.",
    "Which is better, and why?": "They are alike.",
}
LOSSLESS = [name for name, changes in CONDITIONS.items() if "frame_encoding" not in changes]
NONSENSE = "Score: two"
# What the judge says of each, round by round. A round that is no JSON is repaired once and asked
# once more; it comes last, so that no other round is still to be asked for the first time.
ROUNDS = {
    "How sharp is it?": ["C", "none", "C", "D", "C"],
    "How sharp is the second?": ["B", "B", "none", "A", "C"],
    "Why is it poor?": [2, 1, 0, 2, NONSENSE, NONSENSE],
    "Which is better, and why?": [0, 0, 1, 0, 0],
}


@dataclass
class Cast:
    """The two models and the judge, and how far the judge's rounds have come."""

    turns: dict[str, Iterator[Any]] = field(default_factory=dict)
    lock: Lock = field(default_factory=Lock)

    def __call__(self, body: dict[str, Any], _: int) -> Reply:
        text = body["messages"][0]["content"][-1]["text"]
        question = next(each for each in SAID if each in text)
        if body["model"] == "judge":
            return completion(self.judge(question, text, repaired=len(body["messages"]) > 1))
        if body["model"] == "video-model":
            return completion(SAID[question])
        return completion("A." if "\nA. " in text else "It is fine.")

    def judge(self, question: str, text: str, repaired: bool) -> str:
        if "It is fine." in text:
            return json.dumps({"reason": "So.", "score": 1})
        if repaired:
            return NONSENSE
        with self.lock:
            said = next(self.turns.setdefault(question, iter(ROUNDS[question])))
        if said == NONSENSE:
            return NONSENSE
        return json.dumps({"choice": said} if isinstance(said, str) else {"reason": "So.", "score": said})  # fmt: skip


@dataclass(frozen=True)
class Played:
    """A run that is over."""

    root: Path
    out: Path
    server: Server
    words: list[Any]

    def sent(self, model: str, question: str) -> dict[tuple[int, ...], list[dict[str, Any]]]:
        """The messages that a model got with a question, by how many frames of each video."""
        found: dict[tuple[int, ...], list[dict[str, Any]]] = {}
        for body in self.server.requests:
            content = body["messages"][0]["content"]
            if body["model"] == model and f"\n\n{question}" in content[-1]["text"]:
                counts = tuple(len(group) for group in groups(content).values())
                assert counts not in found, "the same was asked twice"
                found[counts] = content
        return found

    def rows(self, name: str) -> list[dict[str, Any]]:
        return [json.loads(line) for line in (self.out / name).read_text().splitlines()]

    def scores(self) -> dict[str, Any]:
        return dict(json.loads((self.out / "scores.json").read_text()))


def groups(content: list[dict[str, Any]]) -> dict[str, list[bytes]]:
    """The pictures of a message, by the words in front of them; each must be a PNG."""
    found: dict[str, list[bytes]] = defaultdict(list)
    heading = ""
    for part in content:
        if part["type"] == "text":
            heading = part["text"]
            continue
        head, data = part["image_url"]["url"].split(",")
        assert head == "data:image/png;base64"
        found[heading].append(base64.b64decode(data))
        assert found[heading][-1].startswith(b"\x89PNG\r\n")
    return found


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Played]:
    folder = tmp_path_factory.mktemp("quality")
    (folder / "b" / "media").mkdir(parents=True)
    for name, seconds in SECONDS.items():
        make_video(folder / "b" / name, seconds=seconds)
    manifest = Manifest("quality", "1", protocol=PROTOCOL, conditions=freeze(CONDITIONS))
    Benchmark(folder / "b", manifest, ITEMS).save(folder / "b")
    with serving(Cast()) as server:
        video, judge = (write_card(folder, name, server.url) for name in ("video-model", "judge"))
        image = write_card(folder, "image-model", server.url, frames=8)
        words = ["run", folder / "b", "--out", folder / "r", "--model", video, "--model", image, "--judge", judge]  # fmt: skip
        for condition in ("protocol", *LOSSLESS):
            words += ["--condition", condition]
        assert run_here(*words) == 0
        yield Played(folder / "b", folder / "r", server, words)


FRAMES = {  # of each video, by model and by how many videos there are
    ("video-model", 1): {(16,), (8,), (4,)},
    ("video-model", 2): {(8, 8), (4, 4), (4, 2)},
    ("image-model", 1): {(8,), (4,)},  # of 16 frames it takes 8: what `image-models` asks for
    ("image-model", 2): {(4, 4), (4, 2)},
}


@pytest.mark.parametrize("model", ["video-model", "image-model"])
@pytest.mark.parametrize("item", ITEMS, ids=lambda item: item.id)
class TestMessages:
    def test_so_many_frames(self, item: Any, model: str, played: Played) -> None:
        assert set(played.sent(model, item.question)) == FRAMES[model, len(item.media)]

    def test_the_words_count_them(self, item: Any, model: str, played: Played) -> None:
        for counts, content in played.sent(model, item.question).items():
            told, *rest = content[-1]["text"].split("\n\n")
            if len(counts) == 1:
                assert told.startswith(f"You are shown {counts[0]} separate frames, sampled ")
            else:
                first, total = counts[0], sum(counts)
                assert told.startswith(f"You are shown {total} separate frames in all. ")
                assert f"Frames 1-{first} are sampled uniformly from the first video" in told
                assert f"and frames {first + 1}-{total} from the second" in told
            assert "in the same order of time as they appear in" in told
            if item.options:
                lines = [f"{letter}. {text}" for letter, text in zip("ABCD", item.options, strict=False)]  # fmt: skip
                assert rest[:2] == [item.question, "\n".join(lines)]
                assert 'capital letter of the right option itself and a full stop behind it, such as "A."' in rest[2]  # fmt: skip
            else:
                told, question = rest
                assert question == item.question
                assert told.startswith("Give a detailed and accurate answer")
                assert ("from the perspective of visual quality" in told) == (len(counts) == 1)

    def test_each_video_under_its_heading(self, item: Any, model: str, played: Played) -> None:
        headings = ["Video 1:", "Video 2:"] if len(item.media) == 2 else [""]
        for content in played.sent(model, item.question).values():
            assert list(groups(content)) == headings


def test_frames_are_uniform_and_lossless(played: Played) -> None:
    """To the last bit what a player shows at the centres of equal parts, or at each second."""
    reference = {name: decode_plainly(played.root / name) for name in SECONDS}
    for counts, content in played.sent("video-model", ITEMS[2].question).items():
        for pictures, (name, seconds) in zip(groups(content).values(), SECONDS.items(), strict=True):  # fmt: skip
            count = len(pictures)
            centres = [(place + 0.5) * seconds / count for place in range(count)]
            moments = list(map(float, range(count))) if counts == (4, 2) else centres
            expected = [on_screen(reference[name], moment) for moment in moments]
            shown = [fingerprint(np.asarray(Image.open(io.BytesIO(data)))) for data in pictures]
            assert shown == expected


def as_published(path: Path, count: int) -> list[bytes]:
    """What the authors' program sends of a video: written anew, from what it does."""
    with av.open(str(path)) as container:
        frames = [frame.to_ndarray(format="rgb24") for frame in container.decode(video=0)]
    sent = []
    for number in range(count):
        picture = Image.fromarray(frames[int(len(frames) / count) * number])
        scale = min(512 / picture.width, 512 / picture.height)
        if scale < 1:
            picture = picture.resize((int(picture.width * scale), int(picture.height * scale)))
        data = io.BytesIO()
        picture.save(data, format="JPEG")
        sent.append(data.getvalue())
    return sent


def test_as_the_published_program_asks(tmp_path: Path) -> None:
    root = tmp_path / "b"
    (root / "media").mkdir(parents=True)
    small, large = (
        make_video(root / "media" / "short.mp4", seconds=2.0),
        root / "media" / "long.mp4",
    )
    with av.open(str(large), "w") as target:
        stream = target.add_stream("libx264", rate=10)
        stream.width, stream.height, stream.pix_fmt = 640, 360, "yuv420p"
        for picture in numbered_pictures(35, 640, 360):
            target.mux(stream.encode(av.VideoFrame.from_ndarray(picture, "rgb24")))
        target.mux(stream.encode(None))
    manifest = Manifest("quality", "1", protocol=PROTOCOL, conditions=freeze(CONDITIONS))
    Benchmark(root, manifest, [ITEMS[0], ITEMS[3]]).save(root)
    with serving(lambda *_: completion("A.")) as server:
        card = write_card(tmp_path, "model", server.url)
        words = ["run", root, "--out", tmp_path / "r", "--model", card]
        assert run_here(*words, "--condition", "published-code") == 0
    sent = defaultdict(list)
    for body in server.requests:
        content = body["messages"][0]["content"]
        urls = [part["image_url"]["url"] for part in content if part["type"] == "image_url"]
        assert all(url.startswith("data:image/jpeg;base64,") for url in urls)
        alone = "first video" not in content[-1]["text"]
        sent[alone] += [base64.b64decode(url.partition(",")[2]) for url in urls]
    assert sent[True] == as_published(large, 16)
    assert sent[False] == [*as_published(large, 8), *as_published(small, 8)]


def test_what_the_judge_is_told(played: Played) -> None:
    asked = [body for body in played.server.requests if body["model"] == "judge"]
    first = [body["messages"][0]["content"] for body in asked]
    assert all([part["type"] for part in content] == ["text"] for content in first)
    # A reply is judged once, whatever the number of conditions under which it was given.
    assert len(asked) == 5 + 5 + (5 + 3) + 5 + 2 * 5
    graded = next(c[0]["text"] for c in first if "Because of its blur." in c[0]["text"])
    for words in ("visual quality", "video processing and photography", "Compression blurs it."):
        assert words in graded
    for words in ("completeness, accuracy and relevance", "no valid answer", "Why is it poor?"):
        assert words in graded


def test_letters_are_read_and_prose_is_judged(played: Played) -> None:
    read = defaultdict(list)
    for row in played.rows("predictions.jsonl"):
        assert row["status"] == "ok"
        if row["model"] == "video-model" and row["id"] not in ("q-5", "q-6"):
            read[row["condition"]].append((row["id"], row["parsed"], row.get("judge")))
    expected = [
        ("q-1", ["A"], None),
        ("q-2", ["C"], "judge"),  # three of five
        ("q-3", None, "judge"),  # two of five
        ("q-4", ["B"], None),
    ]
    assert read == dict.fromkeys(("protocol", *LOSSLESS), expected)


def test_open_replies_are_graded(played: Played) -> None:
    graded = {
        (row["model"], row["condition"], row["id"]): row
        for row in played.rows("judgements.jsonl")
        if row["rubric"] != "choice"
    }
    assert len(graded) == 2 * 3 * 2
    row = graded["video-model", "protocol", "q-5"]
    assert (row["rubric"], row["score"], row["scale"]) == ("quality", 1.25, [0, 2])
    scores = sorted(each["reply"]["score"] for each in row["rounds"] if "reply" in each)
    (invalid,) = [each for each in row["rounds"] if "reply" not in each]
    assert scores == [0, 1, 2, 2]
    assert invalid == {"failure": "there is no complete JSON in the reply", "status": "ok"}
    # The paper's own example, 13.5: 0, 0, 1, 0, 0 is 1/10.
    assert graded["video-model", "protocol", "q-6"]["score"] / 2 == pytest.approx(0.1)


def test_scores(played: Played) -> None:
    scores = played.scores()
    conditions = {"protocol", *LOSSLESS}
    closed = {(row["model"], row["condition"]): row for row in scores["results"]}
    judged = {(row["model"], row["condition"]): row for row in scores["judged"]}
    assert {condition for _, condition in closed} == {condition for _, condition in judged} == conditions  # fmt: skip
    for condition in conditions:
        row = closed["video-model", condition]
        assert (row["read_by_judge"], row["unread"]) == (1, 1)
        row = judged["video-model", condition]
        assert row["score"] == pytest.approx((1.25 + 0.2) / 2)
        assert (row["valid_rounds"], row["invalid_rounds"]) == (9, 1)
        # Two of four closed ones, and of the open ones 6.25/10 and 1/10.
        assert row["with_closed"]["value"] == pytest.approx((2 + 0.625 + 0.1) / 6, abs=1e-6)
        row = judged["image-model", condition]
        assert (row["score"], row["with_closed"]["value"]) == (1.0, 0.5)


def test_once_more_asks_nothing(played: Played) -> None:
    before = len(played.server.requests)
    files = ("predictions.jsonl", "judgements.jsonl", "scores.json")
    content = [(played.out / name).read_bytes() for name in files]
    assert run_here(*played.words) == 0
    assert len(played.server.requests) == before
    assert [(played.out / name).read_bytes() for name in files] == content
