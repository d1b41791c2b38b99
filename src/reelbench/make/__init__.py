"""What recipes are composed of: stages, and what puts them together."""

from typing import TYPE_CHECKING

from reelbench.base.lazy import lazily

__all__ = [
    "BatchStage",
    "CaptionPlan",
    "Flag",
    "MediaInput",
    "QuestionForm",
    "Recipe",
    "Rejected",
    "Role",
    "RoundOutcome",
    "RoundState",
    "RowStage",
    "Sources",
    "StageContext",
    "WritingTask",
    "answer_and_rank",
    "audit",
    "balance_key_positions",
    "balance_ratio",
    "balance_yes_no",
    "caption_apart",
    "caption_in_order",
    "check_drafts",
    "check_narrator",
    "choose_negations",
    "collect",
    "distract",
    "feedback",
    "filter_above_chance",
    "filter_blind",
    "filter_context",
    "filter_ensemble",
    "filter_key_length",
    "filter_lint",
    "filter_modality",
    "filter_narrated",
    "filter_near_duplicates",
    "filter_shortcuts",
    "filter_transcript",
    "items_in",
    "label",
    "negate",
    "none_of_the_above",
    "only",
    "open_counterparts",
    "or_people",
    "perturb",
    "quota",
    "refine",
    "release",
    "repair_shortcuts",
    "report_narrators",
    "rounds",
    "same_manifest",
    "scenes",
    "silence",
    "split",
    "verdicts",
    "write",
]

if TYPE_CHECKING:
    from reelbench.client.media_input import MediaInput
    from reelbench.data.sources import Sources
    from reelbench.make.parts.answer_and_rank import answer_and_rank
    from reelbench.make.parts.audit import audit
    from reelbench.make.parts.balance_stages import (
        balance_key_positions,
        balance_ratio,
        balance_yes_no,
        choose_negations,
        negate,
        none_of_the_above,
        split,
    )
    from reelbench.make.parts.by_people import or_people
    from reelbench.make.parts.caption import caption_apart
    from reelbench.make.parts.caption_in_order import CaptionPlan, caption_in_order
    from reelbench.make.parts.check_narrator import check_narrator
    from reelbench.make.parts.counterparts import open_counterparts
    from reelbench.make.parts.distract import distract
    from reelbench.make.parts.drafts import QuestionForm, WritingTask
    from reelbench.make.parts.existing import collect, items_in, same_manifest
    from reelbench.make.parts.filters import (
        filter_above_chance,
        filter_blind,
        filter_context,
        filter_ensemble,
        filter_modality,
    )
    from reelbench.make.parts.label import label
    from reelbench.make.parts.narration_filters import filter_narrated, filter_transcript
    from reelbench.make.parts.narrator import silence
    from reelbench.make.parts.narrator_report import report_narrators
    from reelbench.make.parts.only import only
    from reelbench.make.parts.perturb import perturb
    from reelbench.make.parts.prompt_feedback import feedback
    from reelbench.make.parts.quality_loop import refine
    from reelbench.make.parts.quota import quota
    from reelbench.make.parts.repair_shortcuts import repair_shortcuts
    from reelbench.make.parts.reserve import release
    from reelbench.make.parts.rounds import RoundOutcome, RoundState, rounds
    from reelbench.make.parts.scenes import scenes
    from reelbench.make.parts.shortcuts import filter_shortcuts
    from reelbench.make.parts.static_filters import (
        filter_key_length,
        filter_lint,
        filter_near_duplicates,
    )
    from reelbench.make.parts.verdicts import verdicts
    from reelbench.make.parts.write import check_drafts, write
    from reelbench.make.pipeline.context import StageContext
    from reelbench.make.pipeline.stage import BatchStage, Flag, Recipe, Rejected, Role, RowStage

_HOMES = {
    "BatchStage": "pipeline.stage",
    "CaptionPlan": "parts.caption_in_order",
    "Flag": "pipeline.stage",
    "MediaInput": ".client.media_input",
    "QuestionForm": "parts.drafts",
    "Recipe": "pipeline.stage",
    "Rejected": "pipeline.stage",
    "Role": "pipeline.stage",
    "RoundOutcome": "parts.rounds",
    "RoundState": "parts.rounds",
    "RowStage": "pipeline.stage",
    "Sources": ".data.sources",
    "StageContext": "pipeline.context",
    "WritingTask": "parts.drafts",
    "answer_and_rank": "parts.answer_and_rank",
    "audit": "parts.audit",
    "balance_key_positions": "parts.balance_stages",
    "balance_ratio": "parts.balance_stages",
    "balance_yes_no": "parts.balance_stages",
    "caption_apart": "parts.caption",
    "caption_in_order": "parts.caption_in_order",
    "check_drafts": "parts.write",
    "check_narrator": "parts.check_narrator",
    "choose_negations": "parts.balance_stages",
    "collect": "parts.existing",
    "distract": "parts.distract",
    "feedback": "parts.prompt_feedback",
    "filter_above_chance": "parts.filters",
    "filter_blind": "parts.filters",
    "filter_context": "parts.filters",
    "filter_ensemble": "parts.filters",
    "filter_key_length": "parts.static_filters",
    "filter_lint": "parts.static_filters",
    "filter_modality": "parts.filters",
    "filter_narrated": "parts.narration_filters",
    "filter_near_duplicates": "parts.static_filters",
    "filter_shortcuts": "parts.shortcuts",
    "filter_transcript": "parts.narration_filters",
    "items_in": "parts.existing",
    "label": "parts.label",
    "negate": "parts.balance_stages",
    "none_of_the_above": "parts.balance_stages",
    "only": "parts.only",
    "or_people": "parts.by_people",
    "open_counterparts": "parts.counterparts",
    "perturb": "parts.perturb",
    "quota": "parts.quota",
    "refine": "parts.quality_loop",
    "release": "parts.reserve",
    "repair_shortcuts": "parts.repair_shortcuts",
    "report_narrators": "parts.narrator_report",
    "rounds": "parts.rounds",
    "same_manifest": "parts.existing",
    "scenes": "parts.scenes",
    "silence": "parts.narrator",
    "split": "parts.balance_stages",
    "verdicts": "parts.verdicts",
    "write": "parts.write",
}
__getattr__, __dir__ = lazily(__name__, _HOMES)
