"""The web application: pages, the requests they send, and what keeps strangers out."""

from reelbench.review.web.app import create_app

__all__ = ["create_app"]
