"""A judge trained here: it learns written rules, resumes to the bit, and never replies invalidly."""

import asyncio
import json
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp
import jsonschema
import pytest
from rated import make_decoder, rows_of
from servers import completion, serving
from support import blind_benchmark, make_item, reelbench

from reelbench.base.errors import ReelbenchError
from reelbench.client.structured import find_json
from reelbench.data.items import FrozenDict
from reelbench.evaluate.rubric import Rubric, load_rubric
from reelbench.evaluate.run import run_benchmark
from reelbench.judge.compare import compare_judges
from reelbench.judge.scores import read_scores
from reelbench.judge.serve import serve_judge
from reelbench.judge.sharegpt import RatedResponse, write_rows
from reelbench.judge.train import TrainSettings
from reelbench.judge.training import TrainingResult, train_judge
from reelbench.judge.use import grade_rows
from reelbench.models.base import Message, Request, Response, TextPart
from reelbench.models.judge.folder import load_tokenizer, read_folder
from reelbench.models.judge.prompt import prompt_tokens
from reelbench.models.load import load_model

pytestmark = [
    pytest.mark.timeout(1200),
    pytest.mark.filterwarnings(
        "ignore::DeprecationWarning", "ignore::UserWarning", "ignore::FutureWarning"
    ),
]
TESTED = 96  # responses of the test half, about 12 videos
HALF = 50  # videos to train on, and as many others to test on
PROMPT = "Right: {{reference}}\n{{caption}}\n<reply>\n{{response}}\n</reply>\n"
LEARNS = TrainSettings(epochs=8, batch=16, learning_rate=3e-3, rank=64, alpha=64, dropout=0.0)
SHORT = TrainSettings(epochs=2, batch=4, learning_rate=3e-3, rank=8, dropout=0.1)


@dataclass
class World:
    """A folder with rows whose grades follow rules, a base model, and the judge trained on half."""

    home: Path
    rubric: Rubric
    test: list[RatedResponse]
    made: TrainingResult


@pytest.fixture(scope="module")
def rubric(tmp_path_factory: pytest.TempPathFactory) -> Rubric:
    """The criteria of the usual rubric, asked for in few words."""
    folder = tmp_path_factory.mktemp("rubric")
    (folder / "short").mkdir()
    (folder / "short" / "prompt.md").write_text(PROMPT)
    schema = load_rubric("criteria", folder).schema
    (folder / "short" / "schema.json").write_text(json.dumps(schema))
    return load_rubric("short", folder)


@pytest.fixture(scope="module")
def world(rubric: Rubric, tmp_path_factory: pytest.TempPathFactory) -> World:
    home = tmp_path_factory.mktemp("world")
    rows = rows_of(2 * HALF, rubric)
    train, test = rows[: len(rows) // 2], rows[len(rows) // 2 :]
    write_rows(home / "train.jsonl", train)
    write_rows(home / "test.jsonl", test)
    texts = [row.prompt for row in train] + [json.dumps(row.reply) for row in train]
    base = make_decoder(home / "base", texts)
    made = train_judge(
        str(base),
        home / "train.jsonl",
        rubric,
        home / "judge",
        test=home / "test.jsonl",
        settings=LEARNS,
    )
    return World(home, rubric, test, made)


def replies(name: str, rows: list[RatedResponse], rubric: Rubric, **card: Any) -> list[Response]:
    judge = load_model(name)

    async def ask_all() -> list[Response]:
        asked = [
            Request(
                row.id,
                (Message("user", (TextPart(row.prompt),)),),
                "open",
                "",
                schema=rubric.schema,
            )
            for row in rows
        ]
        found = await asyncio.gather(*map(judge.ask, asked))
        await judge.close()
        return list(found)

    return asyncio.run(ask_all())


def assert_valid(response: Response, rubric: Rubric) -> None:
    assert response.status == "ok", response.error
    assert response.text
    jsonschema.validate(json.loads(response.text), dict(rubric.schema))
    assert find_json(response.text) == json.loads(response.text)


class TestLearning:
    def test_the_loss_falls_on_rows_that_were_never_seen(self, world: World) -> None:
        losses = [each["loss"] for each in world.made.tests]
        assert losses[-1] < losses[0] / 50
        record = json.loads((world.home / "judge" / "loss.json").read_text())
        assert len(record["steps"]) == 8 * 400 // 16
        assert record["test"][-1]["loss"] == losses[-1]
        assert "<polyline" in (world.home / "judge" / "loss.svg").read_text()

    def test_it_agrees_with_the_rules_where_an_untrained_judge_does_not(self, world: World) -> None:
        truth = read_scores(str(world.home / "test.jsonl"), world.rubric)
        found = {}
        for name in ("judge", "base"):
            out = world.home / f"{name}.jsonl"
            used = grade_rows(
                load_model(f"judge:{world.home / name}"), world.test[:TESTED], world.rubric, out
            )
            assert used.failures == []
            scores = read_scores(str(out), world.rubric)
            rows = compare_judges(scores, truth, world.rubric)["criteria"]
            found[name] = {row["criterion"]: row for row in rows}
        print()
        for criterion, row in found["judge"].items():
            untrained = found["base"][criterion]
            print(
                f"{criterion:14}",
                *(
                    f"{of[m]['value']} {of[m]['interval']}"
                    for of in (row, untrained)
                    for m in ("exact", "quadratic_kappa")
                ),
            )
            assert row["exact"]["interval"][0] > untrained["exact"]["interval"][1]
            assert row["quadratic_kappa"]["interval"][0] > 0.3
            assert (untrained["quadratic_kappa"]["value"] or 0) < 0.2

    def test_the_folder_says_what_was_trained_on_what(self, world: World) -> None:
        record = json.loads((world.home / "judge" / "judge.json").read_text())
        assert record["rubric_digest"] == world.rubric.digest
        assert record["training"]["files"]["train"]["rows"] == 400
        assert len(record["training"]["files"]["train"]["sha256"]) == 64
        assert record["training"]["settings"]["rank"] == 64
        assert not (world.home / "judge" / "checkpoints").exists()


class TestReplies:
    def test_every_reply_is_valid_trained_or_not(self, world: World, tmp_path: Path) -> None:
        hot = tmp_path / "hot.yaml"
        fields = {"name": "hot", "backend": "judge", "parameters": {"temperature": 5.0}}
        hot.write_text(json.dumps(fields | {"model": str(world.home / "base")}))
        for name in (f"judge:{world.home / 'judge'}", f"judge:{world.home / 'base'}", str(hot)):
            for response in replies(name, world.test[:12], world.rubric):
                assert_valid(response, world.rubric)

    def test_a_batch_replies_as_one_by_one(self, world: World, tmp_path: Path) -> None:
        texts = []
        for batch in (1, 7):
            card = tmp_path / f"{batch}.yaml"
            fields = {"name": "j", "backend": "judge", "batch": batch}
            card.write_text(json.dumps(fields | {"model": str(world.home / "judge")}))
            texts.append([each.text for each in replies(str(card), world.test[:14], world.rubric)])
        assert texts[0] == texts[1]

    def test_a_run_is_judged_by_it_with_its_own_prompt(self, world: World, tmp_path: Path) -> None:
        items = [
            make_item(
                n,
                kind="open",
                options=(),
                answer=(),
                reference="red bell",
                context=FrozenDict(caption="x"),
            )
            for n in range(3)
        ]
        shutil.copytree(world.home / "judge", tmp_path / "judge")
        benchmark = blind_benchmark(
            tmp_path / "b", *items, rubric="criteria", sampling="uniform:1", modalities="T"
        )
        with serving(lambda *_: completion("red drum")) as server:
            card = tmp_path / "m.yaml"
            card.write_text(json.dumps({"name": "m", "endpoint": server.url}))
            judge = f"judge:{tmp_path / 'judge'}"
            state = run_benchmark(benchmark, [str(card)], tmp_path / "r", judges=[judge])
        assert state.failures == []
        lines = (tmp_path / "r" / "judgements.jsonl").read_text().splitlines()
        assert len(lines) == 3
        for line in map(json.loads, lines):
            assert len(line["rounds"]) == 5
            assert all("reply" in each for each in line["rounds"])
            assert line["score"] is not None

    def test_what_is_too_long_without_a_caption_fails_alone(self, world: World) -> None:
        long = RatedResponse("x", "v", "word " * 5000, {})
        responses = replies(f"judge:{world.home / 'judge'}", [long, *world.test[:2]], world.rubric)
        assert responses[0].status == "error"
        assert "longer than the 4,096" in (responses[0].error or "")
        for response in responses[1:]:
            assert_valid(response, world.rubric)

    def test_a_model_with_a_chat_template_is_asked_in_a_turn(self, world: World) -> None:
        folder = read_folder(str(world.home / "judge"))
        tokenizer = load_tokenizer(folder)
        plain = tokenizer.decode(prompt_tokens(tokenizer, "Right?", folder))
        assert plain == "Right?\n\n"
        tokenizer.chat_template = (
            "{% for turn in messages %}{{ turn.role }}: {{ turn.content }}\n{% endfor %}"
            "{% if add_generation_prompt %}assistant: {% if enable_thinking %}hm{% endif %}{% endif %}"
        )
        asked = tokenizer.decode(prompt_tokens(tokenizer, "Right?", folder))
        assert asked == "user: Right?\nassistant: "

    def test_a_server_replies_to_anyone(self, world: World) -> None:
        async def ask() -> tuple[dict[str, Any], int, int]:
            ready: asyncio.Future[str] = asyncio.get_running_loop().create_future()
            judge = load_model(f"judge:{world.home / 'judge'}")
            task = asyncio.create_task(serve_judge(judge, "127.0.0.1", 0, ready.set_result))
            address = await ready
            body = {"model": "j", "messages": [{"role": "user", "content": world.test[0].prompt}]}
            form = {
                "type": "json_schema",
                "json_schema": {"name": "s", "schema": {"type": "array"}},
            }
            async with aiohttp.ClientSession() as session:
                async with session.post(f"{address}/chat/completions", json=body) as reply:
                    good = await reply.json()
                async with session.post(f"{address}/chat/completions", data=b"{") as reply:
                    bad = reply.status
                async with session.post(
                    f"{address}/chat/completions", json=body | {"response_format": form}
                ) as reply:
                    other = reply.status
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            return good, bad, other

        good, bad, other = asyncio.run(ask())
        assert (bad, other) == (400, 422)
        choice = good["choices"][0]
        assert choice["finish_reason"] == "stop"
        jsonschema.validate(json.loads(choice["message"]["content"]), dict(world.rubric.schema))
        assert good["usage"]["prompt_tokens"] > 10


class TestResuming:
    @pytest.fixture
    def few(self, world: World, tmp_path: Path) -> Path:
        write_rows(tmp_path / "few.jsonl", rows_of(2, world.rubric))
        return tmp_path / "few.jsonl"

    def test_a_resumed_training_equals_an_uninterrupted_one(
        self, world: World, few: Path, tmp_path: Path
    ) -> None:
        base = str(world.home / "base")
        whole = train_judge(base, few, world.rubric, tmp_path / "whole", settings=SHORT)
        for stop in (3, 5, 0):
            made = train_judge(
                base, few, world.rubric, tmp_path / "parts", settings=SHORT, stop_after=stop
            )
            assert made.finished == (stop == 0)
            assert (tmp_path / "parts" / "judge.json").exists() == made.finished
        assert made.losses == whole.losses
        assert len(whole.losses) == 8
        for name in ("adapter_model.safetensors", "judge.json", "loss.json", "loss.svg"):
            assert (tmp_path / "parts" / name).read_bytes() == (
                tmp_path / "whole" / name
            ).read_bytes()

    def test_split_and_checkpointed_steps_learn_what_whole_ones_do(
        self, world: World, few: Path, tmp_path: Path
    ) -> None:
        losses = []
        for number, (tokens, again) in enumerate([(10_000, False), (200, False), (10_000, True)]):
            settings = TrainSettings(epochs=3, batch=16, device_tokens=tokens, dropout=0.0, rank=4)
            made = train_judge(
                str(world.home / "base"),
                few,
                world.rubric,
                tmp_path / str(number),
                settings=settings,
                gradient_checkpointing=again,
            )
            losses.append([each["loss"] for each in made.losses])
        assert losses[0][2] < losses[0][0]
        assert losses[0] == pytest.approx(losses[1], rel=1e-4)
        assert losses[0] == pytest.approx(losses[2], rel=1e-4)

    def test_a_checkpoint_of_another_base_model_is_refused(
        self, world: World, few: Path, tmp_path: Path
    ) -> None:
        out = tmp_path / "out"
        train_judge(str(world.home / "base"), few, world.rubric, out, settings=SHORT, stop_after=2)
        texts = [row.prompt for row in world.test[:50]]
        other = make_decoder(tmp_path / "other", texts, seed=1)
        with pytest.raises(
            ReelbenchError, match="checkpoint of a training with another base model"
        ):
            train_judge(str(other), few, world.rubric, out, settings=SHORT)
        with pytest.raises(ReelbenchError, match="checkpoint of a training with other settings"):
            train_judge(str(world.home / "base"), few, world.rubric, out, settings=LEARNS)

    def test_an_adapter_on_another_base_model_is_refused(
        self, world: World, tmp_path: Path
    ) -> None:
        shutil.copytree(world.home / "judge", tmp_path / "judge")
        make_decoder(tmp_path / "other", [row.prompt for row in world.test[:50]], seed=1)
        card = json.loads((tmp_path / "judge" / "judge.json").read_text())
        card["base"] = str(tmp_path / "other")
        (tmp_path / "judge" / "judge.json").write_text(json.dumps(card))
        (response,) = replies(f"judge:{tmp_path / 'judge'}", world.test[:1], world.rubric)
        assert response.status == "error"
        assert "was trained on another base model" in (response.error or "")

    def test_wrong_uses_get_sentences(self, world: World, few: Path, tmp_path: Path) -> None:
        with pytest.raises(ReelbenchError, match="holds a trained judge already"):
            train_judge(
                str(world.home / "base"), few, world.rubric, world.home / "judge", settings=SHORT
            )
        with pytest.raises(ReelbenchError, match="is a trained judge, an adapter"):
            train_judge(
                str(world.home / "judge"), few, world.rubric, tmp_path / "o", settings=SHORT
            )
        with pytest.raises(ReelbenchError, match="is no model that can be trained"):
            train_judge(str(tmp_path / "none"), few, world.rubric, tmp_path / "o", settings=SHORT)
        with pytest.raises(ReelbenchError, match="2 videos of the test rows are trained on"):
            train_judge(
                str(world.home / "base"),
                few,
                world.rubric,
                tmp_path / "o",
                test=few,
                settings=SHORT,
            )
        with pytest.raises(ReelbenchError, match="does not ask as the rubric 'criteria' does"):
            train_judge(
                str(world.home / "base"),
                few,
                load_rubric("criteria", tmp_path),
                tmp_path / "o",
                settings=SHORT,
            )
        assert not (tmp_path / "o").exists()


def test_the_commands_from_rows_to_agreement(world: World, tmp_path: Path) -> None:
    rubric = ("--rubric", "criteria")
    usual = load_rubric("criteria", tmp_path)
    write_rows(tmp_path / "train.jsonl", rows_of(1, usual)[:4])
    base = world.home / "base"
    trained = reelbench(
        "judge",
        "train",
        "--base",
        base,
        "--data",
        tmp_path / "train.jsonl",
        "--out",
        tmp_path / "j",
        "--epochs",
        1,
        "--reason-tokens",
        8,
        *rubric,
    )
    assert trained.returncode == 0, trained.stderr
    assert "1 step, loss" in trained.stderr
    used = reelbench(
        "judge",
        "use",
        f"judge:{tmp_path / 'j'}",
        "--data",
        tmp_path / "train.jsonl",
        "--out",
        tmp_path / "s.jsonl",
        *rubric,
    )
    assert used.returncode == 0, used.stderr
    assert "4 of 4 responses graded" in used.stderr
    compared = reelbench(
        "judge", "compare", tmp_path / "s.jsonl", tmp_path / "train.jsonl", *rubric
    )
    assert compared.returncode == 0, compared.stderr
    assert compared.stdout.count("%") >= 8
