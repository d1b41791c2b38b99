"""Published Q-Bench-Video files, and files that people wrote like them, become a benchmark."""

import contextlib
import io
import json
import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from actors import said_to, write_card
from filtering import fingerprints
from published_files import PAIR, Folder, opened, question, yes_no
from servers import Reply, completion, serving
from support import run_here

from reelbench.data.benchmark import Benchmark
from reelbench.recipes import load_recipe


@pytest.fixture
def folder(tmp_path: Path, clip: Path) -> Folder:
    return Folder(tmp_path, clip).add("A.mp4", "videos/B.mp4")


def many(videos: int = 6) -> list[dict[str, Any]]:
    """Questions of all kinds; yes is right three times as often as no."""
    rows = []
    for n in range(24):
        name, other = f"v{n % videos}.mp4", f"v{(n + 1) % videos}.mp4"
        pair = {"video_name": f"{name}_cat_{other}.mp4",
                "context": ("Joint", "Compare-fine", "Compare-coarse")[n % 3]}  # fmt: skip
        alone = {"video_name": name, "context": ("Global", "Referring")[n // 2 % 2]}
        where = pair if n % 4 == 3 else alone
        concern = ["Tech.", "Aes. & Temp.", "AIGC"][n % 3]
        rows.append(yes_no(n, correct_choice="AAAB"[n % 4], quality_concern=concern, **where))
        answers = ["Bright", "Dark", "Flat", f"Grey {n}"]
        rows.append(
            question(question=f"How is light {n}?", answers=answers, correct_choice="ABCD"[n % 4],
                     quality_concern=concern, **where)
        )  # fmt: skip
    return [*rows, *(opened(n, video_name=f"v{n}.mp4") for n in range(3))]


@pytest.fixture
def whole(tmp_path: Path, clip: Path) -> Folder:
    folder = Folder(tmp_path, clip).add(*(f"videos/v{n}.mp4" for n in range(6)))
    return folder.write(many())


def opposite(body: Any, _: int) -> Reply:
    """A writer who does as asked."""
    asked = said_to(body).split("\n\n")[1]
    return completion(json.dumps({"question": asked.replace("high", "low")}))


class TestTheBenchmark:
    def test_loads_lints_runs_and_scores_by_tag(self, whole: Folder) -> None:
        told = whole.make()
        assert "negate was left out: no model for role writer: add --model writer=NAME." in told.err
        benchmark = Benchmark.load(told.folder)
        assert len(benchmark.items) == 51
        assert benchmark.manifest.name == "qbench-video"
        assert benchmark.manifest.protocol.prompt == "qbench"
        assert not any("choose-negations" in item.provenance for item in benchmark.items)
        said = io.StringIO()
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(io.StringIO()):
            assert run_here("lint", told.folder) == 0
            assert "no findings" in said.getvalue()
            run = whole.root / "run"
            words = ("--model", "baseline:random", "--condition", "few sampling=uniform:1")
            # The baseline does not answer open questions, which the status tells.
            assert run_here("run", told.folder, *words, "--out", run) == 1
        scores = json.loads((run / "scores.json").read_text())
        (result,) = scores["results"]
        assert result["answered"] == 48
        by = result["by"]
        assert {value: cell["items"] for value, cell in by["question_type"].items()} == {
            "What-How": 24,
            "Yes-or-No": 24,
        }
        assert set(by["concern"]) == {"Technical", "Aesthetic", "Temporal", "AIGC"}
        contexts = {"Global", "Referring", "Joint", "Compare-fine", "Compare-coarse"}
        assert set(by["context"]) == contexts
        assert set(by["split"]) == {"dev", "test"}

    def test_a_name_of_ones_own_is_in_the_taxonomy(self, folder: Folder) -> None:
        folder.write([question(video_name=PAIR, context="Compare", quality_concern="Sound")])
        told = folder.make()
        taxonomy = Benchmark.load(told.folder).manifest.taxonomy
        assert list(taxonomy["context"]) == ["Compare"]
        assert list(taxonomy["concern"]) == ["Sound"]

    def test_the_order_of_rows_makes_no_difference(self, whole: Folder) -> None:
        (whole.source / "mine.json").unlink()
        rows = [*many(), question(video_name="v0.mp4", a=1), question(video_name="v0.mp4", a=2)]
        whole.write(rows[:20], "a.json").write(rows[20:], "b.json")
        first = fingerprints(whole.make().folder)
        for name, some in (("a.json", rows[:20]), ("b.json", rows[20:])):
            random.Random(1).shuffle(some)
            whole.write(some, name)
        assert fingerprints(whole.make(out="again").folder) == first

    def test_a_second_time_is_like_the_first(self, whole: Folder) -> None:
        first = fingerprints(whole.make().folder)
        assert fingerprints(whole.make().folder) == first

    def test_the_source_is_left_as_it_is(self, whole: Folder) -> None:
        before = fingerprints(whole.source)
        whole.make()
        assert fingerprints(whole.source) == before
        assert (
            "name a folder outside of it with --out" in whole.make(out="source/bench", status=2).err
        )

    def test_yes_and_no_come_out_even_where_there_is_a_writer(self, whole: Folder) -> None:
        with serving(opposite) as server:
            card = write_card(whole.root, "pen", server.url)
            told = whole.make("--model", f"writer={card}")
            assert len(server.requests) == 6
        asked = [item for item in told.items if item.kind == "yesno"]
        assert Counter(item.correct[0] for item in asked) == {"Yes": 12, "No": 12}
        turned = [item for item in asked if "negate" in item.provenance]
        assert len(turned) == 6
        assert all("low clarity" in item.question for item in turned)
        unturned = {item.id for item in whole.make(out="plain").items}
        assert {item.id for item in told.items} == unturned, "ids stay what they are"


class TestSplits:
    def test_are_dealt_where_none_is_told(self, whole: Folder) -> None:
        items = whole.make().items
        of_video: dict[str, set[str]] = {}
        for item in items:
            for media in item.media:
                of_video.setdefault(media.path, set()).update(item.tag("split"))
        assert all(len(splits) == 1 for splits in of_video.values())
        assert all(len(item.tag("split")) == 1 for item in items)

    def test_that_are_told_stay_and_draw_their_videos_along(
        self, tmp_path: Path, clip: Path
    ) -> None:
        folder = Folder(tmp_path, clip).add(*(f"{n}.mp4" for n in range(9)))
        folder.write([yes_no(0, video_name="0.mp4")], "dev.json")
        folder.write([yes_no(1, video_name="1.mp4")], "test.json")
        rest = [question(video_name="2.mp4", split="dev"), yes_no(2, video_name="0.mp4"),
                yes_no(3, video_name="1.mp4_cat_3.mp4.mp4", context="Joint"),
                yes_no(4, video_name="3.mp4"),
                *(yes_no(n, video_name=f"{n}.mp4") for n in range(5, 9))]  # fmt: skip
        told = folder.write(rest).make()
        split = {item.question: item.tag("split")[0] for item in told.items}
        for number, meant in ((0, "dev"), (1, "test"), (2, "dev"), (3, "test"), (4, "test")):
            assert split[f"Is sign {number} of high clarity?"] == meant
        assert split["What is the most apparent distortion?"] == "dev"
        dealt = Counter(split[f"Is sign {number} of high clarity?"] for number in range(5, 9))
        assert dealt == {"dev": 2, "test": 2}

    def test_a_published_dev_file_is_all_dev(self, folder: Folder) -> None:
        items = folder.write([yes_no(n) for n in range(5)], "qbench_dev.json").make().items
        assert {item.tag("split") for item in items} == {("dev",)}


def test_the_recipe_is_found_by_its_name() -> None:
    assert load_recipe("qbench-published").name == "qbench-published"
    assert [stage.name for stage in load_recipe("qbench_published").stages] == [
        "choose-negations", "negate", "yes-no", "split", "collect",
    ]  # fmt: skip
