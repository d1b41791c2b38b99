"""The item browser in a real browser: it plays, filters, sorts and says what was asked and replied."""

import json
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from servers import Reply, Server, completion, serving
from support import make_item, run_here, wait_until
from videos import make_video

from reelbench.data.benchmark import Benchmark
from reelbench.data.items import Item, Media, freeze
from reelbench.data.manifest import Manifest, Protocol
from reelbench.evaluate.calls import read_calls
from reelbench.evaluate.run import run_benchmark
from reelbench.report.report import report_run, write_report
from reelbench.score.score import score_runs

EVIL = "</script><img src=x onerror='document.title=1'><b>bold</b>"
LONG = "I look at the frames, one after the other. " * 40
CLIP = Media("media/a.mp4", 1, 2.5)


def items() -> list[Item]:
    """An item of each kind that the page shows in its own way."""
    tags = [{"skill": "see", "level": "low"}, {"skill": ["see", "hear"]}, {"skill": "hear"}]
    made = [
        make_item(1, media=(CLIP,), evidence=((1.5, 2),), tags=freeze(tags[0])),
        make_item(2, media=(Media("media/a.mp4"), Media("media/b.mp4")), tags=freeze(tags[1])),
        make_item(3, media=(CLIP,), question="ماذا يحدث؟", tags=freeze(tags[2])),
        make_item(4, media=(CLIP,), extra=freeze({"pair": "p"})),
    ]
    opened = make_item(
        5, kind="open", options=(), answer=(), reference="It snows.", media=(CLIP,),
        question=made[3].question, extra=freeze({"pair": "p"}),
    )  # fmt: skip
    return [*made, opened, make_item(6, media=(Media("media/none.mp4"),), question="Gone?")]


def answer(body: dict[str, Any], number: int) -> Reply:
    """One model is right in long words, the other says A, or nothing that can be read."""
    parts = body["messages"][0]["content"]
    text = parts if isinstance(parts, str) else parts[-1]["text"]
    if "response_format" in body:
        return completion(json.dumps({"reason": "It <i>does</i>.", "score": 1}))
    if body["model"] == "short":
        return completion("It is hard to say." if "ماذا" in text else "A")
    right = next((line[0] for line in text.splitlines() if line.endswith("a dog barks")), "")
    return completion(f"{LONG}{EVIL}\n\nThe answer is ({right})." if right else f"It snows. {EVIL}")


class Made:
    """A benchmark, a run of it, and what its models were sent."""

    def __init__(self, root: Path, server: Server) -> None:
        self.root, self.run = root / "b", root / "run"
        self.benchmark = Benchmark.load(self.root)
        cards = []
        for name in ("long", "short", "judge"):
            card = {"name": name, "endpoint": server.url, "frames": 4 if name == "short" else 0}
            (root / f"{name}.yaml").write_text(json.dumps(card))
            cards.append(str(root / f"{name}.yaml"))
        run_benchmark(self.benchmark, cards[:2], self.run, judges=cards[2:])
        self.page = report_run(self.benchmark, self.run)
        self.prompts = {
            body["messages"][0]["content"][-1]["text"].replace("\n", " ")
            for body in server.requests
            if "response_format" not in body
        }


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    """A run of two models, in two orders of the options."""
    root = tmp_path_factory.mktemp("a page")
    (root / "b" / "media").mkdir(parents=True)
    for name in ("a", "b"):
        make_video(root / "b" / "media" / f"{name}.mp4", seconds=3.0)
    protocol = Protocol(sampling="uniform:6", orders=2)
    Benchmark(root / "b", Manifest("b", "1", protocol=protocol), tuple(items())).save(root / "b")
    with serving(answer) as server:
        return Made(root, server)


@pytest.fixture(scope="module")
def shared(chrome: Any) -> Iterator[tuple[Any, list[str]]]:
    """One page for all tests, since a report takes its time to load, and its complaints."""
    context = chrome.new_context()
    page = context.new_page()
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("console", lambda line: complaints.append(line.text))
    yield page, complaints
    context.close()


@pytest.fixture
def browser(shared: tuple[Any, list[str]]) -> Iterator[Any]:
    """A page; what its scripts or its policy complain of fails the test."""
    page, complaints = shared
    complaints.clear()
    page.set_viewport_size({"width": 1400, "height": 900})
    yield page
    assert [text for text in complaints if "ERR_FILE_NOT_FOUND" not in text] == []


def opened(page: Any, made: Path, link: str = "#items") -> Any:
    """Open a page at a place of it, as a link does where it is not open already."""
    if page.url.partition("#")[0] == made.as_uri():
        follow(page, "#items")
        follow(page, link)
        return page
    page.goto(made.as_uri() + link)
    page.wait_for_selector("html[data-ready]", state="attached")
    return page


def follow(page: Any, link: str) -> None:
    """Go to another place of a page that is open."""
    page.evaluate(f"location.hash = {link!r}; dispatchEvent(new Event('popstate'))")


def address(page: Any) -> str:
    """The address as the page has it: the browser hears of changes a moment later."""
    return str(page.evaluate("location.href"))


def listed(page: Any) -> list[str]:
    return [each.removeprefix("item-") for each in page.eval_on_selector_all("#list-body tr", "rows => rows.map((row) => row.id)")]  # fmt: skip


def video(page: Any, what: str) -> Any:
    return page.evaluate(f"document.querySelector('#detail video').{what}")


def wait_for(page: Any, what: str) -> None:
    """Wait for something to become true; Playwright's own way is against the page's policy."""
    wait_until(lambda: page.evaluate(what), limit=120.0)


def wait_for_video(page: Any, what: str) -> None:
    wait_for(page, f"document.querySelector('#detail video')?.{what}")


ALL = ["q-1", "q-2", "q-3", "q-4", "q-5", "q-6"]
LINKS = {
    "#search=snows": ALL,
    "#search=it+hard": ["q-3"],
    "#kind=open": ["q-5"],
    "#tag:skill=hear": ["q-2", "q-3"],
    "#tag:skill=hear&tag:level=low": [],
    "#outcome=wrong": ["q-6"],
    "#outcome=wrong&model=short": ["q-1", "q-2", "q-3", "q-4", "q-6"],
    "#outcome=beats&model=long&other=short": ["q-1", "q-2", "q-3", "q-4"],
    "#outcome=beats&model=short&other=long": [],
    "#outcome=unread": ["q-3"],
    "#outcome=unread&model=long": [],
    "#outcome=failed": ["q-6"],
    "#outcome=split": ["q-1", "q-2", "q-3", "q-4"],
    "#sort=hardest&kind=single&model=long": ["q-6", "q-1", "q-2", "q-3", "q-4"],
    "#outcome=nothing&sort=none&model=nobody": ALL,
    "#outcome=constructor&sort=toString&tag:__proto__=x&kind=": ALL,
}


class TestCalls:
    def test_a_run_notes_what_was_sent_and_how_it_was_read(self, made: Made) -> None:
        calls = read_calls(made.run)
        call = calls["q-1", "short", "protocol", 1, 0]
        assert call["given"] == ["frames"]
        assert [len(each) for each in call["frames"]] == [4]
        assert all(1 <= time <= 2.5 for time in call["frames"][0])
        assert (call["method"], call["input_tokens"], call["output_tokens"]) == (
            "whole reply",
            100,
            3,
        )
        assert [len(each) for each in calls["q-2", "long", "protocol", 0, 0]["frames"]] == [3, 3]
        rows = [
            json.loads(line) for line in (made.run / "predictions.jsonl").read_text().splitlines()
        ]
        assert len(calls) == len(rows)
        assert "method" not in rows[0]

    def test_a_damaged_or_missing_file_takes_nothing_but_itself(
        self, made: Made, tmp_path: Path
    ) -> None:
        run = Path(shutil.copytree(made.run, tmp_path / "run"))
        (run / "calls.jsonl").write_text('[3]\n{"id": "q-1"}\nno\n{"id": "q-1", "model": "long", '
                                         '"condition": "protocol", "order": 0, "round": 0, "frames": "x"}\n')  # fmt: skip
        assert read_calls(run) == {("q-1", "long", "protocol", 0, 0): {}}
        report_run(made.benchmark, run)
        (run / "calls.jsonl").unlink()
        report_run(made.benchmark, run)


class TestPlaying:
    def test_a_span_plays_from_its_start_to_its_end_or_in_a_loop(
        self, made: Made, browser: Any
    ) -> None:
        page = opened(browser, made.page, "#item=q-1")
        wait_for_video(page, "currentTime >= 1")
        assert video(page, "currentTime") == pytest.approx(1, abs=0.05)
        assert "run" not in video(page, "src")
        page.evaluate("document.querySelector('#detail video').playbackRate = 4")
        page.get_by_role("button", name="Play the span").click()
        wait_for_video(page, "currentTime >= 2.4")
        wait_for_video(page, "paused")
        assert video(page, "currentTime") == pytest.approx(2.5, abs=0.02)
        page.keyboard.press("l")
        page.get_by_role("button", name="Play the span").click()
        wait_for_video(page, "currentTime > 2")
        wait_for_video(page, "currentTime < 1.5")
        assert not video(page, "paused")

    def test_the_frames_that_a_model_saw_are_on_the_time_line(
        self, made: Made, browser: Any
    ) -> None:
        page = opened(browser, made.page, "#item=q-1")
        wait_for_video(page, "currentTime >= 1")
        times = read_calls(made.run)["q-1", "long", "protocol", 0, 0]["frames"][0]
        ticks = page.locator("#detail .timeline button")
        assert ticks.count() == len(times) == 6
        assert ticks.nth(2).get_attribute("aria-label") == f"Frame 3 of 6, at {times[2]:.1f} s"
        ticks.nth(2).click()
        assert video(page, "currentTime") == pytest.approx(times[2])
        page.keyboard.press("Escape")
        page.keyboard.press("j")
        page.keyboard.press("k")
        page.locator("#detail-title").focus()
        wait_for_video(page, "currentTime >= 1")
        for time in times[:3]:
            page.keyboard.press("ArrowRight")
            assert video(page, "currentTime") == pytest.approx(time)
        page.keyboard.press("ArrowLeft")
        assert video(page, "currentTime") == pytest.approx(times[1])
        page.get_by_label("Frames seen by").select_option(index=1)
        assert ticks.count() == 4
        assert page.locator("#detail .timeline i.proof").count() == 1

    def test_pictures_are_of_the_span_that_the_item_is_about(
        self, made: Made, browser: Any
    ) -> None:
        times = "all => all.map((each) => Number.parseFloat(each.textContent))"
        strip = ".frames figcaption"
        page = opened(browser, made.page, "#item=q-3")
        inside = page.eval_on_selector_all(strip, times)
        assert inside
        assert all(1 <= time <= 2.5 for time in inside)
        whole = opened(page, made.page, "#item=q-2").eval_on_selector_all(strip, times)
        assert {time for time in whole if not 1 <= time <= 2.5}

    def test_what_cannot_be_played_is_said(self, made: Made, browser: Any) -> None:
        page = opened(browser, made.page, "#item=q-6")
        words = page.locator("#detail .unplayable").inner_text()
        assert "media/none.mp4 cannot be played here" in words
        assert not page.locator("#detail .timeline").is_visible()  # how long it is, nobody knows
        assert "../b/media/none.mp4" in words
        assert "--embed" in words

    def test_videos_inside_of_the_page_play_without_the_benchmark(
        self, made: Made, browser: Any, tmp_path: Path
    ) -> None:
        root = Path(shutil.copytree(made.root, tmp_path / "b"))
        make_video(root / "media" / "b.avi", seconds=3.0)
        (root / "media" / "b.mp4").unlink()
        changed = [
            item
            if len(item.media) == 1
            else item.replace(media=(item.media[0], Media("media/b.avi")))
            for item in made.benchmark.items
        ]
        benchmark = Benchmark(root, made.benchmark.manifest, tuple(changed))
        scored = score_runs(made.benchmark, [made.run])
        scored = replace(scored, benchmark=benchmark)
        written = [write_report(scored, tmp_path / f"{n}.html", embed=5) for n in range(2)]
        assert written[0].read_bytes() == written[1].read_bytes()
        shutil.rmtree(root)
        page = opened(browser, written[0], "#item=q-2")
        wait_for(
            page,
            "[...document.querySelectorAll('#detail video')].filter((one) => one.duration > 2.9).length === 2",
        )
        assert video(page, "src").startswith("blob:")

    def test_what_does_not_fit_into_the_page_is_said(
        self, made: Made, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        out = tmp_path / "page.html"
        assert run_here("report", made.run, "--embed", "0.001", "--out", out) == 0
        assert "2 videos did not fit into the 0.001 MB" in capsys.readouterr().err
        with pytest.raises(SystemExit):
            run_here("report", made.run, "--embed", "nan", "--out", out)


class TestWhatWasSaid:
    def test_the_prompt_is_word_for_word_what_was_sent(self, made: Made, browser: Any) -> None:
        page = opened(browser, made.page)
        shown = set()
        for item in made.benchmark.items[:5]:
            follow(page, f"#item={item.id}")
            shown |= set(page.eval_on_selector_all("#detail .prompt", "all => all.map((one) => one.textContent.replaceAll('\\n', ' '))"))  # fmt: skip
        assert shown == made.prompts

    def test_replies_orders_letters_judges_and_what_they_took(
        self, made: Made, browser: Any
    ) -> None:
        page = opened(browser, made.page, "#item=q-1")
        card = page.get_by_role("region", name="long", exact=True)
        assert "right, answered B" in card.inner_text()
        assert "B by majority of 2 replies: B 2×" in card.inner_text()
        assert "read as B (named answer)" in card.inner_text()
        assert "100 tokens in, 3 out · 6 frames" in card.inner_text()
        assert EVIL in card.locator(".said").first.inner_text()
        card.get_by_role("button", name="Show all").first.click()
        assert card.get_by_role("button", expanded=True).inner_text() == "Show less"
        card.locator("summary").nth(1).click()
        assert "Options as shown: A " in card.inner_text()
        assert page.title() != "1"
        assert page.locator("#detail .said b").count() == 0

    def test_both_sides_of_a_pair_and_both_videos_are_labelled(
        self, made: Made, browser: Any
    ) -> None:
        page = opened(browser, made.page, "#item=q-5")
        assert page.locator("#detail .side").all_inner_texts() == ["Open: q-5", "With options: q-4"]
        left, right = (page.locator("#detail .answers").nth(n).bounding_box() for n in range(2))
        assert left["y"] == right["y"]
        assert "judge 1 of 2" in page.locator("#detail").inner_text()
        page.locator("#detail .rounds").first.evaluate("one => one.closest('details').open = true")
        assert (
            "reason It <i>does</i>.; score 1" in page.locator("#detail .rounds").first.inner_text()
        )
        follow(page, "#item=q-2")
        assert page.locator("#detail figcaption").all_inner_texts()[0] == "Video 1"
        left, right = (page.locator("#detail .player").nth(n).bounding_box() for n in range(2))
        assert left["y"] == right["y"]
        assert right["x"] > left["x"]


class TestFinding:
    def test_a_link_finds_the_same_items_again(self, made: Made, browser: Any) -> None:
        browser.goto("about:blank")
        page = opened(browser, made.page, "#search=gone")
        assert listed(page) == ["q-6"]
        for link, found in LINKS.items():
            follow(page, link)
            assert (link, listed(page)) == (link, found)
            assert page.locator("#count").inner_text() == f"{len(found)} of 6 items"

    def test_filters_go_into_the_link_and_back_and_forward_restore_them(
        self, made: Made, browser: Any
    ) -> None:
        page = opened(browser, made.page)
        page.get_by_label("skill all").select_option("hear")
        page.get_by_label("Outcome").select_option("beats")
        assert address(page).endswith("#outcome=beats&model=long&other=short&tag%3Askill=hear")
        page.locator("#item-q-3").click()
        assert address(page).endswith("&item=q-3&tag%3Askill=hear")
        assert page.evaluate("document.activeElement.id") == "detail-title"
        page.go_back()
        wait_for(page, "document.getElementById('detail').hidden")
        page.go_back()
        wait_for(page, "!location.hash.includes('beats')")
        assert listed(page) == ["q-2", "q-3"]
        page.go_forward()
        page.go_forward()
        page.wait_for_selector("#detail-title")
        assert page.get_by_label("Outcome").input_value() == "beats"
        page.get_by_role("button", name="Clear filters").click()
        assert len(listed(page)) == 6

    def test_keys_search_move_open_and_close(self, made: Made, browser: Any) -> None:
        page = opened(browser, made.page)
        page.keyboard.press("/")
        page.keyboard.type("jk")  # which are letters there
        assert page.locator("#count").inner_text() == "0 of 6 items"
        page.get_by_label("Search").fill("")
        page.keyboard.press("Escape")
        title = page.locator("#detail-title")
        for key, item in [("j", "q-1"), ("j", "q-2"), ("j", "q-3"), ("k", "q-2")]:
            page.keyboard.press(key)
            assert title.inner_text() == item
        page.keyboard.press("Escape")
        assert page.locator("#detail").is_hidden()
        assert page.evaluate("document.activeElement.textContent") == "q-2"
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Enter")
        assert title.inner_text() == "q-3"
        page.keyboard.press("?")
        assert page.get_by_role("dialog", name="Keyboard").is_visible()
        page.keyboard.press("Escape")
        assert title.inner_text() == "q-3"

    def test_items_that_changed_since_an_earlier_run_can_be_picked(
        self, made: Made, browser: Any, tmp_path: Path
    ) -> None:
        run = Path(shutil.copytree(made.run, tmp_path / "first"))
        lines = (run / "predictions.jsonl").read_text().splitlines()
        rows = [json.loads(line) for line in lines]
        for row in rows:
            if row["id"] == "q-2" and row["model"] == "long":
                row["parsed"] = ["A"]
        (run / "predictions.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        out = tmp_path / "page.html"
        assert run_here("report", made.run, "--since", run, "--out", out) == 0
        page = opened(browser, out, "#outcome=changed&item=q-2")
        assert listed(page) == ["q-2"]
        assert "was wrong, A in first" in page.get_by_role("region", name="long").inner_text()
        assert run_here("report", run, made.run, "--benchmark", made.root, "--out", out) == 0
        browser.goto("about:blank")
        page = opened(browser, out, "#outcome=changed&item=q-2")
        assert listed(page) == ["q-2"]
        card = page.get_by_role("region", name="long (run)").inner_text()
        assert "was wrong, A in first" in card
        assert "100 tokens in, 3 out" in card


class TestLooks:
    def test_nothing_is_cut_at_any_width(self, made: Made, browser: Any) -> None:
        page = opened(browser, made.page)
        for width in (390, 800, 1400):
            page.set_viewport_size({"width": width, "height": 800})
            for link in ("#items", "#item=q-1", "#item=q-2", "#item=q-5"):
                follow(page, link)
                assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
                hidden = page.locator("#list-pane").is_hidden()
                assert hidden == (width < 1000 and link != "#items")

    def test_marks_stand_under_the_names_of_their_models(self, made: Made, browser: Any) -> None:
        page = opened(browser, made.page, "#items")
        middle = "all => all.map((one) => one.getBoundingClientRect()).map((at) => (at.left + at.right) / 2)"
        for width in (390, 1400):
            page.set_viewport_size({"width": width, "height": 800})
            names = page.eval_on_selector_all("#list .name", middle)
            assert names == pytest.approx(
                page.eval_on_selector_all("#item-q-1 .dot", middle), abs=1.5
            )
        assert page.get_by_role("columnheader", name="long").count() == 1
        cells = page.locator("#item-q-1").get_by_role("cell").all_inner_texts()
        assert cells[0].endswith("right, answered B")

    def test_texts_go_their_own_way(self, made: Made, browser: Any) -> None:
        page = opened(browser, made.page, "#item=q-3")
        for place in ("#detail .question", "#item-q-3 .text"):
            assert page.locator(place).get_attribute("dir") == "auto"

    def test_what_is_open_or_found_is_printed_in_full(self, made: Made, browser: Any) -> None:
        page = opened(browser, made.page)
        for link, sheets in (("#item=q-1", 1), ("#tag:skill=hear", 2), ("#items", 0)):
            follow(page, link)
            page.emulate_media(media="print")
            page.evaluate("dispatchEvent(new Event('beforeprint'))")
            assert page.locator("#printed .sheet").count() == sheets
            assert page.locator("#list").is_visible() == (sheets == 0)
            assert page.locator("#printed .long").count() == 0
            page.evaluate("dispatchEvent(new Event('afterprint'))")
            assert page.locator("#printed .sheet").count() == 0
            page.emulate_media(media="screen")
