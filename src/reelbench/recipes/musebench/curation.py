"""Choose essays (C.1): keywords find candidates, a judge admits them, until each quota is full.

Each category goes through rounds. The first searches with the keywords that the model of the role
``curator`` writes, or with those of the category's vocabulary where no model is named. The others
search with variants, for which the curator is shown the last ten keywords. What a keyword finds is
judged by its metadata: relevant, with a confidence of at least ``threshold``.

Every decision is in ``curation.jsonl`` in the folder that is made, with its reason. A video is
judged once for each category, however many keywords find it and however often the make is run.
One that several categories admit goes to where the confidence is highest.
"""

import asyncio
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import msgspec

from reelbench.base.files import digest_of, json_line, write_atomically
from reelbench.base.progress import counted
from reelbench.interop.musebench.taxonomy import CATEGORIES
from reelbench.make.candidates.catalogue import VideoCandidate, file_id
from reelbench.make.candidates.search import VideoSource
from reelbench.make.candidates.web import WebSearch
from reelbench.make.parts.rounds import RoundOutcome, RoundState, rounds
from reelbench.make.pipeline.context import StageContext, together
from reelbench.make.pipeline.stage import BatchStage, Undecided
from reelbench.make.pipeline.store import RowResult
from reelbench.recipes.musebench.relevance import PROMPTS, Curator, new_keywords
from reelbench.recipes.musebench.rows import CategoryPlan, Essay
from reelbench.recipes.musebench.source import essay_source
from reelbench.recipes.musebench.vocabulary import vocabulary

DECISIONS_FILE = "curation.jsonl"
CURATOR = "curator"
_ORDER = {name: place for place, name in enumerate(CATEGORIES)}


class CurationDecision(msgspec.Struct, frozen=True, kw_only=True):
    """Whether a video is an essay of a category, and why: a line of ``curation.jsonl``."""

    category: str
    video_id: str
    title: str
    decision: Literal["admitted", "rejected", "no verdict"]
    confidence: float | None = None
    reason: str
    keyword: str  # that found it first; empty where only its metadata did
    round: int
    model: str = ""
    words: str = ""  # of a reply that could not be read


def curate(
    *,
    name: str = "curate",
    role: str = CURATOR,
    quota: int = 100,
    threshold: float = 0.55,
    results: int = 20,
    keywords: int = 20,
    variants: int = 10,
    quiet: int = 2,
    most: int = 10,
) -> BatchStage:
    """Return the stage that chooses essays for each category.

    ``quota`` is how many essays a category gets (``quotas``: of some categories, by name),
    ``results`` how many of what a keyword finds are judged, ``keywords`` and ``variants`` how many
    of these are asked for. A category ends after ``quiet`` rounds in a row that admitted nothing,
    or after ``most``.
    """
    in_rounds = rounds(
        _one_round, input=CategoryPlan, output=Essay, name=name, group=lambda plan: plan.id
    )

    async def work(
        plans: Sequence[CategoryPlan],
        ctx: StageContext,
        *,
        quota: int,
        quotas: Mapping[str, int],
        quiet: int,
        most: int,
        **limits: Any,
    ) -> list[Any]:
        source = await asyncio.to_thread(essay_source, ctx.source)
        goals = {plan.id: quotas.get(plan.id, quota) for plan in plans}
        run = _Curation(ctx, source, Curator(ctx, role), _Limits(**limits), goals)
        notes = len(ctx.notes)
        while True:
            working: Any = in_rounds.work(plans, ctx, quiet=quiet, most=most, quota=goals, run=run)
            made = await working
            if not run.give_up_shared(made):
                break
            run.restart()
        del ctx.notes[notes:]  # ours say more than those of rounds
        if not ctx.is_forecast:
            lines = [json_line(msgspec.to_builtins(each)) for each in run.in_order()]
            write_atomically(ctx.out / DECISIONS_FILE, "".join(lines))
            ctx.notes += [f"{name}: {note}" for note in run.notes(made)]
        return list(made)

    return BatchStage(
        name=name,
        input=CategoryPlan,
        output=Essay,
        work=work,
        may_ask=(role,),
        prompts=PROMPTS,
        parameters={
            "quota": quota,
            "quotas": {},
            "threshold": threshold,
            "results": results,
            "keywords": keywords,
            "variants": variants,
            "quiet": quiet,
            "most": most,
        },
        validate=_fault,
        always=True,  # all that costs is kept apart, and a source may have grown
        expected_tokens=60,
    )


@dataclass(frozen=True, slots=True)
class _Limits:
    threshold: float
    results: int
    keywords: int
    variants: int


@dataclass(slots=True)
class _Curation:
    """One pass over all categories, and what it decided."""

    ctx: StageContext
    source: VideoSource
    curator: Curator
    limits: _Limits
    goals: Mapping[str, int]
    # Videos that another category is surer of, by category and id: which, and how sure.
    shared: dict[tuple[str, str], str] = field(default_factory=dict)
    decisions: dict[tuple[str, str], CurationDecision] = field(default_factory=dict)
    asked: dict[tuple[str, str], None] = field(default_factory=dict)  # in order
    keywords: dict[str, list[str]] = field(default_factory=dict)  # issued, by category
    rounds: Counter[str] = field(default_factory=Counter)
    found: dict[tuple[str, str], Sequence[VideoCandidate]] = field(default_factory=dict)
    without_keywords: dict[str, str] = field(default_factory=dict)  # why, by category

    def restart(self) -> None:
        """Forget the decisions: what models replied is kept elsewhere."""
        self.decisions.clear()
        self.asked.clear()
        self.keywords.clear()
        self.rounds.clear()

    def in_order(self) -> list[CurationDecision]:
        """The decisions by category, each in the order in which videos were found."""
        places = {key: place for place, key in enumerate(self.asked)}
        keys = sorted(self.decisions, key=lambda key: (_ORDER[key[0]], places[key]))
        return [self.decisions[key] for key in keys]

    async def new_keywords(self, category: str, number: int) -> list[str]:
        """Return the keywords of a round: the curator's, or those of the vocabulary."""
        issued = self.keywords.setdefault(category, [])
        found: list[str] = []
        if self.curator.is_named:
            if number == 1:
                found, why = await self.curator.keywords(category, self.limits.keywords)
            else:
                found, why = await self.curator.variants(
                    category, issued, self.limits.variants, number
                )
            if why:
                self.without_keywords.setdefault(category, why)
            elif not self.ctx.is_forecast:
                return new_keywords(found, issued)
        return new_keywords(vocabulary(category).keywords, issued)

    async def search(self, keyword: str, category: str) -> Sequence[VideoCandidate]:
        """Return what a keyword finds."""
        if (keyword, category) not in self.found:
            self.found[keyword, category] = await self._searched(keyword, category)
        return self.found[keyword, category]

    async def _searched(self, keyword: str, category: str) -> Sequence[VideoCandidate]:
        """Search; what the web found is kept, as it may find another tomorrow."""
        source, most, store, key = self.source, self.limits.results, self.ctx.store, ""
        if isinstance(source, WebSearch):
            asked = {"searches": list(source.searches), "options": dict(source.options)}
            key = digest_of({**asked, "for": keyword, "most": most})
            kept = store.get(key, VideoCandidate)
            if kept is not None or self.ctx.is_forecast:
                return kept.rows if kept else ()
        found = await asyncio.to_thread(source.search, keyword, category, most)
        if key:
            store.put(key, self.ctx.stage, RowResult(found))
        return found

    async def admitted(
        self,
        found: Sequence[VideoCandidate],
        plan: CategoryPlan,
        keywords: Sequence[str],
        number: int,
        room: int,
    ) -> list[Essay]:
        """Return those of some candidates that become essays, as many as there is room for.

        ``keywords`` are those in use, first the one that found the candidates.
        """
        new = [each for each in found if (plan.id, each.video_id) not in self.asked]
        essays: list[Essay] = []
        while new and len(essays) < room:  # never more at once than could be admitted
            some, new = new[: room - len(essays)], new[room - len(essays) :]
            self.asked |= dict.fromkeys((plan.id, each.video_id) for each in some)
            made = await together([self._decide(each, plan.id, keywords, number) for each in some])
            pairs = zip(some, made, strict=True)
            essays += [_essay(each, why) for each, why in pairs if why.decision == "admitted"]
        return essays

    async def _decide(
        self, video: VideoCandidate, category: str, keywords: Sequence[str], number: int
    ) -> CurationDecision:
        keyword = keywords[0] if keywords else ""
        decision = CurationDecision(
            category=category,
            video_id=video.video_id,
            title=video.title,
            keyword=keyword,
            round=number,
            **await self._verdict(video, category, keywords),
        )
        elsewhere = self.shared.get((category, video.video_id))
        if elsewhere and decision.decision == "admitted":
            reason = f"{elsewhere}; {decision.reason}"
            decision = msgspec.structs.replace(decision, decision="rejected", reason=reason)
        self.decisions[category, video.video_id] = decision
        return decision

    async def _verdict(
        self, video: VideoCandidate, category: str, keywords: Sequence[str]
    ) -> dict[str, Any]:
        """Return what is decided about a video, and why."""
        if not self.curator.is_named:
            if video.category == category:
                return {"decision": "admitted", "reason": f"its metadata say {category}"}
            reason = f"its metadata name no category, and no model has the role {self.curator.role}"
            return {"decision": "no verdict", "reason": reason}
        verdict = await self.curator.verdict(video, category, keywords)
        by = {"model": verdict.model, "confidence": verdict.confidence}
        if verdict.failure:
            words = {"reason": verdict.failure, "words": verdict.words}
            return {"decision": "no verdict", **words, **by}
        sure = verdict.confidence is not None and verdict.confidence >= self.limits.threshold
        if verdict.is_relevant and not sure:
            reason = f"less sure than {self.limits.threshold}: {verdict.reason}"
            return {"decision": "rejected", "reason": reason, **by}
        decision = "admitted" if verdict.is_relevant else "rejected"
        return {"decision": decision, "reason": verdict.reason, **by}

    def give_up_shared(self, made: Sequence[Any]) -> bool:
        """Leave each video to the category that is surest of it; return whether any was shared."""
        claims: dict[str, list[Essay]] = {}
        for essay in (essay for part in made if isinstance(part, list) for essay in part):
            claims.setdefault(essay.curation["video_id"], []).append(essay)
        several = {name: essays for name, essays in claims.items() if len(essays) > 1}
        for name, essays in several.items():
            first, *others = sorted(
                essays, key=lambda e: (-(e.curation["confidence"] or 0.0), _ORDER[e.category])
            )
            sure = first.curation["confidence"]
            for other in others:
                self.shared[other.category, name] = f"{first.category} has it, at {sure}"
        return bool(several)

    def notes(self, made: Sequence[Any]) -> Iterator[str]:
        """Yield what the user should know: what is missing, and what was not judged."""
        for category, why in sorted(self.without_keywords.items()):
            yield f"the keywords of {category} are those of its vocabulary, as none came: {why}"
        missing = [
            self._missing(category, count)
            for category, part in zip(self.goals, made, strict=True)
            if (count := len(part) if isinstance(part, list) else 0) < self.goals[category]
            and not isinstance(part, Undecided)
        ]
        yield from missing
        if missing:
            yield (
                f"{DECISIONS_FILE} says why: add videos of these categories to the source, or ask "
                "for fewer (--essays NUMBER)"
            )
        yield from self._unjudged()

    def _missing(self, category: str, count: int) -> str:
        of = [each for (name, _), each in self.decisions.items() if name == category]
        counts = Counter(each.decision for each in of)
        known = self.source.considered(category)
        unfound = f", {known - len(of):,} found by no keyword" if known and known > len(of) else ""
        return (
            f"{category} has {count} of {counted(self.goals[category], 'essay')}: "
            f"{counted(len(self.keywords.get(category, ())), 'keyword')} in "
            f"{counted(self.rounds[category], 'round')} found {counted(len(of), 'video')}, "
            f"{counts['rejected']:,} rejected and {counts['no verdict']:,} without a "
            f"verdict{unfound}"
        )

    def _unjudged(self) -> Iterator[str]:
        of = [each for each in self.decisions.values() if each.decision == "no verdict"]
        for model, count in sorted(Counter(each.model for each in of).items()):
            things = counted(count, "verdict is", "verdicts are")
            if model:
                yield f"{things} missing: {model} did not reply as asked ({DECISIONS_FILE})"
            else:
                yield (
                    f"{things} missing, as no model judges and the metadata name no category: add "
                    f"--model {self.curator.role}=NAME"
                )


async def _one_round(
    plans: Sequence[CategoryPlan], _ctx: StageContext, state: RoundState, *, run: _Curation
) -> RoundOutcome:
    """Search with the keywords of a round, and add what is admitted."""
    (plan,) = plans
    essays = list(state.made.get(plan.id, ()))
    goal = run.goals[plan.id]
    keywords = await run.new_keywords(plan.id, state.number)
    run.rounds[plan.id] = state.number
    for place, keyword in enumerate(keywords):
        if len(essays) >= goal:
            break
        run.keywords[plan.id].append(keyword)
        found = await run.search(keyword, plan.id)
        active = [keyword, *keywords[:place], *keywords[place + 1 :]]
        essays += await run.admitted(found, plan, active, state.number, goal - len(essays))
    if not run.curator.is_named:
        rest = run.source.named(plan.id)
        essays += await run.admitted(rest, plan, (), state.number, goal - len(essays))
    return RoundOutcome({plan.id: essays})


def _essay(video: VideoCandidate, why: CurationDecision) -> Essay:
    return Essay(
        id=file_id(video.video_id),
        category=why.category,
        title=video.title,
        channel=video.channel,
        description=video.description,
        view_count=video.view_count,
        url=video.url,
        file=video.file,
        curation={
            "video_id": video.video_id,
            "keyword": why.keyword,
            "round": why.round,
            "confidence": why.confidence,
            "reason": why.reason,
            "model": why.model,
        },
    )


def _fault(parameters: Mapping[str, Any]) -> str:
    for name in ("quota", "results", "keywords", "variants", "quiet", "most"):
        if parameters[name] < 1:
            return f"{name} is {parameters[name]}: give a number from 1 on"
    for name, value in parameters["quotas"].items():
        if name not in CATEGORIES or type(value) is not int or value < 1:
            return (
                f"quotas has {name}: {value}: give numbers from 1 on, by category "
                f"({', '.join(CATEGORIES)})"
            )
    if not 0 <= parameters["threshold"] <= 1:
        return f"threshold is {parameters['threshold']}: give a number from 0 to 1"
    return ""
