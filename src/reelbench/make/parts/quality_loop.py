"""Rules that grow out of bad cases: pilots are made, reviewed and summarised in rounds.

Each category goes its own way. A round makes a pilot by the rules so far and has it reviewed, by
people where they decided, else by a model, else it waits. Failures are merged onto types; a type
that no rule answers gets a rule, in the prompt where it can help. What failed is made again in the
next round, so that each bad case shows what was before, the rule, and what came after. A category
leaves the loop after some rounds in a row without a new type.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from msgspec import structs

from reelbench.base.files import digest_of_file
from reelbench.base.seeds import seed_for
from reelbench.data.items import Item, freeze
from reelbench.data.verdicts import VERDICTS_FILE
from reelbench.make.parts.bad_cases import CaseSummarizer
from reelbench.make.parts.filters import context_of
from reelbench.make.parts.loop_history import LoopHistory, LoopRound, PilotItem
from reelbench.make.parts.loop_report import publish
from reelbench.make.parts.pilot_review import Material, PilotReview, PilotVerdict, waiting
from reelbench.make.parts.rounds import RoundOutcome, RoundState, rounds
from reelbench.make.parts.rules import DESTINATIONS, Rule, load_rules
from reelbench.make.parts.rules_used import keep_rules
from reelbench.make.pipeline.context import StageContext, together
from reelbench.make.pipeline.funnel import category_of
from reelbench.make.pipeline.run import RoundRows, current_stages, through
from reelbench.make.pipeline.stage import BatchStage, Rejected, Stage

PILOT_FILE = "pilot-verdicts.jsonl"
_NO_RULES = "name: rules\nversion: '1'\nred_lines: []"


def refine(
    produce: Sequence[Stage],
    dimensions: Mapping[str, str],
    destinations: Mapping[str, str],
    *,
    rows: type,
    pilot: int = 12,
    quiet: int = 3,
    most: int = 10,
    file: str = PILOT_FILE,
    needed: int = 1,
    material: Material = context_of,
    with_rules: Callable[[Any, str], Any] = lambda row, digest: structs.replace(row, rules=digest),
    name: str = "refine",
    role: str = "summarizer",
    reviewer: str = "reviewer",
    **more: Any,
) -> BatchStage:
    """Return the stage that finds the rules of each category in rounds of pilots.

    ``produce`` are the stages that make items of a row; where the recipe has a stage of the same
    name, that one is used, with its parameters. ``dimensions`` has the meaning of each dimension of
    failure, ``destinations`` the prompt that its rules go to. A pilot has ``pilot`` items. Verdicts
    are read from ``file`` and from a review, ``needed`` of them for each item; where there is none,
    the model of ``reviewer`` is asked, if one is named, with what ``material`` returns for an item.
    The model of ``role`` names types and rules. A category ends after ``quiet`` rounds in a row
    without a new type, or after ``most`` rounds: the failure types that stay are then said.
    ``with_rules`` returns a row with the digest of its rule set, which is kept in the store.
    """
    own = {
        "pilot": pilot,
        "file": file,
        "needed": needed,
        "dimensions": dict(dimensions),
        "destinations": dict(destinations),
    }
    asked = dict.fromkeys(each for stage in produce for each in stage.roles if not stage.optional)
    prompts = dict.fromkeys(each for stage in produce for each in stage.prompts)

    async def work(
        found: Sequence[Any], ctx: StageContext, *, quiet: int, most: int, **values: Any
    ) -> Sequence[Any]:
        histories: dict[str, LoopHistory] = {}
        loop = _Loop(current_stages(produce, ctx), material, with_rules, role, reviewer, histories)
        stage = rounds(
            loop.one_round,
            input=rows,
            output=rows,
            name=name,
            group=category_of,
            quiet=quiet,
            most=quiet if ctx.is_forecast else most,
            parameters=values,
        )
        results: Any = stage.work(found, ctx, **stage.parameters)
        results = await results
        if not ctx.is_forecast:
            publish([histories[each] for each in sorted(histories)], ctx, quiet, most)
        return list(results)

    return BatchStage(
        name=name,
        input=rows,
        output=rows,
        work=work,
        roles=tuple(dict.fromkeys((*asked, role))),
        may_ask=(reviewer,),
        prompts=tuple(dict.fromkeys((*prompts, "rules", "review", "summary"))),
        parameters={"quiet": quiet, "most": most, **own},
        reads=lambda _rows, ctx: decided_by(ctx, produce),
        expected_tokens=max((stage.expected_tokens for stage in produce), default=0),
        validate=_fault,
        **more,
    )


def _fault(parameters: Mapping[str, Any]) -> str:
    for name in ("pilot", "quiet", "most", "needed"):
        if parameters[name] < 1:
            return f"{name} is {parameters[name]}: give a number from 1 on"
    dimensions, destinations = parameters["dimensions"], parameters["destinations"]
    if lacking := [each for each in dimensions if destinations.get(each) not in DESTINATIONS]:
        return f"destinations must have one of {', '.join(DESTINATIONS)} for {', '.join(lacking)}"
    return ""


def decided_by(ctx: StageContext, produce: Sequence[Stage]) -> Any:
    """Return what else decides a stage with others inside: verdicts, and how those are set."""
    file = ctx.at_work.parameters["file"] if ctx.at_work else VERDICTS_FILE
    paths = [ctx.out / name for name in dict.fromkeys((file, VERDICTS_FILE))]
    digests = [digest_of_file(path) if path.is_file() else None for path in paths]
    stages = current_stages(produce, ctx)
    settings = [[each.name, each.version, dict(each.parameters)] for each in stages]
    return [digests, settings]


@dataclass(frozen=True, slots=True)
class _Loop:
    stages: Sequence[Stage]
    material: Material
    with_rules: Callable[[Any, str], Any]
    summarizer: str
    reviewer: str
    histories: dict[str, LoopHistory]

    async def one_round(
        self,
        rows: Sequence[Any],
        ctx: StageContext,
        state: RoundState,
        *,
        pilot: int,
        file: str,
        needed: int,
        dimensions: Mapping[str, str],
        destinations: Mapping[str, str],
    ) -> RoundOutcome:
        """Make a pilot of a category, have it reviewed, and add rules for what is new in it."""
        start = ctx.prompts.rules or load_rules(_NO_RULES)
        history = self.histories.setdefault(state.group, LoopHistory(state.group, [start]))
        rules = history.versions[-1]
        own = ctx.derived(rules=rules, round=state.number)
        made = await self._pilot(rows, history, own, pilot)
        review = PilotReview(dimensions, self.material, file, needed, self.reviewer)
        items = [each.item for each in made]
        found = await review.verdicts(items, own)
        if not ctx.is_forecast:
            where = f"{state.group or 'the pilot'}, round {state.number}"
            if lacking := waiting(found, items, where):
                history.rounds.append(LoopRound(state.number, rules, made))
                raise lacking
        verdicts = [each for each in found if isinstance(each, PilotVerdict)]
        summarizer = CaseSummarizer(review, destinations, self.summarizer)
        each = await _summarised(history, state.number, made, verdicts, summarizer, own)
        history.rounds.append(each)
        digest = keep_rules(history.versions[-1], ctx)
        return RoundOutcome(
            {row.id: [self.with_rules(row, digest)] for row in rows},
            findings=() if ctx.is_forecast else each.types,
        )

    async def _pilot(
        self, rows: Sequence[Any], history: LoopHistory, ctx: StageContext, count: int
    ) -> list[PilotItem]:
        """Return the items of a pilot: of rows that failed before, then of rows that are drawn."""
        last = history.rounds[-1] if history.rounds else None
        bad = last.bad if last else []
        again = {each.row for each in bad}
        drawn = sorted(rows, key=lambda row: seed_for(ctx.seed, "pilot", str(ctx.round), row.id))
        order = sorted(drawn, key=lambda row: row.id not in again)
        wanted: list[PilotItem] = []
        others: list[PilotItem] = []
        rejects: list[str] = []
        while order and len(wanted) < count:
            size = max(1, len(again), (count - len(wanted)) // 3)
            part, order = order[:size], order[size:]
            results = await together([through(self.stages, [row], ctx) for row in part])
            for row, result in zip(part, results, strict=True):
                made = _pilot_items(row, result, ctx.round)
                rejects += [f"{stage}: {why.reason}" for stage, _, why in result.rejects]
                failed = {each.base for each in bad if each.row == row.id}
                first = [each for each in made if each.base in failed] or made[:1]
                wanted += first if failed else made
                others += [each for each in made if failed and each not in first]
        chosen = [*wanted, *others][:count]
        if not chosen:
            reasons = ", ".join(dict.fromkeys(rejects)) or "there are no rows"
            raise Rejected("no pilot", f"no item of {history.category} was made ({reasons})")
        return chosen


def _pilot_items(row: Any, result: RoundRows, number: int) -> list[PilotItem]:
    """Return items under ids of their round: verdicts on one are not verdicts on the next."""
    return [PilotItem(row.id, item.id, _of_round(item, number)) for item in result.out]


def _of_round(item: Item, number: int) -> Item:
    return structs.replace(
        item,
        id=f"{item.id}-r{number}",
        provenance=freeze({**item.provenance, "round": number}),
    )


async def _summarised(
    history: LoopHistory,
    number: int,
    made: Sequence[PilotItem],
    verdicts: Sequence[PilotVerdict],
    summarizer: CaseSummarizer,
    ctx: StageContext,
) -> LoopRound:
    """Return the round with the types of its failures; add the next version of the rules."""
    category, rules = history.category, history.versions[-1]
    if ctx.is_forecast:
        return LoopRound(number, rules, made, verdicts)
    before = history.decided[-1].added if history.decided else ()
    summary = await summarizer.summary(
        verdicts, ctx, category=category, rules=rules, known=history.known, suspects=before
    )
    seen = {tag for each in history.decided for tag in each.types}
    found = dict.fromkeys(tag for own in summary.types.values() for tag in own)
    new = tuple(tag for tag in found if tag not in seen)
    suspects = {tag: ids for tag in new if (ids := _suspected(tag, before, summarizer))}
    added: tuple[Rule, ...] = ()
    if summary.added or summary.withdrawn:
        name = rules.name if len(history.versions) > 1 else f"{rules.name} ({category})"
        later = rules.with_rules(summary.added, summary.withdrawn, category=category, name=name)
        known = {rule.id for rule in rules.rules(category)}
        added = tuple(rule for rule in later.rules(category) if rule.id not in known)
        history.versions.append(later)
    return LoopRound(number, rules, made, verdicts, summary, new, suspects, added)


def _suspected(tag: str, before: Sequence[Rule], summarizer: CaseSummarizer) -> tuple[str, ...]:
    """Return the rules of the round before that may have brought a new type of failure."""
    dimension = summarizer.review.failure(tag).dimension
    goes = summarizer.destinations[dimension]
    return tuple(
        rule.id
        for rule in before
        if rule.destination == goes or summarizer.review.failure(rule.tag).dimension == dimension
    )
