"""A benchmark is a folder: read whole, with every problem named, and written back the same."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from support import make_item

from reelbench.base.errors import ReelbenchError
from reelbench.data.benchmark import Benchmark, BenchmarkError, items_text, read_items
from reelbench.data.items import Item, Media, freeze
from reelbench.data.manifest import Manifest, Protocol

Save = Callable[..., Path]


def test_what_was_saved_is_loaded(save: Save) -> None:
    items = (make_item(1), make_item(2, kind="multi", answer=("A", "C")))
    protocol = Protocol(
        sampling="fps:1", orders=5, frame_encoding="png", extra=freeze({"rebuttals": 3})
    )
    root = save(*items, title="Ein Titel", protocol=protocol, extra=freeze({"contact": "us"}))
    benchmark = Benchmark.load(root)
    assert benchmark.items == items
    assert benchmark.manifest.protocol == protocol
    assert benchmark.manifest.extra == {"contact": "us"}
    assert benchmark.warnings == ()


def test_saving_twice_gives_the_same_bytes(save: Save, tmp_path: Path) -> None:
    root = save(
        make_item(1, tags=freeze({"b": "2", "a": ["1", "3"]})), taxonomy=freeze({"a": ["1", "3"]})
    )
    Benchmark.load(root).save(tmp_path / "again")
    for name in ("benchmark.yaml", "items.jsonl"):
        assert (tmp_path / "again" / name).read_bytes() == (root / name).read_bytes()


def test_what_could_not_be_loaded_is_not_saved(tmp_path: Path) -> None:
    manifest = Manifest("test", "1", splits=freeze({"dev": {}}))
    items = (make_item(1), make_item(1), make_item(2, answer=("Z",)))
    with pytest.raises(BenchmarkError) as caught:
        Benchmark(tmp_path / "b", manifest, items).save(tmp_path / "b")
    codes = [problem.code for problem in caught.value.problems]
    assert codes == ["DUPLICATE_ID", "INVALID_LABEL", "BAD_FIELD", "BAD_FIELD", "BAD_FIELD"]
    assert not (tmp_path / "b").exists()


def test_the_digest_ignores_the_order_of_lines_and_nothing_else(save: Save) -> None:
    def digest(*items: Item, **manifest: object) -> str:
        return Benchmark.load(save(*items, **manifest)).digest

    one, two = make_item(1), make_item(2)
    assert digest(one, two) == digest(two, one)
    others = {digest(one, two), digest(one), digest(one, make_item(2, answer=("C",)))}
    assert len(others | {digest(one, two, version="2")}) == 4


def test_splits(save: Save) -> None:
    items = [make_item(n, tags=freeze({"split": "dev" if n % 2 else "test"})) for n in range(1, 5)]
    benchmark = Benchmark.load(save(*items, splits=freeze({"dev": {}, "test": {}})))
    assert [item.id for item in benchmark.split("dev").items] == ["q-1", "q-3"]
    with pytest.raises(ReelbenchError, match=r"no split 'train'; .* dev, test"):
        benchmark.split("train")


def test_an_item_in_no_declared_split_is_an_error(save: Save) -> None:
    root = save(
        make_item(1, tags=freeze({"split": "dv"})), make_item(2), splits=freeze({"dev": {}})
    )
    with pytest.raises(BenchmarkError) as caught:
        Benchmark.load(root)
    assert [(p.line, p.field) for p in caught.value.problems] == [
        (1, "tags.split"),
        (2, "tags.split"),
    ]


def test_paths_with_blanks_and_other_scripts(tmp_path: Path) -> None:
    root = tmp_path / "ein Ordner – 文件夹"
    item = make_item(media=(Media("media/ein Film – 影片.mp4"),))
    (root / "media").mkdir(parents=True)
    (root / "benchmark.yaml").write_text("name: x\nversion: '1'\n")
    (root / "items.jsonl").write_text(items_text([item]))
    assert Path(Benchmark.load(root).items[0].media[0].path).name == "ein Film – 影片.mp4"


class TestBadFiles:
    def problems(self, data: bytes, tmp_path: Path) -> list[tuple[str, int]]:
        path = tmp_path / "items.jsonl"
        path.write_bytes(data)
        return [(problem.code, problem.line) for problem in read_items(path).problems]

    def line(self, number: int = 1, **fields: object) -> bytes:
        return make_item(number, **fields).to_line().encode() + b"\n"

    def test_every_bad_line_is_listed(self, tmp_path: Path) -> None:
        data = self.line(1) + b"{}\n" + self.line(3) + b"oops\n" + self.line(5, answer=("Z",))
        found = self.problems(data, tmp_path)
        assert {line for _, line in found} == {2, 4, 5}
        assert ("INVALID_LABEL", 5) in found

    def test_the_sentence_names_file_line_field_found_and_expected(self, save: Save) -> None:
        root = save(make_item(1))
        with (root / "items.jsonl").open("ab") as file:
            file.write(self.line(2, answer=("Z",)))
        with pytest.raises(BenchmarkError) as caught:
            Benchmark.load(root)
        expected = f'{root}/items.jsonl:2: answer: found ["Z"], expected letters from A to D'
        assert str(caught.value).splitlines() == [expected, "1 problem to fix first."]

    def test_duplicate_ids(self, tmp_path: Path) -> None:
        assert self.problems(self.line(1) + self.line(2) + self.line(1), tmp_path) == [
            ("DUPLICATE_ID", 3)
        ]

    @pytest.mark.parametrize(("data", "found"), [
        (lambda line: b"\xef\xbb\xbf" + line, [("BYTE_ORDER_MARK", 1)]),
        (lambda line: line.replace(b"\n", b"\r\n"), [("CRLF", 1)]),
        (lambda line: b"\n" + line, [("BLANK_LINE", 1)]),
        (lambda line: line + b"  \n", [("BLANK_LINE", 2)]),
        (lambda line: line.rstrip(b"\n"), []),
    ], ids=["mark", "CR LF", "blank first", "blank last", "no newline at the end"])  # fmt: skip
    def test_harmless_oddities_are_read_and_named(
        self, data: Callable[[bytes], bytes], found: list[tuple[str, int]], tmp_path: Path
    ) -> None:
        assert self.problems(data(self.line(1)), tmp_path) == found
        file = read_items(tmp_path / "items.jsonl")
        assert [item.id for item in file.items] == ["q-1"]
        assert all(problem.is_warning for problem in file.problems)

    def test_other_encodings(self, tmp_path: Path) -> None:
        text = self.line(1, question="Où est le café ?").decode()
        assert self.problems(text.encode("utf-16"), tmp_path) == [("UNREADABLE", 0)]
        assert "iconv" in str(read_items(tmp_path / "items.jsonl").problems[0])
        assert self.problems(text.encode("latin-1"), tmp_path) == [("ENCODING", 1)]

    @pytest.mark.parametrize("data", [b"\n", b" \n\t\n", b"\xef\xbb\xbf", b"\r\n\r\n"])
    def test_a_blank_file_holds_no_items(self, data: bytes, save: Save) -> None:
        root = save(make_item(1))
        (root / "items.jsonl").write_bytes(data)
        with pytest.raises(BenchmarkError, match="blank lines, expected one question per line"):
            Benchmark.load(root)

    @pytest.mark.parametrize("begin", ["[", "[\n ", " [ \r\n"])
    def test_one_list_of_all_items_is_told_how_to_become_lines(
        self, begin: str, tmp_path: Path
    ) -> None:
        text = begin + make_item(1).to_line() + ",\n" + make_item(2).to_line() + "]"
        assert self.problems(text.encode(), tmp_path) == [("UNREADABLE", 0)]
        assert "jq -c" in str(read_items(tmp_path / "items.jsonl").problems[0])

    def test_objects_over_several_lines_are_said_to_be_that(self, tmp_path: Path) -> None:
        text = json.dumps(make_item(1).to_record(), indent=2)
        assert self.problems(text.encode(), tmp_path) == [("UNREADABLE", 0)]
        assert "jq -c ." in str(read_items(tmp_path / "items.jsonl").problems[0])

    def test_a_file_under_another_name_is_named(self, save: Save) -> None:
        root = save(make_item(1))
        (root / "items.jsonl").rename(root / "questions.jsonl")
        (root / "benchmark.yaml").rename(root / "benchmark.yml")
        with pytest.raises(BenchmarkError) as caught:
            Benchmark.load(root)
        assert "no such file (only questions.jsonl)" in str(caught.value)
        assert "no such file (only benchmark.yml: rename it)" in str(caught.value)

    def test_many_of_one_kind_are_grouped_and_every_line_is_named(self, save: Save) -> None:
        root = save(make_item(1))
        lines = [self.line(n, answer=("Z",)) for n in range(5000)]
        lines[7] = self.line(7)
        lines[9] = self.line(9, question=" ")
        (root / "items.jsonl").write_bytes(b"".join(lines))
        with pytest.raises(BenchmarkError) as caught:
            Benchmark.load(root)
        told = str(caught.value).splitlines()
        assert len(caught.value.problems) == 4999
        assert len(told) == 6
        assert told[0].endswith('items.jsonl:1: answer: found ["Z"], expected letters from A to D')
        assert told[3].endswith("4,995 more like it, on lines 4-7, 9, 11-5000")
        assert "question: found ' '" in told[4]

    def test_nothing_at_all(self, tmp_path: Path) -> None:
        assert self.problems(b"", tmp_path) == [("NO_ITEMS", 0)]
        assert "no such file" in str(read_items(tmp_path / "absent.jsonl").problems[0])
        with pytest.raises(ReelbenchError, match="is not a folder"):
            Benchmark.load(tmp_path / "absent")

    def test_a_link_out_of_the_folder(self, save: Save, tmp_path: Path) -> None:
        (tmp_path / "secret.mp4").touch()
        root = save(make_item(1), make_item(2, media=(Media("outside/secret.mp4"),)))
        (root / "media").mkdir()
        (root / "media" / "1.mp4").symlink_to(tmp_path / "secret.mp4")
        (root / "outside").symlink_to(tmp_path)
        with pytest.raises(BenchmarkError) as caught:
            Benchmark.load(root)
        assert [(p.code, p.line) for p in caught.value.problems] == [
            ("MEDIA_PATH", 1),
            ("MEDIA_PATH", 2),
        ]
        assert f"a link to {tmp_path}/secret.mp4" in str(caught.value)

    def test_a_link_inside_the_folder_is_fine(self, save: Save) -> None:
        root = save(make_item(1))
        (root / "media").mkdir()
        (root / "real.mp4").touch()
        (root / "media" / "1.mp4").symlink_to("../real.mp4")
        assert len(Benchmark.load(root).items) == 1


class TestManifest:
    def load(self, text: str, save: Save) -> Benchmark:
        root = save(make_item(1))
        (root / "benchmark.yaml").write_text(text)
        return Benchmark.load(root)

    def test_two_lines_are_enough(self, save: Save) -> None:
        assert self.load("name: mine\nversion: '1'\n", save).manifest.protocol == Protocol()

    @pytest.mark.parametrize(("text", "line", "words"), [
        ("name: x\n", 0, "version: found nothing"),
        ("name: x\nversion: 1.0\n", 2, "put a number in quotes"),
        ("name: x\nname: y\nversion: '1'\n", 2, "'name' twice"),
        ("name: x\nversion: '1'\nprotocol:\n  orders: 0\n", 4, "protocol.orders: found 0"),
        ("name: x\nversion: '1'\nprotocol: fast\n", 3, "a mapping"),
        ("name: [x\n", 2, "expected YAML"),
        ("- name\n", 0, "a mapping with name and version"),
        ("", 0, "a mapping with name and version"),
        ("name: !!python/object:os.system x\n", 1, "could not determine a constructor"),
        ("name: x\nversion: '1'\nreleased: 2024-05-01\n", 3, "dates in quotes"),
        ("name: x\nversion: 2024-13-45\n", 0, "expected plain YAML"),
        ("name: x\nversion: '1'\nscore: .nan\n", 3, "found nan"),
        ("name: x\nversion: '1'\nloop: &a [*a]\n", 3, "an alias to itself"),
        ("name: x\nversion: '1'\ntaxonomy: {category: {1: x}}\n", 3, "the name 1, which is not text"),
        ("name: x\nversion: '1'\nprotocol: {metrics: [bleu]}\n", 3, "some of: accuracy"),
        ("name: x\nversion: '1'\nprotocol: {orders: 100000000}\n", 3, "from 1 to 1000"),
        ("name: x\nversion: '1'\nprotocol: {accept_damage: 1}\n", 3, "true or false"),
    ])  # fmt: skip
    def test_bad_manifests(self, text: str, line: int, words: str, save: Save) -> None:
        with pytest.raises(BenchmarkError) as caught:
            self.load(text, save)
        assert words in str(caught.value)
        assert caught.value.problems[0].line == line

    def test_problems_of_both_files_come_together(self, save: Save) -> None:
        root = save(make_item(1, answer=("Z",)))
        (root / "benchmark.yaml").write_text("name: x\n")
        with pytest.raises(BenchmarkError) as caught:
            Benchmark.load(root)
        assert [problem.code for problem in caught.value.problems] == [
            "MISSING_FIELD",
            "INVALID_LABEL",
        ]

    @pytest.mark.parametrize(("text", "line", "field", "meant"), [
        ("protocl: {orders: 5}", 3, "protocl", "protocol"),
        ("Protocol: {orders: 5}", 3, "Protocol", "protocol"),
        ("protcool: {orders: 5}", 3, "protcool", "protocol"),
        ("license: MIT", 3, "license", "licence"),
        ("tabels: {}", 3, "tabels", "tables"),
        ("split: {}", 3, "split", "splits"),
        ("protocol:\n  samping: uniform:8", 4, "protocol.samping", "sampling"),
        ("protocol:\n  time_stamps: true", 4, "protocol.time_stamps", "timestamps"),
    ])  # fmt: skip
    def test_a_misspelt_field_is_refused_with_the_one_meant(
        self, text: str, line: int, field: str, meant: str, save: Save
    ) -> None:
        with pytest.raises(BenchmarkError) as caught:
            self.load(f"name: x\nversion: '1'\n{text}\n", save)
        assert [(p.field, p.line) for p in caught.value.problems] == [(field, line)]
        assert f"perhaps {meant!r} is meant" in str(caught.value)

    @pytest.mark.parametrize("name", ["contact", "labels", "author", "url", "made_from", "notes"])
    def test_a_field_of_ones_own_is_kept(self, name: str, save: Save) -> None:
        benchmark = self.load(f"name: x\nversion: '1'\n{name}: y\nprotocol: {{{name}: z}}\n", save)
        assert benchmark.manifest.extra == benchmark.manifest.extra | {name: "y"}
        assert benchmark.manifest.protocol.extra == {name: "z"}

    @pytest.mark.parametrize(("text", "words"), [
        ("protocol:\n\torders: 1\n", "indent with spaces"),
        ("title: Films: a test\n", "into quotes"),
        ("name: @x\n", "character '@'"),
        ("protocol: {orders: 1\n", "expected YAML"),
        ("splits: *none\n", "undefined alias"),
        ("- a\nb: 1\n", "expected YAML"),
    ])  # fmt: skip
    def test_what_is_no_yaml_is_said_once_with_its_line(
        self, text: str, words: str, save: Save
    ) -> None:
        with pytest.raises(BenchmarkError) as caught:
            self.load(text, save)
        assert words in str(caught.value)
        assert "found found" not in str(caught.value)
        assert "found expected" not in str(caught.value)

    @pytest.mark.parametrize("order", ["A+V+T", "T+A+V", "V+T+A", "v+a+t", "V + A + T"])
    def test_modalities_come_in_any_order(self, order: str, save: Save) -> None:
        text = f"name: x\nversion: '1'\nprotocol: {{modalities: {order}}}\n"
        assert self.load(text, save).manifest.protocol.modalities == "V+A+T"

    @pytest.mark.parametrize("wrong", ["V", "A+A+T", "V+A+T+T", "X+T", "16", "[V, T]"])
    def test_other_modalities_are_refused(self, wrong: str, save: Save) -> None:
        with pytest.raises(BenchmarkError, match=r"one of T, A\+T, V\+T, V\+A\+T"):
            self.load(f"name: x\nversion: '1'\nprotocol: {{modalities: {wrong}}}\n", save)

    @pytest.mark.parametrize("field", ["sampling", "prompt", "rubric", "frame_encoding",
                                       "sound_encoding", "frame_size", "modalities", "orders"])  # fmt: skip
    def test_advice_for_a_field_does_not_lead_to_the_next_error(
        self, field: str, save: Save
    ) -> None:
        """A number in quotes is no sampling, no prompt and no encoding either."""
        with pytest.raises(BenchmarkError) as caught:
            self.load(f"name: x\nversion: '1'\nprotocol: {{{field}: 1600}}\n", save)
        assert "in quotes" not in str(caught.value)

    def test_a_missing_manifest_says_what_to_write(self, save: Save) -> None:
        root = save(make_item(1))
        (root / "benchmark.yaml").unlink()
        with pytest.raises(
            BenchmarkError, match=r"at least the lines `name: ...` and `version: ...`"
        ):
            Benchmark.load(root)
