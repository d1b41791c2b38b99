"""What tests of recipes share: a studio and whole makes, which are made once."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from actors import Actors, on_stage, tiny_videos, write_movie
from filming import NO_REPAIR, QUESTIONS, Studio, Told
from filtering import SECRET
from videos import make_video


@pytest.fixture(scope="session")
def studio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Studio]:
    root, actors = tmp_path_factory.mktemp("studio"), Actors(questions=QUESTIONS)
    videos = tiny_videos(root / "videos")
    for name in ("ash", "birch"):
        write_movie(root / "movies", name, videos)
    with on_stage(root, actors) as (server, words):
        yield Studio(root, actors, server, [*words, *NO_REPAIR])


@pytest.fixture(scope="session")
def made(studio: Studio) -> tuple[Path, Told]:
    """A whole make, to be read and not to be changed."""
    out = studio.root / "made"
    told = studio.make(out)
    assert told.status == 0, told.err
    return out, told


@pytest.fixture
def bench(studio: Studio, made: tuple[Path, Told]) -> Path:
    """A copy of the whole make, to go on with."""
    return Path(shutil.copytree(made[0], studio.fresh("bench")))


@pytest.fixture(scope="session")
def checked(studio: Studio) -> Path:
    """A make up to the filters, to be copied."""
    out = studio.root / "checked"
    assert studio.make(out, "--until", "check").status == 0
    return out


@pytest.fixture
def unfiltered(studio: Studio, checked: Path) -> Path:
    return Path(shutil.copytree(checked, studio.fresh("unfiltered")))


@pytest.fixture(scope="session")
def own_prompts(studio: Studio, made: tuple[Path, Told]) -> Path:
    """The recipe's own prompts as the command writes them, to be copied."""
    bench, folder = Path(shutil.copytree(made[0], studio.fresh("bench"))), studio.fresh("prompts")
    told = studio.make(bench, "--prompts", folder)
    assert told.status == 0, told.err
    assert str(folder) in told.err
    assert not told.calls, "the same words are asked again"
    return folder


@pytest.fixture
def prompts(studio: Studio, own_prompts: Path) -> Path:
    """A copy of the recipe's own prompts, to be changed."""
    return Path(shutil.copytree(own_prompts, studio.fresh("prompts")))


@pytest.fixture(scope="session")
def videos(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("clips")
    make_video(folder / "one.mp4", seconds=1, rate=5, sound=1.0)
    make_video(folder / "two.mp4", seconds=1.4, rate=5, sound=1.4)
    (folder / "one.srt").write_text(f"1\n00:00:00,100 --> 00:00:00,900\n{SECRET}\n")
    return folder


@pytest.fixture(scope="session")
def clip(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A video of a second."""
    return make_video(tmp_path_factory.mktemp("clip") / "clip.mp4", seconds=1.0)
