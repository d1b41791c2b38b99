"""A whole ``reelbench make cineaste``, by the command line, from real video over real HTTP."""

import hashlib
from pathlib import Path

import pytest
from actors import Actors, on_stage, write_card, write_movie
from filming import QUESTIONS, SLUGS, check_funnel
from servers import completion, serving
from support import SHARED, reelbench

from reelbench.data.benchmark import Benchmark
from reelbench.media.decode.probe import probe
from reelbench.media.subtitles import read_subtitles

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
            written = made["write"]
            assert written["model"] == "writer"
            assert written["prompt"] in SLUGS
            assert (written["rules"]["name"], written["rules"]["version"]) == ("cineaste", "1")
            assert made["independence"]["right"] < 5
            assert made["veracity"]["right"] == made["veracity"]["of"] == 5
            assert made["veracity"]["models"] == {"veracity": 5}
            name = item.media[0].path.removeprefix("media/").removesuffix(".mp4")
            text = (real / "bench" / item.context["file"]).read_text()
            assert item.context["file"] == f"context/{name}.md"
            assert hashlib.sha256(text.encode()).hexdigest()  # it can be read
            assert f"Film {name}" not in text  # its title: who knows the film would go by memory
            for part in (f"What happens in {name}.", "Log-line 2.", "Title 1",
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
                           item.provenance["write"]["rules"]["sha256"]):  # fmt: skip
                assert secret not in asked
        for secret in ("Log-line", "What happens in", "people look at", "reasoning", "provenance",
                       "veracity", "independence"):  # fmt: skip
            assert secret not in asked

    def test_its_funnel_adds_up(self, real: Path) -> None:
        check_funnel(real / "bench")
