"""Whether a server answers at all: said early where it does not, and then it is asked no more.

A wrong address, key or name fails for every question. Without this, each of them would be tried
again and again, for minutes and without a word.
"""

from urllib.parse import urlsplit, urlunsplit

from reelbench.base.progress import announce, counted

_EARLY = 3  # failed calls in a row: then it is said
_MOST_CALLS = 10  # failed calls to a server that cannot be reached, and
_LATE = 3  # tries of one question among them: then it is asked no more
_MOST_QUESTIONS = 10  # that failed in the end, for whatever reason: then the same


class Reachability:
    """What is known of one model's server since this process began."""

    def __init__(self, name: str, advice: str = "") -> None:
        self._name, self._advice = name, advice
        self._has_answered = False
        self._calls = self._questions = 0  # that failed since the last answer
        self._announce_at = _EARLY
        self.given_up = ""  # why nothing more is asked; empty while there is hope

    def answered(self) -> None:
        """Note an answer, or any word that shows that questions are read."""
        self._has_answered = True
        self._calls = self._questions = 0

    def failed(self, address: str, error: str, attempt: int, reached: bool, final: bool) -> None:
        """Note a call that failed: at which try, whether anybody was there, and for good."""
        self._calls += 1
        self._questions += final
        if self.given_up:
            return
        unreachable = not reached and self._calls >= _MOST_CALLS and attempt + 1 >= _LATE
        if not self._has_answered and (unreachable or self._questions >= _MOST_QUESTIONS):
            self._give_up(address, error)
        elif (self._questions if self._has_answered else self._calls) >= self._announce_at:
            self._say(error, address)

    def _say(self, error: str, address: str) -> None:
        failed = (
            counted(self._questions, "question")
            if self._has_answered
            else counted(self._calls, "call")
        )
        announce(f"{self._name}: {failed} in a row failed, the last at {address}: {error}")
        self._announce_at *= 10  # a server that comes and goes is not told of each time

    def _give_up(self, address: str, error: str) -> None:
        self.given_up = f"not asked: {address} has not answered once ({error})"
        announce(
            f"{self._name} is asked no more: {address} has not answered once in "
            f"{counted(self._calls, 'call')}; the last ended with: {error}.\n{self._advice}"
            "Other models go on. The same command asks again what has no answer."
        )


def shown_address(url: str) -> str:
    """Return an address as it may be shown: without a password or anything behind a ?."""
    parts = urlsplit(url)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))
