"""Write tiny, randomly initialised models of many families: their own configs and processors."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
import transformers as t
from safetensors.torch import load_file, save_file
from tiny import IDS, TEMPLATE, make_tokenizer
from vision_families import (
    DEEP,
    LONG,
    PATCH,
    PIXELS,
    QWEN,
    QWEN_PLACES,
    ROPE,
    SIDE,
    SQUARE,
    TEXT,
    clip_config,
    gemma3,
    idefics3,
    internvl,
    llava_next,
    llava_next_video,
    llava_onevision,
    numbers,
    pixtral,
    qwen,
    qwen_text,
    qwen_vision,
    siglip_config,
    smolvlm,
)


@dataclass(frozen=True)
class Family:
    """How a tiny model of a family is built, and what it takes."""

    build: Callable[[Any], tuple[Any, Any, Any]]  # of its tokenizer: config, processor, model class
    tokens: dict[str, str] = field(default_factory=dict)  # special ones, by their names
    places: dict[str, str] = field(default_factory=dict)  # what the chat template writes for media
    takes: str = "image"  # and video, audio
    whole: Callable[[Any], Any] | None = None  # of an omni model: the config with all its parts


def make_family(name: str, folder: Path) -> None:
    """Write the config, weights, tokenizer and processor of a family's model to the folder."""
    family = FAMILIES[name]
    tokenizer = make_tokenizer(family.tokens)
    template = TEMPLATE
    for kind in ("video", "audio"):
        place = family.places.get(kind, "")
        if place:
            template = template.replace(
                "{% elif part.type == 'text' %}",
                f"{{% elif part.type == '{kind}' %}}{place}{{% elif part.type == 'text' %}}",
            )
    template = template.replace("<image>", family.places.get("image", "<image>"))
    tokenizer.chat_template = template
    torch.manual_seed(0)
    config, processor, model_class = family.build(tokenizer)
    processor.chat_template = template
    processor.save_pretrained(folder)
    model = model_class(config).float()
    for weights in model.parameters():
        if weights.dim() > 1 and not weights.any():  # some begin with nothing to be seen
            torch.nn.init.normal_(weights, 0.0, 0.3)
    kept = {2, *(tokenizer.encode(chr(code))[0] for code in range(32, 127))}
    shut = [i for i in range(len(tokenizer)) if i not in kept]
    model.generation_config = t.GenerationConfig(suppress_tokens=shut, **IDS)
    model.save_pretrained(folder)
    if family.whole is not None:  # an omni model: the weights and the config of more than it
        weights = load_file(folder / "model.safetensors")
        named = {f"thinker.{name}": each for name, each in weights.items()}
        save_file(named, folder / "model.safetensors", {"format": "pt"})
        family.whole(config).save_pretrained(folder)


SOUNDS = {
    "audio_token": "<|AUDIO|>",
    "audio_bos_token": "<|audio_bos|>",
    "audio_eos_token": "<|audio_eos|>",
}
_HEARD = "<|audio_bos|><|AUDIO|><|audio_eos|>"
EAR = {"encoder_layers": 2, "encoder_attention_heads": 2, "encoder_ffn_dim": 64, "d_model": 32,
       "num_mel_bins": 8, "initializer_range": 0.3}  # fmt: skip
_LISTENER: dict[str, Any] = {"feature_size": 8, "sampling_rate": 16_000}


def _omni(kind: str) -> Callable[[Any], tuple[Any, Any, Any]]:
    """The families of Qwen-Omni: the part that thinks, without the part that speaks."""

    def build(tokenizer: Any) -> tuple[Any, Any, Any]:
        patch = 14 if kind == "Qwen2_5Omni" else 16
        processor = getattr(t, f"{kind}Processor")(
            t.Qwen2VLImageProcessorPil(patch_size=patch, size=PIXELS),
            t.Qwen2VLVideoProcessor(patch_size=patch, size=LONG),
            t.WhisperFeatureExtractor(chunk_length=4, **_LISTENER),
            tokenizer,
        )
        like = "Qwen2_5_VL" if kind == "Qwen2_5Omni" else "Qwen3Moe"
        ear = EAR | {"output_dim": 32, "max_source_positions": 200, "n_window": 50}
        if kind != "Qwen2_5Omni":
            ear |= {"n_window_infer": 100, "downsample_hidden_size": 16}
        end = "index" if kind == "Qwen2_5Omni" else "id"
        places = {"image": "<|image_pad|>", "video": "<|video_pad|>", "audio": "<|AUDIO|>"}
        config = getattr(t, f"{kind}ThinkerConfig")(
            text_config=qwen_text(tokenizer, like),
            vision_config=qwen_vision(like, patch),
            audio_config=ear,
            **numbers(tokenizer, **{f"{name}_token_{end}": each for name, each in places.items()},
                   vision_start_token_id="<|vision_start|>",
                   audio_start_token_id="<|audio_bos|>", audio_end_token_id="<|audio_eos|>"),
        )  # fmt: skip
        return config, processor, getattr(t, f"{kind}ThinkerForConditionalGeneration")

    return build


def _qwen2_audio(tokenizer: Any) -> tuple[Any, Any, Any]:
    processor = t.Qwen2AudioProcessor(
        t.WhisperFeatureExtractor(chunk_length=4, **_LISTENER), tokenizer
    )
    config = t.Qwen2AudioConfig(
        audio_config=EAR | {"max_source_positions": 200},
        text_config=t.Qwen2Config(vocab_size=len(tokenizer), **TEXT),
        **numbers(tokenizer, audio_token_index="<|AUDIO|>"),
    )
    return config, processor, t.Qwen2AudioForConditionalGeneration


def _aya(tokenizer: Any) -> tuple[Any, Any, Any]:
    images = t.GotOcr2ImageProcessorPil(size=SQUARE, crop_to_patches=False)
    processor = t.AyaVisionProcessor(images, tokenizer, PATCH, SIDE, downsample_factor=2)
    config = t.AyaVisionConfig(
        vision_config=siglip_config(),
        text_config=t.Cohere2Config(
            vocab_size=len(tokenizer),
            sliding_window=8,
            layer_types=["sliding_attention", "full_attention"] * 2,
            **DEEP,
        ),
        **numbers(tokenizer, image_token_index="<|IMG_PATCH|>"),
    )
    return config, processor, t.AyaVisionForConditionalGeneration


def _glm4v(tokenizer: Any) -> tuple[Any, Any, Any]:
    processor = t.Glm4vProcessor(
        t.Glm4vImageProcessorPil(size=PIXELS), tokenizer, t.Glm4vVideoProcessor(size=LONG)
    )
    rope = ROPE | {"partial_rotary_factor": 1.0}
    vision = qwen_vision("", PATCH) | {"image_size": SIDE}
    for name in ("fullatt_block_indexes", "window_size"):
        del vision[name]
    config = t.Glm4vConfig(
        text_config=TEXT | {"vocab_size": len(tokenizer), "rope_parameters": rope},
        vision_config=vision,
        **numbers(tokenizer, image_token_id="<|image|>", video_token_id="<|video|>",
               image_start_token_id="<|begin_of_image|>", image_end_token_id="<|end_of_image|>",
               video_start_token_id="<|begin_of_video|>", video_end_token_id="<|end_of_video|>"),
    )  # fmt: skip
    return config, processor, t.Glm4vForConditionalGeneration


def _video_llava(tokenizer: Any) -> tuple[Any, Any, Any]:
    size = {"size": {"shortest_edge": SIDE}, "crop_size": SQUARE}
    processor = t.VideoLlavaProcessor(
        t.CLIPImageProcessorPil(**size), t.VideoLlavaVideoProcessor(**size), tokenizer,
        patch_size=PATCH, vision_feature_select_strategy="default",
    )  # fmt: skip
    config = t.VideoLlavaConfig(
        vision_config=clip_config(),
        text_config=t.LlamaConfig(vocab_size=len(tokenizer), **TEXT),
        image_seq_length=4,
        **numbers(tokenizer, image_token_index="<image>", video_token_index="<video>"),
    )
    return config, processor, t.VideoLlavaForConditionalGeneration


def _paligemma(tokenizer: Any) -> tuple[Any, Any, Any]:
    images = t.SiglipImageProcessorPil(size=SQUARE)
    images.image_seq_length = 4
    processor = t.PaliGemmaProcessor(images, tokenizer)
    config = t.PaliGemmaConfig(
        vision_config=siglip_config(projection_dim=32),
        text_config=t.GemmaConfig(vocab_size=len(tokenizer), head_dim=16, **TEXT),
        projection_dim=32,
        hidden_size=32,
        **numbers(tokenizer, image_token_index="<image>"),
    )
    return config, processor, t.PaliGemmaForConditionalGeneration


def _text(kind: str, **more: Any) -> Family:
    def build(tokenizer: Any) -> tuple[Any, Any, Any]:
        config = getattr(t, f"{kind}Config")(vocab_size=len(tokenizer), **TEXT | more)
        name = kind.removesuffix("Text")
        return config, tokenizer, getattr(t, f"{name}ForCausalLM")

    return Family(build, takes="")


_VIDEO = {"video_token": "<video>"}
_VIDEO_PLACE = {"video": "<video>"}
_GLM = ("begin_of_image", "end_of_image", "begin_of_video", "end_of_video")
_OMNI = QWEN | SOUNDS | {"vision_bos_token": QWEN["vision_start_token"],
                         "vision_eos_token": QWEN["vision_end_token"]}  # fmt: skip
_PIXTRAL = {"image_token": "[IMG]", "image_break_token": "[IMG_BREAK]", "end_token": "[IMG_END]"}
_SPLIT = {"fake_image_token": "<fake_token_around_image>", "global_image_tag": "<global-img>",
          "end_of_utterance": "<end_of_utterance>"}  # fmt: skip
_AYA = {name: f"<|{name.upper()}|>" for name in
        ("start_of_img", "end_of_img", "img_patch", "img_line_break")}  # fmt: skip
_IMAGE_VIDEO, _ALL = "image video", "image video audio"

FAMILIES: dict[str, Family] = {
    "llava_next": Family(llava_next),
    "llava_next_video": Family(llava_next_video, _VIDEO, _VIDEO_PLACE, _IMAGE_VIDEO),
    "llava_onevision": Family(llava_onevision, _VIDEO, _VIDEO_PLACE, _IMAGE_VIDEO),
    "qwen2_vl": Family(qwen("Qwen2VL", "Qwen2VL"), QWEN, QWEN_PLACES, _IMAGE_VIDEO),
    "qwen2_5_vl": Family(qwen("Qwen2_5_VL", "Qwen2_5_VL"), QWEN, QWEN_PLACES, _IMAGE_VIDEO),
    "qwen3_vl": Family(qwen("Qwen3VL", "Qwen3VL", 16), QWEN, QWEN_PLACES, _IMAGE_VIDEO),
    "qwen3_vl_moe": Family(qwen("Qwen3VL", "Qwen3VLMoe", 16), QWEN, QWEN_PLACES, _IMAGE_VIDEO),
    "qwen3_5": Family(qwen("Qwen3VL", "Qwen3_5", 16), QWEN, QWEN_PLACES, _IMAGE_VIDEO),
    "internvl": Family(
        internvl,
        {"start_image_token": "<img>", "end_image_token": "</img>",
         "context_image_token": "<IMG_CONTEXT>", "video_token": "<video>"},
        {"image": "<IMG_CONTEXT>", "video": "<video>"}, _IMAGE_VIDEO,
    ),
    "idefics3": Family(idefics3, _SPLIT),
    "smolvlm": Family(smolvlm, _SPLIT | _VIDEO, _VIDEO_PLACE, _IMAGE_VIDEO),
    "gemma3": Family(
        gemma3,
        {"image_token": "<image_soft_token>", "boi_token": "<start_of_image>",
         "eoi_token": "<end_of_image>"},
        {"image": "<start_of_image>"},
    ),
    "mistral3": Family(pixtral("Mistral3"), _PIXTRAL, {"image": "[IMG]"}),
    "pixtral": Family(pixtral("Llava"), _PIXTRAL, {"image": "[IMG]"}),
    "paligemma": Family(_paligemma),
    "aya_vision": Family(_aya, _AYA),
    "glm4v": Family(
        _glm4v,
        {"image_token": "<|image|>", "video_token": "<|video|>"} | {n: f"<|{n}|>" for n in _GLM},
        {"image": "<|begin_of_image|><|image|><|end_of_image|>",
         "video": "<|begin_of_video|><|video|><|end_of_video|>"}, _IMAGE_VIDEO,
    ),
    "video_llava": Family(_video_llava, _VIDEO, _VIDEO_PLACE, _IMAGE_VIDEO),
    "qwen2_5_omni_thinker": Family(
        _omni("Qwen2_5Omni"), _OMNI, QWEN_PLACES | {"audio": _HEARD}, _ALL,
        lambda thinker: t.Qwen2_5OmniConfig(
            thinker_config=thinker.to_dict(), architectures=["Qwen2_5OmniForConditionalGeneration"]
        ),
    ),
    "qwen3_omni_moe_thinker": Family(
        _omni("Qwen3OmniMoe"), _OMNI, QWEN_PLACES | {"audio": _HEARD}, _ALL,
        lambda thinker: t.Qwen3OmniMoeConfig(
            thinker_config=thinker.to_dict(), architectures=["Qwen3OmniMoeForConditionalGeneration"]
        ),
    ),
    "qwen2_audio": Family(_qwen2_audio, SOUNDS, {"audio": _HEARD}, "audio"),
    "llama": _text("Llama"),
    "qwen2": _text("Qwen2"),
    "qwen3": _text("Qwen3", head_dim=16),
    "gemma3_text": _text("Gemma3Text", head_dim=16, sliding_window=8, num_hidden_layers=6),
    "gpt_oss": _text("GptOss", head_dim=16, sliding_window=8, num_local_experts=4),
    "gpt2": Family(lambda tokenizer: (
        t.GPT2Config(vocab_size=len(tokenizer), n_embd=32, n_head=2, n_layer=2, n_positions=512,
                     initializer_range=0.3, **IDS), tokenizer, t.GPT2LMHeadModel), takes=""),
}  # fmt: skip
