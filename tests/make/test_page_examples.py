"""The page of a make shows some items of each category with their media."""

from pathlib import Path

from pages import Elements, stage, written
from support import make_item

from reelbench.data.items import Item, Media, freeze
from reelbench.make.pipeline.run import StageResult
from reelbench.make.pipeline.stage import WAITING, Rejected, Undecided
from reelbench.make.pipeline.store import RowResult


def an_item(folder: Path, number: int, category: str, media: str = "") -> Item:
    name = media or f"media/{number}.mp4"
    path = folder / name
    path.parent.mkdir(exist_ok=True)
    path.touch()
    return make_item(number, media=(Media(name),), tags=freeze({"category": category}))


def sources_of(page: str, tag: str) -> list[str | None]:
    return [each["src"] for name, each in Elements(page).found if name == tag]


def test_three_of_each_category_are_shown_each_with_another_video(tmp_path: Path) -> None:
    items = [an_item(tmp_path, n, "x", f"media/{n // 2}.mp4") for n in range(8)]
    items += [an_item(tmp_path, 9, "y")]
    passed = [StageResult(stage("keep"), items, [RowResult([item]) for item in items])]
    _, page, _ = written(tmp_path, passed)
    shown = ["media/0.mp4", "media/1.mp4", "media/2.mp4", "media/9.mp4"]
    assert sources_of(page, "video") == [f"{name}#t=0.001" for name in shown]
    assert "media-src blob: 'self' file:" in page.replace("&#39;", "'")


def test_what_waits_for_people_is_shown_after_what_is_finished(tmp_path: Path) -> None:
    items = [an_item(tmp_path, number, "x") for number in range(3)]
    waits = Undecided(WAITING, "1 more verdict needed")
    results = [waits, RowResult([items[1]]), Undecided("error", "no reply")]
    _, page, _ = written(tmp_path, [StageResult(stage("verify"), items, results)])
    assert sources_of(page, "video") == ["media/1.mp4#t=0.001", "media/0.mp4#t=0.001"]
    assert "1 item, 1 waits for people" in page
    assert page.count("waits for people at verify") == 1


def test_names_with_odd_characters_are_addresses(tmp_path: Path) -> None:
    names = ["media/a #1?.mp4", 'media/"><b>.png', "media/ü%20.wav"]
    items = [an_item(tmp_path, n, "x", name) for n, name in enumerate(names)]
    passed = [StageResult(stage("keep"), items, [RowResult([item]) for item in items])]
    _, page, _ = written(tmp_path, passed)
    assert sources_of(page, "video") == ["media/a%20%231%3F.mp4#t=0.001"]
    assert sources_of(page, "img") == ["media/%22%3E%3Cb%3E.png"]
    assert sources_of(page, "audio") == ["media/%C3%BC%2520.wav#t=0.001"]


def test_reasons_say_of_which_categories_they_are(tmp_path: Path) -> None:
    items = [an_item(tmp_path, number, "y" if number else "x") for number in range(3)]
    passed = [StageResult(stage("drop"), items, [RowResult(rejected=Rejected("bad"))] * 3)]
    _, page, _ = written(tmp_path, passed)
    assert "<small>x 1, y 2</small>" in page


def test_a_card_has_the_kind_the_number_of_options_and_the_other_tags(tmp_path: Path) -> None:
    item = an_item(tmp_path, 1, "Game Arts").replace(
        kind="multi",
        options=["a", "b", "c", "d", "e"],
        answer=["A", "C"],
        tags={"category": "Game Arts", "subdomain": "CG"},
    )
    _, page, _ = written(tmp_path, [StageResult(stage("keep"), [item], [RowResult([item])])])
    facts = "<bdi>multi-select</bdi> · <bdi>5 options</bdi> · <bdi>CG</bdi>"
    assert facts in page
    assert page.count('<li class="key">') == 2
