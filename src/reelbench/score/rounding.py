"""Rounding: six digits in files, few for people, ties away from zero everywhere."""

from decimal import ROUND_HALF_UP, Decimal
from typing import overload

_NOISE = 14  # digits of a float that are worth something after a few sums; the rest is its error
_LARGE = 1e15  # a float that is larger, or no number at all, has no digits behind the point


@overload
def rounded(value: float) -> float: ...
@overload
def rounded(value: None) -> None: ...
def rounded(value: float | None) -> float | None:
    """Round to what is worth writing down, and never write a minus before a zero."""
    if value is None or not abs(value) < _LARGE:
        return None if value is None else float(value)
    return float(_half_up(_decimal(value), 6)) + 0.0


def percent(share: float, digits: int = 1) -> str:
    """Write a share in percent: ``12.5%``."""
    return f"{points(share, digits)}%"


def points(share: float, digits: int = 1) -> str:
    """Write a share or a difference of shares in points of a hundred, without a sign behind it."""
    return fixed(_decimal(share) * 100, digits)


def signed(share: float, digits: int = 1) -> str:
    """Write a difference of shares in points, always with a sign."""
    text = points(share, digits)
    return text if text.startswith("-") else f"+{text}"


def fixed(value: float | Decimal, digits: int) -> str:
    """Write a number with so many digits behind the point."""
    found = _half_up(value if isinstance(value, Decimal) else _decimal(value), digits)
    return f"{abs(found) if found.is_zero() else found:f}"


def _decimal(value: float) -> Decimal:
    """The decimal that a float was meant to be: 0.285, though the float lies a little below."""
    return Decimal(f"{float(value):.{_NOISE}g}")


def _half_up(value: Decimal, digits: int) -> Decimal:
    return value.quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP)


def significant(value: float) -> float:
    """Round to four significant digits: what is not zero never becomes zero, however small."""
    return float(f"{value:.4g}")
