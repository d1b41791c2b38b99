"""Rated responses whose grades follow written rules, and a tiny decoder that can learn them.

A world of colours and sounds: each question asks for two facts. A response states them, denies them
(which the reference contradicts), leaves some out, adds one that nothing supports, or rambles. The
rules:

- correctness: 5 less 2 for each fact that is denied
- completeness: 5, 3 or 1 as no, one or more facts are left out
- faithfulness: 5, or 2 with a made-up addition
- clarity: 5, or 2 where the response rambles
"""

from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

from reelbench.base.seeds import rng_for
from reelbench.data.items import Item, Media
from reelbench.evaluate.judge import graded_slots
from reelbench.evaluate.rubric import Rubric
from reelbench.judge.bands import CRITERIA
from reelbench.judge.sharegpt import RatedResponse
from reelbench.judge.synthesize import SyntheticResponse, SyntheticSet, rated_rows

COLOURS, SOUNDS = ("red", "blue", "green"), ("bell", "drum", "horn")
ADDED = " A dog was there too."
RAMBLE = " Well, you know, it is like that thing, sort of."


def rows_of(videos: int, rubric: Rubric, each: int = 8) -> list[RatedResponse]:
    """Return rated rows about so many videos."""
    found: list[RatedResponse] = []
    for video in range(videos):
        rng = rng_for("world", video)
        truth = {"colour": rng.choice(COLOURS), "sound": rng.choice(SOUNDS)}
        item = Item(
            id=f"q{video}",
            kind="open",
            media=(Media(f"media/{video}.mp4"),),
            question="What is seen and heard?",
            reference=f"{truth['colour']} {truth['sound']}",
        )
        for number in range(each):
            response = _response(truth, rng_for("response", video, number))
            made = SyntheticSet(item, [response])
            (row,) = rated_rows(made, rubric, item.media[0].path)
            found.append(RatedResponse(f"{item.id}/{number}", row.video, row.prompt, row.reply))
    return found


def _response(truth: dict[str, str], rng: Any) -> SyntheticResponse:
    words, wrong, missing = [], 0, 0
    for value in truth.values():
        fate = rng.random()
        if fate < 0.2:
            missing += 1
        elif fate < 0.45:
            wrong += 1
            words.append(f"not {value}")
        else:
            words.append(value)
    added, rambles = rng.random() < 0.4, rng.random() < 0.4
    text = " ".join(words) + (ADDED if added else "") + (RAMBLE if rambles else "")
    scores = dict(
        zip(
            CRITERIA,
            (5 - 2 * wrong, 5 if not missing else 3 if missing == 1 else 1,
             2 if added else 5, 2 if rambles else 5),
            strict=True,
        )
    )  # fmt: skip
    reasons = dict(
        zip(
            CRITERIA,
            (f"{wrong} denied", f"{missing} missing", "made up" if added else "supported",
             "rambles" if rambles else "plain"),
            strict=True,
        )
    )  # fmt: skip
    ratings = {name: {"score": scores[name], "reason": reasons[name]} for name in CRITERIA}
    return SyntheticResponse(text or "nothing", "", ratings)


def make_decoder(folder: Path, texts: list[str], seed: int = 0, **shape: Any) -> Path:
    """Write a randomly initialised decoder, and a tokenizer trained on the data at hand."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Digits(individual_digits=True),
            pre_tokenizers.ByteLevel(add_prefix_space=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    special = ["<pad>", "<s>", "</s>"]
    trainer = trainers.BpeTrainer(
        vocab_size=900,
        special_tokens=special,
        initial_alphabet=sorted(alphabet),
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token="<pad>", bos_token="<s>", eos_token="</s>"
    )
    fast.save_pretrained(folder)
    config = LlamaConfig(
        vocab_size=len(fast),
        **{
            "hidden_size": 64,
            "intermediate_size": 128,
            "num_hidden_layers": 2,
            "initializer_range": 0.125,
            "num_attention_heads": 4,
            "max_position_embeddings": 2048,
            "pad_token_id": 0,
            "bos_token_id": 1,
            "eos_token_id": 2,
        }
        | shape,
    )
    torch.manual_seed(seed)
    model = LlamaForCausalLM(config)
    with torch.no_grad():
        # An adapter leaves these as they are: small ones could never be sure of a token.
        for weights in (model.lm_head.weight, model.model.embed_tokens.weight):
            weights.normal_(0.0, 0.5)
    model.save_pretrained(folder)
    return folder


def prompt_of(item: Item, response: str, rubric: Rubric) -> str:
    """What a judge is asked about a response."""
    return rubric.render(graded_slots(item, response))
