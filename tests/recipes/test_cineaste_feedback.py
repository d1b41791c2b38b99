"""Phase 1: a reviewer proposes changes of prompts, people decide, and the next make is a round."""

import csv
import json
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from actors import on_stage, roles, tiny_videos, write_movie
from feedback_actors import HELP, SCRIPT, Reviewed
from filming import Studio, Told, lines, stage_of
from review.serving import local, served

from reelbench.data.benchmark import Benchmark

TWICE = ("--set", "independence.seeds=2", "--set", "independence.drop_at=2")
UNTIL = ("--limit", 20, "--until", "independence", *TWICE)
PROPOSED = ("cause-and-effect", "message-understanding", "state-changes", "visual-reasoning")
FILMS, QUESTIONS, SEEDS = 2, 4, 2


@dataclass
class Phase:
    """A make of phase 1 in a folder, with the user's prompts."""

    studio: Studio
    out: Path
    prompts: Path

    @property
    def actors(self) -> Reviewed:
        assert isinstance(self.studio.actors, Reviewed)
        return self.studio.actors

    def make(self, *more: object) -> Told:
        return self.studio.command("make", "cineaste", "--out", self.out, *more)

    def again(self) -> Told:
        return self.make("--prompts", self.prompts, *UNTIL)

    @property
    def changes(self) -> dict[str, dict[str, Any]]:
        return {each["id"]: each for each in lines(self.out / "prompt-changes" / "changes.jsonl")}

    @property
    def rounds(self) -> list[Mapping[str, str]]:
        with (self.out / "prompt-changes" / "rounds.csv").open() as file:
            return list(csv.DictReader(file))

    def text(self, prompt: str) -> str:
        return (self.prompts / f"{prompt}.md").read_text()

    def decide(self, *verdicts: Mapping[str, Any]) -> None:
        given = [json.dumps({"who": "ann", **each}) for each in verdicts]
        (self.out / "verdicts.jsonl").write_text("\n".join(given))

    def forget(self, *names: str) -> None:
        """Let the folder remember something no longer, as if it had never been said."""
        path = self.out / "make" / "make.json"
        record = part = json.loads(path.read_text())
        for name in names[:-1]:
            part = part[name]
        del part[names[-1]]
        path.write_text(json.dumps(record))

    def copied(self) -> "Phase":
        """The same in folders that may be changed."""
        out, prompts = self.studio.fresh("bench"), self.studio.fresh("prompts")
        shutil.copytree(self.out, out)
        shutil.copytree(self.prompts, prompts)
        return replace(self, out=out, prompts=prompts)


@pytest.fixture(scope="module")
def studio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Studio]:
    root = tmp_path_factory.mktemp("phase")
    actors = Reviewed(questions=QUESTIONS, shares={"fine": 0.3, "guessable": 0.6, "false": 0.1})
    videos = tiny_videos(root / "videos")
    for name in ("ash", "birch"):
        write_movie(root / "movies", name, videos)
    with on_stage(root, actors) as (server, words):
        yield Studio(root, actors, server, [*words, *roles(root, server.url, ["reviewer"])])


@pytest.fixture(scope="module")
def first(studio: Studio) -> tuple[Phase, Told]:
    """The first round, to be read and not to be changed."""
    phase = Phase(studio, studio.root / "bench", studio.root / "mine")
    told = studio.make(phase.out, "--prompts", phase.prompts, *UNTIL)
    assert told.status == 0, told.err
    return phase, told


@pytest.fixture
def phase(first: tuple[Phase, Told]) -> Phase:
    return first[0].copied()


class TestRoundOne:
    def test_each_prompt_whose_drafts_were_dropped_gets_one_proposal(
        self, first: tuple[Phase, Told]
    ) -> None:
        phase, told = first
        assert told.calls["reviewer"] == 5 + 1  # one was sent back
        assert sorted(phase.changes) == [f"{name}-r1" for name in PROPOSED]
        for name in PROPOSED:
            change = phase.changes[f"{name}-r1"]
            assert change["before"] == phase.text(name), "nothing is applied before people decide"
            assert HELP in change["after"]
            assert not any(draft["passed"] for draft in change["drafts"])
            assert {draft["id"] for draft in change["drafts"]} < set(change["read"])
            diff = (phase.out / "prompt-changes" / f"{name}-r1.diff").read_text()
            assert f"\n+++ b/{name}.md\n" in diff
            assert f"\n+- {HELP}" in diff
        assert "4 changes of prompts wait for people: reelbench review" in told.err
        assert "temporal-ordering.md was proposed: The questions are at fault." in told.err

    def test_a_proposal_that_loses_a_slot_is_sent_back(self, first: tuple[Phase, Told]) -> None:
        (complaint,) = first[0].actors.complaints
        assert "the slot {{rules}} is lost" in complaint
        assert "the slot {{laws}} is invented" in complaint
        assert "{{rules}}" in first[0].changes["visual-reasoning-r1"]["after"]

    def test_the_table_says_what_the_funnel_says(self, first: tuple[Phase, Told]) -> None:
        phase = first[0]
        counted = stage_of(phase.out, "independence")["by_category"]
        for row in phase.rounds:
            found = counted[row["category"]]
            assert (row["round"], row["drafts"]) == ("1", str(FILMS * QUESTIONS))
            assert (int(row["answered blind"]), int(row["passed"])) == (found["in"], found["out"])
            assert float(row["pass rate"]) == pytest.approx(1 - found["rate"], abs=1e-6)
            low, high = (1 - end for end in reversed(found["interval"]))
            assert (float(row["low"]), float(row["high"])) == pytest.approx((low, high), abs=1e-5)
        assert stage_of(phase.out, "feedback")["rejected"] == 0
        page = (phase.out / "made.html").read_text()
        assert "Rounds of the prompts" in page
        assert phase.rounds[0]["version"] in page

    def test_a_reviewer_reads_the_rules_the_drafts_and_how_they_did(
        self, first: tuple[Phase, Told]
    ) -> None:
        prompts = first[0].actors.prompts
        prompt = next(each for each in prompts if "benchmark about Cause and Effect" in each)
        assert "- C1. That one event causes the other" in prompt
        assert "{{context}}" in prompt, "slots are shown as they stand"
        row = next(row for row in first[0].rounds if row["prompt"] == "cause-and-effect")
        assert prompt.count("did not pass\n") == 8 - int(row["passed"])
        assert f"{row['passed']} passed (" in prompt

    def test_a_second_make_asks_nobody_and_says_the_same(self, first: tuple[Phase, Told]) -> None:
        phase, told = first
        folder = phase.out / "prompt-changes"
        names = ("rounds.csv", "changes.jsonl", "rounds.jsonl")
        before = [(folder / name).read_bytes() for name in names]
        again = phase.again()
        assert (again.status, again.calls) == (0, {})
        assert [(folder / name).read_bytes() for name in names] == before
        assert not (phase.out / "rounds.csv").exists(), "a quality loop writes its own there"
        assert told.err.split("warning: feedback")[1] in again.err

    def test_a_forecast_counts_a_call_for_each_prompt_and_writes_nothing(
        self, studio: Studio
    ) -> None:
        out = studio.fresh("never")
        told = studio.make(out, *UNTIL, "--dry-run")
        assert told.status == 0, told.err
        row = next(line.split() for line in told.out.splitlines() if line.startswith("feedback"))
        assert row[3:5] == ["reviewer", "5"]
        assert not out.exists()
        assert not told.calls


class TestDecisions:
    def test_people_decide_on_the_page_and_the_next_make_is_the_next_round(
        self, phase: Phase
    ) -> None:
        with served(phase.out, "--local") as review:
            ann = local(review)
            tasks = {}
            while task := ann.next("cineaste-prompts"):
                name = task["change"]["rounds"][-1]["prompt"]
                tasks[name] = task
                body = self.verdict(name, task)
                if body["decision"] == "change":
                    lost = {"reference": body["changes"]["reference"].replace("{{count}}", "Ten")}
                    status, said = ann.act(task, "verdict", {**body, "changes": lost})
                    assert (status, said["error"]) == (
                        422, "The prompt cannot be used like that: the slot {{count}} is lost.",
                    )  # fmt: skip
                assert ann.act(task, "verdict", body)[0] == 200
        assert sorted(tasks) == sorted(PROPOSED)
        before = phase.rounds
        dry = phase.make("--prompts", phase.prompts, *UNTIL, "--dry-run")
        assert "cause-and-effect-r1 was accepted and goes into" in dry.err
        assert HELP not in phase.text("cause-and-effect"), "a forecast writes nothing"

        told = phase.again()
        assert told.status == 0, told.err
        assert HELP in phase.text("cause-and-effect")
        assert "Let it be wrong." in phase.text("state-changes")
        assert SCRIPT not in phase.text("state-changes")
        assert (
            phase.text("message-understanding")
            == phase.changes["message-understanding-r1"]["before"]
        )
        states = {name: change["state"] for name, change in phase.changes.items()}
        assert states["cause-and-effect-r1"] == states["state-changes-r1"] == "applied"
        assert states["message-understanding-r1"] == "rejected"
        assert phase.changes["message-understanding-r1"]["comment"] == "It says nothing."
        # Drafts of two prompts are made again; who proposed what was rejected is told why.
        assert told.calls["writer"] == 3 * FILMS
        assert told.calls["blind"] == 3 * FILMS * QUESTIONS * SEEDS
        assert states["message-understanding-r1-2"] == "open"
        asked = [each for each in phase.actors.prompts if "(Rejected: It says nothing.)" in each]
        assert len(asked) == 1
        rows = {(row["prompt"], row["round"]): row for row in phase.rounds}
        assert len(rows) == len(before) + 3
        one, two = rows["cause-and-effect", "1"], rows["cause-and-effect", "2"]
        assert float(two["pass rate"]) == 1.0 > float(one["pass rate"])
        assert one["version"] != two["version"]
        assert one == {
            **next(row for row in before if row["prompt"] == one["prompt"]),
            "changes": "applied",
        }
        assert not phase.again().calls

    def verdict(self, name: str, task: dict[str, Any]) -> dict[str, Any]:
        if name == "message-understanding":
            return {"decision": "reject", "comment": "It says nothing."}
        if name == "state-changes":
            after = task["change"]["after"]
            assert SCRIPT in after
            text = after.replace(HELP, "Let it be wrong.").replace(f" {SCRIPT}", "")
            return {"decision": "change", "changes": {"reference": text}}
        return {"decision": "accept"}

    def test_an_edit_elsewhere_stays_and_one_of_the_same_lines_is_said(self, phase: Phase) -> None:
        names = ("cause-and-effect", "visual-reasoning", "state-changes")
        phase.decide(*({"item": f"{name}-r1", "decision": "accept"} for name in names[:2]))
        moved, rewritten, open_one = (phase.prompts / f"{name}.md" for name in names)
        moved.write_text(moved.read_text().replace("# Task", "# Your task"))
        for path in (rewritten, open_one):
            path.write_text(path.read_text().replace("- Take ", "- Rather take "))
        before = rewritten.read_text()
        told = phase.again()
        assert told.status == 0, told.err
        assert "# Your task" in moved.read_text()
        assert HELP in moved.read_text()
        assert rewritten.read_text() == before
        assert (
            "visual-reasoning-r1 was accepted and is not applied: visual-reasoning.md was edited "
            "since" in told.err
        )
        assert "state-changes-r1 is no longer offered: state-changes.md was edited" in told.err
        states = {name: change["state"] for name, change in phase.changes.items()}
        assert (states["visual-reasoning-r1"], states["state-changes-r1"]) == ("outdated",) * 2
        assert states["state-changes-r2"] == "open"  # from the drafts of the prompt as it is now

    def test_without_a_folder_of_prompts_what_was_accepted_waits(self, phase: Phase) -> None:
        phase.forget("prompts")
        phase.decide({"item": "cause-and-effect-r1", "decision": "accept"})
        told = phase.make(*UNTIL)
        assert "cause-and-effect-r1 was accepted and waits: name a folder" in told.err
        assert not told.calls
        assert phase.changes["cause-and-effect-r1"]["state"] == "accepted"
        told = phase.again()
        assert HELP in phase.text("cause-and-effect")
        assert told.calls["writer"] == FILMS
        assert phase.changes["cause-and-effect-r1"]["state"] == "applied"


class TestPhaseTwo:
    def test_what_was_accepted_is_used_and_the_reviewer_is_not_asked(self, phase: Phase) -> None:
        phase.decide({"item": "cause-and-effect-r1", "decision": "accept"})
        told = phase.make("--prompts", phase.prompts)
        assert told.status == 0, told.err
        assert "reviewer" not in told.calls
        assert "feedback" not in told.err
        assert HELP in phase.text("cause-and-effect")
        names = [
            each["stage"] for each in json.loads((phase.out / "funnel.json").read_text())["stages"]
        ]
        assert names[-4:] == ["independence", "veracity", "repair-shortcuts", "key-positions"]
        assert Benchmark.load(phase.out).items

    def test_without_a_reviewer_nothing_of_it_is_asked(self, phase: Phase) -> None:
        phase.forget("named", "reviewer")
        prompt = phase.prompts / "state-changes.md"
        prompt.write_text(prompt.read_text() + "\nThink of clothes.\n")
        before = phase.rounds
        told = phase.again()
        assert told.status == 0, told.err
        assert set(told.calls) == {"writer", "blind"}
        assert "feedback was left out: no model for role reviewer" in told.err
        assert phase.rounds == before
        assert (phase.out / "make" / "independence.jsonl").exists()


class TestFailures:
    def test_a_reviewer_that_is_down_is_asked_by_the_next_make(self, phase: Phase) -> None:
        shutil.rmtree(phase.out / "prompt-changes")
        prompt = phase.prompts / "state-changes.md"
        prompt.write_text(prompt.read_text() + "\nThink of clothes.\n")
        phase.actors.down = True
        try:
            told = phase.again()
        finally:
            phase.actors.down = False
        assert told.status == 1
        assert "in feedback: error: " in told.err
        assert "state-changes-r1" not in phase.changes
        assert sorted(phase.changes) == [f"{n}-r1" for n in PROPOSED if n != "state-changes"]
        again = phase.again()
        assert again.status == 0
        assert again.calls == {"reviewer": 1}

    def test_a_damaged_file_is_a_sentence(self, phase: Phase) -> None:
        path = phase.out / "prompt-changes" / "changes.jsonl"
        path.write_text(path.read_text() + "{\n")
        told = phase.again()
        assert told.status == 2
        assert f"{path}, line 5, is damaged" in told.err

    def test_a_filter_that_is_left_out_leaves_nothing_to_go_by(self, studio: Studio) -> None:
        told = studio.make(
            studio.fresh("never"), "--without", "independence", "--until", "veracity"
        )
        assert told.status == 2
        assert "--without independence --without feedback" in told.err

    def test_what_one_phase_has_not_can_be_left_out_of_it(self, studio: Studio) -> None:
        none = ("--without", "feedback", "--without", "repair-shortcuts")
        for until in ("check", "independence", None):
            end = ["--until", until] if until else []
            told = studio.make(studio.fresh("never"), "--dry-run", *none, *end)
            assert told.status == 0, told.err
            assert not any(name in told.out for name in none[1::2])
