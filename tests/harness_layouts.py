"""More published layouts: sound and pictures, joined files, and what harnesses write."""

from published_layouts import Layout, Row, table

_LOUD = ["A. A bell", "B. A dog", "C. Wind", "D. Rain"]


def _daily(question: str, choices: list[str], answer: str, **more: str) -> Row:
    return {"Question": question, "Choice": choices, "Answer": answer, "video_id": "aB-9",
            "Type": "Event Sequence", "content_parent_category": "Sports",
            "content_fine_category": "Basketball", "video_category": "Sports",
            "video_duration": "30s", **more}  # fmt: skip


DAILY_OMNI = Layout(
    "daily-omni",
    {
        "qa.json": [
            _daily("What is heard as the door shuts?", _LOUD, "B"),
            _daily("And then?", _LOUD, "D", video_duration="60s"),
            _daily("Whose dog?", _LOUD[:1], "A"),
        ]
    },
    ["Videos/aB-9/aB-9_video.mp4"],
    {"q-0001": ("single", "B"), "q-0002": ("single", "D")},
    ["option"],
    {"q-0001.tags.type": "Event Sequence", "q-0002.tags.duration": "60s"},
)


def _omnibench(index: int, sound: str, answer: str) -> Row:
    return {"task type": "Action and Activity", "audio type": "speech",
            "question": f"What are they doing ({index})?", "audio content": "A: Four letters.",
            "image content": "Two people.", "audio_path": sound, "image_path": "2_009.png",
            "index": index, "answer": answer,
            "options": ["They play chess.", "They cook.", "They sing."]}  # fmt: skip


OMNIBENCH = Layout(
    "omnibench",
    {
        "dataset/batch-5.jsonl": [
            _omnibench(0, "6-0044.mp4.mp3.mp3", "They cook."),
            _omnibench(1, "none.mp3", "They sing."),
            _omnibench(2, "6-0044.mp4.mp3.mp3", "They sleep."),
        ]
    },
    ["mm_data/audio/6-0044.mp4.mp3.mp3", "mm_data/image/2_009.png"],
    {"0": ("single", "B")},
    ["They sleep", "none.mp3"],
    {"0.tags.task": "Action and Activity", "0.media.1.path": "6-0044.mp4.mp3.mp3"},
)


def _mmvu(number: int, subject: str, kind: str, choices: Row, answer: str) -> Row:
    link = f"https://huggingface.co/datasets/yale-nlp/MMVU/resolve/main/videos/{subject}/0.mp4"
    return {"id": f"validation_{number}", "video": link, "youtube_url": "https://youtu.be/x?si=y",
            "question_type": kind, "metadata": {"subject": subject, "textbook": "", "knowledge": []},
            "question": f"Which one is shown ({number})?", "choices": choices,
            "answer": answer}  # fmt: skip


MMVU = Layout(
    "mmvu",
    {
        "validation.json": [
            _mmvu(0, "Art", "open-ended", dict.fromkeys("ABCDE", ""), "A pan"),
            _mmvu(1, "Chemistry", "multiple-choice",
                  {"A": "10.0", "B": "5.0", "C": "12.0", "D": "15.0", "E": "20.0"}, "C"),
            _mmvu(2, "Art", "multiple-choice", dict.fromkeys("ABCDE", ""), "A"),
        ]
    },
    ["videos/Art/0.mp4", "videos/Chemistry/0.mp4"],
    {"validation_0": ("open", "A pan"), "validation_1": ("single", "C")},
    ["option"],
    {"validation_1.tags.subject": "Chemistry", "validation_1.options.2": "12.0"},
)  # fmt: skip

ACTIVITYNET_QA = Layout(
    "activitynet-qa",
    {
        "dataset/test_q.json": [
            {"video_name": "1QIUV", "question": "does the car stop", "question_id": "v_1QIUV_1"},
            {"video_name": "1QIUV", "question": "what colour is it", "question_id": "v_1QIUV_2"},
            {"video_name": "1QIUV", "question": "who drives", "question_id": "v_1QIUV_3"},
        ],
        "dataset/test_a.json": [
            {"answer": "yes", "type": 3, "question_id": "v_1QIUV_1"},
            {"answer": "red", "type": 4, "question_id": "v_1QIUV_2"},
        ],
    },
    ["all_test/v_1QIUV.mkv"],
    {"v_1QIUV_1": ("yesno", "A"), "v_1QIUV_2": ("open", "red")},
    ["v_1QIUV_3"],
    {"v_1QIUV_2.tags.type": "colour"},
)


def _perception(number: int, answer: int | None, **more: object) -> Row:
    row = {"id": number, "question": f"Where does the cup go ({number})?",
           "options": ["left", "right", "up"], "answer_id": answer, "area": "memory",
           "reasoning": "descriptive", "tag": ["motion", "spatial relations"], **more}  # fmt: skip
    return {name: value for name, value in row.items() if value is not None}


PERCEPTION_TEST = Layout(
    "perception-test",
    {
        "mc_question_valid.json": {
            "video_8241": {
                "metadata": {"split": "valid", "video_id": "video_8241", "frame_rate": 29.9},
                "mc_question": [_perception(0, 2), _perception(1, None)],
            },
            "video_7": {
                "metadata": {"split": "valid", "video_id": "video_7"},
                "mc_question": [_perception(0, 0, area="physics")],
            },
        }
    },
    ["valid/video_8241.mp4", "valid/video_7.mp4"],
    {"video_8241-0": ("single", "C"), "video_7-0": ("single", "A")},
    ["answer"],
    {"video_7-0.tags.area": "physics", "video_7-0.tags.skill": ["motion", "spatial relations"]},
)
PERCEPTION_TEST_HUB = Layout(
    "perception-test-hub",
    {
        "mc_question_val/validation-00000-of-00001.parquet": [
            {"video_name": "video_8241", "question_id": "0", **_perception(0, 1)},
            {"video_name": "video_8241", "question_id": "1", **_perception(1, 7)},
        ]
    },
    ["videos/video_8241.mp4"],
    {"video_8241-0": ("single", "B")},
    ["7"],
)


def _tsv(index: int, video: str, answer: str, *options: str) -> Row:
    letters = dict(zip("ABCD", options, strict=True))
    return {"index": index, "video": video, "question": f"What turns ({index})?", **letters,
            "answer": answer, "hint": "", "category": "motion"}  # fmt: skip


VLMEVALKIT = Layout(
    "vlmevalkit",
    {
        "Mine.tsv": table(
            [
                _tsv(0, "clip", "B", "a wheel", "a key", "a page", ""),
                _tsv(1, "clip", "D", "a wheel", "a key", "a page", "a tap"),
                _tsv(2, "clip", "D", "a wheel", "a key", "a page", ""),
            ],
            "\t",
        )
    },
    ["videos/clip.mp4"],
    {"0": ("single", "B"), "1": ("single", "D")},
    ["D"],
    {"0.tags.category": "motion"},
)
VLMEVALKIT_LISTS = Layout(
    "vlmevalkit-lists",
    {
        "MLVU_MCQ.tsv": table(
            [
                {"task_type": "count", "prefix": "./MLVU/video/4_count", "duration": 467.98,
                 "video": "count_2.mp4", "question": "How often?", "answer": "It doesn't",
                 "candidates": """['Once', "It doesn't", 'Twice']""", "index": 0},
                {"task_type": "count", "prefix": "./MLVU/video/4_count", "duration": 467.98,
                 "video": "count_2.mp4", "question": "How often?", "answer": "Never",
                 "candidates": """['Once', "It doesn't", 'Twice']""", "index": 1},
            ],
            "\t",
        )
    },
    ["MLVU/video/4_count/count_2.mp4"],
    {"0": ("single", "B")},
    ["Never"],
)  # fmt: skip

QBENCH_VIDEO = Layout(
    "q-bench-video",
    {
        "qbench_video_dev.json": [
            {"video_name": "A.mp4", "question": "What is the most apparent flaw?",
             "answers": ["Noise", "Blur", "Flicker", "Stutter"], "correct_choice": "B",
             "question_type": "What-How", "context": "Global", "quality_concern": "Technical"},
            {"video_name": "A.mp4_cat_B.mp4.mp4", "question": "Is the first one sharper?",
             "answers": ["Yes", "No"], "correct_choice": "No", "question_type": "Yes-or-No",
             "context": "Pairs", "quality_concern": "Technical"},
            {"video_name": "C.mp4", "question": "Why does it look bad?", "answers": [],
             "correct_choice": "It is blurred.", "question_type": "Open-ended",
             "context": "Global", "quality_concern": "Technical"},
        ]
    },
    ["A.mp4", "videos/B.mp4"],
    {},
    ["C.mp4"],
)  # fmt: skip


def _human(number: int, choices: object, answer: str, video: str = "12.mp4") -> Row:
    return {"Question_id": number, "Video": f"Emotion_Recognition/{video}", "choices": choices,
            "Question": f"How does the woman feel ({number})?", "Answer": answer}  # fmt: skip


_FEELINGS = "\n\nOption A: {Joy}\n\nOption B: {Anger}\n\nOption C: {Fear}"
HUMANVBENCH = Layout(
    "humanvbench",
    {
        "Emotion_Recognition.jsonl": [
            _human(1, _FEELINGS, "B"),
            _human(2, _FEELINGS, "Fear"),
            _human(3, _FEELINGS, "D"),
            _human(4, _FEELINGS, "A", "13.mp4"),
        ]
    },
    ["videos/Emotion_Recognition/12.mp4"],
    {"ER-1": ("single", "B"), "ER-2": ("single", "C")},
    ["no option", "13.mp4"],
)


def _mmou(number: int, video: str, key: str | None) -> Row:
    options = dict(zip("ABCDEFGHIJ", map(str, range(3, 13)), strict=True))
    return {"question_id": f"q{number}", "video_url": f"https://www.youtube.com/watch?v={video}",
            "domain": "News", "question": f"How many signs are seen ({number})?",
            "question_type": ["Needle", "Counting"], "options": options, "start_time": "00:00",
            "end_time": "00:01", "video_duration": 1, "correct_option_letter": key}  # fmt: skip


MMOU = Layout(
    "mmou",
    {"MMOU.json": [_mmou(1, "dQw-4", "J"), _mmou(2, "dQw-4", None), _mmou(3, "none", "A")]},
    ["videos/dQw-4.mp4"],
    {"q1": ("single", "J")},
    ["correct_option_letter", "none"],
)
