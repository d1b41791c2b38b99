"""Keep keys out of whatever is written, whoever repeats them, in whatever spelling."""

import base64
import os
import re
from collections.abc import Mapping
from functools import lru_cache

LONG = 12  # characters: what is shorter, such as "none" or "EMPTY", is no secret and may be a word
MASK = "***"
_NAMED = re.compile(r"(KEY|TOKEN|SECRET|PASSWORD)$")
_remembered: set[str] = set()


def remember_secret(value: str) -> None:
    """Keep a value out of all texts from now on, whatever the variable is called that held it."""
    if len(value) >= LONG:
        _remembered.add(value)


def remember_secrets_in(environment: Mapping[str, str]) -> None:
    """Keep the values of variables out of all texts whose names say that they are secret."""
    for name, value in environment.items():
        if _NAMED.search(name):
            remember_secret(value.strip())


def redacted(text: str) -> str:
    """Return a text without keys: those of the environment, and those that were remembered."""
    values = {value.strip() for name, value in os.environ.items() if _NAMED.search(name)}
    secrets = _remembered | {value for value in values if len(value) >= LONG}
    for secret in sorted(secrets, key=len, reverse=True):
        text = _spellings(secret).sub(MASK, text)
    return text


@lru_cache(maxsize=64)
def _spellings(secret: str) -> re.Pattern[str]:
    """Match a secret as it is, escaped, with blanks within, and as base64 or hexadecimal digits."""
    plain = _BETWEEN.join(map(_spelled, secret))
    data = secret.encode()
    coded = [*_in_base64(data), data.hex()]
    spaced = (r"\s*".join(map(re.escape, form)) for form in coded)
    urlsafe = [form.replace(r"\+", r"[+\-]").replace("/", "[/_]") for form in spaced]
    return re.compile("|".join([plain, *urlsafe]), re.IGNORECASE)


# Blanks, also those that nobody sees, and line ends as JSON spells them. Every repetition here has
# a bound, so that the time is linear whatever a server says.
_SLASHES, _PERCENT, _ZEROS = r"\\{1,8}", r"%(?:25){0,4}", "0{0,6}"
_BETWEEN = (
    rf"(?:[\s\u00ad\u200b-\u200d\u2060\ufeff]|{_SLASHES}[nrt]|{_PERCENT}(?:20|0a|0d)){{0,8}}+"
)


def _spelled(character: str) -> str:
    """Match one character in the spellings of JSON, of addresses and of HTML."""
    number, plain = ord(character), re.escape(character)
    forms = [plain, _SLASHES + plain]
    forms += ["".join(f"{_PERCENT}{byte:02x}" for byte in character.encode())]
    forms += [rf"{_SLASHES}u\{{?{_ZEROS}{number:x}\}}?", rf"{_SLASHES}x{number:02x}"]
    forms += [rf"&(?:amp;){{0,4}}#(?:x{_ZEROS}{number:x}|{_ZEROS}{number});"]
    return f"(?:{'|'.join(forms)})"


def _in_base64(data: bytes) -> list[str]:
    """Return what base64 makes of data, wherever it begins among other bytes: the certain part."""
    forms = []
    for before in range(3):
        shifted = base64.b64encode(bytes(before) + data).decode()
        first = (0, 2, 3)[before]  # characters that the bytes before have a part in
        after = (len(data) + before) % 3  # of the last group, which what follows changes
        end = len(shifted) - (4 if after else 0)
        forms.append(shifted[first:end])
    return forms
