"""The rows of Q-Bench-Video before they are items: videos with scores, alone and in pairs."""

import msgspec


class Interval(msgspec.Struct, frozen=True):
    """A fifth of the range of a dataset's scores, and what was drawn of it (8, equation 3)."""

    low: float
    high: float
    there: int  # videos with such a score
    wanted: int  # its equal share of the sample
    drawn: int  # which is more where others were too thin


class Partner(msgspec.Struct, frozen=True, kw_only=True):
    """The second video of a pair, and the facts about the pair (16)."""

    id: str
    name: str
    path: str
    score: float
    interval: int
    difference: float  # of the two scores, without sign
    median: float  # of all differences of the dataset's pairs
    grain: str  # Compare-fine or Compare-coarse
    question_type: str = ""
    context: str = ""


class ScoredVideo(msgspec.Struct, frozen=True, kw_only=True):
    """A video with a score; stages add its interval, its pairs and what is asked about it."""

    id: str
    dataset: str
    content: str
    name: str
    score: float
    path: str  # in the source; empty where the dataset names no folder
    sample: int | None = None  # what datasets.yaml wants of the dataset
    pairs: int | None = None
    interval: int = 0  # from 1, the lowest scores
    intervals: tuple[Interval, ...] = ()  # all of the dataset's
    partners: tuple[Partner, ...] = ()  # of the pairs in which it comes first
    question_type: str = ""
    context: str = ""
