"""What the wording of an item gives away or gets wrong, in any language."""

from collections.abc import Callable
from pathlib import Path

import pytest
from support import make_item

from reelbench.base.text import asked_words, html_in, mentions
from reelbench.data.items import Media
from reelbench.lint import lint_benchmark

Save = Callable[..., Path]
FILM = (Media("media/film.mp4"),)


def tags(root: Path) -> list[str]:
    return [finding.tag for finding in lint_benchmark(root, check_media=False).findings]


class TestHtml:
    @pytest.mark.parametrize("text", [
        "What is seen?<br>Choose one.", "<b>What</b> is seen?", "<p>What is it?</p>", "a &amp; b",
        "it&#39;s red", "What&nbsp;now?", "<video>\nWhat is seen?", '<a href="x">here</a>',
        "<span class='x'>red</span>", "x &lt; y", "It is <i>very</i> red", "caf&eacute;", "<BR/>",
    ])  # fmt: skip
    def test_is_found_in_questions_and_options(self, text: str, save: Save) -> None:
        assert tags(save(make_item(question=text))) == ["HTML_IN_TEXT"]
        options = (text, "a dog barks", "a bell rings out")
        assert "HTML_IN_TEXT" in tags(save(make_item(options=options)))

    @pytest.mark.parametrize("text", [
        "Is 3 < 4 and 5 > 2?", "AT&T; or not?", "vector<b> of what?", "R&D", "What is <unknown>?",
        "He says <laughs> twice", "a & b; c", "x<y>z", "5 <= 6 =>", "Tom & Jerry",
    ])  # fmt: skip
    def test_signs_that_are_no_html_are_left_alone(self, text: str) -> None:
        assert html_in(text) == ""


class TestPreambles:
    question = "What does the woman do after the door closes?"

    @pytest.mark.parametrize("again", [
        "In the video, what does the woman do after the door closes?",
        "In this clip, what does the woman do after the door closes?",
        "According to the video, what does the woman do after the door closes?",
        "Based on the video clip provided, what does the woman do after the door closes?",
        "Watch the video and answer the question: What does the woman do after the door closes?",
        "Please watch this video. What does the woman do after the door closes?",
        "From the given footage, what does the woman do after the door closes?",
        "What does the woman do after the door closes in the video?",
        "From what you see in the video, what does the woman do after the door closes?",
        "Considering the content of the video, what does the woman do after the door closes?",
        "what does the woman do, after the door closes, in this film?",
    ])  # fmt: skip
    def test_make_no_other_question(self, again: str, save: Save) -> None:
        items = [make_item(n, media=FILM, question=q) for n, q in enumerate([self.question, again])]
        assert tags(save(*items)) == ["NEAR_DUPLICATE"]

    @pytest.mark.parametrize(("one", "again"), [
        ("那个女人关上门之后做了什么", "在视频中，那个女人关上门之后做了什么？"),
        ("那个女人关上门之后做了什么", "根据视频内容，那个女人关上门之后做了什么？"),
        ("人物穿什么颜色的衣服", "这段视频里人物穿什么颜色的衣服"),
        ("女性は何をしていますか", "この動画では、女性は何をしていますか"),
    ])  # fmt: skip
    def test_nor_do_they_in_chinese_and_japanese(self, one: str, again: str) -> None:
        assert asked_words(one) == asked_words(again)

    @pytest.mark.parametrize("other", [
        "At the end of the video, what does the woman do after the door closes?",
        "In the first video, what does the woman do?",
        "In the kitchen, what does the woman do after the door closes?",
        "When the video freezes, what does the woman do?",
        "How long is the video?", "Which film do they watch in the film club?",
        "What is the mood of the video?",
    ])  # fmt: skip
    def test_what_says_more_than_that_stays(self, other: str) -> None:
        assert asked_words(other) != asked_words("What does the woman do after the door closes?")
        assert len(asked_words(other)) > 3

    def test_a_question_that_is_nothing_else_keeps_its_words(self) -> None:
        assert asked_words("In the video,") == ("in", "the", "video")


class TestKeysThatStandOut:
    SHORT = ("a dog barks", "it snows", "a bell rings")

    @pytest.mark.parametrize(("key", "others"), [
        ("a man in a red coat slowly opens the door", SHORT),
        ("一位穿红色外套的男士慢慢地打开了那扇木门", ("狗在叫", "下雪了", "铃声响了")),
        ("a dog", ("a man in a red coat slowly opens the door", "two women walk along the shore", "the bell rings for a long time")),
    ])  # fmt: skip
    def test_are_named_item_by_item(self, key: str, others: tuple[str, ...], save: Save) -> None:
        item = make_item(1, options=(key, *others), answer=("A",))
        (finding,) = lint_benchmark(save(item, make_item(2)), check_media=False).findings
        assert (finding.tag, finding.item, finding.line) == ("KEY_STANDS_OUT", "q-1", 1)

    @pytest.mark.parametrize("options", [
        ("10", "5", "7", "100"), ("bicycle", "car", "bus"), ("a dog barks loudly", *SHORT),
        ("a man in a red coat opens the door", "a man in a blue coat closes it", "rain", "snow"),
        ("a man in a red coat slowly opens the door", "rain"),
        ("a dog barks", "it snows", "a long sentence about some other thing entirely"),
        ("a dog", "a cat", "None of the above options is correct"),
    ])  # fmt: skip
    def test_ordinary_ones_are_not(self, options: tuple[str, ...], save: Save) -> None:
        assert tags(save(make_item(options=options, answer=("A",)))) == []


class TestAnswersInQuestions:
    @pytest.mark.parametrize(("question", "key", "others"), [
        ("穿红色外套的女人在厨房里做饭时穿什么", "红色外套", ("蓝色衬衫", "黑色裙子")),
        ("这只橘猫是什么动物？", "橘猫", ("小狗", "兔子")),
        ("赤い車の色は何ですか", "赤い車", ("青い船", "白い家")),
        ("빨간색인 자동차는 무슨 색입니까", "빨간색", ("파란색", "노란색")),
        ("รถสีแดงคันนี้มีสีอะไร", "สีแดง", ("สีเขียว", "สีขาว")),
        ("Which animal is the barking dog?", "a barking dog", ("a cat", "a mouse")),
    ])  # fmt: skip
    def test_are_found_in_any_script(
        self, question: str, key: str, others: tuple[str, ...], save: Save
    ) -> None:
        item = make_item(question=question, options=(key, *others), answer=("A",))
        assert tags(save(item)) == ["ANSWER_IN_QUESTION"]

    @pytest.mark.parametrize(("question", "key", "others"), [
        ("图中是狗还是猫，或者是兔子？", "狗", ("猫", "兔子")),
        ("红色汽车还是蓝色汽车先到？", "红色汽车", ("蓝色汽车", "白色汽车")),
        ("他穿什么颜色的衣服？", "红色", ("蓝色", "白色")),
        ("How many of the 10 dogs bark?", "10", ("5", "7")),
    ])  # fmt: skip
    def test_choices_that_a_question_offers_are_none(
        self, question: str, key: str, others: tuple[str, ...], save: Save
    ) -> None:
        assert tags(save(make_item(question=question, options=(key, *others), answer=("A",)))) == []

    def test_a_word_inside_another_is_not_said(self) -> None:
        assert not mentions("What do the cartoons show?", "a car")
        assert mentions("What colour is the car?", "The car.")
