"""Arrow files, as the Hugging Face library saves datasets to disk: a stream of batches of rows."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from reelbench.base.extras import install_command
from reelbench.data.items import shown
from reelbench.interop.records.parquet import rows_in
from reelbench.interop.records.record import Found, UnreadableError

ENDING = ".arrow"
_BATCH = 256
_FILE = b"ARROW1"  # the other form of Arrow files, with an index at its end


def read_arrow(path: Path, file: str) -> Found:
    """Return the records of an Arrow file; bytes that are no text are None."""
    try:
        import pyarrow
    except ImportError:
        expected = f"pyarrow, which reads it: {install_command('parquet')}"
        raise UnreadableError("an Arrow file", expected) from None
    try:
        with pyarrow.memory_map(str(path)) as source:
            is_file = source.read(len(_FILE)) == _FILE
            source.seek(0)
            opened = pyarrow.ipc.open_file if is_file else pyarrow.ipc.open_stream
            with opened(source) as reader:
                places = range(reader.num_record_batches) if is_file else ()
                batches = map(reader.get_batch, places) if is_file else reader
                small = (part for batch in batches for part in _parts(batch))
                return rows_in(small, tuple(map(str, reader.schema.names)), file)
    except (pyarrow.ArrowException, OSError, ValueError) as error:
        found = f"broken Arrow ({shown(str(error), 120)})"
        raise UnreadableError(found, "a whole file") from None


def _parts(batch: Any) -> Iterator[Any]:
    """The rows of a batch, a few at a time, so that a limit is noticed before memory is."""
    for start in range(0, batch.num_rows, _BATCH):
        yield batch.slice(start, _BATCH)
