"""Operators and weights that a user puts in the place of ours, and what is then done again."""

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from annotating import Given
from operators_for_tests import counts

from reelbench.annotate.registry import in_order, load_operator
from reelbench.base.errors import ReelbenchError
from reelbench.engine.local import LocalEngine
from reelbench.weights import sha256_of

READS = '''
from dataclasses import dataclass
from typing import Any, ClassVar

from reelbench import Clip, Labels, Operator
from reelbench.weights import loaded


def text_in(path):
    return "".join(file.read_text() for file in ([path] if path.is_file() else path.iterdir()))


@dataclass(frozen=True)
class Reads(Operator):
    """Says what is in its weights."""

    name: ClassVar[str] = "{label}"
    weights: ClassVar[tuple[str, ...]] = ("whisper_large_v3",)

    def __call__(self, clip: Clip, labels: Labels) -> dict[str, Any]:
        return {{"text": loaded("whisper_large_v3", text_in)}}
'''
PLAIN = '''
from dataclasses import dataclass
from typing import Any, ClassVar

from reelbench import Clip, Labels, Operator


@dataclass(frozen=True)
class Mine(Operator):
    """Says the same word of every clip, by a label that the one in its place did not read."""

    name: ClassVar[str] = "plain"
    needs: ClassVar[tuple[str, ...]] = ("other",)
    word: str = "mine"

    def __call__(self, clip: Clip, labels: Labels) -> dict[str, Any]:
        return {"word": self.word, "size": labels["other"]["size"]}
'''


@pytest.fixture
def alone(given: Given, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Given]:
    """Clips, and a worker that begins with a cache of its own."""
    monkeypatch.setenv("REELBENCH_CACHE", str(tmp_path / "cache"))
    given.engine = LocalEngine(1)
    given.add("a.mp4")
    yield given
    given.engine.close()


def operator_file(folder: Path, text: str, name: str) -> str:
    (folder / f"{name}.py").write_text(text)
    return str(folder / f"{name}.py")


def write(path: Path, text: str) -> Path:
    """Write a file as if it had been there for a while, so that its hash is kept."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


class TestWeights:
    def test_a_file_in_their_place_is_loaded_hashed_and_noticed_when_it_changes(
        self, alone: Given, tmp_path: Path
    ) -> None:
        spec = operator_file(tmp_path, READS.format(label="reads_file"), "reads_file")
        model = write(tmp_path / "model.bin", "one")

        def run() -> int:
            parameters = {"reads_file": {"model": str(model)}}
            return alone.annotate(spec, parameters=parameters).worked

        assert (run(), run()) == (1, 0)
        label = alone.labels("a.mp4")["reads_file"]
        assert label["value"] == {"text": "one"}
        made = label["operator"]
        assert made["models"] == {"whisper_large_v3": hashlib.sha256(b"one").hexdigest()}
        assert made["replaced"] == {"whisper_large_v3": "model.bin"}
        write(model, "two")
        assert (run(), run()) == (1, 0)
        assert alone.labels("a.mp4")["reads_file"]["value"] == {"text": "two"}
        model.rename(tmp_path / "moved.bin")
        with pytest.raises(ReelbenchError, match=r"model\.bin is neither a file or folder on this"):
            run()

    def test_files_put_there_by_hand_are_hashed_as_they_are(
        self, alone: Given, tmp_path: Path
    ) -> None:
        spec = operator_file(tmp_path, READS.format(label="reads_hand"), "reads_hand")
        with pytest.raises(
            ReelbenchError, match=r"weights whisper_large_v3 are not on this machine and cannot be"
        ):
            alone.annotate(spec)
        placed = tmp_path / "cache" / "weights" / "whisper_large_v3"
        write(placed / "model.bin", "one")
        first = sha256_of("whisper_large_v3")
        assert (alone.annotate(spec).worked, alone.annotate(spec).worked) == (1, 0)
        assert alone.labels("a.mp4")["reads_hand"]["operator"]["models"] == {
            "whisper_large_v3": first
        }
        write(placed / "model.bin", "two")
        assert sha256_of("whisper_large_v3") != first
        assert alone.annotate(spec).worked == 1
        write(placed / "config.json", "{}")
        assert alone.annotate(spec).worked == 1

    def test_a_hash_is_kept_while_the_file_is_the_same(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("REELBENCH_CACHE", str(tmp_path / "cache"))
        model = write(tmp_path / "model.bin", "one")
        before = sha256_of(str(model))
        names = write(tmp_path / "model.txt", "dog\ncat\n")
        assert sha256_of(str(model)) != before, "the names of classes are part of a model"
        names.unlink()
        assert sha256_of(str(model)) == before
        os.utime(model)
        assert sha256_of(str(model)) == before

    @pytest.mark.parametrize(
        ("label", "parameters", "sentence"),
        [
            ("faces", {"model": "gone.onnx"}, r"gone\.onnx is neither a file or folder .* names: face,"),
            ("faces", {"model": 3}, r"faces\.model cannot be 3: expected the name of weights"),
            ("faces", {"model.fase": "x"}, r"loads face: write faces\.model\.face=PATH"),
            ("demographics", {"model": "age"}, r"loads age and gender: write demographics\.model\.age=PATH or"),
            ("motion", {"model": "x.onnx"}, r"motion loads no weights .* with motion\.operator=FILE\.py:NAME"),
            ("faces", {"modle": "x"}, r"no parameter 'modle'; .* faces\.least_score, faces\.model\."),
        ],
    )  # fmt: skip
    def test_what_cannot_be_replaced_is_a_sentence(
        self, label: str, parameters: dict[str, object], sentence: str
    ) -> None:
        with pytest.raises(ReelbenchError, match=sentence):
            load_operator(label, **parameters)

    def test_what_only_describes_weights_goes_with_them(self, tmp_path: Path) -> None:
        model = write(tmp_path / "yolo.onnx", "")
        assert set(load_operator("detections").loads) == {"coco", "coco_layout"}
        assert load_operator("detections", model=str(model)).loads == {"coco": str(model)}
        assert load_operator("transcript", model="whisper_large_v3").loads == {
            "whisper_base": "whisper_large_v3"
        }


class TestOperators:
    def test_one_of_a_file_takes_the_place_of_ours_for_all_that_need_it(
        self, given: Given, tmp_path: Path
    ) -> None:
        given.add("a.mp4", "b.mp4")
        given.annotate("reader")
        before = counts(given.clips)
        spec = operator_file(tmp_path, PLAIN, "mine")
        swapped = {"plain": {"operator": f"{spec}:Mine"}}
        found = given.annotate("reader", parameters=swapped)
        assert list(found.outcomes["a.mp4"]) == ["other", "plain", "reader"]
        assert given.labels("b.mp4")["reader"]["value"] == {"read": "mine"}
        assert counts(given.clips) - before == {"other": 2, "reader": 2}
        assert len(given.labels("a.mp4")["plain"]["operator"]["source"]) == 64
        assert given.annotate("reader", parameters=swapped).worked == 0
        assert given.annotate("reader").worked == 0, "ours made its labels before"
        swapped["plain"]["word"] = "yours"
        given.annotate("reader", parameters=swapped)
        assert given.labels("b.mp4")["reader"]["value"] == {"read": "yours"}

    def test_it_is_set_on_the_command_line(self, given: Given, tmp_path: Path) -> None:
        given.add("a.mp4")
        spec = operator_file(tmp_path, PLAIN, "mine")
        assert given.command("reader", "--set", f"plain.operator={spec}:Mine") == 0
        assert given.labels("a.mp4")["reader"]["value"] == {"read": "mine"}

    def test_under_a_label_of_ours_it_must_be_put_in_its_place(
        self, operators: None, tmp_path: Path
    ) -> None:
        spec = operator_file(tmp_path, PLAIN, "mine")
        with pytest.raises(
            ReelbenchError,
            match=r"'plain', which another .* --set plain\.operator=.*mine\.py:Mine$",
        ):
            in_order([spec])
        for label, other, sentence in (
            ("other", spec, r"makes the label 'plain': write `name: ClassVar\[str\] = \"other\"`"),
            ("plain", "nobody", r"names no operator: write FILE\.py:NAME, or the name of an entry"),
        ):
            with pytest.raises(ReelbenchError, match=sentence):
                load_operator(label, operator=other)

    def test_one_that_needs_what_needs_it_is_a_sentence(
        self, operators: None, tmp_path: Path
    ) -> None:
        text = PLAIN.replace('("other",)', '("reader",)')
        spec = operator_file(tmp_path, text, "round")
        with pytest.raises(ReelbenchError, match="labels plain and reader need each other"):
            in_order(["reader"], {"plain": {"operator": spec}})


@pytest.mark.parametrize("value", ["dog,car", "dog, car", ["dog", "car"], ("dog", "car")])
def test_lists_are_set_with_commas_or_brackets(value: object) -> None:
    assert load_operator("objects", classes=value).parameters["classes"] == ("dog", "car")


@pytest.mark.parametrize("value", [{"dog": 1}, [["dog"]]])
def test_what_is_no_list_is_a_sentence(value: object) -> None:
    with pytest.raises(
        ReelbenchError, match=r"objects\.classes cannot be .*: expected a list, such"
    ):
        load_operator("objects", classes=value)
