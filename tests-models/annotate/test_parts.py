"""Every operator that works in parts makes, of any parts, the label that it makes of the whole."""

import json
import math
from pathlib import Path
from typing import Any

import pytest
from support import SHARED

from reelbench.annotate import operator
from reelbench.annotate.operator import Clip, NotApplicable, PartOperator
from reelbench.annotate.registry import OPERATORS, in_order, load_operator
from reelbench.media.decode.probe import probe

VIDEO = SHARED / "data" / "video"
pytestmark = pytest.mark.skipif(not VIDEO.exists(), reason="../shared/data/video is not there")
IN_PARTS = [name for name in OPERATORS if isinstance(load_operator(name), PartOperator)]


@pytest.fixture(scope="module")
def labels_of() -> dict[str, dict[str, Any]]:
    """The labels that were made so far, by clip."""
    return {}


def made(name: str, clip: Clip, known: dict[str, Any]) -> Any:
    """The label of a clip in one piece, and all that it needs."""
    for each in in_order([name]):
        if each not in known:
            known[each] = load_operator(each)(clip, known)
    return known[name]


def test_many_operators_work_in_parts() -> None:
    names = "detections faces fingerprint motion mouth quality text unsafe"
    assert set(names.split()) <= set(IN_PARTS)


@pytest.mark.parametrize("file", ["speech_two_faces.mp4", "carphone_pristine.mp4"])
@pytest.mark.parametrize("name", IN_PARTS)
def test_parts_make_the_same_label(
    name: str, file: str, labels_of: dict[str, dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    clip = Clip(VIDEO / file, "", probe(Path(VIDEO / file)))
    known = labels_of.setdefault(file, {"shots": {"cuts": [], "shots": [], "transitions": []}})
    one = load_operator(name)
    assert isinstance(one, PartOperator)
    monkeypatch.setattr(operator, "PART_SECONDS", 1.7)
    spans = one.spans(clip)
    if name != "text":  # which is read anew at the beginning of each part, also in one piece
        monkeypatch.undo()
        assert one.spans(clip) == [(0.0, math.inf)]
    try:
        whole = made(name, clip, known)
    except NotApplicable as reason:
        pytest.skip(str(reason))
    read = {label: known[label] for label in one.reads if label in known}
    parts = json.loads(json.dumps([one.part(clip, read, span) for span in spans]))
    assert len(parts) >= 2
    assert json.dumps(one.merge(clip, read, parts)) == json.dumps(whole)
