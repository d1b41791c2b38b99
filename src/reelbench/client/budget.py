"""What was spent, and what may be: tokens and dollars, counted for a whole run."""

import math
import re
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from reelbench.base.errors import ReelbenchError
from reelbench.models.base import Response
from reelbench.models.card import Card

_FORM = re.compile(
    r"(?P<number>\d[\d_]*(?:\.\d+)?)\s*(?P<unit>usd|\$|tokens?|)|\$(?P<usd>\d[\d_]*(?:\.\d+)?)",
    re.IGNORECASE,
)


_MOST_FAILED_FIRST_CALLS = 3  # calls that may fail one by one before many are made together


@dataclass(frozen=True, slots=True)
class Budget:
    """The most that a run may spend, in one of two units."""

    usd: float = math.inf
    tokens: float = math.inf

    def to_record(self) -> dict[str, float]:
        """Return it as plain data; empty where there is no limit."""
        units = {"usd": self.usd, "tokens": self.tokens}
        return {unit: most for unit, most in units.items() if math.isfinite(most)}


def parse_budget(text: str) -> Budget:
    """Return the budget in ``5``, ``5usd`` or ``2000000tokens``; ``none`` is no limit."""
    if text.strip().lower() == "none":
        return Budget()
    match = _FORM.fullmatch(text.strip())
    if not match:
        raise ReelbenchError(
            f"The budget {text!r} cannot be read: write dollars, such as 5 or 2.50usd, or tokens, "
            "such as 2000000tokens."
        )
    number = float((match["number"] or match["usd"]).replace("_", ""))
    tokens = (match["unit"] or "").lower().startswith("t")
    return Budget(tokens=number) if tokens else Budget(usd=number)


@dataclass(slots=True)
class Spent:
    """What one model has used so far: requests, tokens, seconds and dollars."""

    requests: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    seconds: float = 0.0  # of all its calls, also of those at the same time
    estimated: int = 0  # requests whose server did not count the tokens
    usd: float | None = None  # None where the model's card has no price
    cached_tokens: int | None = None  # of the input; None where its server does not say

    @property
    def cache_hit_rate(self) -> float | None:
        """The share of the input that its server had in its cache; None where it does not say."""
        if self.cached_tokens is None or not self.input_tokens:
            return None
        return self.cached_tokens / self.input_tokens

    def to_record(self) -> dict[str, Any]:
        """Return it as plain data."""
        record: dict[str, Any] = {name: getattr(self, name) for name in
                                  ("requests", "input_tokens", "output_tokens")}  # fmt: skip
        record["seconds"] = round(self.seconds, 3)
        if self.estimated:
            record["estimated_requests"] = self.estimated
        if self.cached_tokens is not None:
            record["cached_tokens"] = self.cached_tokens
        if self.usd is not None:
            record["usd"] = round(self.usd, 6)
        return record


@dataclass
class Ledger:
    """Counts what is spent, and reserves what requests in flight will take."""

    budget: Budget = field(default_factory=Budget)
    spent: dict[str, Spent] = field(default_factory=dict)
    _reserved: Budget = field(default_factory=lambda: Budget(0.0, 0.0))
    _seen: dict[str, "_Seen"] = field(default_factory=dict)
    _failed: Counter[str] = field(default_factory=Counter)

    def in_words(self) -> str:
        """Return what all models took so far: dollars, or tokens where one has no price."""
        spent = [each for each in self.spent.values() if each.input_tokens or each.output_tokens]
        if spent and all(each.usd is not None for each in spent):
            return f"${sum(each.usd or 0.0 for each in spent):,.2f}"
        tokens = sum(each.input_tokens + each.output_tokens for each in spent)
        return f"{tokens:,} tokens" if tokens else ""

    @property
    def bounded(self) -> bool:
        """Whether there is a limit."""
        return self.budget != Budget()

    def check_price(self, card: Card) -> None:
        """Refuse a model without a price where the budget is in dollars."""
        if math.isfinite(self.budget.usd) and card.price is None:
            raise ReelbenchError(
                f"{card.name} has no price, so a budget in dollars cannot be kept: write "
                "`price: {input: 2.5, output: 10}` (dollars for a million tokens) in its card, or "
                "give the budget in tokens."
            )

    def knows(self, card: Card) -> bool:
        """Whether the cost of this model's replies was seen, or its first calls all failed."""
        return card.name in self._seen or self._failed[card.name] >= _MOST_FAILED_FIRST_CALLS

    def reserve(self, card: Card, estimate: tuple[int, int]) -> Budget | None:
        """Reserve what a request will take; None where that would be over the budget."""
        seen = self._seen.get(card.name)
        taken, given = seen.corrected(estimate) if seen else estimate
        share = Budget(card.price.of(taken, given) if card.price else 0.0, taken + given)
        usd = sum(spent.usd or 0.0 for spent in self.spent.values()) + self._reserved.usd
        total = sum(spent.input_tokens + spent.output_tokens for spent in self.spent.values())
        if (
            usd + share.usd > self.budget.usd
            or total + self._reserved.tokens + share.tokens > self.budget.tokens
        ):
            return None
        self._reserved = Budget(
            self._reserved.usd + share.usd, self._reserved.tokens + share.tokens
        )
        return share

    def settle(
        self,
        card: Card,
        share: Budget,
        estimate: tuple[int, int],
        got: Response,
        seconds: float = 0.0,
    ) -> None:
        """Replace what was reserved for a request by what it really took."""
        self._reserved = Budget(
            self._reserved.usd - share.usd, self._reserved.tokens - share.tokens
        )
        guess = estimate if got.replied else None
        requests = 0 if got.unasked else 1
        counts = (got.input_tokens, got.output_tokens)
        self.count(card, *counts, guess, requests, seconds, got.cached_tokens)
        self._failed[card.name] += not got.replied
        if got.replied:
            seen = self._seen.setdefault(card.name, _Seen())
            seen.add(estimate, got.input_tokens, got.output_tokens)

    def count(
        self,
        card: Card,
        input_tokens: int | None,
        output_tokens: int | None,
        estimate: tuple[int, int] | None = None,
        requests: int = 1,
        seconds: float = 0.0,
        cached: int | None = None,
    ) -> None:
        """Count a request, or several, by their server's counts or by an estimate."""
        spent = self.spent.setdefault(card.name, Spent())
        spent.requests += requests
        spent.seconds += seconds
        if input_tokens is None and output_tokens is None and estimate is not None:
            input_tokens, output_tokens = estimate
            spent.estimated += requests
        spent.input_tokens += input_tokens or 0
        spent.output_tokens += output_tokens or 0
        if cached is not None:
            spent.cached_tokens = (spent.cached_tokens or 0) + cached
        if card.price is not None:
            spent.usd = card.price.of(spent.input_tokens, spent.output_tokens)


@dataclass(slots=True)
class _Seen:
    """How far a server's counts of tokens are from our estimates, and its longest reply."""

    guessed: float = 0.0
    counted: float = 0.0
    largest: int = 0  # tokens of a reply

    def add(self, estimate: tuple[int, int], taken: int | None, given: int | None) -> None:
        self.guessed += estimate[0]
        self.counted += estimate[0] if taken is None else taken
        self.largest = max(self.largest, estimate[1] if given is None else given)

    def corrected(self, estimate: tuple[int, int]) -> tuple[float, float]:
        """Return an estimate corrected by earlier requests, with the longest reply so far."""
        ratio = self.counted / self.guessed if self.guessed else 1.0
        return estimate[0] * ratio, float(self.largest)
