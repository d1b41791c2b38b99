"""Detect a server that never answers: report it early, then stop asking it.

A wrong address, key or name fails for every question. Without this, each of them would be tried
again and again, for minutes, without any message.
"""

from urllib.parse import urlsplit, urlunsplit

from reelbench.base.progress import announce, counted

_EARLY = 3  # failed calls in a row: then it is said
_MOST_CALLS = 10  # failed calls to a server that cannot be reached, and
_LATE = 3  # tries of one question among them: then it is asked no more
_MOST_QUESTIONS = 10  # that failed in the end, for whatever reason: then the same


class Reachability:
    """Counts the failed calls to one model's server in this process."""

    def __init__(self, name: str, advice: str = "") -> None:
        self._name, self._advice = name, advice
        self._has_answered = False
        self._calls = self._questions = 0  # that failed since the last answer
        self._announce_at = _EARLY
        self.given_up = ""  # why the server is not asked any more; empty while it is

    def answered(self) -> None:
        """Record an answer, or any reaction that shows that requests are read."""
        self._has_answered = True
        self._calls = self._questions = 0

    def failed(self, address: str, error: str, attempt: int, reached: bool, final: bool) -> None:
        """Record a failed call: its number of tries, and whether the server was reached."""
        self._calls += 1
        self._questions += final
        if self.given_up:
            return
        unreachable = not reached and self._calls >= _MOST_CALLS and attempt + 1 >= _LATE
        if not self._has_answered and (unreachable or self._questions >= _MOST_QUESTIONS):
            self._give_up(address, error)
        elif (self._questions if self._has_answered else self._calls) >= self._announce_at:
            self._report(error, address)

    def _report(self, error: str, address: str) -> None:
        failed = (
            counted(self._questions, "question")
            if self._has_answered
            else counted(self._calls, "call")
        )
        where = "" if address in error else f" at {address}"
        announce(f"{self._name}: {failed} in a row failed, the last{where}: {error}")
        self._announce_at *= 10  # or a server that comes and goes would be reported each time

    def _give_up(self, address: str, error: str) -> None:
        self.given_up = f"not asked: {address} did not answer any call ({error})"
        announce(
            f"{self._name} is asked no more: {address} answered none of "
            f"{counted(self._calls, 'call')}; the last error: {error}.\n{self._advice}"
            "Other models go on. Run the same command again to ask what has no answer yet."
        )


def shown_address(url: str) -> str:
    """Return an address as it may be shown: without a password or anything behind a ?."""
    parts = urlsplit(url)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))
