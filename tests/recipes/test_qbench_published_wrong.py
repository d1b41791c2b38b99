"""What is wrong, missing, unclear or there twice in files of questions, told in sentences."""

from pathlib import Path
from typing import Any

import pytest
from published_files import PAIR, Folder, opened, question, yes_no


@pytest.fixture
def folder(tmp_path: Path, clip: Path) -> Folder:
    return Folder(tmp_path, clip).add("A.mp4", "videos/B.mp4")


class TestWhatIsWrong:
    @pytest.mark.parametrize(
        ("fields", "told"),
        [
            ({"video_name": ...}, "video_name: found nothing, expected a video's name"),
            ({"video_name": 5}, "video_name: found 5, expected"),
            ({"video_name": " "}, "video_name: found ' ', expected"),
            ({"video_name": ["A.mp4"]}, "video_name: found a list, expected"),
            ({"video_name": "../A.mp4"}, "video_name: found '../A.mp4' (it leaves the folder)"),
            ({"video_name": "A.mp4_cat_../B.mp4.mp4", "context": "Joint"}, "found '../B.mp4' (it leaves the folder)"),
            ({"video_name": "/etc/A.mp4"}, "(an absolute path)"),
            ({"video_name": "videos\\B.mp4"}, "(a backslash: write / between folders)"),
            ({"video_name": "A\n.mp4"}, "(a control character)"),
            ({"question": ...}, "question: found nothing, expected text"),
            ({"question": {}}, "question: found an empty mapping, expected text"),
            ({"question": "  "}, "question: found '"),
            ({"answers": {"A": "Yes"}}, "answers: found a mapping, expected a list of texts"),
            ({"answers": 4}, "answers: found 4, expected a list of texts"),
            ({"answers": ["1", 2]}, "answers: found 2 in it, expected a list of texts"),
            ({"answers": ["a", " "]}, "answers: found ' ' in it"),
            ({"answers": ["a", None]}, "answers: found nothing in it"),
            ({"answers": ["Blur"]}, "answers: found 1 options, expected 2 to 26"),
            ({"answers": []}, "answers: found 0 options, expected 2 to 26"),
            ({"answers": [str(n) for n in range(27)]}, "answers: found 27 options"),
            ({"answers": ["Blur", "Noise", "blur "]}, "answers[2]: found 'blur', as in answers[0]"),
            ({"answers": ["B. Blur", "A. Noise"]}, "answers: found the letters B, A, expected"),
            ({"correct_choice": "E"}, "correct_choice: found 'E', expected a letter from A to D"),
            ({"correct_choice": "Grain"}, "correct_choice: found 'Grain', expected a letter"),
            ({"correct_choice": "C. Blur"}, "correct_choice: found 'C. Blur', expected a letter"),
            ({"correct_choice": "A, B"}, "correct_choice: found 'A, B', expected"),
            ({"correct_choice": 1}, "correct_choice: found 1, expected text"),
            ({"correct_choice": ["B"]}, "correct_choice: found a list, expected text"),
            ({"correct_choice": "A." * 5000}, "correct_choice: found 'A.A.A."),
            ({"answers": ["B", "C"], "correct_choice": "B"}, "(the letter of one option and the text"),
            ({"question_type": []}, "question_type: found an empty list, expected one of Yes-or-No"),
            ({"question_type": True}, "question_type: found True, expected one of"),
            ({"context": 3}, "context: found 3, expected text"),
            ({"context": "Joint"}, "context: found 'Joint', expected Global or Referring of one"),
            ({"video_name": PAIR}, "context: found 'Global', expected Joint or Compare of two"),
            ({"quality_concern": 1}, "quality_concern: found 1, expected text"),
            ({"quality_concern": ["Tech.", 1]}, "quality_concern: found 1 in it"),
        ],
    )  # fmt: skip
    def test_is_said_in_a_sentence(self, folder: Folder, fields: dict[str, Any], told: str) -> None:
        (problem,) = folder.wrong(question(question="Fine?"), question(**fields))
        assert problem.startswith("mine.json: [1].")
        assert told in problem

    @pytest.mark.parametrize(
        ("fields", "told"),
        [
            ({"correct_choice": "A"}, "correct_choice: found 'A', expected the text of the answer"),
            ({"answers": ["x", "y"], "correct_choice": ""}, "answers: found 2 texts and no"),
            ({"answers": [5]}, "answers: found 5 in it"),
        ],
    )
    def test_of_open_questions_too(self, folder: Folder, fields: dict[str, Any], told: str) -> None:
        (problem,) = folder.wrong(opened(1, **fields))
        assert told in problem

    def test_one_fault_does_not_hide_another(self, folder: Folder) -> None:
        row = question(video_name=1, question=2, context=3, quality_concern=4, correct_choice="E")
        assert len(folder.wrong(row)) == 5
        assert len(folder.wrong(question(video_name=1, answers=["a", "a", "A"]))) == 3

    def test_all_files_are_told_of_at_once_and_nothing_is_written(self, folder: Folder) -> None:
        folder.write([question(context=1, question=2)], "a.json").write(b"{", "b.json")
        folder.write({"dev": [yes_no(1), yes_no(2, correct_choice="C")]}, "c.json")
        told = folder.make(status=2).err
        for words in ("a.json: [0].context", "a.json: [0].question", "b.json:1: file",
                      "c.json: dev[1].correct_choice", "4 problems to fix first."):  # fmt: skip
            assert words in told
        assert not (folder.root / "bench").exists()


class TestVideos:
    def test_a_missing_one_costs_its_question(self, folder: Folder) -> None:
        folder.write(
            [question(), yes_no(1, video_name="gone.mp4"),
             yes_no(2, video_name="A.mp4_cat_gone.mp4.mp4", context="Joint")]
        )  # fmt: skip
        told = folder.make()
        assert len(told.items) == 1
        assert sorted(told.rejects.values()) == ["gone.mp4: no such video"] * 2
        assert "2 questions are left out for a missing video; the first is gone" in told.err
        assert told.funnel["sources"] == {"in": 3, "out": 1, "rejected": 2}

    def test_where_all_are_missing_it_is_said_where_they_were_looked_for(
        self, folder: Folder
    ) -> None:
        folder.write([question(video_name="gone.mp4"), yes_no(1, correct_choice=...)])
        told = folder.make(status=2).err
        assert "gone.mp4: no such video" in told
        assert (
            f"Videos were looked for in {folder.source} and all folders below, which hold 2 videos"
            in told
        )
        assert "1 question is left out: no correct_choice" in told
        assert not (folder.root / "bench").exists()

    def test_a_name_that_is_there_twice_is_a_problem(self, folder: Folder) -> None:
        folder.add("old/A.mp4", "new/B.mp4")
        told = folder.wrong(question(), question(video_name=PAIR, context="Joint"))
        assert "[0].video_name: found 'A.mp4', which is in A.mp4 and in old/A.mp4" in told[0]
        assert "add its folder" in told[0]
        assert len(told) == 2
        assert folder.one(video_name="old/A.mp4").media[0].path == "old/A.mp4"
        pair = folder.one(video_name="old/A.mp4_cat_new/B.mp4.mp4", context="Joint")
        assert [media.path for media in pair.media] == ["old/A.mp4", "new/B.mp4"]

    def test_a_link_and_what_it_leads_to_are_one(self, folder: Folder) -> None:
        (folder.source / "videos" / "A.mp4").symlink_to("../A.mp4")
        folder.write([question()])
        told = folder.make()
        assert told.items[0].media[0].path == "A.mp4"
        assert (told.folder / "A.mp4").read_bytes() == folder.clip.read_bytes()

    def test_a_link_out_of_the_source_is_not_followed(self, folder: Folder) -> None:
        (folder.source / "out.mp4").symlink_to(folder.clip)
        (folder.source / "far").symlink_to(folder.clip.parent)
        found = folder.read(
            question(), yes_no(1, video_name="out.mp4"), yes_no(2, video_name="clip.mp4")
        )
        reasons = sorted(reason for _, reason in found.broken)
        assert "links to folders are not followed: far" in reasons[0]
        assert f"out.mp4: a link to {folder.clip}, outside of the source: copy it" in reasons[1]

    def test_an_empty_file_is_no_video(self, folder: Folder) -> None:
        folder.write(b"", "half.mp4")
        found = folder.read(question(), yes_no(1, video_name="half.mp4"))
        assert [reason for _, reason in found.broken] == ["half.mp4: an empty file"]

    def test_nothing_but_videos_is_taken(self, folder: Folder) -> None:
        folder.write(b"private", "notes.txt")
        found = folder.read(question(), yes_no(1, video_name="notes.txt"))
        assert [reason for _, reason in found.broken] == ["notes.txt: no such video"]

    @pytest.mark.parametrize(
        ("there", "name", "context", "meant"),
        [
            ([], "A.mp4_cat_B.mp4", "Joint", ["A.mp4", "videos/B.mp4"]),
            (["a_cat_b.mp4"], "a_cat_b.mp4", "Global", ["a_cat_b.mp4"]),
            (["a_cat_b.mp4"], "a_cat_b.mp4", ..., ["a_cat_b.mp4"]),
            (["a_cat_b.mp4"], "a_cat_b.mp4_cat_A.mp4.mp4", "Joint", ["a_cat_b.mp4", "A.mp4"]),
            (["a_cat_b.mp4"], "A.mp4_cat_a_cat_b.mp4.mp4", ..., ["A.mp4", "a_cat_b.mp4"]),
            (["x_cat_cat_y.mp4"], "x_cat_cat_y.mp4_cat_A.mp4.mp4", "Joint", ["x_cat_cat_y.mp4", "A.mp4"]),
            (["cat_c.mp4"], "A.mp4_cat_cat_c.mp4.mp4", "Joint", ["A.mp4", "cat_c.mp4"]),
            ([PAIR], PAIR, "Compare-fine", ["A.mp4", "videos/B.mp4"]),
            ([PAIR], PAIR, ..., ["A.mp4", "videos/B.mp4"]),
            ([PAIR], PAIR, "Referring", [PAIR]),
            (["B.mp4.mp4"], PAIR, "Joint", ["A.mp4", "videos/B.mp4"]),
            (["_cat_.mp4"], "_cat_.mp4", "Global", ["_cat_.mp4"]),
            ([], "videos/B.mp4", "Global", ["videos/B.mp4"]),
        ],
    )  # fmt: skip
    def test_what_is_there_decides_what_a_name_means(
        self, folder: Folder, there: list[str], name: str, context: Any, meant: list[str]
    ) -> None:
        item = folder.add(*there).one(video_name=name, context=context)
        assert [media.path for media in item.media] == meant

    def test_a_joined_file_does_not_stand_for_a_pair(self, folder: Folder) -> None:
        name = "A.mp4_cat_gone.mp4.mp4"
        found = folder.add(name).read(question(), yes_no(1, video_name=name, context="Joint"))
        assert [reason for _, reason in found.broken] == ["gone.mp4: no such video"]

    def test_a_name_that_can_be_two_pairs_is_a_problem(self, folder: Folder) -> None:
        folder.add("p.mp4", "q.mp4_cat_r.mp4", "p.mp4_cat_q.mp4", "r.mp4")
        name = "p.mp4_cat_q.mp4_cat_r.mp4.mp4"
        (told,) = folder.wrong(question(video_name=name, context="Joint"))
        assert "expected a name that fits one pair only" in told


class TestWithoutAnswers:
    def test_a_question_is_left_out_with_the_reason(self, folder: Folder) -> None:
        folder.write([yes_no(1)], "dev.json")
        folder.write([yes_no(2, correct_choice=...), opened(3, correct_choice=""),
                      question(correct_choice=None)], "test.json")  # fmt: skip
        told = folder.make()
        assert [item.tag("split") for item in told.items] == [("dev",)]
        assert len(told.rejects) == 3
        assert all("no reply can be scored" in reason for reason in told.rejects.values())

    def test_a_file_of_nothing_else_cannot_be_made(self, folder: Folder) -> None:
        folder.write([yes_no(n, correct_choice=...) for n in range(3)], "test.json")
        told = folder.make(status=2).err
        assert "None of 3 questions" in told
        assert "3 questions are left out: no correct_choice" in told
        assert "Use a file whose questions have a correct_choice." in told
        assert "looked for" not in told


class TestTwice:
    def test_the_same_is_taken_once(self, folder: Folder) -> None:
        found = folder.read(question(), question(), question(context="global"))
        assert len(found.rows) == 1
        assert "repeats another is left out: 2 questions" in found.warnings[0]

    @pytest.mark.parametrize(
        ("fields", "told"),
        [
            (
                {"correct_choice": "A"},
                "correct_choice: found 'A', but 'B' for the same question in",
            ),
            ({"context": "Referring"}, "context: found 'Referring', but 'Global'"),
            ({"quality_concern": "AIGC"}, "quality_concern: found "),
            ({"split": "dev"}, "split: found "),
        ],
    )
    def test_two_that_contradict_are_a_problem(
        self, folder: Folder, fields: dict[str, Any], told: str
    ) -> None:
        first = question(split="test" if "split" in fields else ...)
        (problem,) = folder.wrong(first, question(**fields))
        assert told.split("found")[0] in problem
        assert "for the same question in" in problem

    def test_the_same_question_in_dev_and_test_is_a_problem(self, folder: Folder) -> None:
        folder.write([question()], "dev.json").write([question(correct_choice=...)], "test.json")
        (told,) = folder.wrong()
        assert told.startswith("test.json: [0].split: found 'test', but 'dev' for the same")

    def test_the_copy_that_says_most_is_kept(self, folder: Folder) -> None:
        folder.write([question(correct_choice=..., quality_concern=...)], "a_test.json")
        folder.write([question()], "z_test.json").write([question()], "b.json")
        found = folder.read()
        assert [item.id.rpartition("-")[0] for item in found.rows] == ["z_test"]
        assert not found.broken

    def test_other_options_make_another_question(self, folder: Folder) -> None:
        other = question(answers=["Noise", "Blur"])
        assert (
            len(folder.read(question(), other, opened(1, question="What is the most?")).rows) == 3
        )
