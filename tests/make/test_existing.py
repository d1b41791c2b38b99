"""What the items of a benchmark need goes with them into another folder."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from support import make_item

from reelbench.data.items import Item, Media
from reelbench.make.parts.existing import collect as collect_stage
from reelbench.make.pipeline.stage import Rejected


@pytest.fixture
def collect(tmp_path: Path) -> Callable[[str], Any]:
    """Put one file, named by an item, from ``source`` into ``out``."""
    (tmp_path / "source" / "media").mkdir(parents=True)

    def work(name: str) -> list[Item]:
        ctx: Any = SimpleNamespace(source=tmp_path / "source", out=tmp_path / "out")
        item = make_item(media=(Media(name),))
        made: Any = asyncio.run(collect_stage().work(item, ctx))  # type: ignore[arg-type]
        assert collect_stage().outputs_exist(item, ctx)
        return list(made)

    return work


def test_a_file_has_a_second_name(tmp_path: Path, collect: Callable[[str], Any]) -> None:
    there, here = (tmp_path / folder / "media" / "a.mp4" for folder in ("source", "out"))
    there.write_bytes(b"frames")
    (item,) = collect("media/a.mp4")
    assert item.media == (Media("media/a.mp4"),)
    assert here.samefile(there)


@pytest.mark.parametrize("relative", [True, False])
def test_a_link_becomes_the_file_that_it_leads_to(
    tmp_path: Path, collect: Callable[[str], Any], relative: bool
) -> None:
    """A relative link would lead nowhere from another folder."""
    kept = tmp_path / "disk" / "a.mp4"
    kept.parent.mkdir()
    kept.write_bytes(b"frames")
    link = tmp_path / "source" / "media" / "a.mp4"
    link.symlink_to("../../disk/a.mp4" if relative else kept)
    collect("media/a.mp4")
    here = tmp_path / "out" / "media" / "a.mp4"
    assert not here.is_symlink()
    assert here.read_bytes() == b"frames"
    assert link.is_symlink(), "the source is left as it is"


def test_what_was_there_under_the_name_is_replaced(
    tmp_path: Path, collect: Callable[[str], Any]
) -> None:
    old = tmp_path / "elsewhere.mp4"
    old.write_bytes(b"another's")
    here = tmp_path / "out" / "media" / "a.mp4"
    here.parent.mkdir(parents=True)
    here.symlink_to(old)
    (tmp_path / "source" / "media" / "a.mp4").write_bytes(b"frames")
    collect("media/a.mp4")
    assert here.read_bytes() == b"frames"
    assert old.read_bytes() == b"another's", "it was written through the link"


@pytest.mark.parametrize("name", ["make/a.mp4", "make/videos/a.mp4", "./make/a.mp4"])
def test_a_file_where_making_keeps_its_own_is_rejected(
    tmp_path: Path, collect: Callable[[str], Any], name: str
) -> None:
    there = tmp_path / "source" / name
    there.parent.mkdir(parents=True)
    there.write_bytes(b"frames")
    with pytest.raises(Rejected) as told:
        collect(name)
    assert told.value.reason == "a file in make/"
    assert name in told.value.detail
    assert not (tmp_path / "out" / "make").exists()


def test_a_file_that_is_not_there_is_left_out(
    tmp_path: Path, collect: Callable[[str], Any]
) -> None:
    assert len(collect("media/gone.mp4")) == 1
    assert not (tmp_path / "out" / "media" / "gone.mp4").exists()
