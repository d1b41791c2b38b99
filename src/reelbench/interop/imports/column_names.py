"""What columns are called in the files people have: names as ``name_key`` spells them.

The order within a field is that in which its columns are preferred where a file has several.
"""

import re
import string
import unicodedata

from reelbench.base.text import without_accents
from reelbench.interop.imports.alphabets import OTHER_LETTERS


def name_key(name: str) -> str:
    """Return a column's name without case, accents, and what joins its words."""
    plain = unicodedata.normalize("NFC", without_accents(name.strip())).casefold()
    return "".join(sign for sign in plain if sign.isalnum())


def _keys(words: str) -> tuple[str, ...]:
    """Names between spaces as they are compared, each once."""
    return tuple(dict.fromkeys(map(name_key, words.split())))


QUESTION = _keys(
    "question questiontext questions query stem q prompt problem instruction ask text frage "
    "vraag pregunta pergunta domanda вопрос 问题 題目 题目 問題 質問 질문 سؤال السؤال प्रश्न "
    "שאלה השאלה soru pytanie"
)
OPTIONS = _keys(
    "options option choices choice candidates candidate answerchoices answeroptions "
    "multichoice multiplechoice mcoptions mc optionlist answers alternatives possibleanswers "
    "antworten optionen opciones opcoes opzioni варианты 选项 選項 選択肢 보기"
)
ANSWER = _keys(
    "answer answerletter answerlabel correctanswer correctoption correctchoice correctlabel "
    "correctlabels correctanswers correctletter rightanswer rightoption answeridx answerindex "
    "answerid answernumber correctidx correctindex correctid correctanswerindex "
    "correctansweridx correct right truth gt gtanswer groundtruth groundtruthanswer "
    "goldanswer gold target label labels key answerkey solution ans a loesung losung richtig "
    "antwort antwoord respuesta resposta risposta reponse ответ 答案 正确答案 回答 答え 正解 "
    "정답 답변 الجواب richtigeantwort korrekteantwort richtigeoption bonnereponse "
    "reponsecorrecte respuestacorrecta opcioncorrecta respostacorreta respostacerta "
    "rispostacorretta rispostagiusta juisteantwoord правильныйответ верныйответ 正確答案 "
    "正确选项 标准答案 参考答案 الإجابة الاجابة الإجابةالصحيحة الاجابةالصحيحة الجوابالصحيح "
    "תשובה התשובה תשובהנכונה התשובההנכונה उत्तर सहीउत्तर cevap dogrucevap odpowiedz"
)
REFERENCE = _keys(
    "reference referenceanswer answertext correctanswertext answercontent answerstring "
    "fullanswer goldtext"
)
VIDEO = _keys(
    "videopath videofile videofilename filepath filename clippath clipfile clipname videoname "
    "vidname video videos clip media mediapath mediafile file path visual visualpath videoid "
    "videouid vid clipid clipuid youtubeid ytid youtubekey videokey videouuid audio audiopath "
    "image imagepath videourl videolink url link youtubeurl datei fichier archivo videodatei "
    "videodateiname fichiervideo archivodevideo videobestand الفيديو فيديو סרטון וידאו "
    "视频文件名 视频名称 видеофайл видео 视频 視頻 视频路径 视频文件 動画 영상 비디오"
)
ID = _keys(
    "id questionid qid quid uid quesid qaid itemid sampleid exampleid index idx questionidx "
    "questionindex docid uuid key number no nr num qno annotationid entryid rowid doc 编号 "
    "序号 番号"
)
START = _keys(
    "start starttime startsec startsecs startsecond startseconds starts begin begintime "
    "clipstart videostart starttimestamp tstart from onset timestart startts beginsec anfang "
    "von inicio debut начало 开始 开始时间 開始"
)
END = _keys(
    "end endtime endsec endsecs endsecond endseconds ends finish clipend videoend "
    "endtimestamp tend to until offset timeend endts stop stoptime ende bis fin конец 结束 "
    "结束时间 終了"
)
SPAN = _keys(
    "span timespan segment timesegment interval timeinterval window timewindow timerange "
    "cliptime clipspan timestamps timestamp time times zeit zeitraum zeitspanne zeitfenster "
    "ausschnitt abschnitt intervall tiempo intervalo segmento temps intervalle plage tempo "
    "intervallo время интервал 时间 时间段 时间范围 時間 区間 시간 구간 الوقت זמן"
)
EVIDENCE = _keys(
    "evidence evidencespan evidencespans evidencetime timereference relevantwindows gtspan "
    "gtspans groundingspan grounding relevantspan keyspan clue clueintervals position"
)
SUBTITLES = _keys("subtitles subtitle subtitlepath subtitlespath subtitlefile srt vtt")
KIND = _keys(
    "kind questiontype qtype type answertype format questionformat qatype questionkind category"
)
SPLIT = _keys("split subset partition fold set")
# Values that are few, whatever they are: scores come by each of them.
TAGS = frozenset(
    _keys(
        "type category categories task tasktype taskname questiontype qtype domain subdomain "
        "subcategory difficulty level topic topics skill skills ability abilities language lang "
        "source dataset capability dimension theme genre tag tags label aspect duration "
        "durationgroup durationcategory qcategory questioncategory videocategory videotype group "
        "class subtask subject field discipline lengthtype config modality kategorie thema "
        "categorie categoria tema aufgabe schwierigkeit niveau категория тема 类别 类型 类目 任务 "
        "难度 カテゴリ 分類 유형 الفئة קטגוריה"
    )
)
KNOWN = frozenset(
    {*QUESTION, *ANSWER, *REFERENCE, *ID, *VIDEO, *KIND, *SPLIT, *TAGS, *START, *END, *SPAN}
)
# What a model replied is never a key, nor anything else of an item.
PREDICTION = re.compile(
    r"(?:pred(?:icted|iction|ictions)?|response|output|outputs|reply|modelanswer|modelresponse"
    r"|modeloutput|answerpred|predanswer|parsed|filteredresps|resps|hypothesis|generated\w*)"
)
# What tells two videos of one question apart.
SIDES = (
    ("left", "right"), ("first", "second"), ("one", "two"), ("before", "after"), ("x", "y"),
    ("original", "edited"), ("reference", "test"), ("source", "target"), ("links", "rechts"),
    ("gauche", "droite"), ("izquierda", "derecha"),
)  # fmt: skip
# Words in the name of a column that has a key rather than what someone chose.
RIGHT = re.compile(
    r"correct|right|truth|gold|solution|richtig|korrekt|loesung|losung|bonne|juste|giust|corret"
    r"|правильн|верн|正确|正確|标准|正解|정답|الصحيح|נכונ"
)
WRONG = re.compile(
    r"(?:wrong|incorrect|distractor|false|negative|falsch|incorrecta|mauvais)"
    r"(?:answer|option|choice)?(?:s|en)?(?:\d{1,2}|[a-z])?"
)
OPTION_PREFIXES = frozenset(
    _keys(
        "option opt options choice choices answer answers ans candidate alternative a o c mc mcq "
        "antwort opcion reponse response text optiontext answertext variant вариант ответ 选项 "
        "選択肢 choix choice auswahl antwortoption antwortmoglichkeit opzione opcao risposta "
        "respuesta resposta الخيار خيار الاختيار אפשרות תשובה 選項 보기 secenek odpowiedz"
    )
)


_ENDED = re.compile(rf"(\d{{1,2}}|[A-Za-z{OTHER_LETTERS}])[\])]?$")
_JOINTS = f"{string.whitespace}\u00a0_.-[("  # between a name and its number


def last_word(name: str) -> str:
    """Return the last word of a column's name, such as the iv of ``option iv``."""
    return re.split(r"[\W_]+", name.strip(f"{_JOINTS})]"))[-1]


def series_part(name: str) -> tuple[str, str] | None:
    """Return the prefix and the number or letter of a column such as ``option_1`` or ``optA``.

    None for a name that is not one of a series: the a of ``media`` is its own letter.
    """
    name = name.strip()
    found = _ENDED.search(name[-3:])
    if found is None:
        return None
    before, label = name[: len(name) - len(found[0])], found[1]
    prefix = before.rstrip(_JOINTS)
    if label.isdecimal():
        return name_key(prefix), str(int(label))
    if not prefix:
        return "", label
    signs = label in "甲乙丙丁戊己庚辛壬癸①②③④⑤⑥⑦⑧⑨⑩"
    latin = label.isascii() and label.isupper() and not prefix[-1].isupper()
    apart = prefix != before or latin or signs
    return (name_key(prefix), label) if apart or name_key(prefix) in ("opt", "ans") else None
