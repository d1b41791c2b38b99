"""The quality review of 3.4, C.7 and C.8: rules by category, an audit of the pool, and the release.

Reviewers see the captions of an item's clips and all that is said in the essay, which evaluated
models never do. The prompts of Figures 16 and 17 are not in our copy: ``dimensions.yaml`` and the
prompts ``review``, ``summary`` and ``audit`` are ours.
"""

from collections.abc import Mapping
from importlib.resources import files
from typing import Any

from reelbench.base.yaml_files import load_yaml
from reelbench.data.items import Item
from reelbench.interop.musebench.taxonomy import SUBDOMAIN
from reelbench.make.parts.audit import audit
from reelbench.make.parts.quality_loop import refine
from reelbench.make.parts.reserve import release
from reelbench.make.pipeline.context import StageContext
from reelbench.make.pipeline.stage import Role
from reelbench.recipes.musebench.plan import RELEVANT, captions_of, listed_captions, narration_of
from reelbench.recipes.musebench.produce import PRODUCE
from reelbench.recipes.musebench.rows import Essay

_DIMENSIONS: Mapping[str, Any] = load_yaml(
    (files("reelbench.recipes.musebench") / "dimensions.yaml").read_text(encoding="utf-8")
)[0]
DIMENSIONS = {name: str(each["meaning"]) for name, each in _DIMENSIONS.items()}
DESTINATION_OF = {name: str(each["destination"]) for name, each in _DIMENSIONS.items()}
REVIEW_ROLES = {
    "reviewer": Role("reviews pilots where people have not, and audits the pool"),
    "summarizer": Role("merges failures of pilots onto types, writes rules", stands_in="writer"),
}


def review_material(item: Item, ctx: StageContext) -> str:
    """Return what a reviewer reads beside an item: captions of its clips, and the narration."""
    relevant = set(item.context.get(RELEVANT, ()))
    captions = captions_of(item, ctx)
    shown = [each for each in captions if each["clip"] in relevant] or captions
    return ctx.prompts.prompt(
        "material", captions=listed_captions(shown), transcript=narration_of(item, ctx)
    )


# C.7: a category leaves the loop after three rounds without a new type of failure.
REFINE = refine(
    PRODUCE, DIMENSIONS, DESTINATION_OF, rows=Essay, pilot=20, quiet=3, material=review_material
)
# C.8: seven systemic issues, over the whole pool.
AUDIT = audit(material=review_material, prompts=("material",))
# C.8 and Table 6: of 5,000 drafts 4,016 were released; the others are the reserve. Distractors are
# written again where options are alike.
RELEASE = release(share=0.8, regenerate=PRODUCE[-1:], tag=SUBDOMAIN)
