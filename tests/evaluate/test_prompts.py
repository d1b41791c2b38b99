"""Prompts tell how many frames there are: as many as are really shown, and nothing where none are."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from servers import Server, completion, serving
from support import blind_benchmark, make_item
from videos import make_video

from reelbench.base.errors import ReelbenchError
from reelbench.data.items import Item, Media
from reelbench.evaluate.forecast import forecast
from reelbench.evaluate.prepare import RunOptions
from reelbench.evaluate.prompt import Prompt, load_prompts
from reelbench.evaluate.run import run_benchmark
from reelbench.models.tokens import text_tokens

PAIR = (Media("media/a.mp4"), Media("media/b.mp4"))
ITEMS = [
    make_item(1),
    make_item(2, media=(Media("media/1.mp4"), Media("media/2.mp4"))),
    make_item(3, kind="open", options=(), answer=(), reference="x", media=(Media("media/1.mp4", 1.0, 2.0),)),
]  # fmt: skip


TEXT = "All {{frames}}.\n\nFirst {{frames_1}}, second {{ frames_2 }}.\n\n\n{{question}}\n\nReply.\n"


class TestFilling:
    @pytest.mark.parametrize(("frames", "told"), [
        ((8, 8), "All 16.\n\nFirst 1-8, second 9-16.\n\n\nQ?\n\nReply."),
        ((4, 2), "All 6.\n\nFirst 1-4, second 5-6.\n\n\nQ?\n\nReply."),
        ((1, 1), "All 2.\n\nFirst 1, second 2.\n\n\nQ?\n\nReply."),
        ((16,), "All 16.\n\nQ?\n\nReply."),
        ((), "Q?\n\nReply."),
        ((0, 0), "Q?\n\nReply."),
    ])  # fmt: skip
    def test_what_is_not_so_is_left_out(self, frames: tuple[int, ...], told: str) -> None:
        assert Prompt(TEXT, {"question": "Q?"}).with_frames(frames) == told

    def test_without_such_slots_every_byte_stays(self) -> None:
        text = "One\r\n\r\n \n{{question}}\n\n\n\nTwo"
        prompt = Prompt(text, {"question": "Q?"})
        assert prompt.unfilled == prompt.with_frames([3]) == text.replace("{{question}}", "Q?")

    def test_what_a_question_holds_is_no_slot(self) -> None:
        asked = "Why {{frames}}?\n\nSay {{frames_1}}."
        told = Prompt("All {{frames}}.\n\n{{question}}", {"question": asked}).with_frames([3])
        assert told == f"All 3.\n\n{asked}"


class TestFiles:
    def write(self, root: Path, **texts: str) -> None:
        (root / "mine").mkdir(parents=True, exist_ok=True)
        for name, text in texts.items():
            (root / "mine" / f"{name.replace('_', '-')}.md").write_text(text)

    def test_one_for_items_with_two_videos(self, tmp_path: Path) -> None:
        self.write(tmp_path, single="{{question}} {{options}} one", single_pair="{{question}} {{options}} two")  # fmt: skip
        self.write(tmp_path, yesno="{{question}} {{options}} one")
        prompts = load_prompts("mine", tmp_path, {"single", "yesno"})
        endings = [
            prompts.render(make_item(1, kind=kind, media=PAIR[:count]), (0,)).unfilled[-3:]
            for kind, count in (("single", 1), ("single", 2), ("yesno", 2))
        ]
        assert endings == ["one", "two", "one"]

    @pytest.mark.parametrize(("texts", "words"), [
        ({"single_pair": "{{options}}"}, "single-pair.md lacks the slot {{question}}"),
        ({"single_pair": "{{question}} {{options}} {{first}}"}, "single-pair.md has the unknown slot {{first}}"),
        ({"single": "{{question}} {{options}} {{frames_3}}"}, "single.md has the unknown slot {{frames_3}}"),
        ({"single": "{{frames}}\n{{question}}\n\n{{options}}"}, "single.md has the slot {{question}} in a paragraph about frames, which is left out"),
        ({"singel_pair": "{{question}} {{options}}"}, "singel-pair.md is named after no kind of question"),
    ])  # fmt: skip
    def test_a_wrong_one_is_told(self, texts: dict[str, str], words: str, tmp_path: Path) -> None:
        self.write(tmp_path, **{"single": "{{question}} {{options}}", **texts})
        with pytest.raises(ReelbenchError) as caught:
            load_prompts("mine", tmp_path, {"single"})
        assert words in str(caught.value)

    def test_one_that_is_needed_by_nobody_is_not_read(self, tmp_path: Path) -> None:
        self.write(tmp_path, single="{{question}} {{options}}", open_pair="{{wrong}}")
        assert set(load_prompts("mine", tmp_path, {"single"}).texts) == {"single"}


@pytest.fixture(scope="module")
def video(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_video(tmp_path_factory.mktemp("p") / "a.mp4", sound=4.0)


class Asked:
    """Runs one question under ``qbench`` and returns the words that came with what was shown."""

    def __init__(self, root: Path, server: Server) -> None:
        self.root, self.server = root, server

    def card(self, name: str, **more: Any) -> str:
        path = self.root.parent / f"{name}.yaml"
        fields = {"name": name, "endpoint": self.server.url, "retries": 0, **more}
        path.write_text(json.dumps(fields))
        return str(path)

    def __call__(self, *media: Media, model: str = "", item: Item | None = None, **protocol: Any) -> str:  # fmt: skip
        item = item or make_item(1, question="Q?", media=media or PAIR[:1])
        benchmark = blind_benchmark(
            self.root, item, **{"prompt": "qbench", "sampling": "uniform:4", **protocol}
        )
        model = model or self.card("far")
        (row,) = forecast(benchmark, RunOptions([model]), self.root / "none").rows[-1:]
        assert run_benchmark(benchmark, [model], self.root.parent / "r").failures == []
        text = str(self.server.requests[-1]["messages"][0]["content"][-1]["text"])
        self.foreseen, self.said = row.input_tokens, text_tokens(text)
        return text


@pytest.fixture
def asked(video: Path, tmp_path: Path) -> Iterator[Asked]:
    (tmp_path / "b" / "media").mkdir(parents=True)
    for name in ("a", "b"):
        shutil.copy(video, tmp_path / "b" / "media" / f"{name}.mp4")
    with serving(lambda *_: completion("B.")) as server:
        yield Asked(tmp_path / "b", server)


BARE = 'Q?\n\nA. a door opens\nB. a dog barks\nC. it snows\nD. a bell rings\n\nAnswer with the capital letter of the right option itself and a full stop behind it, such as "A.", and add nothing else.'


class TestOverTheWire:
    @pytest.mark.parametrize(("sampling", "card", "count"), [
        ("uniform:4", {}, 4), ("fps:0.5", {}, 2), ("uniform:16", {"frames": 8}, 8), ("times:1,2,3.5,9", {}, 3),
    ])  # fmt: skip
    def test_as_many_as_are_shown(self, sampling: str, card: Any, count: int, asked: Asked) -> None:
        model = asked.card("far", frame_tokens=1000, **card)
        text = asked(model=model, sampling=sampling, timestamps=True)
        assert text.startswith(f"You are shown {count} separate frames, sampled uniformly from a")
        assert text.endswith(f"in them.\n\n{BARE}")
        assert asked.foreseen == count * 1004 + asked.said  # 4 for each timestamp

    def test_which_are_of_which_video(self, asked: Asked) -> None:
        first, second = Media("media/a.mp4"), Media("media/b.mp4", 1.0, 2.0)
        text = asked(first, second, sampling="fps:1", modalities="V+A+T", model=asked.card("far", hears=True))  # fmt: skip
        assert text.startswith("You are shown 5 separate frames in all. Frames 1-4 are sampled")
        assert "the first video and frames 5 from the second" in text

    @pytest.mark.parametrize(("card", "protocol"), [
        ({}, {"modalities": "T"}),
        ({"sees": False}, {}),
        ({"video": "clip"}, {}),
        ({"hears": True}, {"modalities": "A+T"}),
    ])  # fmt: skip
    @pytest.mark.parametrize("media", [PAIR[:1], PAIR])
    def test_nothing_of_frames_where_there_are_none(
        self, card: Any, protocol: Any, media: tuple[Media, ...], asked: Asked
    ) -> None:
        assert asked(*media, model=asked.card("far", **card), **protocol) == BARE

    def test_who_answers_in_a_cascade_sees_none(self, asked: Asked) -> None:
        asked.card("eye")
        mind = asked.card("mind", sees=False)
        duo = asked.card("duo", backend="cascade", captioners=["eye.yaml"], model=mind)
        assert asked(model=duo) == BARE
        assert asked.said < asked.foreseen < asked.said + 250  # with a caption

    def test_open_questions_are_about_quality(self, asked: Asked) -> None:
        item = make_item(1, kind="open", options=(), answer=(), question="Q?", reference="R", media=PAIR[:1])  # fmt: skip
        told = "Give a detailed and accurate answer, from the perspective of visual quality.\n\nQ?"
        assert asked(item=item).endswith(f"observe in them.\n\n{told}")
        assert asked(item=item, modalities="T") == told
