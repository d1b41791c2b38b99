"""What ``reelbench make cineaste`` promises of a make, a second one, roles and a forecast."""

import json
import re
import shutil
from pathlib import Path

import pytest
from actors import write_card
from filming import (
    NO_REPAIR,
    QUESTIONS,
    SCENES,
    SLUGS,
    Studio,
    Told,
    bytes_of,
    check_funnel,
    lines,
    stage_of,
)


class TestAgain:
    def test_a_second_run_asks_nothing_and_writes_the_same(
        self, studio: Studio, made: tuple[Path, Told], bench: Path
    ) -> None:
        before = bytes_of(made[0])
        told = studio.make(bench)
        assert told.status == 0
        assert not told.calls
        assert "0 calls now" in told.err
        assert bytes_of(bench) == before

    def test_it_goes_on_from_what_was_said_the_first_time(
        self, studio: Studio, made: tuple[Path, Told], bench: Path
    ) -> None:
        told = studio.command("make", "cineaste", "--out", bench, *NO_REPAIR)
        assert told.status == 0, told.err
        assert not told.calls
        assert bytes_of(bench) == bytes_of(made[0])

    def test_a_deleted_film_is_joined_again_at_no_cost(
        self, studio: Studio, made: tuple[Path, Told], bench: Path
    ) -> None:
        (bench / "media" / "ash.mp4").unlink()
        (bench / "media" / "birch.srt").unlink()
        told = studio.make(bench)
        assert told.status == 0
        assert not told.calls
        assert bytes_of(bench) == bytes_of(made[0])
        for name in ("ash.mp4", "ash.srt", "birch.mp4", "birch.srt"):
            assert (bench / "media" / name).read_bytes() == (made[0] / "media" / name).read_bytes()

    def test_a_film_that_was_written_to_is_joined_again(
        self, studio: Studio, made: tuple[Path, Told], bench: Path
    ) -> None:
        (bench / "media" / "ash.mp4").write_bytes(b"no video")
        told = studio.make(bench)
        assert told.status == 0
        assert not told.calls
        whole = made[0] / "media" / "ash.mp4"
        assert (bench / "media" / "ash.mp4").read_bytes() == whole.read_bytes()

    @pytest.mark.parametrize("lost", ["rows.sqlite", "journal.sqlite"])
    def test_either_of_the_two_records_is_enough_to_pay_for_nothing_again(
        self, studio: Studio, made: tuple[Path, Told], bench: Path, lost: str
    ) -> None:
        (bench / "make" / lost).unlink()
        told = studio.make(bench)
        assert told.status == 0, told.err
        assert not told.calls
        assert bytes_of(bench) == bytes_of(made[0])

    def test_what_is_recorded_of_how_it_was_made_stays_the_same(
        self, studio: Studio, made: tuple[Path, Told], bench: Path
    ) -> None:
        studio.make(bench)
        record = Path("make", "make.json")
        assert json.loads((bench / record).read_text()) == json.loads(
            (made[0] / record).read_text()
        )

    def test_folders_may_be_moved_together(
        self, studio: Studio, made: tuple[Path, Told], tmp_path: Path
    ) -> None:
        for name in ("movies", "made"):
            shutil.copytree(studio.root / name, tmp_path / name)
        for card in studio.root.glob("*.yaml"):
            shutil.copy(card, tmp_path)
        told = studio.command("make", "cineaste", "--out", tmp_path / "made", *NO_REPAIR)
        assert told.status == 0, told.err
        assert not told.calls
        assert bytes_of(tmp_path / "made") == bytes_of(made[0])

    def test_its_funnel_adds_up(self, made: tuple[Path, Told]) -> None:
        check_funnel(made[0])
        calls = made[1].calls
        films, categories = 2, len(SLUGS)
        assert calls["captioner"] == films * SCENES
        assert calls["writer"] == films * categories
        assert calls["blind"] == 5 * films * categories * QUESTIONS
        assert calls["veracity"] == 5 * stage_of(made[0], "independence")["out"]

    def test_what_is_planted_is_what_is_found(
        self, studio: Studio, made: tuple[Path, Told]
    ) -> None:
        kinds = {question: kind for question, (kind, _) in studio.actors.planted.items()}
        found = {"answerable without context": "guessable", "context contradicts the key": "false"}
        for reject in lines(made[0] / "rejects.jsonl"):
            assert kinds[reject["row"]["question"]] == found[reject["reason"]]
            assert len(reject["words"]) == 5
        assert all(kinds[item["question"]] == "fine" for item in lines(made[0] / "items.jsonl"))


class TestRoles:
    def test_who_verifies_what_it_wrote_is_warned_about(self, studio: Studio, bench: Path) -> None:
        card = write_card(studio.root / "twofold", "writer", studio.server.url)
        words = ["--model", f"writer={card}", "--model", f"blind={card}"]
        told = studio.make(bench, "--until", "check", words=words)
        assert told.status == 0
        assert "warning: writer has the role blind and checks what it wrote itself" in told.err

    def test_a_role_that_nobody_plays_is_named_with_what_it_does(self, studio: Studio) -> None:
        out = studio.fresh("never")
        told = studio.make(out, words=studio.words[:4])  # captioner and writer
        assert told.status == 2
        assert re.search(r"needs a model for:\s+--model blind=\.\.\.  answers", told.err)
        assert "--model veracity=" in told.err
        assert "--model writer=" not in told.err
        assert not out.exists()

    @pytest.mark.parametrize("word", ["critic=openai:gpt-4o", "openai:gpt-4o", "blind="])
    def test_a_role_that_there_is_not_is_refused_with_those_there_are(
        self, studio: Studio, word: str
    ) -> None:
        told = studio.make(studio.fresh("never"), "--model", word)
        assert told.status == 2
        assert "ROLE=MODEL" in told.err
        for role in ("captioner", "writer", "blind", "veracity"):
            assert f"\n  {role}: " in told.err

    def test_two_writers_are_refused(self, studio: Studio) -> None:
        card = write_card(studio.root / "others", "writer-2", studio.server.url)
        told = studio.make(studio.fresh("never"), "--model", f"writer={card}")
        assert told.status == 2
        assert "The role writer takes one model, and --model names 2" in told.err

    def test_a_stage_that_is_not_there_is_refused_with_those_that_are(
        self, studio: Studio, bench: Path
    ) -> None:
        told = studio.make(bench, "--until", "release")
        assert told.status == 2
        assert "no stage 'release'; it has concatenate, describe, writing-tasks" in told.err

    def test_a_source_that_is_not_there_is_said(self, studio: Studio) -> None:
        out = studio.fresh("never")
        told = studio.make(out, source=studio.root / "nowhere")
        assert told.status == 2
        assert f"{studio.root / 'nowhere'} is not a folder" in told.err
        assert not out.exists()

    def test_a_folder_inside_the_source_is_refused_or_can_be_gone_on_with(
        self, studio: Studio
    ) -> None:
        source = studio.fresh("within")
        shutil.copytree(studio.source, source)
        first, second = (
            studio.make(source / "bench", "--until", "concatenate", source=source) for _ in range(2)
        )
        assert first.status == second.status, second.err

    def test_another_seed_in_the_same_folder_is_refused(self, studio: Studio, bench: Path) -> None:
        told = studio.make(bench, "--seed", 7)
        assert told.status == 2
        assert "was made with seed 0" in told.err

    def test_a_folder_with_another_benchmark_is_left_alone(
        self, studio: Studio, made: tuple[Path, Told]
    ) -> None:
        other = studio.fresh("other")
        other.mkdir()
        shutil.copy(made[0] / "items.jsonl", other)
        told = studio.make(other)
        assert told.status == 2
        assert [path.name for path in other.iterdir()] == ["items.jsonl"]
        assert studio.command("make", "filters", "--source", other, "--out", made[0]).status == 2


class TestForecast:
    def to_ask(self, told: Told) -> dict[str, int]:
        """Requests by stage, as the table of a forecast has them."""
        rows = [re.split(r"\s{2,}", line.strip()) for line in told.out.splitlines()]
        return {
            row[0]: int(row[4].replace(",", ""))
            for row in rows
            if len(row) > 5 and row[0] != "stage"
        }

    def everything(self, folder: Path) -> dict[str, bytes]:
        return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}

    def test_a_forecast_asks_nothing_and_writes_nothing(self, studio: Studio) -> None:
        out = studio.fresh("never")
        told = studio.make(out, "--dry-run")
        assert told.status == 0, told.err
        assert not told.calls
        assert not out.exists()
        asked = self.to_ask(told)
        assert (asked["describe"], asked["write"]) == (4, 10)
        assert asked["independence"] == 5 * 2 * 5 * 12  # as many as are usual
        assert "total: $" in told.out

    def test_what_it_says_of_the_next_step_is_what_is_then_asked(
        self, studio: Studio, unfiltered: Path
    ) -> None:
        before = self.everything(unfiltered)
        told = studio.make(unfiltered, "--dry-run", "--until", "independence")
        assert self.everything(unfiltered) == before
        asked = self.to_ask(told)
        really = studio.make(unfiltered, "--until", "independence")
        assert asked == {"independence": really.calls["blind"]}
        asked = self.to_ask(studio.make(unfiltered, "--dry-run"))
        assert asked == {"veracity": studio.make(unfiltered).calls["veracity"]}
        assert self.to_ask(studio.make(unfiltered, "--dry-run")) == {}

    def test_it_knows_what_an_edited_prompt_would_redo(
        self, studio: Studio, bench: Path, prompts: Path
    ) -> None:
        edited = prompts / "message-understanding.md"
        edited.write_text(edited.read_text() + "\nNo morals.\n")
        before = self.everything(bench)
        asked = self.to_ask(studio.make(bench, "--prompts", prompts, "--dry-run"))
        assert self.everything(bench) == before
        assert asked["write"] == 2
        assert asked["independence"] == 5 * 2 * 12
