"""A dataset by its name on the hub, which a local server plays."""

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

from servers import Call, Reply, hosting, json_reply

COMMIT = "0123456789abcdef0123456789abcdef01234567"
ROWS = [
    {"video": "a.mp4", "question": f"What is {n}?", "options": ["red", "blue"], "answer": "B"}
    for n in range(3)
]
FILES = {"qa.json": json.dumps(ROWS).encode(), "README.md": b"---\npretty_name: Mine\n---\n"}


def hub(call: Call) -> Reply:
    path = call.path.partition("?")[0]
    if path.startswith("/api/datasets/me/mine/tree/"):
        entries = [
            {"type": "file", "path": name, "size": len(data), "oid": hashlib.sha1(data).hexdigest()}
            for name, data in FILES.items()
        ]
        return json_reply(entries)
    if path.startswith("/api/datasets/me/mine"):
        files = [{"rfilename": name, "size": len(data)} for name, data in FILES.items()]
        return json_reply({"id": "me/mine", "sha": COMMIT, "siblings": files})
    name = path.rpartition(f"/resolve/{COMMIT}/")[2]
    if path.startswith("/datasets/me/mine/resolve/") and name in FILES:
        etag = hashlib.sha1(FILES[name]).hexdigest()
        headers = {"ETag": f'"{etag}"', "X-Repo-Commit": COMMIT}
        return 200, headers, FILES[name]
    return json_reply({"error": "Repository not found"}, 404, X_Error_Code="RepoNotFound")


def run_import(*words: object, endpoint: str, cache: Path) -> subprocess.CompletedProcess[str]:
    own = {"HF_ENDPOINT": endpoint, "HF_HUB_OFFLINE": "0", "HF_HOME": str(cache / "hf"),
           "HF_HUB_DISABLE_XET": "1", "REELBENCH_CACHE": str(cache / "own")}  # fmt: skip
    command = [sys.executable, "-m", "reelbench", "import", *map(str, words)]
    return subprocess.run(
        command, env=os.environ | own, capture_output=True, text=True, check=False
    )


def test_a_dataset_is_fetched_by_name_only_when_asked_and_once(tmp_path: Path) -> None:
    with hosting(hub) as server:
        facts = {"endpoint": server.url, "cache": tmp_path}
        refused = run_import("hf://me/mine", "--out", tmp_path / "a", **facts)
        assert refused.returncode == 2
        assert "--download" in refused.stderr
        assert server.calls == []
        done = run_import("me/mine", "--out", tmp_path / "b", "--download", **facts)
        assert done.returncode == 0, done.stderr
        assert "2 files, 0.0 MB" in done.stderr
        assert len((tmp_path / "b" / "items.jsonl").read_text().splitlines()) == 3
        fetched = [path for path in server.paths() if "/resolve/" in path and "GET" in path]
        again = run_import("me/mine", "--out", tmp_path / "c", "--download", **facts)
        assert again.returncode == 0, again.stderr
        later = [path for path in server.paths() if "/resolve/" in path and "GET" in path]
        assert len(fetched) == len(later) == 2
        wrong = run_import("hf://me/other", "--out", tmp_path / "d", "--download", **facts)
        assert wrong.returncode == 2
        assert "me/other is no dataset of the hub" in wrong.stderr
        assert "Traceback" not in wrong.stderr
