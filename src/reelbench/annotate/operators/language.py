"""The language that is spoken or written, identified from the text of other labels.

The spoken language is taken from the transcript, where that has it (a speech model identifies it
better than a text), and else from its text. Texts are classified by py3langid: naive Bayes over
byte patterns, about 100 languages, 4.6 MB with its model, NumPy alone, BSD-3-Clause, maintained.
(lingua is better on single words, and 100 MB; fastText's model is not available from an index.)
"""

from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar

from reelbench.annotate.common.calibration import unless_unsure
from reelbench.annotate.operator import Clip, Labels, NotApplicable, Operator, Value
from reelbench.weights import import_extra


@dataclass(frozen=True)
class Language(Operator):
    """Identifies the spoken and the written language, each as an ISO 639 code, or None.

    The confidence is the probability of that language by the text, also where the transcript named
    the language: where the two disagree it is low. For a few words it is the transcript's. Below
    ``least_confidence`` a language is null, and ``guess`` has the likeliest one.
    """

    name = "language"
    version: ClassVar[int] = 2
    may_use: ClassVar[tuple[str, ...]] = ("transcript", "text")

    least_letters: int = 20  # of a text; fewer could be any language
    least_confidence: float = 0.5

    def __call__(self, clip: Clip, labels: Labels) -> Value:
        """Return the spoken and the written language."""
        if not {"transcript", "text"} & set(labels):
            raise NotApplicable(
                "The language is identified from transcript or text: add one of these labels."
            )
        transcript = labels.get("transcript", {})
        lines = labels.get("text", {}).get("lines", [])
        text = transcript.get("text", "")
        heard = transcript.get("language"), transcript.get("language_confidence", 0.0)
        found = {
            "spoken": self._language(text, *(heard if text.strip() else ())),
            "written": self._language("\n".join(line["text"] for line in lines)),
        }
        if all(language is None for language, _ in found.values()):
            raise NotApplicable("The clip has too few words to identify a language.")
        return {
            **{name: unless_unsure(*each, self.least_confidence) for name, each in found.items()},
            "guess": {name: language for name, (language, _) in found.items()},
            "confidence": {name: sure for name, (_, sure) in found.items()},
        }

    def _language(
        self, text: str, known: str | None = None, sure: float = 0.0
    ) -> tuple[str | None, float]:
        """Return the language of a text, or the one it is known to be in, and how sure that is."""
        if sum(letter.isalpha() for letter in text) < self.least_letters:
            return known, sure
        ranks = dict(_identifier().rank(text))
        language = known or max(ranks, key=lambda each: (ranks[each], each))
        return language, round(float(ranks.get(language, 0.0)), 4)


@cache
def _identifier() -> Any:
    """Its model takes a few seconds to unpack, once for each process."""
    langid = import_extra("py3langid.langid", "annotate")
    return langid.LanguageIdentifier.from_model_file(langid.MODEL_FILE, norm_probs=True)
