"""Release so many items of each category, and put others from the reserve in place of bad ones.

The linter's eight tags decide (Table 6 of MuseBench). What is CRITICAL or HIGH is swapped for an
item of the reserve; MEDIUM is made again, and swapped if that does not help; LOW is aligned. An
item that people rejected is swapped too. After it, no released item has one of the tags.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from reelbench.base.seeds import seed_for
from reelbench.data.items import Item
from reelbench.data.verdicts import VERDICTS_FILE, read_verdicts
from reelbench.lint.findings import TAGS, Severity
from reelbench.lint.fix import aligned
from reelbench.lint.items import RELEASE_TAGS, release_tags
from reelbench.lint.options import PROMPT_SHARE, shared_prefixes
from reelbench.make.parts.quality_loop import decided_by
from reelbench.make.parts.shares import share_of, stage_table
from reelbench.make.parts.verdicts import REJECTED_BY_PEOPLE, decided, verdicts_on
from reelbench.make.pipeline.context import StageContext
from reelbench.make.pipeline.funnel import category_of
from reelbench.make.pipeline.run import current_stages, through
from reelbench.make.pipeline.stage import BatchStage, Rejected, Stage
from reelbench.score.rounding import percent

RESERVE = "reserve"
_AGAIN = 100  # rounds that come before: those of pilots
Cell = tuple[str, str, str]  # category, sub-domain and kind
_TAG_COLUMNS = ("tag", "tier", "items", "of", "share", "low", "high")
_COLUMNS = (
    "category", "target", "released", "in reserve", "swapped by lint", "swapped by people",
    "regenerated", "aligned", "lacking",
)  # fmt: skip


def release(
    targets: Mapping[str, int] | None = None,
    share: float = 1.0,
    *,
    regenerate: Sequence[Stage] = (),
    tries: int = 1,
    tag: str = "subdomain",
    file: str = VERDICTS_FILE,
    needed: int = 1,
    name: str = "release",
    **more: Any,
) -> BatchStage:
    """Return the stage that chooses the items to release, and keeps the others as a reserve.

    ``targets`` has the number of items of each category, spread over the values of ``tag`` and the
    kinds in proportion to what there is; of a category that has none, ``share`` of its items. A bad
    item is replaced by one of the same category, value and kind, or else of the same category and
    kind. ``regenerate`` are stages that make an item again and check it, up to ``tries`` times.
    Items that people rejected by the verdicts in ``file`` are replaced; ``needed`` is as in
    ``verdicts``. What is lacking in the end is said.
    """

    async def work(
        items: Sequence[Item],
        ctx: StageContext,
        *,
        targets: Mapping[str, int],
        share: float,
        tries: int,
        tag: str,
        file: str,
        needed: int,
    ) -> list[Item | Rejected]:
        given, reviewed = read_verdicts(ctx.out / file), read_verdicts(ctx.out / VERDICTS_FILE)

        def rejects(item: Item) -> bool:
            about = verdicts_on(item, given, reviewed)
            return isinstance(decided(item, about, ctx.stage, needed, ctx.out / file), Rejected)

        stages = current_stages(regenerate, ctx)
        pool = _Pool(ctx, tag, dict(targets), share, stages, tries, rejects)
        return await pool.released(items)

    roles = dict.fromkeys(r for stage in regenerate if not stage.optional for r in stage.roles)
    may_ask = dict.fromkeys(r for stage in regenerate if stage.optional for r in stage.roles)
    prompts = dict.fromkeys(prompt for stage in regenerate for prompt in stage.prompts)
    return BatchStage(
        name=name,
        input=Item,
        output=Item,
        work=work,
        roles=tuple(roles),
        may_ask=tuple(each for each in may_ask if each not in roles),
        prompts=tuple(prompts),
        parameters={
            "targets": dict(targets or {}),
            "share": share,
            "tries": tries,
            "tag": tag,
            "file": file,
            "needed": needed,
        },
        reads=lambda _items, ctx: decided_by(ctx, regenerate),
        validate=_fault,
        **more,
    )


def _fault(parameters: Mapping[str, Any]) -> str:
    counts = parameters["targets"].values()
    if not all(isinstance(count, int) and count >= 0 for count in counts):
        return f"targets is {parameters['targets']}: give whole numbers, from 0 on"
    if not 0 < parameters["share"] <= 1:
        return f"share is {parameters['share']}: give a number over 0, up to 1"
    return "" if parameters["needed"] >= 1 else "needed must be 1 or more"


@dataclass(slots=True)
class _Counts:
    """What became of the items of a category."""

    target: int = 0
    pool: int = 0
    released: int = 0
    by_lint: int = 0
    by_people: int = 0
    regenerated: int = 0
    aligned: int = 0
    lacking: Counter[Cell] = field(default_factory=Counter)


@dataclass(slots=True)
class _Pool:
    ctx: StageContext
    tag: str
    targets: Mapping[str, int]
    share: float
    stages: Sequence[Stage]
    tries: int
    rejects: Callable[[Item], bool]
    counts: dict[str, _Counts] = field(default_factory=lambda: defaultdict(_Counts))
    reserve: dict[Cell, list[Item]] = field(default_factory=lambda: defaultdict(list))

    async def released(self, items: Sequence[Item]) -> list[Item | Rejected]:
        """Return each item as it is released, or why it is not."""
        chosen = self._choose(items)
        results: dict[str, Item | Rejected] = {}
        gone: list[tuple[Item, Rejected]] = []
        for item in chosen:
            better, why = await self._sound(item)
            if better is None:
                gone.append((item, why))
                results[item.id] = why
            else:
                results[item.id] = better
        for item, why in gone:
            self._swap(item, why, results)
        for item in (item for part in self.reserve.values() for item in part):
            results[item.id] = Rejected(RESERVE, "it is not needed")
        self._report(items, [each for each in results.values() if isinstance(each, Item)])
        return [results[item.id] for item in items]

    def cell(self, item: Item) -> Cell:
        """Return what an item counts for: its category, its value of the tag and its kind."""
        return category_of(item), ", ".join(item.tag(self.tag)), item.kind

    def _choose(self, items: Sequence[Item]) -> list[Item]:
        """Return the first choice, drawn by the seed; the others are the reserve."""
        cells: dict[Cell, list[Item]] = defaultdict(list)
        for item in sorted(items, key=lambda each: seed_for(self.ctx.seed, "release", each.id)):
            cells[self.cell(item)].append(item)
        chosen = []
        for category in sorted({cell[0] for cell in cells}):
            own = {cell: len(cells[cell]) for cell in sorted(cells) if cell[0] == category}
            count = self.counts[category]
            count.pool = sum(own.values())
            # At least one: a small category is not emptied. Floats: 0.8 of 5 is 4, not 5.
            wanted = math.ceil(round(self.share * count.pool, 6))
            count.target = self.targets.get(category, wanted)
            for cell, share in proportional(own, count.target).items():
                chosen += cells[cell][:share]
                self.reserve[cell] = cells[cell][share:]
            if count.target > count.pool:
                count.lacking[category, "", ""] += count.target - count.pool
        for category in sorted(set(self.targets) - {cell[0] for cell in cells}):
            self.counts[category].target = self.targets[category]
            self.counts[category].lacking[category, "", ""] = self.targets[category]
        return chosen

    async def _sound(self, item: Item) -> tuple[Item | None, Rejected]:
        """Return an item without tags, made again or aligned if need be; or why there is none."""
        count, tags = self.counts[category_of(item)], release_tags(item)
        better = item
        if tags and TAGS[tags[0]][0] >= Severity.HIGH:
            return None, Rejected(f"lint {TAGS[tags[0]][0].name}", ", ".join(tags))
        for number in range(1, self.tries + 1 if self.stages else 1):
            if not _worst_is(tags, Severity.MEDIUM):
                break
            made = await through(self.stages, [item], self.ctx.derived(round=_AGAIN + number))
            better = made.out[0] if len(made.out) == 1 else better
            tags = release_tags(better)
            count.regenerated += not _worst_is(tags, Severity.MEDIUM)
        if _worst_is(tags, Severity.MEDIUM):
            return None, Rejected(f"lint {TAGS[tags[0]][0].name}", ", ".join(tags))
        if tags:
            better = aligned(better)
            count.aligned += 1
        if left := release_tags(better):
            return None, Rejected("lint LOW", ", ".join(left))
        if self.rejects(better):
            return None, Rejected(REJECTED_BY_PEOPLE, "an item of the reserve takes its place")
        return better, Rejected("")

    def _swap(self, item: Item, why: Rejected, results: dict[str, Item | Rejected]) -> None:
        """Put an item of the reserve in the place of a bad one, or count that it is lacking."""
        count, own = self.counts[category_of(item)], self.cell(item)
        if why.reason == REJECTED_BY_PEOPLE:
            count.by_people += 1
        else:
            count.by_lint += 1
        near = [cell for cell in sorted(self.reserve) if cell[::2] == own[::2] and cell != own]
        for cell in (own, *near):
            while self.reserve[cell]:
                other = self.reserve[cell].pop(0)
                fit = _fit(other)
                if fit is not None and not self.rejects(fit):
                    count.aligned += fit is not other
                    results[other.id] = fit
                    return
                reason = REJECTED_BY_PEOPLE if fit is not None else "lint in the reserve"
                results[other.id] = Rejected(reason, ", ".join(release_tags(other)))
        count.lacking[own] += 1

    def _report(self, pool: Sequence[Item], released: Sequence[Item]) -> None:
        ctx = self.ctx
        ctx.tables.append(_tag_table("The eight lint tags before release", pool))
        ctx.tables.append(_tag_table("The eight lint tags after release", released))
        for item in released:
            self.counts[category_of(item)].released += 1
        rows = []
        for category, count in sorted(self.counts.items()):
            left = sum(len(part) for cell, part in self.reserve.items() if cell[0] == category)
            lacking = sum(count.lacking.values())
            numbers = (count.by_lint, count.by_people, count.regenerated, count.aligned)
            rows.append([category, count.target, count.released, left, *numbers, lacking])
            if lacking:
                where = "; ".join(
                    f"{number} of {' / '.join(each for each in cell if each)}"
                    for cell, number in sorted(count.lacking.items())
                )
                ctx.notes.append(
                    f"{ctx.stage}: {category or 'the pool'} has {count.released} of "
                    f"{count.target} items, and the reserve none to replace: {where}"
                )
        ctx.tables.append(stage_table("Release and reserve", _COLUMNS, rows))
        ctx.tables.append(self._cells(released))

    def _cells(self, released: Sequence[Item]) -> Mapping[str, Any]:
        """Return how many items are released and in reserve, by category, value and kind."""
        out = Counter(map(self.cell, released))
        cells = sorted({*out, *(cell for cell, part in self.reserve.items() if part)})
        rows = [[*cell, out[cell], len(self.reserve.get(cell, ()))] for cell in cells]
        columns = ("category", self.tag, "kind", "released", "in reserve")
        return stage_table(f"Release and reserve by {self.tag} and kind", columns, rows)


def _worst_is(tags: Sequence[str], tier: Severity) -> bool:
    """Whether the worst of some tags, the most severe first, is of a tier or above it."""
    return bool(tags) and TAGS[tags[0]][0] >= tier


def _fit(item: Item) -> Item | None:
    """Return an item of the reserve that can be used, aligned if need be; None if it cannot."""
    tags = release_tags(item)
    if not tags:
        return item
    if _worst_is(tags, Severity.MEDIUM):
        return None
    fit = aligned(item)
    return None if release_tags(fit) else fit


def proportional(counts: Mapping[Cell, int], target: int) -> dict[Cell, int]:
    """Divide a target in proportion to counts, at most as many of each, by largest remainders.

    Of equal remainders, the rarer cell is rounded up.
    """
    total = sum(counts.values())
    target = min(target, total)
    exact = {cell: target * count / total for cell, count in counts.items() if total}
    shares = {cell: int(share) for cell, share in exact.items()}
    rest = sorted(exact, key=lambda cell: (shares[cell] - exact[cell], counts[cell], cell))
    for cell in rest[: target - sum(shares.values())]:
        shares[cell] += 1
    return shares


def _tag_table(title: str, items: Sequence[Item]) -> Mapping[str, Any]:
    """Return the share of items with each tag, with any, and with one that is CRITICAL or HIGH.

    The paper's prompt has a stricter threshold for prefixes than its tag: that is a row, too.
    """
    found = [release_tags(item) for item in items]
    rows: list[list[Any]] = [
        [tag, TAGS[tag][0].name, *share_of(items, [tag in tags for tags in found]).cells]
        for tag in RELEASE_TAGS
    ]
    rows.append(["any of them", "", *share_of(items, [bool(tags) for tags in found]).cells])
    severe = [_worst_is(tags, Severity.HIGH) for tags in found]
    rows.append(["CRITICAL and HIGH", "", *share_of(items, severe).cells])
    alike = [hits > PROMPT_SHARE * pairs for hits, pairs in map(shared_prefixes, items)]
    name = f"over {percent(PROMPT_SHARE, 0)} of pairs share a prefix"
    rows.append([name, "", *share_of(items, alike).cells])
    return stage_table(f"{title} (shares with 95 % intervals)", _TAG_COLUMNS, rows)
