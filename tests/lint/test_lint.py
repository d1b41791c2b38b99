"""Each tag is found where it is planted, and nowhere else."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from support import make_item

from reelbench.base.errors import ReelbenchError
from reelbench.data.items import Media, freeze
from reelbench.lint import Severity, fix, lint_benchmark
from reelbench.lint.findings import TAGS

Save = Callable[..., Path]
LONG = "the camera moves slowly along the wall until the lamp "
CLEAN = make_item(99)


def tags(root: Path, *, check_media: bool = False) -> list[str]:
    return [finding.tag for finding in lint_benchmark(root, check_media=check_media).findings]


PLANTED = {
    "INVALID_LABEL": make_item(answer=("E",)),
    "MULTI_0_ANSWER": make_item(kind="multi", answer=()),
    "MULTI_1_ANSWER": make_item(kind="multi", answer=("B",)),
    "MULTI_ALL_ANSWERS": make_item(kind="multi", answer=("A", "B", "C", "D")),
    "ALL_SAME_PREFIX": make_item(options=tuple(LONG + word for word in ("goes out", "falls", "stays"))),
    "MANY_OPTS_SIMILAR": make_item(options=(*(LONG + word for word in ("a", "b", "c", "d")), "a dog")),
    "DUPLICATE_OPTS": make_item(options=("A  dog", "a dog", "a cat")),
    "EMBEDDED_MISMATCH": make_item(question="What is it? A) a door opens B) a dog barks C) a fire"),
    "EMBEDDED_OPTIONS": make_item(question="Is it A. a door opens B. a dog barks C. it snows D. a bell rings"),
    "ANSWER_TEXT_MISMATCH": make_item(reference="a dog is barking"),
    "ANSWER_TEXT_CONTRADICTS": make_item(extra=freeze({"correct_answer": "it snows"})),
    "ANSWER_IN_QUESTION": make_item(question="We hear that a dog barks: what happens?"),
    "ALL_OF_THE_ABOVE": make_item(options=("rain", "a dog barks", "both A and B", "snow")),
    "NONE_NOT_LAST": make_item(options=("none of the above", "a dog barks", "snow")),
    "LOOSE_WHITESPACE": make_item(options=(" a door opens", "a dog barks", "it snows", "a bell")),
    "BAD_FIELD": make_item(evidence=((3.0, 2.0),)),
    "LETTER_AS_REFERENCE": make_item(kind="open", options=(), answer=(), reference="a,b"),
    "NOT_REPLACED": make_item(question="Replace this by your question about a.mp4"),
}  # fmt: skip


@pytest.mark.parametrize("tag", PLANTED)
def test_one_planted_fault_is_one_finding(tag: str, save: Save) -> None:
    report = lint_benchmark(save(CLEAN, PLANTED[tag]), check_media=False)
    assert [(f.tag, f.item, f.line) for f in report.findings] == [(tag, "q-1", 2)]
    assert report.findings[0].severity == TAGS[tag][0]


LISTED = "What does he do?\n(a) He runs.\n(b) He eats.\n(c) He sleeps."
HARMLESS = [
    make_item(101, question=LISTED, options=("(c)(a)(b).", "(a)(b)(c).", "(b)(a)(c).")),
    make_item(102, question=LISTED, options=("a, b and c", "a and c", "b")),
    make_item(103, kind="open", options=(), answer=(), reference="I am"),
    make_item(104, kind="open", options=(), answer=(), reference="B", question="Which letter?"),
    make_item(1, question="Is the lamp red or blue?", options=("red", "blue"), answer=("A",)),
    make_item(2, options=("A man and B", "a dog barks", "none of the above"), answer=("B",)),
    make_item(3, reference="a dog barks"),
    make_item(4, kind="multi", answer=("A", "C"), extra=freeze({"correct_answers": ["it snows", "a door opens"]})),
    make_item(5, extra=freeze({"correct_answer": "B"})),
    make_item(6, kind="open", options=(), answer=(), reference="It begins to rain."),
    make_item(7, question="Does vitamin A. appear?"),
    make_item(8, kind="yesno", question="Yes or no?", options=("Yes", "No"), answer=("A",)),
]  # fmt: skip


def test_what_only_looks_wrong_is_left_alone(save: Save) -> None:
    assert tags(save(*HARMLESS)) == []


def test_the_tiers_of_the_eight_tags() -> None:
    tiers = [TAGS[tag][0].name for tag in list(TAGS)[:8]]
    assert tiers == ["CRITICAL"] * 3 + ["HIGH"] * 2 + ["MEDIUM"] * 2 + ["LOW"]


class TestDuplicates:
    question = "What does the woman in the red coat do after the door of the house closes?"

    def twins(self, save: Save, **second: object) -> list[str]:
        first = make_item(1, question=self.question)
        return tags(
            save(
                first, make_item(2, **({"media": first.media, "question": self.question} | second))
            )
        )

    def test_the_same_question(self, save: Save) -> None:
        assert self.twins(save) == ["NEAR_DUPLICATE"]

    def test_nearly_the_same_words(self, save: Save) -> None:
        reworded = self.question.replace("closes", "has closed")
        assert self.twins(save, question=reworded) == ["NEAR_DUPLICATE"]

    def test_the_same_words_and_another_key(self, save: Save) -> None:
        assert self.twins(save, answer=("C",)) == ["CONTRADICTORY_KEYS"]

    def test_the_opposite_question_is_another_question(self, save: Save) -> None:
        opposite = self.question.replace("red", "blue")
        assert self.twins(save, question=opposite, answer=("C",)) == []

    def test_a_template_for_many_videos_is_fine(self, save: Save) -> None:
        assert self.twins(save, media=(Media("media/other.mp4"),)) == []

    def test_another_part_of_the_video_is_another_question(self, save: Save) -> None:
        assert self.twins(save, media=(Media("media/1.mp4", 10, 20),)) == []

    def test_questions_without_spaces_between_words(self, save: Save) -> None:
        media = (Media("a.mp4"),)
        first = make_item(1, media=media, question="穿红色外套的女人在门关上之后做了什么事情")
        again = make_item(2, media=media, question="穿红色外套的女人在门关上之后做了什么事情呢")
        assert tags(save(first, again)) == ["NEAR_DUPLICATE"]


def test_tags_outside_the_taxonomy(save: Save) -> None:
    taxonomy = freeze({"category": {"sight": ["colour", "shape"], "sound": None}})
    items = [
        make_item(n, tags=freeze({"category": c}))
        for n, c in enumerate(["shape", "sound", "color"])
    ]
    report = lint_benchmark(save(*items, taxonomy=taxonomy), check_media=False)
    assert [(f.tag, f.item) for f in report.findings] == [("UNKNOWN_TAG", "q-2")]


class TestMedia:
    def test_media_of_the_demo_are_fine(self, small_demo: Path) -> None:
        assert tags(small_demo / "benchmark", check_media=True) == []

    def test_missing_broken_and_too_short(self, own_demo: Path) -> None:
        root = own_demo / "benchmark"
        videos = sorted((root / "media").iterdir())
        videos[0].unlink()
        videos[1].write_text("this is no video")
        os.truncate(videos[2], 100)
        lines = (root / "items.jsonl").read_text().splitlines()
        late = json.loads(lines[-1]) | {"id": "late", "evidence": [[1.0, 99.0]]}
        window = json.loads(lines[-2]) | {"id": "window", "evidence": []}
        window["media"][0] |= {"start": 5, "end": 99}
        (root / "items.jsonl").write_text("\n".join([*lines, json.dumps(late), json.dumps(window)]))
        found = [
            (f.tag, f.item) for f in lint_benchmark(root).findings if f.tag != "NEAR_DUPLICATE"
        ]
        broken = dict(
            zip(
                [f"media/{video.name}" for video in videos[:3]],
                ["MISSING_MEDIA", "UNREADABLE_MEDIA", "UNREADABLE_MEDIA"],
                strict=True,
            )
        )
        used = [(json.loads(line)["media"][0]["path"], json.loads(line)["id"]) for line in lines]
        expected = [(broken[path], name) for path, name in used if path in broken]
        late_ones = [("EVIDENCE_PAST_END", "late"), ("WINDOW_PAST_END", "window")]
        assert sorted(found) == sorted([*expected, *late_ones])


class TestAnyonesFile:
    def test_a_bare_file_of_items(self, save: Save) -> None:
        root = save(CLEAN, PLANTED["DUPLICATE_OPTS"])
        (root / "benchmark.yaml").unlink()
        assert tags(root / "items.jsonl") == ["DUPLICATE_OPTS"]

    def test_a_file_that_cannot_be_loaded_is_still_examined(self, save: Save) -> None:
        both = make_item(1, answer=("Z",), options=("a dog", "A dog", "a cat"))
        assert tags(save(CLEAN, both)) == ["INVALID_LABEL", "DUPLICATE_OPTS"]

    def test_rubbish_has_a_finding_a_line(self, tmp_path: Path) -> None:
        (tmp_path / "items.jsonl").write_bytes(
            b"\x00\xff\n{}\n[]\n" + CLEAN.to_line().encode() + b"\n"
        )
        report = lint_benchmark(tmp_path / "items.jsonl", check_media=False)
        assert {finding.line for finding in report.findings} == {1, 2, 3}
        assert report.items == 1

    def test_no_such_path(self, tmp_path: Path) -> None:
        with pytest.raises(ReelbenchError, match="does not exist"):
            lint_benchmark(tmp_path / "absent")


class TestFix:
    def test_what_is_low_is_aligned_and_the_rest_keeps_every_byte(self, tmp_path: Path) -> None:
        odd = b'{"kind":"single","id":"odd",  "media":[{"path":"a"}],"question":"What?","options":["x y","z"],"answer":["Z"]}'
        loose = b'{"id": "w", "kind": "single", "media": [{"path": "a"}], "question": " When? ", "options": ["now", "then "], "answer": ["B"], "n": 1.10}'
        said = b'{"id": "t", "note": {"a": 1e3}, "kind": "single", "media": [{"path": "a"}], "question": "Who?", "options": ["a man", "a dog"], "answer": ["B"], "reference": "the dog", "correct_answer": "a man"}'
        path = tmp_path / "items.jsonl"
        path.write_bytes(
            b"\xef\xbb\xbf" + odd + b"\n\n" + loose + b"\r\n" + said + b"\nnot json\n" + odd
        )
        assert fix(path) == 4
        assert path.read_bytes().split(b"\n") == [
            odd,
            loose.replace(b'" When? "', b'"When?"').replace(b'"then "', b'"then"'),
            said.replace(b"the dog", b"a dog"),
            b"not json",
            odd,
        ]

    def test_after_a_fix_no_low_finding_is_left_and_others_are(self, save: Save) -> None:
        root = save(*(item for item in PLANTED.values() if item.answer != ("E",)))
        lines = (root / "items.jsonl").read_text().splitlines()
        renamed = [line.replace('"q-1"', f'"q-{n}"') for n, line in enumerate(lines)]
        (root / "items.jsonl").write_text("\r\n".join(renamed))
        before = lint_benchmark(root, check_media=False)
        fix(root)
        after = lint_benchmark(root, check_media=False)
        graver = [f.tag for f in before.findings if f.severity > Severity.LOW]
        assert [f.tag for f in after.findings] == graver
        assert len(graver) < len(before.findings)

    def test_a_clean_file_is_not_written(self, save: Save) -> None:
        root = save(CLEAN)
        before = (root / "items.jsonl").stat()
        assert fix(root) == 0
        assert (root / "items.jsonl").stat().st_ino == before.st_ino


@pytest.mark.parametrize(("options", "tag"), [
    (("rain", "all the above"), "ALL_OF_THE_ABOVE"),
    (("rain", "snow", "Both of the above."), "ALL_OF_THE_ABOVE"),
    (("rain", "snow", "A, B and C"), "ALL_OF_THE_ABOVE"),
    (("rain", "snow", "All options are correct"), "ALL_OF_THE_ABOVE"),
    (("None of above", "rain"), "NONE_NOT_LAST"),
    (("rain", "All of them run away"), None),
    (("rain", "a and the"), None),
    (("none of the doors opens", "rain"), None),
])  # fmt: skip
def test_options_that_refer_to_others(
    options: tuple[str, ...], tag: str | None, save: Save
) -> None:
    assert tags(save(make_item(options=options, answer=("A",)))) == ([tag] if tag else [])


@pytest.mark.parametrize(("question", "flagged"), [
    ("Which? [A] a door opens [B] a dog barks [C] a fire", True),
    ("Which? a) a door opens b) a dog barks c) a fire", True),
    ("Which?\nA: a door opens\nB: a dog barks\nC: a fire", True),
    ("A: Are you coming? B: Not yet. What does B do next?", False),
    ("Who wins, team A. the reds or team B. the blues?", False),
    ("What does John A. Smith do?", False),
    ("Why" + " " * 20_000 + "?", False),
])  # fmt: skip
def test_options_inside_questions(question: str, flagged: bool, save: Save) -> None:
    assert ("EMBEDDED_MISMATCH" in tags(save(make_item(question=question)))) == flagged


@pytest.mark.parametrize(("field", "said", "tag"), [
    ("correct_answer", "It snows.", "ANSWER_TEXT_CONTRADICTS"),
    ("correct_answer", "D. a bell rings", "ANSWER_TEXT_CONTRADICTS"),
    ("correct_answer", "C", "ANSWER_TEXT_CONTRADICTS"),
    ("correct_answer", "the animal makes a noise", "ANSWER_TEXT_MISMATCH"),
    ("correct_answer", "B. A dog barks.", "ANSWER_TEXT_MISMATCH"),
    ("correct_answer", "", None),
    ("reference", "At 0:12 the man opens the gate, which wakes the neighbours and their pets.", None),
    ("reference", "", None),
])  # fmt: skip
def test_answers_written_out(field: str, said: str, tag: str | None, save: Save) -> None:
    item = (
        make_item(reference=said)
        if field == "reference"
        else make_item(extra=freeze({field: said}))
    )
    root = save(item)
    assert tags(root) == ([tag] if tag else [])
    before = (root / "items.jsonl").read_bytes()
    fix(root)
    changed = (root / "items.jsonl").read_bytes() != before
    assert changed == (tag == "ANSWER_TEXT_MISMATCH")


class TestForeignFormats:
    records = (
        {"question": "What is it?", "options": ["a dog", "a cat", "a dog"], "correct_label": "B", "correct_answer": "a cat"},
        {"question": "Which two?", "choices": {"A": "x", "B": "y", "C": "z"}, "answer": ["A", "C"], "type": "multi_select"},
        {"stem": "When?", "candidates": ["now", "then"], "answer": "now", "video": "v.mp4"},
        {"question": "Who?", "options": ["a man", "a boy"], "answer": 5},
    )  # fmt: skip

    @pytest.mark.parametrize("form", ["lines", "list"])
    def test_they_are_looked_at_as_they_are(self, form: str, tmp_path: Path) -> None:
        lines = [json.dumps(record) for record in self.records]
        text = "\n".join(lines) if form == "lines" else "[" + ",\n".join(lines) + "]"
        (tmp_path / "theirs.json").write_text(text)
        report = lint_benchmark(tmp_path / "theirs.json")
        assert [(f.tag, f.line) for f in report.findings] == [
            ("INVALID_LABEL", 4), ("DUPLICATE_OPTS", 1), ("FOREIGN_FORMAT", 0),
        ]  # fmt: skip
        assert report.items == 4

    def test_one_line_of_ours_makes_the_file_ours(self, tmp_path: Path) -> None:
        lines = [CLEAN.to_line(), json.dumps(self.records[0])]
        (tmp_path / "items.jsonl").write_text("\n".join(lines))
        found = {
            f.tag for f in lint_benchmark(tmp_path / "items.jsonl", check_media=False).findings
        }
        assert found == {"BAD_FIELD"}


def test_what_run_would_refuse_is_found(save: Save) -> None:
    root = save(make_item(1, tags=freeze({"split": "tst"})), splits=freeze({"test": {}}))
    with (root / "benchmark.yaml").open("a") as file:
        file.write("")
    text = (root / "benchmark.yaml").read_text().replace("uniform:16", "evenly:16")
    (root / "benchmark.yaml").write_text(text)
    messages = [f.message for f in lint_benchmark(root, check_media=False).findings]
    assert any("protocol.sampling" in message for message in messages)
    assert any("tags.split" in message for message in messages)


def test_half_a_download_is_unreadable(own_demo: Path) -> None:
    video = own_demo / "benchmark" / "media" / "scene-01.mp4"
    os.truncate(video, video.stat().st_size // 2)
    report = lint_benchmark(own_demo / "benchmark")
    assert {f.tag for f in report.findings} == {"UNREADABLE_MEDIA"}
    assert "is cut" in report.findings[0].message
    assert "fetch it again" in report.findings[0].message
