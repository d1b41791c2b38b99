"""Times that a spreadsheet keeps as hours and minutes, and that may be minutes and seconds.

Who types 0:05 into Excel gets a cell that shows 0:05 and holds five minutes. What was meant is not
in the file: it is taken as the spreadsheet has it, and said, and ``times_as`` decides.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from reelbench.data.items import NOTHING, shown
from reelbench.interop.imports.mapping import ImportMapping, columns_in, several
from reelbench.interop.records import SheetTime, SourceRecord

TIME_FIELDS = ("start", "end", "span", "evidence", "subtitles_start")
_DAY = 24 * 3600


@dataclass(frozen=True, slots=True)
class SheetTimes:
    """How the times of a spreadsheet are read, and which of them may have been meant otherwise."""

    times_as: str = ""
    columns: frozenset[str] = frozenset()  # with times of a spreadsheet
    are_whole: bool = False  # whether none of them has seconds
    doubtful: Mapping[str, SheetTime] = NOTHING  # the first of each column that has one

    def in_seconds(self, record: SourceRecord) -> SourceRecord:
        """Return a row with the seconds that its times mean, for the fields of a time."""
        values = {name: record.values.get(name) for name in self.columns}
        seconds = {n: self._seconds(v) for n, v in values.items() if isinstance(v, SheetTime)}
        if not seconds:
            return record
        return SourceRecord({**record.values, **seconds}, record.file, record.line)

    def _seconds(self, time: SheetTime) -> float:
        is_typed = self.times_as == "mm:ss" and _may_be_minutes(time, self.are_whole)
        return time.seconds // 60 if is_typed else time.seconds

    def doubts(self) -> Iterator[str]:
        """Say of which columns the times may be minutes and seconds, and what decides it."""
        if not self.doubtful or self.times_as:
            return
        first = next(iter(self.doubtful.values()))
        columns = ", ".join(map(shown, self.doubtful))
        yield (
            f"The times in {columns} are kept by the spreadsheet as hours and minutes: "
            f"{str(first)!r} was taken as h:mm, {first.seconds:,} s. If they are mm:ss "
            f"({first.seconds // 60:,} s): --set times_as=mm:ss; if not, --set times_as=h:mm."
        )


def sheet_times(mapping: ImportMapping, records: Sequence[SourceRecord]) -> SheetTimes:
    """Return how the times of rows are read, as a mapping says, and which are in doubt."""
    sources = [part for name in TIME_FIELDS for part in several(mapping.fields.get(name, ()))]
    found: dict[str, list[SheetTime]] = {}
    for column in dict.fromkeys(name for source in sources for name in columns_in(source)):
        values = (record.values.get(column) for record in records)
        if times := [value for value in values if isinstance(value, SheetTime)]:
            found[column] = times
    are_whole = all(time.seconds % 60 == 0 for times in found.values() for time in times)
    unclear = {
        name: [time for time in times if time.seconds and _may_be_minutes(time, are_whole)]
        for name, times in found.items()
    }
    doubtful = {name: times[0] for name, times in unclear.items() if times}
    return SheetTimes(mapping.times_as, frozenset(found), are_whole, doubtful)


def _may_be_minutes(time: SheetTime, are_whole: bool) -> bool:
    """Whether minutes and seconds may have been typed for what is kept as hours and minutes.

    A cell that shows seconds got three numbers, unless a program added them: from 24:00 on, and
    perhaps where they are 0 in every cell.
    """
    added = are_whole or not time.has_seconds or time.seconds >= _DAY
    return time.has_hours and time.seconds % 60 == 0 and added
