"""Load a local model: its weights, its processor, and what it takes."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reelbench.base.errors import ReelbenchError
from reelbench.models.card import Card
from reelbench.models.local.checks import (
    NO_PROCESSOR,
    check_fits,
    check_folder,
    check_senses,
    explained,
)

USUAL = {"max_new_tokens": 256, "do_sample": False}
# Parameters of a card that are not for generating.
PLACE = ("dtype", "device", "device_map", "revision", "share_prefix")
_KINDS = ("image", "video", "audio")


@dataclass(frozen=True, slots=True)
class LoadedModel:
    """A loaded model and what turns messages into its input."""

    model: Any
    processor: Any  # of a model that takes text alone, its tokenizer
    tokenizer: Any
    is_text: bool  # takes text alone
    context: int | None  # tokens that it takes at most, those of its reply included
    ends: frozenset[int]  # tokens that end a reply
    placeholders: frozenset[int]  # tokens that stand for media
    takes: frozenset[str] = frozenset()  # of image, video and audio
    as_video: bool = False  # frames are given as the videos that they are of
    sampling_rate: int | None = None  # of the sound that it takes
    notes: tuple[str, ...] = ()  # what is to be said about it, once
    architecture: str = ""  # the name that transformers has for it, such as llava


def load_weights(card: Card) -> LoadedModel:
    """Return the model of a card, on its device; raise ``ReelbenchError`` where there is none."""
    import torch
    from transformers import AutoConfig

    settings = card.parameters
    # Code that comes with weights is never run: transformers would ask at the terminal.
    source = {"revision": settings.get("revision", "main"), "trust_remote_code": False}
    check_folder(card)
    with explained(card):
        config = AutoConfig.from_pretrained(card.model, **source)
    loader, is_text = _loader_of(config)
    part = "thinker." if hasattr(config, "thinker_config") else ""
    processor, notes = _processor(card, is_text, source)
    takes = frozenset() if is_text else _takes(processor)
    check_senses(card, str(config.model_type), sorted(takes))
    device = settings.get("device") or ("cuda" if torch.cuda.is_available() else "cpu")
    place = {"device_map": settings["device_map"]} if "device_map" in settings else {}
    if not place and (folder := _folder_of(card, source)):
        check_fits(card, folder, str(device), part)
    dtype = settings.get("dtype", "auto")
    with explained(card):
        model = loader.from_pretrained(card.model, **source, dtype=dtype, **place).eval()
        if not place:
            model.to(device)
    return LoadedModel(
        model,
        processor,
        processor if is_text else processor.tokenizer,
        is_text,
        context_of(model.config),
        _ends(model.generation_config.eos_token_id),
        _placeholders(model.config, processor),
        takes,
        card.video == "frames",
        _sampling_rate(processor) if card.hears else None,
        notes,
        str(model.config.model_type),
    )


def context_of(config: Any) -> int | None:
    """Return the most tokens that a model was made for; None where nothing bounds them."""
    text = config.get_text_config(decoder=True)
    found = (getattr(text, name, None) for name in _LENGTHS)
    longest = next((length for length in found if isinstance(length, int) and length > 0), None)
    rope = getattr(text, "rope_parameters", None) or {}
    factor = rope.get("factor")
    if longest is None or not factor or rope.get("rope_type") not in ("linear", "dynamic", "yarn"):
        return longest
    first = rope.get("original_max_position_embeddings")
    return max(longest, int((first or longest) * factor))


_LENGTHS = ("max_position_embeddings", "n_positions", "max_sequence_length", "max_seq_len")


def _processor(card: Card, is_text: bool, source: dict[str, Any]) -> tuple[Any, tuple[str, ...]]:
    """Return what makes tokens and tensors for a model, and what is to be said about it."""
    from transformers import AutoProcessor, AutoTokenizer

    reader = AutoTokenizer if is_text else AutoProcessor
    with explained(card):
        processor = reader.from_pretrained(card.model, **source)
    if not is_text and not hasattr(processor, "tokenizer"):
        raise ReelbenchError(NO_PROCESSOR.format(name=card.name, model=card.model))
    if not is_text and not processor.chat_template:
        processor.chat_template = processor.tokenizer.chat_template
    if processor.chat_template:
        return processor, ()
    if is_text:
        note = f"{card.name}: it has no chat template and gets the text of the messages alone."
        return processor, (note,)
    raise ReelbenchError(
        f"{card.name}: {card.model} has no chat template, so nobody knows where its pictures go: "
        "put the chat_template.jinja of the model that it was made of into its folder."
    )


def _takes(processor: Any) -> frozenset[str]:
    """Return what a processor takes and its chat template has a place for."""
    parts = {
        "image": hasattr(processor, "image_processor"),
        "video": getattr(processor, "video_processor", None) is not None,
        "audio": _sampling_rate(processor) is not None,
    }
    return frozenset(kind for kind, is_there in parts.items() if is_there
                     and _has_place(processor, kind))  # fmt: skip


def _has_place(processor: Any, kind: str) -> bool:
    text = {"type": "text", "text": "?"}
    try:
        with_it, without = (
            processor.apply_chat_template([{"role": "user", "content": content}], tokenize=False)
            for content in ([{"type": kind}, text], [text])
        )
    except Exception:  # of the template's own: it is then told when it is asked
        return True
    return bool(with_it != without)


def _sampling_rate(processor: Any) -> int | None:
    for name in ("feature_extractor", "audio_processor"):
        rate = getattr(getattr(processor, name, None), "sampling_rate", None)
        if isinstance(rate, int):
            return rate
    return None


def _folder_of(card: Card, source: dict[str, Any]) -> Path | None:
    """Return the folder of a model's files, where they are on this machine already."""
    if Path(card.model).is_dir():
        return Path(card.model)
    from transformers.utils import cached_file

    try:
        found = cached_file(card.model, "config.json", revision=source["revision"])
        return Path(found).parent
    except Exception:  # of the hub's: the same is told when it is loaded
        return None


def _loader_of(config: Any) -> tuple[Any, bool]:
    """Return the class of transformers that loads a model, and whether it takes text alone."""
    import transformers

    if hasattr(config, "thinker_config"):  # an omni model: what it would say is not asked for
        name = str(config.architectures[0] if config.architectures else type(config).__name__)
        name = name.removesuffix("Config").removesuffix("ForConditionalGeneration")
        name = name.removesuffix("Model").removesuffix("Thinker")
        return getattr(transformers, f"{name}ThinkerForConditionalGeneration"), False
    for kind in ("MULTIMODAL_LM", "IMAGE_TEXT_TO_TEXT"):
        known = getattr(transformers, f"MODEL_FOR_{kind}_MAPPING", {})
        if type(config) in known:
            return known[type(config)], False
    return transformers.AutoModelForCausalLM, True


def _ends(tokens: Any) -> frozenset[int]:
    if tokens is None:
        return frozenset()
    return frozenset(tokens if isinstance(tokens, list) else [tokens])


def _placeholders(config: Any, processor: Any) -> frozenset[int]:
    """Return the tokens that stand for media in a prompt, by all the names that they have."""
    names = [f"{kind}_token_{ending}" for kind in _KINDS for ending in ("id", "index")]
    found = {getattr(source, name, None) for source in (config, processor) for name in names}
    tokenizer = getattr(processor, "tokenizer", processor)
    for kind in _KINDS:
        token = getattr(processor, f"{kind}_token", None)
        if isinstance(token, str):  # some have no number for what a chat template writes
            found.add(tokenizer.convert_tokens_to_ids(token))
    return frozenset(token for token in found if isinstance(token, int))


def is_rounded(name: str, value: Any) -> bool:
    """Whether a tensor for a model is given in the model's precision; times are exact."""
    return bool(value.is_floating_point()) and "second_per_grid" not in name
