"""Every extra by itself, with the oldest versions that pyproject.toml names: what it is for works.

    python tools/check_extras.py [PYTHON]

The whole suite has all extras installed, where one may live on what another brings.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
UV = [sys.executable, "-m", "uv"]
TOGETHER = {"all", "bench", "test", "dev"}  # extras made of others

START = """
import numpy as np
from fiedler import KNN, RankingDisplay, SpectralSelector, summarize, write_html
from fiedler.anndata import select_genes
from fiedler.io import read_table, write_ranking, write_table
from fiedler.sources import open_source

rng = np.random.default_rng(0)
y = np.repeat([0, 1, 2], 20)
X = rng.normal(size=(60, 12)) + np.outer(y, np.linspace(2, 0, 12))
names, rows = [f"f{j}" for j in range(12)], [f"r{i}" for i in range(60)]
selector = SpectralSelector("laplacian", n_features_to_select=3).fit(X)

def check(data):
    assert SpectralSelector("laplacian").fit(data).order_.tolist() == selector.order_.tolist(), data

def reads(*files, blocks=()):
    for file in files:
        check(read_table(file).X)
        check(read_table(write_table(f"copy-{file}", read_table(file), range(12))).X)
    for file in blocks:
        check(open_source(file))
"""

USE = {
    "": """
np.savetxt("t.csv", X, delimiter=",", header=",".join(names), comments="")
reads("t.csv")
write_ranking("r.csv", {"feature": names, "score": selector.scores_})
SpectralSelector("subset", n_features_to_select=3).fit(X, y)
""",
    "fast": """
import sys
assert KNN(algorithm="approximate").build(rng.normal(size=(3000, 40))).recall > 0.9
SpectralSelector("subset").fit(rng.normal(size=(3000, 40)))
assert "numba" in sys.modules
""",
    "frames": """
import pandas, polars
from fiedler.evaluate import stability
for frame in (pandas.DataFrame(X, columns=names), polars.DataFrame(X, schema=names)):
    check(frame)
    for kind in ("pandas", "polars"):
        assert SpectralSelector().set_output(transform=kind).fit_transform(frame).shape == (60, 6)
assert stability("laplacian", frame, k=3, n_draws=3).frame().shape == (12, 5)
""",
    "io": """
import h5py, openpyxl, pyarrow, pyarrow.feather, pyarrow.parquet
table = pyarrow.table(dict(zip(names, X.T)))
pyarrow.parquet.write_table(table, "t.parquet")
pyarrow.feather.write_feather(table, "t.feather")
with h5py.File("t.h5", "w") as file:
    file["X"] = X
book = openpyxl.Workbook()
for row in [names, *X.tolist()]:
    book.active.append(row)
book.save("t.xlsx")
head = "@relation t\\n" + "".join(f"@attribute {name} numeric\\n" for name in names) + "@data\\n"
cells = ("{" + ", ".join(f"{j} {value}" for j, value in enumerate(row)) + "}\\n" for row in X.tolist())
open("t.arff", "w").write(head + "".join(cells))
reads("t.parquet", "t.feather", "t.h5", "t.xlsx", "t.arff", blocks=["t.parquet", "t.h5"])
write_ranking("r.parquet", {"feature": names, "score": selector.scores_})
""",
    "anndata": """
import anndata, pandas
adata = anndata.AnnData(X, pandas.DataFrame({"kind": y}, index=rows), pandas.DataFrame(index=names))
adata.write_h5ad("t.h5ad")
reads("t.h5ad", blocks=["t.h5ad"])
select_genes(adata, selector, n_top_genes=3)
assert adata.var["highly_variable"].sum() == 3
""",
    "zarr": """
import zarr
zarr.create_array("t.zarr", data=X, chunks=(60, 4))
check(zarr.open("t.zarr"))
reads("t.zarr", blocks=["t.zarr"])
""",
    "dask": """
import dask.array, distributed
check(dask.array.from_array(X, chunks=(60, 4)))
with distributed.Client(processes=False, dashboard_address=None):
    check(dask.array.from_array(X, chunks=(60, 4)))
""",
    "explore": """
import fiedler
from fiedler.explore.server import Host
page = fiedler.explore(X, n_features=3)
assert page.state.handle({"type": "pair", "rows": [0, 1], "link": "must"})["type"] == "state"
assert page.selector.n_features_ == 3
assert Host(page.state, 1).app.routes
""",
    "report": """
assert write_html("r.html", summarize(selector, X)).stat().st_size > 50_000
assert len(RankingDisplay.from_selector(selector).bars_) == 12
""",
}


def main() -> None:
    python = sys.argv[1] if len(sys.argv) > 1 else sys.executable
    with open(ROOT / "pyproject.toml", "rb") as file:
        extras = set(tomllib.load(file)["project"]["optional-dependencies"]) - TOGETHER
    if extras != set(USE) - {""}:
        sys.exit(f"pyproject.toml and this file differ in the extras {sorted(extras ^ (set(USE) - {''}))}.")
    failed = [extra for extra, use in USE.items() if not works(extra, use, python)]
    if failed:
        sys.exit(f"{len(failed)} of {len(USE)} do not work by themselves.")


def works(extra: str, use: str, python: str) -> bool:
    wanted = f"{ROOT}[{extra}]" if extra else str(ROOT)
    with tempfile.TemporaryDirectory() as folder:
        env = Path(folder) / "env"
        subprocess.run([*UV, "venv", "-q", "--python", python, env], check=True)
        install = [*UV, "pip", "install", "-q", "--python", env / "bin/python", "--resolution", "lowest-direct", wanted]
        subprocess.run(install, check=True)
        command = [env / "bin/python", "-I", "-c", START + use]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    print(f"{extra or 'no extra':9} {'works' if done.returncode == 0 else done.stderr}", flush=True)
    return done.returncode == 0


if __name__ == "__main__":
    main()
