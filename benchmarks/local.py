"""How fast local models answer: 24 clips, nine questions about each, 16 frames of 256 tokens.

A LLaVA of 6 billion parameters with random weights; without a GPU, a tiny one, as a smoke test.
Beside a run of ours, with and without sharing what questions about the same frames have in common,
in the same process: a plain loop (decode, processor, generate, one question at a time) and
transformers' own ``generate`` on inputs that are ready. Ours begin with decoding and end with the
predictions written; no way counts the loading of the weights.

Run: python benchmarks/local.py [--ways loop,bare,plain,shared] [--picture FILE] [--memory 2000]
(needs the extra ``hf``)
"""

import argparse
import json
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path

import torch

sys.path.insert(0, str(Path(__file__).parent))

from inference.picture import draw
from inference.shape import NEW_TOKENS, SHAPES, build, write_benchmark
from inference.ways import Measured, bare_generate, card_of, memory_over, ours, plain_loop

from reelbench.data.benchmark import Benchmark
from reelbench.models.local.weights import load_weights

WAYS = ("loop", "bare", "bare2", "plain", "shared")


def main() -> None:
    """Print the table."""
    gpu = torch.cuda.is_available()
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shape", choices=sorted(SHAPES), default="6b" if gpu else "tiny")
    parser.add_argument("--clips", type=int, default=24 if gpu else 6)
    parser.add_argument("--questions", type=int, default=9)
    parser.add_argument("--frames", type=int, default=16 if gpu else 4)
    parser.add_argument("--batch", type=int, default=16 if gpu else 8, help="of bare generate")
    parser.add_argument("--ways", default=",".join(WAYS))
    parser.add_argument("--keep", type=Path, help="a folder for the model, built once")
    parser.add_argument("--json", type=Path, help="write the figures and the GPU's trace")
    parser.add_argument("--picture", type=Path, help="draw the GPU's trace, as SVG")
    parser.add_argument("--memory", type=int, default=0, help="ask so many with a tiny model")
    options = parser.parse_args()
    device = "cuda" if gpu else "cpu"
    if options.memory:
        print_memory(options.memory)
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        model = options.keep or folder / "model"
        if not model.exists():
            build(model, options.shape, device)
        benchmark = write_benchmark(folder, options.clips, options.questions, options.frames)
        place = torch.cuda.get_device_name() if gpu else "CPU"
        print(
            f"{place}, shape {options.shape}, {options.clips} clips x "
            f"{options.questions} questions, {options.frames} frames, {NEW_TOKENS} new tokens"
        )
        found = measured(options, model, folder, device, benchmark)
    table(found)
    if options.json:
        options.json.write_text(json.dumps([asdict(each) for each in found.values()]))
    if options.picture:
        options.picture.write_text(draw(list(found.values())))


def measured(
    options: argparse.Namespace, model: Path, folder: Path, device: str, benchmark: Benchmark
) -> dict[str, Measured]:
    """Measure the ways that were asked for."""
    ways = options.ways.split(",")
    found = {}
    if {"loop", "bare", "bare2"} & set(ways):
        loaded = load_weights(card_of(model, device))
        if "bare" in ways:
            found["bare"] = bare_generate(loaded, benchmark, options.batch)
        if "bare2" in ways:  # how much another batch size alone changes replies
            found["bare2"] = bare_generate(loaded, benchmark, max(1, options.batch // 2))
        if "loop" in ways:
            found["loop"] = plain_loop(loaded, benchmark)
        del loaded
        torch.cuda.empty_cache()
    if "plain" in ways:
        found["plain"] = ours(model, device, benchmark, folder / "plain", share_prefix=False)
    if "shared" in ways:
        found["shared"] = ours(model, device, benchmark, folder / "shared")
    return found


def print_memory(requests: int) -> None:
    """Print the memory of the host while a tiny model is asked so many questions."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        build(folder / "model", "tiny", "cpu")
        benchmark = write_benchmark(folder, -(-requests // 9), 9, 4)
        for done, megabytes in memory_over(folder / "model", benchmark, folder / "run"):
            print(f"{done:6} requests answered: {megabytes:6.0f} MB")


def table(found: dict[str, Measured]) -> None:
    """Print seconds, ratios to the others, and how many replies differ from bare generate's."""
    bare, loop = found.get("bare"), found.get("loop")
    print(f"{'':30}{'seconds':>9}{'x bare':>9}{'x loop':>9}{'GPU busy':>10}{'other replies':>15}")
    for each in found.values():
        ratio = f"{each.seconds / bare.seconds:.2f}" if bare else "-"
        speed = f"{loop.seconds / each.seconds:.1f}" if loop else "-"
        others = sum(a != b for a, b in zip(each.replies, bare.replies, strict=True)) if bare else 0
        print(
            f"{each.name:30}{each.seconds:9.1f}{ratio:>9}{speed:>9}{each.busy:9.0f}%"
            f"{others:9} of {each.requests}"
        )


if __name__ == "__main__":
    main()
