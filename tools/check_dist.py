"""What was built is what we mean to ship: the wheel's files, and the README's lines run from it, away from here.

    python tools/check_dist.py [PYTHON]

In two new environments, with the wheel alone and with ``fiedler[all]``, outside of the checkout and isolated from it,
every line of Python and every ``fiedler`` command of the README is run on small made-up files. With all extras each
must succeed; with the wheel alone it may also say which extra or package is missing, and that is told.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
UV = [sys.executable, "-m", "uv"]
SETTING_UP = {"pip", "make"}  # commands of the README that build environments, as this file does
NEEDED = {"py.typed", "version.py", *(f"report/templates/report.{kind}" for kind in ("css", "js", "html.j2"))}
NEEDED |= {f"explore/page/{name}" for name in ("index.html", "main.js", "app.js", "widget.js", "style.css")}

# Runs the blocks of Python in one session, as a reader would; its last line tells what became of each statement.
SESSION = """
import ast, json, sys

import numpy as np

rng = np.random.default_rng(0)
y = np.repeat([0, 1, 2], 30)
X = rng.normal(size=(90, 120)) + np.outer(y, np.linspace(1, 0, 120))
space = {"X": X, "y": np.where(np.arange(90) % 3 == 0, y, -1)}
told = []
for block in json.loads(sys.argv[1]):
    if "rows_in_dask" in block:
        try:
            import dask.array
            space["rows_in_dask"] = dask.array.from_array(X, chunks=(30, 120))
        except ImportError:
            pass  # the block imports it too, and is told to need it
    missing = None
    if "adata" in block:
        try:
            import anndata
            from sklearn.neighbors import kneighbors_graph
            kind = np.where(space["y"] < 0, "", np.array(["a", "b", "c"])[y])
            cells = {"cell_type": kind, "sample": np.tile(["one", "two"], 45)}
            genes = rng.normal(size=(90, 2400)) + np.outer(y, np.linspace(1, 0, 2400))
            adata = space["adata"] = anndata.AnnData(genes, cells)
            adata.obsp["spatial_connectivities"] = kneighbors_graph(X, 6)
        except ImportError as error:
            missing = error.name
    for node in ast.parse(block).body:
        line = ast.unparse(node)
        if missing is None:
            try:
                exec(compile(ast.Module([node], []), "README.md", "exec"), space)
            except ModuleNotFoundError as error:
                missing = error.name
            except Exception as error:
                told.append((line, "failed", f"{type(error).__name__}: {error}"))
                continue
        told.append((line, "needs" if missing else "runs", missing))
print(json.dumps(told))
"""

# The files that the commands name, made by the library's friends rather than by the library.
FILES = """
import sys

import anndata, numpy as np, pandas as pd, zarr

rng = np.random.default_rng(0)
label = np.repeat(["a", "b", "c"], 30)
X = rng.normal(size=(90, 240)) + np.outer(np.repeat([0, 1, 2], 30), np.linspace(1, 0, 240))
names, rows = [f"gene{j}" for j in range(240)], [f"s{i}" for i in range(90)]
pd.DataFrame(X, columns=names).assign(label=label).to_csv("genes.csv", index=False)
anndata.AnnData(X, pd.DataFrame({"kind": label}, index=rows), pd.DataFrame(index=names)).write_h5ad("cells.h5ad")
zarr.create_array("big.zarr", data=X, chunks=(90, 60))
"""


Told = tuple[str, str, str | None]  # a line; runs, needs, failed or not run; what it needs or says


def main() -> None:
    python = sys.argv[1] if len(sys.argv) > 1 else sys.executable
    (wheel,), (sdist,) = (ROOT / "dist").glob("*.whl"), (ROOT / "dist").glob("*.tar.gz")
    check_contents(wheel, sdist)
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    commands = "".join(re.findall(r"```sh\n(.*?)```", text, re.DOTALL)).splitlines()
    if not blocks or not commands:
        sys.exit("README.md shows no Python or no commands; there is nothing to run.")
    with tempfile.TemporaryDirectory() as folder:
        bare, full = (Path(folder) / name for name in ("bare", "full"))
        for home, extras in ((bare, ""), (full, "[all]")):
            run([*UV, "venv", "-q", "--python", python, home / "env"], ROOT)
            run([*UV, "pip", "install", "-q", "--python", home / "env/bin/python", f"{wheel}{extras}"], ROOT)
        run([full / "env/bin/python", "-I", "-W", "ignore", "-c", FILES], full)
        shutil.copytree(full, bare, ignore=lambda *_: ["env"], dirs_exist_ok=True)
        failed = [line for home in (bare, full) for line in check_lines(home, blocks, commands)]
    if failed:
        sys.exit(f"{len(failed)} of the README's lines do not hold.")


def check_contents(wheel: Path, sdist: Path) -> None:
    """The wheel is the package and its metadata; the sdist has the same package, and what its tests read."""
    with zipfile.ZipFile(wheel) as archive:
        built = {name for name in archive.namelist() if not re.match(r"fiedler-[\w.]+\.dist-info/", name)}
    with tarfile.open(sdist) as archive:
        sources = {member.name.partition("/")[2] for member in archive if member.isfile()}
    package = {name for name in sources if name.startswith("fiedler/")}
    folders = {name.partition("/")[0] for name in sources if "/" in name}
    wanted = {"fiedler", "tests", "benchmarks", "examples", "docs", "tools", "conda", "paper"}
    for what, names in {
        "the wheel lacks": {f"fiedler/{name}" for name in NEEDED} - built,
        "only one of wheel and sdist has": built ^ package,
        "the sdist lacks the folders": wanted - folders,
        "the sdist has the folders": folders - wanted,
    }.items():
        if names:
            sys.exit(f"{what} {', '.join(sorted(names))}")
    print(f"{wheel.name}: {len(built)} files; {sdist.name}: {len(sources)} files")


def check_lines(home: Path, blocks: list[str], commands: list[str]) -> list[str]:
    """Run the README in one environment; tell what ran, and give what failed."""
    complete, failed = home.name == "full", []
    print(f"\nThe README with {'all extras' if complete else 'the wheel alone'}")
    for line, outcome, why in [*python_lines(home, blocks), *(command_line(home, line) for line in commands if line)]:
        if outcome == "failed" or (outcome == "needs" and (complete or str(why).startswith("fiedler."))):
            failed.append(line)
        print(f"  {outcome:7} {line.partition('  #')[0].strip()}{f'  ({why})' if why else ''}")
    return failed


def python_lines(home: Path, blocks: list[str]) -> list[Told]:
    session = run([home / "env/bin/python", "-I", "-c", SESSION, json.dumps(blocks)], home)
    return [tuple(told) for told in json.loads(session.splitlines()[-1])]


def command_line(home: Path, line: str) -> Told:
    """Run a command in the folder of those before it, as a reader does."""
    name, *options = shlex.split(line, comments=True)
    if name in SETTING_UP:
        return line, "not run", "sets up an environment"
    command = [home / "env/bin" / name, *options]
    done = subprocess.run(command, cwd=home, capture_output=True, text=True, check=False, env=environment())
    if done.returncode == 0:
        return line, "runs", None
    extra = re.search(r"pip install '(fiedler\[\w+\])'", done.stderr)
    return (line, "needs", extra[1]) if extra else (line, "failed", done.stderr.strip())


def run(command: list[object], cwd: Path) -> str:
    words = list(map(str, command))
    done = subprocess.run(words, cwd=cwd, capture_output=True, text=True, check=False, env=environment())
    if done.returncode:
        sys.exit(f"{shlex.join(words[:4])} ... failed:\n{done.stderr}")
    return done.stdout


def environment() -> dict[str, str]:
    """Ours without what leads Python elsewhere."""
    return {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL_ENV"))}


if __name__ == "__main__":
    main()
