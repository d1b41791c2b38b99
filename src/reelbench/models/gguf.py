"""Serve a GGUF model on this machine: the server of llama.cpp that is in xllamacpp.

It is a command for ``serve:`` in a card, and comes with the extra ``local``::

    serve: [python, -m, reelbench.models.gguf, "{folder}/model.gguf", --port, "{port}"]
"""

import argparse
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from reelbench.base.extras import install_command
from reelbench.base.workers import cores


def main(arguments: Sequence[str]) -> None:
    """Serve until a signal ends it."""
    parser = _parser()
    options = parser.parse_args(arguments)
    if not options.file.is_file():
        parser.error(f"there is no file {options.file}: name a GGUF model")
    try:
        import xllamacpp
    except ImportError:
        parser.error(f"xllamacpp is not installed: {install_command('local')}")
    parameters = xllamacpp.CommonParams()
    parameters.model.path, parameters.port = str(options.file), options.port
    parameters.model_alias = {options.name or options.file.stem}
    parameters.cpuparams.n_threads = options.threads
    parameters.n_parallel, parameters.n_ctx = options.slots, options.context * options.slots
    if options.memory is not None:
        parameters.cache_ram_mib = options.memory
    try:
        server = xllamacpp.Server(parameters)
    except RuntimeError:
        parser.error(f"llama.cpp cannot serve {options.file}: its own lines say why")
    sys.stdout.write(f"{server.listening_address}\n")
    sys.stdout.flush()
    with suppress(KeyboardInterrupt):
        threading.Event().wait()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m reelbench.models.gguf", description=__doc__.partition("\n")[0]
    )
    parser.add_argument("file", type=Path, help="GGUF file")
    parser.add_argument("--port", type=int, required=True, help="port of 127.0.0.1; 0 for any")
    parser.add_argument("--name", help="what the model is called (default: the file's)")
    parser.add_argument("--threads", type=int, default=cores(), help="default: all cores")
    parser.add_argument("--context", type=int, default=4096, help="tokens of prompt and reply")
    parser.add_argument("--slots", type=int, default=1, help="requests at the same time")
    parser.add_argument("--memory", type=int, help="MiB for prompts that are in no slot")
    return parser


if __name__ == "__main__":
    main(sys.argv[1:])
