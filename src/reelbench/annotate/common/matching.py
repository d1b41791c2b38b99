"""Which body belongs to which face: by where the face lies in the body, and by their sizes."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from reelbench.annotate.common.tracking import Box, Detection

RULES = ("place", "paper")
_INSIDE = 0.7  # share of a face that its body's box must hold
_ABREAST = 0.25  # face widths: distances that differ by less are the same
# How a face lies in the box of its own body: the usual value and how far it strays from it.
_WIDTH = 0.42, 0.5  # of the face, as a share of the body's; strays by a factor
_ABOVE = 0.3, 0.5  # from the top of the body to that of the face, in heights of the face
_ASIDE = 0.0, 0.2  # between the middles from left to right, in widths of the body
_LEAST_HEIGHT = 0.06  # of the face, as a share of the body's
_PLAUSIBLE = 0.02  # below it, a face does not belong to a body


def matched(
    faces: Sequence[Box], bodies: Sequence[Detection], rule: str = "place"
) -> list[tuple[int, int]]:
    """Return pairs of faces and bodies that belong together, as indices, each at most once.

    ``place`` takes the pairs that are the most plausible in sum; ``paper`` takes, one after the
    other, those whose middles are nearest from left to right and, of these, the smaller body.
    """
    if rule == "paper":
        return _nearest(faces, bodies)
    fits = fit_of(faces, bodies)
    rows, columns = linear_sum_assignment(fits, maximize=True)
    pairs = zip(rows.tolist(), columns.tolist(), strict=True)
    return [(face, body) for face, body in pairs if fits[face, body] > 0]


def fit_of(faces: Sequence[Box], bodies: Sequence[Detection]) -> NDArray[np.float64]:
    """Return how plausible each body is for each face, from 0 (not at all) to 1."""
    fits = [[_fit(face, body) for body in bodies] for face in faces]
    return np.array(fits, np.float64).reshape(len(faces), len(bodies))


def _fit(face: Box, body: Detection) -> float:
    if _inside(face, body.box) < _INSIDE:
        return 0.0
    wide, high = (face[n + 2] - face[n] for n in (0, 1))
    body_wide, body_high = (body.box[n + 2] - body.box[n] for n in (0, 1))
    if high < _LEAST_HEIGHT * body_high:
        return 0.0
    strays = (
        np.log(wide / body_wide / _WIDTH[0]) / _WIDTH[1],
        ((face[1] - body.box[1]) / high - _ABOVE[0]) / _ABOVE[1],
        (_apart(face, body.box) / body_wide - _ASIDE[0]) / _ASIDE[1],
    )
    fit = float(np.exp(-0.5 * np.square(strays).sum())) * (0.5 + 0.5 * body.score)
    return fit if fit >= _PLAUSIBLE else 0.0


def _nearest(faces: Sequence[Box], bodies: Sequence[Detection]) -> list[tuple[int, int]]:
    ranked = sorted(
        (int(_apart(face, body.box) / (_ABREAST * (face[2] - face[0]))), _area(body.box), f, b)
        for f, face in enumerate(faces)
        for b, body in enumerate(bodies)
        if _inside(face, body.box) >= _INSIDE
    )
    pairs: list[tuple[int, int]] = []
    for _, _, face, body in ranked:
        if all(face != f and body != b for f, b in pairs):
            pairs.append((face, body))
    return pairs


def _apart(face: Box, body: Box) -> float:
    """How far the middles are apart from left to right."""
    return abs(face[0] + face[2] - body[0] - body[2]) / 2


def _area(box: Box) -> float:
    return (box[2] - box[0]) * (box[3] - box[1])


def _inside(face: Box, body: Box) -> float:
    """The share of a face that is inside a body's box."""
    return shared(face, body) / max(_area(face), 1e-9)


def shared(some: Box, other: Box) -> float:
    """Return the area that two boxes share."""
    sides = [max(0.0, min(some[n + 2], other[n + 2]) - max(some[n], other[n])) for n in (0, 1)]
    return sides[0] * sides[1]
