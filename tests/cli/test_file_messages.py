"""A file that is not what a command takes: what is wrong, where, and what to write instead."""

import json
import zipfile
from pathlib import Path

import pytest
from support import reelbench

ROWS = "video,question,A,B,answer\n" + "".join(f"{n}.mp4,What is {n}?,x,y,B\n" for n in range(3))
ITEM = {"id": "q-1", "kind": "single", "media": [{"path": "media/a.mp4"}], "question": "What?",
        "options": ["x", "y"], "answer": ["A"]}  # fmt: skip
LINE = json.dumps(ITEM)
OTHER = LINE.replace("q-1", "q-2").replace("What?", "Who comes?")
FILES: dict[str, str | bytes] = {
    "questions.csv": ROWS,
    "csv.xlsx": ROWS,
    "page.xlsx": "<html><body>404</body></html>",
    "old.xls": b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b" " * 600,
    "paper.pdf": b"%PDF-1.7\n%\xe2\xe3\n1 0 obj <<>> endobj\n",
    "brace.jsonl": '{"video": "a.mp4", "question": "Why?", "answer": "so"}\n{"video": "b.mp4"\n',
    "python.json": "[{'video': 'a.mp4', 'question': 'What?', 'answer': 'A'}]",
    "ids.csv": "id,video,question,answer\n1,a.mp4,Why?,so\n2,a.mp4,Who?,she\n1,a.mp4,What?,it\n",
    "map.yaml": "fields: {video: vido, question: question}\n",
    "ratings.csv": "item,rater,score\n1,ann,3\n1,bob,2\n2,ann,1\n2,bob,1\n3,ann,1\n3,bob,1\n",
    "labels.csv": "item,annotator,label\n1,ann,yes\n1,bob,no\n2,ann,yes\n2,bob,yes\n",
    "columns.csv": "item,wer,note\n1,ann,3\n1,bob,2\n2,ann,1\n2,bob,1\n",
    "items.jsonl": LINE,
    "predictions.csv": "id,reply\nq-1,A\n",
    **{
        f"{name}/items.jsonl": f"{LINE}\n{line}\n"
        for name, line in {
            "bench": OTHER,
            "brace": OTHER[:-1],
            "single": OTHER.replace('"', "'"),
            "twice": OTHER.replace("q-2", "q-1"),
            "slip": OTHER.replace('"media":', '"medai": [], "media":'),
            "instead": OTHER.replace('"media":', '"medai":'),
            "field": OTHER,
        }.items()
    },
}
MANIFEST = 'name: mine\nversion: "1"\n'
RANDOM, PIXELS = ("--model baseline:random --out made", "--model baseline:pixels --out made")
IMPORT_IT = "reelbench import questions.csv --out BENCH"
SCALE = "--weights identity --categories"
TABLE = [
    ("import page.xlsx --out made", 2, ["page.xlsx: file: found a web page", "save it as .xlsx"]),
    ("import csv.xlsx --dry-run", 0, ["csv.xlsx is no spreadsheet, although its name says so: it is csv"]),
    ("import old.xls --out made", 2, ["no spreadsheet that can be read", "without a password", "save it again, as .xlsx"]),
    ("import zip.xlsx --out made", 2, ["found an archive", "such as .xlsx or .csv"]),
    ("import paper.pdf --out made", 2, ["found a PDF", "export them as CSV"]),
    ("import brace.jsonl --dry-run", 1, ["brace.jsonl:2: line", "an end without } at column 18"]),
    ("import python.json --out made", 2, ["python.json:1", "single quotes instead of double ones at column 3"]),
    ("import ids.csv --dry-run", 0, ["1 id occurred before", "'1' in 2 and 4", "--set id='{video}_{id}'"]),
    ("import questions.csv --as next-qa --out made", 2, ["is not of the form next-qa", "it lacks frame_count, qid", "Leave --as next-qa out"]),
    ("import questions.csv --as nextqa2 --out made", 2, ["no form 'nextqa2' (perhaps 'next-qa')"]),
    ("import questions.csv --set question=qestion --out made", 2, ["no column 'qestion' (perhaps 'question')", "video, question, A, B, answer"]),
    ("import questions.csv --set qustion=question --out made", 2, ["--set qustion=... sets nothing (perhaps 'question')"]),
    ("import questions.csv --map map.yaml --out made", 2, ["no column 'vido' (perhaps 'video')"]),
    ("lint questions.csv", 2, [IMPORT_IT]),
    (f"run questions.csv {RANDOM}", 2, [IMPORT_IT]),
    (f"run brace.jsonl {RANDOM}", 2, ["reelbench import brace.jsonl --out BENCH"]),
    (f"run bench/items.jsonl {RANDOM}", 2, ["one file of a benchmark: name its folder, bench."]),
    (f"run paper.pdf {RANDOM}", 2, ["paper.pdf is not a folder: a benchmark is a folder with benchmark.yaml"]),
    ("score --benchmark questions.csv --predictions predictions.csv", 2, [IMPORT_IT]),
    ("score --benchmark bench --predictions predictions.csv --column prediction=repyl", 2, ["no column 'repyl'", "'id, reply'"]),
    ("lint brace --no-media", 1, ["line 2", "an end without } at column", "one complete JSON object"]),
    (f"run brace {RANDOM}", 2, ["brace/items.jsonl:2", "an end without } at column"]),
    (f"run single {RANDOM}", 2, ["single/items.jsonl:2", "single quotes instead of double ones at column 2"]),
    (f"run twice {RANDOM}", 2, ["twice/items.jsonl:2: id: found 'q-1', as on line 1"]),
    (f"run bench {PIXELS}", 2, ["1 of 1 media files are missing (the first: bench/media/a.mp4)", "baseline:pixels", "--media FOLDER"]),
    ("lint slip --no-media", 0, ["line 2", "medai: found an unknown field", "perhaps 'media' is meant"]),
    ("lint instead --no-media", 1, ["line 2", "a field 'medai' (perhaps 'media' is meant)"]),
    (f"run field {RANDOM}", 2, ["field/benchmark.yaml:3", "perhaps 'protocol' is meant"]),
    (f"agree ratings.csv {SCALE} 1,2,3", 0, ["3 subjects", "2 raters, 6 ratings"]),
    (f"agree labels.csv {SCALE} yes,no", 0, ["2 subjects", "2 raters, 4 ratings"]),
    (f"agree columns.csv {SCALE} 1,2,3", 2, ["no rating under 'wer'", "item, rater and rating with one rating a row"]),
]  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Files as people name them to commands. Read them, do not write to them."""
    root = tmp_path_factory.mktemp("files")
    for name, content in FILES.items():
        path = root / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        if path.parent != root:
            more = "protcol: {}\n" if path.parent.name == "field" else ""
            (path.parent / "benchmark.yaml").write_text(MANIFEST + more)
    with zipfile.ZipFile(root / "zip.xlsx", "w") as archive:
        archive.writestr("a.mp4", "x")
    return root


@pytest.mark.parametrize(("command", "status", "said"), TABLE, ids=[row[0] for row in TABLE])
def test_it_is_said_what_is_wrong_and_what_to_write(
    command: str, status: int, said: list[str], folder: Path
) -> None:
    done = reelbench(*command.split(), cwd=folder)
    told = done.stdout + done.stderr
    assert done.returncode == status, told
    assert [words for words in said if words not in told] == [], told
    assert "Traceback" not in told
    assert "(char " not in told
    assert not (folder / "made").exists()  # nothing half-made is left
