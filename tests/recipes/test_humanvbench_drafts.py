"""HumanVBench: the items of closed tasks, by template; what people are to answer waits for them."""

from pathlib import Path
from typing import Any

import pytest
from human_clips import a_clip, candidate, reason, stage, take

from reelbench.data.items import Item

STAGES = ("select", "letters", "times", "draft")
CAPTION = "A woman with short hair and a blue scarf."


def item_of(folder: Path, task: str, labels: dict[str, Any], **texts: Any) -> Any:
    """The item of a clip, or why there is none."""
    seconds = labels["format"]["seconds"]
    row = candidate(task, seconds=seconds, video="make/videos/v.mp4", texts=texts)
    (outcome,) = take(folder, [row], {"c": labels}, *(stage(name) for name in STAGES))
    return outcome[0] if isinstance(outcome, list) else outcome


def test_who_speaks_also_offers_nobody_and_several(tmp_path: Path) -> None:
    item = item_of(tmp_path, "ASD", a_clip(10.0, 3))
    assert item.options[:3] == ("A", "B", "C")
    assert [("None" in text, "More than one" in text) for text in item.options[3:]] == [
        (False, True),
        (True, False),
    ]
    assert item.answer[0] in "ABC"


def test_whose_voice_asks_for_looks_and_offers_letters_alone(tmp_path: Path) -> None:
    item = item_of(tmp_path, "AVSM", a_clip())
    assert "looks" in item.question
    assert item.options == ("A", "B")


def test_alignment_offers_the_thirds(tmp_path: Path) -> None:
    item = item_of(tmp_path, "AVAD", a_clip(12.4))
    assert item.options == ("0 s", "4 s", "8 s")
    assert item.provenance["select"]["reversed_before"] == int(item.correct[0].split()[0])


def test_what_is_said_has_the_transcript_as_reference(tmp_path: Path) -> None:
    item = item_of(tmp_path, "SCM", a_clip(10.0, 1))
    assert (item.kind, item.reference) == ("open", "It rained all night long and then it stopped.")


def test_a_description_is_quoted(tmp_path: Path) -> None:
    item = item_of(tmp_path, "T2H", a_clip(10.0, 4), caption=CAPTION)
    assert item.question.endswith(CAPTION)
    assert item.options == ("A", "B", "C", "D")


def test_without_a_description_the_model_is_named(tmp_path: Path) -> None:
    why = item_of(tmp_path, "T2H", a_clip(10.0, 4))
    assert (reason(why), why.detail) == ("needs models", "Add --model captioner=NAME.")


@pytest.mark.parametrize("task", ["ASD", "AVSM", "AVAD", "SCM"])
def test_items_tell_task_dimension_and_confidence(task: str, tmp_path: Path) -> None:
    item = item_of(tmp_path, task, a_clip(10.0, 1 if task == "SCM" else 2))
    assert item.tags == {
        "category": task,
        "dimension": "Speech-Visual Alignment",
        "subject": "person",
    }
    assert 0.9 < item.provenance["select"]["confidence"] < 1


def completed(folder: Path, item: Item) -> Any:
    (outcome,) = take(folder, [item], {}, stage("complete"))
    return outcome[0] if isinstance(outcome, list) else outcome


class TestCompleted:
    def counting(self, tmp_path: Path) -> Item:
        count = {"people": None, "guess": 6, "confidence": 0.4}
        item = item_of(tmp_path, "HC", a_clip(count=count))
        assert isinstance(item, Item)
        return item

    def test_options_are_drawn_around_what_people_counted(self, tmp_path: Path) -> None:
        item = completed(tmp_path, self.counting(tmp_path).replace(reference="7"))
        assert (item.kind, item.correct, item.reference) == ("single", ("7",), None)
        assert all(abs(int(option) - 7) <= 4 for option in item.options)

    @pytest.mark.parametrize(("reference", "key"), [
        ("4.2", "4 s"), ("This is an ongoing action in the video.", None),
    ])  # fmt: skip
    def test_starts_are_whole_seconds_beside_the_sentence(
        self, reference: str, key: str | None, tmp_path: Path
    ) -> None:
        counting = self.counting(tmp_path)
        item = counting.replace(tags={**counting.tags, "category": "TSA"}, reference=reference)
        made = completed(tmp_path, item)
        assert made.correct == (key or reference,)
        assert len(made.options) == 5
        assert "This is an ongoing action in the video." in made.options
