"""The published tables, read from the papers' text, and what their own parts give.

A printed number stands for every number that rounds to it, so a value and what its parts give
agree when the two ranges touch. Where the parts need weights that a paper does not print, the
weights here are the ones that fit the most rows (`SHARES`, the counts); the tests check that.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache

from support import SHARED

PAPERS = SHARED / "papers"
Row = list[str]
Table = dict[str, Row]

MUSE_COUNTS = (990, 990, 985, 1023)  # Cinematic, Static, Stage, Game: items; the text prints none
MUSE_MULTI = (513, 372, 380, 523)  # of them multi-select
MUSE_SINGLE = tuple(a - b for a, b in zip(MUSE_COUNTS, MUSE_MULTI, strict=True))
CINEASTE_COUNTS = (905, 532, 544, 586, 552)  # VR, SC, TO, CE, MU: 3,119 in all
SHARES = {
    "MMOU Table 3, Overall from durations": (0.2516, 0.2820, 0.3279, 0.0670, 0.0715),
    "Q-Bench-Video Table 2, Overall from question types": (0.3430, 0.3346, 0.3223),
    "Q-Bench-Video Table 3, single Overall": (0.4672, 0.5328),
    "Q-Bench-Video Table 7, single Overall": (0.5047, 0.4953),
    "Q-Bench-Video Table 3, pairs Overall": (0.2134, 0.3498, 0.4368),
    "Q-Bench-Video Table 7, pairs Overall": (0.1915, 0.3495, 0.4590),
}
NO_SHARES = {  # the most rows that one set of shares fits: fewer than half, so one line each
    "Q-Bench-Video Table 6, Overall from question types": 6,
    "Q-Bench-Video Tables 2 and 3, one split into single and pairs": 3,
    "Q-Bench-Video Tables 6 and 7, one split into single and pairs": 2,
}


@dataclass(frozen=True)
class Check:
    """One printed number, and the range that its parts leave for it."""

    where: str
    row: str
    printed: str
    given: str
    agrees: bool


def half(text: str) -> float:
    """Half a unit of the last digit printed."""
    return 0.5 * 10.0 ** -len(text.partition(".")[2])


def compare(where: str, row: str, printed: str, low: float, high: float) -> Check:
    """A printed number beside the range its parts give."""
    value, slack = float(printed), half(printed) + 1e-9
    digits = len(printed.partition(".")[2])
    given = f"{(low + high) / 2:.{digits}f}"
    return Check(where, row, printed, given, low - slack <= value <= high + slack)


def between(where: str, row: str, printed: str, parts: Sequence[str]) -> Check:
    """A mean with any weights lies between the smallest and the largest part."""
    low, high = min(parts, key=float), max(parts, key=float)
    slack = half(printed) + half(low) + 1e-9
    agrees = float(low) - slack <= float(printed) <= float(high) + slack
    return Check(where, row, printed, f"{low} to {high}", agrees)


def weighted(
    where: str, row: str, printed: str, parts: Sequence[str], weights: Sequence[float] | None = None
) -> Check:
    """A mean of the parts; all weigh the same where no weights are given."""
    weights = weights or [1.0] * len(parts)
    mean = sum(w * float(p) for w, p in zip(weights, parts, strict=True)) / sum(weights)
    slack = max(map(half, parts))
    return compare(where, row, printed, mean - slack, mean + slack)


def exact(where: str, row: str, printed: str, given: float) -> Check:
    """A number that follows from whole numbers."""
    return compare(where, row, printed, given, given)


def difference(where: str, row: str, printed: str, a: str, b: str) -> Check:
    """A printed gap between two printed numbers."""
    gap, slack = float(a) - float(b), half(a) + half(b)
    return compare(where, row, printed, gap - slack, gap + slack)


# Reading


@cache
def lines(paper: str) -> list[str]:
    """The lines of a paper, without inline markup and links."""
    text = (PAPERS / f"{paper}.txt").read_text()
    text = re.sub(r"\[\[\d+\]\(https.*?\"\)\]", "|", re.sub(r"</?[iu]>", "", text))
    return text.replace("GPT-40", "GPT-4o").splitlines()


def after(paper: str, start: str, count: int) -> list[str]:
    """The lines that follow the one that begins with `start`."""
    found = [n for n, line in enumerate(lines(paper)) if line.startswith(start)]
    assert len(found) == 1, f"{paper}: {start!r} begins {len(found)} lines"
    return lines(paper)[found[0] + 1 : found[0] + 1 + count]


def tabbed(paper: str, start: str, count: int, numbers: int) -> Table:
    """Rows of tab-separated cells whose last `numbers` cells are numbers."""
    found: Table = {}
    for line in after(paper, start, count):
        cells = [cell.strip().removesuffix("%") for cell in line.split("\t") if cell.strip()]
        row = cells[-numbers:]
        if len(cells) > numbers and all(re.fullmatch(r"\d+\.\d+|/", cell) for cell in row):
            found[cells[0]] = row
    return found


def spaced(paper: str, start: str, count: int, numbers: int) -> Table:
    """Rows whose numbers are set apart by spaces or a minus sign alone."""
    found: Table = {}
    for line in after(paper, start, count):
        body = line.partition("|")[2] or line
        row = re.findall(r"-?\d+\.\d\d", body)
        if len(row) == numbers and len(line) < 300:
            found[re.split(r"[|–]| V\+| (?=\d\d\.\d\d)", line)[0].strip()] = row
    return found


def piped(paper: str, start: str, count: int) -> Table:
    """Rows of cells between bars, the empty ones left out."""
    found: Table = {}
    for line in after(paper, start, count):
        name, *cells = [cell.strip() for cell in line.strip("|").split("|")]
        found[name.strip()] = [cell for cell in cells if cell and cell not in ("V", "V+A", "A, V")]
    return found


def said(paper: str, pattern: str) -> re.Match[str]:
    """A sentence of the text; a number that is quoted must be there."""
    match = re.search(pattern, "\n".join(lines(paper)))
    assert match, f"{paper}.txt has no {pattern!r}"
    return match


# MMOU


def mmou_counts() -> list[tuple[str, str, int]]:
    """Table 5: category, sub-category, questions."""
    rows, category = [], ""
    for line in after("mmou", "Category\tSubcategory", 36):
        if len(cells := line.split("\t")) == 3:
            category = cells[0] or category
            rows.append((category, cells[1], int(cells[2])))
    return rows


def mmou_domain_weights() -> list[list[int]]:
    """Questions per domain, in Table 3's order, in two readings of Table 5.

    The extracted text sets the category's name beside the last sub-category of the one before in
    two places ("Travel, Press Conference", "Video Games, Cultural Insights").
    """
    order = ["Sports", "Travel", "Video", "Daily", "Academic", "Film", "Pranks", "Music"]
    order += ["Animation", "News"]
    belongs = {"Press Conference": "Sports", "Cultural Insights": "Travel"}
    readings = []
    for moved in (belongs, {}):
        total = dict.fromkeys(order, 0)
        for category, name, count in mmou_counts():
            total[moved.get(name, category.split()[0])] += count
        readings.append(list(total.values()))
    return readings


def mmou_tables() -> Iterator[Check]:
    """Tables 3 and 4: overall scores from their parts."""
    for name, row in tabbed("mmou", "Table 4. ", 12, 5).items():
        yield weighted("MMOU Table 4, Overall", name, row[4], row[:4], [3, 1, 1, 1])
    table = tabbed("mmou", "Table 3. ", 34, 16)
    for name, row in table.items():
        where = "MMOU Table 3, Overall from domains"
        readings = [weighted(where, name, row[15], row[:10], w) for w in mmou_domain_weights()]
        yield next((check for check in readings if check.agrees), readings[0])
        where = "MMOU Table 3, Overall from durations"
        yield weighted(where, name, row[15], row[10:15], SHARES[where])


def mmou_text() -> Iterator[Check]:
    """Counts of Tables 2, 5 and 6, and of the text."""
    where, rows = "MMOU Tables 2, 5, 6 and text, counts", mmou_counts()
    yield exact(where, "Table 5, all questions", "15000", sum(count for *_, count in rows))
    subcategories = said("mmou", r"Subcategories\t(\d+)")[1]
    yield exact(where, "Table 2, Subcategories (rows of Table 5)", subcategories, len(rows))
    yield exact(where, "Table 2, Major Categories", "10", len({name for name, *_ in rows}))
    letters = {
        cells[0]: (int(cells[1].replace(",", "")), cells[2].removesuffix("%"))
        for line in after("mmou", "Option Letter", 10)
        if (cells := line.split("\t"))
    }
    yield exact(where, "Table 6, all letters", "15000", sum(count for count, _ in letters.values()))
    for letter, (count, percent) in letters.items():
        yield exact(where, f"Table 6, {letter}", percent, count / 150)
    for match in re.finditer(r"(\d+)% \((2000)\)", "\n".join(lines("mmou"))):
        yield exact(where, "None of the above", match[1], int(match[2]) / 150)
    longest = said("mmou", r"7 seconds to (\d+) minutes")[1]
    yield exact(where, "longest video, minutes", longest, 7255 / 60)


# MuseBench


def muse_table_1() -> Table:
    """ACC, then CAA and EM: overall, Cinematic, Static, Stage, Game."""
    return spaced("musebench", "Table 1: ", 40, 11)


def muse_table_7() -> Table:
    """ACC, CAA, P, R, F1 of each category, then the overall ACC."""
    return spaced("musebench", "Table 7: ", 40, 21)


def muse_tables() -> Iterator[Check]:
    """Tables 1 and 7: F1 from P and R, overall numbers from the categories."""
    table_1, table_7 = muse_table_1(), muse_table_7()
    for name, row in table_7.items():
        for n, category in enumerate(("Cine.", "Static", "Stage", "Game")):
            p, r, f1 = row[5 * n + 2 : 5 * n + 5]
            edges = [(float(p) + e, float(r) + e) for e in (-half(p), half(p))]
            low, high = (2 * a * b / (a + b) for a, b in edges)
            yield compare("MuseBench Table 7, F1", f"{name}, {category}", f1, low, high)
            first = table_1[name][3 + 2 * n]
            again = "MuseBench Tables 1 and 7, the same numbers"
            yield exact(again, f"{name}, {category} CAA", row[5 * n + 1], float(first))
            single = single_accuracy(row[5 * n], table_1[name][4 + 2 * n], n)
            yield caa_check(f"{name}, {category}", first, single)
        yield exact(again, f"{name}, Overall ACC", row[20], float(table_1[name][0]))
        parts = row[0:20:5]
        yield weighted("MuseBench Table 7, Overall ACC", name, row[20], parts, MUSE_COUNTS)
    for name, row in table_1.items():
        yield weighted("MuseBench Table 1, Overall CAA", name, row[1], row[3::2], MUSE_SINGLE)
        yield weighted("MuseBench Table 1, Overall EM", name, row[2], row[4::2], MUSE_MULTI)
        if name not in table_7:
            yield acc_check(name, row)


def single_accuracy(acc: str, em: str, category: int) -> tuple[float, float]:
    """The single-select accuracy that ACC and EM leave, lowest and highest."""
    n, multi, single = MUSE_COUNTS[category], MUSE_MULTI[category], MUSE_SINGLE[category]
    middle = (n * float(acc) - multi * float(em)) / single
    slack = (n * half(acc) + multi * half(em)) / single
    return middle - slack, middle + slack


def caa_check(row: str, caa: str, accuracy: tuple[float, float]) -> Check:
    """A wrong answer costs between 1/7 (eight options) and 1/3 (four)."""
    low = accuracy[0] - (100 - accuracy[0]) / 3
    high = accuracy[1] - (100 - accuracy[1]) / 7
    check = compare("MuseBench Tables 1 and 7, CAA from ACC and EM", row, caa, low, high)
    return replace(check, given=f"{low:.2f} to {high:.2f}")


def acc_check(name: str, row: Row) -> Check:
    """The same for the rows that Table 7 does not have: ACC from CAA and EM."""
    caa, em = float(row[1]), float(row[2])
    single, multi = sum(MUSE_SINGLE), sum(MUSE_MULTI)
    edges = [
        (single * (caa + 100 * k) / (1 + k) + multi * em) / (single + multi) for k in (1 / 7, 1 / 3)
    ]
    where = "MuseBench Tables 1 and 7, CAA from ACC and EM"
    low, high = min(edges) - 0.005, max(edges) + 0.005
    check = compare(where, f"{name}, Overall ACC", row[0], low, high)
    return replace(check, given=f"{low:.2f} to {high:.2f}")


def muse_blocks() -> dict[str, list[int]]:
    """Table 5: the sizes of the blocks of each category."""
    blocks: dict[str, list[int]] = {}
    for line in after("musebench", "Block#KW Representative keywords", 28):
        if line.endswith(" Arts"):
            blocks[line] = []
        elif (match := re.match(r"\D+ (\d+) \S", line)) and blocks:
            blocks[next(reversed(blocks))].append(int(match[1]))
    return blocks


def muse_text() -> Iterator[Check]:
    """Counts of Tables 5 and 6, and of the text."""
    where, blocks = "MuseBench Tables 5, 6 and text", muse_blocks()
    total = said("musebench", r"\nTotal (\d+)\n")[1]
    yield exact(where, "Table 5, Total", total, sum(map(sum, blocks.values())))
    yield exact(where, "Table 5, Cinematic Arts", "10", sum(blocks["Cinematic Arts"]))
    yield exact(where, "Table 5, Static Visual Arts", "10", sum(blocks["Static Visual Arts"]))
    yield exact(
        where, "Table 5, blocks of Stage Performing", "13", len(blocks["Stage Performing Arts"])
    )
    said("musebench", r"4,016 questions")
    yield exact(where, "questions scored in Tables 1 and 7", "4016", sum(MUSE_COUNTS))
    tags = [
        int(n)
        for n in re.findall(
            r"\n(?:CRITICAL|HIGH|MEDIUM|LOW) \w+ (\d+) ", "\n".join(lines("musebench"))
        )
    ]
    assert len(tags) == 8
    flagged = said("musebench", r"around (\d)\\% of generated")[1]
    yield exact(where, "flagged in review, % (Table 6, of 5,000)", flagged, sum(tags) / 50)
    rows = muse_table_7()
    yield exact(where, "models", said("musebench", r"of (\d+) state-of-the-art")[1], len(rows))
    yield difference(where, "open-source A share over gold", "19.0", "34.9", "15.9")
    yield difference(where, "proprietary A share over gold", "6.5", "22.4", "15.9")
    best, chosen = rows["VideoLLaMA3"][20], ("LongVT", "TimeChat")
    for printed, name in zip(("7", "13"), chosen, strict=True):
        yield difference(where, f"{name} behind VideoLLaMA3", printed, best, rows[name][20])
    skew = {
        f"{name}, {n}": float(row[5 * n + 2]) - float(row[5 * n + 3])
        for name, row in rows.items()
        for n in range(4)
    }
    said("musebench", r"most extreme version of the same skew \(40.99% vs. 32.98%\)")
    yield exact(where, "most extreme P - R", "8.01", max(skew.values()))


# HumanVBench

HUMANV_NAMES = {  # Table 1 and Table 4 spell these apart
    "Random Guess": "Random", "Qwen-VL3": "Qwen3-VL", "Human": "Human",
    "GPT-4o": "GPT-4o (20241120)", "GPT-5": "GPT-5 (20250807)",
}  # fmt: skip


def humanv_table_4() -> Table:
    """Four tasks and their mean, for each of four groups."""
    return piped("humanvbench", "| Models | ER | ETA ", 32)


def humanv_means() -> Iterator[Check]:
    """Group means and overall means of Tables 1, 4, 5, 6 and 7."""
    table = humanv_table_4()
    for name, row in table.items():
        for n, group in enumerate(("Emotion", "Person", "Behavior", "Speech-Visual")):
            if "-" not in (part := row[5 * n : 5 * n + 5]):
                where = "HumanVBench Table 4, group means"
                yield weighted(where, f"{name}, {group}", part[4], part[:4])
    for name, row in piped("humanvbench", "| 4 tasks | 4 tasks ", 13).items():
        full = table[HUMANV_NAMES.get(short := name.partition(" (")[0], short)]
        where = "HumanVBench Table 1, means"
        yield weighted(where, f"{name}, Avg. of 12 tasks", row[3], row[:3])
        if "-" not in row:
            yield weighted(where, f"{name}, Speech-Visual", row[8], row[4:8])
            yield weighted(where, f"{name}, Overall Avg.", row[9], [*row[:3], row[8]])
            shown, source = [*row[:3], *row[4:9]], [full[4], full[9], full[14], *full[15:]]
        else:
            shown, source = row[:3], [full[4], full[9], full[14]]
        for n, (a, b) in enumerate(zip(shown, source, strict=True)):
            yield exact("HumanVBench Tables 1 and 4, the same numbers", f"{name}, {n}", a, float(b))
    where = "HumanVBench Tables 5, 6, 7, means"
    for line in after("humanvbench", "| AVSM | ASD | AVAD | SCM | Avg |", 4):
        row = re.findall(r"\d+\.\d", line.split("|", 3)[-1] if "Random" not in line else line)
        yield weighted(where, line, row[4], row[:4])
    frames = list(piped("humanvbench", "| Sampling Rate |", 5).values())
    dense = list(piped("humanvbench", "| (Human Density) |", 5).values())
    for n in range(6):
        yield weighted(where, f"Table 6, {n}", frames[4][n], [row[n] for row in frames[:4]])
        parts = [row[n] for row in dense[1:] if row[n] != "—"]
        yield weighted(where, f"Table 7, {n}", dense[0][n], parts)


def humanv_small() -> Iterator[Check]:
    """Tables 2(a), (b) and (c), and the text."""
    table, where = humanv_table_4(), "HumanVBench Table 2(a)"
    rows = piped("humanvbench", "| Full | Speaking Subset |", 10)
    speaking = {name: re.findall(r"\d+\.\d", cells[1]) for name, cells in rows.items()}
    *models, average = rows
    for name in models:
        full, (subset, drop) = rows[name][0], speaking[name]
        yield difference(where, f"{name}, drop", drop, full, subset)
        source = table[
            {"Qwen-VL2.5": "Qwen2.5-VL"}.get(name, name).replace("CogVLM2", "CogVLM2-Video")
        ]
        yield exact(where, f"{name}, Full (Table 4)", full, float(source[0]))
    yield weighted(where, "Average, Full", rows[average][0], [rows[name][0] for name in models])
    for n, column in enumerate(("Speaking Subset", "drop")):
        parts = [speaking[name][n] for name in models]
        yield weighted(where, f"Average, {column}", speaking[average][n], parts)
    yield from humanv_times(table)
    where = "HumanVBench Table 2(c)"
    edits = piped("humanvbench", "| Question Type | No Edit |", 7)
    *kinds, average = edits
    parts = [edits[kind][0].removesuffix("%") for kind in kinds]
    yield weighted(where, "Average, No Edit", edits[average][0].removesuffix("%"), parts)
    for kind, (share, gain) in edits.items():
        value = float(share.removesuffix("%"))
        slack = half(share.removesuffix("%"))
        edges = [100 / (100 - value + e) for e in (slack, -slack)]
        yield compare(where, f"{kind}, Efficiency Gain", gain, *edges)
    where = "HumanVBench text"
    yield difference(
        where, "gap at low density", said("humanvbench", r"from (26.2)%")[1], "63.5", "37.3"
    )
    yield difference(
        where, "gap at high density", said("humanvbench", r"26.2% to (11.6)%")[1], "47.2", "35.6"
    )
    best = max((row[0] for name, row in table.items() if name != "Human"), key=float)
    claimed = said("humanvbench", r"ER is 81%, while the best model accuracy is ([\d.]+)%")[1]
    yield exact(where, "best model accuracy in ER", claimed, float(best))
    yield exact(
        where, "models", said("humanvbench", r"evaluation of (\d+) leading")[1], len(table) - 2
    )
    yield exact(where, "1 of 25 models, %", said("humanvbench", r"about (4)%–(32)%")[1], 100 / 25)
    yield exact(where, "8 of 25 models, %", said("humanvbench", r"about (4)%–(32)%")[2], 800 / 25)


def humanv_times(table: Table) -> Iterator[Check]:
    """Table 2(b): the change that a timestamp makes, beside Table 4 which has none.

    The arrows are lost in the text, so only the size of a change is compared.
    """
    where, columns = "HumanVBench Table 2(b)", {"ATD": 8, "AST": 12, "TSA": 13}
    names = {"Chat-UniVi": "Chat-Univi", "CogVLM2": "CogVLM2-Video", "VILA": "ViLA",
             "Video-LLaMA": "VideoLLaMA", "Video-LLaMA2.1": "VideoLLaMA2.1"}  # fmt: skip
    rows = piped("humanvbench", "| ATD | AST | TSA |", 10)
    *models, average = rows
    for n, (task, column) in enumerate(columns.items()):
        for name in models:
            value, change = rows[name][n].split()
            base = table[names.get(name, name)][column]
            printed = change.strip("()").replace("–", "0")
            gap = abs(float(value) - float(base))
            slack = half(value) + half(base)
            yield compare(where, f"{name}, {task} change", printed, gap - slack, gap + slack)
        parts = [rows[name][n].split()[0] for name in models]
        mean = sum(map(float, parts)) / len(parts)  # "40" among tenths is 40.0
        yield compare(
            where, f"Average, {task}", rows[average][n].split()[0], mean - 0.05, mean + 0.05
        )


# Q-Bench-Video


def qbench() -> dict[int, Table]:
    """Tables 2, 3, 6 and 7, the row of random guesses with the others."""
    return {
        2: tabbed("q-bench-video", "Sub-categories\t\tQuestion Types", 27, 8),
        3: tabbed("q-bench-video", "Sub-categories\t\tSingle Videos", 26, 7),
        6: tabbed("q-bench-video", "Table 6.\t", 27, 8),
        7: tabbed("q-bench-video", "Table 7. ", 27, 7),
    }


def qbench_parts(where: str) -> dict[str, tuple[str, list[str]]]:
    """For each row: the printed overall score, and its parts. Random guesses have no open items."""
    tables = qbench()
    number = int(re.findall(r"\d", where)[0])
    rows = {name: row for name, row in tables[number].items() if not name.startswith("Random")}
    if "one split" in where:
        pairs = tables[number + 1]
        return {name: (row[7], [pairs[name][2], pairs[name][6]]) for name, row in rows.items()}
    first, last, total = (
        (0, 3, 7) if "types" in where else (0, 2, 2) if "single" in where else (3, 6, 6)
    )
    return {name: (row[total], row[first:last]) for name, row in rows.items()}


def qbench_tables() -> Iterator[Check]:
    """Overall scores as means over items, with the shares of items that fit the most rows."""
    for where, shares in SHARES.items():
        if where.startswith("Q-Bench"):
            for name, (printed, parts) in qbench_parts(where).items():
                yield weighted(where, name, printed, parts, shares)
    for where, most in NO_SHARES.items():
        rows = len(qbench_parts(where))
        yield Check(where, "all rows", f"{rows} rows", f"{most} rows", most == rows)
    tables = qbench()
    for overall, split in ((2, 3), (6, 7)):
        where = f"Q-Bench-Video Table {overall}, Overall between single and pairs of Table {split}"
        for name, row in tables[overall].items():
            other = tables[split][name]
            yield between(where, name, row[7], [other[2], other[6]])
    where = "Q-Bench-Video Tables 2 and 6, random guess"
    (guess,) = (row for name, row in tables[2].items() if name.startswith("Random"))
    shares = SHARES["Q-Bench-Video Table 2, Overall from question types"]
    yield weighted(
        where, "Table 2, Overall without open questions", guess[7], guess[:2], shares[:2]
    )
    (guess,) = (row for name, row in tables[6].items() if name.startswith("Random"))
    yield between(where, "Table 6, Overall without open questions", guess[7], guess[:2])
    where = "Q-Bench-Video Tables 2, 3, 6, 7, each row its own"
    seen: dict[tuple[str, ...], str] = {}
    for number, table in tables.items():
        for name, row in table.items():
            known = seen.setdefault(tuple(row[:7]), f"Table {number}, {name}")
            mine = f"Table {number}, {name}"
            yield Check(
                where, mine, "7 numbers", "its own" if mine == known else known, mine == known
            )


def qbench_text() -> Iterator[Check]:
    """Tables 1, 4 and 5, and the text."""
    where = "Q-Bench-Video Table 1 and text"
    sizes = [int(line.split("\t")[4]) for line in after("q-bench-video", "Video Type\t", 7)]
    yield exact(where, "Natural", said("q-bench-video", r"Natural \((1000)\)")[1], sum(sizes[:4]))
    yield exact(where, "AIGC", "600", sum(sizes[4:6]))
    yield exact(where, "CG", said("q-bench-video", r"CG \((200)\)")[1], sizes[6])
    total = said("q-bench-video", r"(1,?800) ")[1].replace(",", "")
    yield exact(where, "all videos", total, sum(sizes))
    split = said("q-bench-video", r"test \((1,186) .*?dev \((1,192) ")
    items = said("q-bench-video", r"total of (2,378) question")[1].replace(",", "")
    yield exact(
        where, "question-answer pairs", items, sum(int(n.replace(",", "")) for n in split.groups())
    )
    raters = said(
        "q-bench-video", r"\[4, ([\d.]+)%\].*?\[3, ([\d.]+)%\], \[2, ([\d.]+)%\]"
    ).groups()
    yield exact(where, "raters' shares", "100.0", sum(map(float, raters)))
    table = qbench()[2]
    human = table["Human"]
    yield difference(where, "GPT-4o behind people", "22.86", human[7], table["GPT-4o"][7])
    yield difference(where, "people, Open-ended behind Yes-or-No", "9.46", human[0], human[2])
    yield difference(where, "people, Open-ended behind What-How", "3.89", human[1], human[2])
    names = ("mPLUG-Owl3 (Qwen2-7B)", "InternVL-Chat (Vicuna-7B)", "LLaVA-OneVision (Qwen2-7B)",
             "Gemini 1.5 Pro", "GPT-4o")  # fmt: skip
    where = "Q-Bench-Video Tables 4 and 5, the numbers of Table 2"
    for name, line in zip(names, after("q-bench-video", "LMMs\tTech", 5), strict=True):
        for n, printed in enumerate(re.findall(r"\((\d\.\d+)/", line)):
            yield cut(where, f"Table 4, {name}, {n}", printed, table[name][3 + n])
    judged = re.findall(r"(\d\.\d+)/rank", after("q-bench-video", "Qwen\t0.379", 1)[0])
    for name, printed in zip(
        (*names[:2], "Video-LLaVA (Vicuna-v1.5-7B)", *names[3:]), judged, strict=True
    ):
        yield cut(where, f"Table 5, {name}", printed, table[name][2])


def cut(where: str, row: str, printed: str, percent: str) -> Check:
    """A share of a percentage with three digits, rounded or cut off."""
    share = float(percent) / 100
    return compare(where, row, printed, share - 0.0005, share)


# Cinéaste


def cineaste() -> Iterator[Check]:
    """Tables 2 to 5, and the text."""
    tables = {
        2: tabbed("cineaste", "Table 2. ", 14, 6),
        3: tabbed("cineaste", "Table 3. ", 7, 6),
        4: tabbed("cineaste", "Table 4. ", 5, 6),
        5: tabbed("cineaste", "Table 5. ", 7, 6),
    }
    for number, table in tables.items():
        where = f"Cinéaste Table {number}, Avg. Accuracy"
        for name, row in table.items():
            yield weighted(where, name, row[5], row[:5], CINEASTE_COUNTS)
    where = "Cinéaste text"
    steps = said(
        "cineaste",
        r"generated (11,729) .*?removed (7,544) .*?leaving (4,185) .*?additional (1,066) pairs \((25.5)%",
    )
    made, blind, left, untrue = (int(n.replace(",", "")) for n in steps.groups()[:4])
    yield exact(where, "left after the first filter", str(left), made - blind)
    yield exact(where, "left after the second filter", "3119", left - untrue)
    yield exact(where, "removed as hallucinated, %", steps[5], 100 * untrue / left)
    yield exact(where, "questions per category, in all", "3119", sum(CINEASTE_COUNTS))
    yield exact(
        where, "Visual Reasoning, %", said("cineaste", r"dataset at (29)%")[1], 100 * 905 / 3119
    )
    frames, language = tables[3], list(tables[4].values())
    yield difference(where, "8 to 64 frames", "5.2", frames["64"][5], frames["8"][5])
    yield difference(where, "8 to 64 frames, VR", "7.0", frames["64"][0], frames["8"][0])
    yield difference(where, "8 to 64 frames, TO", "1.7", frames["64"][2], frames["8"][2])
    yield difference(where, "captions, TO", "14.7", language[1][2], language[0][2])
    yield difference(where, "captions, VR", "0.2", language[1][0], language[0][0])
    yield exact(
        where, "scenes per movie", said("cineaste", r"approximately (9) scenes")[1], 1805 / 200
    )
    yield exact(
        where,
        "minutes per movie",
        said("cineaste", r"around (19) minutes \(1140.7")[1],
        1140.7 / 60,
    )


CHECKS: list[Callable[[], Iterator[Check]]] = [
    mmou_tables, mmou_text, muse_tables, muse_text, humanv_means, humanv_small,
    qbench_tables, qbench_text, cineaste,
]  # fmt: skip
