"""What people did becomes files: the same bytes for the same events, and each of use elsewhere."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest
from review.steps import ANN, BEN, BOSS, CAT, act, opened, right, take, verify
from support import make_item, run_here

from reelbench.data.benchmark import Benchmark
from reelbench.data.items import Item
from reelbench.data.verdicts import read_verdicts
from reelbench.review.agreements import live_agreement
from reelbench.review.apply import apply_decisions, decided_benchmark
from reelbench.review.decisions import decisions
from reelbench.review.errors import ChangedItemError
from reelbench.review.export import export_archive, export_files, write_export
from reelbench.review.people import Person
from reelbench.review.protocol import Axis, ReviewProtocol
from reelbench.review.records import rating_sets
from reelbench.review.review import Review
from reelbench.review.serve import ServeOptions, opened_review
from reelbench.review.verdict_file import write_verdicts

VERIFY = ReviewProtocol(
    "check", "verify", "Check", "benchmark", reviewers=2, failure_tags=("dull",)
)
ALONE = ReviewProtocol("check", "verify", "Check", "benchmark", failure_tags=("dull", "wrong key"))
RATE = ReviewProtocol(
    "rate", "rate", "Rate", "benchmark", reviewers=3, axes=(Axis("Quality"), Axis("=Need", 1, 3))
)
ANSWER = ReviewProtocol("test", "answer", "Test", "benchmark", condition="closed")


def questions(count: int) -> list[Item]:
    return [make_item(number) for number in range(1, count + 1)]


def decide(review: Review, person: Person, **by_item: dict[str, Any]) -> None:
    """Decide about all items of a queue, as said by item; what is not named is accepted."""
    while task := review.next_task(person, "check"):
        act(review, person, task, "answered", choice=[0])
        body = by_item.get(task["item"].replace("-", ""), {"decision": "accept"})
        act(review, person, task, "verdict", **body)


def lines(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def save(folder: Path, *items: Item) -> None:
    """Write the items of a benchmark anew, as an editor would."""
    Benchmark(folder, Benchmark.load(folder).manifest, items).save(folder)


class TestVerdicts:
    def test_are_written_of_what_is_settled_and_end_with_what_holds(self, tmp_path: Path) -> None:
        with opened(tmp_path, questions(3), VERIFY) as review:
            decide(review, ANN, q2={"decision": "reject", "tags": ["dull"], "comment": "so?"})
            assert "verdicts.jsonl" not in export_files(review)
            verify(review, BEN, "check")
            verify(review, BEN, "check")  # q-2, which is now disputed
            found = lines(export_files(review)["verdicts.jsonl"])
            assert [(each["item"], each["who"]) for each in found] == [
                ("q-1", "ann"), ("q-1", "ben"), ("q-1", "ann"),
            ]  # fmt: skip
            assert [each.get("settled", False) for each in found] == [False, False, True]
            verify(review, CAT, "check", "change", changes={"question": "Who?"})  # q-2
            task = review.task(BOSS, "check", "q-2")
            assert task["status"] == "discussion"
            act(review, BOSS, task, "resolved", decision="accept")
            path = tmp_path / "verdicts.jsonl"
            path.write_text(export_files(review)["verdicts.jsonl"])
            end = read_verdicts(path)["q-2"][-1]
            assert (end.who, end.decision, end.settled) == ("discussion", "accept", True)
            people = [(each.who, each.decision) for each in read_verdicts(path)["q-2"][:-1]]
            assert people == [("ann", "reject"), ("ben", "accept"), ("cat", "change")]

    def test_stay_when_the_item_has_gone_on(self, tmp_path: Path) -> None:
        with opened(tmp_path, questions(2), ALONE) as review:
            decide(review, ANN)
            before = export_files(review)["verdicts.jsonl"]
            save(tmp_path, make_item(2))
            assert list(review.queue("check").subjects()) == ["q-2"]
            assert export_files(review)["verdicts.jsonl"] == before

    def test_that_people_wrote_by_hand_are_kept(self, tmp_path: Path) -> None:
        path = tmp_path / "verdicts.jsonl"
        hand = '{"item": "q-9", "who": "eve", "decision": "accept", "comment": "a\u2028b"}'
        path.write_text(hand)
        ours = '{"item": "q-1", "who": "a", "decision": "accept", "queue": "check"}\n'
        assert write_verdicts(path, [ours])
        assert not write_verdicts(path, [ours])
        assert path.read_text() == f"{hand}\n{ours}"
        assert write_verdicts(path, [])
        assert path.read_text() == f"{hand}\n"


class TestTheDecidedBenchmark:
    def test_has_what_was_accepted_and_changed_and_says_who_decided(self, tmp_path: Path) -> None:
        with opened(tmp_path, questions(3), ALONE) as review:
            decide(
                review, ANN,
                q2={"decision": "change", "changes": {"question": "Who?"}},
                q3={"decision": "reject", "tags": ["wrong key", "dull"], "comment": "it is C"},
            )  # fmt: skip
            files = export_files(review)
            first, second = lines(files["benchmark/items.jsonl"])
            assert (first["id"], second["question"]) == ("q-1", "Who?")
            (noted,) = second["provenance"]["review"]
            assert noted["changes"] == {
                "question": {"before": "What happens in scene 2?", "after": "Who?"}
            }
            assert (noted["who"], noted["queue"]) == ("ann", "check")
            assert noted["protocol"] == ALONE.digest[:16]
            (reject,) = lines(files["rejects.jsonl"])
            assert (reject["id"], reject["tags"]) == ("q-3", ["wrong key", "dull"])
            assert reject["words"] == ["ann: it is C"]
            assert reject["row"]["question"] == "What happens in scene 3?"

    def test_replaces_the_one_in_the_folder_and_the_old_file_is_kept(self, tmp_path: Path) -> None:
        with opened(tmp_path, questions(4), ALONE) as review:
            before = (tmp_path / "items.jsonl").read_bytes()
            verify(review, ANN, "check", "change", changes={"question": "Who?"})
            verify(review, ANN, "check", "reject", tags=["dull"])
            made, kept = apply_decisions(review, BOSS)
            assert (made.changed, made.removed) == (["q-1"], ["q-2"])
            assert (tmp_path / kept).read_bytes() == before
            loaded = Benchmark.load(tmp_path)
            assert [item.id for item in loaded.items] == ["q-1", "q-3", "q-4"]
            assert not decided_benchmark(review).is_new
            assert decided_benchmark(review).outdated == []  # our own change is no edit
            assert [each["id"] for each in lines(export_files(review)["rejects.jsonl"])] == ["q-2"]
            verify(review, ANN, "check")
            made, _ = apply_decisions(review, BOSS)
            assert made.accepted == ["q-3"]
            (once,) = Benchmark.load(tmp_path).items[0].to_record()["provenance"]["review"]
            assert once["decision"] == "change"

    def test_leaves_an_item_alone_that_someone_edited_since(self, tmp_path: Path) -> None:
        with opened(tmp_path, questions(2), ALONE) as review:
            decide(review, ANN, q1={"decision": "change", "changes": {"answer": [0]}})
            edited = make_item(1, question="Edited by hand?")
            save(tmp_path, edited, make_item(2))
            made = decided_benchmark(review)
            assert (made.outdated, made.accepted) == (["q-1"], ["q-2"])
            assert made.items[0] == edited

    def test_waits_for_who_reviews_an_edited_item_again(self, tmp_path: Path) -> None:
        with opened(tmp_path, questions(1), VERIFY) as review:
            first = verify(review, ANN, "check")
            save(tmp_path, make_item(1, question="Edited by hand?"))
            with pytest.raises(ChangedItemError):
                act(review, ANN, first, "verdict", decision="accept")
            verify(review, BEN, "check")
            queue = review.queue("check")
            (subject,) = queue.subjects().values()
            assert queue.settlement(subject).status == "open"  # ann has seen another question
            assert review.task(ANN, "check", "q-1")["done"] is False
            verify(review, ANN, "check", "change", changes={"question": "Who?"})
            verify(review, CAT, "check", "reject", tags=["dull"])
            entries = review.task(BEN, "check", "q-1")["discussion"]
            earlier = [(each["who"], each["type"]) for each in entries if each["earlier"]]
            assert earlier == [("ann", "answered"), ("ann", "verdict")]
            save(tmp_path, make_item(1))
            assert queue.settlement(queue.subjects()["q-1"]).needed == 1  # ann's counts again

    def test_counts_what_it_changed_itself_as_decided(self, tmp_path: Path) -> None:
        with opened(tmp_path, questions(2), ALONE, ANSWER) as review:
            while task := review.next_task(BEN, "test"):
                act(review, BEN, task, "answered", choice=[0])
            verify(review, ANN, "check", "change", changes={"question": "Who?"})
            apply_decisions(review, BOSS)
            assert take(review, CAT, "check")["item"] == "q-2"
            assert len(lines(export_files(review)["predictions.jsonl"])) == 2
            (changed, _) = Benchmark.load(tmp_path).items
            assert changed.question == "Who?"
            save(tmp_path, changed.replace(question="Who then?"), make_item(2))
            assert len(lines(export_files(review)["predictions.jsonl"])) == 1
            verify(review, CAT, "check")
            assert verify(review, CAT, "check")["item"] == "q-1"
            found = lines(export_files(review)["verdicts.jsonl"])
            digests = {each["digest"] for each in found if each["item"] == "q-1"}
            assert len(digests) == 2  # a recipe may come by with either

    def test_takes_in_candidates_that_were_accepted(self, tmp_path: Path) -> None:
        candidates = ReviewProtocol(
            "check", "verify", "Check", "candidates", failure_tags=("dull",)
        )
        with opened(tmp_path, [], candidates) as review:
            records = [make_item(number).to_record() for number in (1, 2)]
            review.record(BOSS, "imported", {"items": records})
            verify(review, ANN, "check")
            verify(review, ANN, "check", "reject", tags=["dull"])
            made, kept = apply_decisions(review, BOSS)
            assert (made.added, kept) == (["q-1"], "")
            assert [item.id for item in Benchmark.load(tmp_path).items] == ["q-1"]


def test_the_command_exports_what_lint_accepts_and_score_puts_people_beside_models(
    benchmark: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    items = {item.id: item for item in Benchmark.load(benchmark).items}
    options = ServeOptions(protocols=("verify", "answer"))
    with opened_review(benchmark, options) as (review, *_):
        verify(review, BOSS, "verify")
        for person, is_right in ((ANN, True), (BEN, False)):
            while task := review.next_task(person, "answer"):
                places = right(items[task["item"]], task)
                wrong = [place for place in range(len(task["options"])) if place not in places]
                act(review, person, task, "answered", choice=places if is_right else wrong[:1])
    out = tmp_path / "out"
    assert run_here("review", benchmark, "--export", out) == 0
    written = capsys.readouterr().out.splitlines()
    assert str(out / "predictions.jsonl") in written
    assert run_here("lint", out / "benchmark") == 0
    model = tmp_path / "first.jsonl"
    rows = [{"id": name, "model": "first", "parsed": ["A"]} for name in items]
    model.write_text("".join(json.dumps(row) + "\n" for row in rows))
    scores = tmp_path / "scores.json"
    words = ["score", "--benchmark", benchmark, "--out", scores]
    words += ["--predictions", out / "predictions.jsonl", "--predictions", model]
    capsys.readouterr()
    assert run_here(*words) == 0
    told = capsys.readouterr()
    shares = {line.split()[0]: line.split()[2] for line in told.out.splitlines()[1:4]}
    assert (shares["human:ann"], shares["human:ben"]) == ("100.0%", "0.0%")
    assert "first" in shares
    assert "2 people; from 0.0% to 100.0% each; items answered:" in told.err


class TestHumanAnswers:
    def test_are_predictions_with_open_ones_as_replies_for_the_judge(self, tmp_path: Path) -> None:
        opening = make_item(2, kind="open", options=(), answer=(), reference="A dog barks.")
        with opened(tmp_path, [make_item(1), opening], ANSWER) as review:
            while task := review.next_task(ANN, "test"):
                own = task["kind"] == "open"
                body = {"written": "a dog"} if own else {"choice": right(make_item(1), task)}
                act(review, ANN, task, "answered", **body)
            first, second = lines(export_files(review)["predictions.jsonl"])
        assert (first["model"], first["condition"], first["parsed"]) == (
            "human:ann",
            "closed",
            ["B"],
        )
        assert sorted(first["permutation"]) == [0, 1, 2, 3]
        assert (second["response"], "parsed" in second) == ("a dog", False)

    def test_to_an_item_that_was_edited_since_are_left_out(self, tmp_path: Path) -> None:
        with opened(tmp_path, questions(1), ANSWER) as review:
            act(review, ANN, take(review, ANN, "test"), "answered", choice=[0])
            assert "predictions.jsonl" in export_files(review)
            save(tmp_path, make_item(1, answer=("C",)))
            assert "predictions.jsonl" not in export_files(review)


def rate_all(review: Review, *people: Person) -> None:
    for number, person in enumerate(people):
        while task := review.next_task(person, "rate"):
            place = int(task["item"].split("-")[1])
            rating = {"Quality": (place + number) % 6, "=Need": 1 + (place * number) % 3}
            act(review, person, task, "rated", rating=rating)


def test_live_agreement_is_what_the_command_says_of_the_exported_ratings(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    compared = 0
    with opened(tmp_path, questions(7), RATE, VERIFY) as review:
        rate_all(review, ANN, BEN, CAT)
        decide(review, ANN, q2={"decision": "reject", "tags": ["dull"]})
        decide(review, BEN, q3={"decision": "reject", "tags": ["dull"]})
        write_export(review, tmp_path / "out")
        live = [live_agreement(each) for each in rating_sets(review)]
    for each in live:
        assert each.coefficient is not None
        words = each.command.split()[1:]
        words[1] = str(tmp_path / "out" / each.ratings.file)
        assert run_here(*words, "--json") == 0
        (said,) = json.loads(capsys.readouterr().out)["coefficients"]
        assert said == each.coefficient.to_record()
        compared += 1
    names = [(each.ratings.name, each.coefficient and each.coefficient.method) for each in live]
    assert names == [
        ("answer", "cohen"),
        ("decision", "cohen"),
        ("Quality", "ac2"),
        ("=Need", "ac2"),
    ]
    assert compared == 4


def test_events_are_exported_whole_and_no_cell_is_a_formula(tmp_path: Path) -> None:
    hostile = Person("=HYPERLINK(1)", "annotator")
    with opened(tmp_path, questions(2), RATE) as review:
        rate_all(review, ANN, hostile)
        files = export_files(review)
        events = lines(files["events.jsonl"])
        assert [each["seq"] for each in events] == list(range(1, len(events) + 1))
        rows = list(csv.reader(io.StringIO(files["events.csv"])))
        assert len(rows) == len(events) + 1
        names = ("ratings/rate-Quality.csv", "ratings/rate-Need.csv", "events.csv")
        cells = [
            cell for name in names for row in csv.reader(io.StringIO(files[name])) for cell in row
        ]
        assert "'=HYPERLINK(1)" in cells
        assert not any(cell.startswith(("=", "+", "@")) for cell in cells)


def test_the_same_events_give_the_same_bytes(tmp_path: Path) -> None:
    with opened(tmp_path, questions(3), ALONE, RATE, ANSWER) as review:
        decide(review, ANN)
        rate_all(review, ANN, BEN)
        first, packed = export_files(review), export_archive(review)
        again = Review(tmp_path, [ANSWER, RATE, ALONE], review.database)
        assert export_files(again) == first
        assert export_archive(again) == packed
        assert list(decisions(again))
