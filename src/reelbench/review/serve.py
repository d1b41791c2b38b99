"""Start the server of a review: its folder, its database, the links to print."""

import fcntl
import getpass
import secrets
import socket
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import uvicorn

from reelbench.base.errors import ReelbenchError
from reelbench.base.files import write_atomically
from reelbench.data.benchmark import MANIFEST_FILE
from reelbench.data.manifest import read_manifest
from reelbench.make.pipeline.folder import read_make
from reelbench.make.pipeline.make import waiting_file
from reelbench.review.database import DATABASE_FILE, FOLDER, ReviewDatabase, sqlite_url
from reelbench.review.people import Accounts
from reelbench.review.protocol import (
    PAGES,
    ReviewProtocol,
    built_in_protocols,
    find_protocol,
    read_protocol,
)
from reelbench.review.review import Review
from reelbench.review.strings import strings_in
from reelbench.review.web.app import AppContext, create_app

LOCK = "server.lock"  # in the folder of a review: held by the server, and says where that is


@dataclass(frozen=True, slots=True)
class ServeOptions:
    """Where and how a review is served."""

    host: str = "127.0.0.1"
    port: int = 8770
    database: str = ""  # an address; empty: SQLite in the folder
    protocols: tuple[str, ...] = ()
    local: bool = False
    language: str = "en"
    public_url: str = ""  # where people find the pages, if something stands in front of the server

    @property
    def address(self) -> str:
        """Where people find the pages."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return self.public_url or f"http://{host}:{self.port}"


@contextmanager
def opened_review(root: Path, options: ServeOptions) -> Iterator[tuple[Review, Accounts, str]]:
    """Open the review of a benchmark's folder for this process alone; yield it with its title."""
    if not root.is_dir():
        raise ReelbenchError(f"{root} is not a folder: name the folder of a benchmark.")
    folder = root / FOLDER
    try:
        folder.mkdir(exist_ok=True)
        (folder / LOCK).touch()
        protocols = install_protocols(root, options.protocols)
    except OSError as error:
        raise ReelbenchError(
            f"{folder} cannot be written ({error.strerror}), and what people do is kept there: "
            "make it writable, or copy the benchmark to where you may write."
        ) from None
    title, fixed_last = _facts(root)
    with _alone(folder, options):
        url = options.database or sqlite_url(folder / DATABASE_FILE)
        database = ReviewDatabase(url)
        try:
            database.create(_identity(root))
            review = Review(root, protocols, database, fixed_last)
            review.catch_up()
            yield review, Accounts(database), title
        finally:
            database.close()


def _identity(root: Path) -> str:
    """Return what a review is known by for good: titles change, also by what it leads to."""
    path = root / FOLDER / "identity"
    if not path.exists():
        write_atomically(path, f"{root.resolve().name} {secrets.token_hex(8)}\n")
    return path.read_text("utf-8").strip()


def install_protocols(root: Path, names: Sequence[str]) -> list[ReviewProtocol]:
    """Copy protocols into the folder of a review, and return all that are there.

    Without names, and with none there, the recipe's are taken, or else the general ones.
    """
    folder = root / FOLDER
    if not names and not any(folder.glob("*.yaml")):
        names = default_protocols(root)
    for name in names:
        path = find_protocol(name)
        read_protocol(path)
        if not (folder / path.name).exists():
            write_atomically(folder / path.name, _fitted(root, path))
    return [read_protocol(path) for path in sorted(folder.glob("*.yaml"))]


def default_protocols(root: Path) -> list[str]:
    """Return the names of the protocols for a folder: those of its recipe, or the general ones.

    A recipe's begin with its name, as ``humanvbench-verify`` does.
    """
    made = read_make(root)
    recipe = str(made["recipe"]).replace("_", "-") if made else ""
    own = [name for name in built_in_protocols() if recipe and name.startswith(f"{recipe}-")]
    return own or list(PAGES)


def _fitted(root: Path, path: Path) -> str:
    """Let a queue be about the benchmark's items too, where no recipe has made candidates.

    One that is for a stage of the recipe stays empty until something waits there.
    """
    text = path.read_text("utf-8")
    waits = any(root.glob(str(waiting_file(Path(), "*"))))
    to_come = read_protocol(path).stage and read_make(root)
    return text if waits or to_come else text.replace("items: candidates", "items: all")


def _facts(root: Path) -> tuple[str, tuple[str, ...]]:
    """Return what a benchmark is called, and which options stay last."""
    manifest, _ = read_manifest(root / MANIFEST_FILE)
    if manifest is None:
        return root.resolve().name, ("None of the above",)
    return manifest.title or manifest.name, manifest.protocol.fixed_last


@contextmanager
def _alone(folder: Path, options: ServeOptions) -> Iterator[None]:
    """Keep the folder for this server; a second one is told where the first is."""
    with (folder / LOCK).open("a+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            file.seek(0)
            where = file.read().strip() or "another process"
            raise ReelbenchError(
                f"{folder.parent} is already being reviewed, at {where}: open that page, or stop "
                "the server there first."
            ) from None
        file.truncate(0)
        file.write(f"{options.address}\n")
        file.flush()
        yield


def link_for(context: AppContext, options: ServeOptions) -> str:
    """Return the link to print: it lets in who may see this terminal, as an organiser."""
    address, accounts = options.address, context.accounts
    if options.local:
        token = secrets.token_urlsafe(24)
        context.entries[token] = getpass.getuser()
        return f"{address}/enter/{token}"
    if any(person.may("organiser") for person in accounts.people()):
        return f"{address}/"
    return f"{address}/join/{accounts.invite('organiser', 'the terminal')}"


def queues_of_several(review: Review) -> list[str]:
    """Return the names of queues in which one person alone settles nothing."""
    several = (each for each in review.queues.values() if each.protocol.page == "verify")
    return [each.name for each in several if each.protocol.reviewers > 1]


def context_for(
    review: Review, accounts: Accounts, title: str, options: ServeOptions
) -> AppContext:
    """Return what the application of a review is made with."""
    strings = strings_in(options.language)
    return AppContext(review, accounts, title, strings, address=options.address)


def serve(context: AppContext, options: ServeOptions, listener: socket.socket) -> None:
    """Answer requests until Ctrl-C."""
    app = create_app(context, _hosts(options))
    config = uvicorn.Config(
        app,
        log_level="warning",
        server_header=False,
        ws="none",
        # Who a request is from, and how it came, only a proxy that was announced may say.
        proxy_headers=bool(options.public_url),
    )
    uvicorn.Server(config).run(sockets=[listener])


def _hosts(options: ServeOptions) -> tuple[str, ...]:
    """Return the names under which requests are answered; none: under all."""
    own = tuple(f"{name}:{options.port}" for name in ("127.0.0.1", "localhost", "[::1]"))
    if options.public_url:
        return urlsplit(options.public_url).netloc, *own
    return own if options.host in ("127.0.0.1", "localhost", "::1") else ()


def checked_public_url(url: str) -> str:
    """Return an address without its last slash; refuse what is none, or has a path."""
    parts = urlsplit(url)
    if url and (parts.scheme not in ("http", "https") or not parts.netloc or parts.path.strip("/")):
        raise ReelbenchError(
            f"--public-url {url!r}: give the address that people type, without a path, such as "
            "https://review.example.org."
        )
    return url.rstrip("/")


def listening(host: str, wanted: int) -> socket.socket:
    """Return a socket that listens, on the wanted port where it is free; callers wait in line."""
    for port in (wanted, 0):
        with suppress(OSError):
            return socket.create_server((host, port), backlog=512)
    raise ReelbenchError(f"No port of {host} can be listened on: name another --host.")
