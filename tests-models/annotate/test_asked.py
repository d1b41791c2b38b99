"""How people look, in the words of a model that is shown them."""

import json
from pathlib import Path

import pytest
import yaml
from servers import completion, serving
from support import SHARED, run_here

CLIP = SHARED / "data" / "video" / "speech_two_faces.mp4"


@pytest.mark.skipif(not CLIP.is_file(), reason="the reference clips are not beside the project")
def test_each_person_is_shown_once_and_told_in_the_models_words(tmp_path: Path) -> None:
    clips = tmp_path / "clips"
    clips.mkdir()
    (clips / "two.mp4").write_bytes(CLIP.read_bytes())
    with serving(lambda body, number: completion(f"Someone, {number}.")) as server:
        card = tmp_path / "m.yaml"
        card.write_text(yaml.safe_dump({"name": "m", "endpoint": server.url}))
        words = ("annotate", clips, "--labels", "appearance", "--out", tmp_path / "labels")
        model = ("--model", f"captioner={card}")
        assert run_here(*words, *model) == 0
        assert len(server.requests) == 2
        for request in server.requests:
            parts = request["messages"][0]["content"]
            assert 1 <= sum(part["type"] == "image_url" for part in parts) <= 5
            assert "A person" in parts[-1]["text"]  # what was measured
        said = json.loads((tmp_path / "labels" / "labels" / "two.mp4.json").read_text())
        people = said["labels"]["appearance"]["value"]["people"]
        assert {person["text"] for person in people} == {"Someone, 0.", "Someone, 1."}
        assert all(person["facts"] for person in people)
        assert run_here(*words, *model) == 0
        assert len(server.requests) == 2
        # Without a model, the sentence is made of the facts again.
        assert run_here(*words) == 0
        said = json.loads((tmp_path / "labels" / "labels" / "two.mp4.json").read_text())
        assert said["labels"]["appearance"]["value"]["people"][0]["text"].startswith("A person")
