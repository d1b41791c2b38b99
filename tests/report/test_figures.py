"""Figures and exports of a full page, in a real browser: all drawn, all whole, none hacked."""

import base64
import hashlib
import json
import re
import subprocess
from collections.abc import Callable
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from support import blind_benchmark, make_item
from videos import make_video

from reelbench.data.benchmark import Benchmark
from reelbench.data.items import Item, Media, freeze
from reelbench.data.manifest import Protocol
from reelbench.evaluate.condition import Condition
from reelbench.pages.table import Table
from reelbench.report import item_videos
from reelbench.report.comparison import pairs
from reelbench.report.failures import failures
from reelbench.report.report import report_run
from reelbench.report.tables import forms_of, judged, measures, named_tables
from reelbench.score.score import score_runs

FLAGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
    "--disable-background-networking", "--disable-component-update", "--enable-logging=stderr", "--v=0",
    "--virtual-time-budget=20000", "--window-size=1200,900",
]  # fmt: skip
Probe = Callable[[Path, str], tuple[Any, str]]
EVIL = '<img src=x onerror=\'document.title="hacked"\'>|,"&% '
# What a page saves is kept, and not downloaded.
KEEP = """
const saved = [];
globalThis.Blob = class extends Blob {
  constructor(parts, kind) { super(parts, kind); saved.push(parts[0]); }
};
HTMLAnchorElement.prototype.click = () => {};
const press = async (button) => {
  saved.length = 0;
  button.click();
  while (!saved.length) await new Promise((go) => setTimeout(go, 10));
  return saved.at(-1);
};
"""


@pytest.fixture
def probe(chromium: str, tmp_path: Path) -> Probe:
    """Open a copy of a page that ends in a script of ours; return its answer and the console."""

    def ask(page: Path, script: str) -> tuple[Any, str]:
        ours = f"""
            const answer = await (async () => {{ {script} }})();
            document.body.append(Object.assign(document.createElement("pre"),
              {{ id: "answer", textContent: JSON.stringify(answer) }}));
        """
        copy = tmp_path / "probe.html"
        head, _, tail = page.read_text().rpartition("</body>")
        allowed = base64.b64encode(hashlib.sha256(ours.encode()).digest()).decode()
        head = head.replace("script-src ", f"script-src 'sha256-{allowed}' ", 1)
        copy.write_text(f'{head}<script type="module">{ours}</script></body>{tail}')
        profile = f"--user-data-dir={tmp_path / 'profile'}"
        command = [chromium, *FLAGS, profile, "--dump-dom", copy.as_uri()]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        console = "\n".join(line for line in done.stderr.splitlines() if "CONSOLE" in line)
        found = re.search(r'<pre id="answer">(.*?)</pre>', done.stdout, re.DOTALL)
        assert found, console or done.stderr[-2000:]
        return json.loads(unescape(found[1])), console

    return ask


def lines(path: Path, rows: list[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def page_of(
    folder: Path,
    items: list[Item],
    models: list[str],
    conditions: dict[str, dict[str, Any]] | None = None,
    unasked: tuple[str, ...] = (),
    judges: tuple[str, ...] = (),
) -> Path:
    """Write a run in which the first model is right on all, the next errs on one more ..."""
    benchmark = blind_benchmark(folder / "b", *items)
    run, changes = folder / "run", conditions or {"protocol": {}}
    run.mkdir()
    asked = [Condition.of(Protocol(), name, change) for name, change in changes.items()]
    record = {
        "benchmark": {"name": "blind", "version": "1", "digest": benchmark.digest,
                      "media_digest": "0", "path": "../b"},
        "models": [{"name": model, "parameters": {}} for model in models],
        "conditions": [{**each.to_record(), "prompt_digest": "0"} for each in asked],
        "seed": 0, "versions": {"reelbench": "0"},
    }  # fmt: skip
    (run / "run.json").write_text(json.dumps(record))
    turns = [
        {"id": item.id, "model": model, "condition": name, "response": ", ".join(
            item.answer if n >= m else item.letters[:1])}
        for m, model in enumerate(models) for name in changes if name not in unasked
        for n, item in enumerate(items)
    ]  # fmt: skip
    lines(run / "predictions.jsonl", turns)
    graded = [
        {**turn, "order": 0, "round": 0, "judge": judge, "rubric": "points", "scale": [0, 2],
         "score": len(turn["id"]) % 3, "rounds": [{"reply": {}}]}
        for turn in turns for judge in judges if turn["id"].startswith("open")
    ]  # fmt: skip
    lines(run / "judgements.jsonl", graded)
    return report_run(benchmark, run)


def full(folder: Path, skills: tuple[str, ...] = ("see", "hear", "read"), mark: str = "") -> Path:
    """A page with something to say for every figure and table."""
    items = [
        make_item(
            n, media=(Media(f"{n % 5}.mp4", 0, 30 + 60 * (n % 3)),), evidence=((n, n + 1),),
            tags=freeze({f"skill{mark}": skills[n % len(skills)]}),
            kind="multi" if n % 4 == 3 else "single", answer=("B", "C") if n % 4 == 3 else ("B",),
        )
        for n in range(24)
    ]  # fmt: skip
    opened = {"kind": "open", "options": (), "answer": (), "reference": "It rains."}
    items += [make_item(id=f"open{'-' * n}", **opened) for n in range(4)]
    models = [f"{mark}{name}" for name in ("good", "fair", "poor")]
    conditions = {"protocol": {}, f"few{mark}": {"sampling": "uniform:8"}, "p": {"prompt": "p"}}
    return page_of(folder, items, models, conditions, judges=(f"{mark}one", f"{mark}two"))


@pytest.fixture(scope="module")
def plain_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A full page. Read it, do not write to it."""
    return full(tmp_path_factory.mktemp("plain"))


@pytest.fixture(scope="module")
def hostile_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A full page of names that would do harm if they were not texts. Read it, do not write to it."""
    return full(tmp_path_factory.mktemp("hostile"), (f"see{EVIL}", "hear", "read"), EVIL)


def embedded(page: Path) -> Any:
    """The data that a page carries."""
    text = page.read_text()
    start = text.index('id="data">') + len('id="data">')
    return json.loads(text[start : text.index("</script>", start)])


DRAWN = """
    const first = !!document.querySelector(".drawing .main-svg");
    dispatchEvent(new Event("beforeprint"));
    await new Promise((go) => setTimeout(go, 500));
    const boxes = [...document.querySelectorAll(".drawing")];
    return { first, title: document.title, ready: document.documentElement.dataset.ready,
      drawn: boxes.map((box) => [box.dataset.figure, !!box.querySelector(".main-svg"), box.ariaLabel]),
      spokes: document.querySelector("[data-figure=radar]")?._fullLayout.polar.angularaxis.type,
      items: document.querySelectorAll("#list-body tr").length };
"""
ALL = {"by-tag-0", "by-tag-3", "radar", "curve-length", "curve-evidence", "precision-recall", "positions",
       "profile-0", "ablation-0", "ablation-1", "distractors"}  # fmt: skip


@pytest.mark.parametrize("page", ["plain_page", "hostile_page"])
def test_every_figure_is_drawn_at_the_latest_for_print(
    page: str, request: pytest.FixtureRequest, probe: Probe
) -> None:
    found, console = probe(request.getfixturevalue(page), DRAWN)
    assert console == ""
    assert (found["ready"], found["first"], found["title"]) == ("true", True, "blind · Reelbench")
    assert {name: svg for name, svg, _ in found["drawn"]} == dict.fromkeys(ALL, True)
    assert all(words for *_, words in found["drawn"])
    assert found["items"] == 28
    assert found["spokes"] == "category"


def test_tags_that_are_numbers_are_spokes_and_not_degrees(tmp_path: Path, probe: Probe) -> None:
    items = [make_item(n, tags=freeze({"people": 1 + n % 3})) for n in range(6)]
    found, _ = probe(page_of(tmp_path, items, ["a"]), DRAWN)
    assert found["spokes"] == "category"


def test_the_page_saves_the_tables_that_the_command_writes(
    hostile_page: Path, probe: Probe
) -> None:
    script = (
        KEEP
        + """
        const found = {};
        for (const button of document.querySelectorAll("[data-table]")) {
          const { dataset } = button.closest("[data-name]"), { name } = dataset;
          found[`${name}.${button.dataset.table}`] = await press(button);
          dataset.name = `read off ${name}`;  // as on pages that do not carry their tables
          found[`${dataset.name}.${button.dataset.table}`] = await press(button);
          dataset.name = name;
        }
        return found;
    """
    )
    found, console = probe(hostile_page, script)
    assert console == ""
    run = hostile_page.parent
    scores = score_runs(Benchmark.load(run.parent / "b"), [run], 0).scores
    tables = named_tables(scores)
    carried = {name: found[f"{name}.csv"] for name in tables if f"{name}.csv" in found}
    assert {"leaderboard", "pairs", "conditions", "measures", "failures", "judged"} < set(carried)
    assert sum(name.startswith("by-") for name in carried) > 3
    for name in carried:
        for ending, text in forms_of(tables[name]).items():
            assert found[f"{name}.{ending}"] == text
    for table in [measures(scores), failures(scores), judged(scores), pairs(scores)]:
        cells = [[" ".join(cell.split()) for cell in row] for row in table.rows]
        same = Table(table.name, table.title, table.columns, cells)
        assert found[f"read off {table.name}.csv"] == same.to_csv()
        assert found[f"read off {table.name}.md"] == same.to_markdown()
        text = found[f"read off {table.name}.tex"]
        assert text.count(" & ") == (len(cells) + 1) * (len(table.columns) - 1)


def test_figures_are_saved_as_svg_and_png(plain_page: Path, probe: Probe) -> None:
    script = (
        KEEP
        + """
        const found = {};
        for (const kind of ["svg", "png"]) for (const figure of ["by-tag-0", "radar", "distractors"]) {
          const button = document.querySelector(`#plot-${figure} [data-image=${kind}]`);
          const made = await press(button);
          const start = typeof made === "string" ? made.slice(0, 5) : String.fromCharCode(...new Uint8Array(made).slice(0, 5));
          found[`${figure}.${kind}`] = [made.length ?? made.byteLength, start];
        }
        return found;
    """
    )
    found, console = probe(plain_page, script)
    assert console == ""
    assert {name: start for name, (_, start) in found.items()} == {
        f"{figure}.{kind}": "<svg " if kind == "svg" else "\x89PNG\r"
        for figure in ("by-tag-0", "radar", "distractors")
        for kind in ("svg", "png")
    }
    assert min(size for size, _ in found.values()) > 3000


def test_an_ablation_that_no_model_finished_takes_no_figure_from_another(tmp_path: Path) -> None:
    conditions = {"protocol": {}, "p": {"prompt": "p"}, "few": {"sampling": "uniform:8"}}
    items = [make_item(n) for n in range(6)]
    page = page_of(tmp_path, items, ["a", "b"], conditions, unasked=("p",))
    (figure,) = [name for name in embedded(page)["figures"] if name.startswith("ablation")]
    assert f'data-figure="{figure}"' in page.read_text()


def test_items_can_be_picked_by_every_value_of_every_tag(tmp_path: Path) -> None:
    tags = [{"skill": f"skill {n % 2}", "people": [n, n + 1]} for n in range(6)]
    items = [make_item(n, tags=freeze(each)) for n, each in enumerate(tags)]
    data = embedded(page_of(tmp_path, items, ["a"]))
    assert [tag["name"] for tag in data["tags"]] == ["people", "skill"]
    for place, tag in enumerate(data["tags"]):
        carried = {value for item in data["items"] for value in item["tags"][place]}
        assert carried == set(range(len(tag["values"])))


def test_many_videos_share_the_frames_that_a_page_may_hold(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(item_videos, "_MOST_FRAMES", 2)
    (tmp_path / "b").mkdir()
    for n in range(3):
        make_video(tmp_path / "b" / f"{n}.mp4", seconds=0.4)
    items = [make_item(n, media=(Media(f"{n}.mp4"),)) for n in range(3)]
    data = embedded(page_of(tmp_path, items, ["a"]))
    assert sum(map(len, data["frames"].values())) <= 2
