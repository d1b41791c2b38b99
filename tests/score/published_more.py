"""Q-Bench-Video and Cinéaste: their tables, and what the parts give."""

import re
from collections.abc import Iterator

from score.published_reading import (
    CINEASTE_COUNTS,
    NO_SHARES,
    SHARES,
    Check,
    Table,
    after,
    between,
    compare,
    difference,
    exact,
    said,
    tabbed,
    weighted,
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
