"""What ``reelbench make cineaste`` promises, by the command line, with real video and real HTTP."""

import contextlib
import hashlib
import io
import json
import multiprocessing
import os
import random
import re
import shutil
import signal
import sqlite3
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import count, pairwise
from pathlib import Path
from typing import Any

import pytest
import yaml
from actors import Actors, on_stage, perform, roles, tiny_videos, write_card, write_movie
from servers import Server, completion, json_reply, serving
from support import SHARED, reelbench, run_here
from videos import make_video

from reelbench.benchmark import Benchmark
from reelbench.media.probe import probe
from reelbench.media.subtitles import read_subtitles

SLUGS = ("visual-reasoning", "state-changes", "temporal-ordering", "cause-and-effect",
         "message-understanding")  # fmt: skip
QUESTIONS = 3  # of each category and film
SCENES = 2
WRITTEN = ("items.jsonl", "benchmark.yaml", "funnel.json", "rejects.jsonl", "made.html",
           "funnel.svg", "statistics.json")  # fmt: skip


@dataclass(frozen=True)
class Told:
    """What a command said and did."""

    status: int
    out: str
    err: str
    calls: Counter[str]  # by model


@dataclass
class Studio:
    """Films, actors who play the models, and the command."""

    root: Path
    actors: Actors
    server: Server
    words: list[str]
    _numbers: Iterator[int] = field(default_factory=count)

    @property
    def source(self) -> Path:
        return self.root / "movies"

    def fresh(self, name: str) -> Path:
        return self.root / f"{name}-{next(self._numbers)}"

    def make(self, out: Path, *more: object, **instead: Any) -> Told:
        source, words = instead.get("source", self.source), instead.get("words", self.words)
        return self.command("make", "cineaste", "--source", source, "--out", out, *words, *more)

    def command(self, *words: object) -> Told:
        before, said, told = self.actors.asked.copy(), io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(told):
            status = run_here(*words)
        return Told(status, said.getvalue(), told.getvalue(), self.actors.asked - before)

    @contextlib.contextmanager
    def interrupted(self, by: Callable[[str, str], Any]) -> Iterator[None]:
        self.actors.interrupt = by
        try:
            yield
        finally:
            self.actors.interrupt = None


@pytest.fixture(scope="module")
def studio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Studio]:
    root, actors = tmp_path_factory.mktemp("studio"), Actors(questions=QUESTIONS)
    videos = tiny_videos(root / "videos")
    for name in ("ash", "birch"):
        write_movie(root / "movies", name, videos)
    with on_stage(root, actors) as (server, words):
        yield Studio(root, actors, server, words)


@pytest.fixture(scope="module")
def made(studio: Studio) -> tuple[Path, Told]:
    """A whole make, to be read and not to be changed."""
    out = studio.root / "made"
    told = studio.make(out)
    assert told.status == 0, told.err
    return out, told


@pytest.fixture
def bench(studio: Studio, made: tuple[Path, Told]) -> Path:
    """A copy of the whole make, to go on with."""
    return Path(shutil.copytree(made[0], studio.fresh("bench")))


@pytest.fixture(scope="module")
def checked(studio: Studio) -> Path:
    """A make up to the filters, to be copied."""
    out = studio.root / "checked"
    assert studio.make(out, "--until", "check").status == 0
    return out


@pytest.fixture
def unfiltered(studio: Studio, checked: Path) -> Path:
    return Path(shutil.copytree(checked, studio.fresh("unfiltered")))


@pytest.fixture
def prompts(studio: Studio, bench: Path) -> Path:
    """The recipe's own prompts as the command writes them, with which ``bench`` is then made."""
    folder = studio.fresh("prompts")
    told = studio.make(bench, "--prompts", folder)
    assert told.status == 0, told.err
    assert str(folder) in told.err
    assert not told.calls, "the same words are asked again"
    return folder


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def funnel(out: Path) -> dict[str, Any]:
    return dict(json.loads((out / "funnel.json").read_text()))


def stage_of(out: Path, name: str) -> dict[str, Any]:
    return next(dict(stage) for stage in funnel(out)["stages"] if stage["stage"] == name)


def bytes_of(out: Path) -> dict[str, str]:
    return {name: hashlib.sha256((out / name).read_bytes()).hexdigest() for name in WRITTEN}


def asked_by(out: Path) -> set[tuple[str, frozenset[str]]]:
    """The questions of a benchmark with their options, in whatever places those stand."""
    return {(item["question"], frozenset(item["options"])) for item in lines(out / "items.jsonl")}


def of_category(out: Path, category: str) -> set[tuple[str, frozenset[str]]]:
    return {
        (item["question"], frozenset(item["options"]))
        for item in lines(out / "items.jsonl")
        if item["tags"]["category"] == category
    }


def check_funnel(out: Path) -> None:
    """Every row is somewhere, and nowhere twice."""
    record = funnel(out)
    stages = record["stages"]
    sources = record["sources"]
    assert sources["in"] == sources["out"] + sources["rejected"]
    assert sources["out"] == stages[0]["in"]
    for stage in stages:
        assert stage["in"] == stage["passed"] + stage["rejected"] + stage["undecided"], stage
        assert sum(stage["reasons"].values()) == stage["rejected"]
        groups = stage.get("by_category", {}).values()
        if groups:
            assert sum(group["out"] for group in groups) == stage["out"]
        if groups and all("in" in group for group in groups):
            for name in ("in", "passed", "rejected", "undecided"):
                assert sum(group[name] for group in groups) == stage[name]
    for before, after in pairwise(stages):
        assert before["out"] == after["in"]
    rejected = sum(stage["rejected"] for stage in stages) + sources["rejected"]
    assert len(lines(out / "rejects.jsonl")) == rejected
    assert len(record["undecided"]) == sum(stage["undecided"] for stage in stages)
    if (out / "items.jsonl").exists():
        assert len(lines(out / "items.jsonl")) == stages[-1]["out"]


FILMS = {"carphone": ("carphone_pristine.mp4", "single_face.mp4"),
         "talk": ("carphone_distorted.mp4", "speech_two_faces.mp4")}  # fmt: skip


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Films of real video, and the benchmark that the command made of them."""
    clips = SHARED / "data" / "video"
    if not clips.is_dir():
        pytest.skip("../shared/data/video, whose clips become the scenes, is not here")
    root = tmp_path_factory.mktemp("real")
    for name, videos in FILMS.items():
        write_movie(root / "movies", name, [clips / video for video in videos])
    with on_stage(root, Actors(questions=QUESTIONS)) as (_, words):
        done = reelbench(
            "make", "cineaste", "--source", root / "movies", "--out", root / "bench", *words
        )
    assert done.returncode == 0, done.stderr
    return root


class TestAWholeMakeFromRealVideo:
    """Clips of ../shared as the scenes of two small films."""

    def test_it_loads_and_the_linter_finds_nothing_grave(self, real: Path) -> None:
        benchmark = Benchmark.load(real / "bench")
        assert len(benchmark.items) >= 10
        assert all(len(item.options) == 5 for item in benchmark.items)
        done = reelbench("lint", real / "bench")
        assert done.returncode == 0
        assert "HIGH" not in done.stdout
        assert "CRITICAL" not in done.stdout

    def test_scenes_keep_their_offsets_in_captions_and_evidence(self, real: Path) -> None:
        benchmark = Benchmark.load(real / "bench")
        for name, videos in FILMS.items():
            lengths = [probe(SHARED / "data" / "video" / video).duration for video in videos]
            whole = probe(real / "bench" / "media" / f"{name}.mp4").duration
            assert whole == pytest.approx(sum(lengths), abs=0.1)
            cues = read_subtitles(real / "bench" / "media" / f"{name}.srt")
            offsets = [cue.start - 0.1 for cue in cues]
            assert [cue.text for cue in cues] == [f"Line {n} of {name}." for n in (1, 2)]
            assert offsets == pytest.approx([0.0, lengths[0]], abs=0.05)
            assert [cue.end - cue.start for cue in cues] == pytest.approx([0.8, 0.8], abs=0.002)
            ends = [offsets[1], whole]
            about = [item for item in benchmark.items if item.media[0].path == f"media/{name}.mp4"]
            assert {tuple(item.context["scenes"]) for item in about} == {(1,), (2,)}
            for item in about:
                (scene,) = item.context["scenes"]
                ((start, end),) = item.evidence
                assert start == pytest.approx(offsets[scene - 1], abs=0.002)
                assert end == pytest.approx(ends[scene - 1], abs=0.05)
                assert end <= whole + 1e-3, "evidence after the end of the film"

    def test_items_say_how_they_were_made_and_what_the_filters_saw(self, real: Path) -> None:
        for item in Benchmark.load(real / "bench").items:
            made = item.provenance
            assert made["writer"] == "writer"
            assert made["prompt"] in SLUGS
            assert (made["rules"]["name"], made["rules"]["version"]) == ("cineaste", "1")
            assert made["independence"]["right"] < 5
            assert made["veracity"]["right"] == made["veracity"]["of"] == 5
            assert made["veracity"]["models"] == {"veracity": 5}
            name = item.media[0].path.removeprefix("media/").removesuffix(".mp4")
            text = (real / "bench" / item.context["file"]).read_text()
            assert item.context["file"] == f"context/{name}.md"
            assert hashlib.sha256(text.encode()).hexdigest()  # it can be read
            for part in (f"# Film {name}", f"What happens in {name}.", "Log-line 2.", "Title 1",
                         f"Line 2 of {name}.", "people look at"):  # fmt: skip
                assert part in text

    def test_what_filters_saw_is_told_in_words_of_the_item(self, real: Path) -> None:
        for item in Benchmark.load(real / "bench").items:
            for name in ("independence", "veracity"):
                seen = item.provenance[name]
                assert sum(chosen == item.correct for chosen in seen["answers"]) == seen["right"]

    def test_nothing_of_how_it_was_made_reaches_a_model_that_is_evaluated(self, real: Path) -> None:
        benchmark = Benchmark.load(real / "bench")
        with serving(lambda *_: completion("A")) as server:
            card = write_card(real, "evaluated", server.url)
            done = reelbench(
                "run", real / "bench", "--model", card, "--out", real / "run",
                "--without", "frames", "--without", "frames-128", "--without", "frames-64",
            )  # fmt: skip
        assert done.returncode == 0, done.stderr
        assert len(server.calls) >= len(benchmark.items)
        asked = b"\n".join(call.raw for call in server.calls).decode()
        for item in benchmark.items:
            assert item.question in asked
            for secret in (item.context["sha256"], item.context["file"], item.context["reasoning"],
                           item.provenance["rules"]["sha256"]):  # fmt: skip
                assert secret not in asked
        for secret in ("Log-line", "What happens in", "people look at", "reasoning", "provenance",
                       "veracity", "independence"):  # fmt: skip
            assert secret not in asked

    def test_its_funnel_adds_up(self, real: Path) -> None:
        check_funnel(real / "bench")


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
        told = studio.command("make", "cineaste", "--out", bench)
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
        told = studio.command("make", "cineaste", "--out", tmp_path / "made")
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


class TestOtherWords:
    def test_an_edited_prompt_redoes_its_category_and_what_follows(
        self, studio: Studio, made: tuple[Path, Told], bench: Path, prompts: Path
    ) -> None:
        edited = prompts / "state-changes.md"
        edited.write_text(edited.read_text() + "\nThink of clothes, too.\n")
        told = studio.make(bench, "--prompts", prompts)
        assert told.status == 0, told.err
        assert told.calls["captioner"] == 0
        assert told.calls["writer"] == 2
        assert told.calls["blind"] == 5 * 2 * QUESTIONS
        kept = stage_of(bench, "independence")["by_category"]["State Changes"]["out"]
        assert told.calls["veracity"] == 5 * kept
        assert not of_category(bench, "State Changes") & of_category(made[0], "State Changes")
        for category in ("Visual Reasoning", "Temporal Ordering", "Cause and Effect"):
            assert of_category(bench, category) == of_category(made[0], category)
        check_funnel(bench)
        again = studio.command("make", "cineaste", "--out", bench)  # the folder is remembered
        assert not again.calls

    def test_going_back_to_the_old_words_asks_nothing(
        self, studio: Studio, made: tuple[Path, Told], bench: Path, prompts: Path
    ) -> None:
        edited = prompts / "state-changes.md"
        old = edited.read_text()
        edited.write_text(old + "\nThink of clothes, too.\n")
        assert studio.make(bench, "--prompts", prompts, "--until", "write").calls["writer"] == 2
        edited.write_text(old)
        assert not studio.make(bench, "--prompts", prompts).calls
        assert asked_by(bench) == asked_by(made[0])

    def test_an_edited_description_prompt_redoes_all_that_follows(
        self, studio: Studio, made: tuple[Path, Told], bench: Path, prompts: Path
    ) -> None:
        edited = prompts / "describe.md"
        edited.write_text(edited.read_text() + "\nBe brief.\n")
        told = studio.make(bench, "--prompts", prompts)
        assert told.status == 0, told.err
        assert (told.calls["captioner"], told.calls["writer"]) == (4, 10)
        assert told.calls["blind"] == 5 * 10 * QUESTIONS
        assert not asked_by(bench) & asked_by(made[0])
        check_funnel(bench)

    def test_an_edited_filter_prompt_redoes_that_filter_alone(
        self, studio: Studio, made: tuple[Path, Told], bench: Path, prompts: Path
    ) -> None:
        edited = prompts / "veracity.md"
        edited.write_text(edited.read_text() + "\nTake your time.\n")
        told = studio.make(bench, "--prompts", prompts)
        assert set(told.calls) == {"veracity"}
        assert told.calls["veracity"] == made[1].calls["veracity"]
        assert asked_by(bench) == asked_by(made[0])

    def test_a_variant_of_a_prompt_adds_questions_of_its_category(
        self, studio: Studio, made: tuple[Path, Told], bench: Path, prompts: Path
    ) -> None:
        words = (prompts / "visual-reasoning.md").read_text()
        (prompts / "visual-reasoning.2.md").write_text(words + "\nAsk about light.\n")
        told = studio.make(bench, "--prompts", prompts)
        assert told.status == 0, told.err
        assert (told.calls["captioner"], told.calls["writer"]) == (0, 2)
        assert told.calls["blind"] == 5 * 2 * QUESTIONS
        assert asked_by(bench) > asked_by(made[0])
        more = [item for item in lines(bench / "items.jsonl")
                if item["provenance"]["prompt"] == "visual-reasoning.2"]  # fmt: skip
        assert more
        assert {item["tags"]["category"] for item in more} == {"Visual Reasoning"}
        Benchmark.load(bench)
        check_funnel(bench)

    def test_an_edited_rule_redoes_the_category_it_is_for(
        self, studio: Studio, made: tuple[Path, Told], bench: Path, prompts: Path
    ) -> None:
        rules = yaml.safe_load((prompts / "rules.yaml").read_text())
        rules["version"] = "2-mine"
        rules["categories"]["Cause and Effect"][0]["text"] += " A look is enough."
        (prompts / "rules.yaml").write_text(yaml.safe_dump(rules))
        told = studio.make(bench, "--prompts", prompts)
        assert told.status == 0, told.err
        assert told.calls["writer"] == 2
        assert told.calls["blind"] == 5 * 2 * QUESTIONS
        assert not of_category(bench, "Cause and Effect") & of_category(made[0], "Cause and Effect")
        items = lines(bench / "items.jsonl")
        assert {item["provenance"]["rules"]["version"] for item in items} == {"2-mine"}

    def test_a_rule_that_is_checked_rejects_what_breaks_it(
        self, studio: Studio, bench: Path, prompts: Path
    ) -> None:
        rules = yaml.safe_load((prompts / "rules.yaml").read_text())
        rule = next(rule for rule in rules["red_lines"] if rule["id"] == "R11")
        rule["check"] = {"least_words": 40}
        (prompts / "rules.yaml").write_text(yaml.safe_dump(rules))
        told = studio.make(bench, "--prompts", prompts)
        assert told.status == 1
        assert not told.calls, "the words of the rule are the same"
        assert stage_of(bench, "check")["reasons"] == {"rule R11": 10 * QUESTIONS}
        assert not (bench / "items.jsonl").exists()
        check_funnel(bench)

    @pytest.mark.parametrize(
        ("name", "edit", "said"),
        [
            ("cause-and-effect.md", ("{{context}}", "the film"), "lacks the slot {{context}}"),
            ("veracity.md", ("{{options}}", ""), "lacks the slot {{options}}"),
            ("describe.md", ("{{film}}", "{{director}}"), "has the slot {{director}}"),
            ("novel.md", None, "novel.md is none of"),
        ],
    )
    def test_a_prompt_that_cannot_work_is_refused_before_any_call(
        self, studio: Studio, name: str, edit: tuple[str, str] | None, said: str
    ) -> None:
        folder, out = studio.fresh("prompts"), studio.fresh("never")
        studio.make(out, "--prompts", folder, "--dry-run")
        text = (folder / name).read_text().replace(*edit) if edit else "Write a novel."
        (folder / name).write_text(text)
        told = studio.make(out, "--prompts", folder)
        assert told.status == 2
        assert said in told.err
        assert "Traceback" not in told.err
        assert not told.calls
        assert not out.exists()

    @pytest.mark.parametrize("content", ["rules: [", "name: x\nversion: '1'\nred_lines: 7\n"])
    def test_rules_that_cannot_be_read_are_refused_before_any_call(
        self, studio: Studio, content: str
    ) -> None:
        folder, out = studio.fresh("prompts"), studio.fresh("never")
        studio.make(out, "--prompts", folder, "--dry-run")
        (folder / "rules.yaml").write_text(content)
        told = studio.make(out, "--prompts", folder)
        assert (told.status, out.exists()) == (2, False)
        assert "Traceback" not in told.err
        assert not told.calls

    def test_prompts_that_are_gone_or_no_folder_are_refused(
        self, studio: Studio, bench: Path, prompts: Path
    ) -> None:
        file = studio.root / "a file"
        file.write_text("Not a folder.")
        told = studio.make(bench, "--prompts", file)
        assert told.status == 2
        assert str(file) in told.err
        shutil.rmtree(prompts)
        told = studio.command("make", "cineaste", "--out", bench)  # with what was said last
        assert told.status == 2, "other words than the user's are used without a word"
        assert str(prompts) in told.err


class TestMoreAndLess:
    def test_two_new_films_cost_two_films(
        self, studio: Studio, made: tuple[Path, Told], bench: Path
    ) -> None:
        more = studio.fresh("more")
        shutil.copytree(studio.source, more)
        videos = sorted((studio.root / "videos").iterdir())
        for name in ("alder", "cedar"):  # before, between and after those that were there
            write_movie(more, name, videos)
        told = studio.make(bench, source=more)
        assert told.status == 0, told.err
        assert (told.calls["captioner"], told.calls["writer"]) == (2 * SCENES, 10)
        assert told.calls["blind"] == made[1].calls["blind"]
        assert asked_by(bench) > asked_by(made[0])
        assert len({item["media"][0]["path"] for item in lines(bench / "items.jsonl")}) == 4
        check_funnel(bench)

    def test_another_summary_costs_its_film_alone_and_no_description(
        self, studio: Studio, made: tuple[Path, Told], bench: Path
    ) -> None:
        source = studio.fresh("retold")
        shutil.copytree(studio.source, source)
        told = source / "birch" / "movie.yaml"
        told.write_text(told.read_text().replace("What happens in birch.", "All ends well."))
        calls = studio.make(bench, source=source).calls
        assert (calls["captioner"], calls["writer"]) == (0, 5)
        assert calls["blind"] == 5 * 5 * QUESTIONS
        assert "All ends well." in (bench / "context" / "birch.md").read_text()
        check_funnel(bench)

    def test_another_scene_is_described_and_the_others_are_not(
        self, studio: Studio, bench: Path
    ) -> None:
        source = studio.fresh("reshot")
        shutil.copytree(studio.source, source)
        make_video(source / "ash" / "02.mp4", seconds=1.8, rate=5)
        told = studio.make(bench, source=source)
        assert told.status == 0, told.err
        assert told.calls["captioner"] == 1
        assert told.calls["writer"] == 0, "what is seen is told in the same words as before"
        whole = probe(bench / "media" / "ash.mp4").duration
        assert whole == pytest.approx(1.0 + 1.8, abs=0.1)
        ends = [item["evidence"][0][1] for item in lines(bench / "items.jsonl")
                if item["id"].startswith("ash") and item["context"]["scenes"] == [2]]  # fmt: skip
        assert ends
        assert ends == pytest.approx([2.8] * len(ends), abs=0.1)

    def test_another_frame_rate_joins_again_and_asks_nothing(
        self, studio: Studio, made: tuple[Path, Told], bench: Path
    ) -> None:
        told = studio.make(bench, "--set", "concatenate.rate=10")
        assert told.status == 0, told.err
        assert not told.calls
        assert asked_by(bench) == asked_by(made[0])

    def test_a_larger_limit_keeps_the_smaller_and_pays_for_nothing_twice(
        self, studio: Studio, made: tuple[Path, Told]
    ) -> None:
        source, out = studio.fresh("three"), studio.fresh("limited")
        shutil.copytree(studio.source, source)
        write_movie(source, "cedar", sorted((studio.root / "videos").iterdir()))
        found, spent = [], []
        for limit in (["--limit", 1], ["--limit", 2], []):
            told = studio.make(out, *limit, source=source)
            assert told.status == 0, told.err
            found.append(asked_by(out))
            spent.append(told.calls)
            check_funnel(out)
        assert found[0] < found[1] < found[2]
        assert found[2] > asked_by(made[0])
        for calls in spent:
            assert (calls["captioner"], calls["writer"]) == (SCENES, 5)
            assert calls["blind"] == 5 * 5 * QUESTIONS
        assert [stage_of(out, "write")["in"], funnel(out)["sources"]["in"]] == [15, 3]

    def test_half_a_make_writes_no_benchmark_and_is_gone_on_with(
        self, studio: Studio, made: tuple[Path, Told]
    ) -> None:
        out = studio.fresh("half")
        first = studio.make(out, "--until", "independence")
        assert first.status == 0, first.err
        assert first.calls["veracity"] == 0
        assert not (out / "items.jsonl").exists()
        assert not (out / "benchmark.yaml").exists()
        assert (out / "made.html").exists()
        assert [stage["stage"] for stage in funnel(out)["stages"]][-1] == "independence"
        check_funnel(out)
        second = studio.make(out)
        assert first.calls + second.calls == made[1].calls
        assert bytes_of(out) == bytes_of(made[0])

    def test_a_stage_can_be_left_out(self, studio: Studio, unfiltered: Path) -> None:
        told = studio.make(unfiltered, "--without", "independence")
        assert told.status == 0, told.err
        assert set(told.calls) == {"veracity"}
        kinds = studio.actors.planted
        kept = {kinds[item["question"]][0] for item in lines(unfiltered / "items.jsonl")}
        assert kept == {"fine", "guessable"}
        check_funnel(unfiltered)

    @pytest.mark.parametrize("name", ["write", "nothing"])
    def test_what_cannot_be_left_out_is_said(self, studio: Studio, bench: Path, name: str) -> None:
        told = studio.make(bench, "--without", name)
        assert told.status == 2
        assert f"{name!r}; it can without" in told.err
        assert "independence" in told.err

    @pytest.mark.parametrize(
        "change", ["independence.drop_at=4", "veracity.keep_at=1", "veracity.keep_at=0.2"]
    )
    def test_another_threshold_asks_nothing(self, studio: Studio, bench: Path, change: str) -> None:
        told = studio.make(bench, "--set", change)
        assert told.status == 0, told.err
        assert not told.calls
        check_funnel(bench)
        record = json.loads((bench / "make" / "make.json").read_text())
        name, value = change.split("=")
        assert record["changed"] == {name: yaml.safe_load(value)}

    def test_fewer_seeds_ask_nothing_and_more_only_the_rest(
        self, studio: Studio, made: tuple[Path, Told], bench: Path
    ) -> None:
        fewer = ["--set", "independence.seeds=3", "--set", "independence.drop_at=3"]
        assert not studio.make(bench, *fewer).calls
        more = ["--set", "independence.seeds=6", "--set", "independence.drop_at=6"]
        calls = studio.make(bench, *more).calls
        assert calls == {"blind": made[1].calls["blind"] // 5}

    @pytest.mark.parametrize(
        ("change", "said"),
        [
            ("independence.drop=4", "nothing called independence.drop"),
            ("veracity.keep_at=most", "cannot be 'most'"),
            ("independence.seeds", "sets nothing"),
            ("independence.seeds=0", "independence.seeds"),
            ("veracity.seeds=0", "veracity.seeds"),
        ],
    )
    def test_what_cannot_be_set_is_said(
        self, studio: Studio, bench: Path, change: str, said: str
    ) -> None:
        told = studio.make(bench, "--set", change)
        assert told.status == 2
        assert said in told.err
        assert not told.calls

    def test_another_model_in_one_role_redoes_that_role(
        self, studio: Studio, made: tuple[Path, Told], bench: Path
    ) -> None:
        card = write_card(studio.root / "others", "blind-2", studio.server.url)
        told = studio.make(bench, words=["--model", f"blind={card}"])
        assert told.status == 0, told.err
        assert told.calls == {"blind-2": made[1].calls["blind"]}
        assert asked_by(bench) == asked_by(made[0])

    def test_a_broken_film_costs_itself_alone_and_is_named(
        self, studio: Studio, made: tuple[Path, Told], bench: Path
    ) -> None:
        source = studio.fresh("broken")
        shutil.copytree(studio.source, source)
        write_movie(source, "wreck", sorted((studio.root / "videos").iterdir()))
        (source / "wreck" / "02.mp4").write_bytes(b"no video at all")
        told = studio.make(bench, source=source)
        assert not told.calls
        assert asked_by(bench) == asked_by(made[0])
        assert funnel(bench)["sources"] == {"in": 3, "out": 2, "rejected": 1}
        (line,) = [line for line in lines(bench / "rejects.jsonl") if line["stage"] == "sources"]
        assert line["id"] == "wreck"
        assert "02.mp4" in line["detail"]
        check_funnel(bench)


KILLS = 8


Start = Callable[..., Any]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Start commands as processes that begin at once; what they say is in ``told``."""
    processes = multiprocessing.get_context("forkserver")
    processes.set_forkserver_preload(["actors", "reelbench.recipes.cineaste.recipe"])
    running = []

    def started(*words: object) -> Any:
        args = ([*map(str, words)], str(tmp_path / "told"))
        process = processes.Process(target=perform, args=args)
        process.start()
        running.append(process)
        return process

    yield started
    for process in running:
        process.kill()
        process.join()


def wait_for(server: Server, calls: int) -> None:
    """Wait until a server was asked so often, without taking its time."""
    deadline = time.monotonic() + 60
    while len(server.calls) < calls:
        assert time.monotonic() < deadline
        time.sleep(0.002)


class TestKilled:
    def test_killed_anywhere_it_ends_the_same_and_pays_for_nothing_twice(
        self, studio: Studio, made: tuple[Path, Told], start: Start, tmp_path: Path
    ) -> None:
        connections, chance, out = 4, random.Random(6), studio.fresh("killed")
        cards = studio.root / "slow"
        with serving(studio.actors, latency=0.01) as server:
            words = roles(cards, server.url, connections=connections)
            words += ["--source", str(studio.source), "--out", str(out)]
            for number in range(KILLS):
                process = start("make", "cineaste", *words)
                aim = len(server.calls) + chance.randint(1, 45)
                deadline = time.monotonic() + (chance.uniform(0.1, 1) if number % 4 == 0 else 60)
                while len(server.calls) < aim and time.monotonic() < deadline:
                    assert process.is_alive(), (tmp_path / "told").read_text()
                    time.sleep(0.002)
                process.kill()
                process.join()
            process = start("make", "cineaste", *words)
            process.join()
        assert process.exitcode == 0, (tmp_path / "told").read_text()
        for name in ("items.jsonl", "benchmark.yaml", "funnel.json", "rejects.jsonl"):
            assert (out / name).read_bytes() == (made[0] / name).read_bytes(), name
        with contextlib.closing(sqlite3.connect(out / "make" / "journal.sqlite")) as journal:
            (answers,) = journal.execute("SELECT COUNT(*) FROM responses").fetchone()
            (keys,) = journal.execute("SELECT COUNT(DISTINCT key) FROM responses").fetchone()
        assert answers == keys == made[1].calls.total()
        assert len(server.calls) <= answers + KILLS * connections

    def test_ctrl_c_ends_it_soon_and_loses_nothing(
        self, studio: Studio, made: tuple[Path, Told], start: Start, tmp_path: Path
    ) -> None:
        out = studio.fresh("stopped")
        with serving(studio.actors, latency=0.02) as server:
            words = roles(studio.root / "stopped cards", server.url, connections=4)
            words += ["--source", str(studio.source), "--out", str(out)]
            process = start("make", "cineaste", *words)
            wait_for(server, 40)
            os.kill(process.pid, signal.SIGINT)
            process.join()
            told = (tmp_path / "told").read_text()
            assert process.exitcode == 130, told
            assert "Nothing is lost" in told
            assert "Traceback" not in told
            assert studio.command("make", "cineaste", "--out", out).status == 0
            assert len(server.calls) == made[1].calls.total()
        assert bytes_of(out) == bytes_of(made[0])

    def test_a_second_make_into_the_same_folder_is_told_so(
        self, studio: Studio, start: Start
    ) -> None:
        out = studio.fresh("shared")
        with serving(studio.actors, latency=0.05) as server:
            words = roles(studio.root / "shared cards", server.url, connections=2)
            process = start("make", "cineaste", *words, "--source", studio.source, "--out", out)
            wait_for(server, 4)
            told = studio.make(out, words=words)
            assert process.is_alive()
        assert told.status == 2
        assert "is in use" in told.err
        assert "Traceback" not in told.err


class TestFailures:
    def test_a_question_that_cannot_be_asked_is_undecided_until_it_can(
        self, studio: Studio, made: tuple[Path, Told], unfiltered: Path
    ) -> None:
        victim = lines(made[0] / "items.jsonl")[3]

        def failing(model: str, prompt: str) -> Any:
            if model == "blind" and victim["question"] in prompt:
                return json_reply({"error": {"message": "out of order"}}, 500)
            return None

        with studio.interrupted(failing):
            told = studio.make(unfiltered)
        assert told.status == 1
        assert f"{victim['id']} in independence: error" in told.err
        assert "out of order" in told.err
        (row,) = funnel(unfiltered)["undecided"]
        assert (row["id"], row["stage"], row["status"]) == (victim["id"], "independence", "error")
        ids = {line["id"] for name in ("rejects.jsonl", "items.jsonl")
               for line in lines(unfiltered / name)}  # fmt: skip
        assert victim["id"] not in ids
        check_funnel(unfiltered)
        again = studio.make(unfiltered)
        assert again.status == 0
        assert again.calls == {"blind": 5, "veracity": 5}
        assert bytes_of(unfiltered) == bytes_of(made[0])

    def test_a_refusal_rejects_with_the_models_words_and_is_not_asked_again(
        self, studio: Studio, made: tuple[Path, Told], unfiltered: Path
    ) -> None:
        victim = lines(made[0] / "items.jsonl")[0]

        def refusing(model: str, prompt: str) -> Any:
            if model == "veracity" and victim["question"] in prompt:
                return completion(None, message={"refusal": "I do not speak of ribbons."})
            return None

        with studio.interrupted(refusing):
            assert studio.make(unfiltered).status == 0
        rejects = lines(unfiltered / "rejects.jsonl")
        (reject,) = [line for line in rejects if line["id"] == victim["id"]]
        assert (reject["stage"], reject["reason"]) == ("veracity", "refused")
        assert any("I do not speak of ribbons." in words for words in reject["words"])
        check_funnel(unfiltered)
        assert not studio.make(unfiltered).calls

    def test_a_description_that_fails_leaves_its_film_undecided(
        self, studio: Studio, made: tuple[Path, Told]
    ) -> None:
        out = studio.fresh("undescribed")

        def failing(model: str, prompt: str) -> Any:
            if model == "captioner" and "Film birch" in prompt and "Title 2" in prompt:
                return json_reply({"error": {"message": "no"}}, 400)
            return None

        with studio.interrupted(failing):
            told = studio.make(out)
        assert told.status == 1
        assert {row["id"] for row in funnel(out)["undecided"]} == {"birch"}
        assert {item["media"][0]["path"] for item in lines(out / "items.jsonl")} == {
            "media/ash.mp4"
        }
        check_funnel(out)
        again = studio.make(out)
        assert (again.status, again.calls["captioner"], again.calls["writer"]) == (0, 1, 5)
        assert bytes_of(out) == bytes_of(made[0])

    def test_too_small_a_budget_leaves_rows_undecided_and_a_larger_one_goes_on(
        self, studio: Studio, made: tuple[Path, Told], unfiltered: Path
    ) -> None:
        told = studio.make(unfiltered, "--budget", "6000tokens")
        assert told.status == 1
        assert 0 < told.calls.total() <= 60
        assert {row["status"] for row in funnel(unfiltered)["undecided"]} == {"over_budget"}
        assert "over_budget" in told.err
        check_funnel(unfiltered)
        same = studio.make(unfiltered)  # the budget is remembered, and is for all calls together
        assert same.status == 1
        assert told.calls.total() + same.calls.total() <= 60
        larger = studio.make(unfiltered, "--budget", "1usd")
        assert larger.status == 0, larger.err
        assert bytes_of(unfiltered) == bytes_of(made[0])
        assert (told.calls + same.calls + larger.calls).total() == (
            made[1].calls["blind"] + made[1].calls["veracity"]
        )

    def test_a_writer_who_gives_no_json_is_asked_again_and_then_rejected_with_its_words(
        self, studio: Studio
    ) -> None:
        out = studio.fresh("chatty")

        def chatting(model: str, prompt: str) -> Any:
            if model == "writer" and "questions on Temporal Ordering" in prompt:
                return completion("What a fine film! I would rather talk about it.")
            return None

        with studio.interrupted(chatting):
            told = studio.make(out, "--limit", 1, "--until", "check")
        assert told.status == 0, told.err
        assert told.calls["writer"] == 4 + 4  # once more from the start, each with one repair
        (reject,) = lines(out / "rejects.jsonl")
        assert (reject["stage"], reject["category"]) == ("write", "Temporal Ordering")
        assert "I would rather talk about it" in reject["words"][0]
        check_funnel(out)


class TestRoles:
    def test_who_verifies_what_it_wrote_is_warned_about(self, studio: Studio, bench: Path) -> None:
        card = write_card(studio.root / "twofold", "writer", studio.server.url)
        words = ["--model", f"writer={card}", "--model", f"blind={card}"]
        told = studio.make(bench, "--until", "check", words=words)
        assert told.status == 0
        assert "warning: writer is the blind of what it wrote itself" in told.err

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
        assert "The writer is one model, not 2" in told.err

    def test_a_stage_that_is_not_there_is_refused_with_those_that_are(
        self, studio: Studio, bench: Path
    ) -> None:
        told = studio.make(bench, "--until", "release")
        assert told.status == 2
        assert "no stage 'release'; it has concatenate, describe, commission" in told.err

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
        assert "in all: $" in told.out

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
