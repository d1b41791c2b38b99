"""Have wrong options written that are hard to tell from the right ones.

Some are from the content of the video, misapplied; others are plausible and not in it. Each follows
a strategy. A reply is checked for what gives a key away (its length, a common beginning, the same
words), for the strategies it uses, and for the recipe's rules.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from typing import Any

from msgspec import structs

from reelbench.base.seeds import rng_for
from reelbench.base.text import plain, words
from reelbench.data.items import LETTERS, NOTHING, Item, freeze
from reelbench.make.parts.drafts import NAMES
from reelbench.make.parts.filters import context_of
from reelbench.make.parts.lettered import as_listed, lettered_fault, lettered_schema
from reelbench.make.parts.near_duplicates import contrasting
from reelbench.make.parts.notes import with_note
from reelbench.make.parts.rule_checks import Asked, exceeds, no_shared_prefix, similar_length
from reelbench.make.parts.rules_used import rules_of
from reelbench.make.parts.shape import TEXT, closed, listed, same, with_options
from reelbench.make.pipeline.context import StageContext
from reelbench.make.pipeline.funnel import category_of
from reelbench.make.pipeline.stage import Rejected, RowStage

# MuseBench's seven; a recipe may name others, each with what it means.
STRATEGIES: Mapping[str, str] = {
    "technical misread": "names a technique or detail that is close to what is there, but not it",
    "over-simplification": "leaves out what makes the answer true",
    "factual error": "changes one fact of the answer",
    "conceptual confusion": "takes one idea for a neighbouring one",
    "scope error": "claims too much, or too little, for what is shown",
    "temporal confusion": "puts something before, after or during what it was not",
    "partial truth": "joins something true to something that is not",
}
POLISHED_LENGTH = 1.5  # times as many words as before, or as few, that a polished key may have
POLISHED_ALIKE = 0.5  # share of characters in common, as the linter has it for a paraphrase
_TOKENS = 45  # of an option with its explanation, as JSON


@dataclass(frozen=True, slots=True)
class DistractorPlan:
    """How many wrong options an item gets, and how they are made."""

    least: int
    most: int
    from_context: int | None  # how many are from the video's own content; None for any number
    strategies: Mapping[str, str]
    required: Sequence[str]
    min_strategies: int
    least_options: int
    most_options: int
    polish_key: bool
    longest: float
    lettered: bool = False  # whether a reply is one list by letter, without strategies
    drawn: bool = False  # whether the number is drawn for each item, or left to the model
    guidance: Mapping[str, str] = NOTHING  # by category, for a prompt that has the slot

    @classmethod
    def of(
        cls,
        *,
        from_context: int,
        out_of_context: int,
        count: Sequence[int],
        min_strategies: int,
        **more: Any,
    ) -> "DistractorPlan":
        """Return the plan that a stage's parameters describe."""
        least, most = count or (from_context + out_of_context,) * 2
        strategies = 0 if more["lettered"] else min(min_strategies, len(more["strategies"]))
        inside = None if count else from_context
        return cls(least, most, inside, min_strategies=strategies, **more)

    @property
    def fault(self) -> str:
        """What is wrong with the parameters; empty if nothing is."""
        if not 1 <= self.least <= self.most <= self.most_options - 1:
            return (
                f"count is {self.least} to {self.most}: give 1 to {self.most_options - 1} "
                f"distractors, as most_options is {self.most_options}"
            )
        if self.most_options > len(LETTERS):
            return f"most_options is {self.most_options}, and there are {len(LETTERS)} letters"
        if not 2 <= self.least_options <= self.most + 1:
            return (
                f"least_options is {self.least_options}: give 2 to {self.most + 1}, as one key has "
                f"{self.most} distractors at most"
            )
        if self.lettered and (self.from_context is None or self.required):
            return "lettered is set, so that count and required cannot be"
        unknown = set(self.required) - set(self.strategies)
        if unknown:
            return f"required has {', '.join(sorted(unknown))}, which strategies does not have"
        if len(set(self.required)) > self.least:
            return f"required has more strategies than the {self.least} distractors can follow"
        return ""

    def bounds(self, keys: int) -> tuple[int, int]:
        """Return the least and most distractors for so many keys, by the number of options."""
        most = min(self.most, self.most_options - keys)
        if most < 1:
            raise Rejected("no room for distractors", f"{keys} keys of {self.most_options} options")
        return min(max(self.least, self.least_options - keys), most), most

    def fewest_strategies(self, keys: int) -> int:
        """Return how many strategies are used at least: no more than there are distractors."""
        return min(self.min_strategies, self.bounds(keys)[0])

    def for_item(self, item: Item, keys: int, seed: int) -> "DistractorPlan":
        """Return the plan for one item, where the number of its distractors is drawn."""
        if not self.drawn:
            return self
        number = rng_for(seed, "distractors", item.id).randint(*self.bounds(keys))
        return replace(self, least=number, most=number)

    def inside(self, keys: int) -> int | None:
        """Return how many distractors are from the video's content; None for any number."""
        return None if self.from_context is None else min(self.from_context, self.bounds(keys)[1])


def distract(
    from_context: int = 4,
    out_of_context: int = 0,
    *,
    count: tuple[int, int] | None = None,
    strategies: Mapping[str, str] = STRATEGIES,
    required: Sequence[str] = (),
    min_strategies: int = 2,
    least_options: int = 2,
    most_options: int = len(LETTERS),
    polish_key: bool = False,
    longest: float = 2.0,
    lettered: bool = False,
    drawn: bool = False,
    guidance: Mapping[str, str] = NOTHING,
    name: str = "distract",
    role: str = "distractor",
) -> RowStage:
    """Return the stage that gives each item its distractors, and every option an explanation.

    ``from_context`` of them are from the video's content and ``out_of_context`` are not, or with
    ``count`` there are from least to most of either; with its keys, an item has ``least_options``
    to ``most_options``; how many it has is the model's choice, or ``drawn`` with the seed. At least
    ``min_strategies`` different strategies are used, and all that are ``required``. With
    ``polish_key``, keys may be reworded to match the others if they keep their meaning. No option
    has more than ``longest`` times the words of another. Items are single-choice, multi-select, or
    open with a reference, which becomes the key; it stays the reference, as it was written.
    ``guidance`` is text by category for a prompt with that slot.

    With ``lettered``, the reply is one list by letter (``lettered.py``): the key first, changed in
    grammar and filler words alone, then the distractors from the video and those that are not,
    which are held against the context. Strategies are not asked for. Such items have one key.
    """
    parameters: dict[str, Any] = {
        "from_context": from_context,
        "out_of_context": out_of_context,
        "count": list(count or ()),
        "strategies": dict(strategies),
        "required": list(required),
        "min_strategies": min_strategies,
        "least_options": least_options,
        "most_options": most_options,
        "polish_key": polish_key,
        "longest": longest,
        "lettered": lettered,
        "drawn": drawn,
        "guidance": dict(guidance),
    }

    async def work(item: Item, ctx: StageContext, **values: Any) -> list[Item]:
        keys = keys_of(item)
        plan = DistractorPlan.of(**values).for_item(item, len(keys), ctx.seed)
        if plan.lettered and len(keys) > 1:
            raise Rejected("several keys", f"{item.id} has {len(keys)}, and lettered takes one")
        reply = await ctx.json(
            role,
            _prompt(item, keys, plan, ctx),
            reply_schema(plan, len(keys)),
            check=lambda data: _fault(item, keys, data, plan, ctx),
        )
        if reply.data is None:
            raise Rejected("no good distractors", reply.failure, [reply.words])
        data = as_listed(reply.data, plan.from_context or 0) if plan.lettered else reply.data
        return [_with_distractors(item, keys, data, ctx, role)]

    def estimate(item: Item, ctx: StageContext) -> list[Item]:
        keys, wrong = keys_of(item), [f"{'word ' * 8}{number}" for number in range(most)]
        return [with_options(item, ctx.seed, keys, wrong)]

    plan = DistractorPlan.of(**parameters)
    most = plan.most
    return RowStage(
        name=name,
        input=Item,
        output=Item,
        work=work,
        roles=(role,),
        prompts=("distract-lettered" if lettered else "distract", "rules"),
        parameters=parameters,
        validate=lambda values: DistractorPlan.of(**values).fault,
        estimate=estimate,
        expected_tokens=(most + 1) * _TOKENS,
    )


def keys_of(item: Item) -> tuple[str, ...]:
    """Return the right answers of an item: its right options, or its reference."""
    if item.kind == "open" and item.reference:
        return (item.reference,)
    if item.correct:
        return item.correct
    raise Rejected("no right answer", f"{item.id} has neither right options nor a reference")


def shown_keys(keys: Sequence[str]) -> str:
    """Return the right answers as prompts have them: one as it is, several as a list."""
    return keys[0] if len(keys) == 1 else "\n".join(f"- {key}" for key in keys)


def _prompt(item: Item, keys: Sequence[str], plan: DistractorPlan, ctx: StageContext) -> str:
    if plan.lettered:
        return _lettered_prompt(item, keys[0], plan, ctx)
    least, most = plan.bounds(len(keys))
    inside = plan.inside(len(keys))
    fields = ["text", "explanation"] if plan.polish_key else ["explanation"]
    rules = rules_of(item, ctx)
    return ctx.prompts.prompt(
        "distract",
        question=item.question,
        answer=shown_keys(keys),
        context=context_of(item, ctx),
        count=str(most) if least == most else f"{least} to {most}",
        inside="some" if inside is None else str(inside),
        outside="others" if inside is None else str(most - inside),
        strategies="\n".join(f"- {each}: {meaning}" for each, meaning in plan.strategies.items()),
        fewest=str(plan.fewest_strategies(len(keys))),
        guidance=plan.guidance.get(category_of(item), ""),
        required=f" Use each of these: {', '.join(plan.required)}." if plan.required else "",
        polish=_POLISH if plan.polish_key else "",
        rules=rules.text(category_of(item), "distractor") if rules else "",
        answers=json.dumps([dict.fromkeys(fields, "...")] * len(keys)),
    )


def _lettered_prompt(item: Item, key: str, plan: DistractorPlan, ctx: StageContext) -> str:
    letters, inside = LETTERS[: plan.most + 1], plan.from_context or 0
    rules = rules_of(item, ctx)
    by_letter = dict.fromkeys(letters, "...")
    form = {"correct_option_letter": "A", "correct_mcq_option_text": "..."}
    return ctx.prompts.prompt(
        "distract-lettered",
        question=item.question,
        answer=key,
        context=context_of(item, ctx),
        letters=str(len(letters)),
        inside=str(inside),
        inside_letters=", ".join(letters[1 : inside + 1]),
        outside=str(plan.most - inside),
        outside_letters=", ".join(letters[inside + 1 :]),
        rules=rules.text(category_of(item), "distractor") if rules else "",
        form=json.dumps({**form, "options": by_letter, "option_explanations": by_letter}),
    )


_POLISH = (
    " Word the right answer like them: polish its grammar and style lightly, and leave what it "
    "says, its names, its numbers and its length as they are."
)


def reply_schema(plan: DistractorPlan, keys: int) -> dict[str, Any]:
    """Return the JSON schema of a reply: an explanation of each key, then the distractors."""
    if plan.lettered:
        return lettered_schema(plan.most)
    polished = {"text": TEXT} if plan.polish_key else {}
    one = {
        "text": TEXT,
        "strategy": {"type": "string", "enum": list(plan.strategies)},
        "from_context": {"type": "boolean"},
        "explanation": TEXT,
    }
    return closed(
        {
            "answers": listed(closed({**polished, "explanation": TEXT}), keys, keys),
            "distractors": listed(closed(one), *plan.bounds(keys)),
        }
    )


def _fault(
    item: Item, keys: Sequence[str], reply: Any, plan: DistractorPlan, ctx: StageContext
) -> str:
    """Return what is wrong with a reply that fits its schema; empty where nothing is."""
    if plan.lettered:
        inside, context = plan.from_context or 0, context_of(item, ctx)
        fault = lettered_fault(reply, inside, keys[0], item.question, context)
        return fault or _options_fault(item, keys, as_listed(reply, inside), plan, ctx)
    wrong = reply["distractors"]
    inside, asked_for = sum(each["from_context"] for each in wrong), plan.inside(len(keys))
    if asked_for not in (None, inside):
        return f"{inside} of the distractors are from the context, not {asked_for}"
    used, fewest = {each["strategy"] for each in wrong}, plan.fewest_strategies(len(keys))
    if len(used) < fewest:
        return f"the distractors use {len(used)} of the strategies, not {fewest}"
    if lacking := [each for each in plan.required if each not in used]:
        return f"no distractor follows {', '.join(lacking)}"
    for old, text in zip(keys, _worded(keys, reply), strict=True):
        if fault := polish_fault(old, text):
            return fault
    return _options_fault(item, keys, reply, plan, ctx)


def _options_fault(
    item: Item, keys: Sequence[str], reply: Any, plan: DistractorPlan, ctx: StageContext
) -> str:
    """Return what is wrong with the options together, by our checks and the recipe's rules."""
    new, wrong = _worded(keys, reply), reply["distractors"]
    texts = [each["text"].strip() for each in wrong]
    return options_fault(new, texts, plan.longest) or broken_rules(item, new, texts, ctx)


def broken_rules(item: Item, keys: Sequence[str], wrong: Sequence[str], ctx: StageContext) -> str:
    """Return which of the recipe's rules an item breaks with these options; empty for none."""
    rules = rules_of(item, ctx)
    if rules is None:
        return ""
    names = item.context.get(NAMES, ())
    broken = rules.broken(category_of(item), item.question, [*keys, *wrong], keys, names)
    return "; ".join(f"rule {each.rule}: {each.what}" for each in broken)


def _worded(keys: Sequence[str], reply: Any) -> tuple[str, ...]:
    """Return the right options as the reply words them."""
    pairs = zip(keys, reply["answers"], strict=True)
    return tuple(given.get("text", key).strip() for key, given in pairs)


def polish_fault(old: str, new: str) -> str:
    """Return why a polished key may have changed its meaning; empty where it has not.

    It must be about as long, share half of its characters, and differ in no number, negation or
    word of contrast such as left and right.
    """
    long, short = sorted((len(words(old)), len(words(new))), reverse=True)
    if exceeds(long, short, POLISHED_LENGTH):
        return f"the right answer had {len(words(old))} words and has {len(words(new))} now"
    alike = SequenceMatcher(None, plain(old), plain(new), autojunk=False).ratio()
    if alike < POLISHED_ALIKE or contrasting(old, new):
        return f"{new!r} is no polished wording of the right answer {old!r}"
    return ""


def options_fault(keys: Sequence[str], wrong: Sequence[str], longest: float) -> str:
    """Return what is wrong with distractors beside their keys; empty where nothing is."""
    options = (*keys, *wrong)
    if same(options):
        return "two of the options are the same, or one is the right answer"
    asked = Asked("", options, tuple(keys))
    return no_shared_prefix(asked) or similar_length(asked, longest)


_HOW = ("strategy", "from_context")  # of a distractor, kept by its text: places change


def _with_distractors(
    item: Item, keys: Sequence[str], reply: Any, ctx: StageContext, role: str
) -> Item:
    """Give an item its options, each with its explanation, and note how they were made."""
    new, wrong = _worded(keys, reply), reply["distractors"]
    texts = [each["text"].strip() for each in wrong]
    explained = zip((*new, *texts), (*reply["answers"], *wrong), strict=True)
    explanations = {text: each["explanation"].strip() for text, each in explained}
    changed = structs.replace(
        with_options(item, ctx.seed, new, texts),
        reference=item.reference,
        context=freeze({**item.context, "explanations": explanations}),
    )
    note = {
        "model": ctx.model(role).card.name,
        "distractors": [
            {"text": text, **{field: each[field] for field in _HOW if field in each}}
            for text, each in zip(texts, wrong, strict=True)
        ],
        **({"polished_from": list(keys)} if new != tuple(keys) else {}),
    }
    return with_note(changed, ctx.stage, note)
