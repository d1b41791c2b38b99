"""One self-contained HTML page from a run: it works offline, prints, and needs no server."""
