"""Media come out of archives, whole or in parts; nothing else does, and nothing lands elsewhere."""

import io
import os
import signal
import struct
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from reelbench.base.errors import ReelbenchError
from reelbench.interop.imports import archives
from reelbench.interop.imports.archive_parts import group_archives
from reelbench.interop.imports.archives import list_archive, unpack
from reelbench.interop.imports.media_files import MediaFinder, media_names, place_media

VIDEO = b"\0\0\0\x20ftypisom"
FILES = {f"data/v{number}.mp4": VIDEO + os.urandom(3000) for number in range(3)}


def zipped(files: dict[str, bytes], method: int = zipfile.ZIP_STORED) -> bytes:
    """A zip archive."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def tarred(files: dict[str, bytes], mode: str = "") -> bytes:
    """A tar archive; ``mode`` is a compression."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode=f"w:{mode}") as archive:  # type: ignore[call-overload]
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return buffer.getvalue()


def split(data: bytes, names: list[str]) -> dict[str, bytes]:
    """Cut an archive into parts of these names."""
    size = -(-len(data) // len(names))
    return {name: data[at * size : (at + 1) * size] for at, name in enumerate(names)}


def spanned(files: dict[str, bytes], parts: int) -> dict[str, bytes]:
    """A zip in parts as ``zip -s`` writes them: offsets count from the start of each part."""
    plain = zipped(files)
    at = plain.index(b"PK\x01\x02")
    data, directory = b"PK\x07\x08" + plain[:at], bytearray(plain[at:])
    size = -(-len(data) // parts)
    entry = 0
    while directory[entry : entry + 4] == b"PK\x01\x02":
        (start,) = struct.unpack_from("<L", directory, entry + 42)
        struct.pack_into("<H", directory, entry + 34, (start + 4) // size)
        struct.pack_into("<L", directory, entry + 42, (start + 4) % size)
        lengths = struct.unpack_from("<3H", directory, entry + 28)
        entry += 46 + sum(lengths)
    last = parts - 1
    struct.pack_into("<2H", directory, entry + 4, last, last)
    struct.pack_into("<L", directory, entry + 16, len(data) - last * size)
    names = [f"v.z{number:02d}" for number in range(1, parts)] + ["v.zip"]
    made = split(data, names)
    return made | {"v.zip": made["v.zip"] + bytes(directory)}


FORMS: dict[str, Callable[[], dict[str, bytes]]] = {
    "zip": lambda: {"v.zip": zipped(FILES, zipfile.ZIP_DEFLATED)},
    "zip by bzip2": lambda: {"v.ZIP": zipped(FILES, zipfile.ZIP_BZIP2)},
    "zip with another ending": lambda: {"v.tar": zipped(FILES)},
    "tar": lambda: {"v.tar": tarred(FILES)},
    "tar.gz": lambda: {"v.tar.gz": tarred(FILES, "gz")},
    "tgz": lambda: {"v.tgz": tarred(FILES, "gz")},
    "tar.bz2": lambda: {"v.tar.bz2": tarred(FILES, "bz2")},
    "tar.xz": lambda: {"v.tar.xz": tarred(FILES, "xz")},
    "zip.001": lambda: split(zipped(FILES), ["v.zip.001", "v.zip.002", "v.zip.003"]),
    "z01": lambda: spanned(FILES, 3),
    "tar.part-aa": lambda: split(tarred(FILES), ["v.tar.part-aa", "v.tar.part-ab"]),
    "tar.part.aa": lambda: split(tarred(FILES), ["v.tar.part.aa", "v.tar.part.ab"]),
    "tar.gz.aa": lambda: split(tarred(FILES, "gz"), ["v.tar.gz.aa", "v.tar.gz.ab", "v.tar.gz.ac"]),
    "tar.00": lambda: split(tarred(FILES), ["v.tar.00", "v.tar.01"]),
    "part_aa": lambda: split(zipped(FILES), ["v_part_aa", "v_part_ab"]),
    "tar.gz.part1": lambda: split(
        tarred(FILES, "gz"), [f"v.tar.gz.part{number}" for number in range(1, 12)]
    ),
    "zip in zip": lambda: {"v.zip": zipped({"a.txt": b"x", "in/w.zip": zipped(FILES)})},
    "tar.gz in tar": lambda: {"v.tar": tarred({"w.tar.gz": tarred(FILES, "gz"), "b": b"x" * 99})},
    "zip in a split tar": lambda: split(
        tarred({"w.zip": zipped(FILES)}), ["v.tar.00", "v.tar.01", "v.tar.02"]
    ),
    "whole chunks": lambda: {
        f"v_chunked_{number}.zip": zipped({name: content})
        for number, (name, content) in enumerate(FILES.items())
    },
}


def lay(root: Path, files: dict[str, bytes]) -> MediaFinder:
    for name, content in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(content)
    return MediaFinder(root)


@pytest.mark.parametrize("form", FORMS)
def test_only_what_items_need_is_unpacked(form: str, tmp_path: Path) -> None:
    finder = lay(tmp_path / "source", FORMS[form]())
    found = [finder.find("v1.mp4"), finder.find("/there/v2")]
    assert [one.reason for one in found] == ["", ""]
    names = media_names(found)
    for _ in range(2):
        assert place_media({names[one]: one for one in found}, tmp_path / "out") == {}
    media = sorted((tmp_path / "out/media").iterdir())
    assert [path.name for path in media] == ["v1.mp4", "v2.mp4"]
    assert [path.read_bytes() for path in media] == list(FILES.values())[1:]
    assert media[0].stat().st_mode & 0o777 == 0o666 & ~umask()
    assert finder.find("v9").reason == "missing"


def umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


@pytest.mark.parametrize(
    ("form", "lost", "sentence"),
    [
        ("zip.001", "v.zip.002", "part v.zip.002 is missing"),
        ("zip.001", "v.zip.001", "part v.zip.001 is missing"),
        ("zip.001", "v.zip.003", "the part v.zip.003 is missing"),
        ("z01", "v.z01", "part v.z01 is missing"),
        ("z01", "v.z02", "it has 3 parts, of which 2 are there"),
        ("z01", "v.zip", "part v.zip is missing"),
        ("tar.part-aa", "v.tar.part-ab", "the part v.tar.part-ab is missing"),
        ("tar.gz.aa", "v.tar.gz.ab", "part v.tar.gz.ab is missing"),
        ("tar.gz.aa", "v.tar.gz.ac", "the part v.tar.gz.ac is missing"),
    ],
)
def test_the_part_that_is_missing_is_named(
    form: str, lost: str, sentence: str, tmp_path: Path
) -> None:
    files = FORMS[form]()
    del files[lost]
    finder = lay(tmp_path, files)
    found = finder.find("v2.mp4")
    assert found.reason == "missing"
    assert sentence in found.why
    assert sentence in "".join(finder.notes)


def test_an_archive_that_cannot_be_reached_in_another_is_named(tmp_path: Path) -> None:
    inner = {"w.zip": zipped(FILES)}
    twice = zipped({"x.zip": zipped(inner)})
    files = {"a.zip": zipped(inner, zipfile.ZIP_DEFLATED), "b.tgz": tarred(inner, "gz")}
    finder = lay(tmp_path, files | {"c.zip": twice})
    assert finder.find("v1.mp4").reason == "missing"
    assert [note.split(" is an archive")[0] for note in finder.notes] == [
        f"w.zip in {tmp_path / 'a.zip'}",
        f"w.zip in {tmp_path / 'b.tgz'}",
        f"w.zip in x.zip in {tmp_path / 'c.zip'}",
    ]


def test_names_that_only_resemble_parts_are_none(tmp_path: Path) -> None:
    names = ["v.zip.txt", "v.zip.md5", "v.tar.gz.log", "v.zip"]
    groups = group_archives(tmp_path / name for name in names)
    assert [archive.parts[0].name for archive in groups] == ["v.zip"]


def test_hostile_members_are_left_out_and_nothing_lands_elsewhere(tmp_path: Path) -> None:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for name, kind in (("link.mp4", tarfile.SYMTYPE), ("hard.mp4", tarfile.LNKTYPE),
                           ("pipe.mp4", tarfile.FIFOTYPE), ("dev.mp4", tarfile.CHRTYPE)):  # fmt: skip
            member = tarfile.TarInfo(name)
            member.type, member.linkname = kind, "/etc/passwd"
            archive.addfile(member)
        for name in ("../up.mp4", "a/../../b/up2.mp4", "/abs.mp4", r"C:\drive.mp4", "twice.mp4",
                     "twice.mp4"):  # fmt: skip
            member = tarfile.TarInfo(name)
            member.size = 40
            archive.addfile(member, io.BytesIO(VIDEO + os.urandom(28)))
    finder = lay(tmp_path / "source", {"v.tar": buffer.getvalue()})
    for name in ("link", "hard", "pipe", "dev"):
        assert "a link or a device" in finder.find(f"{name}.mp4").why
    for name in ("up", "up2"):
        assert "leads out of the archive" in finder.find(f"{name}.mp4").why
    assert finder.find("twice.mp4").reason == "several"
    found = [finder.find(name) for name in ("abs.mp4", "drive.mp4")]
    names = media_names(found)
    place_media({names[one]: one for one in found}, tmp_path / "out")
    written = sorted(str(p.relative_to(tmp_path)) for p in tmp_path.rglob("*") if p.is_file())
    assert written == ["out/media/abs.mp4", "out/media/drive.mp4", "source/v.tar"]


def test_a_zip_of_links_and_passwords_is_refused_in_sentences(tmp_path: Path) -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        link = zipfile.ZipInfo("link.mp4")
        link.create_system, link.external_attr = 3, 0o120777 << 16
        archive.writestr(link, "/etc/passwd")
        archive.writestr("locked.mp4", VIDEO)
    data = bytearray(buffer.getvalue())
    entry = data.rindex(b"PK\x01\x02")
    data[entry + 8] |= 1  # the flag of encryption
    finder = lay(tmp_path, {"v.zip": bytes(data)})
    assert "a link or a device" in finder.find("link.mp4").why
    assert "encrypted: unpack the archive yourself" in finder.find("locked.mp4").why


def test_bombs_are_not_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from reelbench.interop.imports import tar_archives

    monkeypatch.setattr(archives, "GRACE", 2**20)
    monkeypatch.setattr(tar_archives, "GRACE", 2**20)
    zeros = {"zero.mp4": bytes(8 * 2**20)}
    files = {"a.zip": zipped(zeros, zipfile.ZIP_DEFLATED), "b.tar.gz": tarred(zeros, "gz")}
    finder = lay(tmp_path, files)
    assert "no medium" in finder.find("zero.mp4").why
    assert "unpacks to more than 200 times its size" in "".join(finder.notes)


def test_what_the_disk_cannot_hold_is_refused_before_it_is_begun(tmp_path: Path) -> None:
    finder = lay(tmp_path / "source", {"v.zip": zipped(FILES)})
    files = list_archive(finder.archives[0]).files
    huge = {tmp_path / "out" / f"{one.number}.mp4": replace(one, size=10**18) for one in files}
    with pytest.raises(ReelbenchError, match=r"take 3,000,000,000,000\.0 MB, and .* MB free"):
        unpack(huge)
    assert list((tmp_path / "out").iterdir()) == []


def test_a_damaged_member_harms_no_other(tmp_path: Path) -> None:
    data = bytearray(zipped(FILES))
    data[data.index(FILES["data/v1.mp4"]) + 100] ^= 1
    finder = lay(tmp_path / "source", {"v.zip": bytes(data)})
    wanted = {f"media/v{number}.mp4": finder.find(f"v{number}") for number in range(3)}
    faults = place_media(wanted, tmp_path / "out")
    assert list(faults) == ["media/v1.mp4"]
    assert "v.zip is damaged (Bad CRC-32" in faults["media/v1.mp4"]
    assert sorted(os.listdir(tmp_path / "out/media")) == ["v0.mp4", "v2.mp4"]


@pytest.mark.parametrize("pack", [zipped, tarred])
def test_a_member_that_is_no_medium_is_not_kept(
    pack: Callable[[dict[str, bytes]], bytes], tmp_path: Path
) -> None:
    page, empty = {"data/v1.mp4": b"<!DOCTYPE html>" * 99}, {"v5.mp4": b""}
    finder = lay(tmp_path / "source", {"v.zip": pack(FILES | page | empty)})
    assert "empty" in finder.find("v5.mp4").why
    wanted = {f"media/v{number}.mp4": finder.find(f"v{number}") for number in range(3)}
    faults = place_media(wanted, tmp_path / "out")
    assert list(faults) == ["media/v1.mp4"]
    assert "a web page" in faults["media/v1.mp4"]
    assert sorted(os.listdir(tmp_path / "out/media")) == ["v0.mp4", "v2.mp4"]


@pytest.mark.parametrize("form", ["tar.gz", "tar.bz2", "tar.xz"])
def test_nothing_comes_out_of_a_compressed_tar_whose_checksum_is_wrong(
    form: str, tmp_path: Path
) -> None:
    ((name, data),) = FORMS[form]().items()
    broken = bytearray(data)
    broken[-6 if form == "tar.gz" else len(data) // 2] ^= 1
    finder = lay(tmp_path, {name: bytes(broken)})
    assert [finder.find(f"v{number}").reason for number in range(3)] == ["missing"] * 3
    assert "is damaged" in finder.notes[0]


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"version https://git-lfs.github.com/spec/v1\n", "Git LFS pointer"),
        (b"Rar!\x1a\x07", "RAR or 7-Zip"),
        (b"<html>no</html>", "a web page"),
        (b"", "no zip or tar archive"),
        (b"PK\x03\x04" + b"\0" * 50, "ends too early"),
        (b"\x28\xb5\x2f\xfd" + b"\0" * 50, "Zstandard" if sys.version_info < (3, 14) else "v.zip"),
    ],
)
def test_what_is_no_archive_is_named(content: bytes, sentence: str, tmp_path: Path) -> None:
    finder = lay(tmp_path, {"v.zip": content})
    assert sentence in finder.find("x.mp4").why


def test_garbage_in_any_place_is_a_sentence_and_no_crash(tmp_path: Path) -> None:
    for form in ("zip", "tar", "tar.gz", "tar.xz", "z01"):
        files = FORMS[form]()
        name, data = list(files.items())[-1]
        for at in range(0, len(data), max(1, len(data) // 40)):
            broken = bytearray(data)
            broken[at : at + 8] = b"\xff\x00\xfe\x7f\x80\x00\x01\xff"
            finder = lay(tmp_path, files | {name: bytes(broken)})
            found = finder.find("v1.mp4")
            if found.is_found:
                place_media({"media/x.mp4": found}, tmp_path / "out")
                (tmp_path / "out/media/x.mp4").unlink(missing_ok=True)


def test_a_full_disk_is_a_sentence_and_leaves_nothing_half(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    finder = lay(tmp_path / "source", {"v.zip": zipped(FILES)})
    wanted = {f"media/v{number}.mp4": finder.find(f"v{number}") for number in range(3)}
    import resource

    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limits[1]))
    try:
        with pytest.raises(ReelbenchError, match="give the same command again"):
            place_media(wanted, tmp_path / "out")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, ignored)
    assert os.listdir(tmp_path / "out/media") == []
    assert place_media(wanted, tmp_path / "out") == {}


def test_after_a_kill_the_same_command_goes_on(tmp_path: Path) -> None:
    files = {f"{number}.mp4": VIDEO + bytes([number]) * 2**20 for number in range(20)}
    finder = lay(tmp_path / "source", {"v.tar": tarred(files)})
    program = """
import os, signal, sys
from pathlib import Path
from reelbench.interop.imports import archives
from reelbench.interop.imports.media_files import MediaFinder, place_media
whole = archives._chunks
def killed(file, size, advance):
    for number, piece in enumerate(whole(file, size, advance)):
        yield piece
        if len(list(Path(sys.argv[2], "media").glob("*.mp4"))) == 7 and number:
            os.kill(os.getpid(), signal.SIGKILL)
archives._chunks = killed
archives._CHUNK = 1 << 18
finder = MediaFinder(Path(sys.argv[1]))
place_media({f"media/{n}.mp4": finder.find(f"{n}.mp4") for n in range(20)}, Path(sys.argv[2]))
"""
    source, out = tmp_path / "source", tmp_path / "out"
    done = subprocess.run([sys.executable, "-c", program, source, out], check=False)
    assert done.returncode == -signal.SIGKILL
    left = sorted(path.name for path in (out / "media").iterdir())
    assert sum(name.endswith(".mp4") for name in left) == 7
    assert len(left) == 8  # and the one that was not finished
    wanted = {f"media/{name}": finder.find(name) for name in files}
    assert place_media(wanted, out) == {}
    there = {path.name: path.read_bytes() for path in (out / "media").iterdir()}
    assert there == files
