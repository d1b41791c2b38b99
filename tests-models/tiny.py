"""Write a tiny, randomly initialised vision-language model: no hub, no torchvision."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers
from transformers import (
    CLIPImageProcessorPil,
    CLIPVisionConfig,
    GenerationConfig,
    LlamaConfig,
    LlavaConfig,
    LlavaForConditionalGeneration,
    LlavaProcessor,
    PreTrainedTokenizerFast,
)

SIDE, PATCH = 28, 14  # every image is resized to SIDE x SIDE: (28/14)^2 = 4 tokens
SPECIAL = PAD, START, END, IMAGE = "<pad>", "<s>", "</s>", "<image>"  # tokens 0, 1, 2, 3
IDS: dict[str, Any] = {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}
SHAPE: dict[str, Any] = {
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "hidden_size": 32,
    "intermediate_size": 64,
    "initializer_range": 0.3,  # so that the pictures sway the words
}
TEMPLATE = (
    "<s>{% for message in messages %}{{ message.role }}: "
    "{% if message.content is string %}{{ message.content }}{% else %}"
    "{% for part in message.content %}"
    "{% if part.type == 'image' %}<image>{% elif part.type == 'text' %}{{ part.text }}{% endif %}"
    "{% endfor %}{% endif %}{{ '\\n' }}{% endfor %}"
    "{% if add_generation_prompt %}assistant: {% endif %}"
)


def make_tokenizer(more: Mapping[str, str] | None = None) -> PreTrainedTokenizerFast:
    """Make a tokenizer with one token per UTF-8 byte, so that any text round-trips.

    ``more`` are special tokens, by the names that a processor has for them.
    """
    named = {"image_token": IMAGE} | dict(more or {})
    special_ones = [*SPECIAL, *(each for each in named.values() if each not in SPECIAL)]
    names = [*special_ones, *sorted(pre_tokenizers.ByteLevel.alphabet())]
    tokenizer = Tokenizer(models.BPE(vocab={name: i for i, name in enumerate(names)}, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens([AddedToken(name, special=True) for name in special_ones])
    special = {"pad_token": PAD, "bos_token": START, "eos_token": END}
    extra = {"extra_special_tokens": named, "padding_side": "left"}
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, **special, **extra)


def make_tiny(folder: Path) -> None:
    """Write the config, weights, tokenizer and processor of the model to the folder."""
    tokenizer = make_tokenizer()
    size = {"height": SIDE, "width": SIDE}
    LlavaProcessor(
        CLIPImageProcessorPil(size=size, crop_size=size, do_center_crop=False),
        tokenizer,
        patch_size=PATCH,
        vision_feature_select_strategy="default",  # drop the class token...
        num_additional_image_tokens=1,  # ...which is this one
        chat_template=TEMPLATE,
    ).save_pretrained(folder)
    vision = CLIPVisionConfig(image_size=SIDE, patch_size=PATCH, **SHAPE)
    text = LlamaConfig(vocab_size=len(tokenizer), max_position_embeddings=4096, **SHAPE, **IDS)
    config = LlavaConfig(
        vision_config=vision,
        text_config=text,
        image_token_index=3,
        image_seq_length=(SIDE // PATCH) ** 2,
    )
    torch.manual_seed(0)
    model = LlavaForConditionalGeneration(config)
    # Only printable ASCII and the end: half a UTF-8 character would not survive decoding.
    kept = {2, *(tokenizer.encode(chr(code))[0] for code in range(32, 127))}
    shut = [i for i in range(len(tokenizer)) if i not in kept]
    model.generation_config = GenerationConfig(suppress_tokens=shut, **IDS)
    model.save_pretrained(folder)
