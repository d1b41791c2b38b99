"""The organiser's desk: its numbers are right, and what is clicked there happens."""

import json
import re
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from review.serving import Browser, ServedReview, joined, local, served
from review.steps import ANN, BEN, BOSS, CAT, DAN, act, opened, take, verify
from support import make_item

from reelbench.data.benchmark import Benchmark
from reelbench.data.items import Item
from reelbench.review.candidates import import_candidates
from reelbench.review.desk import desk_figures
from reelbench.review.errors import ActionError
from reelbench.review.export import export_files
from reelbench.review.protocol import ReviewProtocol
from reelbench.review.review import Review

CHECK = ReviewProtocol("check", "verify", "Check", "benchmark", reviewers=2, failure_tags=("dull",))
CANDIDATES = ReviewProtocol("new", "verify", "New", "candidates")


def tagged(count: int) -> list[Item]:
    tags = ("counting", "order")
    return [make_item(n).replace(tags={"task": tags[n % 2]}) for n in range(1, count + 1)]


def decide(review: Review, person: Any, decisions: str) -> None:
    """Decide about items in their order: a accepts, k changes the key, e edits, r rejects."""
    bodies: dict[str, dict[str, Any]] = {
        "a": {"decision": "accept"},
        "k": {"decision": "change", "changes": {"answer": [0]}},
        "e": {"decision": "change", "changes": {"question": "Who?"}},
        "r": {"decision": "reject", "tags": ["dull"]},
    }
    for each in decisions:
        task = take(review, person, "check")
        body = dict(bodies[each])
        if each == "k":
            body["changes"] = {"answer": [task["options"].index("it snows")]}
        act(review, person, task, "answered", choice=[0], seconds=10)
        act(review, person, task, "verdict", seconds=30.0, **body)


class TestNumbers:
    def test_of_what_was_settled_are_counted_by_what_it_needed(self, tmp_path: Path) -> None:
        with opened(tmp_path, tagged(5), CHECK) as review:
            decide(review, ANN, "aakre")
            decide(review, BEN, "aakra")
            figures = desk_figures(review, [ANN, BEN])
        overall, *by_tag = figures.no_edit
        counts = (overall.unchanged, overall.key_only, overall.edited, overall.rejected)
        assert counts == (2, 1, 0, 1)
        assert overall.rate == 1.0
        assert {(each.tag, each.value) for each in by_tag} == {
            ("task", "counting"),
            ("task", "order"),
        }
        assert figures.rejected == [("dull", 1)]
        assert figures.shares == [("2 of 2", 4, 0.8), ("1 of 2", 1, 0.2)]
        assert [each.item for each in figures.disputes] == ["q-5"]
        (queue,) = figures.queues
        assert (queue.total, queue.settled, queue.disputed, queue.done) == (5, 4, 1, 10)
        assert (queue.left, queue.seconds, queue.per_day) == (1, 30.0, 10.0)
        assert queue.ready

    def test_the_gain_is_one_over_what_needs_an_edit(self, tmp_path: Path) -> None:
        with opened(tmp_path, tagged(6), replace(CHECK, reviewers=1)) as review:
            decide(review, ANN, "aaekar")
            overall, *by_tag = desk_figures(review, [ANN]).no_edit
            table = export_files(review)["manual-work.csv"]
        assert (overall.rate, overall.gain, overall.rejected) == (0.8, pytest.approx(5.0), 1)
        low, high = overall.gain_interval or (None, None)
        assert low is not None
        assert high is not None
        assert low < 5 < high
        assert (low, high) == pytest.approx([1 / (1 - end) for end in overall.interval or ()])
        unedited = [each for each in by_tag if each.rate == 1]
        assert [each.gain for each in unedited] == [None]
        rows = [line.split(",") for line in table.splitlines()]
        assert rows[1][:5] == ["", "", "5", "1", "0.8000"]
        assert rows[1][-1] == "5.00"
        means = [float(row[4]) for row in rows[2:] if row[1] != "mean of the values"]
        assert float(rows[-1][4]) == pytest.approx(sum(means) / len(means), abs=1e-4)

    def test_of_people_say_how_often_theirs_was_what_was_settled(self, tmp_path: Path) -> None:
        with opened(tmp_path, tagged(3), CHECK) as review:
            decide(review, ANN, "aar")
            decide(review, BEN, "aaa")
            decide(review, CAT, "a")
            figures = desk_figures(review, [ANN, BEN, CAT, DAN])
        by_name = {each.name: each for each in figures.people}
        assert (by_name["ann"].agreeing, by_name["ann"].decided) == (2, 3)
        assert (by_name["ben"].agreeing, by_name["cat"].decided) == (3, 1)
        assert (by_name["ann"].done, by_name["ann"].today, by_name["ann"].seconds) == (3, 3, 30.0)
        assert (by_name["dan"].done, by_name["dan"].decided) == (0, 0)

    def test_of_agreement_wait_for_two_people(self, tmp_path: Path) -> None:
        with opened(tmp_path, tagged(3), CHECK) as review:
            decide(review, ANN, "aar")
            (answers, decided) = desk_figures(review, []).agreement
            assert (answers.why_not, decided.coefficient) == ("too_few", None)
            decide(review, BEN, "ara")
            (_, decided) = desk_figures(review, []).agreement
            assert decided.coefficient is not None
            assert decided.coefficient.method == "cohen"


def test_an_item_that_was_left_open_can_be_given_to_others(tmp_path: Path) -> None:
    one = ReviewProtocol("check", "verify", "Check", "benchmark")
    with opened(tmp_path, tagged(1), one) as review:
        take(review, ANN, "check")
        assert review.next_task(BEN, "check") is None
        (claim,) = desk_figures(review, []).claims
        assert (claim.who, claim.item) == ("ann", "q-1")
        body = {"queue": "check", "item": "q-1", "who": "ann"}
        review.record(BOSS, "released", body)
        assert desk_figures(review, []).claims == []
        assert verify(review, BEN, "check")["item"] == "q-1"


class TestCandidates:
    def lines(self, *items: Any) -> bytes:
        return b"".join(
            json.dumps(each.to_record() if isinstance(each, Item) else each).encode() + b"\n"
            for each in items
        )

    def test_of_a_file_are_in_the_queue(self, tmp_path: Path) -> None:
        (tmp_path / "media").mkdir()
        for number in (1, 2):
            (tmp_path / "media" / f"{number}.mp4").write_bytes(b"x")
        with opened(tmp_path, [], CANDIDATES) as review:
            content = self.lines(make_item(1), make_item(2))
            assert import_candidates(review, BOSS, content, "c.jsonl") == 2
            assert import_candidates(review, BOSS, content, "c.jsonl") == 0
            assert list(review.queue("new").subjects()) == ["q-1", "q-2"]

    def test_with_anything_wrong_are_refused_and_every_bad_line_named(self, tmp_path: Path) -> None:
        (tmp_path / "media").mkdir()
        (tmp_path / "media" / "1.mp4").write_bytes(b"x")
        (tmp_path / "media" / "4.mp4").symlink_to("/etc/passwd")
        outside = make_item(3).to_record() | {"media": [{"path": "../3.mp4"}]}
        content = self.lines(make_item(1), make_item(2), outside, {"id": "x"}, make_item(4))
        with opened(tmp_path, [], CANDIDATES) as review:
            with pytest.raises(ActionError) as refused:
                import_candidates(review, BOSS, content, "c.jsonl")
            assert {each["line"] for each in refused.value.problems} == {"2", "3", "4", "5"}
            assert not review.queue("new").subjects()
        assert not list(tmp_path.glob("*partial*"))

    def test_may_not_take_the_id_of_another_item(self, tmp_path: Path) -> None:
        (tmp_path / "media").mkdir()
        (tmp_path / "media" / "1.mp4").write_bytes(b"x")
        with opened(tmp_path, [make_item(1)], CANDIDATES) as review, pytest.raises(ActionError):
            import_candidates(review, BOSS, self.lines(make_item(1)), "c.jsonl")


@pytest.fixture(scope="module")
def folder(small_demo: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return Path(shutil.copytree(small_demo / "benchmark", tmp_path_factory.mktemp("desk") / "b"))


@pytest.fixture(scope="module")
def running(folder: Path) -> Iterator[ServedReview]:
    with served(folder, "--local", "--protocol", "verify") as review:
        yield review


@pytest.fixture(scope="module")
def boss(running: ServedReview) -> Browser:
    return local(running)


def open_desk(page: Any, running: ServedReview) -> None:
    page.goto(running.link)
    page.goto(f"{running.address}/desk")


def test_an_invitation_is_shown_once_makes_an_account_and_can_be_revoked(
    page: Any, running: ServedReview, boss: Browser
) -> None:
    open_desk(page, running)
    rows = page.locator("#invitations tr", has_text="jazz, dance")
    for number in range(2):
        page.select_option("#invite-form select", "reviewer")
        page.fill("#invite-form input", "jazz, dance")
        page.click("#invite-form button")
        rows.nth(number).wait_for()
    link = page.input_value("#invite-link input")
    rows.first.locator("button").click()
    rows.nth(1).wait_for(state="detached")
    someone = joined(running.address, link, "<i>Eve</i>")
    assert someone.send("GET", "/desk")[0] == 403
    page.reload()
    row = page.locator('#people tr[data-person="<i>Eve</i>"]')
    assert row.locator("th").inner_text() == "<i>Eve</i>"  # a text, not an element
    row.locator("select").select_option("organiser")
    row.locator("[data-save]").click()
    page.locator("#message", has_text="Eve").wait_for()
    assert someone.send("GET", "/desk")[0] == 200
    row.locator("input[type=checkbox]").uncheck()
    row.locator("[data-save]").click()
    row.locator("[data-save][disabled]").wait_for()
    assert someone.send("GET", "/api/q/verify/task?item=x")[0] == 401
    assert boss.send("GET", "/desk")[0] == 200


def test_decisions_are_put_into_the_benchmark_after_a_look_at_what_changes(
    page: Any, running: ServedReview, boss: Browser, folder: Path
) -> None:
    before = Benchmark.load(folder).items
    for body in ({"decision": "reject", "tags": ["bad video"]},
                 {"decision": "change", "changes": {"question": "Who <b>is</b> it?"}}):  # fmt: skip
        task = boss.next("verify")
        assert task is not None
        assert boss.act(task, "answered", {"choice": [0]})[0] == 200
        assert boss.act(task, "verdict", body)[0] == 200
    open_desk(page, running)
    page.click("#apply")
    page.locator("#confirm[open]").wait_for()
    told = page.inner_text("#confirm-body")
    assert "1 items are changed" in told
    assert f"{len(before) - 1} items" in told
    page.click("#confirm-yes")
    page.locator("#message", has_text="items-before-").wait_for()
    after = Benchmark.load(folder).items
    assert len(after) == len(before) - 1
    assert "Who <b>is</b> it?" in [item.question for item in after]
    status, refused = boss.send("POST", "/api/desk/apply", {"digest": "of another look"})
    assert (status, "meanwhile" in refused["error"]) == (422, True)


def test_a_file_with_bad_lines_is_shown_with_all_of_them(
    page: Any, running: ServedReview, tmp_path: Path
) -> None:
    path = tmp_path / "candidates.jsonl"
    path.write_text('{"id": "a"}\nno json\n')
    open_desk(page, running)
    page.set_input_files("#import-form input", path)
    page.click("#import-form button")
    page.locator("#import-result tbody tr").first.wait_for()
    lines = page.locator("#import-result tbody tr td:first-child").all_inner_texts()
    assert set(lines) == {"1", "2"}


def test_only_organisers_change_things_and_get_exports(
    running: ServedReview, boss: Browser
) -> None:
    status, made = boss.send("POST", "/api/desk/invite", {"role": "annotator", "expertise": []})
    assert status == 200
    someone = joined(running.address, made["link"], "Nat")
    asked = {"invite": {"role": "organiser"}, "apply": {"digest": "x"}, "revoke": {"key": "x"},
             "person": {"name": "Nat", "role": "organiser", "expertise": [], "active": True},
             "release": {"queue": "verify", "item": "x", "who": "x"}}  # fmt: skip
    for name, body in asked.items():
        assert someone.send("POST", f"/api/desk/{name}", body)[0] == 403
    assert someone.send("POST", "/api/desk/import?name=x", {})[0] == 403
    for path in (
        "/desk",
        "/desk/numbers",
        "/desk/people",
        "/api/desk/plan",
        "/desk/export/events.csv",
    ):
        assert someone.send("GET", path)[0] == 403
    task = boss.next("verify")  # so that there is something to export
    assert task is not None
    boss.csrf, kept = "0" * 64, boss.csrf
    assert boss.send("POST", "/api/desk/revoke", {"key": "x"})[0] == 403
    boss.csrf = kept
    status, text = boss.send("GET", "/desk/export/events.jsonl")
    assert (status, json.loads(text.splitlines()[0])["seq"]) == (200, 1)
    assert boss.send("GET", "/desk/export/everything.zip")[0] == 200
    assert boss.send("GET", "/desk/export/../review/review.sqlite")[0] == 404
    page = boss.visit("/desk")
    assert re.findall(r" style=|<script>", page) == []
