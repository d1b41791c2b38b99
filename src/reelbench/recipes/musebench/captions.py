"""Phase B (C.4): a caption of every clip, told what is said in it and what came before."""

from msgspec import structs

from reelbench.make.parts.caption_in_order import CaptionPlan, caption_in_order
from reelbench.make.pipeline.context import StageContext
from reelbench.make.pipeline.stage import RowStage
from reelbench.recipes.musebench.fetch import essay_file
from reelbench.recipes.musebench.records import transcription_record
from reelbench.recipes.musebench.rows import Essay
from reelbench.recipes.musebench.vocabulary import vocabulary


def caption(sampling: str = "fps:1") -> RowStage:
    """Return the stage that captions the clips of essays; the captions are kept in the store."""
    return caption_in_order(_plan, _kept, Essay, sampling)


def _plan(essay: Essay, ctx: StageContext) -> CaptionPlan:
    return CaptionPlan(
        # Its frames are those of the file without the narrator, which may not be written yet.
        path=essay_file(essay, ctx),
        clips=essay.clips,
        speech=transcription_record(essay, ctx)["transcription"]["segments"],
        guidance=vocabulary(essay.category).caption_guidance,
    )


def _kept(essay: Essay, digest: str) -> Essay:
    return structs.replace(essay, captions=digest)
