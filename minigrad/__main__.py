"""Run the command line with ``python -m minigrad``; see ``python -m minigrad --help``."""

import sys

from .cli.main import main

if __name__ == "__main__":
    sys.exit(main())
