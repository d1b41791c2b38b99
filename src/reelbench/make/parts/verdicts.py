"""Verdicts of people: accepted items go on, rejected ones are dropped, the others wait."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import structs

from reelbench.base.files import json_line
from reelbench.base.progress import counted
from reelbench.data.item_rules import item_from_line
from reelbench.data.items import Item, freeze
from reelbench.data.verdicts import VERDICTS_FILE, Verdict, read_verdicts
from reelbench.lint.findings import TAGS
from reelbench.lint.fix import aligned
from reelbench.lint.items import release_tags
from reelbench.make.parts.balance import was_negated
from reelbench.make.parts.only import among_others
from reelbench.make.parts.verdict_agreement import agreement_table, positions_in
from reelbench.make.pipeline.context import StageContext
from reelbench.make.pipeline.stage import WAITING, BatchStage, Rejected, Undecided

REJECTED_BY_PEOPLE = "rejected by people"


def verdicts(
    file: str = VERDICTS_FILE,
    *,
    name: str = "verdicts",
    needed: int = 1,
    unanimous: bool = False,
    together: bool = False,
    applies: Callable[[Item], bool] = lambda _item: True,
    published_shares: Mapping[int, float] | None = None,
    **more: Any,
) -> BatchStage:
    """Return the stage that accepts, changes or rejects items as people decided.

    ``file`` has the verdicts (``data/verdicts.py``), as a path under the folder that is made; those
    that ``reelbench review`` settled are in ``verdicts.jsonl`` and are used in any case. ``needed``
    people must have decided, and most of them must agree: an item on which as many accept as reject
    waits for one more. With ``unanimous`` all must, the author included, and an item on which they
    do not is rejected. A settled verdict decides alone. A change counts as an acceptance; of
    several, those of the last person by name are used. The verdicts are noted in the item's
    provenance.

    Items to which the stage does not apply pass. With ``together``, none goes on before all are
    decided, for later stages that look at all of them. With ``published_shares`` of a paper, by how
    many agree, the page of the make has ours beside them; where they are empty, ours alone.
    """

    def work(
        items: Sequence[Item],
        ctx: StageContext,
        *,
        file: str,
        needed: int,
        together: bool = False,
    ) -> list[Item | Rejected | Undecided]:
        path = ctx.out / file
        given, reviewed = read_verdicts(path), read_verdicts(ctx.out / VERDICTS_FILE)
        chosen = [item for item in items if applies(item)]
        found = [verdicts_on(item, given, reviewed) for item in chosen]
        results = [
            decided(item, each, ctx.stage, needed, path, unanimous=unanimous)
            for item, each in zip(chosen, found, strict=True)
        ]
        if published_shares is not None:
            table = agreement_table(ctx.stage, found, needed, published_shares)
            ctx.tables.extend([table] if table else [])
        return among_others(items, chosen, _held(chosen, results) if together else results)

    parameters = {"file": file, "needed": needed} | ({"together": True} if together else {})
    return BatchStage(
        name=name,
        input=Item,
        output=Item,
        work=work,
        parameters=parameters,
        validate=lambda values: "" if values["needed"] >= 1 else "needed must be 1 or more",
        **more,
    )


def _held(
    items: Sequence[Item], results: Sequence[Item | Rejected | Undecided]
) -> Sequence[Item | Rejected | Undecided]:
    """Hold back what is decided while people are to decide about others."""
    pairs = zip(items, results, strict=True)
    waiting = [item for item, result in pairs if isinstance(result, Undecided)]
    if not waiting:
        return results
    why = f"{len(waiting):,} of {counted(len(items), 'item')} still need verdicts"
    return [
        Undecided(WAITING, f"{why}; it goes on with them", waiting)
        if isinstance(result, Item)
        else result
        for result in results
    ]


def verdicts_on(
    item: Item,
    given: Mapping[str, Sequence[Verdict]],
    reviewed: Mapping[str, Sequence[Verdict]],
) -> Sequence[Verdict]:
    """Return what was decided about an item: in the file of the stage, or else in a review."""
    found = _about(item, given)
    settled = _about(item, reviewed)
    return settled if not found and settled and settled[-1].settled else found


def _about(item: Item, given: Mapping[str, Sequence[Verdict]]) -> list[Verdict]:
    """Return the verdicts on an item as it is now; those on what had its id before are left out.

    A question that was turned into its opposite has the id of the one that was written: which of
    them a verdict without a digest is about, nobody can say.
    """
    digests = [item.content_digest, *([] if was_negated(item) else [""])]
    return [each for each in given.get(item.id, ()) if each.digest in digests]


def decided(
    item: Item,
    given: Sequence[Verdict],
    name: str,
    needed: int,
    path: Path,
    *,
    unanimous: bool = False,
) -> Item | Rejected | Undecided:
    """Return an item as people changed it, why they rejected it, or how many are still needed."""
    counting = [each for each in given if each.settled] or given
    needed = 1 if counting is not given else needed
    rejects = [each for each in counting if each.decision == "reject"]
    tied = 2 * len(rejects) == len(counting) and not unanimous
    lacking = max(needed - len(counting), int(tied))
    # Of what all of them reject, their reasons are told.
    disputed = len(positions_in(counting)) > 1 and len(rejects) < len(counting)
    if not lacking and unanimous and disputed:
        words = [f"{each.who}: {each.decision}, {each.comment}".rstrip(", ") for each in counting]
        return Rejected(REJECTED_BY_PEOPLE, "not all agree", words, {"verdicts": _facts(given)})
    if lacking:
        which = f', with "digest": "{item.content_digest}"' if was_negated(item) else ""
        return Undecided(WAITING, f"{counted(lacking, 'more verdict')} needed in {path}{which}")
    if 2 * len(rejects) > len(counting):
        tags = dict.fromkeys(tag for each in rejects for tag in each.tags)
        explained = [each for each in given if each.decision == "reject" and each.comment]
        words = list(dict.fromkeys(f"{each.who}: {each.comment}" for each in explained))
        facts = {"verdicts": _facts(given)}
        return Rejected(REJECTED_BY_PEOPLE, ", ".join(tags), words, facts)
    return _changed(item, given, counting, name, path)


def _changed(
    item: Item, given: Sequence[Verdict], counting: Sequence[Verdict], name: str, path: Path
) -> Item | Rejected | Undecided:
    fields: dict[str, Any] = {}
    for each in counting:
        fields |= each.new_fields
    made = _with_fields(item, fields, path) if fields else item
    if isinstance(made, Undecided):
        return made
    provenance = {**made.provenance, name: _facts(given)}
    return structs.replace(made, provenance=freeze(provenance))


def _with_fields(item: Item, fields: Mapping[str, Any], path: Path) -> Item | Undecided:
    """Return an item with other content, or what has to be decided anew: that may not be bad."""
    record = {**item.to_record(), **fields}
    made, problems = item_from_line(json_line(record).strip().encode())
    faults = [problem for problem in problems if not problem.is_warning]
    if made is None or faults:
        reasons = "; ".join(f"{p.field}: found {p.found}, expected {p.expected}" for p in faults)
        return Undecided(WAITING, f"with the changes in {path} it is not a valid item: {reasons}")
    if item.kind == "single" and (item.reference,) == item.correct and "reference" not in fields:
        made = structs.replace(made, reference=made.correct[0])  # it is the key, written out
    made = aligned(made)
    before = release_tags(item)
    if new := [tag for tag in release_tags(made) if tag not in before]:
        meant = "; ".join(f"{tag}: {TAGS[tag][1]}" for tag in new)
        return Undecided(WAITING, f"with the changes in {path} it would have {meant}")
    return made


def _facts(given: Sequence[Verdict]) -> list[dict[str, Any]]:
    facts = []
    for each in given:
        fact: dict[str, Any] = {"who": each.who, "decision": each.decision}
        fact |= {"settled": True} if each.settled else {}
        fact |= {"tags": list(each.tags)} if each.tags else {}
        fact |= {"rating": dict(each.rating)} if each.rating else {}
        fact |= {"changed": sorted(each.new_fields)} if each.new_fields else {}
        facts.append(fact)
    return facts
