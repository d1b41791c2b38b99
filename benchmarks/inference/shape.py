"""A LLaVA of a shape with random weights, and a benchmark of clips with questions to ask it."""

from pathlib import Path
from typing import Any

from decoding.videos import Video, make

from reelbench.data.benchmark import Benchmark
from reelbench.data.items import Item, Media
from reelbench.data.manifest import Manifest, Protocol

# Frames of 256 tokens, and about 6 billion parameters; or as few as a test takes.
SHAPES: dict[str, dict[str, Any]] = {
    "6b": {
        "side": 224,
        "vision": {"num_hidden_layers": 24, "num_attention_heads": 16, "hidden_size": 1024,
                   "intermediate_size": 4096},
        "text": {"num_hidden_layers": 28, "num_attention_heads": 32, "hidden_size": 4096,
                 "intermediate_size": 11008},
    },
    "tiny": {
        "side": 56,
        "vision": {"num_hidden_layers": 2, "num_attention_heads": 2, "hidden_size": 64,
                   "intermediate_size": 128},
        "text": {"num_hidden_layers": 4, "num_attention_heads": 4, "hidden_size": 256,
                 "intermediate_size": 512},
    },
}  # fmt: skip
PATCH = 14
NEW_TOKENS = 16
_TEMPLATE = (
    "<s>{% for message in messages %}{% for part in message.content %}"
    "{% if part.type == 'image' %}<image>{% else %}{{ part.text }}{% endif %}"
    "{% endfor %}{% endfor %}\n"
)


def build(folder: Path, shape: str, device: str) -> None:
    """Write a model to a folder."""
    import torch
    from transformers import (
        CLIPImageProcessorPil,
        CLIPVisionConfig,
        GenerationConfig,
        LlamaConfig,
        LlavaConfig,
        LlavaForConditionalGeneration,
        LlavaProcessor,
    )

    sizes = SHAPES[shape]
    side = sizes["side"]
    tokenizer = _tokenizer()
    square = {"height": side, "width": side}
    LlavaProcessor(
        CLIPImageProcessorPil(size=square, crop_size=square, do_center_crop=False),
        tokenizer,
        patch_size=PATCH,
        vision_feature_select_strategy="default",
        num_additional_image_tokens=1,
        chat_template=_TEMPLATE,
    ).save_pretrained(folder)
    config = LlavaConfig(
        vision_config=CLIPVisionConfig(image_size=side, patch_size=PATCH, **sizes["vision"]),
        text_config=LlamaConfig(
            vocab_size=32_000, max_position_embeddings=8192, pad_token_id=0, **sizes["text"]
        ),
        image_token_index=3,
        image_seq_length=(side // PATCH) ** 2,
    )
    torch.manual_seed(0)
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.bfloat16 if device == "cuda" else torch.float32)
    try:
        with torch.device(device):
            model = LlavaForConditionalGeneration(config)
    finally:
        torch.set_default_dtype(before)
    model.generation_config = GenerationConfig(pad_token_id=0)  # no end: all replies are as long
    model.save_pretrained(folder)


def _tokenizer() -> Any:
    from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    special = ["<pad>", "<s>", "</s>", "<image>"]
    names = [*special, *sorted(pre_tokenizers.ByteLevel.alphabet())]
    bytewise = Tokenizer(models.BPE(vocab={name: n for n, name in enumerate(names)}, merges=[]))
    bytewise.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    bytewise.decoder = decoders.ByteLevel()
    bytewise.add_special_tokens([AddedToken(name, special=True) for name in special])
    return PreTrainedTokenizerFast(
        tokenizer_object=bytewise,
        pad_token="<pad>",
        bos_token="<s>",
        extra_special_tokens={"image_token": "<image>"},
        padding_side="left",
    )


def write_benchmark(folder: Path, clips: int, questions: int, frames: int) -> Benchmark:
    """Write a benchmark: clips of five seconds, so many questions about each."""
    root = folder / "benchmark"
    (root / "media").mkdir(parents=True)
    make(Video("", 5 * min(clips, 24), 10, 30, 0), folder).rename(root / "media" / "a.mp4")
    items = []
    for number in range(clips * questions):
        start = 5.0 * (number // questions % 24) + 0.01 * (number // questions // 24)
        media = (Media("media/a.mp4", start, start + 4.8),)
        question = f"What does the camera pass over in part {number % questions} of the tour?"
        options = ("a hill", "a river", "a road", "a house")
        items.append(Item(f"q-{number}", "single", media, question, options, ("A",)))
    protocol = Protocol(sampling=f"uniform:{frames}", frame_size="long:360")
    benchmark = Benchmark(root, Manifest("local", "1", protocol=protocol), tuple(items))
    benchmark.save(root)
    return benchmark
