"""Bad cases of a pilot become failure types, and new types become rules."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from reelbench.data.failure_types import split_tag, type_fault, type_key
from reelbench.make.parts.pilot_review import PilotReview, PilotVerdict, item_slots
from reelbench.make.parts.rule_checks import CHECKS
from reelbench.make.parts.rules import ACTIVE, DESTINATIONS, Rule, RuleSet
from reelbench.make.parts.shape import TEXT, closed, listed
from reelbench.make.pipeline.context import StageContext
from reelbench.make.pipeline.stage import Rejected, Undecided

VETTING = "vetting"  # a failure of any dimension may call for other sources


@dataclass(frozen=True, slots=True)
class CaseSummary:
    """What came of the bad cases: the types of each item, rules to add and rules to withdraw."""

    types: Mapping[str, tuple[str, ...]]  # by the id of the item, as ``DIMENSION: type``
    added: tuple[Rule, ...] = ()
    withdrawn: Mapping[str, str] | None = None  # why, by id


@dataclass(frozen=True, slots=True)
class CaseSummarizer:
    """Who merges failures onto types and proposes rules, and where rules of a dimension go."""

    review: PilotReview
    destinations: Mapping[str, str]  # by dimension
    role: str = "summarizer"
    prompt: str = "summary"

    async def summary(
        self,
        verdicts: Sequence[PilotVerdict],
        ctx: StageContext,
        *,
        category: str,
        rules: RuleSet,
        known: Sequence[str],
        suspects: Sequence[Rule],
    ) -> CaseSummary:
        """Return the types of all failures, and rules for those that no rule answers yet."""
        found = [(each, failure) for each in verdicts for failure in each.failures]
        if not found:
            return CaseSummary({})
        active = [rule for rule in rules.rules(category) if rule.state == ACTIVE]
        prompt = ctx.prompts.prompt(
            self.prompt,
            category=category,
            dimensions=self._dimensions(),
            known=_as_list(known),
            rules=_as_list([_shown(rule) for rule in active]),
            suspects=_as_list([_shown(rule) for rule in suspects]),
            checks=_as_list([f"{name}: {_meaning(name)}" for name in CHECKS]),
            cases="\n\n".join(
                _case(number, each, failure.tag, failure.comment)
                for number, (each, failure) in enumerate(found, 1)
            ),
        )
        try:
            reply = await ctx.json(
                self.role, prompt, _SCHEMA, check=self._check(len(found), active, known)
            )
        except Rejected as refusal:
            raise self._no_summary(ctx, category, refusal.detail) from None
        if reply.data is None:
            raise self._no_summary(ctx, category, reply.failure)
        return self._summary(reply.data, [each.item.id for each, _ in found], known)

    def _no_summary(self, ctx: StageContext, category: str, why: str) -> Undecided:
        name = ctx.model(self.role).card.name
        return Undecided(
            "no summary",
            f"{name} ({self.role}) gave no summary of the bad cases of {category}: {why}. Name "
            f"another model with --model {self.role}=NAME",
        )

    def canonical(self, tag: str, known: Sequence[str] = ()) -> str:
        """Return a type in one spelling, that of a known one if it is; empty if it is none."""
        failure = self.review.failure(tag)
        if not (failure.dimension and failure.type):
            return ""
        same = {type_key(each): each for each in known}
        return same.get(type_key(failure.tag), failure.tag)

    def _dimensions(self) -> str:
        return "\n".join(
            f"- {name} (rules go to the {self.destinations[name]} prompt): {meaning}"
            for name, meaning in self.review.dimensions.items()
        )

    def _check(
        self, count: int, active: Sequence[Rule], known: Sequence[str]
    ) -> Callable[[Any], str]:
        def fault(reply: Any) -> str:
            faults = [*self._type_faults(reply, count), *self._rule_faults(reply)]
            gone = {each["id"] for each in reply["withdraw"]}
            if unknown := sorted(gone - {rule.id for rule in active}):
                faults.append(f"withdraw: {', '.join(unknown)} is no active rule")
            left = [rule.tag for rule in active if rule.id not in gone]
            tags = [*left, *(each["tag"] for each in reply["rules"])]
            types = {self.canonical(each["type"], known) for each in reply["failures"]}
            lacking = [
                each for each in sorted(types - {""}) if not any(answers(tag, each) for tag in tags)
            ]
            faults += [f"rules: no rule has the tag {each!r}" for each in lacking]
            return "; ".join(faults)

        return fault

    def _type_faults(self, reply: Any, count: int) -> list[str]:
        numbers = sorted(each["number"] for each in reply["failures"])
        faults = []
        if numbers != list(range(1, count + 1)):
            faults.append(f"failures: each of the {count} failures has to be named once")
        names = ", ".join(self.review.dimensions)
        faults += [
            f"failures: {each['type']!r} is not DIMENSION: TYPE with one of the dimensions {names}"
            for each in reply["failures"]
            if not self.canonical(each["type"])
        ]
        faults += [
            f"failures: the type {each['type']!r} {fault}"
            for each in reply["failures"]
            if (fault := type_fault(self.review.failure(each["type"]).type))
        ]
        return faults

    def _rule_faults(self, reply: Any) -> list[str]:
        faults = []
        for each in reply["rules"]:
            dimension = self.review.failure(each["tag"]).dimension
            if not dimension:
                faults.append(f"rules: the tag {each['tag']!r} is not one of the types")
            elif each["destination"] not in (goes := self.destinations[dimension], VETTING):
                faults.append(f"rules: a rule about {dimension!r} goes to {goes} or {VETTING}")
        return faults

    def _summary(self, reply: Any, ids: Sequence[str], known: Sequence[str]) -> CaseSummary:
        types: dict[str, list[str]] = {id_: [] for id_ in ids}
        for each in sorted(reply["failures"], key=lambda each: int(each["number"])):
            tag = self.canonical(
                each["type"], (*known, *(t for own in types.values() for t in own))
            )
            own = types[ids[each["number"] - 1]]
            own += [tag] if tag not in own else []
        spelt = (*known, *(tag for own in types.values() for tag in own))
        added = tuple(
            Rule(
                "",
                each["text"].strip(),
                ((each["check"], None),) if each["check"] else (),
                tag=self.canonical(each["tag"], spelt),
                destination=each["destination"],
                reason=each["reason"].strip(),
            )
            for each in reply["rules"]
        )
        withdrawn = {each["id"]: each["reason"].strip() for each in reply["withdraw"]}
        return CaseSummary({id_: tuple(own) for id_, own in types.items()}, added, withdrawn)


def answers(tag: str, type_: str) -> bool:
    """Whether the tag of a rule names a type of failure; it may leave the dimension out."""
    return bool(tag) and type_key(tag) in (type_key(type_), type_key(split_tag(type_)[1]))


_SCHEMA = closed(
    {
        "failures": listed(closed({"number": {"type": "integer"}, "type": TEXT}), 1),
        "rules": listed(
            closed(
                {
                    "tag": TEXT,
                    "destination": {"enum": list(DESTINATIONS)},
                    "text": TEXT,
                    "reason": TEXT,
                    "check": {"enum": ["", *CHECKS]},
                }
            ),
            0,
        ),
        "withdraw": listed(closed({"id": TEXT, "reason": TEXT}), 0),
    }
)


def _case(number: int, verdict: PilotVerdict, tag: str, comment: str) -> str:
    slots = item_slots(verdict.item, "")
    lines = [
        f"### Failure {number}",
        f"Question ({slots['kind']}): {slots['question']}",
        slots["options"],
        f"Key: {slots['key']}",
        f"Clips: {slots['clips']}",
        f"The reviewer ({verdict.by}): {tag or 'fails'}{f' - {comment}' if comment else ''}",
    ]
    return "\n".join(line for line in lines if line)


def _shown(rule: Rule) -> str:
    where = rule.destination or "question and distractor"
    about = f" [{rule.tag}]" if rule.tag else ""
    return f"{rule.id} ({where}){about}: {rule.text}"


def _meaning(check: str) -> str:
    return (CHECKS[check].run.__doc__ or "").strip().splitlines()[0]


def _as_list(lines: Sequence[str]) -> str:
    return "\n".join(f"- {line}" for line in lines) or "(none)"
