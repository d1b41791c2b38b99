"""Write a tiny model as llama.cpp reads it (GGUF 3): a tokenizer of bytes, and it always says A."""

import struct
from pathlib import Path
from typing import Any

import numpy as np

SPECIAL = ["<unk>", "<s>", "</s>"]
TOKENS = [*SPECIAL, *(f"<0x{code:02X}>" for code in range(256))]
UNKNOWN, CONTROL, BYTE = 2, 3, 6  # kinds of tokens
U32, I32, F32, TEXT, LIST = 4, 5, 6, 8, 9  # types of values
ALIGNMENT = 32


def make_gguf(path: Path, width: int = 32, layers: int = 1, context: int = 2048) -> None:
    """Write the model; a wider and deeper one takes longer to say the same."""
    tensors = _tensors(width, layers)
    facts = _facts(width, layers, context)
    head = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(facts))
    head += b"".join(_text(name) + struct.pack("<I", kind) + data for name, kind, data in facts)
    offset, body = 0, b""
    for name, values in tensors.items():
        shape = values.shape[::-1]
        head += _text(name) + struct.pack(f"<I{len(shape)}Q", len(shape), *shape)
        head += struct.pack("<IQ", 0, offset)
        body += _padded(values.astype("<f4").tobytes())
        offset = len(body)
    path.write_bytes(_padded(head) + body)


def _facts(width: int, layers: int, context: int) -> list[tuple[str, int, bytes]]:
    numbers = {
        "context_length": context,
        "embedding_length": width,
        "block_count": layers,
        "feed_forward_length": width,
        "attention.head_count": 2,
        "attention.head_count_kv": 2,
        "rope.dimension_count": width // 2,
        "vocab_size": len(TOKENS),
    }
    kinds = [UNKNOWN, CONTROL, CONTROL, *[BYTE] * 256]
    return [
        ("general.architecture", TEXT, _text("llama")),
        ("general.name", TEXT, _text("tiny")),
        *((f"llama.{name}", U32, struct.pack("<I", value)) for name, value in numbers.items()),
        ("llama.attention.layer_norm_rms_epsilon", F32, struct.pack("<f", 1e-5)),
        ("tokenizer.ggml.model", TEXT, _text("llama")),
        ("tokenizer.ggml.tokens", LIST, _list(TEXT, [_text(token) for token in TOKENS])),
        ("tokenizer.ggml.scores", LIST, _list(F32, [struct.pack("<f", 0.0)] * len(TOKENS))),
        ("tokenizer.ggml.token_type", LIST, _list(I32, [struct.pack("<i", k) for k in kinds])),
        ("tokenizer.ggml.bos_token_id", U32, struct.pack("<I", 1)),
        ("tokenizer.ggml.eos_token_id", U32, struct.pack("<I", 2)),
        ("tokenizer.ggml.unknown_token_id", U32, struct.pack("<I", 0)),
    ]


def _tensors(width: int, layers: int) -> dict[str, Any]:
    """Every token has the same positive first number, layers add nothing, and A looks at it."""
    embedding, output = np.zeros((len(TOKENS), width)), np.zeros((len(TOKENS), width))
    embedding[:, 0] = output[TOKENS.index("<0x41>"), 0] = 1.0
    square, ones = np.zeros((width, width)), np.ones(width)
    layer = {f"attn_{name}": square for name in ("q", "k", "v", "output")}
    layer |= dict.fromkeys(("ffn_gate", "ffn_up", "ffn_down"), square)
    layer |= {"attn_norm": ones, "ffn_norm": ones}
    return {
        "token_embd.weight": embedding,
        "output_norm.weight": ones,
        "output.weight": output,
        **{
            f"blk.{number}.{name}.weight": values
            for number in range(layers)
            for name, values in layer.items()
        },
    }


def _text(text: str) -> bytes:
    return struct.pack("<Q", len(text)) + text.encode()


def _list(kind: int, values: list[bytes]) -> bytes:
    return struct.pack("<IQ", kind, len(values)) + b"".join(values)


def _padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % ALIGNMENT)
