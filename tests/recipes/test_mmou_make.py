"""MMOU through a local server: pairs of items, exact counts, what waits for people, what is dropped."""

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from mmou_actors import (
    CHECKERS,
    SEEN,
    WRITERS,
    OmniModels,
    Station,
    question_row,
    read_items,
    rejects,
    station,
    write_questions,
)
from servers import Reply

from reelbench.data.benchmark import Benchmark
from reelbench.lint import Severity, lint_benchmark
from reelbench.recipes import load_recipe

VIDEOS, QUESTIONS = 2, 15
CHECKED = ("--without", "quality-control")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Station, Path]]:
    """Thirty questions, made once for all tests that only look."""
    root = tmp_path_factory.mktemp("mmou")
    with station(root, OmniModels(), videos=VIDEOS, questions=QUESTIONS) as here:
        done = here.make(root / "bench", *here.roles(*WRITERS), *CHECKED)
        assert done.status == 0, done.err
        yield here, root / "bench"


def closed(bench: Path) -> list[dict[str, Any]]:
    return [item for item in read_items(bench) if item["kind"] == "single"]


class TestPairs:
    def test_every_question_is_two_linked_items(self, made: tuple[Station, Path]) -> None:
        items = {item["id"]: item for item in read_items(made[1])}
        assert len(items) == 2 * VIDEOS * QUESTIONS
        for item in closed(made[1]):
            opened = items[f"{item['id']}-open"]
            assert opened["kind"] == "open"
            assert (opened["pair"], item["pair"]) == (item["id"], item["id"])
            for field in ("question", "media", "evidence", "tags", "reference"):
                assert opened[field] == item[field]
            assert "options" not in opened

    def test_the_reference_is_what_the_author_answered_also_without_the_key(
        self, made: tuple[Station, Path]
    ) -> None:
        rows = [question_row(f"media/clip{v}.mp4", n) for v in range(2) for n in range(QUESTIONS)]
        answers = {row["question"]: row["answer"] for row in rows}
        for item in read_items(made[1]):
            assert item["reference"] == answers[item["question"]]

    def test_the_account_is_context_and_of_both_senses(self, made: tuple[Station, Path]) -> None:
        for item in read_items(made[1]):
            assert SEEN[0] in item["context"]["caption"]

    def test_the_benchmark_is_whole_and_has_no_serious_findings(
        self, made: tuple[Station, Path]
    ) -> None:
        benchmark = Benchmark.load(made[1])
        assert benchmark.manifest.protocol.orders == 5
        assert benchmark.manifest.protocol.rubric == "criteria"
        report = lint_benchmark(made[1], check_media=False)
        serious = {each.tag for each in report.findings if each.severity >= Severity.MEDIUM}
        assert serious == set()


class TestOptions:
    def test_none_of_the_above_comes_exactly_as_often_and_last(
        self, made: tuple[Station, Path]
    ) -> None:
        items = closed(made[1])
        having = [item for item in items if "None of the above" in item["options"]]
        assert all(item["options"][9] == "None of the above" for item in having)
        replaced = Counter(
            item["provenance"]["none-of-the-above"]["none_of_the_above"] for item in having
        )
        assert replaced == {"key": 4, "distractor": 4}  # 2 of 15 each, of 30

    def test_other_keys_stand_in_all_positions_alike(self, made: tuple[Station, Path]) -> None:
        items = closed(made[1])
        with_ten = [i for i in items if "None of the above" not in i["options"]]
        counts = Counter(item["answer"][0] for item in with_ten)
        assert sum(counts.values()) == 22
        assert set(counts.values()) == {2, 3}
        assert len(counts) == 10

    def test_fifteen_thousand_would_give_j_20_7_per_cent(self) -> None:
        share = 2_000 / 15_000
        stage = next(s for s in load_recipe("mmou").stages if s.name == "none-of-the-above")
        assert stage.parameters == {"as_key": share, "as_distractor": share}
        assert 2_000 + 11_000 / 10 == 3_100
        assert round(3_100 / 15_000, 3) == 0.207

    def test_the_origin_of_wrong_options_survives_shuffling(
        self, made: tuple[Station, Path]
    ) -> None:
        for item in closed(made[1]):
            notes = item["provenance"]["distract"]["distractors"]
            origin = {each["text"]: each["from_context"] for each in notes}
            assert Counter(origin.values()) == {True: 4, False: 5}
            wrong = {
                o for n, o in enumerate(item["options"]) if "ABCDEFGHIJ"[n] not in item["answer"]
            }
            assert wrong - {"None of the above"} <= set(origin)

    def test_a_second_make_asks_nothing_and_gives_the_same_bytes(
        self, made: tuple[Station, Path]
    ) -> None:
        here, bench = made
        before = (bench / "items.jsonl").read_bytes()
        done = here.make(bench, *CHECKED)
        assert (done.status, done.calls) == (0, Counter())
        assert (bench / "items.jsonl").read_bytes() == before


class TestStatistics:
    def test_tables_2_5_6_and_figure_3_are_on_the_page(self, made: tuple[Station, Path]) -> None:
        found = json.loads((made[1] / "statistics.json").read_text())
        numbers = found["numbers"]
        assert (numbers["videos"], numbers["questions"], numbers["skills"]) == (2, 30, 4)
        assert numbers["mean skills per question"] == 2
        coverage, positions, together = found["tables"]
        assert len(coverage["rows"]) == 35
        assert ["News", "World News", 2, 30, ""] in coverage["rows"]
        assert ["Film", "Plot Recaps", 0, 0, "none"] in coverage["rows"]
        assert sum(row[1] for row in positions["rows"]) == 30
        table = {
            row[0]: dict(zip(together["columns"][1:], row[1:], strict=True))
            for row in together["rows"]
        }
        asked = Counter(skill for item in closed(made[1]) for skill in item["tags"]["skills"])
        assert all(table[skill][skill] == asked[skill] for skill in table)
        assert all(table[a][b] == table[b][a] for a in table for b in table)
        page = (made[1] / "made.html").read_text()
        for title in (each["title"] for each in found["tables"]):
            assert f"<h3>{title}</h3>" in page


class TestPeople:
    def test_every_question_waits_for_a_second_person(self, tmp_path: Path) -> None:
        with station(tmp_path, OmniModels()) as here:
            out = tmp_path / "bench"
            done = here.make(out, *here.roles(*WRITERS))
            assert (done.status, done.calls) == (1, Counter())
            waiting = (out / "make" / "quality-control-waiting.jsonl").read_text().splitlines()
            assert len(waiting) == 4
            assert (out / json.loads(waiting[0])["media"][0]["path"]).is_file()
            names = [json.loads(line)["id"] for line in waiting]
            tags = ["weak audio-visual grounding"]
            verdicts = [{"item": name, "who": "bea", "decision": "accept"} for name in names]
            verdicts[0] |= {"decision": "reject", "tags": tags}
            lines = "".join(f"{json.dumps(each)}\n" for each in verdicts)
            (out / "verdicts.jsonl").write_text(lines)
            done = here.make(out)
            assert done.status == 0, done.err
            assert len(closed(out)) == 3
            (left_out,) = rejects(out)
            assert left_out["detail"] == tags[0]


class TestOneModality:
    def make(self, root: Path, knows: Any, *more: str) -> tuple[int, Path]:
        with station(root, OmniModels(knows=knows)) as here:
            done = here.make(root / "bench", *here.roles(*WRITERS, *CHECKERS), *CHECKED, *more)
        assert done.status == 0, done.err
        funnel = json.loads((root / "bench" / "funnel.json").read_text())
        rates = {stage["stage"]: stage["rate"] for stage in funnel["stages"] if "rate" in stage}
        return rates, root / "bench"

    def test_what_one_modality_solves_is_reported_by_default(self, tmp_path: Path) -> None:
        rates, bench = self.make(tmp_path, lambda model, *_: model == "watcher")
        assert {name: rate["value"] if isinstance(rate, dict) else rate for name, rate in rates.items()} == {
            "text-only": 0.0, "visual-only": 1.0, "audio-only": 0.0,
        }  # fmt: skip
        assert len(closed(bench)) == 4
        note = closed(bench)[0]["provenance"]["visual-only"]
        assert (note["right"], note["of"]) == (5, 5)
        assert note["flagged"] == "solved by pictures alone"

    def test_and_dropped_where_that_is_asked_for_and_reliably_solved(self, tmp_path: Path) -> None:
        def knows(model: str, question: str, prompt: str) -> bool:
            lucky = "number 1" in question and prompt.count("A. a g") > 0  # in few orders
            return model == "listener" and ("number 0" in question or lucky)

        _, bench = self.make(tmp_path, knows, "--set", "audio-only.drop=true")
        assert len(closed(bench)) == 2
        assert all("number 1" in item["question"] for item in closed(bench))
        assert {each["reason"] for each in rejects(bench)} == {"solved by sound alone"}


class TestBad:
    def test_a_writer_who_stays_wrong_costs_the_question_with_its_words(
        self, tmp_path: Path
    ) -> None:
        def instead(model: str, prompt: str) -> Reply | str | None:
            bad = model == "distractor" and "clip0 number 0" in prompt
            return '{"options": {"A": "nine of them"}}' if bad else None

        with station(tmp_path, OmniModels(instead=instead)) as here:
            done = here.make(tmp_path / "bench", *here.roles(*WRITERS), *CHECKED)
        assert done.status == 0, done.err
        assert len(closed(tmp_path / "bench")) == 3
        (left_out,) = rejects(tmp_path / "bench")
        assert (left_out["stage"], left_out["reason"]) == ("distract", "no good distractors")
        assert left_out["words"] == ['{"options": {"A": "nine of them"}}']

    def test_a_bad_file_stops_before_anything_is_asked(self, tmp_path: Path) -> None:
        with station(tmp_path, OmniModels()) as here:
            rows = [question_row("media/clip0.mp4", n) | {"skills": ["Luck"]} for n in range(2)]
            write_questions(here.source, rows)
            done = here.make(tmp_path / "bench", *here.roles(*WRITERS), *CHECKED)
        assert (done.status, done.calls) == (2, Counter())
        assert done.err.count("skills: found 'Luck'") == 2

    def test_a_forecast_counts_calls_and_asks_nobody(self, tmp_path: Path) -> None:
        with station(tmp_path, OmniModels()) as here:
            roles = here.roles(*WRITERS, *CHECKERS)
            done = here.make(tmp_path / "bench", *roles, *CHECKED, "--dry-run")
        assert (done.status, done.calls) == (0, Counter()), done.err
        assert "distractor" in done.out
