"""The demo: a benchmark whose answers are facts, made from videos that we render ourselves."""
