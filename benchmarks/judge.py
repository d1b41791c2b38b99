"""How fast a judge trains and judges: tokens a second, peak memory, and the GPU's busy share.

A decoder of 0.8B shape, built from a config with random weights, and a tokenizer trained on the
rows: nothing is downloaded. The rows are the rubric's real prompts with long captions. Beside our
training, in the same run, the same rows in the order they come, padded to the longest of each
batch, with the logits of all tokens, as a plain loop has it; beside our decoding, transformers'
own ``generate`` on the same prompts, which promises no valid JSON. Without a GPU a tiny shape is
measured, as a smoke test.

Run: python benchmarks/judge.py (needs torch, transformers and peft: the extra ``train``)
"""

import argparse
import resource
import statistics
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from inference.busy import sampled
from judging.shape import SHAPES, build, rated_rows_of

from reelbench.evaluate.rubric import load_rubric
from reelbench.judge.examples import TrainingExample, make_examples, padded_tokens
from reelbench.judge.train import JudgeTrainer, TrainSettings, deterministic, with_adapter
from reelbench.models.judge.decode import Decoder
from reelbench.models.judge.folder import JudgeFolder, load_tokenizer
from reelbench.models.judge.grammar import reply_parts
from reelbench.models.judge.prompt import prompt_tokens


@dataclass
class Measured:
    """One line of the table."""

    name: str
    tokens: int = 0
    seconds: float = 0.0
    peak: float = 0.0  # GiB
    busy: list[float] = field(default_factory=list)  # percent, as nvidia-smi samples it
    note: str = ""

    def line(self) -> str:
        """Return it as the table has it."""
        rate = self.tokens / max(self.seconds, 1e-9)
        busy = f"{statistics.mean(self.busy):.0f}%" if self.busy else "-"
        cells = (
            f"{self.tokens:,}",
            f"{self.seconds:.1f}",
            f"{rate:,.0f}",
            f"{self.peak:.1f}",
            busy,
        )
        return f"{self.name:34}" + "".join(f"{cell:>12}" for cell in cells) + f"  {self.note}"


def main() -> None:
    """Measure and print the table."""
    import torch

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shape", choices=sorted(SHAPES), help="0.8b on a GPU, else tiny")
    parser.add_argument("--steps", type=int, default=0, help="of training (20 on a GPU, else 3)")
    parser.add_argument("--gradient-checkpointing", action="store_true")
    parser.add_argument("--device-tokens", type=int, default=16_384)
    options = parser.parse_args()
    gpu = torch.cuda.is_available()
    shape = options.shape or ("0.8b" if gpu else "tiny")
    steps = options.steps or (20 if gpu else 3)
    batch = 64 if gpu else 4
    name = torch.cuda.get_device_name() if gpu else "CPU"
    with tempfile.TemporaryDirectory() as folder:
        rubric = load_rubric("criteria", Path(folder))
        rows = rated_rows_of(rubric, batch * steps)
        model, home = build(Path(folder) / "base", shape, rows)
        count = sum(parameter.numel() for parameter in model.parameters())
        print(f"{name}, {shape}: {count:,} parameters, {steps} steps of {batch} rows")
        asked = JudgeFolder(base=str(home), prompt=rubric.prompt, schema=dict(rubric.schema))
        tokenizer = load_tokenizer(asked)
        examples = make_examples(tokenizer, rows, asked, "rows")
        settings = TrainSettings(epochs=1, batch=batch, device_tokens=options.device_tokens)
        model = model.to("cuda", torch.bfloat16) if gpu else model
        adapted = with_adapter(model, settings, options.gradient_checkpointing)
        found = [trained(adapted, examples, settings, tokenizer.pad_token_id, gpu)]
        found.append(plain_loop(adapted, examples, settings, tokenizer.pad_token_id, gpu))
        merged = adapted.merge_and_unload().eval()
        prompts = [prompt_tokens(tokenizer, row.prompt, asked) for row in rows[: 2 * batch]]
        found.append(judged(merged, tokenizer, prompts, rubric.schema, batch, gpu))
        found.append(generated(merged, tokenizer, prompts, batch, gpu, found[-1]))
    headings = ("tokens", "seconds", "tokens/s", "GiB", "GPU busy")
    print(f"{'':34}" + "".join(f"{heading:>12}" for heading in headings))
    print("\n".join(each.line() for each in found))


def trained(
    model: Any, examples: list[TrainingExample], settings: TrainSettings, pad: int, gpu: bool
) -> Measured:
    """Our training; its first step warms up and is not counted."""
    trainer = JudgeTrainer(model, examples, settings, pad)
    padding = padded_tokens(trainer.steps, trainer.lengths, settings.device_tokens)
    found = Measured("training, ours", note=f"{padding:.1%} padding")
    with deterministic():
        trainer.step()
        with measuring(found, gpu):
            for _ in trainer.steps[1:]:
                found.tokens += trainer.step()["tokens"]
    found.note += f", loss {trainer.losses[0]['loss']:.2f} to {trainer.losses[-1]['loss']:.2f}"
    return found


def plain_loop(
    model: Any, examples: list[TrainingExample], settings: TrainSettings, pad: int, gpu: bool
) -> Measured:
    """The same rows in the order they come, an eighth of a step at a time, with all logits."""
    import torch

    found = Measured("training, a plain loop")
    weights = [p for p in model.parameters() if p.requires_grad]
    optimizer = torch.optim.AdamW(weights, settings.learning_rate)
    device = next(model.parameters()).device
    size = max(1, settings.batch // 8)
    model.train()

    def step(part: list[TrainingExample]) -> None:
        most = max(example.length for example in part)
        tokens = torch.full((len(part), most), pad)
        labels = torch.full_like(tokens, -100)
        for row, each in enumerate(part):
            tokens[row, : each.length] = torch.tensor(each.prompt + each.reply)
            labels[row, len(each.prompt) : each.length] = torch.tensor(each.reply)
        with torch.autocast(device.type, torch.bfloat16, enabled=gpu):
            made = model(
                input_ids=tokens.to(device),
                attention_mask=(tokens != pad).long().to(device),
                labels=labels.to(device),
                use_cache=False,
            )
        made.loss.backward()

    batches = [examples[at : at + size] for at in range(0, len(examples), size)]
    try:
        step(batches[0])
        with measuring(found, gpu):
            for number, part in enumerate(batches[8:] or batches, 1):
                step(part)
                found.tokens += sum(example.length for example in part)
                if number % 8 == 0:
                    optimizer.step()
                    optimizer.zero_grad(set_to_none=True)
    except torch.OutOfMemoryError:
        found.note = "out of memory"
        torch.cuda.empty_cache()
    optimizer.zero_grad(set_to_none=True)
    return found


def judged(
    model: Any, tokenizer: Any, prompts: list[list[int]], schema: Any, batch: int, gpu: bool
) -> Measured:
    """Our decoding, of replies that are always valid."""
    decoder = Decoder(model, tokenizer)
    grammar = decoder.grammar(reply_parts(schema), 32)
    found = Measured("judging, ours")
    decoder.write(prompts[:2], [grammar] * 2)
    with measuring(found, gpu):
        for at in range(0, len(prompts), batch):
            part = prompts[at : at + batch]
            found.tokens += sum(
                reply.tokens for reply in decoder.write(part, [grammar] * len(part))
            )
    found.note = f"{len(prompts) / found.seconds:.1f} replies/s, all valid JSON"
    return found


def generated(
    model: Any, tokenizer: Any, prompts: list[list[int]], batch: int, gpu: bool, ours: Measured
) -> Measured:
    """Transformers' own generate, as many tokens for each reply."""
    import torch

    found = Measured("judging, transformers' generate")
    count = max(1, round(ours.tokens / len(prompts)))
    with measuring(found, gpu), torch.inference_mode():
        for at in range(0, len(prompts), batch):
            rows = [{"input_ids": row} for row in prompts[at : at + batch]]
            padded = tokenizer.pad(rows, padding_side="left", return_tensors="pt").to(model.device)
            model.generate(
                **padded,
                max_new_tokens=count,
                min_new_tokens=count,
                do_sample=False,
                pad_token_id=tokenizer.pad_token_id,
            )
            found.tokens += count * len(rows)
    found.note = f"{len(prompts) / found.seconds:.1f} replies/s, any text"
    return found


@contextmanager
def measuring(found: Measured, gpu: bool) -> Iterator[None]:
    """Fill in the time, the peak of memory and how busy the GPU is."""
    if not gpu:
        began = time.perf_counter()
        yield
        found.seconds = time.perf_counter() - began
        found.peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        return
    import torch

    torch.cuda.synchronize()
    torch.cuda.reset_peak_memory_stats()
    with sampled() as samples:
        began = time.perf_counter()
        yield
        torch.cuda.synchronize()
        found.seconds = time.perf_counter() - began
    found.busy = [percent for _, percent in samples]
    found.peak = torch.cuda.max_memory_allocated() / 2**30


if __name__ == "__main__":
    main()
