"""``python -m tangentc``: the command of that name."""

import sys

from tangentc.cli import main

if __name__ == "__main__":
    sys.exit(main())
