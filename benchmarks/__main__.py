"""``python -m benchmarks`` measures speed: see :mod:`benchmarks.speed`."""

import sys

from .speed import main

if __name__ == "__main__":
    sys.exit(main())
