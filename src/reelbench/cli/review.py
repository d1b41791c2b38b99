"""``reelbench review``."""

import argparse
import sys
from pathlib import Path

from reelbench.base.errors import ReelbenchError
from reelbench.base.extras import install_command
from reelbench.cli.say import put_table, tell


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.epilog = (
        "examples:\n"
        "  reelbench review my-benchmark\n"
        "  reelbench review my-benchmark --local\n"
        "  reelbench review my-benchmark --protocol humanvbench-verify --host 0.0.0.0\n"
        "  reelbench review my-benchmark --database postgresql://ann:secret@localhost/review"
    )
    parser.add_argument(
        "benchmark", type=Path, nargs="?", help="the folder of a benchmark, or of a make"
    )
    parser.add_argument(
        "--protocol",
        action="append",
        default=[],
        metavar="NAME",
        help="what people do: a built-in protocol or a YAML file; may come several times",
    )
    parser.add_argument(
        "--list-protocols", action="store_true", help="print the built-in protocols and stop"
    )
    parser.add_argument("--database", default="", metavar="URL", help="PostgreSQL for teams")
    parser.add_argument("--host", default="127.0.0.1", help="the address to listen on")
    parser.add_argument("--port", type=int, default=8770, help="the port to listen on")
    parser.add_argument(
        "--local", action="store_true", help="one person on this machine, without accounts"
    )
    parser.add_argument(
        "--language", default="en", help="of the pages: en, or a JSON file with translated texts"
    )
    parser.add_argument("--no-browser", action="store_true", help="only print the link")


def main(options: argparse.Namespace) -> int:
    """Serve the pages until Ctrl-C."""
    import webbrowser

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
    if options.local and options.host not in ("127.0.0.1", "localhost"):
        raise ReelbenchError("--local is for this machine alone: leave --host out.")
    with serve.listening(options.host, options.port) as listener:
        port = listener.getsockname()[1]
        if options.port not in (0, port):
            tell(f"Port {options.port} is in use: this is on {port}.")
        chosen = serve.ServeOptions(
            options.host, port, options.database, tuple(options.protocol), options.local,
            options.language,
        )  # fmt: skip
        with serve.opened_review(options.benchmark, chosen) as (review, accounts, title):
            context = serve.context_for(review, accounts, title, options.language)
            link = serve.link_for(context, chosen)
            tell(f"Review of {title}: {link}\nStop it with Ctrl-C.")
            if not options.no_browser and sys.stderr.isatty():
                webbrowser.open(link)
            serve.serve(context, chosen, listener)
    return 0


def _put_protocols() -> None:
    """Write a row per built-in protocol."""
    from reelbench.review.protocol import built_in_protocols, read_protocol

    protocols = [read_protocol(path) for path in built_in_protocols().values()]
    put_table(("protocol", "page", "title"), [(p.name, p.page, p.title) for p in protocols])
