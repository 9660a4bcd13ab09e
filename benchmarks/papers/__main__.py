"""``python -m benchmarks.papers``: rerun the papers' experiments; ``--only sselect`` reruns one of them."""

from ..runner import main
from .constraints import constraints
from .evsc import evsc
from .figures import draw
from .spec import spec
from .sselect import sselect
from .ssls import ssls

EXPERIMENTS = (sselect, spec, ssls, constraints, evsc)

if __name__ == "__main__":
    if main("papers", EXPERIMENTS):
        draw()
