"""What a run would refuse before it starts: samplings, encodings, prompts and rubrics."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from reelbench.base.errors import ReelbenchError
from reelbench.data.benchmark import MANIFEST_FILE
from reelbench.data.items import Item, Kind
from reelbench.data.manifest import Manifest
from reelbench.evaluate.condition import PROTOCOL, conditions_for
from reelbench.evaluate.prompt import load_prompts
from reelbench.evaluate.rubric import load_rubric
from reelbench.lint.findings import Finding


def protocol_findings(manifest: Manifest, root: Path, items: Sequence[Item]) -> Iterator[Finding]:
    """Yield what a run would refuse in the benchmark's protocol and conditions, each once."""
    kinds = {item.kind for item in items}
    reported: set[str] = set()
    for name in (PROTOCOL, *manifest.conditions):
        for fault in _faults(manifest, name, root, kinds):
            if fault not in reported:
                reported.add(fault)
                yield Finding.of("BAD_FIELD", f"{MANIFEST_FILE}: {fault}")


def _faults(manifest: Manifest, name: str, root: Path, kinds: set[Kind]) -> Iterator[str]:
    try:
        conditions = conditions_for(manifest, None, [name])
    except ReelbenchError as error:
        yield str(error)
        return
    for condition in conditions:
        try:
            load_prompts(condition.protocol.prompt, root, kinds)
        except ReelbenchError as error:
            yield str(error)
        try:
            if "open" in kinds:
                load_rubric(condition.protocol.rubric, root)
        except ReelbenchError as error:
            yield str(error)
