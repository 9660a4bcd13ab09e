"""``python -m fiedler`` is the command ``fiedler``."""

from .cli import main

if __name__ == "__main__":
    main(prog_name="fiedler")
