"""Samplings as text: which frames of a clip a model is shown.

``uniform:16``             the centres of 16 equal parts
``uniform:16,start``       frames ``int(N/n)*i``, as Q-Bench-Video's own code picks them
``uniform:16,inner``       frames ``int(i * (N/(n+1)))``, as VLMEvalKit picks them
``uniform:32,ends``        frames from the first to the last, evenly (linspace)
``fps:2``                  every half second, from the start
``fps:2,max=64``           the same, or 64 uniform frames where that would be more
``times:1.5,3,10``         these moments
``keyframes:8``            at most 8 frames that differ most, by visual change (``keyframes.py``)
``query:8``                the 8 frames that fit the question best, by text-image embeddings

Behind any of them, ``evidence=only`` or ``evidence=except`` samples the item's evidence alone, or
all but it.
"""

import math
import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

import numpy as np

from reelbench.base.errors import ReelbenchError
from reelbench.data.items import Span

MOST_FRAMES = 10_000
MOST_CHOSEN = 256  # by what they show
_NUMBER = r"\d{1,7}(?:\.\d{1,9})?"
_FORM = re.compile(
    rf"(?:uniform:(?P<count>\d{{1,7}})(?:,(?P<pick>start|inner|ends))?"
    rf"|fps:(?P<rate>{_NUMBER})(?:,max=(?P<most>\d{{1,7}}))?"
    rf"|times:(?P<times>{_NUMBER}(?:,{_NUMBER})*)"
    r"|(?P<choice>keyframes|query):(?P<chosen>\d{1,7}))"
    r"(?:,evidence=(?P<evidence>only|except))?"
)


@dataclass(frozen=True, slots=True)
class Sampling:
    """A parsed sampling; ``text`` is its canonical spelling, which goes into the request key."""

    text: str
    count: int | None = None
    pick: Literal["centres", "start", "inner", "ends"] = "centres"
    rate: float | None = None
    most: int | None = None
    moments: tuple[float, ...] = ()
    evidence: Literal["only", "except"] | None = None
    choice: Literal["keyframes", "query"] | None = None  # by what the frames show, not by time

    @property
    def counts_frames(self) -> bool:
        """Whether it picks frames by number, so that the time of every frame must be known."""
        return self.pick != "centres"

    def shared_by(self, media: int) -> "Sampling":
        """Return the sampling of one of several media that share the budget: 8 + 8 of 16."""
        if media == 1:
            return self
        count = self.count and max(1, self.count // media)
        most = self.most and max(1, self.most // media)
        return replace(self, text=f"{self.text};shared={media}", count=count, most=most)

    def at_most(self, frames: int) -> "Sampling":
        """Return the sampling limited to a number of frames; 0 is no limit."""
        if not frames or (self.count or self.most or len(self.moments) or frames + 1) <= frames:
            return self
        if self.moments:
            raise ReelbenchError(
                f"the sampling {self.text} has more times than the {frames} frames that the model "
                "takes"
            )
        limited = replace(self, count=self.count and frames, most=frames if self.rate else None)
        return replace(limited, text=_spelled(limited))

    def spans(self, start: float, end: float, evidence: Sequence[Span]) -> list[Span]:
        """Return the parts of a clip to sample from, in order and apart from each other."""
        if self.evidence is None:
            return [(start, end)]
        inside = _merged([(max(start, a), min(end, b)) for a, b in evidence])
        if self.evidence == "only":
            return inside
        edges = [start, *(edge for span in inside for edge in span), end]
        pairs = zip(edges[::2], edges[1::2], strict=True)
        return [(a, b) for a, b in pairs if b > a]

    def times(self, spans: Sequence[Span], frames: Sequence[float] = ()) -> list[float]:
        """Return the times to sample from these parts of a clip.

        ``frames`` are the times of all its frames; only ``counts_frames`` needs them.
        """
        assert not self.choice, "what frames show is not known here"
        if not spans:
            return []
        if self.moments:
            return [m for m in self.moments if any(a <= m < b for a, b in spans)]
        if self.counts_frames:
            inside = [time for time in frames if any(a - 1e-9 <= time < b for a, b in spans)]
            return [inside[place] for place in self._places(len(inside))] if inside else []
        length = sum(b - a for a, b in spans)
        if self.rate is not None:
            # A frame at the very end would lie past the last one.
            count = max(1, math.ceil(length * self.rate - 1e-9))
            if self.most is not None and count > self.most:
                return _centres(spans, length, self.most)
            if count > MOST_FRAMES:
                raise ReelbenchError(
                    f"the sampling {self.text} selects {count} frames, over the limit of "
                    f"{MOST_FRAMES}: write for example {self.text},max=64"
                )
            return _along(spans, [number / self.rate for number in range(count)])
        assert self.count is not None
        return _centres(spans, length, self.count)

    def _places(self, total: int) -> list[int]:
        """The indices of the frames to show, of a total, as the named code computes them."""
        count = self.count or 1
        if self.pick == "start":
            places = [int(total / count) * number for number in range(count)]
        elif self.pick == "inner":
            step = total / (count + 1)  # divided first, as theirs is: it matters to the rounding
            places = [int(number * step) for number in range(1, count + 1)]
        else:
            places = np.linspace(0, total - 1, count, dtype=int).tolist()
        return [min(place, total - 1) for place in places]


def _merged(spans: Sequence[Span]) -> list[Span]:
    merged: list[Span] = []
    for start, end in sorted(span for span in spans if span[1] > span[0]):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def _centres(spans: Sequence[Span], length: float, count: int) -> list[float]:
    return _along(spans, [(number + 0.5) * length / count for number in range(count)])


def _along(spans: Sequence[Span], distances: Sequence[float]) -> list[float]:
    """Return the moments at these distances along the spans, as if they were joined."""
    reached = [0.0]
    for start, end in spans:
        reached.append(reached[-1] + end - start)
    times = []
    for distance in distances:
        place = min(max(bisect_left(reached, distance + 1e-9) - 1, 0), len(spans) - 1)
        times.append(spans[place][0] + distance - reached[place])
    return times


@lru_cache(maxsize=256)  # few are different, and each question asks for one
def parse_sampling(text: str) -> Sampling:
    """Return the sampling of a text; raise an error that lists the valid forms."""
    match = _FORM.fullmatch(text.strip())
    sampling = _from_match(match) if match else None
    if sampling is None:
        raise ReelbenchError(
            f"The sampling {text!r} is not valid: write uniform:16 (or uniform:16,start, "
            "uniform:16,inner, uniform:16,ends), fps:2, fps:2,max=64, times:1.5,3, keyframes:8 or "
            f"query:8 (at most {MOST_CHOSEN}), with at most {MOST_FRAMES} frames, "
            "optionally followed by ,evidence=only or ,evidence=except."
        )
    return sampling


def _from_match(match: re.Match[str]) -> Sampling | None:
    sampling = Sampling(
        text="",
        count=int(match["count"] or match["chosen"]) if match["count"] or match["chosen"] else None,
        choice=match["choice"],  # type: ignore[arg-type]
        pick=match["pick"] or "centres",  # type: ignore[arg-type]
        rate=float(match["rate"]) if match["rate"] else None,
        most=int(match["most"]) if match["most"] else None,
        moments=tuple(sorted(map(float, match["times"].split(",")))) if match["times"] else (),
        evidence=match["evidence"],  # type: ignore[arg-type]
    )
    largest = max(sampling.count or 0, sampling.most or 0, len(sampling.moments))
    none = 0 in (sampling.count, sampling.rate, sampling.most)
    most = MOST_CHOSEN if sampling.choice else MOST_FRAMES
    return None if none or largest > most else replace(sampling, text=_spelled(sampling))


def _spelled(sampling: Sampling) -> str:
    """Return the canonical text of a sampling, so that equal requests are equal texts."""
    if sampling.count is not None:
        text = f"{sampling.choice or 'uniform'}:{sampling.count}"
        text += f",{sampling.pick}" if sampling.pick != "centres" else ""
    elif sampling.rate is not None:
        text = f"fps:{_number(sampling.rate)}"
        text += f",max={sampling.most}" if sampling.most else ""
    else:
        text = "times:" + ",".join(map(_number, sampling.moments))
    return text + (f",evidence={sampling.evidence}" if sampling.evidence else "")


def _number(value: float) -> str:
    return f"{value:.9f}".rstrip("0").rstrip(".")
