"""A key that a server repeats lands in no file, however it is spelt."""

import base64
import json
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from servers import completion, serving
from support import blind_benchmark, make_item, run_here

from reelbench.models.secrets import redacted

SECRET = 'sk-pr"oj/A+b&7<z\\Q_never=seen.09é'
PLAIN = "sk-proj-neverseen-A7zQ0987654321"


def spellings(secret: str) -> dict[str, str]:
    data = secret.encode()
    return {
        "as it is": secret,
        "JSON": json.dumps(secret)[1:-1],
        "JSON in JSON": json.dumps(json.dumps(secret))[1:-1],
        "all of JSON": "".join(f"\\u{ord(letter):04x}" for letter in secret),
        "JSON, large": "".join(f"\\u{ord(letter):04X}" for letter in secret),
        "slashes": secret.replace("/", "\\/"),
        "address": quote(secret, safe=""),
        "address twice": quote(quote(secret, safe=""), safe=""),
        "all of an address": "".join(f"%{byte:02X}" for byte in data),
        "HTML": "".join(f"&#{ord(letter)};" for letter in secret),
        "HTML, x": "".join(f"&#x{ord(letter):x};" for letter in secret),
        "base64": base64.b64encode(data).decode(),
        "base64 of a header": base64.b64encode(b"Bearer " + data).decode(),
        "base64 of a pair": base64.b64encode(b"me:" + data + b":").decode(),
        "base64 in addresses": base64.urlsafe_b64encode(b"x" + data).decode(),
        "hexadecimal": data.hex(),
        "blanks": " ".join(secret),
        "no width": "\u200b".join(secret),
        "lines": "\n".join([secret[:7], secret[7:15], secret[15:]]),
        "large": secret.upper(),
    }


@pytest.mark.parametrize("secret", [SECRET, PLAIN], ids=["odd", "plain"])
def test_every_spelling_is_masked(monkeypatch: pytest.MonkeyPatch, secret: str) -> None:
    monkeypatch.setenv("SOME_API_KEY", secret)
    for name, spelt in spellings(secret).items():
        masked = redacted(f"before {spelt} after")
        assert masked.startswith("before "), name
        assert "***" in masked, name
        left = masked.removeprefix("before ").removesuffix(" after").replace("***", "")
        assert len(left) <= 16, (name, left)  # of base64, what surrounds it


def test_what_is_no_key_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", PLAIN)
    for text in (
        "The answer is B.",
        PLAIN[:-1],
        "sk-proj- is how their keys begin",
        json.dumps({"answer": "é\n\\u0041 100% of it &amp; more"}),
    ):
        assert redacted(text) == text


def test_time_is_linear(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "a" * 40)
    for text in ("a " * 20_000 + "b", " " * 50_000, "\\" * 20_000, "%25" * 20_000):
        redacted(text)


def test_no_spelling_reaches_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """In replies and in errors, of a variable whose name does not say that it holds a key."""
    monkeypatch.setenv("MY_OWN", PLAIN)
    forms = list(spellings(PLAIN).values())
    count = 2 * len(forms)
    items = [make_item(n, media=make_item(1).media, question=f"Why {n}?") for n in range(count)]
    blind_benchmark(tmp_path / "b", *items, modalities="T")

    def echo(_: dict[str, Any], number: int) -> Any:
        form = forms[number // 2 % len(forms)]
        if number % 2:
            return completion(f"B. Your key is {form}")
        return 400, {}, f'{{"error": "{"x" * 280} wrong key {form}"}}'.encode()

    with serving(echo) as server:
        card = {"name": "m", "endpoint": server.url, "key": "MY_OWN", "retries": 0}
        (tmp_path / "m.yaml").write_text(json.dumps(card | {"connections": 1}))
        words = ["run", tmp_path / "b", "--model", tmp_path / "m.yaml", "--out", tmp_path / "r"]
        assert run_here(*words) == 1
    said = "".join(capsys.readouterr())
    files = [path for path in (tmp_path / "r").rglob("*") if path.is_file()]
    for text in (said, *(path.read_bytes().decode("utf-8", "replace") for path in files)):
        for form in forms:
            for written in (form, json.dumps(form)[1:-1]):
                assert written not in text
        assert PLAIN[:20] not in text  # nor was one cut off before it was masked
