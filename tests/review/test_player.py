"""The player moves by exactly one frame, knows what was watched, and plays what browsers cannot."""

import shutil
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from PIL import Image as Pillow
from review.clips import (
    EVEN,
    READ,
    UNEVEN,
    numbered,
    write_clip,
    write_foreign_clip,
    write_items,
    write_tone,
)
from review.serving import Browser, ServedReview, item_query, local, served
from support import wait_until

MOUNT = """async (options) => {
  const { Player } = await import("/static/player.js");
  window.player?.destroy();
  const sheet = Object.assign(document.createElement("link"), { rel: "stylesheet", href: "/static/player.css" });
  if (!document.querySelector("link[href$='player.css']")) document.head.append(sheet);
  window.player = new Player(document.getElementById("main"), { queue: "answer", ...options });
}"""
# What there is to see when the grey between two videos comes: who looks from outside may be too late.
NOTE_GREY = """() => {
  window.noted = null;
  const grey = document.querySelector(".player .grey");
  const look = () => {
    if (grey.hidden) return;
    window.noted ??= [player.watched, player.current, getComputedStyle(grey).backgroundColor];
  };
  new MutationObserver(look).observe(grey, { attributeFilter: ["hidden"] });
}"""
ITEMS: dict[str, list[dict[str, Any]]] = {
    "even": [{"path": "media/even.mp4"}],
    "uneven": [{"path": "media/uneven.mp4"}],
    "foreign": [{"path": "media/foreign.avi"}],
    "window": [{"path": "media/even.mp4", "start": 0.5, "end": 1.2}],
    "pair": [
        {"path": "media/even.mp4", "end": 0.7},
        {"path": "media/uneven.mp4", "start": 0.3, "end": 0.9},
    ],
    "sound": [{"path": "media/tone.wav"}],
    "image": [{"path": "media/image.png"}],
    "broken": [{"path": "media/broken.mp4"}],
    "missing": [{"path": "media/nowhere.mp4"}],
    "outside": [{"path": "media/link.mp4"}],
    "text": [],
}


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A benchmark with a medium of each sort."""
    root = tmp_path_factory.mktemp("player") / "benchmark"
    media = root / "media"
    media.mkdir(parents=True)
    write_clip(media / "even.mp4", EVEN, sound=True)
    write_clip(media / "uneven.mp4", UNEVEN)
    write_foreign_clip(media / "foreign.avi", 40)
    write_tone(media / "tone.wav", 1.0)
    Pillow.fromarray(numbered(5)).save(media / "image.png")
    (media / "broken.mp4").write_bytes(b"\0" * 5000)
    shutil.copy(media / "even.mp4", root.parent / "secret.mp4")
    (media / "link.mp4").symlink_to(root.parent / "secret.mp4")
    write_items(root, ITEMS)
    return root


@pytest.fixture(scope="module")
def server(library: Path) -> Iterator[ServedReview]:
    with served(library, "--local") as running:
        yield running


@pytest.fixture(scope="module")
def someone(server: ServedReview) -> Browser:
    return local(server)


@dataclass
class Screen:
    """A page with a player."""

    page: Any

    def mount(self, item: str, **options: Any) -> None:
        self.page.evaluate(MOUNT, {"item": item, "media": ITEMS[item], **options})

    def open(self, item: str, **options: Any) -> None:
        """Mount a player and wait until it shows the video."""
        self.mount(item, **options)
        self.page.locator(".player .playhead", has_text="/").first.wait_for()
        self.until(lambda: self.shown() is not None)

    def shown(self) -> int | None:
        try:
            return int(self.page.evaluate(READ))
        except Exception:  # there is no picture yet
            return None

    def get(self, name: str) -> Any:
        return self.page.evaluate(f"() => player.{name}")

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)

    def until(self, holds: Callable[[], bool], seconds: float = 60.0) -> None:
        """Wait for a condition; the page's policy does not let Playwright do it."""
        deadline = time.monotonic() + seconds
        while not holds():
            assert time.monotonic() < deadline, "it did not come to that"
            self.page.wait_for_timeout(15)

    def until_shown(self, number: int) -> None:
        self.until(lambda: self.shown() == number)


@pytest.fixture(scope="module")
def window(chrome: Any, server: ServedReview) -> Iterator[Screen]:
    """One page for all tests of this file: each mounts a player of its own."""
    context = chrome.new_context(viewport={"width": 1280, "height": 800})
    page = context.new_page()
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto(server.link)
    yield Screen(page)
    context.close()
    assert complaints == []


@pytest.fixture
def screen(window: Screen) -> Screen:
    """The page as it is when one comes to it: nothing kept, open, playing or pressed before."""
    window.page.evaluate("() => { localStorage.clear(); sessionStorage.clear(); }")
    window.page.reload()
    return window


@pytest.mark.parametrize(
    ("item", "times"),
    [("even", EVEN), ("uneven", UNEVEN), ("foreign", [n / 10 for n in range(40)])],
)
def test_one_step_is_one_frame(item: str, times: list[float], screen: Screen) -> None:
    screen.open(item)
    screen.until_shown(0)
    for number in range(1, 21):
        screen.press(".")
        assert screen.get("frame") == number
        assert screen.get("currentTime") == pytest.approx(times[number], abs=0.001)
        screen.until_shown(number)
    for number in range(19, -1, -1):
        screen.press(",")
        assert screen.get("frame") == number
        screen.until_shown(number)
    screen.press(",")
    assert screen.get("frame") == 0


def test_a_pause_stays_at_the_frame_that_is_shown(screen: Screen) -> None:
    screen.open("uneven")
    screen.press("-", "-", " ")
    screen.until(lambda: screen.get("frame") > 8)
    screen.press("k")
    number = screen.get("frame")
    screen.until_shown(number)
    screen.press(".")
    screen.until_shown(number + 1)


def test_hops_and_speeds_are_those_chosen_and_remembered(screen: Screen) -> None:
    screen.open("even")
    hops = screen.page.get_by_label("Seconds of a hop")
    hops.fill("0.5")
    hops.blur()
    screen.press("ArrowRight", "ArrowRight")
    assert screen.get("currentTime") == pytest.approx(1.0, abs=0.04)
    screen.press("-", "-", "-", "-", "-")
    assert screen.get("clip.element.playbackRate") == 0.25
    screen.press(*"=" * 9)
    assert screen.get("clip.element.playbackRate") == 4
    screen.open("uneven")
    assert screen.get("clip.element.playbackRate") == 4
    assert screen.get("hop") == 0.5


def test_a_span_is_set_at_the_playhead_and_moved_by_frames(screen: Screen) -> None:
    screen.open("uneven", spans=True)
    screen.press(*"....", "s", *".....", "e")
    start, end = UNEVEN[4], UNEVEN[10]  # a span ends when its last frame does
    assert screen.get("span") == {"start": pytest.approx(start), "end": pytest.approx(end)}
    screen.press("a", "a", "r")
    assert screen.get("span") == {
        "start": pytest.approx(UNEVEN[2]),
        "end": pytest.approx(UNEVEN[11]),
    }
    screen.until_shown(10)
    screen.press("d", "w")
    assert screen.get("span") == {"start": pytest.approx(UNEVEN[3]), "end": pytest.approx(end)}
    screen.press("Home")
    screen.until_shown(3)
    screen.press("End")
    screen.until_shown(9)
    assert screen.page.locator(".player .spanmark").is_visible()


def test_playing_is_locked_to_a_span(screen: Screen) -> None:
    screen.open("even")
    screen.page.evaluate("() => { player.span = { start: 0.5, end: 0.8 }; }")
    screen.press("l", " ")
    screen.until(lambda: screen.get("currentTime") > 0.7)
    screen.until(lambda: screen.get("currentTime") < 0.7)
    assert screen.get("isPlaying")
    assert screen.get("currentTime") >= 0.5
    screen.press(" ", "End")
    assert screen.get("frame") == 23


def test_the_part_of_a_file_is_all_that_is_played(screen: Screen) -> None:
    screen.open("window")
    screen.until_shown(15)
    assert "frame 15" in screen.page.text_content(".player .reading")
    screen.press(",")
    assert screen.get("frame") == 15
    screen.press(*"===", " ")
    screen.until(lambda: screen.get("watched"))
    screen.until(lambda: not screen.get("isPlaying"))
    assert screen.get("frame") == 35
    assert screen.get("playedSeconds") == pytest.approx(0.7, abs=0.05)


def test_only_what_was_played_counts_as_watched(screen: Screen) -> None:
    screen.open("even", watch="full")
    screen.press("End", "Home", *"......", "End")
    assert screen.get("playedSeconds") == 0
    screen.press("Home", *"---", " ")
    screen.until(lambda: screen.get("currentTime") > 0.1)
    screen.press(" ")
    assert 0 < screen.get("playedSeconds") < 1.9
    assert not screen.get("watched")
    assert "Watched in full" not in screen.page.text_content(".player .reading")
    screen.press(*"========", " ")
    screen.until(lambda: screen.get("watched"))
    screen.page.get_by_text("Watched in full").wait_for()


def test_a_pair_is_played_with_grey_between(screen: Screen) -> None:
    screen.open("pair", pairs=True, gap=2.5, watch="full")
    screen.until(lambda: screen.get("clips[1].status") == "ready")
    grey = screen.page.locator(".player .grey")
    assert not grey.is_visible()
    screen.page.evaluate(NOTE_GREY)
    screen.press(" ")
    screen.until(lambda: screen.page.evaluate("() => noted !== null"))
    assert screen.page.evaluate("() => noted") == [False, 0, "rgb(128, 128, 128)"]
    grey.wait_for(state="hidden")
    assert screen.get("current") == 1
    screen.until(lambda: screen.get("watched"))


def test_sound_alone_plays_and_is_watched(screen: Screen) -> None:
    screen.mount("sound")
    screen.page.locator(".player .playhead", has_text="0:01.000").wait_for()
    screen.press(*"=====", " ")
    screen.until(lambda: screen.get("watched"))


def test_an_image_is_shown(screen: Screen) -> None:
    screen.mount("image")
    picture = screen.page.locator(".player img")
    picture.wait_for()
    screen.until(lambda: picture.evaluate("(each) => each.naturalWidth") == 192)
    assert screen.get("watched")


@pytest.mark.parametrize(
    ("item", "sentence"),
    [
        ("broken", "media/broken.mp4 cannot be played: cannot be decoded"),
        ("missing", "media/nowhere.mp4: no such file."),
        ("text", "There is no video with this question."),
    ],
)
def test_what_cannot_be_played_is_said(item: str, sentence: str, screen: Screen) -> None:
    screen.mount(item)
    screen.page.locator(".player .cover", has_text=sentence).wait_for()


def test_the_help_lists_the_keys(screen: Screen) -> None:
    screen.open("even", spans=True)
    screen.press("?")
    panel = screen.page.get_by_role("dialog")
    assert "One frame forward" in panel.text_content()
    assert "Set start" in panel.text_content()
    panel.get_by_role("button", name="Close").click()
    assert not panel.is_visible()


def test_the_keys_of_the_guide_for_annotators_are_those_of_the_player(screen: Screen) -> None:
    guide = (Path(__file__).parents[2] / "docs" / "annotators.md").read_text()
    table = guide.split("| key | does |\n|---|---|\n")[1].split("\n\n")[0]
    told = [row.split(" | ")[0].removeprefix("| ").split(" and ") for row in table.splitlines()]
    screen.open("even", spans=True)
    screen.press("?")
    listed = set(screen.page.get_by_role("dialog").locator("kbd").all_inner_texts())
    assert ["S", "E"] in told
    assert {key for keys in told for key in keys} - listed == set()


def test_a_foreign_codec_is_encoded_once_and_tells_how_far_it_is(tmp_path: Path) -> None:
    root = tmp_path / "benchmark"
    (root / "media").mkdir(parents=True)
    media = root / "review" / "media"
    write_foreign_clip(root / "media" / "long.avi", 1500)
    write_items(root, {"long": [{"path": "media/long.avi"}]})

    def states_seen_by(someone: Browser) -> list[Any]:
        states: list[Any] = []
        while not states or states[-1]["status"] == "preparing":
            status, found = someone.send("GET", f"/api/media/answer/0{item_query('long')}")
            assert status == 200
            states.append(found)
            served_now, _ = someone.send("GET", f"/media/answer/0{item_query('long')}")
            # Nothing that is half done is served.
            assert served_now == 404 or any(media.glob("[!.]*.mp4"))
            time.sleep(0.02)
        shares = [each["progress"] for each in states]
        assert shares == sorted(shares)
        return states

    # The first to ask waits a while for what may be done soon; the other sees how far it is.
    with served(root, "--local") as running, ThreadPoolExecutor(2) as pool:
        both = list(pool.map(states_seen_by, [local(running), local(running)]))
    assert any(0 < each["progress"] < 1 for states in both for each in states)
    states = both[0]
    assert states[-1]["status"] == "ready"
    assert states[-1]["type"] == "video/mp4"
    assert states[-1]["runs"] == [[12_000, 1499]]
    (made,) = media.glob("*.mp4")
    before = made.stat().st_mtime_ns
    with served(root, "--local") as running:
        _, found = local(running).send("GET", f"/api/media/answer/0{item_query('long')}")
        assert found["status"] == "ready"
    assert made.stat().st_mtime_ns == before


def test_videos_come_by_ranges_and_frames_in_few_bytes(someone: Browser, library: Path) -> None:
    whole = (library / "media" / "even.mp4").read_bytes()
    path = f"/media/answer/0{item_query('even')}"
    state = f"/api/media/answer/0{item_query('even')}"
    wait_until(lambda: someone.send("GET", state)[1]["status"] == "ready")
    status, part = someone.send("GET", path, headers={"range": "bytes=4-7"})
    assert (status, part) == (206, whole[4:8].decode())
    assert someone.send("GET", path, headers={"range": f"bytes={len(whole)}-"})[0] == 416
    found = someone.send("GET", state)[1]
    assert found["runs"] == [[4004, 59]]
    assert found["frame_rate"] == pytest.approx(29.97, abs=0.001)
    assert found["has_audio"]
    assert not found["variable"]


@pytest.mark.parametrize("place", ["/media/answer/0", "/api/media/answer/0"])
def test_nothing_outside_of_the_folder_is_served(place: str, someone: Browser) -> None:
    status, answer = someone.send("GET", f"{place}{item_query('outside')}")
    assert status == (404 if place.startswith("/media") else 200)
    sentence = "media/link.mp4 is not inside the benchmark's folder."
    assert answer.get("error", answer.get("message")) == sentence
    for item in ("media/even.mp4", "../secret.mp4", "even/../../secret.mp4"):
        assert someone.send("GET", f"{place}{item_query(item)}")[0] == 404
    assert someone.send("GET", f"{place.replace('/0', '/7')}{item_query('even')}")[0] == 404
