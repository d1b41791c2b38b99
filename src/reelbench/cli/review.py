"""``reelbench review``."""

import argparse
import sys
from pathlib import Path
from types import ModuleType

from reelbench.base.errors import ReelbenchError
from reelbench.base.extras import install_command
from reelbench.cli.say import put, put_table, tell


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.epilog = (
        "examples:\n"
        "  reelbench review my-benchmark\n"
        "  reelbench review my-benchmark --local\n"
        "  reelbench review my-benchmark --protocol humanvbench-verify --host 0.0.0.0\n"
        "  reelbench review my-benchmark --database postgresql://ann:secret@localhost/review\n"
        "  reelbench review my-benchmark --export decided\n"
        "  reelbench review my-benchmark --export tasks --format label-studio\n"
        "  reelbench review my-benchmark --import candidates.jsonl"
    )
    parser.add_argument(
        "benchmark",
        type=Path,
        nargs="?",
        help="benchmark folder, or the output folder of `reelbench make`",
    )
    parser.add_argument(
        "--protocol",
        action="append",
        default=[],
        metavar="NAME",
        help="review protocol: a built-in one (--list-protocols) or a YAML file; repeatable",
    )
    parser.add_argument("--list-protocols", action="store_true", help="list the built-in protocols")
    parser.add_argument(
        "--database",
        default="",
        metavar="URL",
        help="PostgreSQL database, for teams (default: a file in the folder)",
    )
    parser.add_argument("--host", default="127.0.0.1", help="the address to listen on")
    parser.add_argument(
        "--public-url",
        default="",
        metavar="URL",
        help="public address, if the app runs behind a proxy such as nginx (docs/deploy.md)",
    )
    parser.add_argument("--port", type=int, default=8770, help="the port to listen on")
    parser.add_argument(
        "--local", action="store_true", help="single user on this machine, without accounts"
    )
    parser.add_argument(
        "--language",
        default="en",
        help="language of the pages: en, or a JSON file with translations",
    )
    parser.add_argument("--no-browser", action="store_true", help="print the link, open no browser")
    parser.add_argument(
        "--export",
        type=Path,
        metavar="FOLDER",
        help="export decisions, answers and ratings to this folder instead of serving; safe while "
        "a server runs",
    )
    parser.add_argument(
        "--format",
        choices=("files", "label-studio"),
        default="files",
        help="format of --export: Reelbench files, or Label Studio tasks",
    )
    parser.add_argument(
        "--import",
        dest="bring",
        type=Path,
        metavar="FILE",
        help="import candidate items (JSONL) or Label Studio annotations (JSON)",
    )


def main(options: argparse.Namespace) -> int:
    """Serve the pages until Ctrl-C; or write or take in files."""
    try:
        from reelbench.review import serve
    except ModuleNotFoundError as error:
        raise ReelbenchError(
            f"reelbench review needs {error.name}: {install_command('web')}"
        ) from None
    if options.list_protocols:
        _put_protocols()
        return 0
    if options.benchmark is None:
        raise ReelbenchError("Name the folder of a benchmark: reelbench review FOLDER.")
    if options.export and options.bring:
        raise ReelbenchError("--import and --export cannot be used together: name one of them.")
    if options.export:
        return _export(options)
    if options.bring:
        return _import(options)
    return _serve(options, serve)


def _export(options: argparse.Namespace) -> int:
    from reelbench.review.exchange import write_label_studio
    from reelbench.review.export import reading_review, write_export

    if not options.benchmark.is_dir():
        raise ReelbenchError(f"{options.benchmark} is not a folder: name that of a benchmark.")
    write = write_label_studio if options.format == "label-studio" else write_export
    with reading_review(options.benchmark, options.database) as review:
        for path in write(review, options.export):
            put(str(path))
    return 0


def _import(options: argparse.Namespace) -> int:
    from reelbench.review.exchange import import_file
    from reelbench.review.serve import ServeOptions, opened_review

    if not options.bring.is_file():
        raise ReelbenchError(f"{options.bring} is not a file: name a JSONL file of items, or JSON.")
    chosen = ServeOptions(database=options.database, protocols=tuple(options.protocol))
    with opened_review(options.benchmark, chosen) as (review, *_):
        report = import_file(review, options.bring)
    for problem in report.problems:
        tell(problem)
    counts = ", ".join(f"{number:,} {name}" for name, number in sorted(report.taken.items()))
    tell(f"Imported: {counts or 'nothing'}.")
    return 1 if report.problems else 0


def _serve(options: argparse.Namespace, serve: ModuleType) -> int:
    import webbrowser

    from reelbench.base.progress import without_progress

    if options.local and options.host not in ("127.0.0.1", "localhost"):
        raise ReelbenchError("--local is for this machine alone: leave --host out.")
    with serve.listening(options.host, options.port) as listener:
        port = listener.getsockname()[1]
        if options.port not in (0, port):
            tell(f"Port {options.port} is in use: this is on {port}.")
        chosen = serve.ServeOptions(
            options.host, port, options.database, tuple(options.protocol), options.local,
            options.language, serve.checked_public_url(options.public_url),
        )  # fmt: skip
        with serve.opened_review(options.benchmark, chosen) as (review, accounts, title):
            context = serve.context_for(review, accounts, title, chosen)
            link = serve.link_for(context, chosen)
            tell(f"Review of {title}: {link}\nStop it with Ctrl-C.")
            if options.local and (queues := serve.queues_of_several(review)):
                files = " and ".join(f"{name}.yaml" for name in queues)
                tell(
                    "Some queues need several reviewers to agree. To decide alone, set "
                    f"`reviewers: 1` in {files} in {options.benchmark / 'review'}."
                )
            if not options.no_browser and sys.stderr.isatty():
                webbrowser.open(link)
            with without_progress():
                serve.serve(context, chosen, listener)
    return 0


def _put_protocols() -> None:
    """Write a row per built-in protocol."""
    from reelbench.review.protocol import built_in_protocols, read_protocol

    protocols = [read_protocol(path) for path in built_in_protocols().values()]
    put_table(("protocol", "page", "title"), [(p.name, p.page, p.title) for p in protocols])
