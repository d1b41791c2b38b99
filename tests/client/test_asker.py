"""Asking through a journal: each thing once, within the budget, and no failure twice taken for an answer."""

import asyncio
import io
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from servers import Reply, Server, completion, serving

from reelbench.client.budget import Budget, Ledger, Spent
from reelbench.client.client import OVER_BUDGET, Client, Counts, Stopped
from reelbench.client.journal import Journal, open_journal
from reelbench.models.base import ImagePart, Message, Request, Response, TextPart
from reelbench.models.card import Card, Price
from reelbench.models.openai import OpenAIModel

NO_USAGE = completion("B", usage=None)


def without_time(spent: Spent) -> dict[str, Any]:
    return {name: value for name, value in spent.to_record().items() if name != "seconds"}


def asking(number: int = 0, words: int = 1) -> Request:
    """A question; each word is a token."""
    return Request(f"key {number}", (Message("user", (TextPart("word" * words),)),), "open", "")


def within(server: Server, work: Callable[[OpenAIModel], Awaitable[Any]], **card: Any) -> Any:
    """Do some work with a model at this server."""

    async def working() -> Any:
        model = OpenAIModel(Card(name="m", endpoint=server.url, **({"retries": 0} | card)))
        try:
            return await work(model)
        finally:
            await model.close()

    return asyncio.run(working())


def asked(server: Server, client: Client, *requests: Request, **card: Any) -> list[Response]:
    """Ask these at once."""

    async def work(model: OpenAIModel) -> list[Response]:
        return await asyncio.gather(*(client.ask(model, request) for request in requests))

    responses: list[Response] = within(server, work, **card)
    return responses


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journal]:
    with open_journal(tmp_path / "journal.sqlite") as journal:
        yield journal


class TestOnce:
    def test_equal_requests_at_once_are_one_call(self, journal: Journal) -> None:
        client = Client(journal)
        with serving(lambda *_: completion("B"), latency=0.02) as server:
            responses = asked(server, client, *[asking()] * 20)
        assert responses == [Response("ok", "B", None, 100, 3)] * 20
        assert len(server.requests) == 1
        assert client.counts == Counts(asked=1, known=0, repeated=19)
        assert client.ledger.spent["m"].requests == 1

    def test_what_was_answered_before_is_not_asked_again(self, journal: Journal) -> None:
        with serving(lambda *_: completion("B")) as server:
            first = asked(server, Client(journal), asking(1), asking(2))
            client = Client(journal)
            assert asked(server, client, asking(1), asking(2)) == first
        assert len(server.requests) == 2
        assert client.counts == Counts(known=2)
        assert client.ledger.spent == {}

    def test_it_is_in_the_journal_before_it_counts(self, journal: Journal) -> None:
        with serving(lambda *_: completion("B")) as server:
            (response,) = asked(server, Client(journal), asking())
        assert journal.answer("key 0") == response
        ((*taken, seconds, guessed),) = journal.taken()
        assert taken == ["m", 1, 100, 3, None]
        assert 0 < seconds < 60
        assert not guessed

    @pytest.mark.parametrize(("reply", "status"), [
        ((500, {}, b"oops"), "error"),
        (completion(None, message={"refusal": "no"}), "refused"),
    ])  # fmt: skip
    def test_only_an_answer_is_served_again(
        self, reply: Reply, status: str, journal: Journal
    ) -> None:
        client = Client(journal)
        with serving(lambda _, n: completion("B") if n else reply) as server:
            statuses = [asked(server, client, asking())[0].status for _ in range(3)]
            assert statuses == [status, "ok", "ok"]
        assert len(server.requests) == 2
        assert client.counts == Counts(asked=2, repeated=1)

    def test_a_reply_cut_off_in_the_middle_of_a_character(self, journal: Journal) -> None:
        """JSON can say half a pair; the rest of the reply was paid for all the same."""
        with serving(lambda *_: completion("It is B \ud83d")) as server:
            asked(server, Client(journal), asking(), retries=1, backoff=0.001)
        assert len(server.requests) == 1
        assert str(getattr(journal.answer("key 0"), "text", None)).startswith("It is B ")

    def test_a_failure_is_written_down(self, journal: Journal) -> None:
        with serving(lambda *_: (500, {}, b"oops")) as server:
            (response,) = asked(server, Client(journal), asking())
        assert journal.answer("key 0") is None
        assert journal.outcome("key 0") == response == Response("error", error="HTTP 500: oops")


class TestMaking:
    """What is to be asked is made when its turn comes."""

    def test_not_for_what_is_known(self, journal: Journal) -> None:
        def never() -> Request:
            raise AssertionError

        async def work(model: OpenAIModel) -> Response:
            return await Client(journal).ask_for(model, "key 0", never)

        journal.record("key 0", "m", Response("ok", "B"))
        with serving(lambda *_: completion("C")) as server:
            assert within(server, work).text == "B"

    def test_a_failure_to_make_it_is_a_response(self, journal: Journal) -> None:
        broken = Response("error", error="the video is broken")

        async def work(model: OpenAIModel) -> Response:
            return await Client(journal).ask_for(model, "key 0", lambda: broken)

        with serving(lambda *_: completion("B")) as server:
            assert within(server, work) == broken
        assert server.requests == []
        assert journal.outcome("key 0") is None  # nobody was asked

    def test_no_more_are_made_than_can_be_asked(self, journal: Journal) -> None:
        made, most = 0, 0

        async def one(client: Client, model: OpenAIModel, number: int) -> None:
            nonlocal made

            def make() -> Request:
                nonlocal made, most
                made += 1
                most = max(most, made)
                return asking(number)

            await client.ask_for(model, f"key {number}", make)
            made -= 1

        async def work(model: OpenAIModel) -> None:
            client = Client(journal)
            await asyncio.gather(*(one(client, model, number) for number in range(12)))

        with serving(lambda *_: completion("B"), latency=0.01) as server:
            within(server, work, connections=3)
        assert most == 3
        assert len(server.requests) == 12


class TestStopping:
    def test_nothing_more_is_asked_and_what_is_known_is_still_told(self, journal: Journal) -> None:
        client = Client(journal)
        with serving(lambda *_: completion("B")) as server:
            asked(server, client, asking(1))
            client.stopping.set()
            assert asked(server, client, asking(1))[0].text == "B"
            with pytest.raises(Stopped):
                asked(server, client, asking(2))
        assert len(server.requests) == 1


class TestBudgets:
    def test_what_would_be_over_is_not_asked_and_not_written_down(self, journal: Journal) -> None:
        """A question of 100 tokens, a reply of 200: the first fits, the second does not."""
        client = Client(journal, Ledger(Budget(tokens=350)))
        with serving(lambda *_: completion("B")) as server:
            (first,) = asked(server, client, asking(1, 100))
            assert first.status == "ok"
            assert asked(server, client, asking(2, 1000)) == [OVER_BUDGET]
            assert len(server.requests) == 1
            assert journal.outcome("key 2") is None
            assert client.counts == Counts(asked=1)
            larger = Client(journal, Ledger(Budget(tokens=10_000)))
            assert asked(server, larger, asking(2, 1000))[0].status == "ok"

    def test_what_is_known_costs_nothing(self, journal: Journal) -> None:
        with serving(lambda *_: completion("B")) as server:
            asked(server, Client(journal), asking(1))
            broke = Client(journal, Ledger(Budget(tokens=0)))
            assert asked(server, broke, asking(1))[0].status == "ok"
            assert asked(server, broke, asking(2)) == [OVER_BUDGET]

    @pytest.mark.parametrize("connections", [1, 4])
    def test_it_is_overrun_by_no_more_than_was_under_way(
        self, connections: int, journal: Journal
    ) -> None:
        """The server counts 103 tokens where we guess 20."""
        client = Client(journal, Ledger(Budget(tokens=2000)))
        requests = [asking(number, 10) for number in range(60)]
        with serving(lambda *_: completion("B"), latency=0.005) as server:
            responses = asked(server, client, *requests, connections=connections, reply_tokens=10)
        statuses = [response.status for response in responses]
        assert set(statuses) == {"ok", "over_budget"}
        assert statuses.count("ok") == len(server.requests)
        spent = 103 * len(server.requests)
        assert 2000 - 103 < spent <= 2000 + connections * 103

    def test_in_dollars(self, journal: Journal) -> None:
        """An answer costs 100 x 2 + 3 x 100 dollars for a million, so 500: two fit in 1200."""
        client = Client(journal, Ledger(Budget(usd=0.0012)))
        price = Price(input=2, output=100)
        with serving(lambda *_: completion("B")) as server:
            responses = [
                asked(server, client, asking(n, 100), price=price, reply_tokens=3)[0]
                for n in range(4)
            ]
        assert [response.status for response in responses] == ["ok"] * 2 + ["over_budget"] * 2
        assert client.ledger.spent["m"].to_record()["usd"] == 0.001

    def test_who_gives_up_gives_back(self, journal: Journal) -> None:
        client = Client(journal, Ledger(Budget(tokens=300)))

        async def given_up(model: OpenAIModel) -> None:
            asking_it = asyncio.create_task(client.ask(model, asking(1, 100)))
            async with asyncio.timeout(30):
                while not server.requests:
                    await asyncio.sleep(0.001)
            asking_it.cancel()
            await asyncio.gather(asking_it, return_exceptions=True)

        with serving(lambda *_: completion("B"), latency=600.0) as server:
            within(server, given_up)
            server.latency = 0.0
            assert journal.outcome("key 1") is None
            assert asked(server, client, asking(2, 100))[0].status == "ok"


class TestServersThatDoNotSay:
    @pytest.mark.parametrize(
        "ledger", [Ledger(), Ledger(Budget(tokens=10_000))], ids=["free", "bounded"]
    )
    def test_their_tokens_are_estimated(self, ledger: Ledger, journal: Journal) -> None:
        with serving(lambda *_: NO_USAGE) as server:
            (response,) = asked(server, Client(journal, ledger), asking(1, 100), reply_tokens=7)
        assert response == Response("ok", "B")
        assert without_time(ledger.spent["m"]) == {
            "requests": 1, "input_tokens": 100, "output_tokens": 7, "estimated_requests": 1,
        }  # fmt: skip

    def test_with_their_pictures(self, journal: Journal) -> None:
        file = io.BytesIO()
        Image.new("RGB", (56, 28)).save(file, "JPEG")
        pictures = [ImagePart(file.getvalue(), "image/jpeg", float(n)) for n in range(3)]
        request = Request("key", (Message("user", tuple(pictures)),), "open", "")
        ledger = Ledger()
        with serving(lambda *_: NO_USAGE) as server:
            asked(server, Client(journal, ledger), request)
        assert ledger.spent["m"].input_tokens == 3 * 2  # patches of 28 x 28

    def test_a_failure_is_not(self, journal: Journal) -> None:
        ledger = Ledger()
        with serving(lambda *_: (500, {}, b"")) as server:
            asked(server, Client(journal, ledger), asking(1, 100))
        assert without_time(ledger.spent["m"]) == {
            "requests": 1,
            "input_tokens": 0,
            "output_tokens": 0,
        }
