"""Regular expressions that are compiled when they are first used.

The parser has more than a hundred, many with the words of ten languages: compiling all of them
takes as long as everything else that a command does before it starts. Plain replies need few.
"""

import re
from typing import Any, cast


def pattern(expression: str, flags: int = 0) -> re.Pattern[str]:
    """Return what ``re.compile`` returns, in effect; the work is done at the first use."""
    return cast("re.Pattern[str]", _LazyPattern(expression, flags))


class _LazyPattern:
    def __init__(self, expression: str, flags: int) -> None:
        self.pattern, self._flags = expression, flags

    def __getattr__(self, name: str) -> Any:
        """Look a method up in the compiled pattern, once: then it is this object's own."""
        method = getattr(re.compile(self.pattern, self._flags), name)
        setattr(self, name, method)
        return method
