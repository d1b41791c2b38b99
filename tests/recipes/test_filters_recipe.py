"""What ``reelbench make filters`` promises: the filters of all recipes, on anyone's benchmark."""

import contextlib
import hashlib
import io
import json
import shutil
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from actors import Actors, said_to, write_card
from msgspec import structs
from servers import Server, serving
from support import make_item, run_here
from videos import make_video

from reelbench.benchmark import Benchmark
from reelbench.items import Item, Media, freeze
from reelbench.manifest import Manifest

ALL = ("fine", "guessable", "false")
SKILL = {
    **{("blind", kind): float(kind == "guessable") for kind in ALL},
    **{("veracity", kind): float(kind != "false") for kind in ALL},
    **{("knows", kind): 1.0 for kind in ALL},
    **{("fool", kind): 0.0 for kind in ALL},
    ("watcher", "fine"): 0.0, ("watcher", "guessable"): 1.0, ("watcher", "false"): 0.0,
    ("listener", "fine"): 0.0, ("listener", "guessable"): 0.0, ("listener", "false"): 1.0,
}  # fmt: skip
VIDEOS = ("clips/one.mp4", "clips/two.mp4")
SECRET = "The ferry sank in the night."


@dataclass
class Bench:
    """A planted benchmark, actors, and the command that filters it."""

    root: Path
    actors: Actors
    server: Server
    items: list[Item]

    @property
    def source(self) -> Path:
        return self.root / "source"

    def card(self, name: str, **more: Any) -> Path:
        return write_card(self.root / "cards", name, self.server.url, **more)

    def role(self, role: str, name: str = "", **more: Any) -> list[str]:
        return ["--model", f"{role}={self.card(name or role, **more)}"]

    def filter(self, *words: object, out: Path | None = None, sieves: bool = False) -> "Told":
        out = out or self.root / "out"
        left = [] if sieves else ["--without", "twins", "--without", "lint", "--without", "lengths"]
        before, said, told = self.actors.asked.copy(), io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(told):
            status = run_here(
                "make", "filters", "--benchmark", self.source, "--out", out, *left, *words
            )
        return Told(out, status, said.getvalue(), told.getvalue(), self.actors.asked - before)

    def save(self, *items: Item) -> None:
        self.items = list(items)
        extra = freeze({"by": "someone else"})
        Benchmark(self.source, Manifest("theirs", "3", extra=extra), items).save(self.source)

    def of_kind(self, *kinds: str) -> set[str]:
        return {item.id for item in self.items if self.actors.planted[item.question][0] in kinds}


@dataclass(frozen=True)
class Told:
    """What a command said and did."""

    folder: Path
    status: int
    out: str
    err: str
    calls: Counter[str]

    @property
    def kept(self) -> set[str]:
        return {item.id for item in Benchmark.load(self.folder).items}

    @property
    def rejects(self) -> dict[str, dict[str, Any]]:
        lines = (self.folder / "rejects.jsonl").read_text().splitlines()
        return {line["id"]: line for line in map(json.loads, lines)}

    @property
    def stages(self) -> dict[str, dict[str, Any]]:
        stages = json.loads((self.folder / "funnel.json").read_text())["stages"]
        return {stage["stage"]: stage for stage in stages}


def planted(actors: Actors, number: int, **fields: Any) -> Item:
    """An item about which the actors know what it is."""
    said = actors.one(1, "planted", number)
    options = [said["answer"], *said["distractors"]]
    place = number % len(options)
    options[0], options[place] = options[place], options[0]
    plain: dict[str, Any] = {
        "id": f"q-{number:02d}",
        "question": said["question"],
        "options": tuple(options),
        "answer": ("ABCDE"[place],),
        "media": (Media(VIDEOS[number % 2]),),
    }
    return make_item(**(plain | fields))


@pytest.fixture(scope="module")
def videos(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("clips")
    make_video(folder / "one.mp4", seconds=1, rate=5, sound=1.0)
    make_video(folder / "two.mp4", seconds=1.4, rate=5, sound=1.4)
    (folder / "one.srt").write_text(f"1\n00:00:00,100 --> 00:00:00,900\n{SECRET}\n")
    return folder


@pytest.fixture
def bench(tmp_path: Path, videos: Path) -> Iterator[Bench]:
    """Twelve planted items: half with their context in a file, half in the item."""
    actors = Actors(skill=SKILL)
    with serving(actors) as server:
        found = Bench(tmp_path, actors, server, [])
        shutil.copytree(videos, found.source / "clips")
        (found.source / "notes").mkdir()
        (found.source / "notes" / "one.md").write_text("A ferry crosses the river by night.")
        contexts = [{"file": "notes/one.md"}, {"text": "A dog sleeps on the pier."}]
        found.save(
            *(planted(actors, n, context=freeze(contexts[n % 2])) for n in range(12)),
        )
        assert all(found.of_kind(kind) for kind in ALL)
        yield found


def fingerprints(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and "make" not in path.relative_to(folder).parts
    }


class TestEachFilter:
    def test_context_independence_drops_what_is_answered_blind(self, bench: Bench) -> None:
        told = bench.filter(*bench.role("blind"))
        assert told.status == 0, told.err
        assert told.kept == bench.of_kind("fine", "false")
        assert told.calls == {"blind": 5 * 12}
        assert set(told.rejects) == bench.of_kind("guessable")
        for reject in told.rejects.values():
            assert reject["reason"] == "answerable without context"
            assert len(reject["words"]) == 5
        for item in Benchmark.load(told.folder).items:
            assert item.provenance["independence"]["right"] == 0
        assert "veracity was left out: nobody plays its role" in told.err

    def test_who_is_blind_reads_nothing_but_question_and_options(self, bench: Bench) -> None:
        bench.filter(*bench.role("blind"))
        for body in bench.server.requests:
            assert "image" not in json.dumps(body)
            assert "ferry crosses" not in said_to(body)
            assert "dog sleeps" not in said_to(body)

    def test_several_may_be_blind_and_one_who_knows_is_enough(self, bench: Bench) -> None:
        told = bench.filter(*bench.role("blind", "fool"), *bench.role("blind", "blind"))
        assert told.kept == bench.of_kind("fine", "false")
        assert told.calls == {"blind": 60, "fool": 60}

    def test_a_baseline_may_be_blind_and_asks_nobody(self, bench: Bench) -> None:
        told = bench.filter("--model", "blind=baseline:longest")
        assert told.status == 0, told.err
        assert not told.calls
        longest = {
            item.id
            for item in bench.items
            if max(item.options, key=len) in item.correct
            and sum(len(option) == max(map(len, item.options)) for option in item.options) == 1
        }
        assert longest, "no key of the planted items is the longest option"
        assert longest <= set(told.rejects)
        for item in Benchmark.load(told.folder).items:
            assert item.provenance["independence"]["models"]["baseline:longest"] < 5

    def test_an_ensemble_of_three_is_counted_together(self, bench: Bench) -> None:
        three = [*bench.role("ensemble", "knows-1"), *bench.role("ensemble", "fool"),
                 *bench.role("ensemble", "blind")]  # fmt: skip
        told = bench.filter(*three)
        assert told.calls == {"knows-1": 12, "fool": 12, "blind": 12}
        assert told.kept == bench.of_kind("fine", "false")  # one of three is right, or two
        item = Benchmark.load(told.folder).items[0]
        assert item.provenance["ensemble"]["models"] == {"knows-1": 1, "fool": 0, "blind": 0}
        stricter = bench.filter(*three, "--set", "ensemble.drop_at=0.3")
        assert not stricter.calls
        assert stricter.status == 1
        assert "No item is left" in stricter.err
        assert not (stricter.folder / "items.jsonl").exists()
        milder = bench.filter(*three, "--set", "ensemble.drop_at=0.7")
        assert not milder.calls
        assert len(milder.kept) == 12

    def test_veracity_reads_the_context_from_a_file_or_from_the_item(self, bench: Bench) -> None:
        told = bench.filter(*bench.role("veracity"))
        assert told.status == 0, told.err
        assert told.kept == bench.of_kind("fine", "guessable")
        asked = [said_to(body) for body in bench.server.requests]
        assert len(asked) == 60
        by_question = {item.question: item for item in bench.items}
        for text in asked:
            item = next(item for question, item in by_question.items() if question in text)
            assert ("ferry crosses" in text) == ("file" in item.context)
            assert ("dog sleeps" in text) == ("text" in item.context)
        for reject in told.rejects.values():
            assert reject["reason"] == "context contradicts the key"
            assert reject["facts"]["right"] == 0

    def test_a_watcher_sees_frames_and_nothing_else(self, bench: Bench) -> None:
        told = bench.filter(*bench.role("watcher"), "--set", "watcher.sampling=uniform:2")
        assert told.status == 0, told.err
        assert told.kept == bench.of_kind("fine", "false")
        assert told.calls == {"watcher": 12}
        assert {reject["reason"] for reject in told.rejects.values()} == {
            "solved by pictures alone"
        }
        for body in bench.server.requests:
            kinds = Counter(part["type"] for part in body["messages"][-1]["content"])
            assert kinds["image_url"] == 2
            assert set(kinds) == {"image_url", "text"}
            assert SECRET not in said_to(body)

    def test_a_listener_hears_and_does_not_see(self, bench: Bench) -> None:
        told = bench.filter(*bench.role("listener", hears=True))
        assert told.status == 0, told.err
        assert told.kept == bench.of_kind("fine", "guessable")
        assert {reject["reason"] for reject in told.rejects.values()} == {"solved by sound alone"}
        for body in bench.server.requests:
            kinds = {part["type"] for part in body["messages"][-1]["content"]}
            assert "input_audio" in kinds
            assert "image_url" not in kinds

    def test_what_needs_no_model_runs_without_one(self, bench: Bench) -> None:
        first = bench.items[0]
        key = first.correct[0]
        long = f"{key} because the storm that came up in the night had torn away all the ropes"
        options = tuple(long if option == key else option for option in first.options)
        bench.save(
            *bench.items,
            planted(bench.actors, 20, id="long", options=options, answer=first.answer),
            planted(bench.actors, 21, id="twice", options=(*("the same",) * 2, "a cup", "a bell", "it")),
            planted(bench.actors, 0, id="z-again"),
        )  # fmt: skip
        told = bench.filter(sieves=True)
        assert told.status == 0, told.err
        assert not told.calls
        assert set(told.rejects) == {"long", "twice", "z-again"}
        assert told.rejects["long"]["stage"] == "lengths"
        assert told.rejects["twice"]["stage"] == "lint"
        for name in ("independence", "ensemble", "veracity", "watcher", "listener"):
            assert f"{name} was left out" in told.err
        assert list(told.stages) == ["lint", "twins", "lengths", "collect"]

    def test_open_questions_pass_and_yes_or_no_is_asked(self, bench: Bench) -> None:
        yes = planted(
            bench.actors, 30, id="yes", kind="yesno", options=("Yes", "No"), answer=("A",)
        )
        bench.actors.planted[yes.question] = ("guessable", "Yes")
        free = make_item(
            id="free", kind="open", options=(), answer=(), reference="a bell", media=(Media(VIDEOS[0]),)
        )  # fmt: skip
        bench.save(yes, free)
        told = bench.filter(*bench.role("blind"), *bench.role("ensemble", "knows-1"))
        assert told.kept == {"free"}
        assert set(told.rejects) == {"yes"}
        assert told.calls == {"blind": 5}


class TestTogether:
    def test_all_filters_one_after_the_other(self, bench: Bench) -> None:
        words = [*bench.role("blind"), *bench.role("veracity"), *bench.role("watcher"),
                 *bench.role("ensemble", "fool"), *bench.role("listener", hears=True),
                 "--set", "watcher.sampling=uniform:2"]  # fmt: skip
        told = bench.filter(*words, sieves=True)
        assert told.status == 0, told.err
        assert told.kept == bench.of_kind("fine")
        stages = list(told.stages.values())
        assert [stage["stage"] for stage in stages] == [
            "lint", "twins", "lengths", "independence", "ensemble", "veracity", "watcher",
            "listener", "collect",
        ]  # fmt: skip
        for before, after in pairwise(stages):
            assert before["out"] == after["in"]
        for stage in stages:
            assert stage["in"] == stage["passed"] + stage["rejected"] + stage["undecided"]
        assert len(told.rejects) == sum(stage["rejected"] for stage in stages)
        for name in ("independence", "ensemble", "veracity", "watcher", "listener"):
            low, high = told.stages[name]["interval"]
            assert 0 <= low <= told.stages[name]["rate"] <= high <= 1
        facts = Benchmark.load(told.folder).items[0].provenance
        assert {"independence", "ensemble", "veracity", "watcher", "listener"} <= set(facts)
        before = fingerprints(told.folder)
        again = bench.filter(*words, sieves=True)
        assert (again.status, again.calls) == (0, {})
        assert fingerprints(told.folder) == before

    def test_a_forecast_says_what_is_then_asked_and_writes_nothing(self, bench: Bench) -> None:
        words = [
            *bench.role("blind"),
            *bench.role("watcher"),
            "--set",
            "watcher.sampling=uniform:2",
        ]
        told = bench.filter(*words, "--dry-run")
        assert told.status == 0, told.err
        assert not told.calls
        assert not told.folder.exists()
        rows = {line.split()[0]: line.split() for line in told.out.splitlines()}
        assert rows["independence"][4] == "60"
        assert bench.filter(*words).calls["blind"] == 60

    def test_the_command_fills_a_folder_with_the_prompts_of_the_filters(self, bench: Bench) -> None:
        folder = bench.root / "prompts"
        told = bench.filter(*bench.role("blind"), "--prompts", folder)
        assert told.status == 0, told.err
        assert {"independence.md", "veracity.md", "answer.md"} <= {p.name for p in folder.iterdir()}
        edited = folder / "independence.md"
        edited.write_text(edited.read_text() + "\nBe quick.\n")
        assert bench.filter(*bench.role("blind"), "--prompts", folder).calls == {"blind": 60}


class TestTheNewFolder:
    def test_what_is_left_is_a_whole_benchmark(self, bench: Bench) -> None:
        (bench.source / "subs").mkdir()
        (bench.source / "subs" / "two.vtt").write_text(
            "WEBVTT\n\n00:00.000 --> 00:01.000\nHello.\n"
        )
        named = Media(VIDEOS[1], extra=freeze({"subtitles": "subs/two.vtt"}))
        bench.save(*bench.items, planted(bench.actors, 40, media=(named,)))
        told = bench.filter()
        assert told.status == 0, told.err
        for name in (*VIDEOS, "clips/one.srt", "notes/one.md", "subs/two.vtt"):
            assert (told.folder / name).read_bytes() == (bench.source / name).read_bytes()
        benchmark = Benchmark.load(told.folder)
        assert benchmark.manifest.name == "theirs"
        assert benchmark.manifest.version.startswith("3+"), "it is not the version that it was"
        assert benchmark.manifest.extra["by"] == "someone else"
        assert run_here("lint", told.folder) == 0

    def test_a_file_that_is_gone_comes_again(self, bench: Bench) -> None:
        told = bench.filter(*bench.role("blind"))
        (told.folder / VIDEOS[0]).unlink()
        (told.folder / "notes" / "one.md").unlink()
        assert not bench.filter(*bench.role("blind")).calls
        assert (told.folder / VIDEOS[0]).is_file()
        assert (told.folder / "notes" / "one.md").is_file()

    def test_the_source_is_left_as_it_is(self, bench: Bench) -> None:
        before = fingerprints(bench.source)
        bench.filter(*bench.role("blind"), *bench.role("veracity"))
        bench.filter(*bench.role("blind"), "--set", "independence.drop_at=1")
        assert fingerprints(bench.source) == before
        assert not (bench.source / "make").exists()

    @pytest.mark.parametrize("way", ["itself", "a link", "a detour"])
    def test_filtering_into_the_source_is_refused(self, bench: Bench, way: str) -> None:
        before = fingerprints(bench.source)
        out = {"itself": bench.source, "a link": bench.root / "link",
               "a detour": bench.source / "clips" / ".."}[way]  # fmt: skip
        if way == "a link":
            out.symlink_to(bench.source)
        told = bench.filter(*bench.role("blind"), out=out)
        assert told.status == 2
        assert "--out" in told.err
        assert not told.calls
        assert fingerprints(bench.source) == before
        assert not (bench.source / "make").exists()

    def test_nothing_is_written_outside_whatever_an_item_names(self, bench: Bench) -> None:
        (bench.root / "diary.txt").write_text("private")
        deep = bench.root / "deep" / "er" / "out"
        item = planted(bench.actors, 50, context=freeze({"file": "../diary.txt", "text": "x"}))
        bench.save(item)
        before = {path for path in bench.root.rglob("*") if deep not in path.parents}
        told = bench.filter(out=deep)
        after = {path for path in bench.root.rglob("*") if deep not in path.parents}
        assert after - before <= {deep, *deep.parents}, told.err
        assert "Traceback" not in told.err

    @pytest.mark.parametrize("file", [5, ["notes/one.md"], {"name": "notes/one.md"}])
    def test_a_context_of_ones_own_shape_does_no_harm(self, bench: Bench, file: Any) -> None:
        bench.save(planted(bench.actors, 50, context=freeze({"file": file})))
        told = bench.filter()
        assert told.status == 0, told.err
        assert len(told.kept) == 1


class TestChanges:
    def test_an_edited_context_file_is_read_again(self, bench: Bench) -> None:
        first = bench.filter(*bench.role("veracity"))
        (bench.source / "notes" / "one.md").write_text("The ferry stays at the quay all night.")
        told = bench.filter(*bench.role("veracity"))
        assert told.calls == {"veracity": first.calls["veracity"] // 2}
        assert any("at the quay" in said_to(body) for body in bench.server.requests)
        here, there = (
            (root / "notes" / "one.md").read_text() for root in (told.folder, bench.source)
        )
        assert here == there

    def test_a_replaced_video_is_watched_again_and_collected(self, bench: Bench) -> None:
        words = [*bench.role("watcher"), "--set", "watcher.sampling=uniform:2"]
        bench.filter(*words)
        new = make_video(bench.root / "new.mp4", seconds=2, rate=5)
        new.replace(bench.source / VIDEOS[0])
        told = bench.filter(*words)
        assert told.calls == {"watcher": 6}
        assert (told.folder / VIDEOS[0]).read_bytes() == (bench.source / VIDEOS[0]).read_bytes()

    def test_another_item_costs_one_item(self, bench: Bench) -> None:
        bench.filter(*bench.role("blind"))
        bench.save(planted(bench.actors, 60), *bench.items)
        assert bench.filter(*bench.role("blind")).calls == {"blind": 5}


class TestWhatIsMissing:
    def test_no_context_is_said_with_what_to_do(self, bench: Bench) -> None:
        bench.save(*bench.items, planted(bench.actors, 70, id="bare"))
        told = bench.filter(*bench.role("veracity"))
        assert told.status == 2
        assert "bare has no context to go by" in told.err
        assert "context.text" in told.err
        assert "context.file" in told.err
        assert "Traceback" not in told.err

    def test_what_was_paid_for_before_a_context_was_missing_is_not_paid_for_again(
        self, bench: Bench
    ) -> None:
        words = [*bench.role("blind"), *bench.role("veracity")]
        items, last = bench.items, max(bench.of_kind("fine"))
        bare = [
            structs.replace(item, context=freeze({})) if item.id == last else item for item in items
        ]
        bench.save(*bare)
        first = bench.filter(*words)
        assert first.status == 2
        assert f"{last} has no context" in first.err
        bench.save(*items)
        second = bench.filter(*words)
        assert second.kept == bench.of_kind("fine")
        assert second.calls["blind"] == 0
        assert first.calls["veracity"] + second.calls["veracity"] == 5 * len(
            bench.of_kind("fine", "false")
        )

    def test_a_context_file_outside_is_not_read(self, bench: Bench) -> None:
        (bench.root / "diary.txt").write_text("private")
        bench.save(planted(bench.actors, 70, context=freeze({"file": "../diary.txt"})))
        told = bench.filter(*bench.role("veracity"))
        assert told.status == 2
        assert not told.calls

    def test_a_video_that_is_not_there_rejects_until_it_is(self, bench: Bench) -> None:
        away = bench.root / "away.mp4"
        (bench.source / VIDEOS[0]).rename(away)
        words = [*bench.role("watcher"), "--set", "watcher.sampling=uniform:2"]
        told = bench.filter(*words)
        assert told.calls == {"watcher": 6}
        missing = {item.id for item in bench.items if item.media[0].path == VIDEOS[0]}
        assert {i for i, line in told.rejects.items() if line["reason"] == "media"} == missing
        assert all(VIDEOS[0] in told.rejects[name]["detail"] for name in missing)
        away.rename(bench.source / VIDEOS[0])
        again = bench.filter(*words)
        assert again.calls == {"watcher": 6}
        assert again.kept == bench.of_kind("fine", "false")

    def test_a_source_that_is_no_benchmark_is_said(self, bench: Bench) -> None:
        shutil.rmtree(bench.source)
        told = bench.filter(*bench.role("blind"))
        assert told.status == 2
        assert str(bench.source) in told.err
        assert not told.folder.exists()
