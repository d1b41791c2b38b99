"""Who asks the curator: for keywords and their variants, and whether a video is relevant (C.1)."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from reelbench.base.files import digest_of
from reelbench.base.text import plain
from reelbench.client.structured import Structured
from reelbench.make.candidates.catalogue import VideoCandidate
from reelbench.make.parts.shape import CONFIDENCE, TEXT, closed, listed
from reelbench.make.pipeline.context import StageContext
from reelbench.make.pipeline.stage import Rejected, Undecided
from reelbench.make.pipeline.store import RowResult
from reelbench.recipes.musebench.vocabulary import CategoryVocabulary, vocabulary

PROMPTS = ("keywords", "variants", "relevance")
LAST = 10  # keywords that variants are asked for
_ACTIVE = 20  # keywords that the judge is shown
_EXAMPLES = 10  # keywords that show the form
_DESCRIPTION = 4000  # characters of a description that the judge is shown

_VERDICT = closed(
    {
        "is_relevant": {"type": "boolean"},
        "confidence": CONFIDENCE,
        "reason": TEXT,
    }
)


class RelevanceVerdict(msgspec.Struct, frozen=True, kw_only=True):
    """What a model says of a video and a category; ``failure`` says why there is no verdict."""

    model: str
    is_relevant: bool = False
    confidence: float | None = None
    reason: str = ""
    failure: str = ""
    words: str = ""  # of a reply that could not be used


@dataclass(frozen=True, slots=True)
class Curator:
    """The model of a role, asked about categories and videos; verdicts are kept in the store."""

    ctx: StageContext
    role: str

    @property
    def is_named(self) -> bool:
        """Whether the user named a model."""
        return bool(self.ctx.models.get(self.role))

    async def keywords(self, category: str, number: int) -> tuple[list[str], str]:
        """Return keywords for a category, or none and why."""
        known = vocabulary(category)
        prompt = self.ctx.prompts.prompt(
            "keywords",
            category=category,
            focus=_numbered(known.focus),
            examples=_bullets(_spread(known)),
            number=str(number),
        )
        return await self._listed(prompt, number, 1)

    async def variants(
        self, category: str, issued: Sequence[str], number: int, round: int
    ) -> tuple[list[str], str]:
        """Return other keywords than the last ones, or none and why."""
        prompt = self.ctx.prompts.prompt(
            "variants",
            category=category,
            variant_focus=vocabulary(category).variant_focus,
            keywords=_bullets(issued[-LAST:]),
            number=str(number),
        )
        return await self._listed(prompt, number, round)

    async def _listed(self, prompt: str, number: int, round: int) -> tuple[list[str], str]:
        schema = closed({"keywords": {**listed(TEXT, 1), "x-count": number}})
        reply = await self._asked(prompt, schema, round)
        if reply.data is None:
            return [], reply.failure
        if self.ctx.is_forecast:
            return [], ""  # made-up keywords would find nothing
        return new_keywords(reply.data["keywords"], ())[:number], ""

    async def _asked(self, prompt: str, schema: Mapping[str, Any], round: int = 0) -> Structured:
        """Return the reply as JSON; where it refuses or never ends, that it failed, and why."""
        try:
            return await self.ctx.json(self.role, prompt, schema, round=round)
        except Rejected as refusal:
            words = " ".join(refusal.words)
            return Structured(failure=f"refused: {refusal.detail}", status="refused", words=words)
        except Undecided as undecided:
            if undecided.status != "truncated":
                raise
            return Structured(failure=undecided.error, status="truncated")

    async def verdict(
        self, candidate: VideoCandidate, category: str, active: Sequence[str]
    ) -> RelevanceVerdict:
        """Return the verdict about a video and a category, which is asked for once.

        The keywords are shown, but do not decide what counts as the same question: a video that
        another keyword finds is not judged again, nor is one that was watched more often since.
        """
        model, known = self.ctx.model(self.role), vocabulary(category)
        cases = [known.scope_description, known.positive, known.negative, known.exclusions]
        key = digest_of(
            {
                "relevance": category,
                "video": [candidate.video_id, candidate.title, candidate.channel],
                "description": candidate.description,
                "words": self.ctx.prompts.digest(["relevance"]),
                "cases": cases,
                "model": [model.card.name, dict(model.parameters)],
            }
        )
        kept = self.ctx.store.get(key, RelevanceVerdict)
        if kept is not None:
            verdict: RelevanceVerdict = kept.rows[0]
            return verdict
        reply = await self._asked(self._question(candidate, known, active), _VERDICT)
        found = reply.data or {"failure": reply.failure, "words": reply.words}
        if self.ctx.is_forecast:  # as many as can be admitted: what follows costs most then
            found = {"is_relevant": True, "confidence": 1.0, "reason": "as may be expected"}
        verdict = RelevanceVerdict(model=model.card.name, **found)
        if reply.status != "truncated":  # a larger limit may help that
            self.ctx.store.put(key, self.ctx.stage, RowResult([verdict]))
        return verdict

    def _question(
        self, candidate: VideoCandidate, known: CategoryVocabulary, active: Sequence[str]
    ) -> str:
        views = candidate.view_count
        return self.ctx.prompts.prompt(
            "relevance",
            category=known.name,
            scope=known.scope_description,
            positive=_bullets(known.positive),
            negative=_bullets(known.negative),
            exclusions=_bullets(known.exclusions) or "(nothing)",
            keywords=_bullets(active[:_ACTIVE]),
            title=candidate.title,
            channel=candidate.channel or "(unknown)",
            view_count="(unknown)" if views is None else f"{views:,}",
            description=_cut(candidate.description) or "(none)",
        )


def new_keywords(found: Iterable[str], issued: Collection[str]) -> list[str]:
    """Return keywords without those issued before, each once, their white space evened out."""
    seen = {plain(keyword) for keyword in issued}
    new = []
    for keyword in (" ".join(each.split()) for each in found):
        if plain(keyword) not in seen:
            seen.add(plain(keyword))
            new.append(keyword)
    return new


def _spread(known: CategoryVocabulary) -> list[str]:
    """Return a few keywords of a category, from all blocks in turn."""
    longest = max(map(len, known.blocks.values()))
    turns = [b[at] for at in range(longest) for b in known.blocks.values() if at < len(b)]
    return turns[:_EXAMPLES]


def _cut(text: str) -> str:
    return text if len(text) <= _DESCRIPTION else f"{text[:_DESCRIPTION]} ..."


def _bullets(texts: Iterable[str]) -> str:
    return "\n".join(f"- {text}" for text in texts)


def _numbered(texts: Iterable[str]) -> str:
    return "\n".join(f"{number}. {text}" for number, text in enumerate(texts, 1))
