"""``reelbench make``."""

import argparse
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reelbench.base.errors import ReelbenchError
from reelbench.base.progress import counted
from reelbench.cli.engine_options import add_engine_options, engine_in
from reelbench.cli.say import command, forecast_cells, put, put_table, settings, tell
from reelbench.cli.serving_words import serving_words
from reelbench.score.rounding import percent

if TYPE_CHECKING:
    from reelbench.make.pipeline.make import MakeOptions, MakeResult
    from reelbench.make.pipeline.stage import Flag, Recipe


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    from reelbench.make.pipeline.stage import whole_number
    from reelbench.recipes import RECIPES

    listed = {**RECIPES, "FILE.py": "a recipe of your own"}
    width = max(map(len, listed)) + 2
    recipes = "\n".join(f"  {name:{width}}{summary}" for name, summary in listed.items())
    parser.epilog = (
        f"recipes:\n{recipes}\n\n"
        "examples:\n"
        "  reelbench make cineaste --source movies --out bench --model writer=openai:gpt-4o \\\n"
        "      --model blind=llama.yaml --dry-run\n"
        "  reelbench make cineaste --source movies --out bench --limit 20 --until independence \\\n"
        "      --prompts my-prompts          # phase 1: look at bench/made.html, edit, again\n"
        "  reelbench make cineaste --out bench     # resumes\n"
        "  reelbench make filters --source my-benchmark --out fair --model blind=openai:gpt-4o\n"
        "  reelbench make qbench-exact --source clips --out bench --items 500"
    )
    parser.add_argument("recipe", help="name of a recipe, or the Python file of your own")
    parser.add_argument(
        "--source",
        "--benchmark",
        action="append",
        default=[],
        type=Path,
        help="input of the recipe; some take several (default: same as last time)",
    )
    parser.add_argument("--out", type=Path, required=True, help="output folder of the benchmark")
    parser.add_argument(
        "--model",
        action="append",
        default=[],
        metavar="ROLE=MODEL",
        help="model for a role, such as writer=openai:gpt-4o or blind=my-model.yaml; repeatable "
        "(default: same as last time)",
    )
    parser.add_argument(
        "--prompts",
        type=Path,
        metavar="FOLDER",
        help="folder with your own prompts, rules and examples; a new folder is filled with the "
        "recipe's own, for you to edit",
    )
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="STAGE.NAME=VALUE",
        help="set a parameter of a stage, such as independence.shuffle=false; repeatable; set "
        "parameters that depend on each other together",
    )
    parser.add_argument(
        "--limit",
        type=_reader(whole_number),
        metavar="N",
        help="use only N randomly chosen sources",
    )
    add_engine_options(parser)
    parser.add_argument("--until", metavar="STAGE", help="stop after this stage")
    parser.add_argument(
        "--without",
        action="append",
        default=[],
        metavar="STAGE",
        help="skip this stage; repeatable",
    )
    parser.add_argument(
        "--budget", metavar="AMOUNT", help="maximum spend in total: 5usd, 2000000tokens or none"
    )
    parser.add_argument(
        "--dry-run", action="store_true", help="estimate requests, tokens and cost; ask nothing"
    )
    parser.add_argument("--seed", type=int, help="random seed (default: same as last time, or 0)")


def configure_for(parser: argparse.ArgumentParser, words: Sequence[str]) -> None:
    """Add the flags of the recipe that is named."""
    from reelbench.recipes import load_recipe

    parser.set_defaults(loaded=None)
    name = _recipe_in(words)
    try:
        recipe = load_recipe(name)
    except Exception:  # the command itself will say what is wrong with it
        return
    flags = ", ".join(f"--{flag.name}" for flag in recipe.flags) or "no options"
    parser.set_defaults(loaded=recipe, has=f" ({recipe.name} has {flags} of its own)")
    own = parser.add_argument_group(f"options of {recipe.name}") if recipe.flags else parser
    for flag in recipe.flags:
        usual = recipe.parameters[flag.sets[0]]
        several = isinstance(usual, list | tuple)
        default = (", ".join(map(str, usual)) or "all") if several else usual
        text = f"{flag.help} (default: {default})".replace("%", "%%")
        try:
            own.add_argument(
                f"--{flag.name}",
                dest=_dest(flag),
                type=_reader(flag.type),
                metavar=flag.name.upper().replace("-", "_"),
                help=text,
            )
        except argparse.ArgumentError:
            parser.error(f"{recipe.name} has a flag --{flag.name}, which make has too: rename it")


_SWITCHES = ("--help", "--dry-run")  # the options after which no value comes


def _recipe_in(words: Sequence[str]) -> str:
    """Return the first word that is neither an option nor its value."""
    before = ""
    for word in words:
        is_value = before.startswith("--") and "=" not in before and before not in _SWITCHES
        if not word.startswith("-") and not is_value:
            return word
        before = word
    return ""


def _reader(read: Callable[[str], Any]) -> Callable[[str], Any]:
    """Let a sentence about what cannot be read reach the user."""

    def value_of(word: str) -> Any:
        try:
            return read(word)
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from None

    return value_of


def main(options: argparse.Namespace) -> int:
    """Make, or say what making would cost."""
    from reelbench.client.budget import parse_budget
    from reelbench.make.pipeline.make import MakeOptions, make_benchmark, used_prompts
    from reelbench.make.pipeline.prompts import copy_prompts
    from reelbench.make.pipeline.roles import parse_roles
    from reelbench.recipes import load_recipe

    recipe: Recipe = options.loaded or load_recipe(options.recipe)
    if options.prompts is not None and not list(used_prompts(recipe)):
        raise ReelbenchError(f"{recipe.name} asks no model: it has no prompts to change.")
    if options.prompts is not None and not options.prompts.exists():
        copy_prompts(recipe.home, used_prompts(recipe), options.prompts)
        tell(f"{options.prompts} now holds the prompts of {recipe.name}, for you to change.")
    order = MakeOptions(
        sources=options.source,
        models=parse_roles(options.model, recipe),
        prompts=options.prompts,
        parameters=flag_values(options, recipe) | settings(options.set, "STAGE.NAME=VALUE"),
        seed=options.seed,
        limit=options.limit,
        until=options.until,
        without=options.without,
        budget=None if options.budget is None else parse_budget(options.budget),
        engine=engine_in(options),
    )
    if options.dry_run:
        return _forecast(recipe, options.out, order)
    try:
        made = make_benchmark(recipe, options.out, order)
    except KeyboardInterrupt:
        served = serving_words({"--model": options.model})
        again = command("make", options.recipe, *served, "--out", options.out)
        tell(f"\nStopped. Nothing is lost: `{again}` resumes.")
        return 130
    return _summary(made, options)


def flag_values(options: argparse.Namespace, recipe: "Recipe") -> dict[str, Any]:
    """Return the parameters that the recipe's own flags set."""
    given = {flag: getattr(options, _dest(flag), None) for flag in recipe.flags}
    return {name: value for flag, value in given.items() if value is not None for name in flag.sets}


def _dest(flag: "Flag") -> str:
    return f"flag_{flag.name}"


def _forecast(recipe: "Recipe", out: Path, order: "MakeOptions") -> int:
    from reelbench.make.pipeline.make import forecast

    rows, passed, notes = forecast(recipe, out, order)
    table = []
    for each in passed:
        counts = (each.stage.name, f"{len(each.rows):,}", f"{len(each.out):,}")
        asked = [forecast_cells(row) for row in rows if row.step == each.stage.name]
        table += [(*counts, *row) for row in asked or [("", "0", "", "", "")]]
    put_table(("stage", "in", "out", "model", "to ask", "tokens in", "tokens out", "cost"), table)
    costs = [row.usd for row in rows]
    if rows and None not in costs:
        put(f"total: ${sum(cost or 0.0 for cost in costs):,.4f}")
    for note in notes:
        tell(f"warning: {note}")
    tell(
        "Answers from earlier calls are reused. For stages that have not run yet, the output is an "
        "estimate, and so are all token counts. Nothing was asked."
    )
    return 0


def _summary(made: "MakeResult", options: argparse.Namespace) -> int:
    """Say what came of it."""
    from reelbench.cli.run import tell_ledger
    from reelbench.make.pipeline.stage import WAITING

    put_table(
        ("stage", "in", "out", "rejected", "undecided", "rate", "95% interval", "videos"),
        [_row(stage) for stage in made.funnel["stages"]],
    )
    known = f", {made.counts.known:,} answered before" if made.counts.known else ""
    tell(f"{counted(made.counts.asked, 'call')} now{known}.")
    tell_ledger(made.ledger)
    for warning in made.warnings:
        tell(f"warning: {warning}")
    sources = made.funnel["sources"]
    left_out = [counted(count, "source")] if (count := sources["rejected"]) else []
    left_out += [counted(count, "part") + " of others"] if (count := sources.get("without")) else []
    if left_out:
        text = " and ".join(left_out)
        tell(f"{text} could not be used: {options.out / 'rejects.jsonl'} says why.")
    for name, roles in made.left_out.items():
        models = " ".join(f"--model {role}=NAME" for role in roles)
        tell(f"{name} was left out: no model for role {', '.join(roles)}: add {models}.")
    _tell_waiting([row for row in made.funnel["undecided"] if row["status"] == WAITING], options)
    undecided = [row for row in made.funnel["undecided"] if row["status"] != WAITING]
    for row in undecided[:10]:
        tell("{id} in {stage}: {status}: {error}".format(**row))
    if undecided:
        rows = counted(len(undecided), "row")
        tell(f"{rows} undecided, listed in {options.out / 'funnel.json'}: run it again to resume.")
    if options.until is not None:
        tell(f"{options.out / 'made.html'} shows the items so far.")
    elif made.items:
        tell(f"{counted(len(made.items), 'item')} in {options.out}. What next:")
        tell(f"  open {options.out / 'made.html'} in a browser")
        tell(f"  {command('lint', options.out)}")
    else:
        tell(_nothing_left(made.funnel, options.out))
    return 1 if made.funnel["undecided"] or (options.until is None and not made.items) else 0


def _tell_waiting(waiting: Sequence[Mapping[str, Any]], options: argparse.Namespace) -> None:
    """Say how many rows people are to decide about, where, and how to go on."""
    from reelbench.make.pipeline.make import waiting_file

    if not waiting:
        return
    rows = "1 row waits" if len(waiting) == 1 else f"{len(waiting):,} rows wait"
    tell(f"{rows} for people: {command('review', options.out)}")
    for stage in dict.fromkeys(row["stage"] for row in waiting):
        error = next(row["error"] for row in waiting if row["stage"] == stage)
        where = waiting_file(options.out, stage)
        with where.open("rb") as lines:  # of one row, several items may wait
            count = counted(sum(1 for _ in lines), "item")
        tell(f"  {stage}: {count} in {where}; {error}")
    served = serving_words({"--model": options.model})
    tell(f"  Then resume: {command('make', options.recipe, *served, '--out', options.out)}")


def _nothing_left(funnel: Mapping[str, Any], out: Path) -> str:
    """Say why there is no item: rows were rejected, or nothing is known of them yet."""
    rejected = sum(each["rejected"] for each in (funnel["sources"], *funnel["stages"]))
    rejects = f"{out / 'rejects.jsonl'} says why"
    undecided = len(funnel["undecided"])
    if not undecided:
        return f"No item is left; {rejects}."
    if not rejected:
        return "No item is made yet: all rows are undecided."
    rows = "1 row is" if undecided == 1 else f"{undecided:,} rows are"
    return f"No item is made yet: {rows} undecided, and {rejects} of the others."


def _row(stage: Mapping[str, Any]) -> tuple[str, ...]:
    rate, interval = stage.get("rate"), stage.get("interval")
    return (
        stage["stage"],
        f"{stage['in']:,}",
        f"{stage['out']:,}",
        f"{stage['rejected']:,}",
        f"{stage['undecided']:,}",
        "" if rate is None else f"{percent(rate)}",
        "" if interval is None else f"{percent(interval[0])} to {percent(interval[1])}",
        "" if interval is None else f"{stage['videos']:,}",
    )
