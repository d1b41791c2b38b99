"""What files of questions in the form of Q-Bench-Video say, in every spelling."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from published_files import PAIR, Folder, opened, question, yes_no

from reelbench.base.errors import ReelbenchError
from reelbench.interop.qbench_video.rows import split_in
from reelbench.interop.qbench_video.source import questions_in
from reelbench.interop.qbench_video.words import concerns_in, contexts_in, type_in


@pytest.fixture
def folder(tmp_path: Path, clip: Path) -> Folder:
    return Folder(tmp_path, clip).add("A.mp4", "videos/B.mp4")


class TestOneQuestion:
    def test_is_an_item(self, folder: Folder) -> None:
        item = folder.one(annotator=7)
        assert item.kind == "single"
        assert item.correct == ("Blur",)
        assert [media.path for media in item.media] == ["A.mp4"]
        assert item.tags == {
            "question_type": "What-How",
            "context": "Global",
            "concern": ("Technical",),
        }
        assert item.provenance == {
            "file": "mine.json",
            "video_name": "A.mp4",
            "fields": {"annotator": 7},
        }

    def test_a_pair_is_two_videos_wherever_they_lie(self, folder: Folder) -> None:
        item = folder.one(video_name=PAIR, context="Joint")
        assert [media.path for media in item.media] == ["A.mp4", "videos/B.mp4"]

    @pytest.mark.parametrize(
        "said", ["B", "b", "B.", "(B)", "B)", " B ", "Blur", "blur.", "B. Blur"]
    )
    def test_a_key_is_a_letter_or_a_text(self, folder: Folder, said: str) -> None:
        assert folder.one(correct_choice=said).answer == ("B",)

    @pytest.mark.parametrize("form", ["{}. {}", "{}) {}", "({}) {}", "{}: {}", "{}.{}"])
    def test_letters_before_options_are_taken_off(self, folder: Folder, form: str) -> None:
        answers = [form.format(letter, text) for letter, text in zip("ABC", "xyz", strict=True)]
        for said in ("C", "z", answers[2]):
            item = folder.one(answers=answers, correct_choice=said)
            assert (item.options, item.answer) == (("x", "y", "z"), ("C",))

    def test_letters_of_only_some_options_are_words(self, folder: Folder) -> None:
        item = folder.one(answers=["A. M. radio", "Noise"], correct_choice="Noise")
        assert item.options == ("A. M. radio", "Noise")

    @pytest.mark.parametrize(
        "fields",
        [
            {},
            {"answers": ...},
            {"answers": ["It is blurred by fast motion."], "correct_choice": ...},
            {"answers": "It is blurred by fast motion.", "correct_choice": None},
            {"answers": ["Noise.", "It is blurred by fast motion."], "correct_choice": "B"},
            {"answers": ["A. It is blurred by fast motion."], "correct_choice": "A."},
            {"answers": [], "question_type": "open_ended"},
            {"answers": [], "question_type": ...},
        ],
    )
    def test_an_open_question_has_its_answer_in_words(
        self, folder: Folder, fields: dict[str, Any]
    ) -> None:
        (item,) = folder.read(opened(1, **fields)).rows
        assert (item.kind, item.options, item.answer) == ("open", (), ())
        assert item.reference == "It is blurred by fast motion."
        assert item.tag("question_type") == ("Open-ended",)

    def test_what_a_model_replied_is_not_the_answer(self, folder: Folder) -> None:
        """The authors' script writes replies into ``answer``."""
        item = folder.one(answer="C.", reference="nonsense", id=3)
        assert item.answer == ("B",)
        assert item.reference is None
        assert item.id != 3
        line, again = item.to_line(), json.loads(item.to_line())
        assert again["answer"] == ["B"], line
        assert again["provenance"]["fields"]["answer"] == "C."


class TestWords:
    @pytest.mark.parametrize(
        ("said", "meant"),
        [
            ("Yes-or-No", "Yes-or-No"), ("yes_or_no", "Yes-or-No"), ("YES/NO", "Yes-or-No"),
            ("yesno", "Yes-or-No"), ("What-How", "What-How"), ("what how", "What-How"),
            ("How", "What-How"), ("Open-ended", "Open-ended"), ("open_ended", "Open-ended"),
            ("OPEN ENDED", "Open-ended"), ("show", ""), ("3", ""), ("", ""),
        ],
    )  # fmt: skip
    def test_of_types(self, said: str, meant: str) -> None:
        assert type_in(said) == meant

    @pytest.mark.parametrize(
        ("said", "meant"),
        [
            ("global", ["Global"]), ("Single-Referring", ["Referring"]), ("JOINT", ["Joint"]),
            ("Compare-fine", ["Compare-fine"]), ("pair compare (Coarse)", ["Compare-coarse"]),
            ("compare", ["Compare"]), ("Comparative", ["Compare"]), ("Elsewhere", []),
            ("Joint-Global", ["Global", "Joint"]),
        ],
    )  # fmt: skip
    def test_of_contexts(self, said: str, meant: list[str]) -> None:
        assert list(contexts_in(said)) == meant

    @pytest.mark.parametrize(
        ("said", "meant"),
        [
            ("Technical", ["Technical"]), ("Tech.", ["Technical"]), ("Aes. & Tech.", ["Technical", "Aesthetic"]),
            ("temporal/AIGC", ["Temporal", "AIGC"]), (["Temp.", "aesthetic"], ["Aesthetic", "Temporal"]),
            (["Technical, Temporal", "AIGC"], ["Technical", "Temporal", "AIGC"]),
            ("Technical and Aesthetic", ["Technical", "Aesthetic"]),
            ("AI-generated", ["AIGC"]), ("Technical, technical", ["Technical"]),
        ],
    )  # fmt: skip
    def test_of_concerns(self, said: Any, meant: list[str]) -> None:
        assert concerns_in(said) == (tuple(meant), ())

    @pytest.mark.parametrize(
        ("said", "meant"),
        [
            ("dev", "dev"), ("Q-Bench-Video_Test", "test"), ("devset", "dev"), ("qbench.test.2", "test"),
            ("latest", ""), ("device", ""), ("dev_and_test", ""), ("mine", ""),
        ],
    )  # fmt: skip
    def test_of_splits(self, said: str, meant: str) -> None:
        assert split_in(said) == meant

    def test_what_is_not_known_is_kept_and_told_once(self, folder: Folder) -> None:
        rows = [
            question(question=f"Which {n}?", question_type=3, context="Spatial",
                     quality_concern="Sound, Tech.")
            for n in range(5)
        ]  # fmt: skip
        found = folder.read(*rows, yes_no(1, question_type="polar"))
        assert {item.tag("context") for item in found.rows} == {("Spatial",), ("Global",)}
        assert {item.tag("concern") for item in found.rows} == {
            ("Technical", "Sound"),
            ("Technical",),
        }
        types = Counter(item.tag("question_type")[0] for item in found.rows)
        assert types == {"What-How": 5, "Yes-or-No": 1}
        kept = [item.provenance["fields"]["question_type"] for item in found.rows]
        assert sorted(map(str, kept)) == ["3"] * 5 + ["polar"]
        told = "\n".join(found.warnings)
        assert len(found.warnings) == 4, told
        for words in ("question_type 3 is", "'polar'", "context 'Spatial'", "'Sound'"):
            assert words in told
        assert "5 questions, the first in" in told
        assert f"{folder.source / 'mine.json'} [0]." in told

    def test_what_is_not_said_is_told(self, folder: Folder) -> None:
        bare = question(question_type=..., context=..., quality_concern=...)
        (item,) = (found := folder.read(bare)).rows
        assert item.tags == {"question_type": "What-How"}
        assert len(found.warnings) == 3

    def test_a_comparison_may_leave_its_grain_open(self, folder: Folder) -> None:
        (item,) = (found := folder.read(question(video_name=PAIR, context="compare"))).rows
        assert item.tag("context") == ("Compare",)
        assert any("'Compare' is kept" in warning for warning in found.warnings)

    def test_a_type_that_the_options_contradict_is_told(self, folder: Folder) -> None:
        rows = [
            question(question_type="Yes-or-No"),
            yes_no(1, question_type="What-How"),
        ]
        found = folder.read(*rows)
        kinds = {item.kind: item.tag("question_type") for item in found.rows}
        assert kinds == {"single": ("Yes-or-No",), "yesno": ("What-How",)}
        assert len(found.warnings) == 2

    def test_a_slip_in_a_field_s_name_is_asked_about(self, folder: Folder) -> None:
        row = question(quality_concern=..., quality_concerns="Technical")
        assert any("perhaps quality_concern is" in each for each in folder.read(row).warnings)


class TestFiles:
    def test_lists_by_split(self, folder: Folder) -> None:
        lists = {"dev": [yes_no(1)], "test": [yes_no(2)], "data": [yes_no(3)], "version": 2}
        found = folder.write(lists, "both.json").read()
        assert sorted(item.tag("split") for item in found.rows) == [(), ("dev",), ("test",)]
        assert not found.warnings

    def test_a_list_with_a_name_of_its_own_is_told(self, folder: Folder) -> None:
        found = folder.write({"train": [yes_no(1)]}).read()
        assert found.rows[0].tag("split") == ()
        assert "'train' is not called dev or test" in found.warnings[0]

    @pytest.mark.parametrize("name", ["mine.jsonl", "mine.json"])
    def test_an_object_per_line(self, folder: Folder, name: str) -> None:
        lines = b"\n\r\n".join(json.dumps(yes_no(n)).encode() for n in range(3))
        assert len(folder.write(b"\xef\xbb\xbf" + lines + b"\n", name).read().rows) == 3

    def test_several_files_with_their_splits(self, folder: Folder) -> None:
        folder.write([yes_no(1)], "qbench_dev.json").write([yes_no(2)], "Test.json")
        folder.write([yes_no(3), yes_no(4, split="dev")], "mine.json")
        found = {item.id.rpartition("-")[0]: item.tag("split") for item in folder.read().rows}
        assert found["qbench_dev"] == ("dev",)
        assert found["Test"] == ("test",)
        splits = [item.tag("split") for item in folder.read().rows if item.id.startswith("mine")]
        assert sorted(splits) == [(), ("dev",)]

    def test_other_files_and_hidden_ones_do_no_harm(self, folder: Folder) -> None:
        folder.write(b"{", ".hidden.json").add("._A.mp4", ".cache/A.mp4").write(
            b"x", "videos/a.json"
        )
        assert folder.one()

    def test_what_is_no_folder_or_holds_no_file_is_said(self, folder: Folder) -> None:
        with pytest.raises(ReelbenchError, match=r"has no \*\.json"):
            questions_in(folder.source)
        file = folder.write([question()]).source / "mine.json"
        with pytest.raises(ReelbenchError, match="name the folder"):
            questions_in(file)

    @pytest.mark.parametrize(
        ("content", "told"),
        [
            (b"", "an empty file"),
            (b"[{]", "mine.json:1: file: found ] that closes nothing"),
            (b'[{"question": "a"},\n{"question" "b"}]', "mine.json:2: file: found a missing colon"),
            (b'[\n"\xff"]', "mine.json:2: file: found byte 0xFF, expected UTF-8"),
            ("[]".encode("utf-16"), "UTF-16"),
            (b"[" * 100_000, "nesting deeper than 64 levels"),
            (b"[" * 60 + b"]" * 60, "[0]: found a list"),
            (b'[{"a": NaN}]', "NaN"),
            (b'[{"a": 1e999}]', "[0]: found an infinite number, or NaN"),
            (b'[{"a": 1, "a": 2}]', "'a' twice"),
            (b'[{"a": "\\ud800"}]', "half a surrogate pair"),
            (b'[{"a": ' + b"[" * 40 + b"]" * 40 + b"}]", "[0]: found too many levels of nesting"),
            (b'[{"a": ' + b"9" * 5000 + b"}]", "4300"),
            (b"[]", "found no questions, expected at least one"),
            (b'{"dev": []}', "found no questions, expected at least one"),
            (b"{}", "found an empty mapping, expected a list of questions"),
            (b'"A.mp4"', "found 'A.mp4', expected a list of questions"),
            (b"[1, null]", "[1]: found nothing, expected an object"),
            (b'{"dev": [[]]}', "dev[0]: found an empty list, expected an object"),
        ],
    )  # fmt: skip
    def test_what_is_no_list_of_questions_is_said(
        self, folder: Folder, content: bytes, told: str
    ) -> None:
        assert any(told in problem for problem in folder.write(content).wrong())

    def test_a_line_that_is_wrong_is_named(self, folder: Folder) -> None:
        good = json.dumps(yes_no(1)).encode()
        folder.write(good + b"\n{\n[]\n" + b'{"question": 5}\n', "mine.jsonl")
        told = folder.wrong()
        assert [problem.split(": ")[0] for problem in told] == [
            "mine.jsonl:2", "mine.jsonl:3", "mine.jsonl:4", "mine.jsonl:4",
        ]  # fmt: skip

    def test_a_folder_or_a_pipe_in_place_of_a_file_is_said(self, folder: Folder) -> None:
        (folder.source / "x.json").mkdir()
        assert folder.wrong() == [
            "x.json: file: found no regular file, expected a file of questions"
        ]

    def test_fields_of_any_size_survive(self, folder: Folder) -> None:
        big = 10**300
        folder.write([question(note=[{"deep": [[1.5, None, True]]}], big=big)])
        (item,) = folder.make().items
        assert item.provenance["fields"]["note"] == ({"deep": ((1.5, None, True),)},)
        assert item.provenance["fields"]["big"] == big
