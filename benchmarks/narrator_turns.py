"""How well the narrator of an essay is found, on mixes of known parts.

    python benchmarks/narrator_turns.py --meetings FOLDER --clips FOLDER --talkers FOLDER \
        --videos FOLDER --work FOLDER [--split held]

The folders are those of labelling/essays.py; what the models hear is kept in the last one. Of the
narrator's seconds, and of those of films, it counts which are in the narrator's turns; the speaker
with the most speech of the label ``turns`` is what one would take without ``narrator``.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from labelling.essays import Mix, Sources, mixes
from measuring.world import clip_of, table

from reelbench.annotate.common.audio import bridged, common, level_db, mono_sound, turns_of
from reelbench.annotate.common.ecapa import voice_embedding
from reelbench.annotate.common.narrator_evidence import LEVEL_STEP, total
from reelbench.annotate.common.voice_pieces import cut_turns
from reelbench.annotate.operators.narrator import Narrator
from reelbench.annotate.operators.sound import SoundEvents
from reelbench.annotate.operators.turns import Turns
from reelbench.data.items import Span
from reelbench.media.edit.audio import SPEECH_RATE, write_wav
from reelbench.score.intervals import wilson


def main() -> None:
    """Print what is found in each mix, and the sums."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ("meetings", "clips", "talkers", "videos", "work"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    parser.add_argument("--split", choices=("tune", "held"), default="held")
    options = parser.parse_args()
    folder = options.work / options.split
    folder.mkdir(parents=True, exist_ok=True)
    sources = Sources(options.meetings, options.clips, options.talkers, options.videos)
    found = [(mix, *heard(mix, folder)) for mix in mixes(sources, options.split)]
    rows = [row(mix, turns, label) for mix, turns, label in found]
    head = ("mix", "voices", "narrator", "confidence", "precision", "recall", "by turns", "")
    table(f"Mixes, {options.split}", head, rows)
    for kind in ("essay", "hard"):
        sums(kind, [each for each in found if each[0].name.startswith(kind)])
    none = [label["speaker"] is None for mix, _, label in found if not mix.narrator]
    print(f"without a narrator: {sum(none)} of {len(none)} {interval(sum(none), len(none))}")


def heard(mix: Mix, folder: Path) -> tuple[dict[str, list[Span]], dict[str, Any]]:
    """Return the turns of a mix, and its narrator."""
    path = folder / f"{mix.name.replace(' ', '_').replace(',', '')}.wav"
    write_wav(path, mix.samples[None], SPEECH_RATE)
    clip = clip_of(path)
    labels: dict[str, Any] = {"sound": SoundEvents()(clip, {})}
    labels["turns"] = Turns()(clip, labels)
    samples, turns = mono_sound(clip), turns_of(labels["turns"])
    levels = level_db(samples[None], SPEECH_RATE, LEVEL_STEP)
    pieces = cut_turns(samples, turns, voice_embedding)
    return turns, Narrator().judge(pieces, levels, labels)


def row(mix: Mix, turns: dict[str, list[Span]], label: dict[str, Any]) -> tuple[object, ...]:
    """Return what is found in one mix."""
    start = (mix.name, len(turns), label["speaker"] or "-", label["confidence"])
    if not mix.narrator:
        return (*start, "", "", "", label["reason"][:50])
    own, by_turns = (rates([(mix, spans)]) for spans in (spans_of(label), most_of(turns)))
    return (*start, own[0], own[1], f"{by_turns[0]:.3f} {by_turns[1]:.3f}", label["reason"][:50])


def sums(kind: str, found: Sequence[tuple[Mix, dict[str, list[Span]], dict[str, Any]]]) -> None:
    """Print precision, recall and what is taken of films, by seconds of all."""
    named = sum(label["speaker"] is not None for _, _, label in found)
    print(f"{kind}: named {named} of {len(found)} {interval(named, len(found))}")
    for name, spans in (
        ("narrator", [(mix, spans_of(label)) for mix, _, label in found]),
        ("turns", [(mix, most_of(turns)) for mix, turns, _ in found]),
    ):
        random = np.random.default_rng(1)
        draws = [
            rates([spans[n] for n in random.integers(len(spans), size=len(spans))])
            for _ in range(1000)
        ]
        low, high = np.quantile(draws, (0.025, 0.975), axis=0)
        words = [
            f"{what} {rate:.3f} ({a:.3f}-{b:.3f})"
            for what, rate, a, b in zip(
                ("precision", "recall", "of films"), rates(spans), low, high, strict=True
            )
        ]
        print(f"  {name}: {', '.join(words)}")


def rates(found: Sequence[tuple[Mix, list[Span]]]) -> tuple[float, float, float]:
    """Return precision and recall of the narrator's seconds, and the share of films in them."""
    right = sum(total(common(spans, mix.narrator)) for mix, spans in found)
    taken = sum(total(common(spans, mix.films)) for mix, spans in found)
    every = sum(total(spans) for _, spans in found)
    narrated, filmed = (
        sum(total(getattr(mix, part)) for mix, _ in found) for part in ("narrator", "films")
    )
    return right / max(every, 1e-9), right / narrated, taken / max(filmed, 1e-9)


def spans_of(label: dict[str, Any]) -> list[Span]:
    """Return the turns of the narrator, or of the guess."""
    return bridged([(start, end) for start, end in label["turns"]], 0.3)


def most_of(turns: dict[str, list[Span]]) -> list[Span]:
    """Return the turns of the speaker with the most speech."""
    return max(turns.values(), key=total)


def interval(right: int, count: int) -> str:
    """Return a 95 % interval in brackets."""
    low, high = wilson(right / count, count)
    return f"({low:.2f}-{high:.2f})"


if __name__ == "__main__":
    main()
