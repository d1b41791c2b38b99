"""Quotas by tag: no more than asked for, drawn by the seed, and what lacks is said."""

from pathlib import Path
from typing import Any

import pytest
from parts import Studio, recipe_of
from support import make_item

from reelbench.base.errors import ReelbenchError
from reelbench.make.parts.quota import quota
from reelbench.make.pipeline.context import StageContext
from reelbench.make.pipeline.run import Pipeline

ITEMS = [make_item(n, tags={"size": "big" if n % 3 else "small"}) for n in range(12)]


def take(
    folder: Path, stage: Any, items: Any = ITEMS, seed: int = 0
) -> tuple[list[str], list[str]]:
    """The ids that are kept, and what is said."""
    notes: list[str] = []

    async def through(ctx: StageContext) -> Any:
        (passed,) = await Pipeline(recipe_of(stage), ctx, ctx.store).take(items)
        notes.extend(ctx.notes)
        return [row.id for row in passed.out]

    return Studio(folder, seed=seed).with_context(through)[0], notes


def sizes(ids: list[str]) -> dict[str, int]:
    found = [item.tags["size"] for item in ITEMS if item.id in ids]
    return {size: found.count(size) for size in ("big", "small")}


class TestQuota:
    def test_keeps_no_more_than_asked_for_drawn_by_the_seed(self, tmp_path: Path) -> None:
        stage = quota("size", {"big": 5, "small": 2})
        kept, notes = take(tmp_path, stage)
        assert sizes(kept) == {"big": 5, "small": 2}
        assert notes == []
        assert take(tmp_path, stage)[0] == kept
        assert kept == [item.id for item in ITEMS if item.id in kept], "in the order they came"
        assert any(take(tmp_path, stage, seed=seed)[0] != kept for seed in (1, 2, 3))

    def test_says_what_lacks_each_time(self, tmp_path: Path) -> None:
        for _ in range(2):
            kept, notes = take(tmp_path, quota("size", {"big": 8, "small": 5, "huge": 1}))
            assert len(kept) == 12
            assert notes == ["quota: too few items by size: small 4 of 5, huge 0 of 1"]

    @pytest.mark.parametrize(("exclusive", "left"), [(False, 8 + 1), (True, 1)])
    def test_does_not_limit_what_has_none_unless_exclusive(
        self, exclusive: bool, left: int, tmp_path: Path
    ) -> None:
        kept, _ = take(tmp_path, quota("size", {"small": 1}, exclusive=exclusive))
        assert len(kept) == left

    def test_counts_an_item_of_several_values_for_each(self, tmp_path: Path) -> None:
        items = [make_item(n, tags={"size": ("big", "small")}) for n in range(4)]
        kept, notes = take(tmp_path, quota("size", {"big": 2, "small": 3}), items)
        assert len(kept) == 2
        assert notes == ["quota: too few items by size: small 2 of 3"]

    @pytest.mark.parametrize("count", [-1, 1.5, "many"])
    def test_that_cannot_be_is_refused(self, count: Any) -> None:
        with pytest.raises(ReelbenchError, match=r"quota\.most is"):
            quota("size", {"big": count})
