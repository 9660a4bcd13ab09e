"""
Spectra and a real target: SSLS with ten known values
=====================================================

Spectra are cheap and reference analyses are expensive, so the target is known for a few samples only. The
semi-supervised Laplacian score (SSLS) combines ten known values with all spectra. This example compares it with the
correlation, which uses the values only, and with the Laplacian score (LS), which uses the spectra only. SSLS finds the
relevant wavelengths better than both.

The near-infrared spectra are generated. If ``FIEDLER_DATA`` is set, they are spectra of orange juice (juice). There
random wavelengths do best: the best wavelengths of a ranking are near-duplicates, and no score here considers
redundancy.
"""

import os

import matplotlib.pyplot as plt
import numpy as np
from sklearn.preprocessing import StandardScaler

from fiedler import Correlation, LaplacianScore, SemiSupervisedLaplacianScore, SpectralSelector
from fiedler.datasets import load_paper_set
from fiedler.evaluate import compare

# %%
# Three substances absorb in two bands each. The instrument adds an offset and noise. The target is the amount of sugar.

BANDS = {"sugar": [(1440, 30), (2080, 40)], "water": [(1200, 40), (1940, 50)], "fat": [(1730, 25), (2310, 30)]}


def make_spectra(n_samples=150, random_state=0):
    """Wavelengths in nm, spectra, amount of sugar."""
    rng = np.random.default_rng(random_state)
    nm = np.linspace(1100, 2500, 350)
    amount = {name: rng.uniform(size=n_samples) for name in BANDS}
    X = rng.normal(0, 0.05, size=(n_samples, 1)) + rng.normal(0, 0.3, size=(n_samples, len(nm)))
    for name, bands in BANDS.items():
        X += sum(np.outer(amount[name], np.exp(-0.5 * ((nm - centre) / width) ** 2)) for centre, width in bands)
    return X, amount["sugar"], nm


real = bool(os.environ.get("FIEDLER_DATA"))
X, y, nm = load_paper_set("juice") if real else make_spectra()
nm = np.arange(X.shape[1]) if real else nm  # the channels have no wavelength
inside = np.any([abs(nm - centre) < 1.5 * width for centre, width in BANDS["sugar"]], axis=0)

# %%
# SSLS combines distances between spectra with distances between targets, so the spectra are standardised. It scales the
# targets itself. The target is standardised here for the scale of the errors only.

spectra, X, y = X, StandardScaler().fit_transform(X), (y - y.mean()) / y.std()
shown = np.random.default_rng(0).choice(len(y), 10, replace=False)
ten_values = np.full(len(y), np.nan)
ten_values[shown] = y[shown]
methods = {"SSLS": SemiSupervisedLaplacianScore(), "correlation": Correlation(), "LS": LaplacianScore()}
ranking = {name: SpectralSelector(m, n_features_to_select=30).fit(X, ten_values) for name, m in methods.items()}

# %%
# Twenty draws of ten values: the error of 5-NN on the selected wavelengths, and the share of them in the bands.

result = compare(methods, X, y, n_features=[10, 20, 30], n_labels=10, n_draws=20, n_jobs=1)
print(result)
results = {name: result.values(name)[:, -1].mean() for name in [*methods, "random", "all"]}
if not real:
    orders = {name: result.orders[name] or [ranking[name].order_] for name in methods}  # LS uses no values: one order
    results["in bands"] = {name: np.mean([inside[order[:30]] for order in found]) for name, found in orders.items()}
    print("share of the first 30 in the bands of sugar:", {k: f"{v:.2f}" for k, v in results["in bands"].items()})

# %%
# Above: some spectra, and the wavelengths selected with the first ten values. Below: the error by their number.

colors = {"SSLS": "tab:blue", "correlation": "tab:orange", "LS": "tab:green", "random": "0.5"}
figure, (top, bottom) = plt.subplots(2, 1, figsize=(8, 6.4), layout="constrained", height_ratios=[1.2, 1])
top.plot(nm, spectra[:6].T, color="0.75", linewidth=0.7)
low, high = spectra[:6].min(), spectra[:6].max()
for row, name in enumerate(methods, start=1):
    level = np.full(30, low - 0.12 * row * (high - low))
    top.plot(nm[ranking[name].support_], level, "|", markersize=11, markeredgewidth=2, color=colors[name], label=name)
if not real:
    for centre, width in BANDS["sugar"]:
        top.axvspan(centre - 1.5 * width, centre + 1.5 * width, color="tab:red", alpha=0.12, linewidth=0)
top.set(title="30 wavelengths from 10 known values" + " (bands of sugar shaded)" * (not real), ylabel="absorbance")
top.set(xlabel="channel" if real else "wavelength (nm)", yticks=[])
summary = result.summary()["methods"]
for name, color in colors.items():
    curve = summary[name]["curves"]["rmse"]
    bottom.plot(curve["n_features"], curve["mean"], "o-", color=color, label=name)
    bottom.fill_between(curve["n_features"], curve["low"], curve["high"], color=color, alpha=0.15)
bottom.axhline(results["all"], color="k", linestyle=":", label="all wavelengths")
bottom.set(xlabel="number of wavelengths", ylabel="5-NN RMSE (in sd)", title="20 draws, 95 % band", xticks=[10, 20, 30])
for panel in (top, bottom):
    panel.legend(loc="center left", bbox_to_anchor=(1, 0.5), frameon=False)
plt.show()
