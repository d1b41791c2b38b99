"""What everything rests on: errors, seeds, files, durable SQLite, caches, progress, workers."""
