"""What all pages share: one theme, one content policy, and texts that stay texts."""

import base64
import hashlib
import re
from pathlib import Path

import pytest
from pages import planted, written
from support import make_item

import reelbench
from reelbench.data.benchmark import Benchmark
from reelbench.data.manifest import Manifest, Protocol
from reelbench.evaluate.run import run_benchmark
from reelbench.pages import page
from reelbench.pages.text import breakable
from reelbench.report.report import report_run

SOURCE = Path(reelbench.__file__).parent
SHEETS = [path for path in SOURCE.rglob("*.css") if path.name != "theme.css"]


def report_page(folder: Path) -> str:
    manifest = Manifest("b", "1", protocol=Protocol(modalities="T"))
    benchmark = Benchmark(folder / "b", manifest, (make_item(1), make_item(2)))
    benchmark.save(folder / "b")
    run_benchmark(benchmark, ["baseline:first"], folder / "run")
    return report_run(benchmark, folder / "run").read_text()


def scripts_of(text: str) -> list[str]:
    """The scripts of a page that a browser runs."""
    return re.findall(r'<script(?: type="module")?>(.*?)</script>', text, re.DOTALL)


@pytest.mark.parametrize("kind", ["report", "make"])
def test_every_page_runs_its_own_scripts_and_fetches_nothing(kind: str, tmp_path: Path) -> None:
    text = report_page(tmp_path) if kind == "report" else written(tmp_path, planted(40, 2))[1]
    (policy,) = re.findall(r'http-equiv="Content-Security-Policy" content="(.*?)"', text)
    policy = policy.replace("&#39;", "'")
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    hashes = [
        base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
        for script in scripts_of(text)
    ]
    assert re.findall(r"'sha256-(.*?)'", policy) == hashes
    assert "connect-src" not in policy
    theme = (SOURCE / "pages" / "templates" / "theme.css").read_text()
    assert theme in text


def test_data_cannot_end_its_element_and_texts_are_escaped() -> None:
    evil = "</script><script>alert(1)</script>\x00"
    text = page(
        "reelbench.pages", "base.html.j2", title=evil, data={"x": evil}, facts=[], provenance={}
    )
    assert "<script>alert" not in text
    assert text.count("<script") == 1
    assert "script-src 'none'" in text.replace("&#39;", "'")
    assert "\x00" not in text


@pytest.mark.parametrize("sheet", SHEETS, ids=lambda path: path.name)
def test_no_page_says_again_what_the_theme_says(sheet: Path) -> None:
    theme = set((SOURCE / "pages" / "templates" / "theme.css").read_text().splitlines())
    again = theme & set(sheet.read_text().splitlines())
    assert {line for line in again if ":" in line and "{" in line and "@" not in line} == set()


def test_names_break_at_their_signs_and_stay_texts() -> None:
    assert breakable("openai:a/b_c-d 1:2") == "openai:<wbr>a/<wbr>b_<wbr>c-d 1:<wbr>2"
    assert breakable("<b>: it::x_") == "&lt;b&gt;: it::<wbr>x_"
