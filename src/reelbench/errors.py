"""The one exception a user is meant to read."""


class ReelbenchError(Exception):
    """Something the user can put right: the message is a sentence that says what, where and how.

    The command line prints it without a traceback and exits with 2; anything else that escapes
    is a defect of ours and keeps its traceback.
    """
