"""Nothing outside of a benchmark's folder is read, whoever names it and however links lead there."""

from pathlib import Path

import pytest
from support import make_item

from reelbench.base.errors import ReelbenchError
from reelbench.data.benchmark import BenchmarkError, read_items
from reelbench.data.items import Media, freeze
from reelbench.data.paths import inner_path
from reelbench.evaluate.prompt import load_prompts
from reelbench.evaluate.rubric import load_rubric

SCHEMA = '{"type": "object", "properties": {"grade": {"enum": [0, 1]}}, "required": ["grade"]}'


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A benchmark's folder beside one with secrets."""
    (tmp_path / "secret").mkdir()
    for name in ("single.md", "prompt.md", "schema.json", "words.srt", "a.mp4"):
        (tmp_path / "secret" / name).write_text("{{question}} {{options}} {{response}} secret")
    (tmp_path / "secret" / "schema.json").write_text(SCHEMA)
    root = tmp_path / "b"
    (root / "mine").mkdir(parents=True)
    return root


@pytest.mark.parametrize(
    "name", ["../secret/single.md", "/etc/passwd", "mine/../../x", "", None, 3]
)
def test_names_that_leave_the_folder(name: object, root: Path) -> None:
    with pytest.raises(ReelbenchError, match="is not inside"):
        inner_path(root, name)


def test_links_may_stay_inside_but_not_leave(root: Path) -> None:
    (root / "real.md").write_text("here")
    (root / "mine" / "inner.md").symlink_to("../real.md")
    (root / "mine" / "outer.md").symlink_to("../../secret/single.md")
    (root / "way").symlink_to("../secret")
    (root / "round").symlink_to("../b/mine")  # out and in again
    assert inner_path(root, "mine/inner.md").read_text() == "here"
    assert inner_path(root, "round/inner.md").read_text() == "here"
    for name in ("mine/outer.md", "way/single.md", "way", "round/outer.md"):
        with pytest.raises(ReelbenchError, match="a link to"):
            inner_path(root, name)


def test_a_folder_that_is_itself_reached_by_a_link_is_inside(root: Path) -> None:
    (root / "mine" / "a.md").write_text("here")
    (root.parent / "alias").symlink_to("b")
    assert inner_path(root.parent / "alias", "mine/a.md").read_text() == "here"


def test_prompts_and_rubrics_that_are_links(root: Path) -> None:
    for name in ("single.md", "prompt.md", "schema.json"):
        (root / "mine" / name).symlink_to(root.parent / "secret" / name)
    (root / "theirs").symlink_to(root.parent / "secret")
    for folder in ("mine", "theirs"):
        with pytest.raises(ReelbenchError, match=r"is not inside .*\(a link to"):
            load_prompts(folder, root, {"single"})
        with pytest.raises(ReelbenchError, match=r"is not inside .*\(a link to"):
            load_rubric(folder, root)


@pytest.mark.parametrize("named", [None, "words/a.srt"])
def test_subtitles_that_are_links_are_problems_of_the_item(named: str | None, root: Path) -> None:
    (root / "media").mkdir()
    (root / "words").mkdir()
    (root / "media" / "1.mp4").touch()
    (root / (named or "media/1.vtt")).symlink_to(root.parent / "secret" / "words.srt")
    extra = freeze({"subtitles": named} if named else {})
    item = make_item(1, media=(Media("media/1.mp4", extra=extra),))
    (root / "items.jsonl").write_text(item.to_line() + "\n")
    (problem,) = read_items(root / "items.jsonl").problems
    assert (problem.code, problem.field) == ("MEDIA_PATH", "media[0].subtitles")
    assert "words.srt" in str(BenchmarkError([problem]))
