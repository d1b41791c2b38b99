"""Published benchmarks in their true layout, with rows of our own making, some of them odd."""

import csv
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

Row = dict[str, Any]


@dataclass(frozen=True)
class Layout:
    """Files of a benchmark, the media beside them, and what must become of its rows."""

    form: str  # as it is recognised
    files: Mapping[str, Any]  # by path: text, rows for Parquet (a list in a .parquet), or JSON
    media: Sequence[str]
    items: Mapping[str, tuple[str, Any]]  # id: kind, and the answer's letters or the reference
    odd: Sequence[str] = ()  # a part of the reason of each odd row, in order
    facts: Mapping[str, Any] = field(default_factory=dict)  # id.path of a record: its value

    def write(self, folder: Path, video: Path, sound: Path, picture: Path) -> Path:
        """Lay the files out in a folder; media are links to the given ones."""
        for name, content in self.files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            _write(path, content)
        for name in self.media:
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            medium = {".mp3": sound, ".png": picture}.get(path.suffix, video)
            path.hardlink_to(medium)
        return folder


def _write(path: Path, content: Any) -> None:
    if path.suffix == ".parquet":
        import pyarrow
        import pyarrow.parquet

        pyarrow.parquet.write_table(pyarrow.Table.from_pylist(content), path)
    elif isinstance(content, str):
        path.write_text(content)
    elif path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in content))
    else:
        path.write_text(json.dumps(content, indent=1))


def table(rows: Sequence[Row], delimiter: str = ",") -> str:
    """Rows as CSV, or as TSV."""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), delimiter=delimiter, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def _videomme(number: str, video: str, options: list[str], answer: Any, **more: Any) -> Row:
    return {
        "video_id": number[:3], "duration": "short", "domain": "Knowledge", "sub_category": "Law",
        "url": f"https://www.youtube.com/watch?v={video}", "videoID": video, "question_id": number,
        "task_type": "OCR Problems", "question": f"What is on the sign ({number})?",
        "options": options, "answer": answer, **more,
    }  # fmt: skip


_SIGNS = ["A. Stop.", "B. Go.", "C. A. M. only", "D. Nothing."]
VIDEOMME = Layout(
    "video-mme",
    {
        "videomme/test-00000-of-00001.parquet": [
            _videomme("001-1", "Zx_-90", _SIGNS, "C"),
            _videomme("001-2", "Zx_-90", _SIGNS, "D", duration="long"),
            _videomme("002-1", "gone", _SIGNS, "A"),
        ],
        "README.md": "---\nlicense: other\nconfigs:\n- config_name: videomme\n  data_files:\n"
        "  - split: test\n    path: videomme/test-*\n---\n# A card\n",
        "subtitle/Zx_-90.srt": "1\n00:00:00,000 --> 00:00:00,500\nGo.\n",
    },
    ["data/Zx_-90.MP4"],
    {"001-1": ("single", "C"), "001-2": ("single", "D")},
    ["not found"],
    {"001-1.options.2": "A. M. only", "001-2.tags.duration": "long"},
)

VIDEOMME_NESTED = Layout(
    "video-mme-nested",
    {
        "output_test_template.json": [
            {
                "video_id": "001", "duration_category": "short", "video_category": "Knowledge",
                "video_subcategory": "Law",
                "questions": [
                    {"question_id": "001-1", "task_type": "OCR Problems", "question": "Which sign?",
                     "choices": _SIGNS, "answer": "B", "response": "D"},
                    {"question_id": "001-2", "task_type": "OCR Problems", "question": "Which one?",
                     "choices": _SIGNS, "answer": "E", "response": "D"},
                ],
            },
        ]
    },
    ["001.mp4"],
    {"001-1": ("single", "B")},
    ["E"],
    {"001-1.tags.domain": "Knowledge"},
)  # fmt: skip

MVBENCH = Layout(
    "mvbench",
    {
        "json/action_sequence.json": [
            {"video": "P5.mp4", "question": "What came after the jump?", "start": 0.1, "end": 0.9,
             "candidates": ["A run.", "A nap.", "A song.", "A. call."], "answer": "A nap."},
            {"video": "P5.mp4", "question": "And before?", "start": 0.1, "end": 0.9,
             "candidates": ["A run.", "A nap."], "answer": "A walk."},
        ],
        "json/moving_count.json": [
            {"video": "video_1.mp4", "question": "How many move?",
             "candidates": ["3", "1", "0", "2"], "answer": "0"},
        ],
        "json/state_change.json": [
            {"video": "video_1.mp4", "question": "Is it lit?",
             "candidates": ["I don't know", "yes", "no"], "answer": "no"},
        ],
        "json/episodic_reasoning.json": [
            {"video": "friends_s01", "question": "Who knocks?", "start": 1, "end": 2, "fps": 3,
             "candidates": ["Joe", "Ann"], "answer": "Ann"},
        ],
    },
    ["video/star/Charades_v1_480/P5.mp4", "video/clevrer/video_validation/video_1.mp4",
     "video/perception/videos/video_1.mp4"],
    {"q-0001": ("single", "B"), "q-0004": ("single", "C"), "q-0005": ("single", "C")},
    ["no option", "not found"],
)  # fmt: skip

MLVU = Layout(
    "mlvu",
    {
        "MLVU/json/1_plotQA.json": [
            {"video": "m_1.mp4", "duration": 246, "question": "What colour is the coat?",
             "candidates": ["Yellow", "Red", "Green", "Blue"], "answer": "Green",
             "question_type": "plotQA"},
            {"video": "m_1.mp4", "duration": 246, "question": "And the hat?",
             "candidates": ["Yellow", "Red", "Green", "Blue"], "answer": "Pink",
             "question_type": "plotQA"},
        ],
        "MLVU/json/4_count.json": [
            {"video": "m_1.mp4", "duration": 1.0, "question": "How often does it ring?",
             "candidates": ["3", "2", "0", "1"], "answer": "1", "question_type": "count"},
        ],
        "MLVU/json/9_summary.json": [
            {"video": "s.mp4", "duration": 446.2, "question": "Sum the video up.",
             "answer": "A man walks home, and it rains.", "question_type": "summary"},
        ],
    },
    ["MLVU/video/1_plotQA/m_1.mp4", "MLVU/video/4_count/m_1.mp4", "MLVU/video/9_summary/s.mp4"],
    {"q-0001": ("single", "C"), "q-0003": ("single", "D"),
     "q-0004": ("open", "A man walks home, and it rains.")},
    ["no option"],
)  # fmt: skip


def _nextqa(qid: Any, answer: Any, kind: str = "CW") -> Row:
    options = {f"a{n}": text for n, text in enumerate(("hop", "sit down", "sleep", "wave", "eat"))}
    return {"video": 4010069, "frame_count": 369, "width": 640, "height": 480,
            "question": f"why does the boy stop ({qid})", "answer": answer, "qid": qid,
            "type": kind, **options}  # fmt: skip


NEXTQA = Layout(
    "next-qa",
    {"dataset/nextqa/val.csv": table([_nextqa(6, 0), _nextqa(1, 4, "DC"), _nextqa(2, 5, "TN")])},
    ["NExTVideo/1164/4010069.mp4"],
    {"4010069_6": ("single", "A"), "4010069_1": ("single", "E")},
    ["5"],
    {"4010069_1.tags.group": "descriptive", "4010069_1.question": "why does the boy stop (1)"},
)
NEXTQA_PARQUET = Layout(
    "next-qa",
    {"MC/test-00000-of-00001.parquet": [_nextqa(6, 0), _nextqa(1, 4, "TC")]},
    ["videos/4010069.mp4"],
    {"4010069_6": ("single", "A"), "4010069_1": ("single", "E")},
    facts={"4010069_1.tags.group": "temporal"},
)
NEXTQA_OPEN = Layout(
    "next-qa-open",
    {
        "OE/validation-00000-of-00001.parquet": [
            {"video": 4010069, "frame_count": 369, "width": 640, "height": 480, "qid": 3,
             "question": "what does the dog do", "answer": "jump over it", "type": "DO",
             "additional_ref_answer": "jump"},
            {"video": 4010069, "frame_count": 369, "width": 640, "height": 480, "qid": 4,
             "question": "how many dogs", "answer": "", "type": "DC",
             "additional_ref_answer": None},
        ]
    },
    ["4010069.mp4"],
    {"4010069_3": ("open", "jump over it")},
    ["answer"],
)  # fmt: skip


def _egoschema(name: str) -> Row:
    options = {f"option {n}": f"C {verb} the {name}" for n, verb in
               enumerate(("paints", "cleans", "folds", "eats", "drops"))}  # fmt: skip
    return {
        "q_uid": name,
        "google_drive_id": "x",
        "question": f"What does c do ({name})?",
        **options,
    }


EGOSCHEMA = Layout(
    "egoschema",
    {
        "questions.json": [_egoschema("0019-ab"), _egoschema("00d2-cd"), _egoschema("00ff-ef")],
        "subset_answers.json": {"0019-ab": 3, "00ff-ef": 0},
        "uid_to_ego4d.json": {"0019-ab": {"ego4d": "1", "start": 5}},
    },
    ["videos/0019-ab.mp4", "videos/00ff-ef.mp4"],
    {"0019-ab": ("single", "D"), "00ff-ef": ("single", "A")},
)
EGOSCHEMA_HUB = Layout(
    "egoschema-hub",
    {
        "Subset/test-00000-of-00001.parquet": [
            {"question_idx": "0001", "question": "What does c do?", "video_idx": "0019-ab",
             "option": ["A. C paints.", "B. C eats.", "C. C folds.", "D. C", "E. C naps."],
             "answer": "2"},
            {"question_idx": "0002", "question": "What does c not do?", "video_idx": "0019-ab",
             "option": ["A. C paints.", "B. C eats.", "C. C folds.", "D. C", "E. C naps."],
             "answer": None},
        ]
    },
    ["videos/0019-ab.mp4"],
    {"0001": ("single", "C")},
    ["answer"],
)  # fmt: skip


def _long(number: int, candidates: list[str], **more: Any) -> Row:
    return {"video_id": "86Cx", "question": f"In a red room, who comes in ({number})?",
            "question_wo_referring_query": "Who comes in?", "candidates": candidates,
            "position": [854, 855], "topic_category": "MV-Movie-Recaps", "question_category": "E2O",
            "level": "L1-Perception", "id": f"86Cx_{number}", "video_path": "86Cx.mp4",
            "subtitle_path": "86Cx_en.json", "duration_group": 15,
            "starting_timestamp_for_subtitles": 30.0, "duration": 1.0, "view_count": 9,
            **more}  # fmt: skip


LONGVIDEOBENCH = Layout(
    "longvideobench",
    {
        "lvb_val.json": [
            _long(0, ["a cat", "a man", "a boy", "nobody", "two"], correct_choice=1),
            _long(1, ["a cat", "a man"], correct_choice=0, duration_group=600),
            _long(2, ["a cat", "a man"]),
        ],
        "subtitles/86Cx_en.json": [
            {"timestamp": [30.2, 30.7], "text": "Who is it?"},
            {"start": "00:00:30.800", "end": "00:00:30.900", "line": "Me."},
            {"timestamp": [12.0, 13.0], "text": "before the clip"},
        ],
    },
    ["videos/86Cx.mp4"],
    {"86Cx_0": ("single", "B"), "86Cx_1": ("single", "A")},
    ["answer"],
    {"86Cx_1.tags.duration_group": "600", "86Cx_0.tags.level": "L1-Perception"},
)
LONGVIDEOBENCH_HUB = Layout(
    "longvideobench-hub",
    {
        "validation-00000-of-00001.parquet": [
            {**_long(number, []), "correct_choice": choice, "option0": "a cat", "option1": "a man",
             "option2": "a boy", "option3": "N/A", "option4": "N/A"}
            for number, choice in ((0, 2), (1, 3))
        ],
    },
    ["videos/86Cx.mp4"],
    {"86Cx_0": ("single", "C")},
    ["3"],
    {"86Cx_0.tags.split": "validation"},
)  # fmt: skip
MLVU_HUB = Layout(
    "mlvu-hub",
    {
        "mlvu/test-00000-of-00001.parquet": [
            {"video_name": "needle_32.mp4", "duration": 467.98, "task_type": "NQA", "answer": "C",
             "question": "What does the hand do?\n(A) It waves.\n(B) It points.\n(C) It knocks."},
            {"video_name": "needle_32.mp4", "duration": 467.98, "task_type": "NQA", "answer": "B",
             "question": "What does the hand hold?"},
        ]
    },
    ["MLVU_dev/needle_32.mp4"],
    {"q-0001": ("single", "C")},
    ["options"],
    {"q-0001.options.2": "It knocks."},
)  # fmt: skip

TEMPCOMPASS = Layout(
    "tempcompass",
    {
        "questions/multi-choice.json": {
            "1034": {
                "action": [
                    {"question": "What is the man doing?\nA. running\nB. singing\nC. A. B. Cing",
                     "answer": "B. singing"},
                    {"question": "What does he do?\nA. run\nB. sing", "answer": "C. sleep"},
                ],
                "direction": [
                    {"question": "Which way?\nA. left\nB. right\nC. up\nD. down",
                     "answer": "D. down"},
                ],
            }
        },
        "questions/yes_no.json": {
            "1034": {"speed": [{"question": "Is it slow?", "answer": "no"},
                               {"question": "Is it fast?", "answer": "yes"}]}
        },
        "questions/caption_matching.json": {
            "1034": {
                "order": [
                    {"question": "Which caption fits?\nCaption A: He eats.\nCaption B: He runs.",
                     "answer": "Caption B: He runs."},
                    {"question": "Which fits better?\nOption 1: He eats.\nOption 2: He runs.",
                     "answer": "Option 1: He eats."},
                    {"question": "Which sentence?\nSentence A: He eats.\nSentence B: He runs.",
                     "answer": "Sentence B: He runs."},
                ]
            }
        },
        "questions/captioning.json": {
            "1034": {
                "action": [
                    {"question": "Write a caption that fits.\nInformation A: {'subject': 'man', "
                                 "'action': 'running'}\nInformation B: {'subject': 'man', "
                                 "'action': 'singing'}\nGenerated Caption:",
                     "answer": "B. singing", "mc_question": "?", "mc_answer": "B"},
                ]
            }
        },
        "meta_info.json": {"1034": {"eval_dim": {"action": {"type": "fine-grained action"}}}},
    },
    ["videos/1034.mp4"],
    {
        "multi-choice-1034-action": ("single", "B"),
        "multi-choice-1034-direction": ("single", "D"),
        "yes_no-1034-speed": ("yesno", "B"),
        "yes_no-1034-speed-2": ("yesno", "A"),
        "caption_matching-1034-order": ("single", "B"),
        "caption_matching-1034-order-2": ("single", "A"),
        "caption_matching-1034-order-3": ("single", "B"),
        "captioning-1034-action": ("open", "B. singing"),
    },
    ["option"],
    {"multi-choice-1034-action.question": "What is the man doing?",
     "multi-choice-1034-action.options.2": "A. B. Cing",
     "caption_matching-1034-order-2.options.0": "He eats."},
)  # fmt: skip
TEMPCOMPASS_HUB = Layout(
    "tempcompass-hub",
    {
        "multi-choice/test-00000-of-00001.parquet": [
            {"video_id": "1034", "question": "What does he do?\nA. run\nB. sing",
             "answer": "A. run", "dim": "action"}],
        "yes_no/test-00000-of-00001.parquet": [
            {"video_id": "1034", "question": "Is it slow?", "answer": "yes", "dim": "speed"},
            {"video_id": "1034", "question": "Is it?", "answer": "maybe", "dim": "speed"}],
    },
    ["videos/1034.mp4"],
    {"multi-choice-1034-action": ("single", "A"), "yes_no-1034-speed": ("yesno", "A")},
    ["yes"],
    {"yes_no-1034-speed.tags.task": "yes_no"},
)  # fmt: skip
