"""What the command ``reelbench annotate`` says."""

import importlib.util

import pytest
from annotating import Given
from operators_for_tests import counts, looks

from reelbench.annotate import registry
from reelbench.base.extras import install_command


class TestWords:
    """What the command says to a wrong word: a sentence, and 2."""

    def refused(
        self, given: Given, capsys: pytest.CaptureFixture[str], labels: str, *words: object
    ) -> str:
        status = given.command(labels, *words)
        told = capsys.readouterr().err
        assert "Traceback" not in told
        assert told.startswith("reelbench annotate: ")
        assert status == 2
        assert not looks(given.clips)
        return told

    def test_an_empty_folder(self, given: Given, capsys: pytest.CaptureFixture[str]) -> None:
        assert f"{given.clips} contains no clips, files that end with" in self.refused(
            given, capsys, "plain"
        )

    def test_a_folder_that_is_not_there(
        self, given: Given, capsys: pytest.CaptureFixture[str]
    ) -> None:
        given.clips = given.clips.with_name("nowhere")
        told = self.refused(given, capsys, "plain")
        assert "nowhere does not exist: name a clip, or a folder with clips." in told

    def test_an_unknown_label(self, given: Given, capsys: pytest.CaptureFixture[str]) -> None:
        given.add("a.mp4")
        told = self.refused(given, capsys, "plain,shoes")
        assert "Unknown label 'shoes'; the known ones: format, shots, " in told
        assert not given.out.exists()

    @pytest.mark.parametrize("labels", ["", ",", " "])
    def test_no_label(self, given: Given, capsys: pytest.CaptureFixture[str], labels: str) -> None:
        given.add("a.mp4")
        assert "label" in self.refused(given, capsys, labels)

    def test_labels_with_blanks_and_twice(self, given: Given) -> None:
        given.add("a.mp4")
        assert given.command(" plain, reader ,plain,") == 0
        assert list(given.labels("a.mp4")) == ["plain", "reader"]
        assert counts(given.clips) == {"plain": 1, "reader": 1}

    @pytest.mark.parametrize(
        ("word", "says"),
        [
            ("plain", "'plain' sets nothing: write LABEL.NAME=VALUE."),
            ("plain.word", "sets nothing"),
            ("=x", "sets nothing"),
            ("plain=x", "LABEL.NAME=VALUE"),
            (
                "plain.colour=red",
                "The operator plain has no parameter 'colour'; its parameters: plain.word",
            ),
            ("plain.word=[", "sets nothing"),
            (
                "other.size=2",
                "Parameters are set for other, which is not among the labels to make (plain)",
            ),
            ("plain.word=2024-01-01", "plain"),  # a date, to YAML
            ("plain.word=.nan", "plain"),
        ],
    )
    def test_a_parameter_that_cannot_be_set(
        self, given: Given, capsys: pytest.CaptureFixture[str], word: str, says: str
    ) -> None:
        given.add("a.mp4")
        assert says in self.refused(given, capsys, "plain", "--set", word)

    def test_parameters_are_read_as_yaml(self, given: Given) -> None:
        given.add("a.mp4")
        assert (
            given.command("plain,other", "--set", "plain.word=a b=c", "--set", "other.size=2.5")
            == 0
        )
        assert given.labels("a.mp4")["plain"]["value"]["word"] == "a b=c"
        assert given.labels("a.mp4")["other"]["value"] == {"size": 2.5}

    @pytest.mark.parametrize(
        ("words", "says"),
        [
            (
                ("--address", "localhost:6379"),
                "--address is that of a Ray cluster: add --engine ray",
            ),
            (("--model", "gpt"), "--model gpt names no captioner: write --model captioner=MODEL"),
            (("--model", "captioner=nobody"), "There is no model 'nobody'"),
            (("--workers", "-1"), "workers"),
        ],
    )
    def test_other_wrong_words(
        self, given: Given, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], says: str
    ) -> None:
        given.add("a.mp4")
        assert says in self.refused(given, capsys, "plain", *words)

    def test_the_folder_of_labels_is_a_file(
        self, given: Given, capsys: pytest.CaptureFixture[str]
    ) -> None:
        given.add("a.mp4")
        given.out.write_text("mine")
        assert str(given.out) in self.refused(given, capsys, "plain")
        assert given.out.read_text() == "mine"

    @pytest.mark.skipif(bool(importlib.util.find_spec("pyarrow")), reason="pyarrow is installed")
    def test_parquet_without_its_package_is_a_sentence_and_labels_are_there(
        self, given: Given, capsys: pytest.CaptureFixture[str]
    ) -> None:
        given.add("a.mp4")
        assert given.command("plain", "--parquet") == 2
        assert (
            f"pyarrow is not installed; install it with: {install_command('annotate')}"
            in capsys.readouterr().err
        )

    def test_a_good_run_says_where_the_labels_are(
        self, given: Given, capsys: pytest.CaptureFixture[str]
    ) -> None:
        given.add("a.mp4")
        assert given.command("plain") == 0
        told = capsys.readouterr()
        assert told.out.splitlines() == [
            "label  clips  nothing to say  failed",
            "plain  1      0               0",
        ]
        assert f"The labels are in {given.out / 'labels'}." in told.err


class TestAll:
    def test_stands_for_all_built_in_labels_but_those_that_lack_a_model(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        names = ["format", "expression", "caption", "speech_emotion"]
        known = {name: registry.OPERATORS[name] for name in names}
        monkeypatch.setattr(registry, "OPERATORS", known)
        labels, skipped = registry.with_all(["all"], {}, has_model=False)
        assert labels == ["format"]
        assert "--model captioner=" in skipped["caption"]
        assert skipped["expression"] == skipped["caption"]
        assert "--set speech_emotion.model=" in skipped["speech_emotion"]
        own = {"speech_emotion": {"model": "my.module:listen"}}
        labels, skipped = registry.with_all(["all", "x.py:Own"], own, has_model=True)
        assert (labels, skipped) == ([*names, "x.py:Own"], {})
        assert registry.with_all(["shots"], {}, has_model=False) == (["shots"], {})

    def test_what_is_skipped_is_said(
        self, given: Given, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        known = {name: registry.OPERATORS[name] for name in ("format", "caption", "plain")}
        monkeypatch.setattr(registry, "OPERATORS", known)
        given.add("a.mp4")
        assert given.command("all") == 0
        assert set(given.labels("a.mp4")) == {"format", "plain"}
        assert "skipped: caption: it needs a model" in capsys.readouterr().err
