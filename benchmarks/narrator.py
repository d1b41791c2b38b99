r"""How well a narrator is removed, and at what cost to the rest, by each method.

    python benchmarks/narrator.py [--clips FOLDER] [--split tune|held] [--only KIND] [--most N] \
        [--depth DB]
    python benchmarks/narrator.py [--clips FOLDER] --real

Narrators (rendered by espeak-ng, and real ones from FOLDER) speak over known music, songs, effects,
other people's talk, and nothing, at two levels, in turns that are known. FOLDER has the clips of
benchmarks/labelling/clips.yaml in tune/ and held/; without it, only what is in ../shared is used.
What was tuned was tuned on the split tune; the figures to believe are those of held. With --real,
the clips themselves are measured instead: turns are found, the one who speaks most is removed.

Words: the share of the narrator's words (as recognised when it speaks alone) that are recognised in
the result, with a 95 % interval over mixes. "rest alone" has no narrator: what is left there is
chance. Strained: the same where the turns alone are played, turned up, and all of it is listened
to. Flagged: clips of ten seconds that the recipe would flag. Rest and SDR: the level and the
scale-invariant signal-to-distortion ratio of the result against the known rest, within the turns.
Outside: what differs outside of them. Pace: CPU seconds for a second of sound, on one core.
"""

import argparse
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
from narrating.measured import CLIP, Measure, heard_in, heard_twice, labels_of, measures
from narrating.mixes import SHARED, mixes

from reelbench.annotate.common.audio import turns_of, within
from reelbench.annotate.common.narrator_left import sound_changes, timed_words, words_left
from reelbench.annotate.common.silenced_video import write_without_speaker
from reelbench.annotate.common.voice_removal import METHODS, VoiceRemoval, removal_spans
from reelbench.data.items import Span
from reelbench.media.decode.probe import probe

LEVELS = (3.0, 12.0)  # dB by which a narrator is louder than the rest
REAL = ("speech_two_faces.mp4", "video1.mp4", "video3.mp4", "video4.mp4", "video5.mp4")
REAL_CLIPS = ("lecture_a", "lecture_c", "talk_a", "talk_b")


def interval(measured: Sequence[Measure], counted: str) -> str:
    """Return the share of words that are left, with its interval over mixes."""
    left = np.array([getattr(each, counted) for each in measured])
    words = np.array([each.words for each in measured])
    if not words.sum():
        return "-"
    draws = np.random.default_rng(0).integers(0, len(left), (2000, len(left)))
    shares = left[draws].sum(1) / np.maximum(1, words[draws].sum(1))
    low, high = np.percentile(shares, (2.5, 97.5))
    return f"{100 * left.sum() / words.sum():5.1f} [{100 * low:.1f}, {100 * high:.1f}]"


def line(kind: str, method: str, own: Sequence[Measure]) -> str:
    """Return a line of the table."""
    flagged, clips = sum(each.flagged for each in own), sum(each.clips for each in own)
    fall, rest, sdr, outside = (
        np.median([getattr(each, name) for each in own])
        for name in ("fall", "rest", "sdr", "outside")
    )
    pace = np.mean([each.pace for each in own])
    return (
        f"{kind:9} {method:11} {len(own):3} {interval(own, 'left'):>20} "
        f"{interval(own, 'strained'):>20} {flagged:4}/{clips:<4} "
        f"{fall:7.1f} {rest:7.1f} {sdr:7.1f} {max(outside, -99):8.1f} {pace:6.2f}"
    )


def table(found: Iterable[Measure]) -> None:
    """Print the table: methods by material."""
    groups: dict[tuple[str, str], list[Measure]] = defaultdict(list)
    for each in found:
        groups[each.kind, each.method].append(each)
        groups["all", each.method].append(each)
    print(
        "under     method        n       words left, %          strained, %  flagged"
        "     fall    rest     SDR  outside   pace"
    )
    kinds = sorted({kind for kind, _ in groups} - {"all"})
    for kind in [*kinds, "all"]:
        for method in ("rest alone", "as it is", *METHODS):
            print(line(kind, method, groups[kind, method]))


def known_parts(
    split: str, clips: Path | None, only: str, most: int, depth: float
) -> list[Measure]:
    """Measure every mix of a split."""
    found: list[Measure] = []
    alone, under = {}, {}
    removals = [VoiceRemoval(method, depth=depth) for method in METHODS]
    for mix in mixes(split, clips, LEVELS):
        if only not in ("", mix.kind):
            continue
        if len(found) >= most * (len(METHODS) + 2) > 0:
            break
        narrator = mix.name.partition(" over ")[0]
        if narrator not in alone:
            alone[narrator] = heard_in(mix.narrator)
        if mix.bed not in under:
            under[mix.bed] = heard_twice(mix.rest, mix.turns)
        try:
            found += measures(mix, removals, alone[narrator], under[mix.bed])
        except KeyboardInterrupt:  # a long run can be ended early; what was measured is printed
            break
        kept = ", ".join(f"{each.method} {each.left}/{each.words}" for each in found[-5:])
        print(f"{mix.name} at {mix.db:+.0f} dB: {kept}", file=sys.stderr, flush=True)
    return found


def real(clips: Path | None) -> None:
    """Print what is left of who speaks most in real clips."""
    print("clip              method      turns, s  words  left  inside  outside  differs")
    paths = [SHARED / name for name in REAL]
    paths += [clips / "held" / f"{name}.mp4" for name in REAL_CLIPS] if clips else []
    for path in paths:
        labels = labels_of(path, "sound", "transcript", "turns")
        speakers = turns_of(labels["turns"])
        if not speakers:
            continue
        turns = max(speakers.values(), key=lambda spans: sum(e - s for s, e in spans))
        others = [span for spans in speakers.values() if spans is not turns for span in spans]
        for method in METHODS:
            removal = VoiceRemoval(method)
            end = probe(path).duration
            spans = removal_spans(turns, others, removal.margin, end)
            print(real_line(path, method, labels, spans, end), flush=True)


def real_line(
    path: Path, method: str, labels: dict[str, dict[str, object]], spans: list[Span], end: float
) -> str:
    """Return a line about one real clip."""
    before = timed_words(labels["transcript"])
    moments = np.array([word.time for word in before])
    spoken = [word for word, own in zip(before, within(moments, spans), strict=True) if own]
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "a.mp4"
        write_without_speaker(path, out, spans, VoiceRemoval(method), end)
        after = timed_words(labels_of(out, "sound", "transcript")["transcript"])
        (change,) = sound_changes(path, out, spans, [(0.0, end)])
    clips = [(start, start + CLIP) for start in np.arange(0, end, CLIP)]
    left = sum(sum(words_left(spoken, after, clip)) for clip in clips)
    seconds = sum(over - start for start, over in spans)
    figures = [change.inside, change.outside, change.error]
    shown = "".join("       -" if figure is None else f"{figure:8.1f}" for figure in figures)
    return f"{path.stem:17} {method:11} {seconds:8.1f} {len(spoken):6} {left:5} {shown}"


def main() -> None:
    """Print one table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clips", type=Path)
    parser.add_argument("--split", choices=("tune", "held"), default="held")
    parser.add_argument("--only", default="")
    parser.add_argument("--most", type=int, default=0, help="mixes at most; 0: all")
    parser.add_argument("--depth", type=float, default=90.0, help="dB of attenuate")
    parser.add_argument("--real", action="store_true")
    words = parser.parse_args()
    if words.real:
        real(words.clips)
    else:
        table(known_parts(words.split, words.clips, words.only, words.most, words.depth))


if __name__ == "__main__":
    main()
