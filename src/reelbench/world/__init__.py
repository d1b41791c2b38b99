"""The synthetic world: videos whose truth is known, for the demo and for tests."""

from typing import TYPE_CHECKING

from reelbench.base.lazy import lazily

__all__ = [
    "Scene",
    "is_synthesized",
    "synthesize",
]

if TYPE_CHECKING:
    from reelbench.world.render import is_synthesized, synthesize
    from reelbench.world.scene import Scene

_HOMES = {
    "Scene": "scene",
    "is_synthesized": "render",
    "synthesize": "render",
}
__getattr__, __dir__ = lazily(__name__, _HOMES)
