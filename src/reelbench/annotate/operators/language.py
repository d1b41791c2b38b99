"""The language that is spoken or written, told from the words of other labels.

What is said has its language from the transcript, where that knows it (a speech model hears it
better than anyone reads it), and else from its text. Texts are read by py3langid: naive Bayes over
byte patterns, about 100 languages, 4.6 MB with its model, NumPy alone, BSD-3-Clause, and kept up.
(lingua is better on single words, and 100 MB; fastText's model cannot be had from an index.)
"""

from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar

from reelbench.annotate.operator import Clip, Labels, NotApplicable, Operator, Value
from reelbench.weights import import_extra


@dataclass(frozen=True)
class Language(Operator):
    """Say which language is spoken and which is written, each as an ISO 639 code, or None.

    The confidence is the probability of that language by the text, from 0 to 1, also where the
    transcript named the language: where the two disagree it is low.
    """

    name = "language"
    may_use: ClassVar[tuple[str, ...]] = ("transcript", "text")

    least_letters: int = 20  # of a text; fewer could be any language

    def __call__(self, clip: Clip, labels: Labels) -> Value:
        """Read what there is."""
        if not {"transcript", "text"} & set(labels):
            raise NotApplicable(
                "Neither transcript nor text is there to tell the language from: ask for one too."
            )
        transcript = labels.get("transcript", {})
        lines = labels.get("text", {}).get("lines", [])
        heard = self._language(transcript.get("text", ""), transcript.get("language"))
        read = self._language("\n".join(line["text"] for line in lines))
        if heard[0] is None and read[0] is None:
            raise NotApplicable("There are too few words in it to tell a language from.")
        return {
            "spoken": heard[0],
            "written": read[0],
            "confidence": {"spoken": heard[1], "written": read[1]},
        }

    def _language(self, text: str, known: str | None = None) -> tuple[str | None, float | None]:
        """Return the language of a text, or the one it is known to be in, and how sure that is."""
        if sum(letter.isalpha() for letter in text) < self.least_letters:
            return (known or None) if text.strip() else None, None
        ranks = dict(_identifier().rank(text))
        language = known or max(ranks, key=lambda each: (ranks[each], each))
        return language, round(float(ranks.get(language, 0.0)), 4)


@cache
def _identifier() -> Any:
    """Its model takes a few seconds to unpack, once for each process."""
    langid = import_extra("py3langid.langid", "annotate")
    return langid.LanguageIdentifier.from_model_file(langid.MODEL_FILE, norm_probs=True)
