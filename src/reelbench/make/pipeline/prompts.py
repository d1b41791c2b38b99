"""The texts of a recipe: prompts with slots, rules and examples, any of which a user may replace.

A recipe's own take precedence over those that all recipes share, and a user's over both. Results
are kept under the hash of the texts, so that an edited prompt redoes the stages that use it.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from reelbench.base.errors import ReelbenchError
from reelbench.base.files import canonical_json, digest_of, json_line, write_atomically
from reelbench.base.yaml_files import YamlError, read_yaml
from reelbench.evaluate.prompt import fill, slots_of
from reelbench.make.parts.rules import RuleSet, load_rules

RULES, EXAMPLES = "rules.yaml", "examples.yaml"
# Without these, nothing would be asked, or not about anything.
_NEEDED = {"question", "options", "context", "reply", "candidates", "text"}


@dataclass(frozen=True)
class Prompts:
    """All texts of a recipe by the names of their files, without ``.md``."""

    texts: Mapping[str, str]
    rules: RuleSet | None
    examples: Mapping[str, Any]

    def prompt(self, name: str, **slots: str) -> str:
        """Fill in a prompt; a slot that is not given is filled with the prompt of that name."""
        text = self.texts[name]
        lacking = slots_of(text) - set(slots)
        return fill(text, slots | {slot: self.prompt(slot) for slot in lacking})

    def variants(self, name: str) -> list[str]:
        """Return the names of a prompt and of its variants, ``name.2`` and so on, in order."""
        found = [each for each in self.texts if each.partition(".")[0] == name]
        return sorted(found, key=lambda each: (len(each), each))

    def digest(self, names: Iterable[str]) -> str:
        """Return the hash of some prompts and their variants, or of ``rules`` and ``examples``."""
        others = {"rules": self.rules and self.rules.record, "examples": self.examples}
        return digest_of(
            {
                name: {each: self.texts[each] for each in self.variants(name)} or others.get(name)
                for name in names
            }
        )


def load_prompts(home: Any, folder: Path | None, categories: Collection[str] | None) -> Prompts:
    """Return the texts of a recipe, those in a user's folder in place of its own."""
    defaults = dict(_texts(files("reelbench.make") / "prompts"))
    rules = examples = None
    rules_file: Any = home / RULES if home is not None else None
    if home is not None:
        defaults |= dict(_texts(home / "prompts"))
        rules, examples = _text(home / RULES), _text(home / EXAMPLES)
    own: dict[str, str] = {}
    if folder is not None:
        if not folder.is_dir():
            raise ReelbenchError(f"--prompts {folder} is not a folder.")
        own = dict(_texts(folder))
        if (folder / RULES).is_file():
            rules_file = folder / RULES
            rules = _text(rules_file)
        examples = _text(folder / EXAMPLES) if (folder / EXAMPLES).is_file() else examples
        problems = list(_problems(defaults, own))
        if problems:
            raise ReelbenchError(f"The prompts in {folder} cannot be used: {'; '.join(problems)}.")
    shown = _examples(examples, folder)
    loaded = load_rules(rules, categories, str(rules_file)) if rules else None
    return Prompts(defaults | own, loaded, shown)


def _problems(defaults: Mapping[str, str], own: Mapping[str, str]) -> Iterator[str]:
    for name, text in sorted(own.items()):
        if name not in defaults:
            # A prompt may come in several variants, each asked for itself.
            original = defaults.get(name.partition(".")[0])
            if original is None:
                yield f"{name}.md is not one of its prompts ({', '.join(sorted(defaults))})"
                continue
        else:
            original = defaults[name]
        for slot in sorted(slots_of(text) - slots_of(original)):
            yield f"{name}.md has the slot {{{{{slot}}}}}, which the recipe does not fill"
        for slot in sorted((slots_of(original) & _NEEDED) - slots_of(text)):
            yield f"{name}.md lacks the slot {{{{{slot}}}}}"


def _examples(text: str | None, folder: Path | None) -> Mapping[str, Any]:
    """Read examples by category, each a mapping that JSON can hold."""
    place = folder / EXAMPLES if folder else f"The recipe's {EXAMPLES}"
    try:
        content = (read_yaml(text)[0] if text else None) or {}
        canonical_json(content)
    except (YamlError, TypeError, ValueError) as error:
        raise ReelbenchError(f"{place} cannot be read: {error}.") from error
    lists = content.values() if isinstance(content, dict) else [None]
    listed = all(
        isinstance(each, list) and all(isinstance(one, dict) for one in each) for each in lists
    )
    if not listed or not all(isinstance(name, str) for name in content):
        raise ReelbenchError(f"{place} must map each category to a list of examples.")
    return content


def _texts(folder: Any) -> Iterator[tuple[str, str]]:
    for path in sorted(folder.iterdir(), key=lambda path: path.name) if folder.is_dir() else ():
        if path.name.endswith(".md"):
            yield path.name.removesuffix(".md"), _text(path) or ""


def _text(path: Any) -> str | None:
    try:
        return str(path.read_text(encoding="utf-8")) if path.is_file() else None
    except (OSError, UnicodeDecodeError) as error:
        raise ReelbenchError(f"{path} cannot be read: {error}.") from error


def copy_prompts(home: Any, names: Iterable[str], folder: Path) -> None:
    """Write a recipe's prompts, rules and examples into a new folder, for a user to change."""
    defaults = load_prompts(home, None, None)
    folder.mkdir(parents=True)
    for name in names:
        for variant in defaults.variants(name):
            write_atomically(folder / f"{variant}.md", defaults.texts[variant])
    for name in (RULES, EXAMPLES) if home is not None else ():
        text = _text(home / name)
        if text is not None:
            write_atomically(folder / name, text)


def shown_examples(examples: Iterable[Mapping[str, Any]]) -> str:
    """Write examples as a prompt shows them: JSON, one a line."""
    return "\n".join(json_line(example).strip() for example in examples)
