"""JSON from models that say what they like: found, checked, repaired once, tried afresh, given up."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from servers import Reply, Server, completion, serving

from reelbench.client.client import Client
from reelbench.client.journal import open_journal
from reelbench.client.structured import (
    Structured,
    accepted_schema,
    ask_json,
    find_json,
    plain_schema,
)
from reelbench.models.card import Card
from reelbench.models.openai import OpenAIModel

SCHEMA = {
    "type": "object",
    "properties": {
        "score": {"type": "number", "minimum": 0, "maximum": 5},
        "why": {"type": "string"},
    },
    "required": ["score", "why"],
    "additionalProperties": False,
}
GOOD = '{"score": 3, "why": "so"}'


class TestFinding:
    @pytest.mark.parametrize("reply", [
        '{"score": 3}',
        '  \n{"score": 3}\n',
        '```json\n{"score": 3}\n```',
        '```\n{"score": 3}\n```',
        '```JSON\n{"score": 3}\n```\nI hope this helps!',
        'Sure! Here it is: {"score": 3}. Anything else?',
        'A first try:\n```json\n{"score": 1}\n```\nOn reflection:\n```json\n{"score": 3}\n```',
        '<think>Perhaps {"score": 1}?</think>{"score": 3}',
        'Perhaps {"score": 1}?</think>\n\n```json\n{"score": 3}\n```',
        '◁think▷{"score": 1}◁/think▷{"score": 3}',
        'A {curly} start, then {"score": 3}',
        'In frame [1] a door opens, in [2] it shuts. {"score": 3}',
    ])  # fmt: skip
    def test_an_object_with_words_around_it(self, reply: str) -> None:
        assert find_json(reply) == {"score": 3}

    def test_a_list(self) -> None:
        assert find_json('The list: [{"score": 3}, {"score": 4}].') == [{"score": 3}, {"score": 4}]

    def test_what_is_inside_is_left_as_it_is(self) -> None:
        data = {"why": 'He said "{no}"\n```\n影片 \U0001f3ac', "more": [{"a": None}, [1.5, True]]}
        assert find_json(json.dumps(data)) == data
        assert find_json(f"Here: {json.dumps(data, ensure_ascii=False)}") == data

    @pytest.mark.parametrize("reply", [
        "", "   ", "<think>hm</think>", "<think>cut off {\"score\": 3}", "No.", "{score: 3}", "{'score': 3}",
        '{"score": 3', '{"score": 3, "why": "cut o', '```json\n{"score": 3, "wh',
        '{"scores": [1, 2], "why": "cut o', '{"first": {"score": 3}, "second": {"sco', '[{"score": 3}, {"sc',
        '{"score": NaN}', '{"score": Infinity}',
        "[" * 50_000, '{"score":' * 50_000, "{" * 300_000, "[x " * 100_000, "```json\n{" * 30_000,
    ], ids=lambda reply: repr(reply[:30]))  # fmt: skip
    def test_none(self, reply: str) -> None:
        """Cut off, not JSON, or a model that repeats itself: a part of it is not what was meant."""
        with pytest.raises(ValueError, match="the reply"):
            find_json(reply)


def asked(
    folder: Path,
    *replies: str | Reply,
    times: int = 1,
    number: int = 0,
    schema: Any = SCHEMA,
    **card: Any,
) -> tuple[Structured, Server]:
    """Ask a model that replies with these, one after the other, then with the last of them."""

    def reply(_: Any, number: int) -> Reply:
        said = replies[min(number, len(replies) - 1)]
        return completion(said) if isinstance(said, str) else said

    async def all_times(server: Server) -> list[Structured]:
        model = OpenAIModel(Card(name="m", endpoint=server.url, retries=0, **card))
        try:
            with open_journal(folder / "journal.sqlite") as journal:
                return [
                    await ask_json(Client(journal), model, "Rate it.", schema, "rate", number)
                    for _ in range(times)
                ]
        finally:
            await model.close()

    with serving(reply) as server:
        results = asyncio.run(all_times(server))
    assert all(result == results[0] for result in results)
    return results[0], server


def said(server: Server, number: int) -> list[tuple[str, str]]:
    """The messages of a request."""
    messages = server.requests[number]["messages"]
    return [(message["role"], message["content"][0]["text"]) for message in messages]


def form(kind: str, **fields: Any) -> dict[str, Any]:
    properties = {"kind": {"enum": [kind]}, **fields}
    required = {"required": list(properties), "additionalProperties": False}
    return {"type": "object", "properties": properties, **required}


class TestAsking:
    def test_valid_at_once(self, tmp_path: Path) -> None:
        result, server = asked(tmp_path, f"Here: {GOOD}", times=3)
        assert result == Structured({"score": 3, "why": "so"})
        assert len(server.requests) == 1
        assert said(server, 0) == [("user", "Rate it.")]

    @pytest.mark.parametrize(("reply", "fault"), [
        ('{"score": 9, "why": "so"}', "score: 9 is greater than the maximum of 5"),
        ('{"score": "3", "why": "so"}', "score: '3' is not of type 'number'"),
        ('{"score": 3}', "'why' is a required property"),
        ('{"score": 3, "why": "so", "mood": 1}', "'mood' was unexpected"),
        ("[3]", "[3] is not of type 'object'"),
        ("3", "3 is not of type 'object'"),
        ("null", "None is not of type 'object'"),
        ("I would rather not.", "no complete JSON"),
        ('{"score": 3, "why": "it goes on', "no complete JSON"),
    ])  # fmt: skip
    def test_invalid_then_repaired(self, reply: str, fault: str, tmp_path: Path) -> None:
        result, server = asked(tmp_path, reply, GOOD, times=2)
        assert result == Structured({"score": 3, "why": "so"})
        assert len(server.requests) == 2
        first, answer, complaint = said(server, 1)
        assert first == ("user", "Rate it.")
        assert answer == ("assistant", reply)
        assert complaint[0] == "user"
        assert fault in complaint[1]

    def test_all_faults_are_named(self, tmp_path: Path) -> None:
        _, server = asked(tmp_path, '{"score": 9}', GOOD)
        complaint = said(server, 1)[-1][1]
        assert "greater than the maximum" in complaint
        assert "'why' is a required property" in complaint

    def test_of_several_forms_the_faults_are_those_of_the_one_that_was_meant(
        self, tmp_path: Path
    ) -> None:
        texts = {"type": "array", "items": {"type": "string"}, "minItems": 2}
        forms = [form("single", answer={"type": "string"}), form("multi", answers=texts)]
        schema = {"type": "array", "items": {"anyOf": forms}}
        result, _ = asked(tmp_path, '[{"kind": "multi", "answers": ["a"]}]', schema=schema)
        assert result.failure == "0.answers: ['a'] is too short"

    def test_an_empty_reply_is_asked_for_afresh(self, tmp_path: Path) -> None:
        result, server = asked(tmp_path, "", GOOD, times=1)
        assert result == Structured({"score": 3, "why": "so"})
        assert said(server, 1) == [("user", "Rate it.")]

    def test_what_was_cut_off_is_not_asked_for_again(self, tmp_path: Path) -> None:
        cut = completion('{"score": 3, "why": "it goes on', reason="length")
        result, server = asked(tmp_path, cut, times=2)
        assert (result.data, result.status, len(server.requests)) == (None, "truncated", 1)
        assert "cut off at the limit of tokens" in result.failure

    def test_invalid_twice_then_a_fresh_try(self, tmp_path: Path) -> None:
        result, server = asked(tmp_path, "No.", "Still no.", GOOD, times=2)
        assert result.data == {"score": 3, "why": "so"}
        assert len(server.requests) == 3
        assert said(server, 2) == [("user", "Rate it.")]

    def test_never_valid_and_asking_again_costs_nothing(self, tmp_path: Path) -> None:
        result, server = asked(tmp_path, '{"score": 9, "why": "so"}', times=3)
        assert result.data is None
        assert result.status == "ok"
        assert "greater than the maximum of 5" in result.failure
        assert len(server.requests) == 4

    def test_a_model_that_repeats_itself_is_a_failure_too(self, tmp_path: Path) -> None:
        result, server = asked(tmp_path, "[" * 5000)
        assert result.data is None
        assert len(server.requests) == 4

    def test_a_number_that_is_none_is_not_believed(self, tmp_path: Path) -> None:
        result, _ = asked(tmp_path, '{"score": NaN, "why": "so"}', GOOD)
        assert result.data == {"score": 3, "why": "so"}

    def test_rounds_are_asked_each_for_itself(self, tmp_path: Path) -> None:
        assert len(asked(tmp_path, GOOD)[1].requests) == 1
        assert len(asked(tmp_path, GOOD, number=1)[1].requests) == 1
        assert len(asked(tmp_path, GOOD, number=1)[1].requests) == 0

    @pytest.mark.parametrize(("reply", "failure", "status"), [
        ((500, {}, GOOD.encode()), f"HTTP 500: {GOOD}", "error"),
        (completion(None, message={"refusal": "I will not."}), "I will not.", "refused"),
    ])  # fmt: skip
    def test_a_call_that_failed(
        self, reply: Reply, failure: str, status: Any, tmp_path: Path
    ) -> None:
        result, server = asked(tmp_path, reply)
        assert result == Structured(None, failure, status)
        assert len(server.requests) == 1

    def test_a_repair_that_failed(self, tmp_path: Path) -> None:
        result, server = asked(tmp_path, "No.", (500, {}, b"oops"))
        assert result == Structured(None, "HTTP 500: oops", "error")
        assert len(server.requests) == 2

    def test_and_is_asked_again_another_time(self, tmp_path: Path) -> None:
        assert asked(tmp_path, (500, {}, b"oops"))[0].status == "error"
        assert asked(tmp_path, GOOD)[0].data == {"score": 3, "why": "so"}


class TestSchemas:
    def test_are_sent_to_who_can_be_told(self, tmp_path: Path) -> None:
        _, server = asked(tmp_path, GOOD)
        assert server.requests[0]["response_format"]["json_schema"]["schema"] == SCHEMA

    def test_and_not_to_others(self, tmp_path: Path) -> None:
        _, server = asked(tmp_path, GOOD, schemas=False)
        assert "response_format" not in server.requests[0]

    def test_without_what_only_we_read(self) -> None:
        ours = {"type": "object", "x-order": 1, "anyOf": [{"x-a": 1, "type": "null"}, {"enum": ["x-y"]}],
                "properties": {"score": {"type": "integer", "x-scale": [0, 5]}}}  # fmt: skip
        assert plain_schema(ours) == {
            "type": "object",
            "anyOf": [{"type": "null"}, {"enum": ["x-y"]}],
            "properties": {"score": {"type": "integer"}},
        }
        assert "x-order" in ours

    def test_a_property_may_have_any_name(self) -> None:
        schema = {"properties": {"x-ray": {"type": "string", "x-ours": 1}}, "required": ["x-ray"]}
        plain = {"properties": {"x-ray": {"type": "string"}}, "required": ["x-ray"]}
        assert plain_schema(schema) == plain


def test_what_is_accepted_may_be_more_than_what_is_asked_for() -> None:
    inner = {"type": "object", "required": ["a"], "x-accepts": {"required": [], "x-weight": 2}}
    schema = {"properties": {"b": inner}, "additionalProperties": False}
    assert accepted_schema(schema)["properties"]["b"]["required"] == []
    assert accepted_schema(schema)["additionalProperties"] is False
    assert plain_schema(schema)["properties"]["b"] == {"type": "object", "required": ["a"]}
