"""Training data that cannot be trusted are refused by row, before any weights are loaded."""

import json
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from support import make_item, reelbench, run_here

from reelbench.base.errors import ReelbenchError
from reelbench.evaluate.rubric import Rubric, load_rubric
from reelbench.judge.bands import CRITERIA
from reelbench.judge.examples import padded_tokens, plan_steps, split_step
from reelbench.judge.sharegpt import check_disjoint, read_rows, split_by_video, write_rows
from reelbench.judge.synthesize import SyntheticResponse, SyntheticSet, rated_rows
from reelbench.models.judge.decode import TokenGrammar
from reelbench.models.judge.folder import JudgeFolder
from reelbench.models.judge.grammar import (
    Choice,
    Fixed,
    FreeText,
    fill_parts,
    reply_parts,
    safe_text,
    values_in,
)
from reelbench.models.judge.prompt import CUT, PromptTooLongError, caption_span, prompt_tokens

RATINGS = {name: {"score": 4, "reason": "Well."} for name in CRITERIA}


@pytest.fixture
def rubric(tmp_path: Path) -> Rubric:
    return load_rubric("criteria", tmp_path)


def rows_of(rubric: Rubric, videos: int = 4) -> list[Any]:
    found = []
    for n in range(videos):
        item = make_item(n, kind="open", options=(), answer=(), reference="A dog.")
        found += rated_rows(
            SyntheticSet(item, [SyntheticResponse("A cat.", "perfect", RATINGS)]), rubric, f"v{n}"
        )
    return found


@pytest.mark.parametrize(("spoil", "expected"), [
    (lambda row: row["conversations"][1].update(value='{"correctness": '), "no JSON"),
    (lambda row: row["conversations"][1].update(value="{}"), "fits the rubric"),
    (lambda row: row["conversations"].pop(), "one of human, one of gpt"),
    (lambda row: row.pop("conversations"), "conversations"),
    (lambda row: row["conversations"][1].update(value=json.dumps({"correctness": 7})), "fits the rubric"),
])  # fmt: skip
def test_one_broken_row_is_named_and_nothing_is_trained(
    spoil: Any, expected: str, rubric: Rubric, tmp_path: Path
) -> None:
    records = [row.to_record() for row in rows_of(rubric)]
    spoil(records[2])
    data = tmp_path / "train.jsonl"
    data.write_text("".join(json.dumps(record) + "\n" for record in records))
    done = reelbench(
        "judge", "train", "--base", tmp_path / "none", "--data", data, "--out", tmp_path / "j"
    )
    assert done.returncode == 2
    assert f"{data}:3: " in done.stderr
    assert expected in done.stderr
    assert "1 problem to fix first" in done.stderr
    assert not (tmp_path / "j").exists()


def test_without_the_extra_there_is_a_sentence_with_the_command(
    rubric: Rubric, tmp_path: Path
) -> None:
    if find_spec("torch"):
        pytest.skip("the extra is installed")
    data = tmp_path / "rows.jsonl"
    write_rows(data, rows_of(rubric))
    words = ("judge", "train", "--base", "x", "--data", data, "--out", tmp_path / "j")
    for command in (words, ("judge", "serve", "x")):
        done = reelbench(*command)
        assert done.returncode == 2
        assert "torch" in done.stderr
        assert "pip install" in done.stderr
        assert "[train]" in done.stderr


@pytest.mark.parametrize(
    "setting", ["--checkpoint-every 0", "--rank 0", "--dropout 1.0", "--learning-rate -1.0"]
)
def test_numbers_that_train_nothing_are_refused(
    setting: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = ("--base", tmp_path, "--data", tmp_path / "x.jsonl", "--out", tmp_path / "out")
    assert run_here("judge", "train", *files, *setting.split()) == 2
    assert f"Nothing can be trained with {setting}: " in capsys.readouterr().err


def test_a_line_that_is_no_json_and_an_empty_file(rubric: Rubric, tmp_path: Path) -> None:
    data = tmp_path / "rows.jsonl"
    write_rows(data, rows_of(rubric))
    data.write_text(data.read_text() + '{"id": "x", \n')
    with pytest.raises(ReelbenchError, match=r"rows.jsonl:5: line: found"):
        read_rows(data, rubric)
    data.write_text("")
    with pytest.raises(ReelbenchError, match="no rows"):
        read_rows(data, rubric)


def test_rows_survive_being_written_and_read(rubric: Rubric, tmp_path: Path) -> None:
    write_rows(tmp_path / "rows.jsonl", rows_of(rubric))
    assert read_rows(tmp_path / "rows.jsonl", rubric) == rows_of(rubric)


def test_no_video_is_both_trained_on_and_tested(rubric: Rubric) -> None:
    rows = rows_of(rubric, 20) * 1
    train, test = split_by_video(rows, 0.25, seed=3)
    assert (len(train), len(test)) == (15, 5)
    assert split_by_video(list(reversed(rows)), 0.25, seed=3)[1] == list(reversed(test))
    check_disjoint(train, test)
    with pytest.raises(ReelbenchError, match="1 video of the test rows are trained on"):
        check_disjoint(train, [*test, train[0]])


class TestSteps:
    def test_every_row_comes_once_an_epoch_and_like_lengths_together(self) -> None:
        lengths = [10 + (n * 37) % 200 for n in range(100)]
        steps = plan_steps(lengths, batch=8, epochs=2, seed=0)
        assert sorted(n for step in steps for n in step) == sorted([*range(100)] * 2)
        assert plan_steps(lengths, 8, 2, 0) == steps != plan_steps(lengths, 8, 2, 1)
        shuffled = [tuple(range(at, at + 8)) for at in range(0, 96, 8)]
        assert padded_tokens(steps, lengths, 10**6) < padded_tokens(shuffled, lengths, 10**6) / 2

    def test_a_step_is_split_into_what_fits(self) -> None:
        lengths = [5, 9, 3, 7, 100]
        groups = split_step(range(5), lengths, most=20)
        assert sorted(n for group in groups for n in group) == [0, 1, 2, 3, 4]
        assert all(len(g) == 1 or max(lengths[n] for n in g) * len(g) <= 20 for g in groups)


class TestGrammar:
    def test_a_reply_is_made_of_what_is_fixed_chosen_and_free(self, rubric: Rubric) -> None:
        parts = reply_parts(rubric.schema)
        assert isinstance(parts[0], Fixed)
        assert isinstance(parts[-1], Fixed)
        assert sum(isinstance(part, Choice) for part in parts) == 4
        assert sum(isinstance(part, FreeText) for part in parts) == 4
        reply = json.loads(rows_of(rubric)[0].to_record()["conversations"][1]["value"])
        text = fill_parts(parts, values_in(parts, reply))
        assert json.loads(text) == reply

    def test_optional_fields_are_left_out_and_bounds_are_choices(self) -> None:
        schema = {
            "type": "object",
            "properties": {
                "sure": {"type": "boolean"},
                "score": {"type": "integer", "minimum": 9, "maximum": 11},
                "kind": {"enum": ["a", 'é"']},
                "more": {"type": "string"},
            },
            "required": ["sure", "score", "kind"],
        }
        parts = reply_parts(schema)
        choices = [part.values for part in parts if isinstance(part, Choice)]
        assert choices == [(True, False), (9, 10, 11), ("a", 'é"')]
        values = {("sure",): False, ("score",): 10, ("kind",): 'é"'}
        assert json.loads(fill_parts(parts, values)) == {"sure": False, "score": 10, "kind": 'é"'}

    def test_a_score_written_with_a_point_is_learned_as_it_is_served(self, rubric: Rubric) -> None:
        parts = reply_parts(rubric.schema)

        def text(score: float) -> str:
            rating = {name: {"score": score, "reason": "so"} for name in CRITERIA}
            return fill_parts(parts, values_in(parts, {"ratings": rating}))

        assert text(4.0) == text(4)

    def test_scores_that_a_tokenizer_cannot_tell_apart_are_refused(self, rubric: Rubric) -> None:
        class Letters(WordTokenizer):
            def encode(self, text: str, add_special_tokens: bool = True) -> list[int]:
                known = "".join("#" if sign.isdigit() else sign for sign in text)
                return super().encode(known, add_special_tokens)

        parts = reply_parts(rubric.schema)
        assert TokenGrammar(WordTokenizer(), parts, 8, [])
        with pytest.raises(ReelbenchError, match="cannot tell them apart"):
            TokenGrammar(Letters(), parts, 8, [])

    def test_what_it_cannot_write_is_a_sentence(self) -> None:
        schema = {"type": "object", "properties": {"a": {"type": "array"}}, "required": ["a"]}
        with pytest.raises(ReelbenchError, match="cannot write a as its schema has it"):
            reply_parts(schema)

    def test_free_texts_hold_no_sign_that_ends_or_marks_them(self) -> None:
        assert (
            safe_text(' He said "no\\yes"\n\t<think>[THINK] ') == "He said 'no/yes' ‹think›(THINK)"
        )


class WordTokenizer:
    """A word a token: what a prompt's length is measured with here."""

    chat_template = None

    def __init__(self) -> None:
        self.words: list[str] = []

    def encode(self, text: str, add_special_tokens: bool = True) -> list[int]:
        found = text.split()
        self.words += [word for word in found if word not in self.words]
        return [self.words.index(word) for word in found]

    def decode(self, tokens: list[int]) -> str:
        return " ".join(self.words[token] for token in tokens)


class TestCaptions:
    CAPTION = " ".join(f"c{n}" for n in range(700))

    def prompt(
        self, rubric: Rubric, caption: str, reference: str = "A dog.", response: str = "A cat."
    ) -> str:
        slots = {
            "question": "What?",
            "reference": reference,
            "caption": caption,
            "response": response,
            "options": "",
        }
        return rubric.render(slots)

    @pytest.mark.parametrize(("side", "kept"), [("end", "c0 c1"), ("start", "c698 c699")])
    def test_a_long_caption_loses_the_declared_side_and_nothing_else(
        self, side: Any, kept: str, rubric: Rubric
    ) -> None:
        tokenizer = WordTokenizer()
        prompt = self.prompt(
            rubric,
            self.CAPTION,
            "A dog.\n\nDescription of what is seen and heard:\nno",
            "Reply to grade: x",
        )
        folder = JudgeFolder(base="b", prompt=rubric.prompt, most_tokens=600, truncate=side)
        found = tokenizer.decode(prompt_tokens(tokenizer, prompt, folder))
        assert len(found.split()) == 600
        assert kept in found
        assert found.count(CUT) == 1
        bare = tokenizer.decode(
            tokenizer.encode(
                self.prompt(
                    rubric,
                    "@",
                    "A dog.\n\nDescription of what is seen and heard:\nno",
                    "Reply to grade: x",
                )
            )
        )
        before, after = bare.split("@")
        assert found.startswith(before)
        assert found.endswith(after)

    def test_a_prompt_that_fits_is_left_as_it_is(self, rubric: Rubric) -> None:
        tokenizer = WordTokenizer()
        prompt = self.prompt(rubric, self.CAPTION)
        folder = JudgeFolder(base="b", prompt=rubric.prompt, most_tokens=4096)
        assert prompt_tokens(tokenizer, prompt, folder) == tokenizer.encode(prompt)

    def test_reference_and_response_are_never_cut(self, rubric: Rubric) -> None:
        tokenizer = WordTokenizer()
        prompt = self.prompt(rubric, "short", response=self.CAPTION)
        folder = JudgeFolder(base="b", prompt=rubric.prompt, most_tokens=600)
        with pytest.raises(PromptTooLongError, match="only captions are cut"):
            prompt_tokens(tokenizer, prompt, folder)

    def test_another_prompt_has_no_caption(self, rubric: Rubric) -> None:
        assert caption_span("Which option?", rubric.prompt) is None
