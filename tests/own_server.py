"""A model server as a program, for cards that start one: python own_server.py PORT FOLDER [WORD ...].

Words say how it misbehaves. It notes its process, that of a child which left its session, and each
question, in files of the folder.
"""

import json
import os
import signal
import subprocess
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path


class Handler(BaseHTTPRequestHandler):
    """Answers as an OpenAI-compatible server does."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    looks = 0

    def do_GET(self) -> None:
        """Tell health and models."""
        Handler.looks += 1
        if self.path == "/health":
            slow = "slow" in WORDS and Handler.looks < 4
            sick = "sick" in WORDS or (FOLDER / "sick").exists()
            self.reply({}, 503 if slow or sick else 404 if "plain" in WORDS else 200)
        else:
            self.reply({"data": [{"id": "m"}]}, 200 if self.path == "/v1/models" else 404)

    def do_POST(self) -> None:
        """Answer A, or break down."""
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with (FOLDER / "asked").open("a") as file:
            file.write(json.dumps([os.getpid(), body["model"], dict(self.headers)]) + "\n")
        count = len((FOLDER / "asked").read_text().splitlines())
        if "crash-always" in WORDS or ("crash" in WORDS and count == 3):
            print("CUDA error: an illegal memory access", flush=True)
            os.kill(os.getpid(), signal.SIGKILL)
        if "hang" in WORDS:
            time.sleep(60)
        message = {"role": "assistant", "content": "A"}
        self.reply({"choices": [{"message": message, "finish_reason": "stop"}]}, 200)

    def reply(self, body: object, status: int) -> None:
        """Send JSON."""
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        """Be silent."""


if __name__ == "__main__":
    PORT, FOLDER, WORDS = int(sys.argv[1]), Path(sys.argv[2]), sys.argv[3:]
    print("\x1b[31mloading weights\x1b[0m 10%\rloading weights 90%", flush=True)
    if "broken" in WORDS:
        sys.exit("ValueError: no such weights, and the token is " + os.environ["HUB_TOKEN"])
    taken = "taken-once" in WORDS or ("taken-later" in WORDS and (FOLDER / "started").exists())
    if taken and not (FOLDER / "tried").exists():
        (FOLDER / "tried").touch()
        sys.exit("OSError: [Errno 98] Address already in use")
    if "deaf" in WORDS:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    command = ["sleep", "1000"]
    if "lingers" in WORDS:  # what it started takes its time to end
        command = ["sh", "-c", "trap 'sleep 0.5; exit' TERM; sleep 1000 & wait"]
    child = subprocess.Popen(command, start_new_session=True)
    with (FOLDER / "started").open("a") as file:
        file.write(f"{os.getpid()} {child.pid}\n")
    ThreadingHTTPServer.daemon_threads = True
    ThreadingHTTPServer(("127.0.0.1", PORT), Handler).serve_forever(0.05)
