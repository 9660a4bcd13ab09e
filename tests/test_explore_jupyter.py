"""The widget in a real JupyterLab, in the browser of the other tests.

JupyterLab is installed into an environment of the test's own, which takes a minute: FIEDLER_JUPYTER=1 asks for it.
FIEDLER_JUPYTER can also be the path of an environment with jupyterlab and anywidget.
"""

import itertools
import json
import os
import subprocess
import sys
import sysconfig
import time
import urllib.request
from pathlib import Path

import numpy as np
import pytest
from browsing import NEEDS_BROWSER, browser, limit

import fiedler
from fiedler import SpectralSelector
from fiedler.explore import Session
from fiedler.explore.server import open_port

pytestmark = [
    *NEEDS_BROWSER,
    pytest.mark.slow,
    pytest.mark.skipif(
        not os.environ.get("FIEDLER_JUPYTER"), reason="installs JupyterLab; FIEDLER_JUPYTER=1 asks for it"
    ),
]

CODE = """
import json
import numpy as np
import fiedler
X = np.load("X.npy")
page = fiedler.explore(X, n_features=2)
def keep(change):
    told = {"pairs": {kind: pairs.tolist() for kind, pairs in page.pairs.items()}}
    told["order"] = page.selector.order_.tolist()
    with open("told.json", "w") as file:
        json.dump(told, file)
page.observe(keep, "version")
page
"""


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 5))
    X[:, :2] += 4 * rng.normal(size=(4, 2))[np.arange(40) % 4]
    return X


@pytest.fixture(scope="module")
def lab(tmp_path_factory, table):
    """The address of a notebook in a running JupyterLab, and its folder."""
    home = tmp_path_factory.mktemp("lab")
    env = Path(os.environ["FIEDLER_JUPYTER"])
    if not (env / "bin").is_dir():
        env = home / "env"
        subprocess.run([sys.executable, "-m", "venv", env], check=True)
        install = [env / "bin/python", "-m", "pip", "install", "-q", "jupyterlab", "anywidget"]
        done = subprocess.run(install, capture_output=True, text=True, check=False)
        if done.returncode:
            pytest.skip(f"JupyterLab cannot be installed here: {done.stderr[-300:]}")
    inside = next((env / "lib").glob("python*/site-packages"))
    paths = [Path(fiedler.__file__).resolve().parent.parent, sysconfig.get_paths()["purelib"]]
    (inside / "tested.pth").write_text("\n".join(map(str, paths)))
    work = home / "work"
    work.mkdir()
    np.save(work / "X.npy", table)
    cell = {"cell_type": "code", "id": "one", "metadata": {}, "outputs": [], "execution_count": None, "source": CODE}
    about = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    notebook = {"cells": [cell], "metadata": about, "nbformat": 4, "nbformat_minor": 5}
    (work / "page.ipynb").write_text(json.dumps(notebook))
    with open_port() as free:
        port = free.getsockname()[1]
    own = {name: str(home / name) for name in ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR")}
    own |= {"HOME": str(home), "JUPYTER_PLATFORM_DIRS": "1"}
    options = ["--no-browser", "--allow-root", f"--port={port}", "--ServerApp.ip=127.0.0.1", f"--notebook-dir={work}"]
    options += ["--IdentityProvider.token=secret", "--expose-app-in-browser", "--LabApp.news_url=None"]
    options += ["--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate", "--ServerApp.port_retries=0"]
    command = [env / "bin/python", "-m", "jupyterlab", *options]
    with (home / "log.txt").open("w") as log:
        process = subprocess.Popen(command, env=os.environ | own, stdout=log, stderr=log, cwd=work)
    try:
        address = f"http://127.0.0.1:{port}"
        wait_for(lambda: answers(f"{address}/api?token=secret"), 120, home / "log.txt")
        yield f"{address}/lab/tree/page.ipynb?token=secret", work
    finally:
        process.terminate()
        process.wait(60)


def answers(address):
    try:
        with urllib.request.urlopen(address, timeout=5) as reply:
            return reply.status == 200
    except OSError:
        return False


def wait_for(condition, seconds, log=None):
    limit = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < limit, "" if log is None else log.read_text()[-2000:]
        time.sleep(0.2)


def test_the_page_in_jupyterlab(lab, table, tmp_path):
    address, work = lab
    session = Session(table, n_features=2)
    with limit(400), browser(tmp_path / "profile") as driver:
        driver.get(address)
        ready = "return Boolean(window.jupyterapp && document.querySelector('.jp-Notebook .jp-CodeCell'))"
        wait_for(lambda: driver.execute_script(ready), 120)
        kernel = "return document.querySelector('.jp-Notebook-ExecutionIndicator')?.dataset.status"
        wait_for(lambda: driver.execute_script(kernel) == "idle", 120)
        # Before the kernel is connected, JupyterLab asks for one and then runs nothing: it is told again.
        run = "if (arguments[0]) window.jupyterapp.commands.execute('notebook:run-all-cells');"
        run += "document.querySelector('.jp-Dialog .jp-mod-accept')?.click();"
        run += "return document.querySelector('.fiedler-explore')?.dataset.ready === 'true'"
        tries = itertools.count()
        wait_for(lambda: driver.execute_script(run, next(tries) % 150 == 0), 180)  # every 30 seconds
        driver.execute_script("document.querySelector('.fx-canvas').scrollIntoView({block: 'center'})")
        for row in (3, 8):
            box = driver.execute_script("return document.querySelector('.fx-canvas').getBoundingClientRect().toJSON()")
            side = min(box["width"], box["height"]) / 2 - 18
            x, y = session.places[row]
            at = {"x": box["x"] + box["width"] / 2 + x * side, "y": box["y"] + box["height"] / 2 - y * side}
            for kind in ("mouseMoved", "mousePressed", "mouseReleased"):
                about = {"type": kind, "button": "none" if kind == "mouseMoved" else "left", "clickCount": 1}
                driver.execute_cdp_cmd("Input.dispatchMouseEvent", about | at)
        text = "return document.querySelector('.fx-selection-text').textContent"
        wait_for(lambda: "row 3 and row 8" in driver.execute_script(text), 60)
        driver.execute_script(
            "[...document.querySelectorAll('.fx-selection button')].find(b => b.textContent.startsWith('Diff')).click()"
        )
        version = "return document.querySelector('.fiedler-explore').dataset.version"
        wait_for(lambda: driver.execute_script(version) == "1", 60)
        order = driver.execute_script(
            "return [...document.querySelectorAll('.fx-ranking tbody tr')].map(r => Number(r.dataset.feature))"
        )
        wait_for((work / "told.json").exists, 60)
        if os.environ.get("FIEDLER_PICTURES"):
            driver.save_screenshot(os.path.join(os.environ["FIEDLER_PICTURES"], "explore-jupyter.png"))
    pairs = {"must_link": np.empty((0, 2), dtype=int), "cannot_link": [[3, 8]]}
    fitted = SpectralSelector("subset", n_features_to_select=2).fit(table, **pairs)
    told = json.loads((work / "told.json").read_text())
    assert order == fitted.order_.tolist() == told["order"]
    assert told["pairs"] == {"must_link": [], "cannot_link": [[3, 8]]}
