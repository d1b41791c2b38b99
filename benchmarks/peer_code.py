"""The code of published parsers, taken from a checkout of theirs and run as it is.

Their files import much that parsing does not need: of a file only the functions that are asked for
are run, with the names that these need in turn. What a file imports and is not installed stands in
as an object that takes everything.
"""

import ast
import io
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import redirect_stdout, suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from reelbench.data.items import LETTERS

GUESS = "a guess"
Names = dict[str, Any]
Reader = Callable[[Names, str, dict[str, str]], str]


@dataclass(frozen=True)
class PeerParser:
    """Where a published parser stands, by the name that we give it, and how it is called."""

    name: str
    revision: str  # the last one known to read so
    files: Mapping[str, Sequence[str]]  # the functions of each; later files see earlier ones
    read: Reader
    given: Names = field(default_factory=dict)

    def load(self, checkout: Path, revision: str) -> Names | None:
        """Return the functions by name as of a revision; None where the checkout lacks them."""
        names = dict(self.given)
        for path, functions in self.files.items():
            source = _source(checkout, revision, path)
            if source is None:
                return None
            names.update(_loaded(source, functions, names))
        return names


def _source(checkout: Path, revision: str, path: str) -> str | None:
    """A file as of a revision of the checkout; outside of a repository, as it lies there."""
    words = ["git", "-C", str(checkout), "show", f"{revision}:{path}"]
    shown = subprocess.run(words, capture_output=True, text=True, check=False)
    if shown.returncode == 0:
        return shown.stdout
    file = checkout / path
    return file.read_text("utf-8") if revision == "HEAD" and file.is_file() else None


def _loaded(source: str, functions: Sequence[str], given: Names) -> Names:
    """Run of a file what its functions need, and nothing else."""
    wanted, kept = list(functions), dict[int, ast.stmt]()
    tree = ast.parse(source)
    bound = {name: node for node in tree.body for name in _bound(node) if name not in given}
    while wanted:
        node = bound.get(wanted.pop())
        if node is not None and id(node) not in kept:
            kept[id(node)] = node
            wanted += [each.id for each in ast.walk(node) if isinstance(each, ast.Name)]
    names = {"__name__": "peer", **given}
    for node in tree.body:
        if id(node) in kept:
            module = ast.Module([node], [])
            try:
                exec(compile(module, "peer", "exec"), names)
            except ImportError:
                names.update(dict.fromkeys(_bound(node), _Anything()))
    return names


def _bound(node: ast.stmt) -> Iterator[str]:
    """The names that a statement of a module binds."""
    if isinstance(node, ast.FunctionDef):
        yield node.name
    elif isinstance(node, ast.Import | ast.ImportFrom):
        yield from (alias.asname or alias.name for alias in node.names)
    elif isinstance(node, ast.Assign):
        yield from (target.id for target in node.targets if isinstance(target, ast.Name))


class _Anything:
    def __call__(self, *_: object, **__: object) -> "_Anything":
        return self

    def __getattr__(self, _: str) -> "_Anything":
        return self


_CHANCE = SimpleNamespace(choice=lambda _: GUESS)
_MCQ = "lmms_eval/tasks/{}/utils.py"
_MATCHING = "vlmeval/utils/matching_util.py"
_CHOICE = "vlmeval/dataset/utils/multiple_choice.py"
_MATCHED = {_MATCHING: ["can_infer", "can_infer_lego"]}
_EXTRACTED = {**_MATCHED, _CHOICE: ["extract_answer_from_item"]}
_PANDAS = SimpleNamespace(isna=lambda value: value is None)
_MUTE = SimpleNamespace(generate=lambda _: "")  # a judge that gives nothing usable


def _capital(names: Names, reply: str, _: dict[str, str]) -> str:
    return str(names["extract_characters_regex"](reply))


def _candidates(names: Names, reply: str, options: dict[str, str]) -> str:
    read = names["parse_multi_choice_response"]
    return str(read(reply, [*options], options))


def _matched(names: Names, reply: str, options: dict[str, str]) -> str:
    return str(names["can_infer"](reply, dict(options)))


def _item(reply: str, options: dict[str, str]) -> Names:
    return {"question": "", "prediction": reply, "answer": "A", **options}


def _failed(names: Names, reply: str, options: dict[str, str]) -> str:
    return str(names["extract_answer_from_item"](_MUTE, _item(reply, options))["opt"])


def _video_mme(names: Names, reply: str, options: dict[str, str]) -> str:
    if letter := names["extract_characters_regex"](reply):
        return str(letter)
    lines = "\n".join(f"{letter}. {text}" for letter, text in options.items())
    item = {**_item(reply, {}), "question": f"?\n{lines}"}
    return str(names["extract_option"](None, item, "Video-MME"))


def _scored(names: Names, reply: str, options: dict[str, str]) -> str:
    return next((letter for letter in options if names["mcq_acc"](letter, reply)), "")


def _compared(names: Names, reply: str, options: dict[str, str]) -> str:
    compare = names["compare_output_answer"]
    with suppress(IndexError):  # where nothing follows "best answer is Option "
        return next((letter for letter in options if compare(reply, letter, options)), "")
    return ""


PEERS = (
    PeerParser(
        "lmms-eval@0.7.2",
        "v0.7.2",
        {"lmms_eval/tasks/_task_utils/mcq_extract.py": ["extract_mcq_answer"]},
        lambda names, reply, options: str(names["extract_mcq_answer"](reply, [*options])),
    ),
    PeerParser(
        "lmms-eval@before-9ca4445d",
        "9ca4445d^",
        {_MCQ.format("videomme"): ["extract_characters_regex"]},
        _capital,
    ),
    PeerParser("lmms-eval:mvbench@0.7.2", "v0.7.2", {_MCQ.format("mvbench"): ["mcq_acc"]}, _scored),
    PeerParser(
        "lmms-eval:nextqa@0.7.2",
        "v0.7.2",
        {_MCQ.format("nextqa"): ["parse_multi_choice_response"]},
        _candidates,
        {"random": _CHANCE},
    ),
    PeerParser(
        "lmms-eval:longvideobench@0.7.2",
        "v0.7.2",
        {_MCQ.format("longvideobench"): ["parse_multi_choice_response"]},
        _candidates,
        {"random": _CHANCE},
    ),
    PeerParser(
        "mmou@lmms-eval-0.7.3",
        "6bff4b94",
        {_MCQ.format("mmou"): ["_extract_answer"]},
        lambda names, reply, _: str(names["_extract_answer"](reply)),
    ),
    PeerParser("vlmevalkit@a67ace50", "a67ace50", _MATCHED, _matched),
    PeerParser("vlmevalkit@before-a67ace50", "a67ace50^", _MATCHED, _matched),
    PeerParser("vlmevalkit@before-c3371551", "c3371551^", _MATCHED, _matched),
    PeerParser(
        "vlmevalkit:guess@a67ace50", "a67ace50", _EXTRACTED, _failed, {"rd": _CHANCE, "pd": _PANDAS}
    ),
    PeerParser(
        "vlmevalkit:videomme@a67ace50",
        "a67ace50",
        {
            **_EXTRACTED,
            "vlmeval/dataset/utils/videomme.py": ["extract_characters_regex", "extract_option"],
        },
        _video_mme,
        {"rd": _CHANCE, "pd": _PANDAS},
    ),
    PeerParser(
        "humanvbench@1ae56c0e", "1ae56c0e", {"Evaluation.py": ["compare_output_answer"]}, _compared
    ),
    PeerParser(
        "mmmu-pro@8ac826a",
        "8ac826a",
        {"mmmu-pro/evaluate.py": ["parse_multi_choice_response"]},
        _candidates,
        {"random": _CHANCE},
    ),
)


def peer_reading(parser: PeerParser, names: Names, reply: str, options: Sequence[str]) -> str:
    """Return the letter that the peer's code reads; ``?`` for a guess, ``-`` for no option."""
    with redirect_stdout(io.StringIO()):
        found = parser.read(names, reply, dict(zip(LETTERS, options, strict=False)))
    if found == GUESS:
        return "?"
    return found if len(found) == 1 and found in LETTERS[: len(options)] else "-"
