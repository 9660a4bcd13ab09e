"""The pictures of docs/howto/explore.md: a real session of `fiedler explore` on the data of the demo, in a browser.

    python tools/explore_pictures.py

It needs chromium, chromedriver, selenium and Pillow, and writes docs/explore.gif and docs/explore-*.png.
"""

import io
import sys
import tempfile
import time
from pathlib import Path

from PIL import Image
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests"), str(ROOT / "examples")]

from browsing import browser, media  # noqa: E402
from demo import write_table  # noqa: E402
from exploring import running  # noqa: E402

WIDTH, HEIGHT = 1280, 1000
NAMES = "return document.querySelector('.fx-selection-text').textContent.match(/s\\d+/g).map(s => +s.slice(1))"
READY = "const r = document.getElementById('explore'); return r.dataset.ready === 'true' && r.dataset.busy === '0'"


class Camera:
    """A page, what is clicked on it, and the pictures that were taken."""

    def __init__(self, driver):
        self.driver, self.frames = driver, []

    def wait(self):
        for _ in range(600):
            if self.driver.execute_script(READY):
                time.sleep(0.7)  # bars and points have moved
                return
            time.sleep(0.05)
        sys.exit("The page does not answer.")

    def press(self, text):
        script = "[...document.querySelectorAll('button')].find(b => b.textContent.startsWith(arguments[0])).click()"
        self.driver.execute_script(script, text)
        self.wait()

    def run(self, script, *arguments):
        self.driver.execute_script(script, *arguments)
        self.wait()

    def take(self, name=None):
        picture = Image.open(io.BytesIO(self.driver.get_screenshot_as_png())).convert("RGB")
        self.frames.append(picture)
        if name is not None:
            picture.save(ROOT / "docs" / f"explore-{name}.png", optimize=True)

    def escape(self):
        key = "new KeyboardEvent('keydown', {key: 'Escape', bubbles: true})"
        self.run(f"document.querySelector('.fx-canvas').dispatchEvent({key})")

    def choose(self, label, value):
        script = "const s = document.querySelector(`[aria-label^='${arguments[0]}']`); s.value = arguments[1];"
        self.run(script + "s.dispatchEvent(new Event('change')); s.dispatchEvent(new Event('input'))", label, value)


def size(driver, width, height, mobile=False):
    about = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": mobile}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", about)


def main() -> None:
    data = load_breast_cancer()
    X = StandardScaler().fit_transform(data.data)
    with tempfile.TemporaryDirectory() as folder, browser(Path(folder) / "profile") as driver:
        path = Path(folder) / "cells.csv"
        write_table(path, X, data.target, list(data.feature_names), list(data.target_names))
        driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [media("light")]})
        size(driver, WIDTH, HEIGHT)
        with running(path, "--id", "sample", "--drop", "diagnosis") as server:
            driver.get(server.address)
            camera = Camera(driver)
            camera.wait()
            camera.take("light")
            for number in range(20):  # the expert knows the diagnosis of every sample
                camera.press("Ask me for a pair")
                if number < 2:
                    camera.take()
                i, j = camera.driver.execute_script(NAMES)
                camera.press("Same" if data.target[i] == data.target[j] else "Different")
                camera.escape()
            camera.take("pairs")
            camera.run("document.querySelector('.fx-close').click()")
            camera.take()
            camera.run("document.querySelector('.fx-ranking .fx-link').click()")
            camera.take("feature")
            camera.press("Close")
            camera.choose("Layout", "chosen")
            camera.take()
            driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [media("dark")]})
            camera.choose("Layout", "all")
            camera.press("Accuracy curve")
            camera.press("Stability")
            time.sleep(8)
            camera.wait()
            camera.take("dark")
            size(driver, 390, 844, mobile=True)
            camera.wait()
            camera.take("narrow")
            driver.get("about:blank")
    small = [frame.resize((960, 960 * HEIGHT // WIDTH), Image.LANCZOS) for frame in camera.frames[:7]]
    together = Image.new("RGB", (small[0].width, small[0].height * len(small)))  # one palette for all frames
    for at, frame in enumerate(small):
        together.paste(frame, (0, at * frame.height))
    palette = together.quantize(255, method=Image.Quantize.MAXCOVERAGE, kmeans=3)
    flat = [frame.quantize(palette=palette, dither=Image.Dither.NONE) for frame in small]
    options = {"save_all": True, "append_images": flat[1:], "duration": 1800, "loop": 0, "optimize": True}
    flat[0].save(ROOT / "docs" / "explore.gif", **options)


if __name__ == "__main__":
    main()
