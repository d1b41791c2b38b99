"""What a trained judge's folder holds: ``judge.json`` beside the adapter and the tokenizer."""

from pathlib import Path
from typing import Any, Literal

import msgspec

from reelbench.base.errors import ReelbenchError
from reelbench.base.files import digest_of, digest_of_file, pretty_json, write_atomically
from reelbench.base.limits import bounded_bytes
from reelbench.base.progress import announce

JUDGE_FILE = "judge.json"
MOST_TOKENS = 4096  # of a prompt; a longer caption is cut
REASON_TOKENS = 64  # of one reason
_WEIGHTS = (".safetensors", ".bin")

Side = Literal["start", "end"]


class JudgeFolder(msgspec.Struct, frozen=True, kw_only=True):
    """What decides how a judge is asked, and what it was trained on."""

    base: str  # a folder, or a name on the hub
    base_digest: str = ""
    prompt: str = ""  # of the rubric, with its slots: where the caption stands
    schema: dict[str, Any] = {}  # of its replies, where a request names none
    rubric: str = ""
    rubric_digest: str = ""
    most_tokens: int = MOST_TOKENS  # of a prompt
    truncate: Side = "end"  # the side of a long caption that is left out
    reason_tokens: int = REASON_TOKENS  # of each free text in a reply
    training: dict[str, Any] = {}  # data and their hashes, settings, versions, losses
    adapter: Path | None = None  # the folder itself; None for a model that was not trained here

    def write(self, folder: Path) -> None:
        """Write ``judge.json``."""
        record = msgspec.to_builtins(msgspec.structs.replace(self, adapter=None))
        del record["adapter"]
        write_atomically(folder / JUDGE_FILE, pretty_json(record))

    @property
    def digest(self) -> str:
        """The hash of what decides its replies; without weights, for those are read later."""
        weights = sorted(self.adapter.glob("adapter_model*")) if self.adapter else []
        asked = [self.prompt, self.schema, self.most_tokens, self.truncate, self.reason_tokens]
        return digest_of([self.base_digest, *asked, [digest_of_file(path) for path in weights]])


def read_folder(name: str) -> JudgeFolder:
    """Return what is known of a judge; of a model that was not trained here, only its name."""
    path = Path(name) / JUDGE_FILE
    if not path.is_file():
        return JudgeFolder(base=name)
    try:
        found = msgspec.json.decode(bounded_bytes(path), type=JudgeFolder)
    except msgspec.DecodeError as error:
        raise ReelbenchError(
            f"{path} does not describe a judge ({error}): train it again with `reelbench judge "
            "train`, or name the folder that this wrote."
        ) from None
    return msgspec.structs.replace(found, adapter=path.parent)


def base_digest(base: str, revision: str | None = None) -> str:
    """Return the hash of a base model: of its files, or of its name and commit on the hub."""
    folder = Path(base)
    if not folder.is_dir():
        return digest_of([base, revision])
    files = [path for path in sorted(folder.iterdir()) if path.suffix in _WEIGHTS]
    config = folder / "config.json"
    hashes = {path.name: digest_of_file(path) for path in (config, *files) if path.is_file()}
    return digest_of(hashes)


def check_base(folder: JudgeFolder, found: str) -> None:
    """Refuse an adapter on a base model that it was not trained on."""
    if folder.base_digest and found != folder.base_digest:
        raise ReelbenchError(
            f"{folder.adapter} was trained on another base model than {folder.base} now holds "
            f"(sha256 {folder.base_digest[:12]}, here {found[:12]}): put the old one back, or "
            "train again."
        )


def load_tokenizer(folder: JudgeFolder) -> Any:
    """Return the tokenizer, that of the trained judge where there is one."""
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(folder.adapter or folder.base)
    if tokenizer.pad_token_id is None:
        tokenizer.pad_token = tokenizer.eos_token
    return tokenizer


def load_weights(folder: JudgeFolder, device: str = "") -> Any:
    """Return the model with its adapter merged in, on a GPU in bfloat16 where there is one."""
    import torch
    from transformers import AutoModelForCausalLM

    device = device or ("cuda" if torch.cuda.is_available() else "cpu")
    dtype = torch.bfloat16 if device.startswith("cuda") else torch.float32
    model: Any = AutoModelForCausalLM.from_pretrained(folder.base, dtype=dtype)
    if folder.adapter:
        check_base(folder, base_digest(folder.base, getattr(model.config, "_commit_hash", None)))
        from peft import PeftModel

        model = PeftModel.from_pretrained(model, folder.adapter).merge_and_unload()
    else:
        announce(f"{folder.base} has no {JUDGE_FILE}: it judges without having been trained to.")
    return model.to(device).eval()
