"""Cinéaste's models with a reviewer, whose proposals of changes help the writer who is told so."""

import json
import re
from dataclasses import dataclass, field
from typing import Any

from actors import Actors, said_to
from servers import Reply, completion

HELP = "Let no distractor be dull; zzhelp."  # who is told this writes nothing that can be guessed
SCRIPT = "<script>document.title = 'stolen'</script>"
SILENT, WRONG_FIRST, HOSTILE = "Temporal Ordering", "Visual Reasoning", "State Changes"


@dataclass
class Reviewed(Actors):
    """Actors among whom the reviewer adds a line about distractors to every prompt.

    Of one category it sees no need, of one it loses a slot at first, of one its words are hostile.
    """

    prompts: list[str] = field(default_factory=list)  # that the reviewer was given
    complaints: list[str] = field(default_factory=list)  # about its replies
    down: bool = False  # whether the reviewer cannot be reached

    def __call__(self, body: dict[str, Any], number: int) -> Reply | None:
        if body["model"] != "reviewer":
            return super().__call__(body, number)
        with self.lock:
            self.asked["reviewer"] += 1
        if self.down:
            return 503, {}, b"no room"
        first, *more = [said_to({"messages": [each]}) for each in body["messages"]]
        with self.lock:
            (self.complaints if more else self.prompts).append(more[-1] if more else first)
        return completion(json.dumps(self.review(first, is_repair=bool(more))))

    def kind_of(self, name: object) -> str:
        """Who is told what helps writes nothing that can be guessed."""
        kind = super().kind_of(name)
        return "fine" if kind == "guessable" and HELP in str(name) else kind

    def review(self, prompt: str, *, is_repair: bool) -> dict[str, Any]:
        """Propose a line more, because of the drafts that did not pass."""
        category = re.search(r"benchmark about (.+) are written", prompt)[1]  # type: ignore[index]
        dropped = re.findall(r"^### (\S+): .* did not pass$", prompt, re.M)
        if category == SILENT:
            return {"reason": "The questions are at fault.", "drafts": [], "edits": []}
        section = prompt[prompt.index("# Distractors") :]
        old = re.search(r"^- .+$", section, re.M)[0]  # type: ignore[index]
        new = f"{old}\n- {HELP}" + (f" {SCRIPT}" if category == HOSTILE else "")
        new += f" Again, without {len(self.prompts)}." if "(Rejected: " in prompt else ""
        edits = [{"old": old, "new": new}]
        if category == WRONG_FIRST and not is_repair:
            edits.append({"old": "{{rules}}", "new": "the {{laws}}"})
        reason = f"Keys stand out. {SCRIPT if category == HOSTILE else 'They are longer.'}"
        return {"reason": reason, "drafts": dropped[:2], "edits": edits}
