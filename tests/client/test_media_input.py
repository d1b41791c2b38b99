"""What is shown with a prompt: all that a model takes in, nothing that it does not, known by its bytes."""

import shutil
from collections.abc import Callable
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from videos import make_video

from reelbench.base.errors import ReelbenchError
from reelbench.client.media_input import MediaClip, MediaInput
from reelbench.media.decode.frames import FrameSpec
from reelbench.media.errors import MediaError
from reelbench.models.base import AudioPart, ImagePart, Part, TextPart, VideoPart
from reelbench.models.card import Card
from reelbench.models.tokens import parts_tokens

SAID = "1\n00:00:00,200 --> 00:00:00,800\nGood evening.\n"
EVERYTHING = Card(name="all", hears=True)
DEAF, BLIND = Card(name="deaf"), Card(name="blind", sees=False, hears=True)
WATCHES = Card(name="clip", hears=True, video="clip")
WHOLE = Card(name="file", hears=True, video="file")


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A film with sound and subtitles, and a silent one."""
    folder = tmp_path_factory.mktemp("films")
    make_video(folder / "a.mp4", seconds=1.0, rate=5, sound=1.0)
    make_video(folder / "silent.mp4", seconds=0.6, rate=5)
    (folder / "a.srt").write_text(SAID)
    return folder


def kinds(parts: Any) -> list[str]:
    names: dict[type[Part], str] = {ImagePart: "image", AudioPart: "audio", VideoPart: "video"}
    return [part.text if isinstance(part, TextPart) else names[type(part)] for part in parts]


READ = "What is said:\n[0.2 s] Good evening."


class TestForCard:
    @pytest.mark.parametrize(("card", "shown"), [
        (EVERYTHING, ["image", "image", "audio"]),
        (DEAF, ["image", "image", READ]),
        (BLIND, ["audio"]),
        (Card(name="neither", sees=False), [READ]),
        (WATCHES, ["video", "audio"]),
        (WHOLE, ["video"]),
        (Card(name="mute", video="file"), ["video", READ]),
        (Card(name="one", frames=1), ["image", READ]),
    ], ids=lambda value: value.name if isinstance(value, Card) else "")  # fmt: skip
    def test_a_model_gets_what_it_takes_in_and_reads_what_it_cannot_hear(
        self, card: Card, shown: list[str], made: Path
    ) -> None:
        media = MediaInput.of(made / "a.mp4", sampling="uniform:2", audio=True).for_card(card)
        rendered = media.render()
        assert kinds(rendered.parts) == shown
        assert rendered.warnings == []
        assert media.for_card(card) == media, "once reduced, it stays"
        assert [part.heard for part in rendered.parts if isinstance(part, VideoPart)] == [
            card is WHOLE for name in shown if name == "video"
        ]

    def test_subtitles_are_read_always_or_never_where_that_is_asked_for(self, made: Path) -> None:
        always = MediaInput.of(made / "a.mp4", sampling="uniform:1", subtitles="always")
        assert kinds(always.for_card(EVERYTHING).render().parts) == ["image", READ]
        never = MediaInput.of(made / "a.mp4", frames=False, audio=True, subtitles="never")
        assert not never.for_card(DEAF)
        assert never.for_card(DEAF).record() == {}
        assert never.for_card(DEAF).render().parts == []

    def test_sound_that_nobody_hears_or_reads_is_said(self, made: Path, tmp_path: Path) -> None:
        shutil.copy(made / "a.mp4", tmp_path / "b.mp4")
        media = MediaInput.of(tmp_path / "b.mp4", audio=True).for_card(DEAF)
        with pytest.raises(MediaError, match="has sound, but no subtitles to read instead"):
            media.render()
        baseline = Card(name="random", backend="baseline", sees=False)
        assert MediaInput.of(tmp_path / "b.mp4", audio=True).for_card(baseline).render().parts == []
        silent = MediaInput.of(made / "silent.mp4", sampling="uniform:1", audio=True)
        assert kinds(silent.for_card(DEAF).render().parts) == ["image"]
        (warning,) = silent.for_card(EVERYTHING).render().warnings
        assert "it has no sound" in warning

    def test_fewer_frames_than_needed_are_refused(self, made: Path) -> None:
        two = MediaInput.of(made / "a.mp4", made / "silent.mp4")
        with pytest.raises(ReelbenchError, match=r"takes 1 frames at most.*q-1, which needs 2"):
            two.for_card(Card(name="one", frames=1), "q-1")


class TestRender:
    def test_several_clips_come_under_their_numbers_and_share_the_frames(self, made: Path) -> None:
        media = MediaInput.of(made / "a.mp4", made / "silent.mp4", sampling="uniform:4")
        rendered = media.render()
        assert kinds(rendered.parts) == [
            "Video 1:", "image", "image", "Video 2:", "image", "image",
        ]  # fmt: skip
        assert rendered.frame_counts == (2, 2)

    def test_a_part_of_a_file_with_timestamps(self, made: Path) -> None:
        media = MediaInput.of(
            made / "a.mp4",
            sampling="uniform:1",
            start=0.4,
            end=0.8,
            timestamps=True,
            size="long:64",
        )
        assert kinds(media.render().parts) == ["0.6 s", "image"]

    def test_nothing_outside_of_its_root_is_shown(self, made: Path, tmp_path: Path) -> None:
        (tmp_path / "a.mp4").symlink_to(made / "a.mp4")
        clip = MediaClip(tmp_path / "a.mp4", FrameSpec("uniform:1"))
        assert kinds(MediaInput((clip,), frames=True).render().parts) == ["image"]
        inside = MediaInput((clip,), frames=True, root=tmp_path)
        for show in (inside.render, inside.placeholders):
            with pytest.raises(MediaError, match="lies outside of the benchmark"):
                show()

    @pytest.mark.parametrize("card", [EVERYTHING, DEAF, BLIND], ids=lambda card: card.name)
    def test_placeholders_are_as_many_and_as_large(self, card: Card, made: Path) -> None:
        media = MediaInput.of(
            made / "a.mp4", made / "silent.mp4", sampling="uniform:6", audio=True, size="long:160"
        ).for_card(card)
        planned, rendered = media.placeholders(), media.render()
        assert kinds(planned.parts) == kinds(rendered.parts)
        assert parts_tokens(card, planned.parts) == parts_tokens(card, rendered.parts)


class TestRecord:
    CHANGES: dict[str, Callable[[MediaInput, Path], MediaInput]] = {  # noqa: RUF012
        "as it is": lambda media, _: media,
        "other bytes": lambda _, made: MediaInput.of(made / "silent.mp4", audio=True),
        "two clips": lambda _, made: MediaInput.of(made / "a.mp4", made / "a.mp4", audio=True),
        "sampling": lambda _, made: MediaInput.of(made / "a.mp4", sampling="fps:1", audio=True),
        "start": lambda _, made: MediaInput.of(made / "a.mp4", start=0.2, audio=True),
        "end": lambda _, made: MediaInput.of(made / "a.mp4", end=0.8, audio=True),
        "size": lambda _, made: MediaInput.of(made / "a.mp4", size="long:64", audio=True),
        "encoding": lambda _, made: MediaInput.of(made / "a.mp4", encoding="png", audio=True),
        "timestamps": lambda media, _: replace(media, timestamps=True),
        "no frames": lambda media, _: replace(media, frames=False),
        "no audio": lambda media, _: replace(media, audio=""),
        "another encoding of audio": lambda media, _: replace(media, audio="mp3"),
        "video": lambda media, _: replace(media, frames=False, video="clip"),
        "the whole file": lambda media, _: replace(media, frames=False, video="file"),
        "subtitles": lambda media, _: replace(media, subtitles="always"),
    }

    def test_each_way_to_show_is_another_record(self, made: Path) -> None:
        plain = MediaInput.of(made / "a.mp4", audio=True)
        records = {name: change(plain, made).record() for name, change in self.CHANGES.items()}
        same = [pair for pair in combinations(records, 2) if records[pair[0]] == records[pair[1]]]
        assert same == []

    def test_other_subtitles_are_another_record(self, made: Path, tmp_path: Path) -> None:
        shutil.copytree(made, tmp_path / "films")
        media = MediaInput.of(tmp_path / "films" / "a.mp4", subtitles="always")
        before = media.record()
        (tmp_path / "films" / "a.srt").write_text(SAID.replace("evening", "morning"))
        assert media.record() != before

    def test_where_the_file_is_decides_nothing(self, made: Path, tmp_path: Path) -> None:
        shutil.copytree(made, tmp_path / "films")
        (tmp_path / "films" / "a.mp4").rename(tmp_path / "films" / "b.mp4")
        there = MediaInput.of(tmp_path / "films" / "b.mp4")
        assert there.record() == MediaInput.of(made / "a.mp4").record()

    def test_a_file_that_is_not_there_is_a_media_error(self, tmp_path: Path) -> None:
        with pytest.raises(MediaError, match="no such file"):
            MediaInput.of(tmp_path / "none.mp4").record()
