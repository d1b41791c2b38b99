"""Models that answer, rank, change and judge as they are told, for stages of ensembles."""

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from parts import Studio, pictures
from servers import Reply, Server, completion
from support import make_item
from videos import make_video

from reelbench.data.items import Item
from reelbench.make.parts.answer_and_rank import answer_and_rank
from reelbench.make.parts.perturb import perturb

TYPES = {"time": "changes when it is", "colour": "changes a colour"}
DOG, SNOW, BELL = "a dog barks at the gate", "it snows on the roof", "a bell rings in the tower"


def open_item(number: int = 1, **fields: Any) -> Item:
    plain = {"kind": "open", "options": (), "answer": (), "question": f"What happens {number}?"}
    return make_item(number, **(plain | {"reference": BELL} | fields))


class Panel:
    """Models that answer, rank and change as they are told, by name."""

    def __init__(
        self,
        answers: Mapping[str, str],
        scores: Mapping[str, Sequence[float]],  # of the different answers, that of the item last
        changed: Sequence[Any] = (),
        same: Sequence[str] = (),  # what the judge takes for the key
    ) -> None:
        self.answers, self.scores, self.changed = answers, scores, list(changed)
        self.same = same
        self.seen: list[tuple[str, str, int]] = []  # who, which prompt, how many pictures

    def __call__(self, body: Any, _: int) -> Reply:
        text = body["messages"][0]["content"][-1]["text"]
        name = body["model"]
        if text.startswith("Answer this question"):
            kind, said = "candidate", json.dumps({"answer": self.answers[name]})
        elif "Suppose the right answer is true" in text:
            other = text.split("Other answer: ")[1].split("\n")[0]
            kind, said = "distinct", json.dumps({"distinct": other not in self.same})
        elif "Score each answer" in text:
            kind, said = "rank", json.dumps({"scores": self._scores(name, text)})
        else:
            kind, one = "perturb", self.changed.pop(0) if len(self.changed) > 1 else self.changed[0]
            said = json.dumps(one)
        self.seen.append((name, kind, pictures(body)))
        return completion(said)

    def _scores(self, name: str, text: str) -> Sequence[float]:
        """The scores in the order in which the candidates are shown; all of them, if ill-formed."""
        shown = re.findall(r"^\d+\. (.*)$", text, re.M)
        known = [*self.answers.values(), BELL]
        order = sorted(shown, key=known.index)
        scores = self.scores[name]
        if len(scores) != len(shown):
            return scores
        return [scores[order.index(candidate)] for candidate in shown]


def ensemble(
    folder: Path,
    panel: Panel,
    row: Item | None = None,
    cards: Sequence[Mapping[str, Any]] = (),
    **parameters: Any,
) -> tuple[Any, Server]:
    make_film(folder)
    known = {card["name"]: card for card in cards}
    models: dict[str, Any] = {
        "answerer": [known.get(name, {"name": name}) for name in panel.answers],
        "ranker": [known.get(name, {"name": name}) for name in panel.scores],
        "distractor": ["wit"],
    }
    stage = answer_and_rank(sampling="uniform:2", **parameters)
    result, server = Studio(folder, panel, models).work(stage, row or open_item())
    return (result[0] if isinstance(result, list) else result), server


def perturbed(folder: Path, *changed: Any, **parameters: Any) -> tuple[Any, Server]:
    """What becomes of an item one of whose wrong options means what its key means."""
    row = make_item(1, options=("a bell is ringing in the tower", BELL, SNOW), answer=("B",))
    studio = Studio(folder, Panel({}, {}, changed), {"distractor": ["wit"]})
    result, server = studio.work(
        perturb(**({"error_types": TYPES, "balance_lengths": False} | parameters)), row
    )
    return (result[0] if isinstance(result, list) else result), server


def make_film(folder: Path) -> None:
    path = folder / "media" / "1.mp4"
    if not path.exists():
        path.parent.mkdir(parents=True)
        make_video(path, seconds=1.0)
