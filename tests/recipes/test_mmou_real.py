"""A small MMOU from end to end: real videos, a make, a run with a judge and a cascade, a report."""

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from actors import pick, said_to, write_card
from mmou_actors import SEEN, WRITERS, OmniModels, station, write_questions, write_videos
from servers import Reply, completion
from support import SHARED, run_here

CLIPS = ("single_face.mp4", "speech_two_faces.mp4")
RATING = {"correctness": 1, "completeness": 2, "faithfulness": 4, "clarity": 5}


def rows() -> list[dict[str, Any]]:
    return [
        {
            "video": f"media/{name}",
            "question": f"What happens right after the bell of {name} number {number} has rung?",
            "answer": "a green coin spins on the round table",
            "start_time": 0,
            "end_time": number + 1,
            "skills": ["Needle" if number else "Counting"],
        }
        for name in CLIPS
        for number in range(2)
    ]


def evaluated(body: dict[str, Any], models: OmniModels) -> Reply | None:
    """Who is evaluated answers; who judges rates; the cascade's members caption and fuse."""
    model, prompt = body["model"], said_to(body)
    if model == "judge":
        rated = {name: {"score": score, "reason": "so"} for name, score in RATING.items()}
        return completion(json.dumps({"ratings": rated}))
    if model in ("omni", "mind"):
        options = dict(re.findall(r"^([A-Z])\. (.+)$", prompt, re.M))
        return completion(pick(sorted(options), prompt) if options else "An open answer.")
    return completion("Something is seen or heard.") if model in ("eye", "ear") else None


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Any]]:
    clips = SHARED / "data" / "video"
    if not clips.is_dir():
        pytest.skip("../shared/data/video is not here")
    root = tmp_path_factory.mktemp("real")
    models = OmniModels()
    play = models.__call__
    answer = lambda body, number: evaluated(body, models) or play(body, number)  # noqa: E731
    with station(root, models, videos=0, rows=[]) as here:
        here.server.answer = answer
        for name in CLIPS:
            (here.source / "media" / name).write_bytes((clips / name).read_bytes())
        write_videos(here.source, [f"media/{name}" for name in CLIPS])
        write_questions(here.source, rows())
        done = here.make(root / "bench", *here.roles(*WRITERS), "--without", "quality-control")
        assert done.status == 0, done.err
        url, cards = here.server.url, root / "cards"
        omni = write_card(cards, "omni", url, hears=True)
        write_card(cards, "eye", url)
        write_card(cards, "ear", url, sees=False, hears=True)
        write_card(cards, "mind", url, sees=False)
        judge = write_card(cards, "judge", url, sees=False)
        (cards / "trio.yaml").write_text(
            "name: trio\nbackend: cascade\ncaptioners: [eye.yaml, ear.yaml]\nmodel: mind.yaml\n"
        )
        words = ["run", root / "bench", "--model", omni, "--model", cards / "trio.yaml"]
        words += ["--judge", judge, "--condition", "small sampling=uniform:2 frame_size=long:128"]
        assert run_here(*words, "--out", root / "run") == 0
        requests = [each for each in here.server.requests if each["model"] not in WRITERS]
    return root, requests


def test_a_cascade_captions_each_video_once_and_fuses_it_once(
    real: tuple[Path, list[Any]],
) -> None:
    asked = Counter(body["model"] for body in real[1])
    assert (asked["eye"], asked["ear"]) == (2, 2)
    # Two accounts, four questions in five orders, four without options.
    assert asked["mind"] <= 2 + 4 * 5 + 4


def test_scores_have_both_kinds_by_domain_skill_and_criterion(
    real: tuple[Path, list[Any]],
) -> None:
    scores = json.loads((real[0] / "run" / "scores.json").read_text())
    assert {row["model"] for row in scores["results"]} == {"omni", "trio"}
    assert all(row["items"] == row["answered"] == 4 for row in scores["results"])
    for row in scores["judged"]:
        given = {each["criterion"]: each["score"] for each in row["criteria"]}
        assert given == RATING
        assert row["score"] == pytest.approx(0.5 * 1 + 0.5 / 3 * (2 + 4 + 5), abs=1e-6)
        assert row["twins"]["open_poor"] == 1.0
        assert set(row["twins"]["by"]["skills"]) == {"Needle", "Counting"}
    assert {table["name"] for table in scores["tables"]} == {
        "table-3",
        "figure-5",
        "figure-6",
        "open-ended",
    }
    assert {row["model"] for row in scores["origins"]} == {"omni", "trio"}


def test_the_report_shows_them(real: tuple[Path, list[Any]]) -> None:
    page = (real[0] / "run" / "report.html").read_text()
    for title in (
        "Accuracy by domain and duration",
        "Open answers by criterion",
        "The same questions with options, by skills",
        "Wrong choices by the origin of the option",
        "Accuracy by class of models",
    ):
        assert title in page


def test_the_account_reaches_the_judge_and_no_evaluated_model(
    real: tuple[Path, list[Any]],
) -> None:
    told = {
        name: {SEEN[3] in said_to(body) for body in real[1] if body["model"] == name}
        for name in ("judge", "omni", "eye", "ear", "mind")
    }
    assert told.pop("judge") == {True}
    assert all(each == {False} for each in told.values())
