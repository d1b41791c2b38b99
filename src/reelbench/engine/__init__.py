"""Where work runs: on this machine, or on a Ray cluster. The same work, the same results."""

from typing import TYPE_CHECKING

from reelbench.base.lazy import lazily

__all__ = [
    "Engine",
    "Job",
    "JobResult",
    "LocalEngine",
    "RayEngine",
]

if TYPE_CHECKING:
    from reelbench.engine.base import Engine, Job, JobResult
    from reelbench.engine.cluster import RayEngine
    from reelbench.engine.local import LocalEngine

_HOMES = {
    "JobResult": "base",
    "Engine": "base",
    "Job": "base",
    "LocalEngine": "local",
    "RayEngine": "cluster",
}
__getattr__, __dir__ = lazily(__name__, _HOMES)
