"""A judge of one's own: material to train it on, the training, serving, and how far it agrees."""

from typing import TYPE_CHECKING

from reelbench.base.lazy import lazily

__all__ = [
    "TrainSettings",
    "compare_judges",
    "grade_rows",
    "read_rows",
    "read_scores",
    "serve_judge",
    "train_judge",
    "write_material",
]

if TYPE_CHECKING:
    from reelbench.judge.compare import compare_judges
    from reelbench.judge.material import write_material
    from reelbench.judge.scores import read_scores
    from reelbench.judge.serve import serve_judge
    from reelbench.judge.sharegpt import read_rows
    from reelbench.judge.train import TrainSettings
    from reelbench.judge.training import train_judge
    from reelbench.judge.use import grade_rows

_HOMES = {
    "TrainSettings": "train",
    "compare_judges": "compare",
    "grade_rows": "use",
    "read_rows": "sharegpt",
    "read_scores": "scores",
    "serve_judge": "serve",
    "train_judge": "training",
    "write_material": "material",
}
__getattr__, __dir__ = lazily(__name__, _HOMES)
