"""The table the tests of files write and read back: three rows, four columns, a label that is missing."""

import warnings
import zipfile

import numpy as np
import pytest

X = np.array([[1.0, 0.0, 2.5, 0.0], [0.0, 3.0, 0.0, -4.0], [5.0, 0.0, 0.0, 6.25]])
NAMES = ["a", "b", "c", "d"]
Y = ["yes", "no", ""]


def save_h5ad(path, matrix):
    anndata = pytest.importorskip("anndata")
    pd = pytest.importorskip("pandas")
    obs = pd.DataFrame({"y": pd.Categorical(["yes", "no", None])}, index=["r0", "r1", "r2"])
    adata = anndata.AnnData(matrix, obs, pd.DataFrame(index=NAMES), layers={"double": 2 * matrix})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about Zarr's versions
        adata.write_zarr(path) if path.suffix == ".zarr" else adata.write_h5ad(path)


def save_arff(path, matrix):
    pytest.importorskip("arff")
    lines = ["@relation r", *(f"@attribute {n} numeric" for n in NAMES), "@attribute y {-1,0,1}", "@data"]
    lines += [",".join(map(str, [*row, y])) for row, y in zip(matrix.tolist(), [1, 0, -1], strict=True)]
    path.write_text("% a comment\n" + "\n".join(lines) + "\n")


SHEET = (
    '<?xml version="1.0"?><worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">'
    "<sheetData>{}</sheetData></worksheet>"
)


def rewrite_book(path, part, text):
    """An Excel file of which one part is another, or is added."""
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.active.append([1, 2])
    book.save(path)
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name).decode() for name in archive.namelist()}
    strings = "application/vnd.openxmlformats-officedocument.spreadsheetml.sharedStrings+xml"
    listed = f'<Override PartName="/xl/sharedStrings.xml" ContentType="{strings}"/></Types>'
    if part not in parts:
        parts["[Content_Types].xml"] = parts["[Content_Types].xml"].replace("</Types>", listed)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in (parts | {part: text}).items():
            archive.writestr(name, content)
