"""Q-Bench-Video by people alone: they write, review and answer on the pages, and stand in its tables."""

import json
import re
import shutil
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from statistics import mean
from typing import Any

import pytest
from actors import said_to, write_card
from filming import Told, lines
from quality_actors import Critics, Gallery, gallery, write_datasets
from review.serving import Browser, joined, served
from servers import Reply, completion, serving
from support import run_here, wait_until

from reelbench.review.database import DATABASE_FILE, FOLDER, ReviewDatabase, sqlite_url
from reelbench.review.people import Accounts

REVIEWERS = ("Ann", "Ben", "Cy")
OPTIONS = ["Strong blur", "Heavy noise", "Visible blocks", "Slight flicker"]
VIDEOS, PAIRS = 6, 3
VERIFY, ANSWER = "qbench-video-verify", "qbench-video-answer"


@dataclass
class Town:
    """A benchmark of people's, and who they are; ``write`` and the like are what they do there."""

    hall: Gallery
    out: Path
    told: list[Told] = field(default_factory=list)
    tables: list[Any] = field(default_factory=list)  # of each make

    def make(self, *words: object) -> Told:
        self.told.append(self.hall.make(self.out, *words))
        path = self.out / "tables.json"
        self.tables.append(json.loads(path.read_text()) if path.exists() else [])
        return self.told[-1]


def enter(address: str, out: Path, name: str) -> Browser:
    """Make an account, or come back to it."""
    database = ReviewDatabase(sqlite_url(out / FOLDER / DATABASE_FILE))
    try:
        accounts = Accounts(database)
        if name not in {each.name for each in accounts.people()}:
            token = accounts.invite("annotator", "the test")
            return joined(address, f"/join/{token}", name)
        someone = Browser(address)
        someone.visit("/login")
        status, text = someone.submit("/login", name=name, password="a long password")
        assert status == 200, text
        return someone
    finally:
        database.close()


def write_all(someone: Browser, queue: str, first: int) -> int:
    """Write a question about each video or pair of a queue; return how many."""
    count = 0
    while task := someone.next(queue):
        number, kind = first + count, ("yesno", "single", "open")[count % 3]
        pair = len(task["media"]) > 1
        question = {"kind": kind, "question": f"Is the clarity of take {number} high?"}
        if kind == "yesno":
            question |= {"options": ["Yes", "No"], "answer": ["A"]}
        elif kind == "single":
            question["question"] = f"What is wrong with take {number}?"
            question |= {"options": OPTIONS, "answer": ["B"]}
        else:
            question["question"] = f"Why does take {number} look as it does?"
            question["reference"] = "There is heavy noise, which hides its outline."
        context = ("Compare-coarse" if number % 2 else "Joint") if pair else "Global"
        question["tags"] = {"concern": ["Technical"], "context": [context]}
        status, answer = someone.act(task, "wrote", {"item": question, "watched": False})
        assert status == 422, "nothing is saved of a video that was not watched"
        status, answer = someone.act(task, "wrote", {"item": question, "watched": True})
        assert status == 200, answer
        assert someone.act(task, "finished", {"watched": True})[0] == 200
        count += 1
        assert (task["previous"] is None) == (count == 1)
    return count


def review_all(someone: Browser, against: str = "") -> int:
    """Review all that is in the queue; who is ``against`` a question has another answer."""
    count = 0
    while task := someone.next(VERIFY):
        assert "reveal" not in task
        body: dict[str, Any] = {"watched": True}
        body |= {"written": "Noise."} if task["kind"] == "open" else {"choice": [0]}
        status, answer = someone.act(task, "answered", body)
        assert status == 200, answer
        assert answer["reveal"]["answer"] or answer["reveal"]["reference"]
        wrong = bool(against) and against in task["question"]
        verdict = (
            {"decision": "reject", "tags": ["key is wrong"]} if wrong else {"decision": "accept"}
        )
        assert someone.act(task, "verdict", {"watched": True, **verdict})[0] == 200
        count += 1
    return count


@pytest.fixture(scope="module")
def town(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Town]:
    """A make that waits for people to write, to review, and to review what was turned."""
    with gallery(tmp_path_factory.mktemp("town"), Critics(), reviewers=()) as hall:
        park = {"name": "park", "type": "natural", "scores": "park.csv", "video": "id"}
        park |= {"score": "mos", "videos": "park", "sample": 4, "pairs": 2}
        dream = {"name": "dream", "type": "AIGC", "scores": "dream.json", "videos": "dream"}
        write_datasets(hall.source, park, {**dream, "sample": 2, "pairs": 1})
        town = Town(hall, hall.root / "bench")
        town.make()
        with served(town.out) as server:
            eva = enter(server.address, town.out, "Eva")
            assert write_all(eva, "qbench-video-write", 1) == VIDEOS
            assert write_all(eva, "qbench-video-write-pair", VIDEOS + 1) == PAIRS
            assert eva.next(VERIFY) is None, "what was written goes through the recipe first"
        town.make()
        with served(town.out) as server:
            ann, ben, cy = (enter(server.address, town.out, name) for name in REVIEWERS)
            assert enter(server.address, town.out, "Eva").next(VERIFY) is None, "they are her own"
            assert review_all(ann) == review_all(ben) == VIDEOS + PAIRS
            wait_until((town.out / "verdicts.jsonl").parent.exists)
            town.make()  # while the third has still to review
            assert review_all(cy, against="take 3 ") == VIDEOS + PAIRS
        card = hall.words[1].partition("=")[2]
        town.make("--model", f"rewriter={card}")
        with served(town.out) as server:
            everyone = [enter(server.address, town.out, name) for name in REVIEWERS]
            turned = {review_all(each) for each in everyone}
        assert turned == {1}
        town.make()
        yield town


def waits(told: Told, count: int, out: Path) -> None:
    """Check what a make says that stopped for people."""
    assert told.status == 1
    assert re.search(rf"{count} rows? waits? for people: .*reelbench review {out}\n", told.err)
    assert re.search(rf"Then resume: .*reelbench make qbench-video --out {out}\n", told.err)


class TestMake:
    def test_it_says_how_many_wait_for_people_and_the_next_command(self, town: Town) -> None:
        waits(town.told[0], VIDEOS + PAIRS, town.out)
        waits(town.told[1], VIDEOS + PAIRS, town.out)
        waits(town.told[2], VIDEOS + PAIRS, town.out)
        assert f"verify: {VIDEOS + PAIRS} items in" in town.told[2].err
        assert "verify-opposites: 1 item in" in town.told[3].err
        assert town.told[4].status == 0, town.told[4].err
        assert not any(each.calls["writer"] for each in town.told[:3])

    def test_every_question_was_reviewed_by_three_and_turned_ones_again(self, town: Town) -> None:
        items = lines(town.out / "items.jsonl")
        assert {item["kind"] for item in items} == {"yesno", "single", "open"}
        assert len(items) == VIDEOS + PAIRS - 1
        for item in items:
            notes = item["provenance"]
            assert notes["author"] == "Eva"
            for stage in (
                "verify",
                *(["verify-opposites"] if "negate" in notes else []),
            ):
                people = {each["who"] for each in notes[stage] if not each.get("settled")}
                assert people == set(REVIEWERS)
            assert ("verify-opposites" in notes) == ("negate" in notes)
        keys = [item["answer"][0] for item in items if item["kind"] == "yesno"]
        assert sorted(keys) == ["A", "A", "B"]

    def test_what_not_all_agree_on_is_left_out_with_the_reason(self, town: Town) -> None:
        (left,) = [row for row in lines(town.out / "rejects.jsonl") if row["stage"] == "verify"]
        assert (left["reason"], left["detail"]) == ("rejected by people", "not all agree")
        assert "take 3 " in left["row"]["question"]

    def test_how_many_agree_stands_beside_the_shares_of_the_paper(self, town: Town) -> None:
        tables = {each["title"].partition(": ")[0]: each for each in town.tables[-1]}
        first, turned = tables["verify"], tables["verify-opposites"]
        columns = ["agree", "questions", "share", "95% interval", "published"]
        assert first["columns"] == columns
        assert turned["columns"] == columns[:-1], "the paper did not review them again"
        found = {row[0]: (row[1], row[2], row[4]) for row in first["rows"]}
        assert found == {
            "4 of 4": (8, "88.9%", "85.1%"),
            "3 of 4": (1, "11.1%", "10.2%"),
            "2 of 4": (0, "0.0%", "4.7%"),
        }
        assert [row[:3] for row in turned["rows"]] == [["4 of 4", 1, "100.0%"]]

    def test_what_people_say_of_a_question_is_in_its_tags(self, town: Town) -> None:
        kinds = {"yesno": "Yes-or-No", "single": "What-How", "open": "Open-ended"}
        for item in lines(town.out / "items.jsonl"):
            scores, tags = item["provenance"]["scores"], item["tags"]
            assert tags["question_type"] == kinds[item["kind"]]
            assert tags["concern"] == ["Technical"]
            if len(item["media"]) == 1:
                assert tags["context"] == "Global"
            elif tags["context"] != "Joint":  # that is a fact, and not what the writer chose
                coarse = scores["dq"] > scores["median"]
                assert tags["context"] == ("Compare-coarse" if coarse else "Compare-fine")


def test_what_people_wrote_stays_when_a_model_is_to_write_the_rest(town: Town) -> None:
    out = Path(shutil.copytree(town.out, town.hall.root / "the-rest"))
    kept = (out / "items.jsonl").read_bytes()
    writer = ["--model", f"writer={town.hall.words[1].partition('=')[2]}"]
    told = town.hall.make(out, *writer)
    assert (told.status, told.calls["writer"]) == (0, 0), told.err
    assert (out / "items.jsonl").read_bytes() == kept
    written = (out / "written.jsonl").read_text().splitlines(True)
    (out / "written.jsonl").write_text("".join(written[1:]))
    told = town.hall.make(out, *writer)
    assert told.calls["writer"] == 1
    (waiting,) = lines(out / "make" / "verify-waiting.jsonl")
    assert "author" not in waiting["provenance"]


def test_what_was_put_into_the_file_by_hand_is_checked(town: Town, tmp_path: Path) -> None:
    out = tmp_path / "by-hand"
    told = town.hall.make(out)
    first, second, third, *_ = lines(out / "make" / "write-waiting.jsonl")

    def item(task: dict[str, Any], **fields: Any) -> dict[str, Any]:
        media = [{"path": each["path"]} for each in task["media"]]
        return {"id": task["id"], "media": media, "question": "Why?", **fields,
                "provenance": {"task": task["id"], "author": "ann"}}  # fmt: skip

    several = {"kind": "multi", "options": ["a", "b", "c"], "answer": ["A", "B"]}
    opened = {"kind": "open", "reference": "It is noisy."}
    written = [
        item(first, **several),
        item(second, **opened, tags={"context": "Sideways", "concern": ["Technical"]}),
        item(third, **opened, tags={"context": "Global"}),
    ]
    (out / "written.jsonl").write_text("".join(json.dumps(each) + "\n" for each in written))
    told = town.hall.make(out)
    assert told.status == 1
    rejects = {row["id"]: row for row in lines(out / "rejects.jsonl") if row["stage"] != "sample"}
    assert {rejects[each["id"]]["reason"] for each in (first, second, third)} == {
        "not as asked for"
    }
    assert "is multi" in rejects[first["id"]]["detail"]
    assert "about Sideways" in rejects[second["id"]]["detail"]
    assert "[] should be non-empty" in rejects[third["id"]]["detail"], "it has no concern"
    with (out / "written.jsonl").open("a") as file:
        file.write('{"id": "half\n')
    told = town.hall.make(out)
    assert told.status == 2
    assert "written.jsonl:4" in told.err


def answer_some(someone: Browser, name: str, most: int) -> None:
    """Answer as in the test of people: options where there are some, else the text box."""
    for _ in range(most):
        task = someone.next(ANSWER)
        if task is None:
            return
        place = _number(name, task["question"]) % max(1, len(task["options"]))
        own = task["kind"] == "open"
        body = (
            {"written": f"{name} sees noise in {task['question']}"} if own else {"choice": [place]}
        )
        assert someone.act(task, "answered", {"watched": True, **body})[0] == 200


def grade(text: str) -> int:
    """What the judge gives a reply."""
    return _number(text) % 3


def _number(*words: str) -> int:
    return sum(map(ord, "".join(words)))


def played(body: Mapping[str, Any], _number: int) -> Reply:
    """Two models, and the judge of models and people."""
    prompt = said_to(body)
    if found := re.search(r"<reply>\n(.*)\n</reply>", prompt, re.DOTALL):
        return completion(json.dumps({"reason": "It fits.", "score": grade(found[1])}))
    is_open = not re.search(r"^A\. ", prompt, re.M)
    return completion("It is noise." if is_open else "B" if body["model"] == "m1" else "A")


@dataclass
class Exam:
    """A run of two models, the answers of people, and what scoring them together came to."""

    run: Path
    people: Path
    judge: Path
    asked: list[int]  # of the judge: by the run, by the scoring, by the report, by another scoring
    scores: dict[str, Any]
    told: str


@pytest.fixture(scope="module")
def exam(town: Town, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Exam]:
    folder = tmp_path_factory.mktemp("exam")
    with served(town.out) as server:
        for name, most in zip(REVIEWERS, (99, 5, 3), strict=True):
            answer_some(enter(server.address, town.out, name), name, most)
    assert run_here("review", town.out, "--export", folder / "reviewed") == 0
    people = folder / "reviewed" / "predictions.jsonl"
    with serving(played) as server:
        cards = {name: write_card(folder, name, server.url) for name in ("m1", "m2", "judge")}
        run, asked = folder / "run", []
        beside = ["--predictions", people, "--judge", cards["judge"]]

        def command(*words: object) -> int:
            before = len(server.requests)
            status = run_here(*words)
            asked.append(sum(each["model"] == "judge" for each in server.requests[before:]))
            return status

        models = ["--model", cards["m1"], "--model", cards["m2"]]
        assert command("run", town.out, *models, "--judge", cards["judge"], "--out", run) == 0
        own = (run / "scores.json").read_bytes() if (run / "scores.json").exists() else b""
        out = ["--out", folder / "with-people.json"]
        assert command("score", run, *beside, *out, "--tables", folder / "tables") == 0
        assert command("report", run, *beside) == 0
        assert command("score", run, *beside) == 0
        if own:
            assert (run / "scores.json").read_bytes() == own, "it is of the run alone"
        scores = json.loads((folder / "with-people.json").read_text())
        yield Exam(run, people, cards["judge"], asked, scores, "")


class TestHumanRow:
    def test_open_answers_are_graded_once_by_the_judge_of_the_models(self, exam: Exam) -> None:
        written = [row for row in lines(exam.people) if row.get("response")]
        assert written
        assert exam.asked[1:] == [5 * len({row["response"] for row in written}), 0, 0]

    def test_it_stands_beside_the_models_as_an_own_computation_has_it(
        self, town: Town, exam: Exam
    ) -> None:
        """Each item once, worth its mean over those who answered it; the rest is not guessed."""
        items = {item["id"]: item for item in lines(town.out / "items.jsonl")}
        given: dict[str, list[float]] = defaultdict(list)
        for row in lines(exam.people):
            item = items[row["id"]]
            right = float(row.get("parsed") == item["answer"]) if item["kind"] != "open" else 0.0
            given[row["id"]].append(grade(row["response"]) / 2 if item["kind"] == "open" else right)
        checked = 0
        for table in exam.scores["tables"]:
            (human,) = [row for row in table["rows"] if "participants" in row]
            assert human["participants"] == 3
            assert {row["model"] for row in table["rows"]} == {"people", "m1", "m2"}
            for column, cell in zip(table["columns"], human["cells"], strict=True):
                wants = {**table["where"], **column["of"]}
                fits = [
                    name
                    for name, item in items.items()
                    if all(
                        set(listed(item["tags"][tag])) & set(listed(want))
                        for tag, want in wants.items()
                    )
                ]
                values = [mean(given[name]) for name in fits if name in given]
                assert (cell["items"], cell["covered"]) == (len(fits), len(values))
                assert cell["value"] == (round(mean(values), 6) if values else None)
                checked += bool(values)
        assert checked > 10

    def test_the_mean_of_participants_is_of_what_each_answered(
        self, town: Town, exam: Exam
    ) -> None:
        items = {item["id"]: item for item in lines(town.out / "items.jsonl")}
        shares: dict[str, list[bool]] = defaultdict(list)
        for row in lines(exam.people):
            if items[row["id"]]["kind"] != "open":
                shares[row["model"]].append(row["parsed"] == items[row["id"]]["answer"])
        (found,) = exam.scores["humans"]
        means = [mean(each) for each in shares.values()]
        assert found["accuracy"] == round(mean(means), 6)
        assert found["range"] == [round(min(means), 6), round(max(means), 6)]
        ranked = {row["model"] for row in exam.scores["results"]}
        assert ranked == {"m1", "m2", "human:Ann"}, "who left questions out is not ranked"

    def test_another_judge_than_that_of_the_run_is_refused(
        self, exam: Exam, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        other = write_card(tmp_path, "other", "http://127.0.0.1:9/v1")
        words = ["score", exam.run, "--predictions", exam.people, "--judge", other]
        assert run_here(*words) == 2
        assert (
            "The run was graded by judge: name that judge with --judge" in capsys.readouterr().err
        )

    def test_without_a_judge_open_answers_are_left_out_and_said(
        self, exam: Exam, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert run_here("score", exam.run, "--predictions", exam.people, "--json") == 0
        said = capsys.readouterr()
        assert re.search(
            r"\d open answers in --predictions without a grade: add --judge judge\.", said.err
        )
        tables = {table["name"]: table for table in json.loads(said.out)["tables"]}
        for table in tables.values():
            (human,) = [row for row in table["rows"] if "participants" in row]
            opened = [each["open"] for each in table["columns"]]
            for cell, count in zip(human["cells"], opened, strict=True):
                assert cell["covered"] <= cell["items"] - count

    def test_a_model_that_the_run_has_itself_is_refused(
        self, exam: Exam, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        row = {**lines(exam.people)[0], "model": "m1", "condition": "protocol"}
        (tmp_path / "twice.jsonl").write_text(json.dumps(row) + "\n")
        assert run_here("score", exam.run, "--predictions", tmp_path / "twice.jsonl") == 2
        assert "The run has predictions of m1 under protocol already" in capsys.readouterr().err

    def test_the_page_has_the_row_in_its_tables(self, exam: Exam) -> None:
        page = (exam.run / "report-with-predictions.html").read_text()
        assert page.count("Human, 3 participants") >= len(exam.scores["tables"])
        assert "predictions.jsonl, sha256" in page


def listed(value: Any) -> list[Any]:
    """Return the values of a tag, or of what a column asks for."""
    return value if isinstance(value, list) else [value]
