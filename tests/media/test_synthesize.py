"""The made world keeps its word: what the truth file says is what is seen and heard."""

import json
from itertools import combinations, pairwise
from pathlib import Path

import av
import numpy as np
import pytest

from reelbench.media.decode.decode import frames_at
from reelbench.media.decode.probe import probe
from reelbench.world.compose import GAPS, compose
from reelbench.world.render import SAMPLE_RATE, draw_frame, is_synthesized, play, synthesize
from reelbench.world.scene import COLOURS, HEIGHT, WIDTH, Scene

SCENES = [compose(seed, "scene") for seed in range(60)]


@pytest.fixture(scope="module")
def rendered(tmp_path_factory: pytest.TempPathFactory) -> tuple[Scene, Path, Path]:
    """A scene with a word, a cut, a meeting, a hum and all three sounds."""
    scene = next(
        scene
        for scene in SCENES
        if {"word", "cut", "meet", "recolour"} <= {event.kind for event in scene.events}
        and {"click", "beep", "buzz"} <= {event.sound for event in scene.events}
        and scene.hum
    )
    folder = tmp_path_factory.mktemp("world")
    synthesize(folder / "a.mp4", scene, folder / "a.json")
    return scene, folder / "a.mp4", folder / "a.json"


class TestComposition:
    def test_the_same_seed_gives_the_same_scene(self) -> None:
        assert compose(3, "x") == compose(3, "x")
        assert compose(3, "x") != compose(4, "x") != compose(4, "y")

    @pytest.mark.parametrize("scene", SCENES, ids=range(len(SCENES)))
    def test_events_stand_clear_of_each_other_and_make_sense(self, scene: Scene) -> None:
        assert 10 <= scene.duration <= 20
        times = [event.time for event in scene.events]
        assert all(b - a >= min(GAPS) - 1e-9 for a, b in pairwise(times))
        assert 1 < times[0] <= times[-1] < scene.duration - 1
        assert len({actor.shape for actor in scene.actors}) == len(scene.actors) >= 4
        for event in scene.of_kind("recolour", "resize", "meet", "vanish"):
            assert all(scene.actor(shape).visible(event.time - 0.1) for shape in event.actors)
        for actor in scene.actors:
            assert actor.appears < actor.vanishes

    @pytest.mark.parametrize("scene", SCENES[:20], ids=range(20))
    def test_actors_touch_when_they_meet_and_never_else(self, scene: Scene) -> None:
        meets = {frozenset(event.actors): event.time for event in scene.of_kind("meet")}
        for time in np.arange(0, scene.duration, 0.1):
            here = [actor for actor in scene.actors if actor.visible(time)]
            assert len({actor.colour(time) for actor in here}) == len(here)
            for one, other in combinations(here, 2):
                apart = np.abs(np.subtract(one.position(time), other.position(time)))
                reach = one.radius(time) + other.radius(time)
                at = meets.get(frozenset({one.shape, other.shape}))
                if at is None or not at - 0.8 <= time <= at + 1.6:
                    assert apart.max() >= reach
                elif at <= time <= at + 0.8:
                    assert apart.max() < reach * 0.85


class TestRendering:
    def test_the_file_is_what_it_should_be(self, rendered: tuple[Scene, Path, Path]) -> None:
        scene, video, _ = rendered
        info = probe(video)
        assert (info.width, info.height, info.frame_rate) == (640, 360, 25)
        assert info.duration == pytest.approx(scene.duration, abs=0.05)
        assert info.has_audio
        with av.open(str(video)) as container:
            assert [stream.codec_context.name for stream in container.streams] == ["h264", "aac"]

    def test_the_truth_file_tells_every_event(self, rendered: tuple[Scene, Path, Path]) -> None:
        scene, video, truth = rendered
        told = json.loads(truth.read_text())
        assert [event["time"] for event in told["events"]] == [event.time for event in scene.events]
        assert is_synthesized(scene, video, truth)
        assert not is_synthesized(compose(99, "scene"), video, truth)

    def test_every_actor_is_seen_in_its_colour_where_the_truth_says(
        self, rendered: tuple[Scene, Path, Path]
    ) -> None:
        scene, video, _ = rendered
        moments = sorted({round(e.time + d, 2) for e in scene.events for d in (-0.3, 0.3)})
        for frame in frames_at(video, moments):
            for actor in scene.actors:
                x, y = map(round, actor.position(frame.time))
                ring = actor.shape == "ring"
                patch = frame.image[y - 2 : y + 3, x - 2 + 26 * ring : x + 3 + 26 * ring]
                seen = patch.reshape(-1, 3).mean(axis=0)
                met = any(
                    actor.shape in meet.actors and meet.time - 0.8 < frame.time < meet.time + 1.6
                    for meet in scene.of_kind("meet")
                )
                near = np.abs(seen - COLOURS[actor.colour(frame.time)]).max() < 45
                if not met and actor.radius(frame.time) == 34:
                    assert near == actor.visible(frame.time), (actor.shape, frame.time)

    def test_a_cut_changes_the_ground_at_its_frame(
        self, rendered: tuple[Scene, Path, Path]
    ) -> None:
        scene, video, _ = rendered
        for cut in scene.of_kind("cut"):
            before, after = frames_at(video, [cut.time - 0.04, cut.time])
            assert np.abs(before.image[:9].mean() - after.image[:9].mean()) > 15

    def test_words_are_written_while_the_truth_says(
        self, rendered: tuple[Scene, Path, Path]
    ) -> None:
        scene, _, _ = rendered
        word = scene.of_kind("word")[0]
        band = (slice(HEIGHT - 50, HEIGHT - 26), slice(WIDTH // 2 - 90, WIDTH // 2 + 90))
        for time, written in [(-0.04, False), (0, True), (1.36, True), (1.4, False)]:
            pixels = draw_frame(scene, word.time + time)[band].astype(int)
            assert (pixels.max() - pixels.min() > 200) == written

    def test_sounds_are_heard_at_their_moment_and_silence_is_silent(
        self, rendered: tuple[Scene, Path, Path]
    ) -> None:
        scene, video, _ = rendered
        with av.open(str(video)) as container:
            heard = np.concatenate([frame.to_ndarray()[0] for frame in container.decode(audio=0)])

        def loudness(start: float, end: float) -> float:
            return float(np.abs(heard[round(start * SAMPLE_RATE) : round(end * SAMPLE_RATE)]).max())

        hum = loudness(0.2, 0.6)
        assert 0.02 < hum < 0.1
        for event in scene.events:
            if event.sound:
                assert loudness(event.time, event.time + 0.05) > 2 * hum
                assert loudness(event.time - 0.3, event.time - 0.1) <= 1.5 * hum
        quiet = scene.hum[0][1]
        clear = [
            t
            for t in (quiet + 0.3, quiet + 1.5)
            if all(not t - 0.5 < e.time < t + 0.3 for e in scene.events)
        ]
        assert clear
        assert all(loudness(time, time + 0.2) < hum / 4 for time in clear)

    def test_the_same_bytes_again(self, rendered: tuple[Scene, Path, Path], tmp_path: Path) -> None:
        scene, video, truth = rendered
        synthesize(tmp_path / "b.mp4", scene, tmp_path / "b.json")
        assert (tmp_path / "b.mp4").read_bytes() == video.read_bytes()
        assert (tmp_path / "b.json").read_bytes() == truth.read_bytes()

    def test_sound_never_clips(self) -> None:
        assert max(np.abs(play(scene)).max() for scene in SCENES[:10]) < 1
