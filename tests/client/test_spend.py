"""What was spent and what may be: read, set aside, settled, and learned from."""

import math
from typing import Any

import pytest

from reelbench.base.errors import ReelbenchError
from reelbench.client.budget import Budget, Ledger, Spent, parse_budget
from reelbench.models.base import Response
from reelbench.models.card import Card, Price

CARD = Card(name="m", price=Price(input=2.0, output=10.0))  # dollars for a million
FREE = Card(name="free")


def without_time(spent: Spent) -> dict[str, Any]:
    return {name: value for name, value in spent.to_record().items() if name != "seconds"}


def answer(taken: int | None, given: int | None) -> Response:
    return Response("ok", "B", None, taken, given)


class TestBudgets:
    @pytest.mark.parametrize(("text", "budget"), [
        ("5", Budget(usd=5)),
        ("0", Budget(usd=0)),
        ("2.50usd", Budget(usd=2.5)),
        ("2.50 USD", Budget(usd=2.5)),
        ("$5", Budget(usd=5)),
        ("5$", Budget(usd=5)),
        (" 1_000 ", Budget(usd=1000)),
        ("2000000tokens", Budget(tokens=2_000_000)),
        ("2_000_000 tokens", Budget(tokens=2_000_000)),
        ("1token", Budget(tokens=1)),
    ])  # fmt: skip
    def test_forms(self, text: str, budget: Budget) -> None:
        assert parse_budget(text) == budget

    @pytest.mark.parametrize(
        "text",
        [
            "",
            "five",
            "-5",
            "5eur",
            "1e6",
            "nan",
            "inf",
            "5 5",
            "5k",
            "usd",
            "tokens",
            "1.2.3",
            "$5tokens",
        ],
    )
    def test_what_cannot_be_read(self, text: str) -> None:
        with pytest.raises(ReelbenchError, match=r"write dollars.*or tokens"):
            parse_budget(text)


class TestPrices:
    def test_dollars_want_a_price(self) -> None:
        ledger = Ledger(Budget(usd=5))
        with pytest.raises(ReelbenchError, match="free has no price"):
            ledger.check_price(FREE)
        ledger.check_price(CARD)

    @pytest.mark.parametrize("ledger", [Ledger(), Ledger(Budget(tokens=5))])
    def test_others_do_not(self, ledger: Ledger) -> None:
        ledger.check_price(FREE)


class TestReserving:
    def test_no_budget_refuses_nothing(self) -> None:
        ledger = Ledger()
        assert not ledger.bounded
        assert ledger.reserve(CARD, (10**12, 10**12)) is not None

    def test_up_to_the_last_token(self) -> None:
        ledger = Ledger(Budget(tokens=330))
        assert ledger.bounded
        shares = [ledger.reserve(FREE, (100, 10)) for _ in range(4)]
        assert [share is not None for share in shares] == [True, True, True, False]

    def test_up_to_the_last_cent(self) -> None:
        """A request of 100,000 tokens in and 5,000 out costs 25 cents."""
        ledger = Ledger(Budget(usd=0.75))
        shares = [ledger.reserve(CARD, (100_000, 5_000)) for _ in range(4)]
        assert shares == [Budget(0.25, 105_000)] * 3 + [None]

    def test_all_models_share_it(self) -> None:
        ledger = Ledger(Budget(tokens=150))
        assert ledger.reserve(CARD, (90, 10))
        assert ledger.reserve(FREE, (90, 10)) is None
        assert ledger.reserve(FREE, (40, 10))

    def test_a_small_request_fits_where_a_large_one_does_not(self) -> None:
        ledger = Ledger(Budget(tokens=100))
        assert ledger.reserve(FREE, (200, 0)) is None
        assert ledger.reserve(FREE, (100, 0))


class TestSettling:
    def test_what_was_taken_takes_the_place_of_what_was_set_aside(self) -> None:
        ledger = Ledger(Budget(tokens=220))
        share = ledger.reserve(FREE, (100, 10))
        assert share
        ledger.settle(FREE, share, (100, 10), answer(100, 10))
        assert ledger.spent["free"] == Spent(1, 100, 10)
        assert ledger.reserve(FREE, (100, 10))
        assert ledger.reserve(FREE, (1, 0)) is None

    def test_dollars(self) -> None:
        ledger = Ledger()
        for taken, given in ((100_000, 5_000), (200_000, 0)):
            share = ledger.reserve(CARD, (0, 0))
            assert share is not None
            ledger.settle(CARD, share, (0, 0), answer(taken, given))
        assert without_time(ledger.spent["m"]) == {
            "requests": 2, "input_tokens": 300_000, "output_tokens": 5_000, "usd": 0.65,
        }  # fmt: skip

    def test_a_failure_gives_back_what_was_set_aside(self) -> None:
        ledger = Ledger(Budget(tokens=110))
        for _ in range(5):
            share = ledger.reserve(FREE, (100, 10))
            assert share
            ledger.settle(FREE, share, (100, 10), Response("error", error="no"))
        assert ledger.spent["free"] == Spent(requests=5)

    def test_a_refusal_is_paid_for(self) -> None:
        ledger = Ledger(Budget(tokens=150))
        share = ledger.reserve(FREE, (100, 10))
        assert share
        ledger.settle(FREE, share, (100, 10), Response("refused", None, "no", 100, 10))
        assert ledger.reserve(FREE, (100, 10)) is None

    def test_an_estimate_where_the_server_does_not_say(self) -> None:
        ledger = Ledger(Budget(usd=1))
        share = ledger.reserve(CARD, (100_000, 5_000))
        assert share
        ledger.settle(CARD, share, (100_000, 5_000), answer(None, None))
        assert without_time(ledger.spent["m"]) == {
            "requests": 1, "input_tokens": 100_000, "output_tokens": 5_000,
            "estimated_requests": 1, "usd": 0.25,
        }  # fmt: skip

    def test_what_a_run_before_has_spent(self) -> None:
        ledger = Ledger(Budget(tokens=1000))
        ledger.count(FREE, 900, 50, requests=9)
        assert ledger.spent["free"] == Spent(9, 900, 50)
        assert ledger.reserve(FREE, (60, 0)) is None
        assert ledger.reserve(FREE, (50, 0))


class TestLearning:
    def settled(self, ledger: Ledger, card: Card, taken: int) -> None:
        share = ledger.reserve(card, (100, 0))
        assert share
        ledger.settle(card, share, (100, 0), answer(taken, 0))

    @pytest.mark.parametrize(("taken", "fitting"), [(100, 9), (300, 2), (50, 19)])
    def test_how_servers_count(self, taken: int, fitting: int) -> None:
        """After one answer, what is set aside for the next is by what that one took."""
        ledger = Ledger(Budget(tokens=1000))
        self.settled(ledger, FREE, taken)
        shares = [ledger.reserve(FREE, (100, 0)) for _ in range(30)]
        assert sum(share is not None for share in shares) == fitting

    def test_of_one_server_says_nothing_about_another(self) -> None:
        ledger = Ledger(Budget(tokens=10_000))
        self.settled(ledger, FREE, 300)
        share = ledger.reserve(CARD, (100, 0))
        assert share
        assert share.tokens == 100

    def test_the_mean_of_all_answers(self) -> None:
        ledger = Ledger(Budget(tokens=10_000))
        for taken in (100, 200, 300):
            self.settled(ledger, FREE, taken)
        share = ledger.reserve(FREE, (100, 0))
        assert share
        assert math.isclose(share.tokens, 200)

    @pytest.mark.parametrize("flying", [1, 4, 16])
    def test_a_budget_is_overrun_by_no_more_than_was_under_way(self, flying: int) -> None:
        """Each request takes five times what we guess; so many are under way at a time."""
        ledger = Ledger(Budget(tokens=10_000))
        while shares := [s for _ in range(flying) if (s := ledger.reserve(FREE, (100, 0)))]:
            for share in shares:
                ledger.settle(FREE, share, (100, 0), answer(500, 0))
        spent = ledger.spent["free"].input_tokens
        assert 10_000 - 500 < spent <= 10_000 + flying * 400
