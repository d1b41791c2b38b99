"""Feedback on prompts: a model reads drafts against the rules and proposes a change of the prompt.

A round is what one version of a prompt gave: so many drafts, and the share of them that a filter
let through. Where some were dropped, a reviewer reads these and some that passed, and proposes
edits, which wait for people (``prompt_changes.py``). What they accept makes another version of the
prompt, and so the next make is the next round.
"""

import asyncio
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from reelbench.base.errors import ReelbenchError
from reelbench.base.progress import counted
from reelbench.base.seeds import seed_for
from reelbench.data.items import Item
from reelbench.make.parts.pilot_review import item_slots
from reelbench.make.parts.prompt_changes import (
    UNDONE,
    PromptChange,
    PromptRound,
    ReviewedDraft,
    read_changes,
    slot_fault,
    write_changes,
)
from reelbench.make.parts.prompt_rounds import (
    PromptDrafts,
    drafts_by_prompt,
    measured_rounds,
    publish_rounds,
)
from reelbench.make.parts.shape import TEXT, closed, listed
from reelbench.make.pipeline.context import StageContext
from reelbench.make.pipeline.run import StageResult
from reelbench.make.pipeline.stage import BatchStage, Rejected, Undecided
from reelbench.score.rounding import percent

_LONGER = 4_000  # characters that a change may add
_SHOWN = 300  # characters of a reason on the terminal


def feedback(
    tested: str = "independence",
    *,
    written: str = "write",
    failed: int = 12,
    passed: int = 6,
    name: str = "feedback",
    role: str = "reviewer",
    **more: Any,
) -> BatchStage:
    """Return the stage of trials that has changes of prompts proposed, and shows the rounds so far.

    ``tested`` is the filter whose rejects are the finding, ``written`` the stage that asked for the
    drafts. Of each prompt, the model of ``role`` reads at most so many drafts that ``failed``, and
    that ``passed``; which, the seed decides. All rows go on as they are.
    """

    async def work(
        items: Sequence[Item], ctx: StageContext, *, failed: int, passed: int
    ) -> list[Item | Undecided]:
        found = drafts_by_prompt(_result(ctx, written), _result(ctx, tested), ctx.passed)
        rounds = measured_rounds(found, ctx)
        changes = read_changes(ctx.out)
        reviews = [
            _PromptReview(each, [r for r in rounds if r.prompt == each.prompt], changes, ctx, role)
            for each in found
        ]
        proposals = (each.proposed(failed, passed) for each in reviews)
        replies = await asyncio.gather(*proposals, return_exceptions=True)
        for reply in replies:
            if isinstance(reply, BaseException) and not isinstance(reply, Undecided):
                raise reply
        changes += [reply for reply in replies if isinstance(reply, PromptChange)]
        if not ctx.is_forecast:
            write_changes(ctx.out, changes)
            publish_rounds(ctx, rounds, changes)
            ctx.notes += _notes(ctx, changes, replies)
        failures = {
            draft.id: reply
            for each, reply in zip(found, replies, strict=True)
            for _, draft in each.tested
            if isinstance(reply, Undecided)
        }
        return [failures.get(item.id, item) for item in items]

    return BatchStage(
        name=name,
        input=Item,
        output=Item,
        work=work,
        roles=(role,),
        prompts=("feedback",),
        parameters={"failed": failed, "passed": passed},
        validate=_fault,
        optional=True,
        always=True,  # its rounds and changes are files, and its replies are in the journal
        trial=True,
        expected_tokens=400,
        **more,
    )


def _fault(parameters: Mapping[str, Any]) -> str:
    if parameters["failed"] < 1:
        return f"failed is {parameters['failed']}: give a number from 1 on"
    return "" if parameters["passed"] >= 0 else f"passed is {parameters['passed']}: give 0 or more"


def _result(ctx: StageContext, name: str) -> StageResult:
    for each in ctx.passed:
        if each.stage.name == name:
            return each
    raise ReelbenchError(
        f"The stage {ctx.stage} goes by what {name} did, which is left out: leave out both, with "
        f"--without {name} --without {ctx.stage}."
    )


@dataclass(frozen=True, slots=True)
class _PromptReview:
    """One prompt about which a reviewer may be asked, with its rounds and all changes so far."""

    drafts: PromptDrafts
    rounds: Sequence[PromptRound]
    changes: Sequence[PromptChange]
    ctx: StageContext
    role: str

    async def proposed(self, failed: int, passed: int) -> PromptChange | str:
        """Return the change that the reviewer proposes, or a sentence on why there is none.

        The sentence is empty where nothing is to be said: a change waits, or none is needed. A call
        that fails raises ``Undecided``.
        """
        drafts, file = self.drafts, f"{self.drafts.prompt}.md"
        own = [each for each in self.changes if each.prompt == drafts.prompt]
        shown = self._drawn(False, failed)
        if not shown or any(each.state in UNDONE for each in own):
            return ""
        if drafts.undecided and not self.ctx.is_forecast:
            return (
                f"no change of {file} is asked for while "
                f"{counted(drafts.undecided, 'row')} of it are undecided: run it again"
            )
        shown += self._drawn(True, passed)
        try:
            reply = await self.ctx.json(
                self.role, self._prompt(shown, own), _SCHEMA, check=self._check(shown)
            )
        except Rejected as refusal:
            return f"no change of {file} was proposed: {refusal.detail}"
        if reply.data is None:
            return f"no change of {file} was proposed: {reply.failure}"
        if not reply.data["edits"]:
            reason = " ".join(reply.data["reason"].split())[:_SHOWN]
            return f"no change of {file} was proposed: {reason}"
        return self._change(reply.data, shown, own)

    def _drawn(self, passed: bool, most: int) -> list[tuple[Item, ReviewedDraft]]:
        """Return drafts with one outcome, drawn by their ids."""
        pairs = [pair for pair in self.drafts.tested if pair[1].passed == passed]
        return sorted(pairs, key=lambda p: seed_for(self.ctx.seed, "feedback", p[1].id))[:most]

    @property
    def _text(self) -> str:
        return self.ctx.prompts.texts[self.drafts.prompt]

    def _prompt(
        self, shown: Sequence[tuple[Item, ReviewedDraft]], own: Sequence[PromptChange]
    ) -> str:
        rules = self.ctx.prompts.rules
        rejected = [
            _rejected(each)
            for each in own
            if each.state == "rejected" and each.round.version == self.rounds[-1].version
        ]
        return self.ctx.prompts.prompt(
            "feedback",
            category=self.drafts.category,
            prompt=self._text.strip(),
            rules=(rules.text(self.drafts.category) if rules else "") or "(none)",
            rounds=self._measured(),
            drafts="\n\n".join(_shown(*pair) for pair in shown),
            rejected="\n".join(rejected) or "(none)",
        )

    def _measured(self) -> str:
        lines = [
            f"- Round {each.number}: {counted(each.drafts, 'question')}, of which {each.asked} were"
            f" asked without the video; {each.passed} passed"
            + ("" if each.rate is None else f" ({percent(each.rate)})")
            for each in self.rounds
        ]
        broken = [f"{reason}: {count}" for reason, count in sorted(self.drafts.broken.items())]
        lines += (
            [f"- Rejected by code before, in this round: {', '.join(broken)}"] if broken else []
        )
        return "\n".join(lines)

    def _check(self, shown: Sequence[tuple[Item, ReviewedDraft]]) -> Callable[[Any], str]:
        ids = {draft.id for _, draft in shown}

        def fault(reply: Any) -> str:
            after, faults = _edited(self._text, reply["edits"])
            if unknown := sorted(set(reply["drafts"]) - ids):
                faults.append(f"drafts: there is no draft {', '.join(unknown)}")
            if not reply["edits"]:
                return "; ".join(faults)
            if not reply["drafts"]:
                faults.append("drafts: name those that show what goes wrong")
            if len(after) > len(self._text) + _LONGER:
                faults.append(f"edits: they add more than {_LONGER:,} characters")
            if not faults and (lost := slot_fault(self._text, after)):
                faults.append(f"edits: in the new prompt, {lost}")
            return "; ".join(faults)

        return fault

    def _change(
        self,
        reply: Any,
        shown: Sequence[tuple[Item, ReviewedDraft]],
        own: Sequence[PromptChange],
    ) -> PromptChange:
        drafts = {draft.id: draft for _, draft in shown}
        now = self.rounds[-1]
        earlier = sum(each.round.number == now.number for each in own)
        return PromptChange(
            id=f"{now.prompt}-r{now.number}" + (f"-{earlier + 1}" if earlier else ""),
            before=self._text,
            after=_edited(self._text, reply["edits"])[0],
            reason=reply["reason"].strip(),
            model=self.ctx.model(self.role).card.name,
            rounds=tuple(self.rounds),
            drafts=tuple(drafts[id_] for id_ in dict.fromkeys(reply["drafts"])),
            read=tuple(drafts),
        )


_SCHEMA = closed(
    {
        "reason": TEXT,
        "drafts": listed(TEXT, 0),
        "edits": listed(closed({"old": TEXT, "new": {"type": "string"}}), 0),
    }
)


def _edited(text: str, edits: Sequence[Mapping[str, str]]) -> tuple[str, list[str]]:
    """Return a text with edits made in it one after the other, and which of them cannot be made."""
    faults = []
    for number, each in enumerate(edits):
        count = text.count(each["old"])
        if count == 1:
            text = text.replace(each["old"], each["new"])
        else:
            faults.append(
                f"edits.{number}: the text of old stands in the prompt {count} times, not once"
            )
    return text, faults


def _rejected(change: PromptChange) -> str:
    """Return a change that people rejected, with their comment and the lines that it changed."""
    comment = f" (Rejected: {change.comment})" if change.comment else ""
    lines = change.diff.splitlines()[2:]
    changed = "".join(f"\n  {line}" for line in lines if line[:1] in ("+", "-"))
    return f"- {change.reason}{comment}{changed}"


def _shown(item: Item, draft: ReviewedDraft) -> str:
    slots = item_slots(item, "")
    fate = "passed" if draft.passed else "did not pass"
    return (
        f"### {draft.id}: {draft.right} of {draft.of} blind answers are right, {fate}\n"
        f"{slots['question']}\n{slots['options']}\nKey: {slots['key']}"
    )


def _notes(
    ctx: StageContext, changes: Sequence[PromptChange], replies: Sequence[Any]
) -> Iterator[str]:
    """Yield what waits for people, and why nothing was proposed where nothing was."""
    if waiting := sum(each.state == "open" for each in changes):
        wait = "change of a prompt waits" if waiting == 1 else "changes of prompts wait"
        yield (
            f"{ctx.stage}: {waiting} {wait} for people: reelbench review "
            f"{shlex.quote(str(ctx.out))}, then make again"
        )
    for reply in replies:
        if isinstance(reply, Undecided):
            yield f"{ctx.stage}: a reviewer did not reply ({reply.error}): run it again"
        elif isinstance(reply, str) and reply:
            yield f"{ctx.stage}: {reply}"
