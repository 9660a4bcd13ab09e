"""``python -m fiedler`` is the command ``fiedler``."""

import gc

from .cli import main


def command() -> None:
    """The command in a process of its own, where little but importing scikit-learn takes time.

    Modules leave no garbage, so it is rarely looked for, and not once more through everything at the end.
    """
    gc.set_threshold(100_000)
    try:
        main(prog_name="fiedler")
    finally:
        gc.freeze()


if __name__ == "__main__":
    command()
