"""What ``reelbench make filters`` reads and writes, and what it does about a change or a gap."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from actors import said_to
from filtering import VIDEOS, Bench, fingerprints, planted, planted_bench
from msgspec import structs
from support import run_here
from videos import make_video

from reelbench.data.benchmark import Benchmark
from reelbench.data.items import Media, freeze


@pytest.fixture
def bench(tmp_path: Path, videos: Path) -> Iterator[Bench]:
    with planted_bench(tmp_path, videos) as found:
        yield found


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
        words = [*bench.role("watcher"), "--set", "visual-only.sampling=uniform:2"]
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
        assert "bare has no context for the stage" in told.err
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
        words = [*bench.role("watcher"), "--set", "visual-only.sampling=uniform:2"]
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


class TestADirtyBenchmark:
    """Is cleaned: what is wrong is left out by name, and the rest goes on."""

    def spoil(self, bench: Bench) -> None:
        lines = (bench.source / "items.jsonl").read_text().splitlines()
        records = [json.loads(line) for line in lines]
        gone = {**records[0], "id": "gone", "media": [{"path": "clips/gone.mp4"}]}
        (bench.source / "clips" / "empty.mp4").touch()
        empty = {**records[1], "id": "empty", "media": [{"path": "clips/empty.mp4"}]}
        bad = {**records[2], "id": "bad-letter", "answer": ["Z"]}
        bare = {"question": "What?"}
        (bench.source / "items.jsonl").write_text(
            "\n".join([*lines, *map(json.dumps, (gone, empty, bad, bare)), "no json", lines[3]])
        )

    def test_is_cleaned_and_every_reject_has_its_name_and_reason(self, bench: Bench) -> None:
        self.spoil(bench)
        good = {item.id for item in bench.items}
        told = bench.filter("--without", "near-duplicates", all_stages=True)
        assert told.status == 0, told.err
        assert told.kept <= good
        whys = {name: f"{why['stage']} {why['reason']} {why['detail']}"
                for name, why in told.rejects.items()}  # fmt: skip
        assert "lint MISSING_MEDIA clips/gone.mp4: no such file" in whys["gone"]
        assert "lint UNREADABLE_MEDIA clips/empty.mp4" in whys["empty"]
        assert "is empty" in whys["empty"]
        assert 'found ["Z"], expected letters from A to' in whys["bad-letter"]
        number = len(bench.items) + 4
        assert "question" not in whys[f"line {number}"], "it has one"
        assert "kind: found nothing" in whys[f"line {number}"]
        assert "no json" in whys[f"line {number + 1}"]
        assert f"as on line {4}" in whys[bench.items[3].id]
        assert told.kept == good, "the first of two with one name stays"

    def test_a_video_that_comes_back_is_taken_up_again(self, bench: Bench) -> None:
        away = bench.root / "away.mp4"
        (bench.source / VIDEOS[0]).rename(away)
        left = bench.filter("--without", "near-duplicates", all_stages=True).kept
        assert left == {i.id for i in bench.items if i.media[0].path != VIDEOS[0]}
        away.rename(bench.source / VIDEOS[0])
        again = bench.filter("--without", "near-duplicates", all_stages=True).kept
        assert again == {item.id for item in bench.items}

    def test_a_manifest_that_cannot_be_read_is_said(self, bench: Bench) -> None:
        (bench.source / "benchmark.yaml").write_text("name: x\nversion: '1'\nprotocl: {}\n")
        told = bench.filter()
        assert told.status == 2
        assert "perhaps 'protocol' is meant" in told.err
