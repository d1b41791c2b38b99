"""What the package offers is used: by itself, by recipes to come, or by who reads the docs."""

import ast
import re
from collections import Counter
from pathlib import Path

import reelbench

SOURCE = Path(reelbench.__file__).parent
DOCS = Path(__file__).parent.parent / "docs"
KNOWN = {
    "frames_at",  # the short form of iterate_frames, for notebooks and tests
    "crop_to_track",  # face crops, for recipes about people
    "compose_node",  # PyYAML calls it
    "find_class",  # pickle calls it
    "persistent_load",  # and this
    *("readinto", "seekable"),  # io calls them
    "fromtarfile",  # tarfile calls it
    "redirect_request",  # urllib calls it
}
OFFERED = ("make/parts/", "annotate/operators/")  # chosen by recipes, loaded by name
Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def definitions(tree: ast.Module) -> list[Definition]:
    """The public functions and classes of a file, and the methods of those classes."""
    found = [node for node in tree.body if isinstance(node, Definition)]
    classes = [node for node in found if isinstance(node, ast.ClassDef)]
    found += [node for each in classes for node in each.body if isinstance(node, Definition)]
    return [node for node in found if not node.name.startswith("_") and not is_route(node)]


def is_route(node: Definition) -> bool:
    """Whether requests reach it: it is registered by its decorator."""
    return any(ast.unparse(each).startswith("router.") for each in node.decorator_list)


def words(node: ast.AST) -> Counter[str]:
    """All names that code says, those in its strings among them."""
    found: Counter[str] = Counter()
    for each in ast.walk(node):
        if isinstance(each, ast.Name):
            found[each.id] += 1
        elif isinstance(each, ast.Attribute):
            found[each.attr] += 1
        elif isinstance(each, ast.keyword) and each.arg:
            found[each.arg] += 1
        elif isinstance(each, ast.Constant) and isinstance(each.value, str):
            found.update(set(re.findall(r"\w+", each.value)))
    return found


def test_nothing_is_there_that_nothing_reaches() -> None:
    trees = {path: ast.parse(path.read_text()) for path in SOURCE.rglob("*.py")}
    said = Counter[str]()
    for tree in trees.values():
        said.update(words(tree))
    texts = [path for path in SOURCE.rglob("*") if path.suffix in (".j2", ".yaml", ".js")]
    elsewhere = " ".join(path.read_text() for path in [*texts, *DOCS.rglob("*.md")])
    also = set(re.findall(r"\w+", elsewhere)) | KNOWN | set(reelbench.__all__)
    unreached = [
        f"{path.relative_to(SOURCE)}: {node.name}"
        for path, tree in trees.items()
        if not path.relative_to(SOURCE).as_posix().startswith(OFFERED)
        for node in definitions(tree)
        if node.name not in also and said[node.name] - words(node)[node.name] <= 0
    ]
    assert sorted(unreached) == []
