"""Train a judge: LoRA on the replies alone, the same in every run, and resumable at any step.

A step's losses are summed over the tokens of its replies, whatever they are split into to fit on
the device. Nothing is drawn but from the seed and the step's number, so that a training which goes
on from a checkpoint equals one that never stopped: bit for bit on a CPU, with as many threads.
"""

import math
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import msgspec

from reelbench.base.progress import progress
from reelbench.base.seeds import seed_for
from reelbench.judge.checkpoint import last_checkpoint, save_checkpoint
from reelbench.judge.curve import write_curve
from reelbench.judge.examples import TrainingExample, plan_steps, split_step

_WARM_UP = 0.05  # of the steps
_LEAST_RATE = 0.1  # of the learning rate, at the end
_MOST_NORM = 1.0  # of the gradients


class TrainSettings(msgspec.Struct, frozen=True, kw_only=True):
    """What decides a training beside its data and base model; the paper names none of them."""

    epochs: int = 2
    batch: int = 32  # rows a step
    device_tokens: int = 16_384  # on the device at the same time
    learning_rate: float = 2e-4
    rank: int = 16
    alpha: int = 32
    dropout: float = 0.05
    seed: int = 0


class JudgeTrainer:
    """A training under way: a base model with an adapter, its optimizer, and the losses so far."""

    def __init__(
        self, model: Any, examples: Sequence[TrainingExample], settings: TrainSettings, pad: int
    ) -> None:
        import torch

        self._torch, self.model, self._examples, self._pad = torch, model, examples, pad
        self.settings = settings
        self.device = next(model.parameters()).device
        self.lengths = [example.length for example in examples]
        self.steps = plan_steps(self.lengths, settings.batch, settings.epochs, settings.seed)
        self.losses: list[dict[str, Any]] = []
        self._trained = [p for p in model.parameters() if p.requires_grad]
        fused = self.device.type == "cuda"
        self._optimizer = torch.optim.AdamW(
            self._trained, settings.learning_rate, weight_decay=0.0, fused=fused
        )

    def step(self) -> dict[str, Any]:
        """Do the next step and return its record."""
        torch, number = self._torch, len(self.losses)
        torch.manual_seed(seed_for(self.settings.seed, "judge step", number) >> 1)
        places = self.steps[number]
        rate = self.settings.learning_rate * _schedule(number, len(self.steps))
        for group in self._optimizer.param_groups:
            group["lr"] = rate
        total = sum(len(self._examples[place].reply) for place in places)
        self.model.train()
        loss = torch.zeros((), device=self.device)
        for part in split_step(places, self.lengths, self.settings.device_tokens):
            with self._autocast():
                summed = self._loss([self._examples[place] for place in part]) / total
            summed.backward()
            loss += summed.detach()
        torch.nn.utils.clip_grad_norm_(self._trained, _MOST_NORM)
        self._optimizer.step()
        self._optimizer.zero_grad(set_to_none=True)
        record = {
            "step": number + 1,
            "loss": round(float(loss), 6),
            "learning_rate": float(f"{rate:.6g}"),
            "tokens": sum(self.lengths[place] for place in places),
            "reply_tokens": total,
        }
        self.losses.append(record)
        return record

    def mean_loss(self, examples: Sequence[TrainingExample]) -> float:
        """Return the mean loss of a reply's token over examples that are not trained on."""
        torch = self._torch
        self.model.eval()
        lengths = [example.length for example in examples]
        total = 0.0
        with torch.inference_mode():
            groups = split_step(range(len(examples)), lengths, self.settings.device_tokens)
            for part in groups:
                with self._autocast():
                    total += float(self._loss([examples[place] for place in part]))
        return total / max(1, sum(len(example.reply) for example in examples))

    def _autocast(self) -> Any:
        if self.device.type != "cuda":
            return nullcontext()
        return self._torch.autocast("cuda", self._torch.bfloat16)

    def _loss(self, examples: Sequence[TrainingExample]) -> Any:
        """Sum the losses of the replies; only logits from the first reply on are made.

        Rows are of nearly one length, and padding stands behind them: no token attends to it, so
        that no mask is needed and attention runs in its fastest kernel.
        """
        torch = self._torch
        most = max(example.length for example in examples)
        first = min(len(example.prompt) for example in examples)
        tokens = torch.full((len(examples), most), self._pad)
        wanted = torch.full((len(examples), most - first), -100)
        for row, example in enumerate(examples):
            tokens[row, : example.length] = torch.tensor(example.prompt + example.reply)
            begin = len(example.prompt) - first
            wanted[row, begin : begin + len(example.reply)] = torch.tensor(example.reply)
        if self.device.type == "cuda":
            tokens, wanted = (
                each.pin_memory().to(self.device, non_blocking=True) for each in (tokens, wanted)
            )
        # The logits of one position say what comes at the next.
        made = self.model(input_ids=tokens, use_cache=False, logits_to_keep=most - first + 1)
        logits = made.logits[:, :-1].float()
        return torch.nn.functional.cross_entropy(
            logits.flatten(0, 1), wanted.flatten(), ignore_index=-100, reduction="sum"
        )

    def state(self) -> dict[str, Any]:
        """Return the tensors that a checkpoint keeps."""
        weights = {n: p.detach().cpu() for n, p in self.model.named_parameters() if p.requires_grad}
        return {"weights": weights, "optimizer": self._optimizer.state_dict()}

    def resume(self, state: dict[str, Any], losses: list[dict[str, Any]]) -> None:
        """Take up where a checkpoint was written."""
        with self._torch.no_grad():
            for name, parameter in self.model.named_parameters():
                if parameter.requires_grad:
                    parameter.copy_(state["weights"][name])
        self._optimizer.load_state_dict(state["optimizer"])
        self.losses = list(losses)


def with_adapter(model: Any, settings: TrainSettings, gradient_checkpointing: bool) -> Any:
    """Return a base model with a new adapter on all its linear layers, drawn from the seed."""
    import torch
    from peft import LoraConfig, get_peft_model

    torch.manual_seed(seed_for(settings.seed, "judge adapter") >> 1)
    config = LoraConfig(
        r=settings.rank,
        lora_alpha=settings.alpha,
        lora_dropout=settings.dropout,
        target_modules="all-linear",
        task_type="CAUSAL_LM",
    )
    if gradient_checkpointing:
        model.gradient_checkpointing_enable({"use_reentrant": False})
        model.enable_input_require_grads()
    return get_peft_model(model, config)


@contextmanager
def deterministic() -> Iterator[None]:
    """Let torch choose what gives the same sums each time, where there is such a choice."""
    import torch

    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    before = torch.are_deterministic_algorithms_enabled()
    filled = torch.utils.deterministic.fill_uninitialized_memory
    cudnn = torch.backends.cuda.cudnn_sdp_enabled()
    torch.use_deterministic_algorithms(True, warn_only=True)
    torch.utils.deterministic.fill_uninitialized_memory = False  # it costs time
    torch.backends.cuda.enable_cudnn_sdp(False)  # flash attention was a tenth faster on an H200
    try:
        yield
    finally:
        torch.use_deterministic_algorithms(before)
        torch.utils.deterministic.fill_uninitialized_memory = filled
        torch.backends.cuda.enable_cudnn_sdp(cudnn)


def run_training(
    trainer: JudgeTrainer,
    out: Path,
    identity: dict[str, Any],
    *,
    test: Sequence[TrainingExample] = (),
    checkpoint_every: int = 50,
    stop_after: int = 0,
    on_step: Callable[[dict[str, Any]], None] = lambda _: None,
) -> list[dict[str, Any]]:
    """Train to the end, or to ``stop_after``; return the losses on the test rows.

    What a checkpoint in the folder has done is not done again.
    """
    if known := last_checkpoint(out, identity, str(trainer.device)):
        trainer.resume(known[1], [each for each in known[2] if "test" not in each])
    tests = [each for each in known[2] if "test" in each] if known else []
    if test and not tests:
        tests.append({"test": True, "step": 0, "loss": round(trainer.mean_loss(test), 6)})
    total = len(trainer.steps)
    last = min(total, stop_after or total)
    shown = {"loss": math.nan, "rate": 0.0}

    def more() -> str:
        return f"loss {shown['loss']:.4f}, {shown['rate']:,.0f} tokens/s"

    with (
        progress("Training", last - len(trainer.losses), "steps", more) as advance,
        deterministic(),
    ):
        while len(trainer.losses) < last:
            began = time.monotonic()
            record = trainer.step()
            shown["loss"] = record["loss"]
            shown["rate"] = record["tokens"] / max(time.monotonic() - began, 1e-9)
            on_step(record)
            advance()
            done = len(trainer.losses)
            if done % checkpoint_every == 0 or done == last:
                if test:
                    loss = round(trainer.mean_loss(test), 6)
                    tests.append({"test": True, "step": done, "loss": loss})
                save_checkpoint(out, done, identity, trainer.state(), [*trainer.losses, *tests])
                write_curve(out, trainer.losses, tests)
    return tests


def _schedule(number: int, steps: int) -> float:
    """The share of the learning rate at a step: it warms up, then falls as a cosine."""
    warm = max(1, round(_WARM_UP * steps))
    if number < warm:
        return (number + 1) / warm
    done = (number - warm) / max(1, steps - warm)
    return _LEAST_RATE + (1 - _LEAST_RATE) * 0.5 * (1 + math.cos(math.pi * done))
