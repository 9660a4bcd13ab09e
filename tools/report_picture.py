"""The picture of the report in docs/quickstart.md: the report of its last command, in a browser.

    python tools/report_picture.py

It needs chromium, chromedriver, selenium and Pillow, and writes docs/report.png.
"""

import io
import os
import sys
import tempfile
from pathlib import Path

from click.testing import CliRunner
from PIL import Image
from sklearn.datasets import load_breast_cancer

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from browsing import browser  # noqa: E402

from fiedler.cli import main  # noqa: E402

WIDTH, HEIGHT = 1180, 1560
COMMAND = "compare cells.csv --target diagnosis -m subset -m sselect -m fisher --shown 10 --report report.html"


def write_report() -> None:
    """The report of the command, in the current folder."""
    data = load_breast_cancer(as_frame=True)
    X = (data.data - data.data.mean()) / data.data.std(ddof=0)
    X.assign(diagnosis=data.target).to_csv("cells.csv", index=False)
    result = CliRunner().invoke(main, COMMAND.split(), prog_name="fiedler")
    if result.exit_code:
        sys.exit(result.stderr)


def take_picture(profile: str) -> None:
    metrics = {"width": WIDTH, "height": HEIGHT, "deviceScaleFactor": 1, "mobile": False}
    with browser(profile) as driver:
        driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        driver.execute_cdp_cmd("Emulation.setScrollbarsHidden", {"hidden": True})
        driver.get(Path("report.html").resolve().as_uri())
        picture = Image.open(io.BytesIO(driver.get_screenshot_as_png())).convert("RGB")
    picture.quantize(128).save(ROOT / "docs" / "report.png", optimize=True)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        write_report()
        take_picture(f"{folder}/profile")
        os.chdir(ROOT)
