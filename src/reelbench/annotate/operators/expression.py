"""Describes what each face expresses, over time, by a model that is shown the face alone."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from reelbench.annotate.ask_model import ModelOnlyOperator, ask_text, prompt_of
from reelbench.annotate.common.crops import FaceView, best_of, face_views, people_in
from reelbench.annotate.common.pictures import CroppedPictures, TimedBox, enlarged
from reelbench.annotate.operator import Clip, Labels, NotApplicable, Value
from reelbench.base.errors import ReelbenchError
from reelbench.client.client import Client
from reelbench.models.base import ChatModel

_AROUND = (0.3, 0.3, 0.3, 0.3)  # of a face's width and height, shown around it: hair and chin


@dataclass(frozen=True)
class Expression(ModelOnlyOperator):
    """Makes ``{"model", "people": [{"id", "text", "times"}]}``; it needs a model that sees."""

    name: ClassVar[str] = "expression"
    needs: ClassVar[tuple[str, ...]] = ("faces", "tracks")

    frames: int = 8  # of each face at the most, spread over the time that it is seen
    size: str = "long:512"
    least_height: float = 32.0  # pixels of a face whose expression can be seen

    async def ask(self, clip: Clip, labels: Labels, client: Client, model: ChatModel) -> Value:
        """Return a description of each face that is large enough, in the words of a model."""
        if not model.card.sees:
            raise ReelbenchError(
                f"{model.card.name} cannot tell what faces express: its card does not have "
                "`sees: true`. Write that there if it is so, or name another captioner."
            )
        people = []
        for person, tracks in zip(people_in(labels), face_views(labels), strict=True):
            seen = [view for track in tracks for view in track]
            chosen = best_of([v for v in seen if v.height >= self.least_height], self.frames)
            if chosen:
                text = await self._described(clip, chosen, client, model)
                times = [view.time for view in chosen]
                people.append({"id": person["id"], "text": text, "times": times})
        if not people:
            raise NotApplicable(f"No face is {self.least_height:g} pixels high.")
        return {"model": model.card.name, "people": people}

    async def _described(
        self, clip: Clip, views: Sequence[FaceView], client: Client, model: ChatModel
    ) -> str:
        crops = tuple(TimedBox(view.time, enlarged(view.box, _AROUND)) for view in views)
        times = ", ".join(f"{view.time:.1f} s" for view in views)
        prompt = prompt_of("expression", count=str(len(views)), times=times)
        return await ask_text(client, model, prompt, CroppedPictures(clip, crops, self.size))
