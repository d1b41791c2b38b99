"""The record of an essay, and the art that a model finds it to be about."""

import json
from pathlib import Path
from typing import Any

import pytest
from actors import said_to
from essays import LABELS, SPOKEN, fetched, narrator, rejected, take, transcript
from parts import by_turns
from servers import Reply, completion

from reelbench.interop.musebench.taxonomy import CATEGORIES, SUBDOMAINS
from reelbench.recipes.musebench.categorise import categorise
from reelbench.recipes.musebench.records import record
from reelbench.recipes.musebench.rows import Essay

GERMAN = (0.0, 2.0, "Sehen wir uns an, wie das Licht auf die linke Wand des Zimmers fällt.")
CURATOR = {"curator": [{"name": "curator"}]}


def recorded(folder: Path, labels: Any = LABELS, languages: Any = ("en",), **fields: Any) -> Any:
    (passed,), _ = take(
        folder, [fetched(folder, **fields)], record(languages), labels={"e1": labels}
    )
    return passed.results[0]


def test_has_source_speech_and_metadata_and_is_kept(tmp_path: Path) -> None:
    ((essay,),) = [recorded(tmp_path).rows]
    file = json.loads((tmp_path / "records" / "e1.json").read_text())
    assert file["video_id"] == "e1"
    assert file["category"] == "Static Visual Arts"
    assert file["source"] == {
        "title": "Light in rooms",
        "channel": "Walls and Windows",
        "url": "",
        "file": "make/essays/e1.mp4",
        "sha256": "0" * 64,
    }
    assert file["transcription"]["source"] == "model"
    assert file["transcription"]["language"] == "en"
    assert file["transcription"]["text"] == " ".join(text for *_, text in SPOKEN)
    assert file["transcription"]["segments"] == [
        {"start": start, "end": end, "text": text} for start, end, text in SPOKEN
    ]
    assert file["metadata"] == {
        "duration": 3.4,
        "width": 320,
        "height": 180,
        "frame_rate": 5.0,
        "channels": 1,
        "sample_rate": 16000,
    }
    assert essay.record
    assert essay.narrator == narrator()
    assert essay.flags == ()


def test_is_written_again_where_its_file_is_gone(tmp_path: Path) -> None:
    first = recorded(tmp_path).rows
    path = tmp_path / "records" / "e1.json"
    text = path.read_bytes()
    path.unlink()
    assert recorded(tmp_path).rows == first
    assert path.read_bytes() == text


def test_of_a_truncated_essay_has_nothing_that_is_said_later(tmp_path: Path) -> None:
    (essay,) = recorded(tmp_path).rows
    (shorter,) = recorded(tmp_path, seconds=1.8).rows
    text = (tmp_path / "records" / "e1.json").read_text()
    assert SPOKEN[0][2] in text
    assert SPOKEN[1][2] not in text
    assert essay.record != shorter.record


@pytest.mark.parametrize(
    "labels",
    [{}, {"transcript": transcript()}, {"transcript": transcript((0.0, 1.0, " ... "))}],
    ids=["no transcript", "empty", "marks alone"],
)
def test_an_essay_without_speech_is_rejected(labels: Any, tmp_path: Path) -> None:
    made = recorded(tmp_path, labels)
    assert rejected(made)[0] == "no speech"
    assert not (tmp_path / "records").exists()


@pytest.mark.parametrize(("labels", "languages", "why"), [
    (transcript(GERMAN, language="de"), ["en"], "de; allowed: en (record.languages)"),
    (transcript(GERMAN, language="de"), ["en", "fr"], "de; allowed: en, fr (record.languages)"),
    (transcript(GERMAN, language="de"), ["de"], ""),
    (transcript(GERMAN, language="de"), [], ""),
    (transcript(*SPOKEN, language="en-GB"), ["en"], ""),
    (transcript(*SPOKEN, language="en"), ["de"], "en; allowed: de (record.languages)"),
])  # fmt: skip
def test_a_narrator_in_another_language_is_rejected(
    labels: Any, languages: list[str], why: str, tmp_path: Path
) -> None:
    made = recorded(tmp_path, {"transcript": labels, "narrator": narrator()}, languages)
    if why:
        assert rejected(made) == ("narrator speaks another language", why)
    else:
        assert made.rejected is None


@pytest.mark.parametrize(("spoken", "identified", "languages", "found", "flags"), [
    (SPOKEN, None, ["en"], "en", ()),
    (SPOKEN, {"spoken": "en"}, ["en"], "en", ()),
    ((GERMAN,), {"spoken": "de"}, ["de"], "de", ()),
    ((GERMAN,), None, ["de"], None, ("language unknown",)),
    ((GERMAN,), None, ["en"], "rejected", ()),
    ((GERMAN,), {"spoken": "de"}, ["en"], "rejected", ()),
])  # fmt: skip
def test_subtitles_name_no_language_so_their_words_tell_it(
    spoken: Any, identified: Any, languages: list[str], found: Any, flags: Any, tmp_path: Path
) -> None:
    subtitles = transcript(*spoken, source="subtitles", language=None)
    labels = {"transcript": subtitles, "narrator": narrator()}
    made = recorded(tmp_path, labels | ({"language": identified} if identified else {}), languages)
    if found == "rejected":
        assert rejected(made)[0] == "narrator speaks another language"
        return
    (essay,) = made.rows
    file = json.loads((tmp_path / "records" / "e1.json").read_text())
    assert (file["transcription"]["language"], essay.flags) == (found, flags)
    assert file["transcription"]["source"] == "subtitles"


@pytest.mark.parametrize("found", [None, narrator(None)])
def test_without_a_clear_narrator_an_essay_is_flagged(found: Any, tmp_path: Path) -> None:
    labels = {"transcript": LABELS["transcript"]} | ({"narrator": found} if found else {})
    (essay,) = recorded(tmp_path, labels).rows
    assert essay.flags == ("no clear narrator",)
    assert essay.narrator == (found or {})


def categorised(folder: Path, *replies: str | Reply, **fields: Any) -> tuple[Essay, list[str]]:
    stages = (record(), categorise())
    essay = fetched(folder, **fields)
    passed, server = take(folder, [essay], *stages, answer=by_turns(*replies), models=CURATOR)
    (made,) = passed[-1].out
    return made, [said_to(body) for body in server.requests]


def reply(category: str, confidence: float) -> str:
    return json.dumps({"category": category, "confidence": confidence, "reason": "It shows."})


def test_the_curator_is_shown_all_categories_the_metadata_and_what_is_said(tmp_path: Path) -> None:
    _, (prompt,) = categorised(tmp_path, reply("Static Visual Arts", 0.9))
    for name in CATEGORIES:
        assert all(part in prompt for part in (name, *SUBDOMAINS[name]))
    for text in ("Light in rooms", "Walls and Windows", "About old paintings.", SPOKEN[1][2]):
        assert text in prompt


@pytest.mark.parametrize(("curated", "inferred", "confidence", "category", "doubt"), [
    ("Static Visual Arts", "Static Visual Arts", 0.55, "Static Visual Arts", ""),
    ("Static Visual Arts", "Static Visual Arts", 0.54, "Static Visual Arts",
     "curator infers Static Visual Arts (confidence 0.54), which is not sure"),
    ("Static Visual Arts", "Game Arts", 0.99, "Static Visual Arts",
     "curator infers Game Arts (confidence 0.99), but it was searched under Static Visual Arts"),
    ("", "Game Arts", 0.8, "Game Arts", ""),
    ("", "Game Arts", 0.2, "", "curator infers Game Arts (confidence 0.2), which is not sure"),
])  # fmt: skip
def test_a_category_that_is_contradicted_or_not_sure_is_in_doubt(
    curated: str, inferred: str, confidence: float, category: str, doubt: str, tmp_path: Path
) -> None:
    essay, _ = categorised(tmp_path, reply(inferred, confidence), category=curated)
    assert (essay.category, essay.curation.get("doubt", "")) == (category, doubt)
    assert essay.curation["inferred"] == {
        "category": inferred, "confidence": confidence, "reason": "It shows.", "model": "curator",
    }  # fmt: skip


def test_a_curator_that_refuses_leaves_a_doubt(tmp_path: Path) -> None:
    refusal = completion(None, message={"refusal": "I will not."})
    essay, _ = categorised(tmp_path, refusal)
    doubt = "curator refuses to say which art it is about: I will not."
    assert essay.curation["doubt"] == doubt


def test_words_of_the_curator_that_never_fit_are_a_doubt_and_no_rejection(tmp_path: Path) -> None:
    essay, asked = categorised(tmp_path, "It is opera, I think.")
    assert essay.category == "Static Visual Arts"
    assert essay.curation["doubt"].startswith("curator gave no category that can be read")
    assert len(asked) == 4  # two tries, each with one repair
