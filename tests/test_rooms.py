"""A lower room never imports a higher one, and a name means one thing in the whole package."""

import ast
import io
import subprocess
import sys
import tokenize
from collections import defaultdict
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

import reelbench

SOURCE = Path(reelbench.__file__).parent
# From the ground up. What stands on one line may import each other.
FLOORS = [
    {"base", "__init__"},
    {"data"},
    {"media"},
    {"world"},
    {"models"},
    {"client"},
    {"evaluate"},
    {"score"},
    {"pages"},
    {"report"},
    {"weights"},
    {"judge"},  # trains and compares what runs ask
    {"engine"},
    {"annotate"},
    {"interop"},
    {"lint"},
    {"make"},  # asks and counts as runs do
    {"recipes"},
    {"review", "leaderboard"},
    {"cli", "__main__"},
]
# Pictures and half sentences where the field has a noun: docs/glossary.md has the nouns.
PRIVATE_WORDS = {
    *("said", "told", "says", "twin", "twins", "glance", "safely", "wants", "sieves", "dials"),
    *("dealing", "foretold", "imagine", "intact", "wish", "wishes", "sits", "strangers"),
    *("deck", "decks", "dealt", "hurry"),
    *("Asks", "Done", "Shelf", "Holder", "flights", "knock", "pictured", "straightened"),
    *("hurried", "patiently", "undressed", "looked_over"),
}
HEIGHT = {room: height for height, floor in enumerate(FLOORS) for room in floor}


def room_of(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def imported_rooms(path: Path) -> set[str]:
    """The rooms that a file imports when it runs; imports for type checkers alone do not count."""
    tree = ast.parse(path.read_text())
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            node.body = []
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative imports hide which room is meant"
            assert node.module
            names.add(node.module)
            names |= {
                f"{node.module}.{alias.name}" for alias in node.names if node.module == "reelbench"
            }
    ours = [name.split(".") for name in names if name.split(".")[0] == "reelbench"]
    return {parts[1] for parts in ours if len(parts) > 1 and not parts[1].startswith("__version__")}


def names_in(path: Path) -> set[str]:
    """The words of the identifiers of a file, without a leading underscore."""
    tokens = tokenize.generate_tokens(io.StringIO(path.read_text()).readline)
    return {token.string.lstrip("_") for token in tokens if token.type == tokenize.NAME}


def test_every_room_has_its_floor() -> None:
    assert {room_of(path) for path in SOURCE.rglob("*.py")} <= set(HEIGHT)


def test_no_lower_room_imports_a_higher_one() -> None:
    wrong = [
        f"{path.relative_to(SOURCE)} imports {room}"
        for path in sorted(SOURCE.rglob("*.py"))
        for room in sorted(imported_rooms(path))
        if HEIGHT[room] > HEIGHT[room_of(path)]
    ]
    assert wrong == []


def test_the_public_names_fit_on_a_screen_and_exist() -> None:
    assert len(reelbench.__all__) <= 24
    for name in reelbench.__all__:
        assert callable(getattr(reelbench, name))


def test_no_two_public_classes_share_a_name() -> None:
    places: dict[str, list[str]] = defaultdict(list)
    for path in sorted(SOURCE.rglob("*.py")):
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append(str(path.relative_to(SOURCE)))
    assert {name: files for name, files in places.items() if len(files) > 1} == {}


def test_identifiers_are_words_of_the_field() -> None:
    private = [
        f"{path.relative_to(SOURCE)}: {word}"
        for path in sorted(SOURCE.rglob("*.py"))
        for word in sorted(names_in(path) & PRIVATE_WORDS)
    ]
    assert private == []


ROOMS = sorted(path.parent.name for path in SOURCE.glob("*/__init__.py"))


@pytest.mark.parametrize("room", ROOMS)
def test_every_room_names_its_surface(room: str) -> None:
    package = import_module(f"reelbench.{room}")
    assert package.__doc__
    assert package.__all__
    assert len(set(package.__all__)) == len(package.__all__)
    for name in package.__all__:
        assert not name.startswith("_")
        assert not isinstance(getattr(package, name), ModuleType)


@pytest.mark.parametrize("package", ["reelbench", "reelbench.make", "reelbench.media"])
def test_dir_shows_what_is_public(package: str) -> None:
    assert dir(import_module(package)) == sorted(import_module(package).__all__)


def test_a_surface_costs_nothing_until_it_is_used() -> None:
    rooms = ", ".join(f"reelbench.{room}" for room in ROOMS if room not in ("lint", "pages"))
    program = f"import sys, {rooms}; print(sorted({{'av', 'numpy', 'scipy', 'plotly'}} & set(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"
