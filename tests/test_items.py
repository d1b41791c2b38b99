"""An item survives every round trip, and every bad line gets its sentence."""

import copy
import json
import pickle

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import make_item

from reelbench.data.item_rules import item_from_line
from reelbench.data.items import Item, freeze


def read(line: str | bytes) -> Item:
    item, problems = item_from_line(line.encode() if isinstance(line, str) else line)
    assert item is not None, problems
    assert problems == []
    return item


FULL = {
    "id": "q-0001",
    "kind": "multi",
    "media": [{"path": "media/a.mp4", "start": 10, "end": 20.0, "fps": 25}, {"path": "ü b.mkv"}],
    "question": "Was geschieht? 什么?",
    "options": ["ein Tor", "ein Hund", "es schneit"],
    "answer": ["C", "A"],
    "reference": "a gate",
    "evidence": [[12, 15.5], [16.25, 17]],
    "tags": {"category": "order", "skills": ["time", "sound"], "year": 1999, "hard": True},
    "context": {"captions": [{"at": 1, "text": "…"}], "huge": 10**40, "none": None},
    "provenance": {"seed": 7},
    "note": {"ours": False},
    "extra": "not ours either",
    "*": [1, {"a": []}],
}


class TestRoundTrip:
    def test_nothing_is_lost_or_reordered(self) -> None:
        line = json.dumps(FULL, ensure_ascii=False)
        assert read(line).to_line() == line

    def test_unknown_fields_are_kept_wherever_they_stand(self) -> None:
        item = read(json.dumps(FULL))
        assert item.extra == {
            "note": {"ours": False},
            "extra": "not ours either",
            "*": (1, {"a": ()}),
        }
        assert item.media[0].extra == {"fps": 25}

    @pytest.mark.parametrize(
        "odd", ['"note": null', '"*": {}', '"\\u002a": {"id": "x"}', '"n": {"a": null}']
    )
    def test_fields_that_look_like_nothing_are_kept(self, odd: str) -> None:
        line = '{"id": "q", "kind": "single", "media": [{"path": "a.mp4", "note": null}], "question": "?", "options": ["x", "y"], "answer": ["A"], %s}'
        assert read(line % odd).to_line() == (line % odd).replace("\\u002a", "*")

    def test_whole_seconds_stay_whole(self) -> None:
        assert '"start": 10, "end": 20.0' in read(json.dumps(FULL)).to_line()

    def test_the_digest_does_not_depend_on_layout(self) -> None:
        backwards = json.dumps(dict(reversed(FULL.items())), indent=None, separators=(",", ":"))
        assert read(backwards).digest == read(json.dumps(FULL)).digest

    def test_the_digest_depends_on_everything(self) -> None:
        digests = {read(json.dumps(FULL)).digest}
        for name, value in {"question": "?", "note": 1, "context": {}, "answer": ["A"]}.items():
            digests.add(read(json.dumps(FULL | {name: value})).digest)
        assert len(digests) == 5

    texts = st.text(
        st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), min_size=1
    ).filter(str.strip)
    leaves = (
        st.none()
        | st.booleans()
        | st.integers()
        | st.floats(allow_nan=False, allow_infinity=False)
        | texts
    )
    values = st.recursive(
        leaves,
        lambda deeper: (
            st.lists(deeper, max_size=3) | st.dictionaries(st.text(max_size=5), deeper, max_size=3)
        ),
        max_leaves=8,
    )

    @given(
        question=texts,
        options=st.lists(texts, min_size=2, max_size=26),
        context=st.dictionaries(st.text(max_size=8), values, max_size=4),
        unknown=st.dictionaries(
            st.text(max_size=8).filter(lambda n: n not in Item.__struct_fields__),
            values,
            max_size=3,
        ),
    )
    def test_any_content(
        self,
        question: str,
        options: list[str],
        context: dict[str, object],
        unknown: dict[str, object],
    ) -> None:
        item = make_item(
            question=question,
            options=tuple(options),
            context=freeze(context),
            extra=freeze(unknown),
        )
        again = read(item.to_line())
        assert again == item
        assert again.to_line() == item.to_line()


class TestImmutable:
    def test_fields_and_what_is_in_them_cannot_change(self) -> None:
        item = read(json.dumps(FULL))
        with pytest.raises(AttributeError):
            item.id = "other"
        for change in (
            lambda: item.tags.update(category="x"),
            lambda: item.context["captions"][0].pop("at"),
            lambda: item.tags.__setitem__("category", "x"),
            lambda: item.tags["skills"].append("x"),
        ):
            with pytest.raises((TypeError, AttributeError)):
                change()

    def test_a_copy_can_differ(self) -> None:
        changed = msgspec.structs.replace(make_item(), question="And now?")
        assert changed.question == "And now?"
        assert changed.digest != make_item().digest

    def test_it_goes_to_another_process(self) -> None:
        item = read(json.dumps(FULL))
        assert pickle.loads(pickle.dumps(item)) == item
        assert copy.deepcopy(item) == item
        assert hash(item) == hash(read(json.dumps(FULL)))


def test_tags_may_have_several_values() -> None:
    item = read(json.dumps(FULL))
    assert item.tag("skills") == ("time", "sound")
    assert item.tag("category") == ("order",)
    assert item.tag("year") == ("1999",)
    assert item.tag("absent") == ()


def test_the_right_options_by_text() -> None:
    assert read(json.dumps(FULL)).correct == ("es schneit", "ein Tor")


def test_a_changed_copy_has_what_was_given_and_is_as_immutable() -> None:
    item = read(json.dumps(FULL))
    changed = item.replace(question="Und jetzt?", tags={"skills": ["time"]})
    assert (changed.question, changed.tag("skills")) == ("Und jetzt?", ("time",))
    assert changed.replace(question=item.question, tags=item.tags) == item
    assert hash(changed) != hash(item)
    with pytest.raises(TypeError, match=r"item\.replace\(\.\.\.\)"):
        changed.tags["skills"] = ()
    with pytest.raises(TypeError):
        item.replace(queston="?")


def plain(**changes: object) -> bytes:
    record = {
        "id": "q", "kind": "single", "media": [{"path": "a.mp4"}], "question": "?",
        "options": ["x", "y"], "answer": ["A"],
    } | changes  # fmt: skip
    return json.dumps({name: value for name, value in record.items() if value != "absent"}).encode()


OPTIONS_27 = [f"option {n}" for n in range(27)]
BAD = [
    # what is wrong, the line, the code, the field, and words of the sentence
    ("not JSON", b'{"id": "q", ', "NOT_JSON", "line", "column 13"),
    ("a list", b"[1, 2]", "NOT_JSON", "line", "found [1, 2], expected a JSON object"),
    ("a number JSON lacks", plain()[:-1] + b', "x": NaN}', "NOT_JSON", "line", "found NaN"),
    ("a number past all floats", plain()[:-1] + b', "context": {"x": 1e999}}', "NOT_JSON", "line", "out of range"),
    ("a field twice", plain()[:-1] + b', "answer": ["B"]}', "NOT_JSON", "line", "'answer' twice"),
    ("a nested field twice", plain()[:-1] + b', "tags": {"a": "x", "a": "y"}}', "NOT_JSON", "line", "'a' twice"),
    ("a field twice, disguised", plain()[:-1] + b', "\\u0061nswer" : ["B"]}', "NOT_JSON", "line", "'answer' twice"),
    ("a field twice, behind a carriage return", plain()[:-1] + b', "id"\r: "z"}', "NOT_JSON", "line", "'id' twice"),
    ("half a surrogate", plain()[:-1] + b', "x": "\\ud800"}', "NOT_JSON", "line", "half a surrogate pair"),
    ("Latin-1", plain(question="caf?").replace(b"caf?", b"caf\xe9"), "ENCODING", "line", "byte 0xE9"),
    ("endless nesting", b'{"a":' * 100_000, "NOT_JSON", "line", "nesting"),
    ("no id", plain(id="absent"), "MISSING_FIELD", "id", "expected text on one line"),
    ("a number as id", plain(id=7), "BAD_FIELD", "id", "found 7"),
    ("an id with a newline", plain(id="a\nb"), "BAD_FIELD", "id", "on one line"),
    ("an unknown kind", plain(kind="mcq"), "BAD_FIELD", "kind", "found 'mcq', expected one of single"),
    ("no media", plain(media=[]), "MEDIA_COUNT", "media", "found 0 media, expected 1 or 2"),
    ("media missing", plain(media="absent", more=1), "MISSING_FIELD", "media", "found nothing"),
    ("three media", plain(media=[{"path": "a"}] * 3), "MEDIA_COUNT", "media", "found 3"),
    ("a path as media", plain(media="a.mp4"), "BAD_FIELD", "media", "found 'a.mp4'"),
    ("a path that is a number", plain(media=[{"path": 3}]), "BAD_FIELD", "media[0].path", "found 3"),
    ("a path up", plain(media=[{"path": "../a.mp4"}]), "MEDIA_PATH", "media[0].path", "leaves the folder"),
    ("an absolute path", plain(media=[{"path": "/a.mp4"}]), "MEDIA_PATH", "media[0].path", "absolute"),
    ("a drive", plain(media=[{"path": "C:/a.mp4"}]), "MEDIA_PATH", "media[0].path", "absolute"),
    ("backslashes", plain(media=[{"path": "media\\a.mp4"}]), "MEDIA_PATH", "media[0].path", "backslash"),
    ("an address", plain(media=[{"path": "s3://b/a.mp4"}]), "MEDIA_PATH", "media[0].path", "download the file"),
    ("a window backwards", plain(media=[{"path": "a", "start": 5, "end": 5}]), "MEDIA_WINDOW", "media[0]", "found 5 to 5"),
    ("a time as text", plain(media=[{"path": "a", "start": "5"}]), "BAD_FIELD", "media[0].start", "found '5'"),
    ("a true time", plain(media=[{"path": "a", "start": True}]), "BAD_FIELD", "media[0].start", "found true"),
    ("a blank question", plain(question=" \n"), "BAD_FIELD", "question", "not blank"),
    ("no options", plain(options=[]), "OPTION_COUNT", "options", "found 0 options, expected 2 to 26"),
    ("27 options", plain(options=OPTIONS_27), "OPTION_COUNT", "options", "found 27 options"),
    ("a blank option", plain(options=["x", " "]), "BAD_FIELD", "options", "none blank"),
    ("a number as option", plain(options=["x", 4]), "BAD_FIELD", "options[1]", "found 4"),
    ("three options to yes or no", plain(kind="yesno", options=["a", "b", "c"]), "OPTION_COUNT", "options", "2 for a yes/no"),
    ("options to an open question", plain(kind="open", answer="absent", reference="r"), "OPTION_COUNT", "options", "none for an open"),
    ("a letter past the options", plain(answer=["C"]), "INVALID_LABEL", "answer", "expected letters from A to B"),
    ("a small letter", plain(answer=["a"]), "INVALID_LABEL", "answer", 'found ["a"]'),
    ("a letter instead of a list", plain(answer="A"), "BAD_FIELD", "answer", "expected a list of letters"),
    ("an empty answer", plain(answer=[]), "NO_ANSWER", "answer", "found no letter"),
    ("no answer", plain(answer="absent"), "NO_ANSWER", "answer", "found no letter"),
    ("an empty multi answer", plain(kind="multi", answer=[]), "MULTI_0_ANSWER", "answer", "found no letter"),
    ("the same letter twice", plain(kind="multi", answer=["A", "A"]), "BAD_FIELD", "answer", "each letter once"),
    ("two letters to one question", plain(answer=["A", "B"]), "ANSWER_COUNT", "answer", "one letter for kind single"),
    ("an open question unanswered", plain(kind="open", options="absent", answer="absent"), "NO_ANSWER", "reference", "not blank"),
    ("letters for an open question", plain(kind="open", options="absent", reference="r"), "BAD_FIELD", "answer", "write its answer into reference"),
    ("evidence backwards", plain(evidence=[[5, 4]]), "EVIDENCE_SPAN", "evidence[0]", "0 <= start < end"),
    ("evidence before the start", plain(evidence=[[-1, 4]]), "EVIDENCE_SPAN", "evidence[0]", "found [-1, 4]"),
    ("evidence outside the window", plain(media=[{"path": "a", "start": 10, "end": 20}], evidence=[[1, 2]]), "EVIDENCE_OUTSIDE", "evidence[0]", "10 s to 20 s"),
    ("three ends of evidence", plain(evidence=[[1, 2, 3]]), "BAD_FIELD", "evidence[0]", "[start, end] in seconds"),
    ("a tag in a tag", plain(tags={"a": {"b": 1}}), "BAD_FIELD", "tags.a", "text or a list of texts"),
    ("tags as a list", plain(tags=["a"]), "BAD_FIELD", "tags", "an object"),
    ("null for a list", plain(options=None), "BAD_FIELD", "options", "found null"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("line", "code", "field", "words"), [case[1:] for case in BAD], ids=[case[0] for case in BAD]
)
def test_a_bad_line_gets_a_sentence(line: bytes, code: str, field: str, words: str) -> None:
    _, problems = item_from_line(line)
    assert [(problem.code, problem.field) for problem in problems] == [(code, field)]
    assert words in str(problems[0])


@pytest.mark.parametrize("named", ["street", 3, [], [1], [["a"]], {}, None])
def test_source_clips_are_a_list_of_names(named: object) -> None:
    item, problems = item_from_line(plain(source_clips=named))
    assert [problem.field for problem in problems] == ["source_clips"]
    assert 'a list of the names of clips, such as ["scene-01"]' in str(problems[0])
    assert item is not None
    assert read(plain(source_clips=["a", "b"])).source_clips == ("a", "b")


def test_fields_that_are_not_ours_are_no_fault() -> None:
    _, problems = item_from_line(plain(media=[{"path": "a", "fps": 25}], options="no"))
    assert [problem.field for problem in problems] == ["options"]


def test_all_that_is_wrong_with_a_line_is_listed() -> None:
    _, problems = item_from_line(plain(id=3, kind="mcq", options="no", tags=4))
    assert [problem.field for problem in problems] == ["id", "kind", "options", "tags"]


@pytest.mark.parametrize("line", [
    plain(answer=["A"], evidence=[], reference=None, context={}),
    json.dumps(json.loads(plain()), separators=(" ,", "\t: ")).encode(),
    plain(question='He said: "yes": then left \\ again'),
    plain(media=[{"path": "a", "start": None}, {"path": "b"}]),
], ids=["empty fields", "odd spaces", "quotes and colons in a text", "null window"])  # fmt: skip
def test_what_looks_odd_but_is_fine(line: bytes) -> None:
    assert read(line).id == "q"


@pytest.mark.parametrize(("time", "seconds"), [
    ("1:23.5", 83.5), ("0:05", 5), ("00:12", 12), ("83:20", 5000), ("1:02:03", 3723),
    ("01:00:00.250", 3600.25), ("00:00:01,500", 1.5), (" 1:00 ", 60), ("2:00.00", 120),
])  # fmt: skip
def test_times_with_minutes_are_read_as_seconds(time: str, seconds: float) -> None:
    media = [{"path": "a", "start": time}, {"path": "b", "start": 0, "end": time, "fps": 2}]
    item = read(plain(media=media, evidence=[[0, time], [time, 10_000]]))
    again = json.loads(item.to_line())
    assert again["media"][0]["start"] == again["media"][1]["end"] == seconds
    assert again["evidence"] == [[0, seconds], [seconds, 10_000]]
    assert type(item.evidence[0][1]) is type(seconds)
    same = [{"path": "a", "start": seconds}, {"path": "b", "start": 0, "end": seconds, "fps": 2}]
    spans = [[0, seconds], [seconds, 10_000]]
    assert item.digest == read(plain(media=same, evidence=spans)).digest


@pytest.mark.parametrize("time", ["1:75", "1:2", "1:60:00", ":30", "1:", "1:23:45:67", "noon", ""])
def test_what_is_no_time_is_a_sentence(time: str) -> None:
    _, problems = item_from_line(plain(media=[{"path": "a", "start": time}]))
    assert [problem.field for problem in problems] == ["media[0].start"]
    assert '"1:23.5"' in str(problems[0])
    _, problems = item_from_line(plain(evidence=[[0, time]]))
    assert [problem.field for problem in problems] == ["evidence[0][1]"]
    assert '"1:23.5"' in str(problems[0])


MISSPELT = {
    "id": ("Id", "ID", "di"), "kind": ("knid", "kindd", "Kind"), "media": ("medai", "meida"),
    "question": ("qestion", "quesiton", "Question"), "options": ("optoins", "option"),
    "answer": ("anwser", "answers"), "evidence": ("evidnce", "evidences"),
    "reference": ("refrence", "referrence"), "tags": ("tag", "tgas"),
    "context": ("contxt",), "provenance": ("provenence", "provenace"),
}  # fmt: skip
VALUES = {"evidence": [[1, 2]], "reference": "x", "tags": {"a": "b"}, "context": {"a": "b"},
          "provenance": {"a": "b"}}  # fmt: skip


@pytest.mark.parametrize(
    ("field", "name"), [(field, name) for field, names in MISSPELT.items() for name in names]
)
def test_a_misspelt_field_is_named_with_the_one_meant(field: str, name: str) -> None:
    record = json.loads(plain(**VALUES))
    line = json.dumps({name if key == field else key: value for key, value in record.items()})
    item, problems = item_from_line(line.encode())
    (problem,) = problems
    assert f"perhaps {field!r} is meant" in str(problem)
    if field in VALUES:
        assert problem.is_warning
        assert item is not None
        assert name in item.extra
    else:
        assert problem.field == field
        assert not problem.is_warning


@pytest.mark.parametrize("name", ["pth", "Path"])
def test_a_misspelt_field_of_media_is_named(name: str) -> None:
    _, (problem,) = item_from_line(plain(media=[{name: "a.mp4"}]))
    assert problem.field == "media[0].path"
    assert "perhaps 'path' is meant" in str(problem)
    _, (problem,) = item_from_line(plain(media=[{"path": "a.mp4", "strat": 3}]))
    assert problem.is_warning
    assert "perhaps 'start' is meant" in str(problem)


@pytest.mark.parametrize(("field", "name"), [
    ("media", "video"), ("options", "choices"), ("question", "query"), ("media", "video_path"),
])  # fmt: skip
def test_what_others_call_a_field_is_named_with_ours(field: str, name: str) -> None:
    record = json.loads(plain())
    line = json.dumps({name if key == field else key: value for key, value in record.items()})
    _, (problem,) = item_from_line(line.encode())
    assert problem.field == field
    assert f"perhaps {field!r} is meant" in str(problem)


def test_names_of_ones_own_are_no_slips() -> None:
    own = ["question_id", "question_type", "answer_text", "video", "duration", "source", "label",
           "options_en", "category", "note", "split", "fps", "url", "quest", "optional"]  # fmt: skip
    assert read(plain(**dict.fromkeys(own, "x"))).extra == dict.fromkeys(own, "x")
    both = read(plain(answers=["human"], option="x", Question="?"))
    assert set(both.extra) == {"answers", "option", "Question"}
