"""How numbers are written down: six digits, the same on any machine."""

from typing import overload


@overload
def rounded(value: float) -> float: ...
@overload
def rounded(value: None) -> None: ...
def rounded(value: float | None) -> float | None:
    """Round to what is worth writing down, and never write a minus before a zero."""
    return None if value is None else round(float(value), 6) + 0.0


def significant(value: float) -> float:
    """Round to four significant digits: what is not zero never becomes zero, however small."""
    return float(f"{value:.4g}")
