"""Ctrl-C or SIGTERM: the first finishes the requests in flight, the second ends at once."""

import asyncio
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from reelbench.base.progress import note
from reelbench.client.client import Client
from reelbench.media.decode import isolated


@contextmanager
def draining(client: Client) -> Iterator[None]:
    """Finish the requests in flight after a first Ctrl-C or SIGTERM; end at once after a second.

    Within another one for the same client, or beside the main thread, it does nothing.
    """
    if client.draining or threading.current_thread() is not threading.main_thread():
        yield
        return
    client.draining = True
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    assert task is not None

    def interrupted() -> None:
        if client.stopping.is_set():
            task.cancel()
            isolated.close()  # or the end would wait for what is being decoded
        else:
            note("Finishing what is under way; Ctrl-C again ends at once.")
        client.stop()

    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    for number in before:
        loop.add_signal_handler(number, interrupted)
    try:
        yield
    except asyncio.CancelledError:
        raise KeyboardInterrupt from None
    finally:
        client.draining = False
        for number, handler in before.items():
            loop.remove_signal_handler(number)
            signal.signal(number, handler)


def first_of(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """Return the first error in the group that tasks raised."""
    error: BaseException = group
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
