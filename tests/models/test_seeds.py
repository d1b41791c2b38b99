"""Seeds of requests: who is sent one, where it stands in what is sent, and that it ends the key."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from servers import Reply, anthropic_message, completion, gemini_reply, hosting, json_reply

from reelbench.client.client import Client
from reelbench.client.journal import open_journal
from reelbench.models.base import ChatModel, Message, Response, TextPart
from reelbench.models.keys import request_key
from reelbench.models.load import load_model
from reelbench.models.seeds import seed_in, without_seed

SAMPLING = {"temperature": 1, "max_tokens": 9}
GREEDY = {"temperature": 0}


@pytest.fixture(autouse=True)
def keys_of_providers(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ANTHROPIC_API_KEY", "GEMINI_API_KEY"):
        monkeypatch.setenv(name, "a-key-that-is-not-one")


def model(
    folder: Path, backend: str = "openai", parameters: Any = SAMPLING, url: str = "http://x"
) -> ChatModel:
    if backend == "baseline":
        return load_model("baseline:random")
    fields = {"name": "m", "backend": backend, "endpoint": url, "retries": 0, "hears": False}
    (folder / "m.yaml").write_text(json.dumps(fields | {"video": "", "parameters": parameters}))
    return load_model(str(folder / "m.yaml"))


def test_a_seed_is_drawn_by_the_run_the_request_and_the_round(tmp_path: Path) -> None:
    sampling = model(tmp_path)
    asked = [{"seed": 1}, {"seed": 2}, {"seed": 1, "round": 1}, {"seed": 1, "order": [0, 1]}]
    keys = [request_key(sampling, "Why?", **each) for each in asked]  # type: ignore[arg-type]
    seeds = [seed_in(key) for key in keys]
    assert len(set(seeds)) == 4
    assert all(seed is not None and 0 <= seed < 2**31 for seed in seeds)
    assert keys == [request_key(sampling, "Why?", **each) for each in asked]  # type: ignore[arg-type]


def test_a_key_without_its_seed_is_that_of_earlier_journals(tmp_path: Path) -> None:
    sampling, said = model(tmp_path), [Message("user", (TextPart("Why?"),))]
    forms: list[Any] = ["Why?", said, [TextPart("Why?")]]
    for prompt in forms:
        key = request_key(sampling, prompt, seed=3)
        assert without_seed(key) == request_key(sampling, prompt) != key
        assert seed_in(request_key(sampling, prompt)) is None


@pytest.mark.parametrize(("backend", "parameters", "repeated", "sent"), [
    ("openai", SAMPLING, False, True),
    ("openai", {"temperature": None}, False, True),  # then the server samples as it likes
    ("openai", GREEDY, False, False),
    ("openai", GREEDY, True, True),
    ("openai", {}, False, False),  # a temperature of 0 is usual
    ("google", SAMPLING, False, True),
    ("anthropic", {"temperature": 1}, True, False),  # their API has no such parameter
    ("baseline", {}, True, False),
    ("openai", SAMPLING | {"seed": None}, True, False),
    ("google", SAMPLING | {"seed": None}, True, False),
    ("openai", SAMPLING | {"seed": 7}, True, False),  # the card's own, in every request
])  # fmt: skip
def test_who_is_sent_a_seed(
    tmp_path: Path, backend: str, parameters: Any, repeated: bool, sent: bool
) -> None:
    key = request_key(model(tmp_path, backend, parameters), "Why?", seed=0, repeated=repeated)
    assert (seed_in(key) is not None) == sent


def asked(chosen: ChatModel, folder: Path, rounds: int = 1, seed: int = 0) -> list[Response]:
    """Ask the same in rounds, through a journal in this folder."""

    async def all_rounds() -> list[Response]:
        with open_journal(folder / "journal.sqlite") as journal:
            client = Client(journal, seed=seed)
            try:
                return [
                    await client.ask_prompt(chosen, "Why?", round=n, repeated=rounds > 1)
                    for n in range(rounds)
                ]
            finally:
                await chosen.close()

    return asyncio.run(all_rounds())


@pytest.mark.parametrize(("backend", "reply", "place"), [
    ("openai", completion("B"), ()), ("google", gemini_reply("B"), ("generationConfig",)),
])  # fmt: skip
def test_each_round_sends_a_seed_of_its_own_in_the_servers_words(
    tmp_path: Path, backend: str, reply: Reply, place: tuple[str, ...]
) -> None:
    with hosting(lambda _: reply) as server:
        chosen = model(tmp_path, backend, url=server.url)
        assert [each.text for each in asked(chosen, tmp_path, rounds=5)] == ["B"] * 5
        sent = list(server.requests)
    for name in place:
        sent = [body[name] for body in sent]
    assert [body["temperature"] for body in sent] == [1] * 5
    keys = [request_key(chosen, "Why?", round=n, seed=0) for n in range(5)]
    assert [body["seed"] for body in sent] == [seed_in(key) for key in keys]
    assert len({body["seed"] for body in sent}) == 5
    with open_journal(tmp_path / "journal.sqlite", reading=True) as journal:
        taken = [journal.taken_by(key) for key in keys]
    assert [each and each["seed"] for each in taken] == [body["seed"] for body in sent]


def test_what_a_greedy_model_is_asked_once_is_sent_as_it_always_was(tmp_path: Path) -> None:
    with hosting(lambda _: completion("B")) as server:
        asked(model(tmp_path, parameters=GREEDY, url=server.url), tmp_path)
    said = [{"role": "user", "content": [{"type": "text", "text": "Why?"}]}]
    assert server.requests == [{"model": "m", "temperature": 0, "messages": said}]


def test_who_takes_no_seed_gets_none(tmp_path: Path) -> None:
    with hosting(lambda _: anthropic_message("B")) as server:
        asked(model(tmp_path, "anthropic", url=server.url), tmp_path, rounds=2)
    assert len(server.requests) == 2
    assert not any("seed" in body for body in server.requests)


def test_replies_from_before_seeds_were_sent_are_not_asked_for_again(tmp_path: Path) -> None:
    with hosting(lambda call: completion(f"reply {call.number}")) as server:
        asked(model(tmp_path, parameters=SAMPLING | {"seed": None}, url=server.url), tmp_path, 2)
        sampling = model(tmp_path, url=server.url)
        replies = asked(sampling, tmp_path, 3)
    assert [each.text for each in replies] == ["reply 0", "reply 1", "reply 2"]
    assert ["seed" in body for body in server.requests] == [False, False, True]
    with open_journal(tmp_path / "journal.sqlite", reading=True) as journal:
        taken = journal.taken_by(request_key(sampling, "Why?", seed=0))
    assert taken is not None
    assert taken["seed"] is None, "none was sent"


def test_replies_with_seeds_are_not_asked_for_again_without(tmp_path: Path) -> None:
    """As where a server comes to refuse them, or a filter asks a greedy model but once."""
    with hosting(lambda call: completion(f"reply {call.number}")) as server:
        seeded = asked(model(tmp_path, url=server.url), tmp_path, 2)
        without = model(tmp_path, parameters=SAMPLING | {"seed": None}, url=server.url)
        assert asked(without, tmp_path, 2) == seeded
        greedy = model(tmp_path, parameters=GREEDY, url=server.url)
        rounds = asked(greedy, tmp_path, 2)
        assert asked(greedy, tmp_path) == rounds[:1]
    assert len(server.requests) == 4


def test_another_seed_of_the_run_draws_anew(tmp_path: Path) -> None:
    with hosting(lambda _: completion("B")) as server:
        for seed in (1, 2, 1):
            asked(model(tmp_path, url=server.url), tmp_path, seed=seed)
    assert len(server.requests) == len({body["seed"] for body in server.requests}) == 2


@pytest.mark.parametrize("status", [400, 422])
def test_a_server_that_refuses_seeds_is_named_with_what_to_write(
    tmp_path: Path, status: int
) -> None:
    fault = {"type": "extra_forbidden", "loc": ["body", "seed"], "msg": "Extra inputs"}
    with hosting(lambda _: json_reply({"detail": [fault]}, status)) as server:
        response, next_round = asked(model(tmp_path, url=server.url), tmp_path, rounds=2)
        assert response.status == "error"
        assert len(server.requests) == 1, "it refused one, and would refuse all"
        assert next_round.unasked
        assert next_round.error == response.error
        advice = "if it takes no seed, write parameters: {seed: null} in the card of m"
        assert str(response.error).endswith(f"; {advice}")
        other = model(tmp_path, parameters=SAMPLING | {"seed": None}, url=server.url)
        assert advice not in str(asked(other, tmp_path)[0].error), "it was sent none"


def test_another_refusal_is_told_as_it_is(tmp_path: Path) -> None:
    with hosting(lambda _: json_reply({"error": "max_tokens must be seeded"}, 400)) as server:
        (response,) = asked(model(tmp_path, url=server.url), tmp_path)
    assert "parameters:" not in str(response.error)
