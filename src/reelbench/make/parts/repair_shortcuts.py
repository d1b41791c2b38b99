"""Repair what gives keys away over a whole set: measure, have wrong options rewritten, verify.

Filters look at items one by one, and a rule of thumb that is right in most of them passes: the key
is the longest option, the middle number, or is worded like other keys. Each round takes the fewest
items after which the rules are right no more often than chance, has their wrong options written
anew for the reason that was found, and takes them through the filters again. A rewriting that does
not pass is not used: the item stays as it was, and is tried again in the next round.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from reelbench.base.progress import counted
from reelbench.base.seeds import rng_for
from reelbench.data.items import Item
from reelbench.make.parts.balance_stages import balance_key_positions
from reelbench.make.parts.notes import Kept, with_note
from reelbench.make.parts.rewrite_options import (
    REWRITINGS,
    WantedOptions,
    can_be_rewritten,
    marked,
    rewrite_options,
)
from reelbench.make.parts.rounds import RoundOutcome, RoundState, rounds
from reelbench.make.parts.shares import stage_table
from reelbench.make.parts.shortcut_choice import items_to_repair, wanted_options
from reelbench.make.parts.shortcut_measures import (
    MEASURED,
    NONE,
    POSITION,
    REWRITTEN,
    WORDING,
    YES_NO,
    ShortcutMeasure,
    before_and_after,
    beyond_chance_of,
    shortcut_measures,
    shortcut_table,
)
from reelbench.make.parts.shortcuts import Bet, beyond_chance
from reelbench.make.pipeline.context import StageContext
from reelbench.make.pipeline.run import current_stages, through
from reelbench.make.pipeline.stage import BatchStage, Rejected, Stage
from reelbench.score.rounding import percent

_GUESSED = WantedOptions(("it is not known yet what gives it away",), longer=1)  # for forecasts
_OTHERS = {  # what other stages are for
    YES_NO: "choose_negations() and negate() turn questions into their opposite",
    NONE: "none_of_the_above() says how often it is right",
}


def repair_shortcuts(
    verify: Sequence[Stage] = (),
    unlikely: float = 0.05,
    *,
    quiet: int = 2,
    most: int = 6,
    longest: float = 2.0,
    drop: bool = False,
    expected_share: float = 0.25,
    name: str = "repair-shortcuts",
    role: str = "writer",
    **more: Any,
) -> BatchStage:
    """Return the stage that has wrong options rewritten until no rule of thumb finds the key.

    A rule (the longest or the shortest option, the least, middle or greatest number, a blind
    baseline that learns from the other half) is left alone unless chance would be right as often
    with a probability below ``unlikely``. ``verify`` are stages of the recipe, which a rewritten
    item must pass again. It ends when all rules are within chance, after ``quiet`` rounds in a row
    that bring nothing, or after ``most`` rounds. With ``drop``, what is beyond chance then is
    dropped; else it stays and is said. Where right options stand in some positions too often,
    options change places. A forecast expects ``expected_share`` of items that are not there yet to
    be rewritten.
    """
    inner = rewrite_options(longest, name=name, role=role)

    async def work(
        items: Sequence[Item], ctx: StageContext, *, drop: bool, longest: float, **limits: Any
    ) -> Kept:
        present = {stage.name for stage in ctx.stages}
        again = current_stages([stage for stage in verify if stage.name in present], ctx)
        rewriting = rewrite_options(longest, name=ctx.stage, role=role)
        repair = _Repair([rewriting, *again], limits["unlikely"], expected_share)
        if ctx.is_forecast:
            limits |= {"quiet": 1, "most": 1}
        stage: Any = rounds(
            repair.one_round,
            input=Item,
            output=Item,
            name=ctx.stage,
            quiet=limits["quiet"],
            most=limits["most"],
        )
        made = await stage.work(items, ctx, **stage.parameters) if items else []
        if ctx.is_forecast or not all(isinstance(each, list) for each in made):
            return list(made)
        noted = [repair.noted(item, ctx.stage) for (item,) in made]
        left = await _placed(noted, limits["unlikely"], ctx)
        dropped = _beyond(left, limits["unlikely"]) if drop else {}
        repair.report(items, [i for i in left if i.id not in dropped], len(dropped), ctx, verify)
        return [dropped.get(item.id, item) for item in left]

    may_ask = dict.fromkeys(each for stage in verify for each in (*stage.roles, *stage.may_ask))
    prompts = dict.fromkeys(each for stage in (inner, *verify) for each in stage.prompts)
    return BatchStage(
        name=name,
        input=Item,
        output=Item,
        work=work,
        roles=(role,),
        may_ask=tuple(each for each in may_ask if each != role),
        prompts=tuple(prompts),
        parameters={
            "unlikely": unlikely,
            "quiet": quiet,
            "most": most,
            "longest": longest,
            "drop": drop,
        },
        reads=lambda _items, ctx: [
            [stage.name, stage.version, dict(stage.parameters)]
            for stage in ctx.stages
            if stage.name in {each.name for each in verify}
        ],
        validate=_fault,
        expected_tokens=inner.expected_tokens,
        **more,
    )


def _fault(values: Mapping[str, Any]) -> str:
    for name in ("quiet", "most"):
        if values[name] < 1:
            return f"{name} is {values[name]}: give a number from 1 on"
    if not 0 < values["unlikely"] < 1:
        return f"unlikely is {values['unlikely']}: give a probability between 0 and 1"
    return "" if values["longest"] >= 1 else f"longest is {values['longest']}: give 1 or more"


@dataclass(slots=True)
class _Repair:
    """The repair of a set of items, and what came of it so far."""

    stages: Sequence[Stage]  # what rewrites, and what a rewritten item must pass
    unlikely: float
    expected_share: float
    rounds: int = 0  # in which something was rewritten
    # Why rewritings were not used, by item: the stage and its reject.
    unused: dict[str, list[tuple[str, Rejected]]] = field(default_factory=lambda: defaultdict(list))

    @property
    def reasons(self) -> dict[str, int]:
        """How many rewritings were not used, by stage and reason."""
        every = [f"{stage}: {why.reason}" for own in self.unused.values() for stage, why in own]
        return dict(sorted(Counter(every).items()))

    async def one_round(
        self, items: Sequence[Item], ctx: StageContext, state: RoundState
    ) -> RoundOutcome:
        """Rewrite what it takes to bring the rules to chance; what passes takes its place."""
        now: list[Item] = [state.made[item.id][0] for item in items] if state.made else list(items)
        wanted, excess = self._wanted(now, ctx)
        best = state.memory
        rows = [marked(item, ctx.stage, wanted[item.id]) for item in now if item.id in wanted]
        if rows:
            self.rounds += 1
            passed = await through(self.stages, rows, ctx.derived(round=state.number))
            for stage, row, why in passed.rejects:
                self.unused[row.id].append((stage, why))
            new = {item.id: item for item in passed.out}
            now = [new.get(item.id, item) for item in now]
        is_less = bool(rows) and (best is None or excess < best)
        return RoundOutcome(
            {item.id: [item] for item in now},
            memory=excess if best is None else min(best, excess),
            findings=[f"round {state.number}"] if is_less else (),
        )

    def _wanted(
        self, items: Sequence[Item], ctx: StageContext
    ) -> tuple[dict[str, WantedOptions], float]:
        """Return what is to be rewritten and how, and how much the rules win beyond chance."""
        real = [item for item in items if item.id not in ctx.imagined]
        measures = shortcut_measures(real)
        beyond = beyond_chance_of(measures, self.unlikely, REWRITTEN)
        excess = sum(measure.excess for measure in beyond.values())
        # What a rule says in a word comes first: the baseline learns that, too.
        plain = {name: each for name, each in beyond.items() if name != WORDING} or beyond
        chosen = items_to_repair(plain, {id_: len(own) for id_, own in self.unused.items()})
        wanted = wanted_options(real, chosen, plain, ctx.seed)
        imagined = [item for item in items if item.id in ctx.imagined and can_be_rewritten(item)]
        for item in imagined:
            if rng_for(ctx.seed, "forecast", ctx.stage, item.id).random() < self.expected_share:
                wanted[item.id] = _GUESSED
        if imagined:
            ctx.notes.append(
                f"what gives keys away is not known yet, so {ctx.stage} is expected to have "
                f"{percent(self.expected_share, 0)} of the items rewritten, in one round"
            )
        return wanted, excess

    def noted(self, item: Item, stage: str) -> Item:
        """Return an item with the rewritings of it that were not used in its note, and why."""
        own = self.unused.get(item.id, ())
        unused = [f"{where}: {why.reason}: {why.detail}" for where, why in own]
        note = {**item.provenance.get(stage, {}), "unused": unused}
        return with_note(item, stage, note) if unused else item

    def report(
        self,
        items: Sequence[Item],
        left: Sequence[Item],
        dropped: int,
        ctx: StageContext,
        verify: Sequence[Stage],
    ) -> None:
        """Show all measures before and after, and say what was beyond chance and what still is."""
        before, after = shortcut_measures(items), shortcut_measures(left)
        notes = [each.provenance.get(ctx.stage, {}) for each in left]
        done = sum(bool(note.get(REWRITINGS)) for note in notes)
        ctx.tables.append(shortcut_table("Shortcuts before and after repair", before, after))
        if self.rounds:
            rows = [["items rewritten, which passed again", done]]
            rows += [[f"rewritings not used: {why}", count] for why, count in self.reasons.items()]
            rows += [["items dropped", dropped]] if dropped else []
            ctx.tables.append(stage_table("Options rewritten", ("outcome", "number"), rows))
        found = beyond_chance_of(before, self.unlikely, MEASURED)
        still = beyond_chance_of(after, self.unlikely, MEASURED)
        what = f"{counted(done, 'item')} rewritten in {counted(self.rounds, 'round')}"
        what += f", {dropped:,} dropped" if dropped else ""
        ctx.notes += [
            f"{ctx.stage}: {before_and_after(measure, after.get(name))} ({what})"
            for name, measure in found.items()
        ]
        ctx.notes += [self._shortfall(name, each, ctx) for name, each in still.items()]
        absent = {each.name for each in verify} - {stage.name for stage in ctx.stages}
        if done and absent:
            ctx.notes.append(
                f"{ctx.stage}: rewritten items were not held against {', '.join(sorted(absent))}, "
                "left out of this make"
            )

    def _shortfall(self, name: str, measure: ShortcutMeasure, ctx: StageContext) -> str:
        """Return that a rule is still right beyond chance, and what can be done about it."""
        unused = ", ".join(f"{count} {why}" for why, count in self.reasons.items())
        reason = f"; rewritings that were not used: {unused}" if unused else ""
        help_ = _OTHERS.get(name) or f"--set {ctx.stage}.most=N for more rounds, drop=true to drop"
        return (
            f"{ctx.stage}: {measure.picks} is still right beyond chance, in {measure} of "
            f"{counted(len(measure.guesses), 'item')}, where chance gives "
            f"{percent(measure.chance)}{reason} ({help_})"
        )


async def _placed(items: list[Item], unlikely: float, ctx: StageContext) -> list[Item]:
    """Return items with right options in even positions, where they were not."""
    if not beyond_chance_of(shortcut_measures(items), unlikely, [POSITION]):
        return items
    placing = balance_key_positions(name=f"{ctx.stage}-positions")
    return list((await through([placing], items, ctx)).out)


def _beyond(items: Sequence[Item], unlikely: float) -> dict[str, Rejected]:
    """Return the items that rules get right beyond chance, each with the reason to drop it."""
    dropped: dict[str, Rejected] = {}
    while True:  # what one rule loses another may win
        left = [item for item in items if item.id not in dropped]
        beyond = beyond_chance_of(shortcut_measures(left), unlikely, REWRITTEN)
        # A rule may be beyond chance by options that tie alone, which are no bets.
        found = next(filter(None, map(_dropped_for, beyond.values())), {})
        if not found:
            return dropped
        dropped |= found


def _dropped_for(measure: ShortcutMeasure) -> dict[str, Rejected]:
    """Return the items after which one rule is at chance, each with the reason to drop it."""
    clear = [guess for guess in measure.guesses if len(guess.places) == 1]
    clear.sort(key=lambda guess: (-guess.lead, guess.item.id))
    bets = [Bet(guess.item, guess.right == 1, guess.chance) for guess in clear]
    detail = f"{measure.picks} is right in {measure} of {counted(len(bets), 'item')}"
    why = Rejected("a shortcut is right too often", detail)
    return {item.id: why for item in beyond_chance(bets)}
