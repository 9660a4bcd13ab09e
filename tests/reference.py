"""Literal, slow reference of every graph and every score: one loop per sum sign, nothing shared with the library.

Papers: [ZL] sSelect, [DV] LS / SLS / SSLS, [SPEC], [KA] constraint scores, [EV] EVSC, [MCFS], [MRSF], [NIE]. Features
are 1-D arrays f, graphs dense n x n arrays W with the diagonal each formula gives. Unknown classes are -1, unknown
targets NaN, pairs lists of (i, j). Sums go through math.fsum and features are shifted by their first value before any
mean, so that an offset of 1e8 on the features costs no accuracy.
"""

import functools
import itertools
import math

import numpy as np
import scipy.linalg

ROUNDING = 1e-12  # an eigenvalue of a normalised Laplacian below this is 0


# ---------------------------------------------------------------------------------------------------------- helpers


def columns(score, X):
    """The score of every column of X."""
    return np.array([score(X[:, t]) for t in range(X.shape[1])])


def known(y):
    """Rows with a known class (not -1) or a known target (not NaN)."""
    return [i for i in range(len(y)) if not (y[i] == -1 or y[i] != y[i])]


def known_targets(y):
    """Rows with a known real target (not NaN; -1 is a number like any other)."""
    return [i for i in range(len(y)) if y[i] == y[i]]


def classes_of(y):
    """The known classes, in order."""
    return sorted({int(y[i]) for i in known(y)})


def squared_distance(a, b):
    """‖a - b‖² from the differences themselves."""
    return math.fsum((float(p) - float(q)) ** 2 for p, q in zip(a, b, strict=True))


def euclidean(X):
    """d_ij = ‖x_i - x_j‖."""
    n = len(X)
    return np.array([[math.sqrt(squared_distance(X[i], X[j])) for j in range(n)] for i in range(n)])


def cosine(X):
    """d_ij = 1 - x_i'x_j / (‖x_i‖ ‖x_j‖), and 1 to a row of zeros."""
    n = len(X)
    norm = [math.sqrt(math.fsum(float(v) ** 2 for v in X[i])) for i in range(n)]
    distance = np.ones((n, n))
    for i in range(n):
        for j in range(n):
            if norm[i] > 0 and norm[j] > 0:
                dot = math.fsum(float(a) * float(b) for a, b in zip(X[i], X[j], strict=True))
                distance[i, j] = 1 - dot / (norm[i] * norm[j])
    return distance


def nearest(distance, i, k, candidates):
    """The k nearest candidates of row i; i itself is left out by index, ties go to the smaller index."""
    others = [j for j in candidates if j != i]
    return sorted(others, key=lambda j: (distance[i, j], j))[:k]


def knn_edges(distance, k, rows=None):
    """Pairs i < j of rows where one is among the k nearest of the other."""
    rows = range(len(distance)) if rows is None else rows
    edges = set()
    for i in rows:
        for j in nearest(distance, i, k, rows):
            edges.add((min(i, j), max(i, j)))
    return sorted(edges)


def mean_edge_distance(distance, edges):
    """Default δ of the kNN graph: mean distance over its undirected edges, each counted once."""
    return math.fsum(distance[i, j] for i, j in edges) / len(edges)


def median_distance(X):
    """Default δ of the RBF graph: median of ‖x_i - x_j‖ over i < j."""
    distance = euclidean(X)
    values = sorted(distance[i, j] for i in range(len(X)) for j in range(i + 1, len(X)))
    half = len(values) // 2
    return values[half] if len(values) % 2 else (values[half - 1] + values[half]) / 2


def implied_pairs(y):
    """All pairs of rows with known classes: (must-link, cannot-link)."""
    rows = known(y)
    pairs = [(i, j) for i in rows for j in rows if i < j]
    return [(i, j) for i, j in pairs if y[i] == y[j]], [(i, j) for i, j in pairs if y[i] != y[j]]


# ----------------------------------------------------------------------------------------------------------- graphs


def knn_graph(X, k=10, weight="rbf", delta=None, distance=euclidean):
    """w_ij = 1 or exp(-d_ij² / 2δ²) where i is among the k nearest of j or the reverse ([ZL] 4, [SPEC] 4)."""
    d = distance(X)
    edges = knn_edges(d, k)
    delta = mean_edge_distance(d, edges) if delta is None else delta
    W = np.zeros((len(X), len(X)))
    for i, j in edges:
        W[i, j] = W[j, i] = 1.0 if weight == "binary" else math.exp(-(d[i, j] ** 2) / (2 * delta**2))
    return W


def rbf_graph(X, delta=None):
    """w_ij = exp(-‖x_i - x_j‖² / 2δ²) for all i, j, diagonal 1 ([ZL] 3, [SPEC] eq. 1, [EV] 2.1)."""
    n = len(X)
    delta = median_distance(X) if delta is None else delta
    W = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            W[i, j] = math.exp(-squared_distance(X[i], X[j]) / (2 * delta**2))
    return W


def self_tuning_graph(X, k, scale=1.0):
    """w_ij = exp(-d_ij² / (2 s² δ_i δ_j)), δ_i the distance to the k-th nearest row (Zelnik-Manor, Perona 2004)."""
    n = len(X)
    d = euclidean(X)
    own = [sorted(d[i, j] for j in range(n) if j != i)[k - 1] for i in range(n)]
    return np.array(
        [[math.exp(-(d[i, j] ** 2) / (2 * scale**2 * own[i] * own[j])) for j in range(n)] for i in range(n)]
    )


def cut_to_neighbors(K, k):
    """K where j is one of the k largest of row i besides the diagonal, or the reverse, and the diagonal; else 0."""
    n = len(K)
    largest = [sorted((j for j in range(n) if j != i), key=lambda j: (-round(K[i, j], 12), j))[:k] for i in range(n)]
    return np.array([[K[i, j] * (i == j or j in largest[i] or i in largest[j]) for j in range(n)] for i in range(n)])


def diffusion_graph(W0, beta=1.0):
    """W = exp(-β L0) with L0 the Laplacian of W0 ([SPEC] 4, Kondor and Lafferty)."""
    return scipy.linalg.expm(-beta * laplacian(W0))


def anchor_graph(X, U, k=5, delta=None):
    """W = Z Λ^-1 Z', z_ia ∝ exp(-‖x_i - u_a‖² / 2δ²) on the k nearest anchors (Liu, He, Chang 2010, eq. 3 and 5)."""
    n, s = len(X), len(U)
    d = np.array([[math.sqrt(squared_distance(X[i], U[a])) for a in range(s)] for i in range(n)])
    near = [sorted(range(s), key=lambda a: (d[i, a], a))[:k] for i in range(n)]
    delta = math.fsum(d[i, a] for i in range(n) for a in near[i]) / (n * k) if delta is None else delta
    delta = delta or 1.0  # every row is an anchor
    Z = np.zeros((n, s))
    for i in range(n):
        weights = [math.exp(-(d[i, a] ** 2) / (2 * delta**2)) for a in near[i]]
        for a, weight in zip(near[i], weights, strict=True):
            Z[i, a] = weight / math.fsum(weights)
    W = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            W[i, j] = math.fsum(Z[i, a] * Z[j, a] / math.fsum(Z[:, a]) for a in near[i])
    return W


def class_graph(y):
    """w_ij = 1 / n_l if y_i = y_j = l, diagonal too; 0 elsewhere and on unknown rows ([SPEC] eq. 2)."""
    W = np.zeros((len(y), len(y)))
    rows = known(y)
    for i in rows:
        for j in rows:
            if y[i] == y[j]:
                W[i, j] = 1.0 / sum(1 for h in rows if y[h] == y[i])
    return W


def relief_graph(X, y, k=10):
    """(W + W') / 2 with W of [SPEC] eq. 12: 1 at i = i, 1/k on hits, -1/((c-1)k) on misses of each other class."""
    d = euclidean(X)
    rows, names = known(y), classes_of(y)
    W = np.zeros((len(y), len(y)))
    for i in rows:
        W[i, i] = 1.0
        for name in names:
            chosen = nearest(d, i, k, [j for j in rows if y[j] == name])
            for j in chosen:
                W[i, j] = 1 / len(chosen) if name == y[i] else -1 / ((len(names) - 1) * len(chosen))
    return (W + W.T) / 2


def unit_variance(y):
    """The known targets divided by their standard deviation, as [DV] section 5 standardises; NaN stays NaN."""
    known = [y[i] for i in known_targets(y)]
    mean = sum(known) / len(known)
    return np.array(y) / (math.sqrt(sum((v - mean) ** 2 for v in known) / len(known)) or 1.0)


def target_graph(y, k=5, t=1.0):
    """w_ij = exp(-(y_i - y_j)² / t) where close in y of unit variance, known rows only ([DV] eq. 4)."""
    y = unit_variance(y)
    n = len(y)
    d = np.array([[abs(y[i] - y[j]) for j in range(n)] for i in range(n)])
    W = np.zeros((n, n))
    for i, j in knn_edges(d, k, known_targets(y)):
        W[i, j] = W[j, i] = math.exp(-((y[i] - y[j]) ** 2) / t)
    return W


def semi_target_graph(X, y, k=30, t=1.0, C=5.0, close="d"):
    """w_ij = exp(-d_ij / t), times C where both are known; d of [DV] eq. 8, close by d or x, weights of eq. 9."""
    n, m = X.shape
    y = unit_variance(y)
    rows = set(known_targets(y))
    d = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            both = i in rows and j in rows
            d[i, j] = (y[i] - y[j]) ** 2 if both else squared_distance(X[i], X[j]) / m
    W = np.zeros((n, n))
    for i, j in knn_edges(d if close == "d" else euclidean(X), k):
        W[i, j] = W[j, i] = math.exp(-d[i, j] / t) * (C if i in rows and j in rows else 1.0)
    return W


def pair_graph(n, pairs):
    """1 on each pair, whatever its order and however often it is given ([KA] eq. 7 and 8)."""
    W = np.zeros((n, n))
    for i, j in pairs:
        W[i, j] = W[j, i] = 1.0
    return W


def within_graph(X, must, cannot, k=5, gamma=100.0):
    """γ on must-link pairs, 1 on kNN pairs that are neither must-link nor cannot-link ([KA] eq. 11)."""
    W = np.zeros((len(X), len(X)))
    for i, j in knn_edges(euclidean(X), k):
        W[i, j] = W[j, i] = 1.0
    for i, j in cannot:
        W[i, j] = W[j, i] = 0.0
    for i, j in must:
        W[i, j] = W[j, i] = gamma
    return W


# ---------------------------------------------------------------------------------------------- energy, mass, ratios


def degrees(W):
    """d_i = Σ_j w_ij."""
    return np.array([math.fsum(W[i]) for i in range(len(W))])


def laplacian(W):
    """L = D - W."""
    return np.diag(degrees(W)) - W


def energy(W, f):
    """f'Lf = ½ Σ_ij w_ij (f_i - f_j)²."""
    n = len(f)
    return math.fsum(W[i, j] * (f[i] - f[j]) ** 2 for i in range(n) for j in range(n)) / 2


def centred(f, d):
    """f̃ = f - (f'd / vol) 1 ([ZL] eq. 3.6), from f shifted by its first value."""
    g = [float(v) - float(f[0]) for v in f]
    mean = math.fsum(d[i] * g[i] for i in range(len(g))) / math.fsum(d)
    return [v - mean for v in g]


def mass(W, f):
    """f̃'D f̃ = Σ_i d_i f̃_i²."""
    d = degrees(W)
    g = centred(f, d)
    return math.fsum(d[i] * g[i] ** 2 for i in range(len(g)))


def laplacian_score(W, f):
    """LS = f̃'L f̃ / f̃'D f̃ ([DV] eq. 2, [ZL] eq. 3.4)."""
    return energy(W, f) / mass(W, f)


def variance(f):
    """(1/n) Σ_i (f_i - μ)² ([KA] eq. 2)."""
    return math.fsum(v**2 for v in centred(f, [1.0] * len(f))) / len(f)


def correlation(f, y):
    """|Σ (f_i - μ_f)(y_i - μ_y)| / sqrt(Σ (f_i - μ_f)² Σ (y_i - μ_y)²) over the rows with a known target."""
    rows = known_targets(y)
    a = centred([f[i] for i in rows], [1.0] * len(rows))
    b = centred([y[i] for i in rows], [1.0] * len(rows))
    product = math.fsum(p * q for p, q in zip(a, b, strict=True))
    return abs(product) / math.sqrt(math.fsum(p**2 for p in a) * math.fsum(q**2 for q in b))


def fisher(f, y):
    """Σ_l n_l (μ_l - μ)² / Σ_l n_l σ_l², ddof 0 ([KA] eq. 1)."""
    rows = known(y)
    g = dict(zip(rows, centred([f[i] for i in rows], [1.0] * len(rows)), strict=True))
    between, within = [], []
    for name in classes_of(y):
        members = [g[i] for i in rows if y[i] == name]
        mean = math.fsum(members) / len(members)
        between.append(len(members) * mean**2)
        within.extend((v - mean) ** 2 for v in members)
    return math.fsum(between) / math.fsum(within)


def relieff(X, f, y, k=10):
    """Σ_i [ 1/(c-1) Σ_{other classes} mean over k misses - mean over k hits ] of (f_i - f_j)² ([SPEC] theorem 5)."""
    d = euclidean(X)
    rows, names = known(y), classes_of(y)
    total = []
    for i in rows:
        for name in names:
            chosen = nearest(d, i, k, [j for j in rows if y[j] == name])
            mean = math.fsum((f[i] - f[j]) ** 2 for j in chosen) / len(chosen)
            total.append(-mean if name == y[i] else mean / (len(names) - 1))
    return math.fsum(total)


def classical_relieff(X, y, k=10):
    """Misses, weighted by P(class) / (1 - P(own class)), minus hits: mean differences as shares of the range."""
    scaled, rows, names = ranged(X, y), known(y), classes_of(y)
    d = [[math.fsum(abs(a - b) for a, b in zip(u, v, strict=True)) for v in scaled] for u in scaled]
    share = {name: sum(y[i] == name for i in rows) / len(rows) for name in names}
    total = np.zeros(X.shape[1])
    for i in rows:
        for name in names:
            chosen = nearest(np.array(d), i, k, [j for j in rows if y[j] == name])
            mean = sum(abs(scaled[i] - scaled[j]) for j in chosen) / len(chosen)
            total += (-mean if name == y[i] else mean * share[name] / (1 - share[y[i]])) / len(rows)
    return total


def regression_relieff(X, y, k=10):
    """RReliefF: P(values differ | targets differ) - P(values differ | targets are alike), neighbours counted alike."""
    scaled, rows = ranged(X, y), known_targets(y)
    d = [[math.fsum(abs(a - b) for a, b in zip(u, v, strict=True)) for v in scaled] for u in scaled]
    width = max(y[j] for j in rows) - min(y[j] for j in rows)
    apart, both, differ = 0.0, np.zeros(X.shape[1]), np.zeros(X.shape[1])
    for i in rows:
        for j in nearest(np.array(d), i, k, rows):
            apart += abs(y[i] - y[j]) / width / k
            both += abs(y[i] - y[j]) / width * abs(scaled[i] - scaled[j]) / k
            differ += abs(scaled[i] - scaled[j]) / k
    return both / apart - (differ - both) / (len(rows) - apart)


def ranged(X, y):
    """Columns as shares of their range over the rows whose label or target is known."""
    rows = known_targets(y) if np.asarray(y).dtype.kind == "f" else known(y)
    low, high = X[rows].min(axis=0), X[rows].max(axis=0)
    return (X - low) / (high - low)


# ------------------------------------------------------------------------------------------------------ SPEC's φ1-φ3


def spectral(gamma, value):
    """γ(λ): a power of λ, or a function of it."""
    return float(gamma(value)) if callable(gamma) else float(value) ** gamma


def spectrum(W):
    """Rows with d > 0, their degrees, and the eigenpairs j >= 1 of 𝓛 = D^-½ L D^-½ orthogonal to ξ_0 = D^½1."""
    return _spectrum(np.asarray(W, dtype=float).tobytes(), len(W))


@functools.lru_cache(maxsize=1)  # the features of one graph ask one after the other
def _spectrum(weights, n):
    W = np.frombuffer(weights).reshape(n, n)
    all_degrees = degrees(W)
    rows = [i for i in range(len(W)) if all_degrees[i] > 0]
    d = all_degrees[rows]
    inside = W[np.ix_(rows, rows)]
    N = np.zeros_like(inside)
    for i in range(len(rows)):
        for j in range(len(rows)):
            N[i, j] = ((d[i] if i == j else 0.0) - inside[i, j]) / math.sqrt(d[i] * d[j])
    xi0 = np.sqrt(d) / math.sqrt(math.fsum(d))
    values, vectors = np.linalg.eigh(N + 3 * np.outer(xi0, xi0))  # moves the pair of ξ_0 from 0 to 3, beyond all others
    values = [0.0 if v < ROUNDING else float(v) for v in values[:-1]]
    return rows, d, values, [vectors[:, j] for j in range(len(values))]


def coefficients(W, f):
    """α_0² and the (λ_j, α_j²), j >= 1, with α_j = <D^½f / ‖D^½f‖, ξ_j>; for j >= 1 f may be centred first."""
    rows, d, values, vectors = spectrum(W)
    f = [float(f[i]) for i in rows]
    g = centred(f, d)
    n = len(rows)
    norm = math.fsum(d[i] * f[i] ** 2 for i in range(n))
    first = math.fsum(d[i] * f[i] for i in range(n)) ** 2 / math.fsum(d) / norm
    pairs = []
    for value, xi in zip(values, vectors, strict=True):
        alpha = math.fsum(xi[i] * math.sqrt(d[i]) * g[i] for i in range(n))
        pairs.append((value, alpha**2 / norm))
    return first, pairs


def phi1(W, f, gamma=1):
    """φ1 = Σ_{j>=0} γ(λ_j) α_j² ([SPEC] eq. 9)."""
    first, pairs = coefficients(W, f)
    return math.fsum([spectral(gamma, 0.0) * first] + [spectral(gamma, value) * a for value, a in pairs])


def phi2(W, f, gamma=1):
    """φ2 = Σ_{j>=1} γ(λ_j) α_j² / Σ_{j>=1} α_j² ([SPEC] eq. 10; 1 - α_0² is the denominator)."""
    _, pairs = coefficients(W, f)
    return math.fsum(spectral(gamma, value) * a for value, a in pairs) / math.fsum(a for _, a in pairs)


def phi3(W, f, k, gamma=1):
    """φ3 = Σ_{j=1}^{k-1} (γ(2) - γ(λ_j)) α_j² ([SPEC] eq. 11)."""
    _, pairs = coefficients(W, f)
    return math.fsum((spectral(gamma, 2.0) - spectral(gamma, value)) * a for value, a in pairs[: k - 1])


# -------------------------------------------------------------------------------------------- labels, pairs, weights


def entropy(labels):
    """H = -Σ p log p over the distinct labels."""
    n = len(labels)
    shares = [sum(1 for v in labels if v == name) / n for name in set(labels)]
    return -math.fsum(p * math.log(p) for p in shares)


def nmi(a, b):
    """Σ p(a, b) log(p(a, b) / p(a) p(b)) / max(H(a), H(b)), 0 if both entropies are 0 ([ZL] eq. 3.9)."""
    n = len(a)
    terms = []
    for u in set(a):
        for v in set(b):
            both = sum(1 for p, q in zip(a, b, strict=True) if p == u and q == v) / n
            if both > 0:
                terms.append(both * math.log(both / (a.count(u) / n * b.count(v) / n)))
    largest = max(entropy(a), entropy(b))
    return math.fsum(terms) / largest if largest > 0 else 0.0


def disagreement(W, f, y):
    """1 - NMI(sign(f̃), y) over labelled rows, f̃ centred by the degrees of all rows, sign(0) = +1 ([ZL] eq. 3.8)."""
    g = centred(f, degrees(W))
    rows = known(y)
    return 1 - nmi([1 if g[i] >= 0 else -1 for i in rows], [int(y[i]) for i in rows])


def sselect(W, f, y, lam=0.1):
    """λ LS + (1 - λ)(1 - NMI(sign(f̃), y)) ([ZL] eq. 3.8)."""
    return lam * laplacian_score(W, f) + (1 - lam) * disagreement(W, f, y)


def sls(f, y, k=5, t=1.0):
    """SLS = LS on the target graph ([DV] eq. 5)."""
    return laplacian_score(target_graph(y, k, t), f)


def ssls(X, f, y, k=30, t=1.0, C=5.0, k_target=5, t_target=1.0):
    """SSLS = LS on the semi-supervised graph times SLS ([DV] eq. 10)."""
    return laplacian_score(semi_target_graph(X, y, k, t, C), f) * sls(f, y, k_target, t_target)


def c1(f, must, cannot):
    """C1 = f'L_M f / f'L_C f ([KA] eq. 9)."""
    return energy(pair_graph(len(f), must), f) / energy(pair_graph(len(f), cannot), f)


def c2(f, must, cannot, lam=0.1):
    """C2 = f'L_M f - λ f'L_C f ([KA] eq. 10)."""
    return energy(pair_graph(len(f), must), f) - lam * energy(pair_graph(len(f), cannot), f)


def c3(X, f, must, cannot, k=5, gamma=100.0):
    """C3 = f'L_W f / f'L_C f ([KA] eq. 12)."""
    return energy(within_graph(X, must, cannot, k, gamma), f) / energy(pair_graph(len(f), cannot), f)


def c4(W, f, must, cannot):
    """C4 = LS × C1 ([KA] eq. 13)."""
    return laplacian_score(W, f) * c1(f, must, cannot)


def evsc(W, delta, f, n_eigenvalues=None):
    """Σ_r |Σ_{i<j} g_ij {(q_ri - q_rj)² - λ_r (q_ri² + q_rj²)}|, g_ij = -w_ij (f_i - f_j)² / δ² ([EV] eq. 12, 15)."""
    n = len(f)
    values, Q = scipy.linalg.eigh(laplacian(W), np.diag(degrees(W)))  # Lq = λDq with q'Dq = 1, ascending
    total = []
    for r in range(n if n_eigenvalues is None else n_eigenvalues):
        q, lam = Q[:, r], values[r]
        derivative = []
        for i in range(n - 1):
            for j in range(i + 1, n):
                g = -W[i, j] * (f[i] - f[j]) ** 2 / delta**2
                derivative.append(g * ((q[i] - q[j]) ** 2 - lam * (q[i] ** 2 + q[j] ** 2)))
        total.append(abs(math.fsum(derivative)))
    return math.fsum(total)


# ------------------------------------------------------------------------------------------- sets and regressions


def largest_gap(W):
    """Number of clusters: k with the largest λ_k - λ_{k-1}, k >= 2, among the first 20 eigenvalues."""
    values = [0.0, *spectrum(W)[2]][:21]
    return max(range(2, len(values)), key=lambda k: values[k] - values[k - 1])


def trace_difference(W, X, k):
    """mass - λ* energy of every feature, λ* the best Σ mass / Σ energy over all sets of k features ([NIE] eq. 4, 8)."""
    masses = [mass(W, f) for f in np.asarray(X).T]
    energies = [energy(W, f) for f in np.asarray(X).T]
    best = max(
        math.fsum(masses[j] for j in chosen) / math.fsum(energies[j] for j in chosen)
        for chosen in itertools.combinations(range(len(masses)), k)
    )
    return np.array([masses[j] - best * energies[j] for j in range(len(masses))])


def shifted_columns(X):
    """Columns minus their means, from values minus the first one."""
    C = np.array(X, dtype=float)
    for j in range(C.shape[1]):
        C[:, j] -= C[0, j]
        C[:, j] -= math.fsum(C[:, j]) / len(C)
    return C


def lasso_path(C, y, n_nonzero):
    """Coefficients along the path of ½‖y - Ca‖² + λ ‖a‖₁, where n_nonzero features have entered and one more would.

    From event to event: features in the model keep |c_j'(y - Ca)| = λ; a feature enters where it reaches λ, and leaves
    where its coefficient reaches 0.
    """
    m = C.shape[1]
    a, inside = [0.0] * m, []
    left = [math.fsum(C[:, j] * y) for j in range(m)]
    lam = max(abs(c) for c in left)
    entering = max(range(m), key=lambda j: abs(left[j]))
    inside.append(entering)
    while True:
        signs = np.array([math.copysign(1.0, left[j]) for j in inside])
        G = np.array([[math.fsum(C[:, i] * C[:, j]) for j in inside] for i in inside])
        move = np.linalg.solve(G, signs)  # of the coefficients, as λ falls by 1
        falls = [math.fsum(C[:, j] * (C[:, inside] @ move)) for j in range(m)]
        step, event = lam, None
        for j in range(m):
            if j in inside:
                continue
            for sign in (1.0, -1.0):  # sign (left_j - s falls_j) = lam - s
                if 1.0 - sign * falls[j] > ROUNDING:
                    at = (lam - sign * left[j]) / (1.0 - sign * falls[j])
                    if ROUNDING * lam < at < step:
                        step, event = at, ("enter", j)
        for place, j in enumerate(inside):
            if a[j] * move[place] < 0 and -a[j] / move[place] < step:
                step, event = -a[j] / move[place], ("leave", j)
        for place, j in enumerate(inside):
            a[j] += step * move[place]
        lam -= step
        residual = y - C @ np.array(a)
        left = [math.fsum(C[:, j] * residual) for j in range(m)]
        if event is None or (event[0] == "enter" and len(inside) >= n_nonzero):
            return np.array(a)
        if event[0] == "enter":
            inside.append(event[1])
        else:
            a[event[1]] = 0.0
            inside.remove(event[1])


def mcfs(W, X, k, n_nonzero):
    """max_k |a_kj| in the lasso of k eigenvectors of Ly = λDy, which have mean 0 and length 1 ([MCFS] algorithm 1)."""
    rows, d, _, vectors = spectrum(W)
    C = shifted_columns(np.asarray(X)[rows])
    scores = np.zeros(C.shape[1])
    for xi in vectors[:k]:
        y = shifted_columns((xi / np.sqrt(d))[:, None])[:, 0]
        y = y / math.sqrt(math.fsum(y**2))
        scores = np.maximum(scores, np.abs(lasso_path(C, y, n_nonzero)))
    return scores


def group_lasso(C, Y, lam):
    """argmin ½‖Y - CA‖² + λ Σ_j ‖a_j‖, one row after the other."""
    A, least, at = np.zeros((C.shape[1], Y.shape[1])), math.inf, 0
    for sweep in range(100_000):
        before = A.copy()
        for j in range(len(A)):
            without = Y - C @ A + np.outer(C[:, j], A[j])
            z = C[:, j] @ without
            length, square = math.sqrt(math.fsum(z**2)), math.fsum(C[:, j] ** 2)
            A[j] = (1.0 - lam / length) * z / square if length > lam else 0.0
        change = np.abs(A - before).max()
        if change < least:
            least, at = change, sweep
        # Settled, or nothing but the last digit has moved for a long time.
        if change <= 1e-16 + 1e-15 * np.abs(A).max() or sweep - at > 500:
            break
    return A


def mrsf(W, X, k, n_nonzero):
    """‖a_j‖ in the group lasso of √(2 - λ_k) ξ_k on D^½f̃ of length 1; λ falls by 5 % until n_nonzero rows are left."""
    rows, d, values, vectors = spectrum(W)
    C = np.column_stack([np.sqrt(d) * centred(f, d) for f in np.asarray(X)[rows].T])
    C = C / np.array([math.sqrt(math.fsum(c**2)) for c in C.T])
    Y = np.column_stack([math.sqrt(2.0 - values[j]) * vectors[j] for j in range(k)])
    lam = max(math.sqrt(math.fsum((c @ Y) ** 2)) for c in C.T)
    while True:
        lam *= 0.95
        A = group_lasso(C, Y, lam)
        if np.count_nonzero(A.any(axis=1)) >= n_nonzero:
            return np.array([math.sqrt(math.fsum(a**2)) for a in A])
