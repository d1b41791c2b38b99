"""Exact questions for someone who looks: sheets of the frames, and what was answered."""

import csv
import json
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image as Pillow
from PIL import ImageDraw, ImageFont

from reelbench.data.items import Item
from reelbench.media.decode.decode import Image

_WIDE = 1100  # pixels of a sheet: a program that shows it larger or smaller changes what is seen
_LINE, _GAP = 18, 6  # pixels of a line of text, and between frames
_COLUMNS = ("id", "question", "options", "answer")


def write_sheet(path: Path, item: Item, videos: Sequence[Sequence[Image]]) -> None:
    """Draw all frames in their order, pixel for pixel, above the question and its options."""
    title = "" if len(videos) == 1 else "Video {}, "
    blocks = [
        _block(images, title.format(number) + f"{len(images)} frames, from left to right")
        for number, images in enumerate(videos, 1)
    ]
    options = [f"{letter}. {text}" for letter, text in zip(item.letters, item.options, strict=True)]
    words = [line for each in (item.question, *options) for line in textwrap.wrap(each, 110)]
    wide = max(_WIDE, *(block.width for block in blocks))
    high = sum(block.height for block in blocks) + _LINE * (len(words) + 1)
    sheet = Pillow.new("RGB", (wide, high), "white")
    top = 0
    for block in blocks:
        sheet.paste(block, (0, top))
        top += block.height
    _write(ImageDraw.Draw(sheet), top + _LINE // 2, words)
    path.parent.mkdir(parents=True, exist_ok=True)
    sheet.save(path, "png")


def _block(images: Sequence[Image], title: str) -> Pillow.Image:
    height, width = (side + _GAP for side in images[0].shape[:2])
    columns = min(len(images), max(1, _WIDE // width))
    rows = -(-len(images) // columns)
    block = Pillow.new("RGB", (columns * width, rows * height + _LINE), "white")
    for number, image in enumerate(images):
        row, column = divmod(number, columns)
        block.paste(Pillow.fromarray(np.asarray(image)), (column * width, _LINE + row * height))
    _write(ImageDraw.Draw(block), 0, [title])
    return block


def _write(draw: ImageDraw.ImageDraw, top: int, lines: Sequence[str]) -> None:
    for number, line in enumerate(lines):
        draw.text((0, top + number * _LINE), line, "black", ImageFont.load_default(14))


def write_questions(folder: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    """Write tables to fill in beside the sheets, and apart from them what tells the keys.

    A question is in as many tables as it has margins, in each at another one: who has seen the
    easy one knows where to look.
    """
    rows = sorted(rows, key=lambda row: str(row["id"]))  # by chance, as ids are
    for viewer in sorted({row["viewer"] for row in rows}):
        path = folder / "shown" / f"viewer-{viewer}.csv"
        with path.open("w", newline="", encoding="utf-8") as file:
            table = csv.DictWriter(file, _COLUMNS)
            table.writeheader()
            for row in rows:
                if row["viewer"] == viewer:
                    options = " | ".join(f"{a}. {text}" for a, text in row["options"].items())
                    table.writerow({**{key: row[key] for key in _COLUMNS[:2]}, "options": options})
    lines = [json.dumps(row) for row in rows]
    (folder / "keys.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")


def viewed(folder: Path, files: Sequence[Path]) -> list[dict[str, Any]]:
    """Return the questions that viewers answered, with the share of them who were right."""
    given: dict[str, list[str]] = {}
    for path in files:
        with path.open(newline="", encoding="utf-8") as file:
            for row in csv.DictReader(file):
                if answer := row["answer"].strip().upper():
                    given.setdefault(row["id"], []).append(answer)
    rows = [json.loads(line) for line in (folder / "keys.jsonl").read_text().splitlines()]
    for row in rows:
        if answers := given.get(row["id"]):
            row["right"]["viewers"] = sum([a] == row["key"] for a in answers) / len(answers)
    return [row for row in rows if "viewers" in row["right"]]
