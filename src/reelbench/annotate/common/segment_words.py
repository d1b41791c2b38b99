"""The words of a transcript's segments, with their times."""

from reelbench.annotate.operator import Value


def segment_words(segment: Value) -> list[Value]:
    """Return the words of a segment; those of a line without their times are spread over it."""
    if segment["words"]:
        return [{key: word[key] for key in ("start", "end", "word")} for word in segment["words"]]
    texts = segment["text"].split()
    step = (segment["end"] - segment["start"]) / max(1, len(texts))
    return [
        {
            "start": round(segment["start"] + number * step, 4),
            "end": round(segment["start"] + (number + 1) * step, 4),
            "word": text,
        }
        for number, text in enumerate(texts)
    ]
