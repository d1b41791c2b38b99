"""The items that a run is about, and what runs of different items have in common."""

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from reelbench.base.errors import ReelbenchError
from reelbench.base.progress import counted
from reelbench.data.benchmark import Benchmark
from reelbench.data.selection import Selection, selected_in_words, selection_from
from reelbench.evaluate.prompt import load_prompts


def of_run(benchmark: Benchmark, record: Mapping[str, Any]) -> Benchmark:
    """Return the part of a benchmark that a run is about."""
    return benchmark.whole.select(selection_of(record))


def of_runs(
    benchmark: Benchmark, runs: Mapping[Path, Mapping[str, Any]], common: bool = False
) -> Benchmark:
    """Return the part of a benchmark that these runs are about; refuse runs of other items.

    A part that was chosen of a benchmark (by ``Benchmark.select``) must be part of every run.
    ``common`` is for who takes the items alone that every model answered.
    """
    records = list(runs.values())
    if not benchmark.selection and len({selection_of(record) for record in records}) == 1:
        return of_run(benchmark, records[0])
    parts = {out: of_run(benchmark, record) for out, record in runs.items()}
    for out, part in parts.items():
        if not common and not _ids(benchmark) <= _ids(part):
            raise ReelbenchError(
                _other_items(benchmark, out, list(parts.values()), part, records[0]["seed"])
            )
    return benchmark


def _other_items(
    benchmark: Benchmark, out: Path, parts: Sequence[Benchmark], part: Benchmark, seed: int
) -> str:
    """Return why a run has not all the items that are to be scored, and what to do about it."""
    chosen = benchmark.selection
    asked = f"{out} asked {items_in_words(part)}"
    asked += f": not all of those of {chosen.in_words()}" if chosen else ", and another run others"
    if len(parts) == 1:
        return f"{asked}. Leave the choice out."
    shared = len(set.intersection(*map(_ids, parts)))
    if not shared:
        return f"{asked}. No item is in all of these runs: leave a run out, or report each alone."
    flags = _shared_flags(parts, seed)
    choose = f"choose items that all runs asked with {flags}, " if flags else ""
    return (
        f"{asked}: {choose}add --common for the items that every model answered (all runs asked "
        f"{counted(shared, 'item')}), or leave the run out."
    )


def _shared_flags(parts: Sequence[Benchmark], seed: int) -> str:
    """Return the flags that choose the most items that all runs asked; empty where none do.

    Which items a limit draws depends on what it draws from: that of one run may be no part of
    another, and so each choice is tried.
    """
    selections = [part.selection for part in parts]
    where = {tag: values for each in selections for tag, values in each.where.items()}
    split = next((each.split for each in selections if each.split), "")
    choices = [*selections, Selection(split, where)]
    found = {flags_of(each): _chosen(parts[0].whole, each, seed) for each in choices}
    asked = set.intersection(*map(_ids, parts))
    fitting = {flags: len(ids) for flags, ids in found.items() if flags and ids and ids <= asked}
    return max(fitting, key=fitting.__getitem__, default="")


def _chosen(whole: Benchmark, selection: Selection, seed: int) -> set[str]:
    """Return the ids of what the flags of a selection choose of several runs."""
    try:
        return _ids(whole.select(replace(selection, seed=seed, within=None)))
    except ReelbenchError:  # no item has all of it
        return set()


def _ids(part: Benchmark) -> set[str]:
    return {item.id for item in part.items}


def flags_of(selection: Selection) -> str:
    """Return the flags that make a selection, as they are typed."""
    words = [f"--split {shlex.quote(selection.split)}"] if selection.split else []
    words += [
        f"--where {shlex.quote(f'{tag}={value}')}"
        for tag, values in selection.where.items()
        for value in values
    ]
    words += [f"--limit {selection.limit}"] if selection.is_limited else []
    return " ".join(words)


def items_in_words(part: Benchmark) -> str:
    """Return how many items of a benchmark are meant, and which: "10 of 216 items: limit 10"."""
    return selected_in_words(len(part.items), len(part.whole.items), part.selection)


def left_by_limit(part: Benchmark) -> int:
    """Return how many items a limit leaves out."""
    if not part.selection.is_limited:
        return 0
    unlimited = replace(part.selection, limit=None, within=None)
    outer = part.whole.select(part.selection.within) if part.selection.within else part.whole
    return len(outer.select(unlimited).items) - len(part.items)


def selection_of(record: Mapping[str, Any]) -> Selection:
    """Return the selection in the record of a run."""
    return selection_from(record.get("benchmark", {}))


def part_to_run(
    benchmark: Benchmark, seed: int, earlier: Mapping[str, Any], out: Path
) -> Benchmark:
    """Return the items that a run is to ask: those chosen, added to what an earlier call chose.

    A run keeps its selection; a limit may be raised, so that only the new items cost anything.
    """
    chosen = benchmark.selection.seeded(seed)
    if not earlier:
        return benchmark.whole.select(chosen)
    kept = selection_of(earlier)
    if benchmark.selection.limit is None:
        chosen = replace(chosen, limit=kept.limit, seed=kept.seed)
    chosen = replace(
        chosen,
        split=chosen.split or kept.split,
        where=chosen.where or kept.where,
        within=chosen.within or kept.within,
    )
    reason = _refusal(chosen, kept)
    if reason:
        raise ReelbenchError(
            f"{out} holds a run of {kept.in_words()}, not of {chosen.in_words()}: {reason}"
        )
    return benchmark.whole.select(chosen)


def _refusal(chosen: Selection, kept: Selection) -> str:
    """Return what to do where a run cannot go on with other items; empty where it can."""
    otherwise = "to resume it, or name another folder with --out."
    flags = [
        flag
        for flag, one, other in (
            ("--split", chosen.split, kept.split),
            ("--where", chosen.where, kept.where),
            ("the part", chosen.within, kept.within),
        )
        if one != other
    ]
    if flags:
        return f"leave {' and '.join(flags)} out {otherwise}"
    if not chosen.is_limited:
        return ""
    if kept.is_limited and chosen.seed != kept.seed:
        return f"draw with seed {kept.seed} {otherwise}"
    if not kept.is_limited or (chosen.limit or 0) < (kept.limit or 0):
        return f"a limit can be raised, not lowered. Leave --limit out {otherwise}"
    return ""


def asked_alike(benchmark: Benchmark, runs: Mapping[Path, Mapping[str, Any]], name: str) -> bool:
    """Whether conditions of one name differ only because runs have other kinds of questions.

    The hash of a prompt is that of its texts for the kinds that were asked: each must be that of
    the texts there are now.
    """
    rest = []
    for run in runs.values():
        for condition in (each for each in run["conditions"] if each["name"] == name):
            kinds = {item.kind for item in of_run(benchmark, run).items}
            try:
                now = load_prompts(condition["prompt"], benchmark.root, kinds).digest
            except ReelbenchError:
                return False
            if condition["prompt_digest"] != now:
                return False
            rest.append({**condition, "prompt_digest": ""})
    return all(each == rest[0] for each in rest)
