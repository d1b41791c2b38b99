"""Local models of text: JSON that fits its schema whatever the weights are, and draws by key."""

import asyncio
import importlib
import json
import pkgutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from judge.test_odd_tokenizers import TOKENIZERS
from support import blind_benchmark, make_item
from tiny_text import TEMPLATE, make_tiny_text

import reelbench
from reelbench.client.structured import plain_schema
from reelbench.data.items import Item
from reelbench.evaluate.rubric import load_rubric
from reelbench.evaluate.run import run_benchmark
from reelbench.make.parts.drafts import QuestionForm
from reelbench.make.parts.shape import CONFIDENCE, TEXT, closed, listed
from reelbench.models.base import Message, Request, Response, TextPart
from reelbench.models.load import load_model

SCORE = closed(
    {"reason": {"type": "string"}, "score": {"type": "integer", "minimum": 1, "maximum": 5}}
)


@pytest.fixture(scope="session")
def tiny_text(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("text")
    make_tiny_text(folder)
    return folder


def asked(card: Path, folder: Path, requests: Sequence[Request], **fields: Any) -> list[Response]:
    """Return a model's responses to requests that wait at the same time."""
    parameters = {"max_new_tokens": 400, "dtype": "float32"} | fields.pop("parameters", {})
    fields = {"name": "m", "backend": "hf", "model": str(folder), "sees": False, **fields}
    card.write_text(json.dumps(fields | {"parameters": parameters}))

    async def all_of_them() -> list[Response]:
        model = load_model(str(card))
        try:
            return await asyncio.gather(*map(model.ask, requests))
        finally:
            await model.close()

    return asyncio.run(all_of_them())


def request(key: str, schema: Mapping[str, Any] | None = None, text: str = "") -> Request:
    messages = (Message("user", (TextPart(text or f"Is {key} right? Reply with JSON."),)),)
    return Request(key, messages, "open", "", schema=schema)


def is_schema(value: object) -> bool:
    return isinstance(value, dict) and value.get("type") == "object" and "properties" in value


def schemas_of_the_package() -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Every schema that a module holds, the rubrics, and those made of what an item has."""
    for module in pkgutil.walk_packages(reelbench.__path__, "reelbench."):
        if module.name.split(".")[1] in ("make", "recipes", "judge", "evaluate"):
            for name, value in vars(importlib.import_module(module.name)).items():
                if is_schema(value):
                    yield f"{module.name}.{name}", value
    for name in ("quality", "criteria", "points"):
        yield f"rubric {name}", load_rubric(name, Path()).schema
    for kind in ("single", "multi", "yesno", "open"):
        form = QuestionForm(kind=kind, times=True, explanations=True)
        yield (
            f"questions, {kind}",
            closed({"questions": listed(form.schema(names_kind=True), 1, 2)}),
        )
    yield "a caption", closed({"caption": TEXT})
    yield "one of many", closed({"reason": TEXT, "which": {"enum": ["a b", 'c "d"', "é\\"]}})
    yield "sure", closed({"keywords": listed(TEXT, 1), "confidence": CONFIDENCE})
    yield (
        "scores",
        closed({"scores": listed({"type": "integer", "minimum": 0, "maximum": 10}, 3, 3)}),
    )
    yield "kinds", closed({"all": listed({"anyOf": [SCORE, closed({"kind": {"const": 1}})]}, 1, 4)})


def fits(reply: Response, schema: Mapping[str, Any]) -> bool:
    """Whether a reply is whole; if it is, it fits."""
    if reply.status == "truncated":
        return False
    assert reply.status == "ok", reply.error
    jsonschema.Draft202012Validator(schema).validate(json.loads(reply.text or ""))
    return True


def test_json_fits_every_schema_of_the_package_alone_and_in_a_batch(
    tiny_text: Path, tmp_path: Path
) -> None:
    schemas = {name: plain_schema(schema) for name, schema in schemas_of_the_package()}
    assert len(schemas) > 15
    requests = [request(name, schema) for name, schema in schemas.items()]
    found = {b: asked(tmp_path / "m.yaml", tiny_text, requests, batch=b) for b in (1, 5)}
    assert [reply.text for reply in found[1]] == [reply.text for reply in found[5]]
    whole = [fits(r, s) for r, s in zip(found[5], schemas.values(), strict=True)]
    assert sum(whole) >= 0.8 * len(whole)  # the others are cut off


def test_rows_with_and_without_a_schema_do_not_disturb_each_other(
    tiny_text: Path, tmp_path: Path
) -> None:
    requests = [
        request(str(n), [SCORE, None, closed({"a": {"type": "boolean"}})][n % 3]) for n in range(9)
    ]
    alone = asked(tmp_path / "m.yaml", tiny_text, requests, batch=1)
    together = asked(tmp_path / "m.yaml", tiny_text, requests, batch=9)
    assert alone == together
    for reply, each in zip(together, requests, strict=True):
        if each.schema:
            fits(reply, each.schema)
    free = asked(tmp_path / "m.yaml", tiny_text, [request(str(n)) for n in (1, 4, 7)], batch=1)
    assert free == [together[n] for n in (1, 4, 7)]


def test_what_is_cut_off_is_truncated(tiny_text: Path, tmp_path: Path) -> None:
    few = {"max_new_tokens": 5}
    (reply,) = asked(tmp_path / "m.yaml", tiny_text, [request("a", SCORE)], parameters=few)
    assert (reply.status, reply.text) == ("truncated", '{"rea')


HOSTILE: dict[str, Any] = {
    "recursive": {
        "$defs": {"n": closed({"v": {"type": "integer", "maximum": 9, "minimum": 0}, "k": listed({"$ref": "#/$defs/n"}, 0, 2)})},
        "$ref": "#/$defs/n",
    },
    "huge enum": closed({"x": {"enum": [f"value number {n}" for n in range(5000)]}}),
    "pattern": closed({"x": {"type": "string", "pattern": "^(ab{1,3}){2,4}$"}}),
    "no type": {"enum": [None, 1, [2], {"a": "b"}]},
    "named like an option": closed({"x-guidance": {"const": 1}, "$ref": {"const": 2}}),
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_schemas_hold(name: str, tiny_text: Path, tmp_path: Path) -> None:
    (reply,) = asked(tmp_path / "m.yaml", tiny_text, [request("a", HOSTILE[name])])
    assert fits(reply, HOSTILE[name])


INEXPRESSIBLE: dict[str, Any] = {
    "look-ahead": closed({"x": {"type": "string", "pattern": "(?=a)b"}}),
    "elsewhere": {"$ref": "http://127.0.0.1:9/schema.json"},
    "no type": {"type": "banana"},
    "impossible": {"allOf": [{"type": "integer"}, {"type": "string"}]},
    "too large": {"enum": list(range(200000))},
}


@pytest.mark.parametrize("name", INEXPRESSIBLE)
def test_a_schema_that_cannot_be_held_is_reported_once_and_asked_freely(
    name: str, tiny_text: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    short = {"max_new_tokens": 8}
    requests = [request(str(n), INEXPRESSIBLE[name]) for n in range(3)]
    replies = asked(tmp_path / "m.yaml", tiny_text, requests, parameters=short)
    free = asked(
        tmp_path / "m.yaml", tiny_text, [request(str(n)) for n in range(3)], parameters=short
    )
    assert replies == free
    assert capfd.readouterr().err.count("not held to all of a JSON schema") == 1


def test_what_cannot_be_held_in_part_holds_in_the_rest(
    tiny_text: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    odd = {"type": "array", "items": {"enum": [1, 2]}, "maxItems": 3, "uniqueItems": True}
    (reply,) = asked(tmp_path / "m.yaml", tiny_text, [request("a", odd)])
    assert fits(reply, {**odd, "uniqueItems": False})
    assert "uniqueItems" in capfd.readouterr().err


@pytest.mark.parametrize("name", TOKENIZERS)
def test_replies_fit_with_odd_tokenizers(name: str, tmp_path: Path) -> None:
    tokenizer = TOKENIZERS[name]()
    tokenizer.eos_token = tokenizer.eos_token or "<pad>"
    make_tiny_text(tmp_path / "m", tokenizer)
    schema = closed(
        {"ratings": closed({"score": {"enum": [1, 2, 4]}, "reason": {"enum": ["So be it.", "be"]}})}
    )
    requests = [request(str(n), schema) for n in range(3)]
    ends = {"eos_token_id": tokenizer.eos_token_id, "pad_token_id": tokenizer.eos_token_id}
    config = tmp_path / "m" / "generation_config.json"
    config.write_text(json.dumps(json.loads(config.read_text()) | ends))
    for reply in asked(tmp_path / "m.yaml", tmp_path / "m", requests):
        assert fits(reply, schema)


def test_what_a_tokenizer_cannot_write_is_reported_and_asked_freely(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    tokenizer = TOKENIZERS["joins across quotes"]()
    tokenizer.eos_token = "<pad>"
    make_tiny_text(tmp_path / "m", tokenizer)
    schema = closed({"score": {"const": "\N{SNOWMAN}"}})
    replies = asked(
        tmp_path / "m.yaml", tmp_path / "m", [request(str(n), schema) for n in range(2)]
    )
    assert {reply.status for reply in replies} <= {"ok", "truncated"}
    assert capfd.readouterr().err.count("not held to all of a JSON schema") == 1


def test_reasoning_that_a_template_opens_comes_before_the_json(tmp_path: Path) -> None:
    from tiny import make_tokenizer

    from reelbench.models.local.schema import ConstrainedRow

    class Recorder:
        """Where a grammar would be: what it is given."""

        def __init__(self) -> None:
            self.tokens: list[int] = []

        def is_stopped(self) -> bool:
            return False

        is_error = is_stopped

        def consume_tokens(self, tokens: list[int]) -> None:
            self.tokens += tokens

    tokenizer = make_tokenizer()
    row = ConstrainedRow(Recorder(), tokenizer)
    row.open(tokenizer.encode("assistant: <think>\n"))
    reply = tokenizer.encode("1 or 2?</think>")
    assert [row.advance(reply[:n]) for n in range(len(reply) + 1)] == [False] * len(reply) + [True]
    row.advance(reply + tokenizer.encode("{"))
    assert tokenizer.decode(row.matcher.tokens) == "{"


def test_draws_depend_on_the_key_alone(tiny_text: Path, tmp_path: Path) -> None:
    drawn = {"temperature": 1.5, "max_new_tokens": 24}
    requests = [request(str(n), SCORE if n % 2 else None, text="Say.") for n in range(6)]
    card = tmp_path / "m.yaml"
    alone = asked(card, tiny_text, requests, batch=1, parameters=drawn)
    together = asked(card, tiny_text, requests, batch=6, parameters=drawn)
    backwards = asked(card, tiny_text, requests[::-1], batch=4, parameters=drawn)
    assert alone == together == backwards[::-1]
    assert len({reply.text for reply in alone}) == 6  # the same prompt, and six keys


def test_draws_are_as_likely_as_they_should_be() -> None:
    import torch

    from reelbench.models.local.sampling import _Draw

    odds = torch.tensor([0.5, 0.0, 0.3, 0.2])
    draw = _Draw([str(n) for n in range(4000)])
    chosen = draw(torch.zeros(4000, 1), odds.log().expand(4000, 4)).argmax(1)
    shares = torch.bincount(chosen, minlength=4) / 4000
    assert shares[1] == 0
    assert (shares - odds).abs().max() < 0.03


@pytest.mark.parametrize(
    ("parameters", "is_random"),
    [({}, False), ({"temperature": 0}, False), ({"temperature": 1}, True), ({"do_sample": True}, True), ({"temperature": 1, "do_sample": False}, False)],
)  # fmt: skip
def test_a_temperature_is_for_drawing(parameters: Any, is_random: bool, tmp_path: Path) -> None:
    card = {"name": "m", "backend": "hf", "model": "x", "parameters": parameters}
    (tmp_path / "m.yaml").write_text(json.dumps(card))
    model = load_model(str(tmp_path / "m.yaml"))
    assert model.is_random is model.parameters["do_sample"] is is_random
    assert model.card.schemas


NO_SYSTEM = "{% if messages[0].role == 'system' %}{{ raise_exception('no system') }}{% endif %}"


@pytest.mark.parametrize(
    "template", ["", NO_SYSTEM + TEMPLATE, TEMPLATE], ids=["none", "no system", "usual"]
)
def test_instructions_reach_models_whatever_their_template(template: str, tmp_path: Path) -> None:
    make_tiny_text(tmp_path / "m", template=template)
    system = Message("system", (TextPart("Be brief."),))
    said = request("a", SCORE)
    whole = Request("a", (system, *said.messages), "open", "", schema=SCORE)
    with_it, without = asked(tmp_path / "m.yaml", tmp_path / "m", [whole, said])
    assert with_it.status in ("ok", "truncated"), with_it.error
    assert (with_it.input_tokens or 0) > (without.input_tokens or 0)


def test_a_text_model_judges_a_run(tiny_text: Path, tmp_path: Path) -> None:
    items = [open_item(n) for n in range(3)]
    card = tmp_path / "judge.yaml"
    settings = {"max_new_tokens": 400, "temperature": 1}
    card.write_text(
        json.dumps(
            {
                "name": "j",
                "backend": "hf",
                "model": str(tiny_text),
                "sees": False,
                "parameters": settings,
            }
        )
    )
    benchmark = blind_benchmark(tmp_path / "b", *items)
    run_benchmark(benchmark, [str(card)], tmp_path / "r", judges=[str(card)])
    rows = [json.loads(x) for x in (tmp_path / "r" / "judgements.jsonl").read_text().splitlines()]
    assert [row["id"] for row in rows] == ["q-0", "q-1", "q-2"]
    for row in rows:
        rounds = [each["reply"] for each in row["rounds"]]
        assert len({json.dumps(each) for each in rounds}) > 1  # drawn anew


def open_item(number: int) -> Item:
    return make_item(
        number,
        kind="open",
        options=(),
        answer=(),
        reference="A cat sleeps.",
        question=f"What is in part {number}?",
    )
