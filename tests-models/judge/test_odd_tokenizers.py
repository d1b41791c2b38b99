"""Replies are valid whatever tokenizer a base model has, and whatever its weights say."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import torch
from tiny import make_tokenizer
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

from reelbench.evaluate.rubric import load_rubric
from reelbench.judge.bands import CRITERIA
from reelbench.models.judge.decode import Decoder
from reelbench.models.judge.grammar import reply_parts

RATING = {"ratings": {name: {"reason": 'So "be" it.', "score": 4} for name in CRITERIA}}


def trained(around: Any, decoder: Any) -> PreTrainedTokenizerFast:
    """Return a tokenizer that has learned to join what stands in replies."""
    tokenizer = Tokenizer(models.BPE())
    if around:
        tokenizer.pre_tokenizer = around
    tokenizer.decoder = decoder
    trainer = trainers.BpeTrainer(vocab_size=200, special_tokens=["<pad>"], show_progress=False)
    tokenizer.train_from_iterator([json.dumps(RATING), "0 1 2 3 4 5 ä €"] * 20, trainer)
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, pad_token="<pad>")


TOKENIZERS: dict[str, Callable[[], Any]] = {
    "bytes": make_tokenizer,
    "joins across quotes": lambda: trained(None, decoders.Fuse()),
    "marks spaces": lambda: trained(pre_tokenizers.Metaspace(), decoders.Metaspace()),
}


@pytest.mark.parametrize("broken", [False, True], ids=["random", "not a number"])
@pytest.mark.parametrize("name", TOKENIZERS)
def test_replies_fit_the_schema(name: str, broken: bool, tmp_path: Path) -> None:
    tokenizer = TOKENIZERS[name]()
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=len(tokenizer) + 3,  # weights are often padded
        hidden_size=16,
        intermediate_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
    )
    model = LlamaForCausalLM(config).eval()
    if broken:
        model.lm_head.weight.data[:] = float("nan")
    schema = dict(load_rubric("criteria", tmp_path).schema)
    decoder = Decoder(model, tokenizer)
    grammar = decoder.grammar(reply_parts(schema), 12)
    prompts = [tokenizer.encode("1 2 3"), tokenizer.encode("5")]
    found = []
    for temperature in (0.0, 5.0):
        found += decoder.write(prompts, [grammar] * 2, temperature, ["a", "b"])
    for reply in found:
        jsonschema.validate(json.loads(reply.text), schema)
