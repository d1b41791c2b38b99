"""Cards: what may be said about a model, what is assumed, and what is refused by a sentence."""

import re
from pathlib import Path
from typing import Any

import pytest
from support import REPOSITORY

from reelbench.base.errors import ReelbenchError
from reelbench.models.base import ChatModel
from reelbench.models.card import Card, Price
from reelbench.models.cascade import Cascade
from reelbench.models.load import BACKENDS, load_model


@pytest.fixture(autouse=True)
def keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for provider in ("OPENAI", "ANTHROPIC", "GEMINI"):
        monkeypatch.setenv(f"{provider}_API_KEY", "sk-1234567890")


def load(folder: Path, text: str) -> ChatModel:
    path = folder / "card.yaml"
    path.write_text(text)
    return load_model(str(path))


@pytest.mark.parametrize(("line", "words"), [
    ("price: {input: -1, output: 2}", "price.input: found -1, expected dollars"),
    ("price: {input: 1, output: .nan}", "price.output: found nan, expected dollars"),
    ("price: {input: .inf, output: 2}", "price.input: found inf"),
    ("price: {input: 1}", "price.output: found nothing"),
    ("price: {input: 1, output: 2, cached: 1}", "price.cached: found an unknown field, expected one of input, output"),
    ("price: 3", "price: found 3, expected dollars for a million tokens, such as"),
    ("requests_per_minute: -1", "requests_per_minute: found -1.*0 for no limit"),
    ("tokens_per_minute: .inf", "tokens_per_minute: found inf.*0 for no limit"),
    ("tokens_per_minute: .nan", "tokens_per_minute: found nan"),
    ("connections: 1001", "connections: found 1001, expected a whole number from 1 to 1000"),
    ("retries: 21", "retries: found 21, expected a whole number from 0 to 20"),
    ("retries: -1", "retries: found -1"),
    ("frames: -1", "frames: found -1"),
    ("frame_tokens: -1", "frame_tokens: found -1"),
    ("reply_tokens: 1000001", "reply_tokens: found 1000001"),
    ("timeout: 0", "timeout: found 0.*seconds"),
    ("backoff: -1", "backoff: found -1.*seconds"),
    ("video: film", "video: found 'film', expected \"\", clip, file or frames"),
    ("sees: perhaps", "sees"),
    ("captioners: eye.yaml", "captioners"),
    ("captioners: [3]", "captioners"),
    ("captioners: [openai:gpt-4o]", "captioners: found a list, expected none, or beside it `backend: cascade` and `model:`"),
    ("fuser: openai:gpt-4o", "fuser: found 'openai:gpt-4o', expected none, or beside it `backend: cascade`"),
    ("parameters: [seed]", "parameters"),
    ("parameters: {1: seed}", "parameters: found a mapping"),
    ("parameters: {when: 2026-01-01}", "parameters: found a mapping"),
    (f"timeout: {10**305}", "timeout: found a very large number"),
    ("colour: blue", "colour: found an unknown field, expected one of name, backend"),
    ("conections: 3", "perhaps 'connections' is meant"),
    ("name: ''", "name: found '', expected the name of the model"),
    ("model: x", "name: found nothing"),
])  # fmt: skip
def test_what_cannot_be_meant(line: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(ReelbenchError, match=words) as caught:
        load(
            tmp_path,
            f"endpoint: http://localhost:1\n{'' if line.startswith(('name', 'model')) else 'name: x'}\n{line}\n",
        )
    assert "card.yaml is not a valid model card:" in str(caught.value)


def test_all_that_is_wrong_is_listed_with_its_line(tmp_path: Path) -> None:
    text = "name: x\nframes: many\nprice:\n  input: -1\n  output: 2\nkey: sk-1234567890\n"
    with pytest.raises(ReelbenchError) as caught:
        load(tmp_path, text)
    first, *problems = str(caught.value).splitlines()
    assert first == f"{tmp_path}/card.yaml is not a valid model card:"
    assert [problem.split(": found ")[0] for problem in problems] == [
        f"  {tmp_path}/card.yaml:6: key",
        f"  {tmp_path}/card.yaml:2: frames",
        f"  {tmp_path}/card.yaml:4: price.input",
    ]
    assert "sk-1234567890" not in str(caught.value), "it may be the key itself"


def test_a_card_made_in_python_is_checked_as_well() -> None:
    with pytest.raises(ValueError, match="frames: found -1, expected a whole number"):
        Card(name="m", frames=-1)


@pytest.mark.parametrize(("text", "words"), [
    ("name: [\n", r"not a valid model card:\n.*card\.yaml: line 2: found"),
    ("- x\n", "not a valid model card:\n.*found a list, expected at least `name: ...`"),
    ("name: x\nendpoint: localhost:8000\n", "write a URL"),
    ("name: x\nendpoint: http://a\nkey: NO_SUCH_VARIABLE\n", "NO_SUCH_VARIABLE"),
])  # fmt: skip
def test_cards_that_cannot_be_used(text: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(ReelbenchError, match=words):
        load(tmp_path, text)


def test_no_such_card(tmp_path: Path) -> None:
    with pytest.raises(ReelbenchError, match=r"none\.yaml cannot be read: no such file"):
        load_model(str(tmp_path / "none.yaml"))


def test_a_card_names_the_model_its_key_and_its_parameters(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_KEY", "other")
    model = load(
        tmp_path,
        "name: mine\nmodel: org/m-7b\nendpoint: http://localhost:1/v1/\nkey: MY_KEY\n"
        "parameters: {seed: 7}\n",
    )
    assert model.card.name == "mine"
    assert dict(model.parameters) == {"model": "org/m-7b", "temperature": 0, "seed": 7}


def test_limits_that_can() -> None:
    card = Card(
        name="m", requests_per_minute=0.5, tokens_per_minute=1e6, price=Price(input=0, output=2)
    )
    assert card.price
    assert card.price.of(3_000_000, 500_000) == 1.0


def facts(card: Card) -> dict[str, Any]:
    return {
        name: getattr(card, name) for name in ("sees", "hears", "video", "schemas", "connections")
    }


USUAL = {"sees": True, "hears": False, "video": "", "schemas": True, "connections": 16}
DEFAULTS: list[tuple[str, dict[str, Any]]] = [
    ("baseline:random", {"sees": False, "connections": 1}),
    ("openai:gpt-4o", {}),
    ("anthropic:claude-x", {}),
    ("google:gemini-x", {"hears": True, "video": "file"}),
]


class TestDefaults:
    @pytest.mark.parametrize(("name", "other"), DEFAULTS)
    def test_by_name(self, name: str, other: dict[str, Any]) -> None:
        card = load_model(name).card
        assert facts(card) == USUAL | other
        assert card.name == name

    @pytest.mark.parametrize(("name", "other"), DEFAULTS)
    def test_by_card(self, name: str, other: dict[str, Any], tmp_path: Path) -> None:
        backend, _, model = name.partition(":")
        card = load(tmp_path, f"name: mine\nbackend: {backend}\nmodel: {model}\n").card
        assert facts(card) == USUAL | other
        assert card.name == "mine"

    def test_a_card_knows_better(self, tmp_path: Path) -> None:
        text = "name: x\nbackend: google\nhears: false\nvideo: ''\nconnections: 2\n"
        assert facts(load(tmp_path, text).card) == USUAL | {"connections": 2}

    def test_what_the_server_calls_it(self, tmp_path: Path) -> None:
        named = load(tmp_path, "name: x\nbackend: anthropic\n")
        assert named.parameters["model"] == "x"
        assert load_model("google:models-7").parameters["model"] == "models-7"


class TestCaptioners:
    def test_cards_are_sought_beside_the_card_and_names_are_left_alone(
        self, tmp_path: Path
    ) -> None:
        folder = tmp_path / "cards"
        (folder / "eyes").mkdir(parents=True)
        eye = "name: eye\nendpoint: http://localhost:1\n"
        (folder / "eyes" / "one.yml").write_text(eye)
        text = "name: x\nbackend: cascade\nmodel: openai:gpt-4o\ncaptioners: [eyes/one.yml, 'google:g']\n"
        assert load(folder, text).card.captioners == [str(folder / "eyes" / "one.yml"), "google:g"]

    def test_a_card_named_whole(self, tmp_path: Path) -> None:
        (tmp_path / "eye.yaml").write_text("name: eye\nendpoint: http://localhost:1\n")
        (tmp_path / "inner").mkdir()
        text = (
            f"name: x\nbackend: cascade\nmodel: openai:gpt-4o\ncaptioners: [{tmp_path}/eye.yaml]\n"
        )
        assert load(tmp_path / "inner", text).card.captioners == [f"{tmp_path}/eye.yaml"]

    def test_the_card_of_the_page_is_a_cascade(self, tmp_path: Path) -> None:
        page = (REPOSITORY / "docs" / "run.md").read_text()
        for name, text in re.findall(r'^```yaml title="(.*?)"\n(.*?)^```', page, re.M | re.S):
            (tmp_path / name).write_text(text)
        model = load_model(str(tmp_path / "cascade.yaml"))
        assert isinstance(model, Cascade)
        assert [member.card.name for member in model.members] == [
            "qwen-vl-7b", "google:gemini-2.5-pro", "openai:gpt-4o-mini", "openai:gpt-4o"
        ]  # fmt: skip


class TestNoSuchModel:
    @pytest.mark.parametrize(
        "name", ["", "gpt-4o", "abacus:1", "OpenAI:gpt-4o", ":x", "openai/gpt-4o"]
    )
    def test_names(self, name: str) -> None:
        with pytest.raises(ReelbenchError, match="There is no model") as caught:
            load_model(name)
        assert all(backend in str(caught.value) for backend in BACKENDS)

    @pytest.mark.parametrize("backend", BACKENDS)
    def test_a_backend_alone(self, backend: str) -> None:
        with pytest.raises(ReelbenchError, match=f"Which model.*{backend}:NAME"):
            load_model(f"{backend}:")

    @pytest.mark.parametrize("backend", ["abacus", "''", "3", "[openai]", "null"])
    def test_backends_of_cards(self, backend: str, tmp_path: Path) -> None:
        with pytest.raises(
            ReelbenchError, match=r"card\.yaml: the backend of a card is one of"
        ) as caught:
            load(tmp_path, f"name: x\nbackend: {backend}\n")
        assert all(each in str(caught.value) for each in BACKENDS)
