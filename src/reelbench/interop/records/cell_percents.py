"""Percentages of a spreadsheet as their cells show them."""

import math
import re
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Context, Decimal
from functools import lru_cache

_COLOUR = r"black|blue|cyan|green|magenta|red|white|yellow|color\s?\d{1,2}"
_PARTS = re.compile(  # of a format: the number, what shows nothing, and what is written as it is
    r"(?P<number>[0#]+(?:,[0#]+)*(?:\.[0#]*)?|\.[0#]+)"
    rf"|\[(?:{_COLOUR}|\$-[0-9a-f]+)\]|_.|\*."
    r"|\"(?P<quoted>[^\"]*)\"|\\(?P<escaped>.)|(?P<sign>.)",
    re.I | re.S,
)
_SIGNS = "%+-() \u00a0"  # that need no quotes
_EXACT = Context(prec=1000)  # digits: more than any number has in any format


@dataclass(frozen=True, slots=True)
class _Percent:
    """A format: the places of the number, and what stands on either side of it."""

    number: str  # 0 is a digit in any case, and # one that is left out at the ends where it is 0
    before: str
    after: str

    def written(self, value: float) -> str:
        """Return a share; halves go up, of the number as it is written and not as it is kept."""
        least, point, places = self.number.partition(".")
        unit = Decimal(1).scaleb(-len(places))
        rounded = Decimal(repr(value)).scaleb(2).quantize(unit, ROUND_HALF_UP, _EXACT)
        whole, _, decimals = f"{rounded.copy_abs():f}".partition(".")
        whole = whole.lstrip("0").rjust(least.count("0"), "0")
        if "," in least:
            whole = re.sub(r"(?<=\d)(?=(?:\d{3})+$)", ",", whole)
        kept = places.rfind("0") + 1
        decimals = decimals[:kept] + decimals[kept:].rstrip("0")
        minus = "-" if value < 0 else ""
        return f"{minus}{self.before}{whole}{point}{decimals}{self.after}".strip()


def is_percent_format(code: str) -> bool:
    """Whether a format shows a percentage."""
    return _percent(code) is not None


def percent_as_shown(value: float, code: str) -> str:
    """Return a percentage as its cell shows it; "" where its format shows none.

    What is below zero is shown as the rest is, with a minus: its own section may say it with a
    colour alone, which a text has not.
    """
    percent = _percent(code)
    return percent.written(value) if percent and math.isfinite(value) else ""


@lru_cache(maxsize=256)
def _percent(code: str) -> _Percent | None:
    """The first section of a format, where it is one number and a %."""
    number, percents, sides = "", 0, ["", ""]
    for found in _PARTS.finditer(code):
        sign = found["sign"] or ""
        if sign == ";":
            break
        if sign not in _SIGNS or (number and found["number"]):
            return None
        number = number or found["number"] or ""
        percents += sign == "%"
        sides[bool(number)] += found["quoted"] or found["escaped"] or sign
    return _Percent(number, *sides) if number and percents == 1 else None
