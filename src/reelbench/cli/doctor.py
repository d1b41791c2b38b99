"""``reelbench doctor``."""

import argparse

from reelbench.cli.say import put, put_table


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.epilog = "examples:\n  reelbench doctor\n  reelbench doctor --json"
    parser.add_argument("--json", action="store_true", help="print the results as JSON")


def main(options: argparse.Namespace) -> int:
    """Examine this machine; exit with 1 if the core cannot work here."""
    from reelbench.base.doctor import examine
    from reelbench.base.files import pretty_json

    checks = examine()
    if options.json:
        put(pretty_json([check.to_record() for check in checks]).rstrip("\n"))
    else:
        rows = [(check.word, check.name, check.found, check.advice) for check in checks]
        put_table(("", "what", "found", "how to get it"), rows)
    return 1 if any(check.needed and not check.present for check in checks) else 0
