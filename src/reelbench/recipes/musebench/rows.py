"""The rows of the recipe before there are items: categories to fill, and video essays."""

from typing import Any

import msgspec

from reelbench.data.items import Span

ESSAYS = "make/essays"  # the folder of essays, in the folder that is made


class CategoryPlan(msgspec.Struct, frozen=True):
    """A category that is to be filled with essays."""

    id: str  # its name

    @property
    def category(self) -> str:
        """What its outcomes are counted by."""
        return self.id


class Essay(msgspec.Struct, frozen=True, kw_only=True):
    """A video essay, with what the stages so far found about it.

    Texts that are long are kept in the store; the row has their digests.
    """

    id: str  # of letters, digits, - and _: files are named after it
    category: str = ""  # as curated, inferred or decided by people
    title: str = ""
    channel: str = ""
    description: str = ""
    view_count: int | None = None
    url: str = ""
    # Keyword, confidence, reason and model of the relevance judge; later what was fetched, which
    # category was inferred, what is in doubt of it, and who vetted it.
    curation: dict[str, Any] = {}
    file: str = ""  # the essay with its narrator, as a path in the folder that is made
    clip: str = ""  # what its labels are about: ``file``, later the same without the narrator
    sha256: str = ""  # of ``clip``
    seconds: float = 0.0  # that are used: it may be longer than the longest allowed
    record: str = ""  # the digest of its transcription record, as JSON
    narrator: dict[str, Any] = {}  # speaker, confidence, turns; later how well it was removed
    flags: tuple[str, ...] = ()  # of the whole essay, such as "no clear narrator"
    clips: tuple[Span, ...] = ()  # of ten seconds; their places count from 1
    flagged: dict[int, tuple[str, ...]] = {}  # what is wrong with a clip, by its place
    captions: str = ""  # the digest of the captions of the clips, as a JSON list
    rules: str = ""  # the digest of the rule set that its questions are written by
