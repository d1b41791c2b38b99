"""Write a tiny, randomly initialised model of text alone, whose replies are short."""

from pathlib import Path
from typing import Any

import torch
from tiny import IDS, make_tokenizer
from transformers import GenerationConfig, LlamaConfig, LlamaForCausalLM

TEMPLATE = (
    "<s>{% for message in messages %}{{ message.role }}: {{ message.content }}\n{% endfor %}"
    "{% if add_generation_prompt %}assistant: {% endif %}"
)
ENDING = '"]}'  # what a reply of JSON ends with, made likelier, or strings would hardly end


def make_tiny_text(folder: Path, tokenizer: Any = None, template: str = TEMPLATE) -> None:
    """Write the config, weights and tokenizer of the model to the folder."""
    tokenizer = tokenizer or make_tokenizer()
    tokenizer.chat_template = template or None
    tokenizer.save_pretrained(folder)
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=len(tokenizer) + 3,  # weights are often padded
        hidden_size=32,
        intermediate_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        max_position_embeddings=8192,
        initializer_range=0.3,
        tie_word_embeddings=False,
        **IDS,
    )
    model = LlamaForCausalLM(config)
    likelier = {
        token: 6.0
        for name, token in tokenizer.get_vocab().items()
        if name and set(name) <= set(ENDING)
    }
    bias = [[[token], value] for token, value in likelier.items()]
    model.generation_config = GenerationConfig(sequence_bias=bias or None, **IDS)
    model.save_pretrained(folder)
