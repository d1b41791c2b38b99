"""What the values of one column of a file are like."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from reelbench.data.items import shown
from reelbench.data.paths import SOUND_ENDINGS, SUBTITLE_ENDINGS, VIDEO_ENDINGS
from reelbench.data.question_rules import are_letters
from reelbench.interop.imports.cells import cell, path_of
from reelbench.interop.imports.column_names import name_key
from reelbench.interop.imports.spans import read_seconds, read_spans
from reelbench.interop.imports.values import (
    COMMA,
    SEPARATORS,
    is_blank,
    literal_of,
    options_in_text,
    read_options,
    separator_in,
    split_question,
    text_of,
)
from reelbench.interop.records import SourceRecord
from reelbench.score.rounding import percent

_SAMPLE = 500  # rows that are looked at closely, spread over the file
_PICTURES = (".jpg", ".jpeg", ".png", ".webp", ".bmp")
_MEDIA = (*VIDEO_ENDINGS, *SOUND_ENDINGS, *_PICTURES)
_ASKS = re.compile(
    r"[?？؟;]\s*$"
    r"|^\s*(?:what|who|which|where|when|why|how|whose|is|are|does|do|did|in|according|based)\b",
    re.I,
)
_LONGEST_NAME = 2000  # characters of a path or link
_MOST_TAGS = 100  # values that a tag may have
_MOST_LEVELS = 10  # of a tag whose values are numbers


@dataclass
class Profile:
    """A column: its name, its values that are not blank, and a sample of them."""

    name: str
    rows: int
    values: Sequence[Any]

    @cached_property
    def sample(self) -> list[Any]:
        """Some hundred values, spread over the file."""
        return list(self.values[:: max(1, len(self.values) // _SAMPLE)])

    @property
    def key(self) -> str:
        """The name, spelled as names are compared."""
        return name_key(self.name.rpartition(".")[2] or self.name)  # of qa.question, question

    @property
    def filled(self) -> float:
        """The share of rows that have a value."""
        return len(self.values) / self.rows if self.rows else 0.0

    @property
    def example(self) -> str:
        """The first value, as it is shown."""
        return shown(text_of(self.values[0]), 40) if self.values else ""

    @cached_property
    def distinct(self) -> tuple[str, ...]:
        """The different values as texts, in the order in which they appear."""
        return tuple(dict.fromkeys(map(text_of, self.values)))

    @property
    def is_unique(self) -> bool:
        """Whether each row has a value of its own."""
        return len(self.distinct) == self.rows

    @cached_property
    def is_scalar(self) -> bool:
        """Whether values are texts and numbers, not lists or objects."""
        return all(isinstance(value, str | int | float) for value in self.sample)

    @cached_property
    def members(self) -> tuple[str, ...]:
        """The names within the values, where these are objects but no options."""
        if not self.sample or not all(isinstance(value, Mapping) for value in self.sample):
            return ()
        names = dict.fromkeys(str(key) for value in self.sample for key in value)
        return () if self.share_of_lists >= 0.5 else tuple(names)

    @cached_property
    def is_number(self) -> bool:
        """Whether values are numbers, written as such or as text."""
        numbers = sum(
            not isinstance(v, bool)
            and re.fullmatch(r"[-+]?\d+(?:[.,]\d+)?(?:e[-+]?\d+)?", text_of(v)) is not None
            for v in self.sample
        )
        return bool(self.sample) and numbers >= 0.9 * len(self.sample)

    @cached_property
    def is_text(self) -> bool:
        """Whether values are texts that are not all numbers."""
        return self.is_scalar and bool(self.sample) and not self.is_number

    @cached_property
    def mean_words(self) -> float:
        """The mean number of words."""
        return self._mean(lambda value: len(text_of(value).split()))

    @cached_property
    def share_asking(self) -> float:
        """The share of values that look like a question."""
        return self._share(lambda v: isinstance(v, str) and bool(_ASKS.search(v)))

    @property
    def asking(self) -> str:
        """How many values are questions, in words."""
        share = self.share_asking
        return f"{percent(share, 0)} of its texts ask something" if share else ""

    @cached_property
    def share_of_lists(self) -> float:
        """The share of values that are lists or objects of options, or a text with labels."""
        return self._share(_is_list_of_options)

    @cached_property
    def share_of_options(self) -> float:
        """The share of values that can be read as options."""
        return self._share(lambda value: _reads(read_options, value))

    @cached_property
    def is_a_list(self) -> bool:
        """Whether values are whole lists of options, divided by more than commas."""
        texts = [value for value in self.sample if isinstance(value, str)]
        divided = separator_in(*texts) in SEPARATORS[:COMMA] and self.share_of_options >= 0.5
        return self.share_of_lists >= 0.5 or divided

    @property
    def options_in_words(self) -> str:
        """How many values are options, in words."""
        share = max(self.share_of_lists, self.share_of_options)
        return f"{percent(share, 0)} of its values list options"

    @cached_property
    def share_with_options(self) -> float:
        """The share of texts that list options after a question."""
        return self._share(lambda v: isinstance(v, str) and split_question(v)[1] is not None)

    @cached_property
    def share_of_labels(self) -> float:
        """The share of values that are letters of options."""
        return self._share(lambda value: are_letters(text_of(value)))

    @cached_property
    def share_of_media(self) -> float:
        """The share of values that name a video, sound or picture, or link to one."""
        return self._share(lambda v: _names_media(path_of(v)) or _all_media(v))

    def all_end_in(self, kind: str) -> bool:
        """Whether all values name files of a kind: "video", "sound" or "picture"."""
        ends = {"video": VIDEO_ENDINGS, "sound": SOUND_ENDINGS, "picture": _PICTURES}[kind]
        return bool(self.sample) and all(path_of(v).lower().endswith(ends) for v in self.sample)

    @property
    def media_in_words(self) -> str:
        """How many values name media, in words."""
        return f"{percent(self.share_of_media, 0)} of its values name media files"

    @cached_property
    def may_name_files(self) -> bool:
        """Whether values may be names of files: texts and numbers that are not sentences."""
        if self._mean(lambda value: len(text_of(value))) > _LONGEST_NAME:
            return False  # pictures as text, in base64
        return self.share_of_media >= 0.5 or (self.is_scalar and self.mean_words < 4)

    @cached_property
    def share_of_times(self) -> float:
        """The share of values that are a time."""
        return self._share(lambda value: _reads(lambda v: [read_seconds(v)], value))

    @cached_property
    def share_of_spans(self) -> float:
        """The share of values that are spans of time."""
        return self._share(lambda value: _reads(read_spans, value))

    @cached_property
    def share_of_clock_spans(self) -> float:
        """The share of values that can be nothing but spans of time, such as 0:10-0:20."""
        return self._share(
            lambda v: isinstance(v, str) and v.count(":") > 1 and _reads(read_spans, v)
        )

    @cached_property
    def share_of_subtitles(self) -> float:
        """The share of values that name files of subtitles."""
        ends = (*SUBTITLE_ENDINGS, ".json", ".ass")
        return self._share(lambda value: text_of(value).lower().endswith(ends))

    @cached_property
    def may_be_a_tag(self) -> bool:
        """Whether values are short and not too many, so that scores may come by them."""
        short = all(len(value) <= 80 for value in self.distinct[: _MOST_TAGS + 1])
        numbers = self.is_number and len(self.distinct) > max(_MOST_LEVELS, len(self.values) // 4)
        return short and 0 < len(self.distinct) <= _MOST_TAGS and not numbers

    @property
    def has_few_values(self) -> bool:
        """Whether the same values come again, so that a column of any name is a tag."""
        return self.may_be_a_tag and len(self.distinct) <= max(1, len(self.values) // 2)

    def _share(self, test: Callable[[Any], bool]) -> float:
        return sum(map(test, self.sample)) / len(self.sample) if self.sample else 0.0

    def _mean(self, measure: Callable[[Any], float]) -> float:
        return sum(map(measure, self.sample)) / len(self.sample) if self.sample else 0.0


def profile_of(name: str, records: Sequence[SourceRecord]) -> Profile:
    """Return what the values of a column are like."""
    values = [value for record in records if not is_blank(value := cell(name, record))]
    return Profile(name, len(records), values)


def _reads(read: Callable[[Any], Any], value: Any) -> bool:
    try:
        return bool(read(value))
    except ValueError:
        return False


def _is_list_of_options(value: Any) -> bool:
    if isinstance(value, str) and literal_of(value) is None:
        return _reads(lambda text: len(options_in_text(text, "\0").labels) > 1, value)
    labelled = isinstance(value, Mapping) and set(value) == {"text", "label"}
    if isinstance(value, Mapping) and not labelled and not all(len(str(k)) < 3 for k in value):
        return False  # an object of anything
    return _reads(read_options, value) and not _all_media(value) and not _reads(read_spans, value)


def _names_media(path: str) -> bool:
    return path.lower().endswith(_MEDIA) or path.startswith(("http://", "https://"))


def _all_media(value: Any) -> bool:
    parts = value if isinstance(value, list | tuple) else ()
    return bool(parts) and all(_names_media(path_of(part)) for part in parts)


def looks_like_a_row(columns: Sequence[str]) -> bool:
    """Whether names of columns are rather the values of a row: a file, or a question."""
    return any(_names_media(name) or _is_long_question(name.strip()) for name in columns)


def _is_long_question(text: str) -> bool:
    return text.endswith(("?", "？")) and len(text[:-1].split()) > 1
