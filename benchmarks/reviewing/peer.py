"""The least that could keep an action: a bare FastAPI endpoint that adds one row, and waits for the
disk. No accounts, no checks, no queue. Run: python -m reviewing.peer PORT DATABASE"""

import sqlite3
import sys
import threading
from typing import Any

import msgspec
import uvicorn
from fastapi import FastAPI, Request
from starlette.concurrency import run_in_threadpool

app = FastAPI()
lock = threading.Lock()
connection: Any = None
TABLE = "CREATE TABLE IF NOT EXISTS saved (id TEXT PRIMARY KEY, body TEXT)"


@app.post("/save")
async def save(request: Request) -> dict[str, bool]:
    """Keep the body of a request."""
    body = msgspec.json.decode(await request.body())
    await run_in_threadpool(keep, body)
    return {"saved": True}


def keep(body: dict[str, Any]) -> None:
    """Add one row, one writer at a time."""
    mark = "?" if isinstance(connection, sqlite3.Connection) else "%s"
    with lock:
        cursor = connection.cursor()
        values = body["id"], msgspec.json.encode(body).decode()
        cursor.execute(f"INSERT INTO saved VALUES ({mark}, {mark})", values)
        connection.commit()


def main() -> None:
    """Serve until stopped."""
    global connection
    port, database = int(sys.argv[1]), sys.argv[2]
    if database.startswith("postgresql"):
        import pg8000.dbapi  # type: ignore[import-untyped]
        from sqlalchemy import make_url

        url = make_url(database)
        connection = pg8000.dbapi.connect(
            str(url.username), str(url.host), str(url.database), int(url.port or 5432)
        )
    else:
        connection = sqlite3.connect(database, check_same_thread=False)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
    connection.cursor().execute(TABLE)
    connection.commit()
    uvicorn.run(app, port=port, log_level="warning")


if __name__ == "__main__":
    main()
