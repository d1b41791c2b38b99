"""Whether what a rule found in a scene is true of it."""

import re
from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher
from typing import Any

import numpy as np

from people_rendered.heads import Head
from people_rendered.scenes import WIDTH, Part, Scene, place_at
from reelbench.recipes.humanvbench.clip_facts import boxes_of
from reelbench.recipes.humanvbench.rows import Candidate

_SECOND = 1.0  # by which an end of an interval may be off
_LEAST_WORDS = 0.9  # of a transcript that were said, in their order


class SceneTruth:
    """A scene, and who of its people is who in the labels of a clip."""

    def __init__(self, scene: Scene, heads: Sequence[Head], labels: Mapping[str, Any]) -> None:
        self.scene, self._heads, self._labels = scene, heads, labels
        self._found = {
            person["id"]: self._part(person["id"]) for person in labels["tracks"]["people"]
        }

    def is_right(self, row: Candidate) -> bool:
        """Whether the key of a candidate is right."""
        return bool(getattr(self, f"_{row.task.lower()}")(row))

    def _part(self, who: str) -> int | None:
        """Return which part a track follows throughout; None where it is none, or several."""
        seen = set()
        for box in (box for track in boxes_of(self._labels, who) for box in track):
            x, y = (box["box"][0] + box["box"][2]) / 2, (box["box"][1] + box["box"][3]) / 2
            seen.add(self._at(x, y, box["time"]))
        return seen.pop() if len(seen) == 1 else None

    def _at(self, x: float, y: float, time: float) -> int | None:
        for number, part in enumerate(self.scene.parts):
            head = self._heads[part.head]
            place = place_at(part, head, time)
            if place is None:
                continue
            left, top, right, bottom = head.face
            inside_x = place[0] + left - 15 <= x <= place[0] + right + 15
            if inside_x and place[1] + top - 15 <= y <= place[1] + bottom + 15:
                return number
        return None

    def _who(self, who: str) -> Part | None:
        number = self._found.get(who)
        return None if number is None else self.scene.parts[number]

    def _all_lettered(self, row: Candidate) -> bool:
        numbers = [self._found.get(who) for who in row.people]
        return None not in numbers and sorted(numbers) == list(range(len(self.scene.parts)))  # type: ignore[type-var]

    def _asd(self, row: Candidate) -> bool:
        key = self._who(row.key)
        only = sum(part.speaks for part in self.scene.parts) == 1
        return key is not None and key.speaks and only and self._all_lettered(row)

    def _avsm(self, row: Candidate) -> bool:
        looks = [self._heads[part.head].looks for part in self.scene.parts]
        voices = set(self.scene.voice_looks)
        key = self._who(row.key)
        if key is None or len(voices) != 1 or not self._all_lettered(row):
            return False
        (voice,) = voices
        return self._heads[key.head].looks == voice and looks.count(voice) == 1

    def _avad(self, _row: Candidate) -> bool:
        return any(part.speaks for part in self.scene.parts)

    def _scm(self, row: Candidate) -> bool:
        if [part.speaks for part in self.scene.parts] != [True]:
            return False
        return same_words(row.facts["transcript"], " ".join(self.scene.sentences))

    def _hc(self, row: Candidate) -> bool:
        return bool(row.facts["guess"] == len(self.scene.parts))

    def _atd(self, row: Candidate) -> bool:
        part = self._who(row.target)
        if part is None:
            return False
        true = self._visible(part)
        return bool(np.abs(np.subtract(row.facts["span"], true)).max() <= _SECOND)

    def _visible(self, part: Part) -> tuple[float, float]:
        """Return from when to when some of a face is in the picture."""
        head = self._heads[part.head]
        times = np.arange(0, self.scene.seconds, 0.04)
        places = [place_at(part, head, float(time)) for time in times]
        seen = [
            float(time)
            for time, place in zip(times, places, strict=True)
            if place and place[0] + head.face[0] < WIDTH and place[0] + head.face[2] > 0
        ]
        return seen[0], seen[-1]

    def _t2h(self, row: Candidate) -> bool:
        return self._all_lettered(row)


def fits(scene: Scene, heads: Sequence[Head], task: str) -> bool:
    """Whether a scene is one that a task can ask about, by its truth."""
    people = len(scene.parts)
    throughout = all(part.start == 0 and part.end > scene.seconds for part in scene.parts)
    speaking = sum(part.speaks for part in scene.parts)
    looks = [heads[part.head].looks for part in scene.parts]
    one_voice = len(set(scene.voice_looks)) == 1
    return {
        "ASD": 2 <= people <= 4 and speaking == 1,
        "AVSM": 2 <= people <= 4 and one_voice and looks.count(scene.voice_looks[0]) == 1,
        "AVAD": people <= 2 and speaking > 0 and scene.seconds > 8,
        "SCM": people == 1 and speaking == 1,
        "HC": people >= 3,
        "ATD": not throughout and scene.seconds > 7,
        "T2H": 4 <= people <= 6 and throughout,
    }[task]


def same_words(heard: str, said: str, share: float = _LEAST_WORDS) -> bool:
    """Whether nearly all words of a transcript, or such a share, were said, in their order."""
    words = _words(heard)
    blocks = SequenceMatcher(None, words, _words(said)).get_matching_blocks()
    return sum(block.size for block in blocks) >= share * len(words)


def _words(text: str) -> list[str]:
    return re.findall(r"[a-z']+", text.lower())
