"""A benchmark is a folder: ``benchmark.yaml``, ``items.jsonl`` and the media they name."""

import codecs
import gc
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from reelbench.base.errors import ReelbenchError
from reelbench.base.files import digest_of, write_atomically
from reelbench.base.limits import LimitError, bounded_lines
from reelbench.base.progress import counted
from reelbench.data.item_rules import item_from_line
from reelbench.data.items import Item, Media, Problem, shown
from reelbench.data.manifest import Manifest, read_manifest
from reelbench.data.paths import TABLE_ENDINGS, Folder, beside
from reelbench.data.selection import ALL_ITEMS, Selection

ITEMS_FILE = "items.jsonl"
MANIFEST_FILE = "benchmark.yaml"
_MOST_ALIKE = 10_000  # problems of one kind that are kept


class BenchmarkError(ReelbenchError):
    """A benchmark that is not valid; the message and ``problems`` list everything wrong in it."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        total = f"{counted(len(self.problems), 'problem')} to fix first."
        super().__init__("\n".join([*grouped(self.problems), total]))


def grouped(problems: Sequence[Problem]) -> Iterator[str]:
    """Yield a line for each problem; of many alike, the first few and the lines of the rest."""
    kinds: dict[tuple[str, ...], list[Problem]] = defaultdict(list)
    for problem in problems:
        field = re.sub(r"\d+", "", problem.field)
        kinds[problem.file, problem.code, field].append(problem)
    for (file, *_), alike in kinds.items():
        few = len(alike) if len(alike) <= MOST_ALIKE else FIRST_OF_MANY
        yield from map(str, alike[:few])
        if rest := sorted({problem.line for problem in alike[few:]}):
            yield f"{file}: {len(alike) - few:,} more like it, on {in_spans(rest)}"


MOST_ALIKE, FIRST_OF_MANY = 10, 3  # problems of one kind that are listed; of more than that
_MOST_SPANS = 40  # of lines, in one sentence


def in_spans(lines: Sequence[int]) -> str:
    """Return line numbers as text, consecutive ones as a range: "lines 2, 4-5000"."""
    spans: list[list[int]] = []
    for line in lines:
        if spans and line == spans[-1][1] + 1:
            spans[-1][1] = line
        else:
            spans.append([line, line])
    ranges = [f"{a}-{b}" if b > a else f"{a}" for a, b in spans[:_MOST_SPANS]]
    more = sum(b - a + 1 for a, b in spans[_MOST_SPANS:])
    ranges += [f"and {more:,} further ones"] if more else []
    return f"{'lines' if len(lines) > 1 else 'line'} {', '.join(ranges)}"


@dataclass(frozen=True, slots=True)
class Benchmark:
    """A benchmark folder without the bytes of its media; or part of its items (see ``select``)."""

    root: Path
    manifest: Manifest
    items: tuple[Item, ...]
    warnings: tuple[Problem, ...] = field(default=(), compare=False, repr=False)
    selection: Selection = ALL_ITEMS  # which items of the whole these are
    selected_from: "Benchmark | None" = field(default=None, compare=False, repr=False)

    @classmethod
    def load(cls, root: Path | str) -> "Benchmark":
        """Return the benchmark of a folder; raise ``BenchmarkError`` with all that is wrong."""
        root = Path(root)
        if not root.is_dir():
            raise ReelbenchError(no_benchmark(root))
        manifest, problems = read_manifest(root / MANIFEST_FILE)
        file = read_items(root / ITEMS_FILE)
        problems = [*problems, *file.problems]
        if manifest is not None:
            problems.extend(split_problems(manifest, file))
        errors = [problem for problem in problems if not problem.is_warning]
        if manifest is None or errors:
            raise BenchmarkError(errors)
        return cls(root, manifest, file.items, warnings=tuple(problems))

    def save(self, root: Path | str) -> None:
        """Write ``benchmark.yaml`` and ``items.jsonl``; the same content gives the same bytes.

        What ``load`` would refuse is not written: ``BenchmarkError`` lists it instead.
        """
        root = Path(root)
        text = items_text(self.items)
        file = _read_lines(root / ITEMS_FILE, text.encode().splitlines(keepends=True))
        problems = [problem for problem in file.problems if not problem.is_warning]
        problems += split_problems(self.manifest, file)
        if problems:
            raise BenchmarkError(problems)
        root.mkdir(parents=True, exist_ok=True)
        write_atomically(root / MANIFEST_FILE, self.manifest.to_yaml())
        write_atomically(root / ITEMS_FILE, text)

    @property
    def whole(self) -> "Benchmark":
        """The benchmark with all its items, whichever part this is."""
        return self.selected_from or self

    @property
    def split_names(self) -> tuple[str, ...]:
        """The splits that ``benchmark.yaml`` declares, or else those that items are tagged with."""
        tagged = {name for item in self.whole.items for name in item.tag("split")}
        return tuple(self.manifest.splits) or tuple(sorted(tagged))

    def split(self, name: str) -> "Benchmark":
        """Return the benchmark with the items of one split alone, to run, score or report."""
        return self.whole.select(Selection(split=name))

    def select(self, selection: Selection) -> "Benchmark":
        """Return the benchmark with some of its items alone, to run, score or report.

        Of a part, that is a part of the part.
        """
        if not selection and selection.limit is None:  # a seed alone chooses nothing
            return self
        if selection.split:
            self._check_split(selection.split)
        items = selection.choose(self.items, self.manifest.name)
        chosen = replace(selection, within=self.selection) if self.selection else selection
        return replace(self, items=items, selection=chosen, selected_from=self.whole)

    def _check_split(self, name: str) -> None:
        if name not in self.split_names:
            known = ", ".join(self.split_names) or "none"
            raise ReelbenchError(
                f"{self.manifest.name} has no split {name!r}; its splits: {known}."
            )
        if not any(name in item.tag("split") for item in self.items):
            what = (
                f"None of the items of {self.selection.in_words()} is in split {name!r}: choose "
                "another split, or none, or run that split into a folder of its own."
                if self.selection
                else f"No item of {self.manifest.name} is in its split {name!r}: set `tags.split` "
                f"of some items in {ITEMS_FILE} to it."
            )
            raise ReelbenchError(what)

    @property
    def digest(self) -> str:
        """The hash of manifest and items, whatever the order of the lines; without the media.

        That of a part stays the same when items outside of it change.
        """
        return digest_of([self.manifest.to_record(), sorted(item.digest for item in self.items)])


def no_benchmark(path: Path) -> str:
    """Return why a path that is no folder is no benchmark, and what makes one of it."""
    if path.name == ITEMS_FILE and (path.parent / MANIFEST_FILE).is_file():
        return f"{path} is one file of a benchmark: name its folder, {path.parent}."
    what = f"{path} is not a folder: a benchmark is a folder with {MANIFEST_FILE} and {ITEMS_FILE}"
    if path.suffix.lower() in (*TABLE_ENDINGS, ".json", ".jsonl") and path.is_file():
        return f"{what} in it. Make one of this file: reelbench import {path} --out BENCH"
    return f"{what} in it."


def items_text(items: Sequence[Item]) -> str:
    """Return the text of an ``items.jsonl`` with these items."""
    return "".join([item.to_line() + "\n" for item in items])


@dataclass(frozen=True, slots=True)
class ItemsFile:
    """The content of a file of items: the readable items, their lines, and all problems."""

    path: Path
    items: tuple[Item, ...] = ()
    lines: tuple[int, ...] = ()
    problems: tuple[Problem, ...] = ()


def read_items(path: Path | str) -> ItemsFile:
    """Return the items of a file and all its problems; nothing is raised for bad lines."""
    path = Path(path)
    try:
        with path.open("rb") as file, _without_collection():
            begin = file.peek(_HEAD)[:_HEAD]
            if begin[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
                return _unreadable(path, "UTF-16", "UTF-8 (try: iconv -f UTF-16 -t UTF-8)")
            if re.match(rb"(?:\xef\xbb\xbf)?\s*\[\s*(?:\{|\Z)", begin):
                return _unreadable(path, "one JSON list", f"one object per line (try: {_JQ})")
            if re.match(rb"(?:\xef\xbb\xbf)?\s*\{\s*\n", begin):
                expected = f"each object on one line (try: {_JQ_C})"
                return _unreadable(path, "an object over several lines", expected)
            return _read_lines(path, bounded_lines(file))
    except LimitError as error:
        expected = "regular files of at most that size"
        return _unreadable(path, str(error), expected)
    except FileNotFoundError:
        others = sorted(each.name for each in path.parent.glob("*.json*") if each.is_file())
        found = f"no such file (only {', '.join(others[:3])})" if others else "no such file"
        return _unreadable(path, found, "a file with one JSON object per line")
    except OSError as error:
        return _unreadable(path, error.strerror or str(error), "a readable file")


_HEAD = 64  # bytes that show what kind of file it is
_JQ_C = f"jq -c . objects.json > {ITEMS_FILE}"
_JQ = f"jq -c '.[]' list.json > {ITEMS_FILE}"


def _unreadable(path: Path, found: str, expected: str) -> ItemsFile:
    return ItemsFile(path, problems=(Problem("UNREADABLE", "file", found, expected, str(path)),))


@contextmanager
def _without_collection() -> Iterator[None]:
    """Pause the cycle collector: items hold no cycles, and scanning them took half the load."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _read_lines(path: Path, file: Iterable[bytes]) -> ItemsFile:
    items: list[Item] = []
    lines: list[int] = []
    collected = _ItemsReport(str(path))
    report, problems = collected.report, collected.problems
    first_seen: dict[str, int] = {}
    for number, line in enumerate(file, 1):
        if collected.too_many:
            problems.append(collected.too_many)
            break
        content, oddities = tidy_line(line, number)
        if oddities:
            report(number, *oddities)
        if not content:
            continue
        item, found = item_from_line(content)
        if found:
            report(number, *found)
        if item is None:
            continue
        earlier = first_seen.setdefault(item.id, number)
        if earlier != number:
            again = f"{shown(item.id)}, as on line {earlier}"
            report(number, Problem("DUPLICATE_ID", "id", again, "a unique id"))
        items.append(item)
        lines.append(number)
    if not items and all(problem.is_warning for problem in problems):
        holds = "only blank lines" if problems else "an empty file"
        report(0, Problem("NO_ITEMS", "file", holds, "one question per line, as a JSON object"))
    refused = {problem.line for problem in problems if not problem.is_warning}
    for number, problem in _links_outside(path.parent, items, lines, refused):
        report(number, problem)
    return ItemsFile(path, tuple(items), tuple(lines), tuple(problems))


class _ItemsReport:
    """The problems of a file, within a limit: a file of zeros would have a billion."""

    def __init__(self, file: str) -> None:
        self._file, self._counts = file, Counter[str]()
        self.problems: list[Problem] = []
        self.too_many: Problem | None = None  # and so no more is read

    def report(self, number: int, *found: Problem) -> None:
        for problem in found:
            self._counts[problem.code] += 1
            if self._counts[problem.code] <= _MOST_ALIKE:
                self.problems.append(replace(problem, file=self._file, line=number))
            elif not problem.is_warning or problem.code == "BLANK_LINE":
                many = f"{problem.code} more than {_MOST_ALIKE:,} times"
                expected = "a file of items; the rest of it is not read"
                self.too_many = Problem("UNREADABLE", "file", many, expected, self._file, number)


def tidy_line(line: bytes, number: int) -> tuple[bytes, list[Problem]]:
    """Return a line without byte order mark, CR and white space, and a problem for each of them."""
    oddities = []
    if number == 1 and line.startswith(codecs.BOM_UTF8):
        line = line.removeprefix(codecs.BOM_UTF8)
        expected = "UTF-8 without one"
        oddities.append(Problem("BYTE_ORDER_MARK", "line", "a byte order mark", expected))
    if line.endswith(b"\r\n"):
        oddities.append(Problem("CRLF", "line", "CR LF at the end", "LF alone"))
    line = line.strip(b" \t\r\n")
    if not line:
        oddities.append(Problem("BLANK_LINE", "line", "a blank line", "one JSON object"))
    return line, oddities


def _links_outside(
    root: Path, items: Sequence[Item], lines: Sequence[int], refused: set[int]
) -> Iterator[tuple[int, Problem]]:
    """Find media and subtitles outside of the folder, in lines without errors so far."""
    folder = Folder(root)
    reasons: dict[str, str | None] = {}
    for number, item in zip(lines, items, strict=True):
        if number in refused:
            continue
        for place, media in enumerate(item.media):
            for field_name, path in _files_of(media):
                if path not in reasons:
                    reasons[path] = folder.outside(path)
                if reasons[path]:
                    found = f"{shown(path)}, {reasons[path]}"
                    where = f"media[{place}].{field_name}"
                    yield number, Problem("MEDIA_PATH", where, found, _INSIDE)
                    break


_INSIDE = "a file in the benchmark's folder: copy it there, or mount its folder"


def _files_of(media: Media) -> Iterator[tuple[str, str]]:
    """Yield each file that may be read for a medium, with the field that names it."""
    yield "path", media.path
    named = media.extra.get("subtitles")
    for path in beside(media.path) if named is None else (named,):
        yield "subtitles", path


def split_problems(manifest: Manifest, file: ItemsFile) -> Iterator[Problem]:
    """Find items that are in none of the declared splits, or in several."""
    splits = manifest.splits
    if not splits:
        return
    for number, item in zip(file.lines, file.items, strict=True):
        values = item.tag("split")
        if len(values) != 1 or values[0] not in splits:
            found, expected = shown(values), "one of " + ", ".join(splits)
            yield Problem("BAD_FIELD", "tags.split", found, expected, str(file.path), number)
