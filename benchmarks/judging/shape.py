"""Decoders of a shape with random weights, and rated rows as long as real ones."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from reelbench.base.seeds import rng_for
from reelbench.data.items import FrozenDict, Item, Media
from reelbench.evaluate.rubric import Rubric
from reelbench.judge.bands import CRITERIA
from reelbench.judge.sharegpt import RatedResponse
from reelbench.judge.synthesize import SyntheticResponse, SyntheticSet, rated_rows

WORDS = (
    *("a", "man", "woman", "dog", "car", "street", "yard", "door", "table", "screen", "voice"),
    *("song", "bell", "drum", "crowd", "says", "opens", "walks", "turns", "holds", "red", "blue"),
    *("green", "white", "left", "right", "then", "while", "before", "after", "near", "behind"),
    *("slowly", "loudly"),
)
# Layers as in Qwen3-0.6B, and more of them, under a vocabulary as large as that of Qwen3.5: 0.8
# billion in all.
SHAPES: dict[str, dict[str, int]] = {
    "0.8b": {
        "hidden_size": 1024,
        "intermediate_size": 3584,
        "num_hidden_layers": 32,
        "num_attention_heads": 16,
        "num_key_value_heads": 8,
        "head_dim": 128,
        "vocab_size": 248_320,
    },
    "tiny": {
        "hidden_size": 64,
        "intermediate_size": 128,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "head_dim": 16,
        "vocab_size": 2048,
    },
}


def rated_rows_of(rubric: Rubric, count: int) -> list[RatedResponse]:
    """Return rows with captions of 200 to 1,200 words."""
    found: list[RatedResponse] = []
    for number in range(count):
        rng = rng_for("benchmark row", number)
        caption = " ".join(rng.choices(WORDS, k=rng.randrange(200, 1200)))
        item = Item(
            id=f"q{number}",
            kind="open",
            media=(Media(f"media/{number}.mp4"),),
            question=" ".join(rng.choices(WORDS, k=15)),
            reference=" ".join(rng.choices(WORDS, k=25)),
            context=FrozenDict(caption=caption),
        )
        ratings = {
            name: {"score": rng.randrange(1, 6), "reason": " ".join(rng.choices(WORDS, k=14))}
            for name in CRITERIA
        }
        text = " ".join(rng.choices(WORDS, k=rng.randrange(5, 60)))
        made = SyntheticSet(item, [SyntheticResponse(text, "", ratings)])
        found += rated_rows(made, rubric, item.media[0].path)
    return found


def build(folder: Path, shape: str, rows: Sequence[RatedResponse]) -> tuple[Any, Path]:
    """Return a decoder with random weights, and a folder with a tokenizer trained on the rows."""
    import torch
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast, Qwen3Config, Qwen3ForCausalLM

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=2000,
        special_tokens=["<pad>", "<s>", "</s>"],
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    tokenizer.train_from_iterator([row.prompt for row in rows[:100]], trainer)
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token="<pad>", bos_token="<s>", eos_token="</s>"
    )
    fast.save_pretrained(folder)
    torch.manual_seed(0)
    config = Qwen3Config(
        **SHAPES[shape],
        max_position_embeddings=8192,
        tie_word_embeddings=True,
        pad_token_id=0,
        bos_token_id=1,
        eos_token_id=2,
    )
    return Qwen3ForCausalLM(config), folder
