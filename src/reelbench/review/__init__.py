"""The web application where people write, verify, rate and answer items.

It needs the extra ``web``, so its parts are imported when they are used.
"""

from typing import TYPE_CHECKING

from reelbench.base.lazy import lazily

__all__ = ["Review", "ReviewProtocol", "ServeOptions", "create_app", "opened_review"]

if TYPE_CHECKING:
    from reelbench.review.protocol import ReviewProtocol
    from reelbench.review.review import Review
    from reelbench.review.serve import ServeOptions, opened_review
    from reelbench.review.web.app import create_app

_HOMES = {
    "Review": "review",
    "ReviewProtocol": "protocol",
    "ServeOptions": "serve",
    "create_app": "web.app",
    "opened_review": "serve",
}
__getattr__, __dir__ = lazily(__name__, _HOMES)
