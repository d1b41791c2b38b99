"""The behaviour of published parsers, so that a score can be told apart from how it was read.

Each is written anew from what the published program does, its odd sides included, and says its
rules in order. None of them decides a score of ours unless someone asks for it by name.
"""

from collections.abc import Mapping, Sequence

from reelbench.base.errors import ReelbenchError
from reelbench.base.extensions import split_file
from reelbench.base.seeds import rng_for
from reelbench.base.spelling import closest_name
from reelbench.evaluate.judge import Reply
from reelbench.evaluate.published_parsers.first_capital import (
    read_longvideobench,
    read_videomme,
)
from reelbench.evaluate.published_parsers.humanvbench import read_humanvbench
from reelbench.evaluate.published_parsers.mmmu import read_mmmu, read_nextqa
from reelbench.evaluate.published_parsers.mmmu_pro import read_mmmu_pro
from reelbench.evaluate.published_parsers.mmou import read_mmou
from reelbench.evaluate.published_parsers.mvbench import read_mvbench
from reelbench.evaluate.published_parsers.own import load_parser
from reelbench.evaluate.published_parsers.reading import ParserReading, PublishedParser
from reelbench.evaluate.published_parsers.vlmevalkit import (
    read_earlier,
    read_exact_matching,
    read_failed_judge,
    read_videomme_first,
)

__all__ = ["PUBLISHED", "ParserReading", "PublishedParser", "parsers_named", "read_as"]

PUBLISHED: Mapping[str, PublishedParser] = {
    parser.name: parser
    for parser in (
        PublishedParser("lmms-eval", read_videomme, "Video-MME, MLVU and others in lmms-eval"),
        PublishedParser("lmms-eval:mvbench", read_mvbench, "MVBench in lmms-eval"),
        PublishedParser("lmms-eval:nextqa", read_nextqa, "NExT-QA in lmms-eval, MMMU until 2025"),
        PublishedParser("lmms-eval:longvideobench", read_longvideobench, "LongVideoBench there"),
        PublishedParser("lmms-eval:mmmu", read_mmmu, "MMMU and MMMU-Pro in lmms-eval since"),
        PublishedParser("vlmevalkit", read_exact_matching, "VLMEvalKit, exact matching"),
        PublishedParser("vlmevalkit:earlier", read_earlier, "earlier versions of the same"),
        PublishedParser("vlmevalkit:guess", read_failed_judge, "VLMEvalKit, its judge failing"),
        PublishedParser("vlmevalkit:videomme", read_videomme_first, "Video-MME in VLMEvalKit"),
        PublishedParser("humanvbench", read_humanvbench, "HumanVBench's Evaluation.py"),
        PublishedParser("mmou", read_mmou, "MMOU in lmms-eval"),
        PublishedParser("mmmu-pro", read_mmmu_pro, "MMMU-Pro's evaluate.py"),
    )
}


def parsers_named(names: Sequence[str]) -> list[PublishedParser]:
    """Return the parsers of these names, each once; ``all`` names every published one."""
    wanted = [each for name in names for each in (PUBLISHED if name == "all" else [name])]
    return [_parser(name) for name in dict.fromkeys(wanted)]


def _parser(name: str) -> PublishedParser:
    """A parser by its name, or from ``FILE.py:NAME``; an unknown one is refused with the known."""
    if name in PUBLISHED:
        return PUBLISHED[name]
    if own := split_file(name):
        return load_parser(*own)
    near = closest_name(name, PUBLISHED)
    known = f"there are {', '.join(PUBLISHED)}; all; and FILE.py:NAME for one of your own"
    meant = f"perhaps {near} is meant" if near else known
    raise ReelbenchError(f"No parser is called {name!r} (--parser): {meant}.")


def read_as(parser: PublishedParser, reply: Reply, seed: int) -> ParserReading:
    """Return what a published parser makes of a reply; where it guesses, the guess by our seed.

    A guess keeps its ``draw``, so that it can be counted.
    """
    found = parser.read(reply.text, reply.options)
    if not found.draw:
        return found
    drawn = rng_for(seed, "parser guess", parser.name, *reply.key).randrange(found.draw)
    place = drawn if drawn < len(reply.options) else None
    return ParserReading(place, found.rule, found.draw)
