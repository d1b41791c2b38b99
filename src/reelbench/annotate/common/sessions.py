"""ONNX models, opened alike for all operators; those of a user are checked against ours."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from reelbench.base.errors import ReelbenchError
from reelbench.weights import import_extra, loaded
from reelbench.weights.registry import Shape, find


def one_thread_session(name: str) -> Any:
    """Return an ONNX session of named weights, or of those in their place, on one thread."""
    weights = find(name)

    def check(session: Any) -> None:
        if weights.takes:
            _check(session, weights.takes, weights.gives)

    return loaded(name, open_session, check)


def open_session(path: Path) -> Any:
    """Return an ONNX session of a file, on one thread so that results are reproducible."""
    runtime = import_extra("onnxruntime", "annotate")
    options = runtime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3  # errors; what else it says is about how files were made
    return runtime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def shapes_of(values: Sequence[Any]) -> dict[str, Shape]:
    """Return the shapes of the inputs or outputs of a session by name; None where any size does."""
    return {
        value.name: tuple(side if isinstance(side, int) else None for side in value.shape)
        for value in values
    }


def _check(session: Any, takes: Mapping[str, Shape], gives: Sequence[Shape]) -> None:
    """Raise unless a model takes and gives what the registered one does."""
    inputs, outputs = shapes_of(session.get_inputs()), shapes_of(session.get_outputs())
    fits = (
        inputs.keys() == takes.keys()
        and all(_agree(inputs[each], takes[each]) for each in takes)
        and len(outputs) >= len(gives)
        and all(_agree(*pair) for pair in zip(outputs.values(), gives, strict=False))
    )
    if not fits:
        raise ReelbenchError(
            f"it takes {_words(inputs)} and gives {_words(outputs)}, expected {_words(takes)} and "
            f"outputs of the shape {', '.join(map(_sides, gives))}: export it with these."
        )


def _agree(one: Shape, other: Shape) -> bool:
    if len(one) != len(other):
        return not one  # a file that does not declare its shape
    return all(a is None or b is None or a == b for a, b in zip(one, other, strict=True))


def _words(shapes: Mapping[str, Shape]) -> str:
    return ", ".join(f"{name} {_sides(shape)}" for name, shape in shapes.items()) or "nothing"


def _sides(shape: Shape) -> str:
    return f"[{', '.join('any' if side is None else str(side) for side in shape)}]"
