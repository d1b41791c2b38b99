"""Each command as a user types it."""

import json
import os
import pty
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

import pytest
from commands import CapturedCommand
from support import REPOSITORY, make_item, reelbench

from reelbench.base.extras import install_command
from reelbench.cli import COMMANDS
from reelbench.data.items import freeze

Save = Callable[..., Path]
HEAVY = {
    "numpy",
    "scipy",
    "av",
    "PIL",
    "plotly",
    "yaml",
    "rich",
    "jinja2",
    "msgspec",
    "asyncio",
    "sqlite3",
}


class TestHelp:
    def test_it_lists_every_command(self) -> None:
        done = reelbench("--help")
        assert done.returncode == 0
        assert all(f"  {name} " in done.stdout for name in COMMANDS)

    @pytest.mark.parametrize("command", COMMANDS)
    def test_every_command_has_an_example(self, command: str) -> None:
        done = reelbench(command, "--help")
        assert done.returncode == 0
        assert f"  reelbench {command}" in done.stdout

    def test_it_imports_nothing_heavy(self) -> None:
        program = "import sys; from reelbench.cli import main\ntry: main(['--help'])\nexcept SystemExit: print('|', *sys.modules)"
        done = subprocess.run(
            [sys.executable, "-c", program], capture_output=True, text=True, check=True
        )
        loaded = {name.split(".")[0] for name in done.stdout.rpartition("|")[2].split()}
        assert loaded & HEAVY == set()

    @pytest.mark.parametrize(
        "words", [[], ["dance"], ["lint"], ["run", "x"], ["demo", "--videos", "1"]]
    )
    def test_wrong_use_is_2(self, words: list[str]) -> None:
        assert reelbench(*words).returncode == 2

    def test_version(self) -> None:
        assert reelbench("--version").stdout.startswith("reelbench 0.")


class TestLint:
    def test_findings_and_exit_status(self, save: Save) -> None:
        root = save(
            make_item(1),
            make_item(2, options=("a dog", "A dog", "cat")),
            make_item(3, reference="dogs bark"),
        )
        statuses = {
            tier: reelbench("lint", root, "--no-media", "--fail-on", tier).returncode
            for tier in ("never", "low", "medium", "high", "critical")
        }
        assert statuses == {"never": 0, "low": 1, "medium": 1, "high": 1, "critical": 0}
        done = reelbench("lint", root, "--no-media")
        assert "HIGH  DUPLICATE_OPTS        line 2  q-2   A and B are both 'A dog'" in done.stdout
        assert done.stdout.endswith("3 items, 3 media, 2 findings\n")

    def test_json_can_be_piped(self, save: Save) -> None:
        done = reelbench("lint", save(make_item(1, kind="multi")), "--json")
        report = json.loads(done.stdout)
        assert report["tags"] == {"MISSING_MEDIA": 1, "MULTI_1_ANSWER": 1}
        assert report["tiers"] == {"CRITICAL": 1, "HIGH": 0, "MEDIUM": 1, "LOW": 0}
        assert done.returncode == 1

    def test_many_findings_are_counted_not_poured_out(self, save: Save) -> None:
        root = save(*(make_item(n, kind="multi", question=f"{n}?") for n in range(30)))
        short = reelbench("lint", root, "--no-media").stdout
        assert "MULTI_1_ANSWER: 20 more (--most 0 shows all)" in short
        everything = reelbench("lint", root, "--no-media", "--most", 0).stdout
        assert everything.count("MULTI_1_ANSWER") == 30

    def test_fix(self, save: Save) -> None:
        root = save(make_item(1, reference="a dog is barking"))
        done = reelbench("lint", root, "--no-media", "--fix", "--fail-on", "low")
        assert done.returncode == 0
        assert "Aligned 1 line" in done.stderr
        assert '"reference": "a dog barks"' in (root / "items.jsonl").read_text()


class TestRunScoreReport:
    def test_a_wrong_benchmark_lists_every_line(self, save: Save) -> None:
        root = save(make_item(1, answer=("Z",)), make_item(2), make_item(3, evidence=((5.0, 1.0),)))
        done = reelbench("run", root, "--model", "baseline:random", "--out", root / "run")
        assert done.returncode == 2
        assert "items.jsonl:1: answer" in done.stderr
        assert "items.jsonl:3: evidence[0]" in done.stderr
        assert done.stderr.endswith("2 problems to fix first.\n")
        assert not (root / "run").exists()

    def test_score_prints_the_table_and_writes_the_file(
        self, own_demo: Path, tmp_path: Path
    ) -> None:
        written = (own_demo / "run" / "scores.json").read_bytes()
        done = reelbench("score", own_demo / "run")
        assert done.returncode == 0
        assert done.stdout.splitlines()[0].split() == [
            "model",
            "condition",
            "accuracy",
            "95%",
            "interval",
            "letters",
            "answered",
        ]
        assert (own_demo / "run" / "scores.json").read_bytes() == written
        done = reelbench(
            "score", "--benchmark", own_demo / "benchmark", "--predictions", own_demo / "run" / "predictions.jsonl",
            "--out", tmp_path / "s.json", "--json",
        )  # fmt: skip
        assert (
            json.loads(done.stdout)
            == json.loads((tmp_path / "s.json").read_text())
            == json.loads(written)
        )

    def test_a_foreign_file_does_not_touch_the_run(self, own_demo: Path, tmp_path: Path) -> None:
        run = own_demo / "run"
        before = {path: path.read_bytes() for path in run.rglob("*") if path.is_file()}
        (tmp_path / "p.jsonl").write_text('{"id": "demo-001", "parsed": ["A"]}\n')
        done = reelbench("score", run, "--predictions", tmp_path / "p.jsonl")
        assert done.returncode == 0, done.stderr
        assert any(line.split()[:1] == ["p"] for line in done.stdout.splitlines()), "it is beside"
        done = reelbench(
            "score", "--benchmark", own_demo / "benchmark", "--predictions", tmp_path / "p.jsonl"
        )
        assert done.returncode == 0
        assert "p: 53 not asked" in done.stderr
        assert before == {path: path.read_bytes() for path in run.rglob("*") if path.is_file()}

    def test_a_run_that_was_stopped_says_so(self, own_demo: Path) -> None:
        status = own_demo / "run" / "status.json"
        status.write_text(status.read_text().replace('"done"', '"running"', 1))
        status.write_text(json.dumps({"state": "running"}))
        assert "has not finished" in reelbench("score", own_demo / "run").stderr

    @pytest.mark.parametrize("words", [
        ["run", "{demo}/benchmark", "--model", "baseline:random", "--out", "{file}"],
        ["score", "{demo}/run", "--out", "{demo}"],
        ["report", "{demo}/run", "--out", "{demo}/no/such/page.html"],
        ["report", "{file}"],
        ["lint", "{demo}/benchmark/media", "--fix"],
        ["run", "{demo}/benchmark", "--model", "baseline:random", "--out", "{demo}/benchmark"],
    ], ids=lambda words: words[0])  # fmt: skip
    def test_wrong_paths_get_a_sentence(
        self, words: list[str], small_demo: Path, tmp_path: Path
    ) -> None:
        (tmp_path / "file").write_text("x")
        filled = [word.format(demo=small_demo, file=tmp_path / "file") for word in words]
        done = reelbench(*filled)
        assert done.returncode == 2
        assert "Traceback" not in done.stderr
        assert done.stderr.splitlines()[-1].startswith(f"reelbench {words[0]}: ")

    def test_a_full_disk_gets_a_sentence(self, small_demo: Path) -> None:
        with Path("/dev/full").open("w") as full:
            command = [
                sys.executable,
                "-m",
                "reelbench",
                "score",
                str(small_demo / "run"),
                "--json",
            ]
            done = subprocess.run(
                command, stdout=full, stderr=subprocess.PIPE, text=True, check=False
            )
        assert done.returncode == 2
        assert "No space left on device" in done.stderr

    def test_ctrl_c_stops_a_run_at_once_and_it_goes_on(
        self, small_demo: Path, tmp_path: Path
    ) -> None:
        words = [
            "run",
            str(small_demo / "benchmark"),
            "--model",
            "baseline:pixels",
            "--out",
            str(tmp_path / "r"),
        ]
        fifth = (signal.SIGINT, "reelbench.client.journal.Journal.record", 5)
        process = CapturedCommand(*words, interrupted=fifth)
        _, talk = process.communicate()
        assert process.returncode == 130
        assert "Nothing is lost" in talk
        stopped = json.loads((tmp_path / "r" / "status.json").read_text())
        assert stopped["state"] == "stopped"
        assert stopped["done"] < stopped["total"]
        assert reelbench(*words[:2], *words[4:]).returncode == 0
        assert (tmp_path / "r" / "run.json").exists()

    def test_the_seed_of_a_run_stays(self, small_demo: Path, tmp_path: Path) -> None:
        words = [
            "run",
            small_demo / "benchmark",
            "--model",
            "baseline:random",
            "--out",
            tmp_path / "r",
        ]
        reelbench(*words, "--seed", 5)
        again = reelbench(*words)
        assert "54 questions: 0 asked now, 54 answered before." in again.stderr
        assert json.loads((tmp_path / "r" / "run.json").read_text())["seed"] == 5
        assert reelbench(*words, "--seed", 6).returncode == 2

    def test_score_needs_something_to_score(self) -> None:
        done = reelbench("score")
        assert done.returncode == 2
        assert "Name a run's folder, as in" in done.stderr

    def test_a_run_is_moved_together_with_its_benchmark(
        self, own_demo: Path, tmp_path: Path
    ) -> None:
        moved = Path(shutil.move(own_demo, tmp_path / "elsewhere"))
        assert reelbench("score", "run", cwd=moved).returncode == 0
        shutil.move(moved / "benchmark", tmp_path / "b")
        assert reelbench("score", moved / "run").returncode == 2
        assert reelbench("report", moved / "run", "--benchmark", tmp_path / "b").returncode == 0

    def test_a_changed_benchmark_is_not_scored_with_old_answers(self, own_demo: Path) -> None:
        items = own_demo / "benchmark" / "items.jsonl"
        items.write_text(items.read_text().replace("How many", "How very many", 1))
        done = reelbench("score", own_demo / "run")
        assert done.returncode == 2
        assert "has changed since" in done.stderr

    def test_a_report_elsewhere(self, small_demo: Path, tmp_path: Path) -> None:
        done = reelbench("report", small_demo / "run", "--out", tmp_path / "page.html")
        assert done.stdout.strip() == str(tmp_path / "page.html")
        # The same but for where the videos are, as seen from the page.
        to_media = quote(os.path.relpath(small_demo / "benchmark", tmp_path))
        page = (tmp_path / "page.html").read_text()
        assert f"{to_media}/media/" in page
        assert (
            page.replace(f"{to_media}/media/", "../benchmark/media/")
            == (small_demo / "run" / "report.html").read_text()
        )

    def test_a_folder_that_is_no_run(self, tmp_path: Path) -> None:
        done = reelbench("report", tmp_path)
        assert done.returncode == 2
        assert "is not a run folder" in done.stderr

    def test_quiet_when_piped(self, own_demo: Path) -> None:
        done = reelbench("run", own_demo / "benchmark", "--out", own_demo / "run")
        assert "\x1b" not in done.stdout + done.stderr

    def test_a_reader_that_goes_away(self, small_demo: Path) -> None:
        command = (
            f"'{sys.executable}' -m reelbench lint '{small_demo}/benchmark' --json | head -n 1"
        )
        done = subprocess.run(command, shell=True, capture_output=True, text=True, check=True)
        assert done.stderr == ""

    def test_a_misspelt_field_is_refused_in_the_manifest_and_told_in_items(
        self, save: Save
    ) -> None:
        root = save(make_item(1, extra=freeze({"evidnce": [[1, 2]]})))
        done = reelbench("run", root, "--model", "baseline:random", "--out", root / "run")
        assert done.returncode == 0
        assert "warning: " in done.stderr
        assert "perhaps 'evidence' is meant" in done.stderr
        with (root / "benchmark.yaml").open("a") as file:
            file.write("licens: MIT\n")
        done = reelbench("run", root, "--model", "baseline:random", "--out", root / "run")
        assert done.returncode == 2
        assert "perhaps 'licence' is meant" in done.stderr


class TestDoctor:
    def test_it_says_what_is_here_and_how_to_get_the_rest(self) -> None:
        done = reelbench("doctor")
        assert done.returncode == 0
        assert f"pip install {shlex.quote(f'{REPOSITORY}[ray]')}" in done.stdout

    def test_json_tells_the_same(self) -> None:
        checks = {
            check["name"]: check for check in json.loads(reelbench("doctor", "--json").stdout)
        }
        assert checks["python"]["present"]
        assert checks["encode H.264"]["found"] == "libx264"
        assert checks["[annotate]"]["remedy"] in ("", install_command("annotate"))
        extras = {
            "annotate",
            "embed",
            "figures",
            "hf",
            "hub",
            "local",
            "parquet",
            "ray",
            "web",
            "train",
            "inspect",
        }
        assert {name.strip("[]") for name in checks if name.startswith("[")} == extras


def test_a_bar_with_a_rate_and_an_eta_on_a_terminal() -> None:
    program = (
        "import threading, time\n"
        "from reelbench.base import progress as p\n"
        "p._PATIENCE_SECONDS = 0\n"
        "def sheep():\n"
        "    while any(isinstance(each, threading.Timer) for each in threading.enumerate()):\n"
        "        time.sleep(0.001)  # until the bar is there\n"
        "    yield from range(50)\n"
        "for _ in p.track(sheep(), 'Counting', 50, 'sheep'): pass\n"
    )
    parent, child = pty.openpty()
    subprocess.run(
        [sys.executable, "-c", program],
        stderr=child,
        check=True,
        env=os.environ | {"COLUMNS": "100", "TERM": "xterm"},
    )
    os.close(child)
    shown = os.read(parent, 100_000).decode()
    os.close(parent)
    assert "Counting" in shown
    assert "sheep/s" in shown
    assert "0:00:00" in shown


@pytest.fixture(scope="module")
def runs(small_demo: Path, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Two runs of the small demo. Read them, do not write to them."""
    folder = tmp_path_factory.mktemp("runs")
    for model in ("first", "blind"):
        words = ["--model", f"baseline:{model}", "--out", folder / model]
        assert reelbench("run", small_demo / "benchmark", *words).returncode == 0
    return [folder / "first", folder / "blind"]


class TestSeveralRuns:
    """One page of several runs of a benchmark."""

    def test_they_stand_in_one_table(self, runs: list[Path], tmp_path: Path) -> None:
        done = reelbench("report", *runs, "--out", tmp_path / "page.html")
        assert done.returncode == 0, done.stderr
        page = (tmp_path / "page.html").read_text()
        assert "</i>baseline:<wbr>first" in page
        assert "</i>baseline:<wbr>blind" in page
        assert "2 models" in page

    def test_but_not_the_same_twice(self, runs: list[Path], tmp_path: Path) -> None:
        done = reelbench("report", runs[0], runs[0], "--out", tmp_path / "page.html")
        assert done.returncode == 2
        assert "is named twice: leave one of them out" in done.stderr

    def test_nor_without_a_name(self, runs: list[Path]) -> None:
        done = reelbench("report", *runs)
        assert done.returncode == 2
        assert "--out" in done.stderr
