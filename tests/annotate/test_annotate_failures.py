"""The annotate room's promise that what goes wrong costs itself alone."""

import pytest
from annotating import Given
from operators_for_tests import counts

FAILURES = {
    "raises": "KeyError: 'nothing of that name'",
    "refuses": "The weights are missing: fetch them.",
    "crashes": "the worker crashed (SIGKILL)",
    "exits": "the worker crashed (exit status 3)",
    "hangs": "the worker took over 4 s",
}
NO_JSON = ("gives-nan", "gives-infinity", "gives-a-set", "gives-numpy", "gives-bytes", "gives-a-lock")  # fmt: skip


class TestFailures:
    def test_what_fails_is_named_and_costs_itself_alone(self, given: Given) -> None:
        given.add(*(f"{name}.mp4" for name in FAILURES), "good 1.mp4", "good 2.mp4")
        found = given.annotate("odd", "on_odd", "helped", "plain", limit=4)
        told = {(clip, label): reason for clip, label, reason in found.failures}
        for name, reason in FAILURES.items():
            assert told.pop((f"{name}.mp4", "odd")) == reason
            assert told.pop((f"{name}.mp4", "on_odd")) == "it needs the label odd, which failed"
        assert not told
        for name in FAILURES:
            labels = given.labels(f"{name}.mp4")
            assert labels["odd"]["failed"] == FAILURES[name]
            assert labels["helped"]["value"] == {"helped": False}
            assert labels["plain"]["value"]["word"] == "x"
        for name in ("good 1.mp4", "good 2.mp4"):
            assert given.labels(name)["on_odd"]["value"] == {"fine": True}
            assert given.labels(name)["helped"]["value"] == {"helped": True}
        listed = {(f["clip"], f["label"]): f["reason"] for f in given.summary()["failures"]}
        assert listed == {(clip, label): reason for clip, label, reason in found.failures}
        assert not any("failed" in body for _, body in given.stored())

    @pytest.mark.parametrize("names", [NO_JSON, ("gives-mixed-keys",), ("raises-oddly",)], ids=str)
    def test_what_is_no_json_is_a_failure_and_is_not_kept(
        self, given: Given, names: tuple[str, ...]
    ) -> None:
        given.add(*(f"{name}.mp4" for name in names), "good.mp4")
        found = given.annotate("odd", "on_odd", "plain")
        failed = {(clip, label) for clip, label, _ in found.failures}
        assert failed == {(f"{name}.mp4", label) for name in names for label in ("odd", "on_odd")}
        assert given.labels("good.mp4")["on_odd"]["value"] == {"fine": True}
        for name in names:
            assert "value" in given.labels(f"{name}.mp4")["plain"]
        made = [maker for maker, _ in given.stored()]
        assert [made.count(label) for label in ("odd", "on_odd")] == [1, 1]

    def test_no_value_at_all_is_a_failure_too(self, given: Given) -> None:
        given.add("gives-nothing.mp4")
        found = given.annotate("odd", "on_odd")
        assert ("gives-nothing.mp4", "odd") in [failure[:2] for failure in found.failures]
        assert not given.stored()

    def test_what_failed_is_tried_again(self, given: Given) -> None:
        given.add("fails-once.mp4", "good.mp4")
        found = given.annotate("on_odd")
        assert [failure[:2] for failure in found.failures] == [
            ("fails-once.mp4", "odd"), ("fails-once.mp4", "on_odd")]  # fmt: skip
        again = given.annotate("on_odd")
        assert again.worked == 2
        assert not again.failures
        assert given.labels("fails-once.mp4")["on_odd"]["value"] == {"fine": True}

    def test_where_there_is_nothing_to_say_the_reason_is_said_and_kept(self, given: Given) -> None:
        given.add("has-nothing.mp4", "good.mp4")
        found = given.annotate("on_odd", "helped")
        assert not found.failures
        labels = given.labels("has-nothing.mp4")
        assert labels["odd"]["none"] == "it is empty"
        assert labels["on_odd"]["none"] == "odd: it is empty"
        assert labels["helped"]["value"] == {"helped": False}
        assert counts(given.clips)["on_odd"] == 1
        assert given.annotate("on_odd", "helped").worked == 0

    def test_the_command_says_what_failed_and_ends_with_1(
        self, given: Given, capsys: pytest.CaptureFixture[str]
    ) -> None:
        given.add("raises.mp4", "has-nothing.mp4", "good.mp4")
        assert given.command("odd,plain") == 1
        told = capsys.readouterr()
        assert [line.split() for line in told.out.splitlines()[1:]] == [
            ["odd", "1", "1", "1"], ["plain", "3", "0", "0"]]  # fmt: skip
        assert "raises.mp4: odd: KeyError: 'nothing of that name'" in told.err
        assert "1 label failed" in told.err
        assert "annotate.json names them" in told.err
        assert "Traceback" not in told.err
