"""What every page shares: theme, templates, content policy, tables and figures.

A page is a template of its own room that extends ``base.html.j2``; ``page`` fills it in, with the
theme, our scripts, and a policy that lets a browser run nothing else.
"""

from reelbench.pages.figure import COLOURS, Figure, colour_of
from reelbench.pages.histogram import Distribution, distribution
from reelbench.pages.render import page, render
from reelbench.pages.table import Table
from reelbench.pages.text import number, plural, shortened, units

__all__ = [
    "COLOURS",
    "Distribution",
    "Figure",
    "Table",
    "colour_of",
    "distribution",
    "number",
    "page",
    "plural",
    "render",
    "shortened",
    "units",
]
