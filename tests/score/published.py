"""MMOU, MuseBench and HumanVBench: their tables, what the parts give, and all checks."""

import re
from collections.abc import Callable, Iterator
from dataclasses import replace

from score.published_more import cineaste, qbench_tables, qbench_text
from score.published_reading import (
    MUSE_COUNTS,
    MUSE_MULTI,
    MUSE_SINGLE,
    SHARES,
    Check,
    Row,
    Table,
    after,
    compare,
    difference,
    exact,
    half,
    lines,
    piped,
    said,
    spaced,
    tabbed,
    weighted,
)

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


CHECKS: list[Callable[[], Iterator[Check]]] = [
    mmou_tables, mmou_text, muse_tables, muse_text, humanv_means, humanv_small,
    qbench_tables, qbench_text, cineaste,
]  # fmt: skip
