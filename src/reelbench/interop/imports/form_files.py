"""The published forms: one mapping each in ``forms/``, and how a file of one is known."""

from collections.abc import Mapping, Sequence
from fnmatch import fnmatch
from functools import cache
from importlib.resources import files
from pathlib import Path

from reelbench.base.errors import ReelbenchError
from reelbench.base.extensions import registered
from reelbench.base.spelling import perhaps
from reelbench.interop.imports.mapping import ImportMapping, missing_columns, read_mapping
from reelbench.interop.imports.sources import GROUP, LOADERS
from reelbench.interop.records import RecordFile


@cache
def published_forms() -> Mapping[str, ImportMapping]:
    """Return the mappings of all published forms, by name."""
    folder = files("reelbench.interop.imports") / "forms"
    found = sorted(
        (each for each in folder.iterdir() if each.name.endswith(".yaml")), key=lambda p: p.name
    )
    return {
        (name := each.name.removesuffix(".yaml")): read_mapping(each.read_text("utf-8"), name)
        for each in found
    }


def known_forms() -> list[tuple[str, str, str, str]]:
    """Return name, title, paper and licence of all forms, those of other packages among them."""
    forms = [(n, form.title, form.paper, form.licence) for n, form in published_forms().items()]
    layouts = [(name, "a layout, whatever its columns", "", "") for name in LOADERS]
    return [*forms, *layouts, *((name, "of a package", "", "") for name in registered(GROUP))]


def form_named(name: str) -> ImportMapping:
    """Return the mapping of a form; raise an error that lists the known ones for other names."""
    forms = published_forms()
    spelled = {_plain(each): form for each, form in forms.items()}
    if _plain(name) not in spelled:
        known = [*forms, *LOADERS, *registered(GROUP)]
        raise ReelbenchError(
            f"There is no form {name!r}{perhaps(name, known)}. The known ones: "
            f"{', '.join(known) or 'none'}; or FILE.py:NAME for an importer of your own."
        )
    return spelled[_plain(name)]


def _plain(name: str) -> str:
    """A name as it is compared: nextqa, NExT-QA and next_qa are one."""
    return "".join(sign for sign in name.casefold() if sign.isalnum())


def fits_form(file: RecordFile, form: ImportMapping) -> bool:
    """Whether a file has the columns of a form, and a name that its files have."""
    if not form.columns or any(missing_columns(each, file.columns) for each in form.columns):
        return False
    return not form.files or any(name_fits(file.path, pattern) for pattern in form.files)


def lacking_columns(files: Sequence[RecordFile], form: ImportMapping) -> list[str]:
    """Return the columns of a form that no file has."""
    columns = [column for file in files for column in file.columns]
    return [name for each in form.columns for name in missing_columns(each, columns)]


def name_fits(path: Path, pattern: str) -> bool:
    """Whether a file's name, or the end of its path, fits a pattern."""
    low, wanted = path.as_posix().casefold(), pattern.casefold()
    names = (low, low.removesuffix(".gz"))
    return any(fnmatch(n, f"*/{wanted}") or fnmatch(Path(n).name, wanted) for n in names)


def forms_of(file: RecordFile) -> list[ImportMapping]:
    """Return the forms that a file may have, the one with the most columns first."""
    fitting = [form for form in published_forms().values() if fits_form(file, form)]
    return sorted(fitting, key=lambda form: (-len(form.columns), form.name))
