"""From files of rated responses to the folder of a trained judge."""

import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

import msgspec

from reelbench.base.errors import ReelbenchError
from reelbench.base.files import digest_of
from reelbench.evaluate.rubric import Rubric
from reelbench.judge.checkpoint import CHECKPOINTS
from reelbench.judge.curve import write_curve
from reelbench.judge.examples import make_examples, padded_tokens
from reelbench.judge.sharegpt import RatedResponse, check_disjoint, file_record, read_rows
from reelbench.judge.train import JudgeTrainer, TrainSettings, run_training, with_adapter
from reelbench.models.judge.folder import JUDGE_FILE, JudgeFolder, base_digest, load_tokenizer
from reelbench.weights import import_extra


@dataclass(frozen=True, slots=True)
class TrainingResult:
    """What came of a training."""

    folder: Path
    finished: bool
    losses: Sequence[dict[str, Any]]
    tests: Sequence[dict[str, Any]]


def train_judge(
    base: str,
    data: Path,
    rubric: Rubric,
    out: Path,
    *,
    test: Path | None = None,
    settings: TrainSettings | None = None,
    asked: JudgeFolder | None = None,
    gradient_checkpointing: bool = False,
    checkpoint_every: int = 50,
    stop_after: int = 0,
    device: str = "",
) -> TrainingResult:
    """Train a judge on rated responses and write its folder; a second call resumes the first.

    ``asked`` says how long prompts and reasons may be, and which side of a caption is cut. All data
    are read and checked before any weights are loaded.
    """
    settings = settings or TrainSettings()
    _check_settings(settings, checkpoint_every, stop_after)
    _check_new(out, base)
    rows = read_rows(data, rubric)
    tested = read_rows(test, rubric) if test else []
    check_disjoint(rows, tested)
    _check_prompts(rows, rubric, data)
    for package in ("torch", "transformers", "peft"):
        import_extra(package, "train")
    folder = _folder(base, rubric, asked)
    tokenizer = _loaded(base, lambda: load_tokenizer(folder))
    examples = make_examples(tokenizer, rows, folder, str(data))
    held = make_examples(tokenizer, tested, folder, str(test)) if test else []
    model = _base_model(base, device)
    folder = msgspec.structs.replace(
        folder, base_digest=base_digest(base, getattr(model.config, "_commit_hash", None))
    )
    files = {"train": file_record(data, rows)} | (
        {"test": file_record(test, tested)} if test else {}
    )
    identity = {
        "base_digest": folder.base_digest,
        "data": digest_of(files["train"]["sha256"]),
        "rubric": rubric.digest,
        "asked": [folder.most_tokens, folder.truncate, folder.reason_tokens],
        "settings": msgspec.to_builtins(settings),
    }
    adapted = with_adapter(model, settings, gradient_checkpointing)
    trainer = JudgeTrainer(adapted, examples, settings, tokenizer.pad_token_id)
    tests = run_training(
        trainer, out, identity, test=held, checkpoint_every=checkpoint_every, stop_after=stop_after
    )
    finished = len(trainer.losses) == len(trainer.steps)
    if finished:
        padding = padded_tokens(trainer.steps, trainer.lengths, settings.device_tokens)
        training = {
            "files": files,
            "settings": msgspec.to_builtins(settings),
            "steps": len(trainer.steps),
            "padding": round(padding, 4),
            "first_loss": trainer.losses[0]["loss"],
            "last_loss": trainer.losses[-1]["loss"],
            "test_losses": tests,
            "device": trainer.device.type,
            "versions": _versions(),
        }
        _write(out, adapted, tokenizer, msgspec.structs.replace(folder, training=training))
        write_curve(out, trainer.losses, tests)
        shutil.rmtree(out / CHECKPOINTS, ignore_errors=True)
    return TrainingResult(out, finished, trainer.losses, tests)


def _check_settings(settings: TrainSettings, checkpoint_every: int, stop_after: int) -> None:
    """Refuse numbers with which nothing can be trained, before anything is read."""
    counts = {
        **{name: getattr(settings, name) for name in ("epochs", "batch", "device_tokens", "rank")},
        "checkpoint_every": checkpoint_every,
    }
    wrong = [f"--{name.replace('_', '-')} {n}" for name, n in counts.items() if n < 1]
    wrong += [f"--learning-rate {settings.learning_rate}"] if settings.learning_rate <= 0 else []
    wrong += [f"--dropout {settings.dropout}"] if not 0 <= settings.dropout < 1 else []
    wrong += [f"--stop-after {stop_after}"] if stop_after < 0 else []
    if wrong:
        raise ReelbenchError(
            f"Nothing can be trained with {', '.join(wrong)}: write whole numbers from 1 on, a "
            "learning rate above 0, and a dropout from 0 to below 1."
        )


def _check_new(out: Path, base: str) -> None:
    """Refuse a folder that holds a trained judge, and a base model that is one."""
    if (out / JUDGE_FILE).exists():
        raise ReelbenchError(
            f"{out} holds a trained judge already: use it with `--judge judge:{out}`, or name "
            "another --out to train one."
        )
    if (Path(base) / JUDGE_FILE).exists():
        raise ReelbenchError(
            f"--base {base} is a trained judge, an adapter without weights of its own: name the "
            f"base model that its {JUDGE_FILE} has."
        )


def _check_prompts(rows: Sequence[RatedResponse], rubric: Rubric, data: Path) -> None:
    """Refuse rows that ask otherwise than the rubric does: a judge is asked as it was trained."""
    start = rubric.prompt.partition("{{")[0].strip()
    other = next((row for row in rows if not row.prompt.startswith(start)), None)
    if other:
        raise ReelbenchError(
            f"{data}: {other.id} does not ask as the rubric {rubric.name!r} does, so that a judge "
            "would be served another prompt than it was trained with: synthesize the rows again, "
            "or name their --rubric."
        )


def _folder(base: str, rubric: Rubric, asked: JudgeFolder | None) -> JudgeFolder:
    base = str(Path(base).resolve()) if Path(base).is_dir() else base
    return msgspec.structs.replace(
        asked or JudgeFolder(base=base),
        base=base,
        prompt=rubric.prompt,
        schema=dict(rubric.schema),
        rubric=rubric.name,
        rubric_digest=rubric.digest,
    )


def _base_model(base: str, device: str) -> Any:
    import torch
    from transformers import AutoModelForCausalLM

    device = device or ("cuda" if torch.cuda.is_available() else "cpu")
    dtype = torch.bfloat16 if device.startswith("cuda") else torch.float32
    model = _loaded(base, lambda: AutoModelForCausalLM.from_pretrained(base, dtype=dtype))
    return model.to(device)


def _loaded(base: str, load: Callable[[], Any]) -> Any:
    """Load a part of a base model; what cannot be loaded is a sentence."""
    try:
        return load()
    except (OSError, ValueError) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise ReelbenchError(
            f"--base {base} is no model that can be trained ({reason}): name a folder with "
            "config.json, weights and a tokenizer, or a causal language model on the hub."
        ) from error


def _write(out: Path, adapted: Any, tokenizer: Any, folder: JudgeFolder) -> None:
    """Write the adapter and the tokenizer, and last the file that makes it a judge's folder."""
    out.mkdir(parents=True, exist_ok=True)
    adapted.save_pretrained(out)
    tokenizer.save_pretrained(out)
    folder.write(out)


def _versions() -> dict[str, str]:
    packages = ("reelbench", "torch", "transformers", "peft")
    found = {}
    for name in packages:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:  # used from its source
            found[name] = "unknown"
    return found
