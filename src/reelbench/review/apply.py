"""Put what people decided into a benchmark: what stays, what is changed, what goes, what is new."""

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from reelbench.base.errors import ReelbenchError
from reelbench.base.files import digest_of, json_line, write_atomically
from reelbench.data.benchmark import ITEMS_FILE, MANIFEST_FILE, Benchmark, items_text, read_items
from reelbench.data.items import Item
from reelbench.data.manifest import Manifest, read_manifest
from reelbench.data.written import task_of
from reelbench.make.pipeline.folder import read_make
from reelbench.review.decisions import Decision, decisions, settled_decisions, verify_queues
from reelbench.review.errors import ActionError
from reelbench.review.people import Person
from reelbench.review.review import Review
from reelbench.review.state import ReviewState, item_of

PROVENANCE = "review"  # where an item says who decided about it


@dataclass(slots=True)
class DecidedBenchmark:
    """A benchmark as people decided it, and what that changes; the lists are of ids."""

    items: list[Item] = field(default_factory=list)
    rejects: list[dict[str, Any]] = field(default_factory=list)
    accepted: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    added: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    outdated: list[str] = field(default_factory=list)  # edited since; left as they are

    @property
    def is_new(self) -> bool:
        """Whether it differs from what is in the folder."""
        return bool(self.accepted or self.changed or self.added or self.removed)

    @property
    def digest(self) -> str:
        """The hash of what it would be, by which one says that it is what one was shown."""
        return digest_of([items_text(self.items), self.removed])

    @property
    def rejects_text(self) -> str:
        """The file of what was rejected, with tags."""
        return "".join(json_line(each) for each in self.rejects)


def decided_benchmark(review: Review) -> DecidedBenchmark:
    """Return the benchmark with all that is settled in it; what nobody decided stays.

    Rows that wait in a recipe are not added: they go on with ``reelbench make``, as does what
    people wrote for its tasks. What else they wrote is added as it is where no queue verifies
    candidates.
    """
    made = DecidedBenchmark()
    settled: dict[str, list[Decision]] = {}
    for queue in verify_queues(review):
        for name in queue.items():
            settled.setdefault(name, []).extend(settled_decisions(queue, name))
    there = read_items(review.root / ITEMS_FILE).items
    for item in there:
        _take(made, review.state, item, settled.get(item.id, []), is_there=True)
    ids = {item.id for item in there}
    verified = any(q.protocol.items in ("candidates", "all") for q in verify_queues(review))
    candidates = {**review.state.written, **review.state.imported}
    for name, subject in sorted(candidates.items()):
        if name in ids or subject.item is None or task_of(subject.item):
            continue
        if name in settled:
            _take(made, review.state, subject.item, settled[name], is_there=False)
        elif not verified and name in review.state.written:
            made.items.append(subject.item)
            made.added.append(name)
    made.rejects = [
        _reject(each, review.state)
        for each in decisions(review)
        if each.verdict and each.verdict.decision == "reject"
        if not each.protocol.is_about_prompts
    ]
    return made


def _take(
    made: DecidedBenchmark, state: ReviewState, item: Item, found: list[Decision], is_there: bool
) -> None:
    """Put one item where it belongs; what was decided about other versions of it is not used."""
    version = state.version(item.content_digest)
    current = [each for each in found if state.version(each.seen) == version]
    new = [each for each in current if not _is_in(item, each)]
    if any(each.verdict and each.verdict.decision == "reject" for each in current):
        made.removed += [item.id] if is_there else []
        return
    if new:
        before = item
        for each in new:
            item = with_decision(item, each)
        edited = _content(before) != _content(item)
        names = made.added if not is_there else made.changed if edited else made.accepted
        names.append(item.id)
    elif not current and not all(_is_in(item, each) for each in found):
        made.outdated.append(item.id)
    if is_there or new:
        made.items.append(item)


def _is_in(item: Item, decision: Decision) -> bool:
    """Whether an item carries this decision already."""
    entries = item.provenance.get(PROVENANCE, ())
    return any(
        isinstance(each, Mapping)
        and (each.get("queue"), each.get("time")) == (decision.protocol.name, decision.time)
        for each in entries
    )


def with_decision(item: Item, decision: Decision) -> Item:
    """Return an item with the changes of a decision, and with who decided it in its provenance."""
    verdict = decision.verdict
    assert verdict is not None
    before = item.to_record()
    fields = verdict.new_fields
    entry: dict[str, Any] = {
        "queue": decision.protocol.name,
        "protocol": decision.protocol.digest[:16],
        "decision": verdict.decision,
        "who": decision.who,
        "reviewers": sorted(decision.progress.verdicts),
        "time": decision.time,
    }
    if fields:
        entry["changes"] = {
            name: {"before": before.get(name), "after": fields[name]} for name in sorted(fields)
        }
    earlier = item.provenance.get(PROVENANCE, ())
    provenance = {**item.provenance, PROVENANCE: [*earlier, entry]}
    return item_of({**before, **fields, "provenance": msgspec.to_builtins(provenance)})


def _content(item: Item) -> Item:
    return item.replace(provenance={})


def _reject(decision: Decision, state: ReviewState) -> dict[str, Any]:
    item = decision.subject.item if decision.subject else None
    record = item.to_record() if item else state.taken_out.get(decision.item)
    verdict = decision.verdict
    assert verdict is not None
    rejecting = [v for v in decision.progress.verdicts.values() if v.decision == "reject"]
    words = [f"{each.who}: {each.comment}" for each in rejecting if each.comment]
    return {
        "id": decision.item,
        "stage": decision.protocol.name,
        "reason": "rejected by people",
        "detail": ", ".join(verdict.tags),
        "tags": list(verdict.tags),
        "words": words,
        "who": decision.who,
        "time": decision.time,
        **({"row": record} if record else {}),
    }


def manifest_of(root: Path) -> Manifest:
    """Return the manifest of a folder, or one with its name where it has none yet."""
    manifest, _ = read_manifest(root / MANIFEST_FILE)
    return manifest or Manifest(root.resolve().name, "1")


def apply_decisions(
    review: Review, person: Person, digest: str = ""
) -> tuple[DecidedBenchmark, str]:
    """Replace the items of a benchmark by what people decided; return that and the old file's name.

    The old file stays beside the new one, and an event says that the change is ours. With a
    ``digest``, nothing is done where it would be another benchmark than that.
    """
    with review.changing():
        made = decided_benchmark(review)
        if digest and made.digest != digest:
            raise ActionError("More was settled meanwhile: look at what would change, then decide.")
        if not made.is_new:
            raise ReelbenchError("Nothing new is settled: the benchmark is as people decided it.")
        _check(review.root, made.items)
        before = {item.id: item for item in read_items(review.root / ITEMS_FILE).items}
        kept = _keep_old(review.root)
        body = {
            "became": _became(review, made),
            "rejected": {name: before[name].to_record() for name in made.removed},
            "kept": kept,
            "counts": counts_of(made),
        }
        # First, so that what is in the file is known to be ours, whatever happens in between.
        review.record(person, "applied", body)
        if not (review.root / MANIFEST_FILE).exists():
            write_atomically(review.root / MANIFEST_FILE, manifest_of(review.root).to_yaml())
        write_atomically(review.root / ITEMS_FILE, items_text(made.items))
    return made, kept


def _became(review: Review, made: DecidedBenchmark) -> dict[str, str]:
    """Return the hashes of what people decided about, each with that of what they made of it."""
    there = {**review.state.written, **review.state.imported}
    before = {name: subject.digest for name, subject in there.items()}
    before |= {each.id: each.digest for each in review.files.benchmark()}
    after = {item.id: item.content_digest for item in made.items}
    return {before[name]: after[name] for name in [*made.changed, *made.added]}


def counts_of(made: DecidedBenchmark) -> dict[str, int]:
    """Return how many items each list has."""
    names = ("items", "accepted", "changed", "added", "removed", "outdated")
    return {name: len(getattr(made, name)) for name in names}


def made_by(root: Path) -> str:
    """Return the recipe that writes the items of a folder, where one does."""
    return str(read_make(root).get("recipe", ""))


def _check(root: Path, items: list[Item]) -> None:
    """Refuse what would be no benchmark, with everything that is wrong."""
    with tempfile.TemporaryDirectory() as folder:
        Benchmark(root, manifest_of(root), tuple(items)).save(folder)


def _keep_old(root: Path) -> str:
    path = root / ITEMS_FILE
    if not path.exists():
        return ""
    stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S%fZ")
    name = f"items-before-{stamp}.jsonl"
    write_atomically(root / name, path.read_bytes())
    return name
