"""``reelbench make qbench-video`` from scores and videos to a benchmark, with models played."""

import json
import random
import re
import shutil
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from filming import Told, bytes_of, check_funnel, lines, stage_of
from parts import pictures
from quality_actors import Critics, Gallery, gallery
from servers import completion
from videos import make_video

from reelbench.data.benchmark import Benchmark

PARK, DREAM, PAIRS = 10, 6, 4 + 3
UNREVIEWED = ("--without", "verify", "--without", "verify-opposites")


@pytest.fixture(scope="module")
def hall(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gallery]:
    with gallery(tmp_path_factory.mktemp("gallery"), Critics(disputed="in part 1 of 5")) as made:
        yield made


@pytest.fixture(scope="module")
def made(hall: Gallery) -> tuple[Path, Told]:
    """A whole make, to be read and not to be changed."""
    out = hall.root / "made"
    told = hall.make(out, *hall.words)
    assert told.status == 0, told.err
    return out, told


@pytest.fixture
def items(made: tuple[Path, Told]) -> list[dict[str, Any]]:
    return lines(made[0] / "items.jsonl")


def statistics(out: Path) -> dict[str, Any]:
    return dict(json.loads((out / "statistics.json").read_text()))


class TestItems:
    def test_its_funnel_adds_up(self, made: tuple[Path, Told]) -> None:
        check_funnel(made[0])
        assert stage_of(made[0], "sample")["out"] == PARK + DREAM
        assert stage_of(made[0], "writing-tasks")["out"] == PARK + DREAM + PAIRS
        assert made[1].calls["writer"] >= PARK + DREAM + PAIRS

    def test_what_cannot_be_used_is_named_with_the_reason(self, made: tuple[Path, Told]) -> None:
        rejects = {row["id"]: row for row in lines(made[0] / "rejects.jsonl")}
        assert "park99 is not in park" in rejects["park:park99"]["detail"]
        assert "mos is 'NaN'" in rejects["park:park0x"]["detail"]

    def test_the_benchmark_loads_and_has_its_videos(self, made: tuple[Path, Told]) -> None:
        benchmark = Benchmark.load(made[0])
        assert benchmark.items
        for item in benchmark.items:
            assert all((made[0] / media.path).is_file() for media in item.media)
        assert benchmark.manifest.protocol.frame_encoding == "png"
        assert benchmark.manifest.taxonomy["question_type"]

    def test_every_item_says_what_it_is(self, items: list[dict[str, Any]]) -> None:
        for item in items:
            tags, scores = item["tags"], item["provenance"]["scores"]
            assert set(tags) == {
                "question_type", "concern", "context", "content", "dataset", "split"
            }  # fmt: skip
            pair = len(item["media"]) == 2
            assert pair == (tags["context"] in ("Joint", "Compare-fine", "Compare-coarse"))
            assert set(scores) == {"q1", "interval"} | ({"q2", "dq", "median"} if pair else set())
            if pair:
                assert scores["dq"] == pytest.approx(abs(scores["q1"] - scores["q2"]))
                coarse = scores["dq"] > scores["median"]
                assert tags["context"] in ("Joint", "Compare-coarse" if coarse else "Compare-fine")

    def test_kinds_have_what_they_need(self, items: list[dict[str, Any]], hall: Gallery) -> None:
        kinds = {"Yes-or-No": "yesno", "What-How": "single", "Open-ended": "open"}
        assert {item["tags"]["question_type"] for item in items} == set(kinds)
        for item in items:
            assert item["kind"] == kinds[item["tags"]["question_type"]]
            assert bool(item.get("reference")) == (item["kind"] == "open")
            assert (
                len(item.get("options", [])) == {"yesno": 2, "single": 4, "open": 0}[item["kind"]]
            )
            if item["kind"] == "single":
                key = item["options"]["ABCD".index(item["answer"][0])]
                assert key == hall.critics.keys[item["question"]]

    def test_only_generated_videos_have_the_concern_of_generation(
        self, items: list[dict[str, Any]]
    ) -> None:
        for item in items:
            assert ("AIGC" in item["tags"]["concern"]) == (item["tags"]["content"] == "AIGC")

    def test_yes_and_no_are_balanced_by_asking_for_the_opposite(
        self, items: list[dict[str, Any]], hall: Gallery
    ) -> None:
        keys = Counter()
        for item in (item for item in items if item["kind"] == "yesno"):
            key = item["options"]["AB".index(item["answer"][0])]
            keys[key] += 1
            before = item["provenance"].get("negate", {}).get("negated_from")
            asked = before or item["question"]
            assert (key == hall.critics.keys[asked]) == (before is None)
            assert item["question"].endswith("low?" if before else "high?")
        assert abs(keys["Yes"] - keys["No"]) <= 1
        assert any("negate" in item["provenance"] for item in items)

    def test_a_video_is_in_one_split(self, items: list[dict[str, Any]]) -> None:
        splits: dict[str, set[str]] = {}
        for item in items:
            for media in item["media"]:
                splits.setdefault(media["path"], set()).add(item["tags"]["split"])
        assert all(len(each) == 1 for each in splits.values())
        assert {split for each in splits.values() for split in each} == {"dev", "test"}


class TestShown:
    def test_the_writer_sees_sixteen_lossless_frames_or_eight_and_eight(
        self, hall: Gallery, made: tuple[Path, Told]
    ) -> None:
        asked = [body for body in hall.critics.bodies if body["model"] == "writer"]
        singles = pairs = 0
        for body in asked:
            content = body["messages"][0]["content"]
            if len(content) == 1:
                continue  # a question to be negated
            kinds = "".join("p" if part["type"] == "image_url" else "t" for part in content)
            if kinds == "t" + "p" * 8 + "t" + "p" * 8 + "t":
                pairs += 1
                assert [p["text"] for p in content if p["type"] == "text"][:2] == [
                    "Video 1:",
                    "Video 2:",
                ]
            else:
                assert kinds == "p" * 16 + "t"
                singles += 1
            urls = [part["image_url"]["url"] for part in content if part["type"] == "image_url"]
            assert all(url.startswith("data:image/png") for url in urls)
        assert (singles, pairs) == (PARK + DREAM, PAIRS)

    def test_prompts_have_nothing_left_to_fill_in_and_no_score(
        self, hall: Gallery, made: tuple[Path, Told]
    ) -> None:
        for body in hall.critics.bodies:
            text = body["messages"][0]["content"][-1]["text"]
            assert "{{" not in text
            assert "park" not in text
            assert not re.search(r"\d\.\d", text)

    def test_reviewers_see_the_same_and_no_answer(
        self, hall: Gallery, made: tuple[Path, Told]
    ) -> None:
        reviews = [body for body in hall.critics.bodies if body["model"].startswith("reviewer")]
        assert {pictures(body) for body in reviews} == {16}
        turned = sum("negate" in item["provenance"] for item in lines(made[0] / "items.jsonl"))
        assert len(reviews) == 3 * (stage_of(made[0], "check")["out"] + turned)


class TestReview:
    def test_what_not_all_agree_on_is_left_out_with_how_many_did(
        self, hall: Gallery, made: tuple[Path, Told]
    ) -> None:
        left = [row for row in lines(made[0] / "rejects.jsonl") if row["stage"] == "agree"]
        assert left
        for row in left:
            assert row["reason"] == "reviewers do not all agree"
            is_open = row["row"]["kind"] == "open"
            against = "reference" if is_open else "key"
            assert row["detail"] == f"2 of 3 reviews agree with the {against}"
            assert len(row["words"]) == 3
        stage = stage_of(made[0], "agree")
        assert stage["rate"] == pytest.approx(len(left) / stage["in"], abs=1e-6)
        agreement = statistics(made[0])["agreement"]
        assert agreement["3 of 4"] == len(left)
        assert sum(agreement.values()) == stage["in"]

    def test_no_question_passes_unreviewed(self, items: list[dict[str, Any]]) -> None:
        for item in items:
            notes = item["provenance"]
            assert notes["review"]["right"] == notes["review"]["of"] == 3
            assert ("review-opposites" in notes) == ("negate" in notes)
        assert {item["kind"] for item in items} == {"yesno", "single", "open"}

    def test_an_opposite_that_reviewers_do_not_sign_is_left_out(
        self, hall: Gallery, made: tuple[Path, Told]
    ) -> None:
        out = Path(shutil.copytree(made[0], hall.root / "disputed-opposites"))
        hall.critics.instead = lambda model, prompt: (
            completion("A" if model == "reviewer-3" else "B") if "low?" in prompt else None
        )
        try:
            told = hall.make(out, *hall.words, "--set", "review-opposites.seeds=2")
        finally:
            hall.critics.instead = None
        assert told.status == 0, told.err
        left = [row for row in lines(out / "rejects.jsonl") if row["stage"] == "agree-opposites"]
        assert left
        assert all(row["row"]["question"].endswith("low?") for row in left)
        assert not any("negate" in item["provenance"] for item in lines(out / "items.jsonl"))

    def test_without_reviewers_every_question_waits_for_people(self, hall: Gallery) -> None:
        out = hall.root / "unreviewed"
        told = hall.make(out, *hall.words[:2])
        assert told.status == 1, told.err
        count = PARK + DREAM + PAIRS
        assert re.search(rf"{count} rows wait for people: .*reelbench review {out}\n", told.err)
        assert re.search(rf"Then resume: .*reelbench make qbench-video --out {out}\n", told.err)
        assert len(lines(out / "make" / "verify-waiting.jsonl")) == count
        assert not (out / "items.jsonl").exists()


class TestStatistics:
    def test_it_counts_what_there_is(self, made: tuple[Path, Told], items: list[Any]) -> None:
        found = statistics(made[0])
        assert found["datasets"]["park"]["there"] == 12
        assert [each["wanted"] for each in found["datasets"]["park"]["intervals"]] == [2] * 5
        assert sum(each["drawn"] for each in found["datasets"]["dream"]["intervals"]) == DREAM
        assert found["pairs"]["park"]["drawn"] == 4
        assert found["pairs"]["park"]["Compare-coarse"] == 2
        counted = Counter(item["tags"]["question_type"] for item in items)
        assert found["questions"]["question_type"] == counted

    def test_a_shortfall_is_on_the_page_in_the_file_and_said(
        self, hall: Gallery, tmp_path: Path
    ) -> None:
        source = tmp_path / "thin"
        source.mkdir()
        rows = "\n".join(f"v{n},{score}" for n, score in enumerate([1, 5, *[4.9] * 30]))
        (source / "s.csv").write_text(f"id,mos\n{rows}\n")
        (source / "datasets.yaml").write_text(
            "datasets: [{name: thin, type: CG, scores: s.csv, video: id, score: mos, sample: 15}]"
        )
        told = hall.make(tmp_path / "out", "--until", "pair", source=source)
        assert told.status == 0, told.err
        assert "warning: thin: not all intervals of scores have their share" in told.err
        assert "1 of 3 from 1 to 1.8, 0 of 3 from 1.8 to 2.6" in told.err
        intervals = statistics(tmp_path / "out")["datasets"]["thin"]["intervals"]
        assert [each["shortfall"] for each in intervals] == [2, 3, 3, 3, 0]
        page = (tmp_path / "out" / "made.html").read_text()
        assert "videos that the thin intervals of thin lack" in page
        assert "1 / 0 / 0 / 0 / 14" in page


class TestAgain:
    def test_a_second_run_asks_nothing_and_writes_the_same(
        self, hall: Gallery, made: tuple[Path, Told]
    ) -> None:
        again = hall.root / "again"
        shutil.copytree(made[0], again)
        told = hall.make(again, *hall.words)
        assert told.status == 0
        assert not told.calls
        assert bytes_of(again) == bytes_of(made[0])

    def test_rows_in_another_order_give_the_same_bytes(
        self, hall: Gallery, made: tuple[Path, Told]
    ) -> None:
        source = hall.root / "mixed" / "sources"
        shutil.copytree(hall.source, source)
        head, *rows = (source / "park.csv").read_text().splitlines()
        mixed = random.Random(3).sample(rows, len(rows))
        assert mixed != rows
        (source / "park.csv").write_text("\n".join([head, *mixed]) + "\n")
        scores = json.loads((source / "dream.json").read_text())
        (source / "dream.json").write_text(json.dumps(dict(reversed(scores.items()))))
        out = hall.root / "mixed" / "made"
        assert hall.make(out, *hall.words, source=source).status == 0
        assert bytes_of(out) == bytes_of(made[0])

    def test_another_seed_draws_others(self, hall: Gallery) -> None:
        drawn = []
        for seed in (1, 2):
            out = hall.root / f"seed-{seed}"
            assert hall.make(out, "--until", "pair", "--seed", seed).status == 0
            pairs = lines(out / "make" / "pair.jsonl")
            drawn.append({(row["id"], two["id"]) for row in pairs for two in row["partners"]})
        assert len(drawn[0]) == len(drawn[1]) == PAIRS
        assert drawn[0] != drawn[1]

    def test_another_video_under_the_same_name_is_asked_about_again(
        self, hall: Gallery, made: tuple[Path, Told]
    ) -> None:
        source, out = hall.root / "changed" / "sources", hall.root / "changed" / "made"
        shutil.copytree(hall.source, source)
        shutil.copytree(made[0], out)
        drawn = lines(made[0] / "items.jsonl")
        path = next(item["media"][0]["path"] for item in drawn if len(item["media"]) == 1)
        (source / path).unlink()  # or the copy would be written through its other name
        make_video(source / path, seconds=7, rate=5)
        told = hall.make(out, *hall.words, source=source)
        assert told.status == 0, told.err
        assert 1 <= told.calls["writer"] <= 4
        assert (out / path).read_bytes() == (source / path).read_bytes()

    def test_more_videos_cost_only_what_is_new(
        self, hall: Gallery, made: tuple[Path, Told]
    ) -> None:
        source, out = hall.root / "more" / "sources", hall.root / "more" / "made"
        shutil.copytree(hall.source, source)
        shutil.copytree(made[0], out)
        extra = source / "datasets.yaml"
        extra.write_text(
            extra.read_text()
            + "- {name: zoo, type: CG, scores: zoo.json, videos: dream, sample: 2, pairs: 0}\n"
        )
        (source / "zoo.json").write_text('{"dream0": 1, "dream5": 2}')
        told = hall.make(out, *hall.words, source=source)
        assert told.status == 0, told.err
        written = told.calls["writer"]
        assert 2 <= written <= 4  # two questions, and perhaps opposites of two


class TestWrong:
    def test_a_forecast_asks_nothing(self, hall: Gallery) -> None:
        out = hall.root / "never"
        told = hall.make(out, *hall.words, "--dry-run")
        assert told.status == 0, told.err
        assert not told.calls
        assert not out.exists()
        row = next(line for line in told.out.splitlines() if line.startswith("write "))
        assert re.split(r"\s{2,}", row)[1:5] == ["23", "23", "writer", "23"]
        assert any(line.startswith("review ") for line in told.out.splitlines())

    def test_a_writer_that_breaks_a_rule_is_told_and_then_rejected(
        self, hall: Gallery, tmp_path: Path
    ) -> None:
        bad = {
            "question": "What is wrong here, in this video?",
            "answer": "A strong blur that covers nearly all of the picture from its beginning on",
            "distractors": ["Noise", "Blocks", "Banding"],
            "concerns": ["Technical"],
            "reasoning": "It is seen.",
        }
        hall.critics.instead = lambda model, prompt: (
            completion(json.dumps(bad)) if model == "writer" and '"distractors"' in prompt else None
        )
        try:
            told = hall.make(tmp_path / "out", *UNREVIEWED, *hall.words[:2])
        finally:
            hall.critics.instead = None
        assert told.status == 0, told.err
        reasons = Counter(row["reason"] for row in lines(tmp_path / "out" / "rejects.jsonl"))
        what_how = sum(row == "What-How" for row in _ordered(tmp_path / "out"))
        natural = reasons["rule W2"]
        assert natural + reasons["not as asked for"] == what_how > 0
        assert natural > 0

    def test_a_concern_that_cannot_be_is_refused(self, hall: Gallery, tmp_path: Path) -> None:
        said = {"question": "Is the clarity of all that is seen high?", "answer": "Yes"}
        said |= {"concerns": ["AIGC"], "reasoning": "It is seen."}
        hall.critics.instead = lambda model, prompt: (
            completion(json.dumps(said)) if '"answer": "Yes"' in prompt else None
        )
        try:
            assert hall.make(tmp_path / "out", *UNREVIEWED, *hall.words[:2]).status == 0
        finally:
            hall.critics.instead = None
        rejected = [
            row for row in lines(tmp_path / "out" / "rejects.jsonl") if row["stage"] == "check"
        ]
        assert rejected
        assert {row["row"]["task"]["tags"]["content"] for row in rejected} == {"natural"}
        assert all("'AIGC' is not one of" in row["detail"] for row in rejected)

    def test_without_videos_the_sample_and_the_pairs_are_still_drawn(
        self, hall: Gallery, tmp_path: Path
    ) -> None:
        source = tmp_path / "sources"
        source.mkdir()
        shutil.copy(hall.source / "park.csv", source)
        text = "datasets: [{name: park, type: natural, scores: park.csv, video: id, score: mos}]"
        (source / "datasets.yaml").write_text(text)
        told = hall.make(tmp_path / "drawn", "--until", "pair", source=source)
        assert told.status == 0, told.err
        told = hall.make(tmp_path / "whole", *hall.words, source=source)
        assert told.status == 2
        assert "add `videos: FOLDER` to each in datasets.yaml" in told.err
        assert not told.calls

    def test_a_video_that_is_none_costs_its_own_questions_alone(
        self, hall: Gallery, tmp_path: Path
    ) -> None:
        source = tmp_path / "sources"
        shutil.copytree(hall.source, source)
        (source / "dream" / "dream3.mp4").write_bytes(b"no video")
        text = (source / "datasets.yaml").read_text().replace("sample: 6", "sample: 7")
        (source / "datasets.yaml").write_text(text)
        told = hall.make(tmp_path / "out", *hall.words, source=source)
        assert told.status == 0, told.err
        media = [
            row for row in lines(tmp_path / "out" / "rejects.jsonl") if row["reason"] == "media"
        ]
        assert media
        assert all("dream3" in row["id"] for row in media)


def _ordered(out: Path) -> list[str]:
    """The types of all questions that were ordered."""
    made = [row["tags"]["question_type"] for row in lines(out / "items.jsonl")]
    rejected = [row["row"] for row in lines(out / "rejects.jsonl") if row["stage"] == "check"]
    return [*made, *(row["task"]["tags"]["question_type"] for row in rejected)]
