"""``python -m fiedler`` is the command ``fiedler``."""

import gc

from .cli import main


def command() -> None:
    """Run the command in its own process, where most of the time is spent on importing scikit-learn.

    Imported modules leave no garbage, so garbage is collected rarely, and not at the end.
    """
    gc.set_threshold(100_000)
    try:
        main(prog_name="fiedler")
    finally:
        gc.freeze()


if __name__ == "__main__":
    command()
