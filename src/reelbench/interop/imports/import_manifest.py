"""The ``benchmark.yaml`` of an imported benchmark."""

from collections.abc import Sequence
from dataclasses import replace

from reelbench.base.files import file_part
from reelbench.data.items import NOTHING, Item, freeze
from reelbench.data.manifest import Manifest, Protocol, changed_protocol
from reelbench.interop.imports.items import tag_values
from reelbench.interop.imports.mapping import ImportMapping
from reelbench.interop.imports.output import PROMPTS
from reelbench.interop.imports.sources import ImportSource


def import_manifest(
    mapping: ImportMapping, read: ImportSource, items: Sequence[Item], name: str
) -> Manifest:
    """Return the manifest: title, licence, the values of tags, splits and protocol."""
    protocol = Protocol()
    if mapping.protocol:
        protocol = changed_protocol(protocol, "protocol", mapping.protocol)
    if read.prompts:
        protocol = replace(protocol, prompt=PROMPTS)
    values = tag_values(items)
    splits = values.get("split", ())
    all_split = splits and all(len(item.tag("split")) == 1 for item in items)
    return Manifest(
        name=file_part(name),
        version="1",
        title=mapping.title or read.title or name,
        licence=mapping.licence or read.licence,
        taxonomy=freeze({tag: list(found) for tag, found in values.items() if tag != "split"}),
        splits=freeze({split: {} for split in splits}) if all_split else NOTHING,
        protocol=protocol,
        tables=mapping.tables,
        extra=freeze({"paper": mapping.paper}) if mapping.paper else NOTHING,
    )
