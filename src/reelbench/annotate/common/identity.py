"""Face identity: embeddings of 128 numbers, similar for one person (SFace, through OpenCV)."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reelbench.annotate.common.crops import opencv
from reelbench.annotate.common.tracking import Detection
from reelbench.media.decode.decode import Image
from reelbench.weights import from_weights

Embedding = NDArray[np.float64]  # of length 1


def aligned_face(image: Image, face: Detection) -> Image:
    """Return a face cut out by its five points: 112 pixels wide and high, the eyes level."""
    left, top, right, bottom = face.box
    points = [axis for point in face.points for axis in point]
    row = np.array([[left, top, right - left, bottom - top, *points, face.score]], np.float32)
    cut: Image = _recogniser().alignCrop(image[:, :, ::-1].copy(), row)[:, :, ::-1]
    return cut


def embedding(straight: Image) -> Embedding:
    """Return the embedding of an aligned face; the dot product of two is their similarity."""
    bgr = np.ascontiguousarray(straight[:, :, ::-1])
    return unit(_recogniser().feature(bgr)[0].astype(np.float64))


def unit(vector: Embedding) -> Embedding:
    """Return a vector of length 1."""
    length = np.linalg.norm(vector)
    return vector / length if length else vector


def frontality(points: Sequence[tuple[float, float]]) -> float:
    """Return how frontal a face is, from its points: 1 from the front, 0 from the side."""
    (left_eye, _), (right_eye, _), (nose, _) = points[:3]
    apart = abs(right_eye - left_eye)
    aside = abs(nose - (left_eye + right_eye) / 2)
    return max(0.0, 1.0 - 2 * aside / apart) if apart else 0.0


def grouped(
    begun: Sequence[Sequence[int]],
    alike: NDArray[np.float64],
    together: NDArray[np.bool_],
    above: float,
    weights: NDArray[np.float64] | None = None,
) -> list[list[int]]:
    """Merge groups, the most similar first, while their mean similarity is above a limit.

    ``together`` has which two may be in one group: those seen at the same time may not. In the
    mean, each counts by its weight.
    """
    groups = [list(group) for group in begun]
    weight = np.ones(len(alike)) if weights is None else weights
    weighed = alike * np.outer(weight, weight)
    # Sums over the pairs of two groups, which are easily kept up to date; and what is allowed.
    sums = np.array([[weighed[np.ix_(a, b)].sum() for b in groups] for a in groups])
    fits = np.array([[together[np.ix_(a, b)].all() for b in groups] for a in groups], dtype=bool)
    sizes = np.array([weight[group].sum() for group in groups], np.float64)
    while groups:
        means = np.where(fits, sums / np.outer(sizes, sizes), -np.inf)
        np.fill_diagonal(means, -np.inf)
        if means.max() <= above:
            break
        first, second = sorted(divmod(int(means.argmax()), len(groups)))
        groups[first] += groups[second]
        sizes[first] += sizes[second]
        sums[first] += sums[second]
        sums[:, first] = sums[first]
        fits[first] &= fits[second]
        fits[:, first] = fits[first]
        fits[second] = fits[:, second] = False  # it is part of the first now
        groups[second] = []
    return [sorted(group) for group in groups if group]


@from_weights("face_identity")
def _recogniser(path: Path) -> Any:
    cv2 = opencv()
    recogniser = cv2.FaceRecognizerSF.create(str(path), "")
    recogniser.feature(np.zeros((112, 112, 3), np.uint8))  # another kind of model fails here
    return recogniser
