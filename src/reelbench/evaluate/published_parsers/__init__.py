"""The behaviour of published parsers, so that a score can be told apart from how it was read.

Each is written anew from what a named version of the published program does, its odd sides
included, and says its rules in order; `benchmarks/parsers.py --peer` runs the program's own code
beside it. None of them decides a score of ours unless someone asks for it by name.
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
from reelbench.evaluate.published_parsers.lmms_eval import read_shared
from reelbench.evaluate.published_parsers.mmmu import read_nextqa
from reelbench.evaluate.published_parsers.mmmu_pro import read_mmmu_pro
from reelbench.evaluate.published_parsers.mmou import read_mmou
from reelbench.evaluate.published_parsers.mvbench import read_mvbench
from reelbench.evaluate.published_parsers.own import load_parser
from reelbench.evaluate.published_parsers.reading import ParserReading, PublishedParser
from reelbench.evaluate.published_parsers.vlmevalkit import (
    read_anywhere,
    read_exact_matching,
    read_failed_judge,
    read_unannounced,
    read_videomme_first,
)

__all__ = ["PUBLISHED", "ParserReading", "PublishedParser", "parsers_named", "read_as"]

# The newest version of each program first: a name without a version means that one.
_PARSERS = (
    PublishedParser("lmms-eval", read_shared, "lmms-eval: Video-MME, MLVU and others", "0.7.2"),
    PublishedParser(
        "lmms-eval", read_videomme, "lmms-eval: Video-MME until 0.7.1", "before-9ca4445d"
    ),
    PublishedParser("lmms-eval:mvbench", read_mvbench, "lmms-eval: MVBench", "0.7.2"),
    PublishedParser("lmms-eval:nextqa", read_nextqa, "lmms-eval: NExT-QA, MMMU, MMMU-Pro", "0.7.2"),
    PublishedParser(
        "lmms-eval:longvideobench", read_longvideobench, "lmms-eval: LongVideoBench", "0.7.2"
    ),
    PublishedParser("vlmevalkit", read_exact_matching, "VLMEvalKit: exact matching", "a67ace50"),
    PublishedParser(
        "vlmevalkit", read_unannounced, "VLMEvalKit: until June 2026", "before-a67ace50"
    ),
    PublishedParser(
        "vlmevalkit", read_anywhere, "VLMEvalKit: until August 2025", "before-c3371551"
    ),
    PublishedParser(
        "vlmevalkit:guess", read_failed_judge, "VLMEvalKit: a judge that fails", "a67ace50"
    ),
    PublishedParser(
        "vlmevalkit:videomme", read_videomme_first, "VLMEvalKit: Video-MME", "a67ace50"
    ),
    PublishedParser("humanvbench", read_humanvbench, "HumanVBench: Evaluation.py", "1ae56c0e"),
    PublishedParser("mmou", read_mmou, "lmms-eval: MMOU", "lmms-eval-0.7.3"),
    PublishedParser("mmmu-pro", read_mmmu_pro, "MMMU-Pro: evaluate.py", "8ac826a"),
)
PUBLISHED: Mapping[str, PublishedParser] = {parser.name: parser for parser in _PARSERS}
_NEWEST = {parser.program: parser for parser in reversed(_PARSERS)}
_SAME = {  # versions that read as another does
    "lmms-eval@0.7.3": "lmms-eval@0.7.2",
    "lmms-eval@0.7.1": "lmms-eval@before-9ca4445d",
}
_INSTEAD = {  # former names
    "lmms-eval:mmmu": "lmms-eval:nextqa",
    "vlmevalkit:earlier": "vlmevalkit@before-c3371551",
}


def parsers_named(names: Sequence[str]) -> list[PublishedParser]:
    """Return the parsers of these names, each once; ``all`` names every published one."""
    wanted = [each for name in names for each in (PUBLISHED if name == "all" else [name])]
    return [*dict.fromkeys(map(_parser, dict.fromkeys(wanted)))]


def _parser(name: str) -> PublishedParser:
    """A parser by its name, or from ``FILE.py:NAME``; an unknown one is refused with the known."""
    if found := PUBLISHED.get(_SAME.get(name, name)) or _NEWEST.get(name):
        return found
    if own := split_file(name):
        return load_parser(*own)
    near = _INSTEAD.get(name) or closest_name(name, [*_NEWEST, *PUBLISHED])
    raise ReelbenchError(
        f"No parser is called {name!r} (--parser){f': perhaps {near} is meant' if near else ''}. "
        f"There are {', '.join(PUBLISHED)} (without a version, the newest of them); all; and "
        "FILE.py:NAME for one of your own."
    )


def read_as(parser: PublishedParser, reply: Reply, seed: int) -> ParserReading:
    """Return what a published parser makes of a reply; where it guesses, the guess by our seed.

    A guess keeps its ``draw``, so that it can be counted.
    """
    found = parser.read(reply.text, reply.options)
    if not found.draw:
        return found
    drawn = rng_for(seed, "parser guess", parser.program, *reply.key).randrange(found.draw)
    place = drawn if drawn < len(reply.options) else None
    return ParserReading(place, found.rule, found.draw)
