"""Builders of tiny models that see: their own configs and processors, weights of chance."""

from collections.abc import Callable
from typing import Any

import transformers as t
from tiny import IDS, SHAPE

SIDE, PATCH = 28, 14
SQUARE = {"height": SIDE, "width": SIDE}
TEXT: dict[str, Any] = {**SHAPE, **IDS, "max_position_embeddings": 4096, "num_key_value_heads": 1}
DEEP = TEXT | {"num_hidden_layers": 4}
MEAN = {"image_mean": [0.5] * 3, "image_std": [0.5] * 3}
ROPE = {"rope_type": "default", "rope_theta": 10_000.0, "mrope_section": [2, 3, 3]}


def numbers(tokenizer: Any, **names: str) -> dict[str, int]:
    return {field: tokenizer.convert_tokens_to_ids(name) for field, name in names.items()}


def clip_config() -> Any:
    return t.CLIPVisionConfig(image_size=SIDE, patch_size=PATCH, **SHAPE)


def siglip_config(**more: Any) -> Any:
    fields = {"image_size": SIDE, "patch_size": PATCH, "vision_use_head": False, **SHAPE}
    return t.SiglipVisionConfig(**fields | more)


def llava_next(tokenizer: Any) -> tuple[Any, Any, Any]:
    pins = [[SIDE, 2 * SIDE], [2 * SIDE, SIDE], [2 * SIDE, 2 * SIDE]]
    images = t.LlavaNextImageProcessorPil(
        size={"shortest_edge": SIDE}, crop_size=SQUARE, image_grid_pinpoints=pins
    )
    processor = t.LlavaNextProcessor(
        images, tokenizer, patch_size=PATCH, vision_feature_select_strategy="default",
        num_additional_image_tokens=1,
    )  # fmt: skip
    config = t.LlavaNextConfig(
        vision_config=clip_config(),
        text_config=t.LlamaConfig(vocab_size=len(tokenizer), **TEXT),
        image_grid_pinpoints=pins,
        **numbers(tokenizer, image_token_index="<image>"),
    )
    return config, processor, t.LlavaNextForConditionalGeneration


def llava_next_video(tokenizer: Any) -> tuple[Any, Any, Any]:
    pins = [[SIDE, 2 * SIDE], [2 * SIDE, SIDE], [2 * SIDE, 2 * SIDE]]
    fields: dict[str, Any] = {"size": {"shortest_edge": SIDE}, "crop_size": SQUARE}
    processor = t.LlavaNextVideoProcessor(
        t.LlavaNextVideoVideoProcessor(**fields),
        t.LlavaNextImageProcessorPil(image_grid_pinpoints=pins, **fields),
        tokenizer, patch_size=PATCH, vision_feature_select_strategy="default",
        num_additional_image_tokens=1,
    )  # fmt: skip
    config = t.LlavaNextVideoConfig(
        vision_config=clip_config(),
        text_config=t.LlamaConfig(vocab_size=len(tokenizer), **TEXT),
        image_grid_pinpoints=pins,
        **numbers(tokenizer, image_token_index="<image>", video_token_index="<video>"),
    )
    return config, processor, t.LlavaNextVideoForConditionalGeneration


def llava_onevision(tokenizer: Any) -> tuple[Any, Any, Any]:
    pins = [[SIDE, 2 * SIDE], [2 * SIDE, SIDE], [2 * SIDE, 2 * SIDE]]
    processor = t.LlavaOnevisionProcessor(
        t.LlavaOnevisionImageProcessorPil(size=SQUARE, image_grid_pinpoints=pins),
        tokenizer,
        t.LlavaOnevisionVideoProcessor(size=SQUARE),
        num_image_tokens=4,
        vision_feature_select_strategy="full",
    )
    config = t.LlavaOnevisionConfig(
        vision_config=siglip_config(),
        text_config=t.Qwen2Config(vocab_size=len(tokenizer), **TEXT),
        image_grid_pinpoints=pins,
        **numbers(tokenizer, image_token_index="<image>", video_token_index="<video>"),
    )
    return config, processor, t.LlavaOnevisionForConditionalGeneration


QWEN = {
    "image_token": "<|image_pad|>",
    "video_token": "<|video_pad|>",
    "vision_start_token": "<|vision_start|>",
    "vision_end_token": "<|vision_end|>",
}
AROUND = "<|vision_start|>{}<|vision_end|>"
QWEN_PLACES = {
    "image": AROUND.format("<|image_pad|>"),
    "video": AROUND.format("<|video_pad|>"),
}
PIXELS = {"shortest_edge": SIDE * SIDE, "longest_edge": 4 * SIDE * SIDE}
LONG = {"shortest_edge": SIDE * SIDE, "longest_edge": 64 * SIDE * SIDE}


def qwen(processor: str, kind: str, patch: int = PATCH) -> Callable[[Any], tuple[Any, Any, Any]]:
    """The family of Qwen-VL: positions that count frames, rows and columns."""

    def build(tokenizer: Any) -> tuple[Any, Any, Any]:
        sizes: dict[str, Any] = {"patch_size": patch, "size": PIXELS}
        videos = t.Qwen3VLVideoProcessor if "3" in processor else t.Qwen2VLVideoProcessor
        both = getattr(t, f"{processor}Processor")(
            t.Qwen2VLImageProcessorPil(**sizes),
            tokenizer,
            videos(patch_size=patch, size=LONG),
        )
        config = getattr(t, f"{kind}Config")(
            text_config=qwen_text(tokenizer, kind),
            vision_config=qwen_vision(kind, patch),
            **numbers(tokenizer, image_token_id="<|image_pad|>", video_token_id="<|video_pad|>",
                   vision_start_token_id="<|vision_start|>", vision_end_token_id="<|vision_end|>"),
        )  # fmt: skip
        return config, both, getattr(t, f"{kind}ForConditionalGeneration")

    return build


def qwen_text(tokenizer: Any, kind: str) -> dict[str, Any]:
    fields = TEXT | {"vocab_size": len(tokenizer), "rope_parameters": dict(ROPE)}
    if "3" in kind:
        fields |= {"head_dim": 16}
        fields["rope_parameters"]["mrope_interleaved"] = True
    if "Moe" in kind:
        fields |= {"num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 32}
    if kind.startswith("Qwen3_5"):
        fields |= {"linear_key_head_dim": 8, "linear_value_head_dim": 8, "num_hidden_layers": 4}
        fields |= {"linear_num_key_heads": 2, "linear_num_value_heads": 2}
        fields["rope_parameters"] |= {"partial_rotary_factor": 1.0}
    return fields


def qwen_vision(kind: str, patch: int) -> dict[str, Any]:
    fields: dict[str, Any] = {"depth": 2, "num_heads": 2, "patch_size": patch}
    fields |= {"hidden_size": 32, "intermediate_size": 64, "initializer_range": 0.3}
    if kind == "Qwen2VL":
        return fields | {"embed_dim": 32, "mlp_ratio": 2}
    fields["out_hidden_size"] = 32
    if "3" in kind:
        return fields | {"num_position_embeddings": 16, "deepstack_visual_indexes": [0, 1]}
    return fields | {"fullatt_block_indexes": [1], "window_size": 4 * patch}


def internvl(tokenizer: Any) -> tuple[Any, Any, Any]:
    processor = t.InternVLProcessor(
        t.GotOcr2ImageProcessorPil(size=SQUARE, crop_to_patches=False),
        tokenizer,
        t.InternVLVideoProcessor(size=SQUARE),
        image_seq_length=1,
    )
    vision = {"image_size": [SIDE, SIDE], "patch_size": [PATCH, PATCH], **SHAPE}
    config = t.InternVLConfig(
        vision_config=t.InternVLVisionConfig(**vision, layer_scale_init_value=1.0),
        text_config=t.Qwen2Config(vocab_size=len(tokenizer), **TEXT),
        image_seq_length=1,
        tie_word_embeddings=False,
        **numbers(tokenizer, image_token_id="<IMG_CONTEXT>"),
    )
    return config, processor, t.InternVLForConditionalGeneration


def idefics3(tokenizer: Any) -> tuple[Any, Any, Any]:
    edge = {"longest_edge": SIDE}
    images = t.Idefics3ImageProcessorPil(size=edge, max_image_size=edge, do_image_splitting=False)
    processor = t.Idefics3Processor(images, tokenizer, image_seq_len=1)
    config = t.Idefics3Config(
        vision_config={"image_size": SIDE, "patch_size": PATCH, **SHAPE},
        text_config=t.LlamaConfig(vocab_size=len(tokenizer), **TEXT),
        scale_factor=2,
        pad_token_id=0,
        **numbers(tokenizer, image_token_id="<image>"),
    )
    return config, processor, t.Idefics3ForConditionalGeneration


def smolvlm(tokenizer: Any) -> tuple[Any, Any, Any]:
    edge = {"longest_edge": SIDE}
    images = t.SmolVLMImageProcessorPil(size=edge, max_image_size=edge, do_image_splitting=False)
    videos = t.SmolVLMVideoProcessor(
        size=edge,
        max_image_size=edge,
        video_sampling={"video_size": edge, "max_frames": 64, "fps": 1},
    )
    processor = t.SmolVLMProcessor(images, tokenizer, videos, image_seq_len=1)
    config = t.SmolVLMConfig(
        vision_config={"image_size": SIDE, "patch_size": PATCH, **SHAPE},
        text_config=t.LlamaConfig(vocab_size=len(tokenizer), **TEXT),
        scale_factor=2,
        pad_token_id=0,
        **numbers(tokenizer, image_token_id="<image>"),
    )
    return config, processor, t.SmolVLMForConditionalGeneration


def gemma3(tokenizer: Any) -> tuple[Any, Any, Any]:
    images = t.Gemma3ImageProcessorPil(size=SQUARE, do_pan_and_scan=False)
    processor = t.Gemma3Processor(images, tokenizer, image_seq_length=4)
    fields = DEEP | {"head_dim": 16, "sliding_window": 8, "query_pre_attn_scalar": 16}
    fields |= {"layer_types": ["sliding_attention", "full_attention"] * 2}
    fields |= {"tie_word_embeddings": False}  # tied ones repeat the last word
    config = t.Gemma3Config(
        vision_config=siglip_config(),
        text_config=t.Gemma3TextConfig(vocab_size=len(tokenizer), **fields),
        mm_tokens_per_image=4,
        initializer_range=0.3,
        tie_word_embeddings=False,
        **numbers(tokenizer, image_token_index="<image_soft_token>",
               boi_token_index="<start_of_image>", eoi_token_index="<end_of_image>"),
    )  # fmt: skip
    return config, processor, t.Gemma3ForConditionalGeneration


def pixtral(kind: str) -> Callable[[Any], tuple[Any, Any, Any]]:
    def build(tokenizer: Any) -> tuple[Any, Any, Any]:
        images = t.PixtralImageProcessorPil(size={"longest_edge": 2 * SIDE}, patch_size=PATCH)
        merge = 2 if kind == "Mistral3" else 1
        processor = t.PixtralProcessor(images, tokenizer, PATCH, merge)
        vision = t.PixtralVisionConfig(image_size=2 * SIDE, patch_size=PATCH, **SHAPE)
        fields: dict[str, Any] = {"vision_feature_layer": -1}
        window = {"sliding_window": None}  # as the models of these families have it
        fields |= {"vision_feature_select_strategy": "full"} if kind == "Llava" else {}
        config = getattr(t, f"{kind}Config")(
            vision_config=vision,
            text_config=t.MistralConfig(vocab_size=len(tokenizer), head_dim=16, **TEXT | window),
            tie_word_embeddings=False,
            **fields,
            **numbers(tokenizer, image_token_index="[IMG]"),
        )
        return config, processor, getattr(t, f"{kind}ForConditionalGeneration")

    return build
