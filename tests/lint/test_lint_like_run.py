"""Whatever a run refuses, the linter finds; nothing is passed over in silence."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from support import make_item, run_here

from reelbench.data.items import freeze
from reelbench.lint import Severity, lint_benchmark

Save = Callable[..., Path]
RECORD = json.loads(make_item(1).to_line())


def line(**changes: object) -> str:
    """A line of items.jsonl with some fields changed, or left out where they are None."""
    record = {**RECORD, **changes}
    return json.dumps({name: value for name, value in record.items() if value is not None})


HEAD = "name: x\nversion: '1'\n"
# Of each: the manifest, and the items.
REFUSED = {
    "no line of ours, and no name": ("version: '1'\n", line(kind=None)),
    "no line of ours": (HEAD, line(kind=None)),
    "another format": (HEAD, '{"question": "What?", "choices": ["a", "b"], "answer": 0}'),
    "another format and rubbish": (HEAD, '{"question": "?", "choices": ["a", "b"], "answer": 0}\nx'),
    "a list": (HEAD, f"[{line()}]"),
    "a blank file": (HEAD, "\n\n"),
    "an empty file": (HEAD, ""),
    "a misspelt question": (HEAD, line(question=None, qestion="What?")),
    "a misspelt answer": (HEAD, line(answer=None, anwser=["A"])),
    "one bad line": (HEAD, line() + "\n" + line(id="q-2", answer=["Z"])),
    "a manifest that is not there": (None, line()),
    "a manifest that is no YAML": ("name: x\n\tversion: 1\n", line()),
    "a misspelt protocol": (HEAD + "protocl: {orders: 2}\n", line()),
    "no sampling": (HEAD + "protocol: {sampling: evenly}\n", line()),
    "a number for a sampling": (HEAD + "protocol: {sampling: 16}\n", line()),
    "no size": (HEAD + "protocol: {frame_size: big}\n", line()),
    "no encoding of frames": (HEAD + "protocol: {frame_encoding: bmp}\n", line()),
    "no encoding of sound": (HEAD + "protocol: {sound_encoding: flac9}\n", line()),
    "no prompt": (HEAD + "protocol: {prompt: mine}\n", line()),
    "a condition without a sampling": (HEAD + "conditions: {few: {sampling: some}}\n", line()),
    "a condition of nothing": (HEAD + "conditions: {few: {sampel: some}}\n", line()),
    "splits": (HEAD + "splits: {dev: {}}\n", line()),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_what_a_run_refuses_is_critical(
    case: str, save: Save, capsys: pytest.CaptureFixture[str]
) -> None:
    manifest, items = REFUSED[case]
    root = save(make_item(1))
    (root / "items.jsonl").write_text(items)
    (root / "benchmark.yaml").unlink()
    if manifest is not None:
        (root / "benchmark.yaml").write_text(manifest)
    named = ["--condition", "few"] if "few" in str(manifest) else []
    run = ["run", root, "--model", "baseline:random", "--out", root / "run", *named, "--dry-run"]
    assert run_here(*run) == 2
    assert "Traceback" not in capsys.readouterr().err
    assert lint_benchmark(root, check_media=False).worst == Severity.CRITICAL
    assert run_here("lint", root, "--no-media") == 1


def test_a_file_in_another_format_names_what_it_cannot_read(tmp_path: Path) -> None:
    good = '{"question": "What?", "choices": ["a", "b"], "answer": 0}'
    lines = [good, '{"question": "No options?"}', "not json", "", good]
    (tmp_path / "theirs.jsonl").write_text("\n".join(lines))
    report = lint_benchmark(tmp_path / "theirs.jsonl")
    found = [(f.line, f.severity) for f in report.findings if f.tag == "BAD_FIELD"]
    assert found == [(2, Severity.CRITICAL), (3, Severity.CRITICAL)]
    assert report.items == 2


def test_a_misspelt_field_is_a_finding_of_its_item(save: Save) -> None:
    root = save(make_item(1), make_item(2, extra=freeze({"evidnce": [[1, 2]]})))
    (finding,) = lint_benchmark(root, check_media=False).findings
    assert (finding.tag, finding.item, finding.line) == ("UNKNOWN_FIELD", "q-2", 2)
    assert "'evidence'" in finding.message


def test_an_empty_video_is_said_to_be_empty(save: Save, capsys: pytest.CaptureFixture[str]) -> None:
    root = save(make_item(1))
    (root / "media").mkdir()
    (root / "media" / "1.mp4").touch()
    (finding,) = lint_benchmark(root).findings
    assert finding.tag == "UNREADABLE_MEDIA"
    assert "is empty" in finding.message
    assert run_here("run", root, "--model", "baseline:pixels", "--out", root / "run") == 1
    assert "the file is empty (0 bytes)" in capsys.readouterr().err


def test_thousands_of_one_kind_do_not_hide_another(
    save: Save, capsys: pytest.CaptureFixture[str]
) -> None:
    root = save(make_item(1))
    bad = [line(id=f"q-{n}", answer=["A", "B"]) for n in range(5000)]
    bad[4000] = line(id="q-4000", question=" ")
    (root / "items.jsonl").write_text("\n".join(bad))
    assert run_here("lint", root, "--no-media") == 1
    out = capsys.readouterr().out
    assert len(out.splitlines()) < 30
    assert "question: found ' '" in out
    assert "BAD_FIELD: 4,990 more (--most 0 shows all), on lines 10-4000, 4002-5000" in out
