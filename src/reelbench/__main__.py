"""``python -m reelbench``."""

import sys

from reelbench.cli import main

if __name__ == "__main__":
    sys.exit(main())
