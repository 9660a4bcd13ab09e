"""Literal, slow reference of feature sets and of labels as relevance: nothing shared with the library.

The mathematics is section 8 of the project's notes ("From one feature to sets", "Labels as relevance"). X is a dense
n x m array, W a dense symmetric n x n array of similarities, d = W1, D = diag(d). Unknown classes are -1, unknown
targets NaN, pairs lists of (i, j). Every column is shifted by its first value before any mean, so that an offset of 1e8
costs no accuracy. A quotient with nothing below the line is 0: the feature is constant on the rows it reads.
"""

import itertools
import math
from collections.abc import Callable, Iterable, Sequence

import numpy as np
import numpy.typing as npt
import scipy.stats

Array = npt.NDArray[np.float64]
Pairs = Iterable[tuple[int, int]]

ROUNDING = 1e-12  # an eigenvalue of a normalised Laplacian below this is 0
TIE = 1e-9  # scores this close to the best, relatively, are equal to it
NEIGHBOURS = 3  # nearest hits, and nearest misses in each other class


# ---------------------------------------------------------------------------------------------------------- helpers


def ratio(above: float, below: float) -> float:
    """above / below, and 0 where nothing is below the line."""
    return 0.0 if below == 0 else above / below


def mean(values: Sequence[float]) -> float:
    """The mean, and 0 of no values."""
    return ratio(math.fsum(values), len(values))


def shifted(values: Iterable[float]) -> list[float]:
    """Values minus their mean, from values minus the first one."""
    listed = [float(v) for v in values]
    moved = [v - listed[0] for v in listed]
    middle = mean(moved)
    return [v - middle for v in moved]


def centred(X: npt.ArrayLike) -> Array:
    """C = X minus its column means."""
    Y = np.array(X, dtype=np.float64)
    for j in range(Y.shape[1]):
        Y[:, j] = shifted(Y[:, j])
    return Y


def degrees(W: npt.ArrayLike) -> Array:
    """d_i = Σ_j w_ij."""
    return np.array([math.fsum(row) for row in np.asarray(W, dtype=np.float64)])


def scaled(W: npt.ArrayLike) -> Array:
    """A = D^-½ W D^-½, with d_i^-½ := 0 for an isolated node."""
    W = np.asarray(W, dtype=np.float64)
    d = degrees(W)
    A = np.zeros(W.shape)
    for i in range(len(W)):
        for j in range(len(W)):
            if d[i] > 0 and d[j] > 0:
                A[i, j] = W[i, j] / math.sqrt(d[i] * d[j])
    return A


def trivial(W: npt.ArrayLike) -> Array:
    """u = D^½1 / ‖D^½1‖."""
    d = degrees(W)
    root = np.array([math.sqrt(v) if v > 0 else 0.0 for v in d])
    return root / math.sqrt(math.fsum(root**2)) if np.any(root) else root


# ---------------------------------------------------------------------------------------------------------- kernels


def smoothing(W: npt.ArrayLike) -> Array:
    """F = A₊ - uu': A = D^-½WD^-½ without its negative part and its trivial vector."""
    values, vectors = np.linalg.eigh(scaled(W))
    positive = np.zeros((len(values), len(values)))
    for r in range(len(values)):
        if values[r] > 0:
            positive += values[r] * np.outer(vectors[:, r], vectors[:, r])
    u = trivial(W)
    return positive - np.outer(u, u)


def walk(W: npt.ArrayLike) -> Array:
    """F = A - uu': the negative part stays."""
    u = trivial(W)
    return scaled(W) - np.outer(u, u)


def kernel_of_features(F: npt.ArrayLike, X: npt.ArrayLike) -> Array:
    """K = F C C' F: everyone's neighbour averages of all features."""
    F, C = np.asarray(F, dtype=np.float64), centred(X)
    return np.asarray(F @ C @ C.T @ F)


def graph_form(W: npt.ArrayLike, X: npt.ArrayLike, filter_values: Callable[[float], float]) -> tuple[Array, Array]:
    """K = Σ_{j>=1} h(λ_j) ξ_j ξ_j' over the eigenpairs of 𝓛 = D^-½LD^-½ of the active nodes orthogonal to u = D^½1/‖·‖,
    and C = D^½(X - 1 d'X/vol). With h(λ) = 1 - λ, J({j}) = 1 - LS_j. Isolated nodes have rows of zeros in both."""
    W, X = np.asarray(W, dtype=np.float64), np.asarray(X, dtype=np.float64)
    n, m = X.shape
    d = degrees(W)
    active = [i for i in range(n) if d[i] > 0]

    K, C = np.zeros((n, n)), np.zeros((n, m))
    if not active:
        return K, C
    for j in range(m):
        f = {i: X[i, j] - X[active[0], j] for i in active}
        middle = math.fsum(d[i] * f[i] for i in active) / math.fsum(d[i] for i in active)
        for i in active:
            C[i, j] = math.sqrt(d[i]) * (f[i] - middle)

    N = np.zeros((len(active), len(active)))
    for a, i in enumerate(active):
        for b, j in enumerate(active):
            N[a, b] = ((d[i] if i == j else 0.0) - W[i, j]) / math.sqrt(d[i] * d[j])
    u = trivial(W)[active]
    complement = np.linalg.qr(np.column_stack([u, np.eye(len(active))]))[0][:, 1:]  # orthonormal, and orthogonal to u
    values, inner = np.linalg.eigh(complement.T @ N @ complement)
    vectors = complement @ inner

    for r in range(len(values)):
        value = 0.0 if abs(values[r]) < ROUNDING else float(values[r])
        K[np.ix_(active, active)] += float(filter_values(value)) * np.outer(vectors[:, r], vectors[:, r])
    return K, C


# ------------------------------------------------------------------------------------------------------------- sets


def unit_columns(C: Array, S: Sequence[int]) -> Array:
    """The columns S of C at unit length; columns of zeros are left out."""
    return np.array([C[:, j] / np.linalg.norm(C[:, j]) for j in S if np.any(C[:, j])]).reshape(-1, len(C)).T


def explained(K: npt.ArrayLike, C: npt.ArrayLike, S: Sequence[int]) -> float:
    """J(S) = tr[(C_S'C_S)⁻¹ C_S'K C_S]; no scale of a column changes it, and copies add nothing."""
    K = np.asarray(K, dtype=np.float64)
    chosen = unit_columns(np.asarray(C, dtype=np.float64), S)
    if chosen.shape[1] == 0:
        return 0.0
    return float(np.trace(np.linalg.lstsq(chosen, K @ chosen, rcond=None)[0]))


def residual(C: Array, S: Sequence[int], j: int) -> Array:
    """c̃_j = (I - P_S) c_j, by least squares on columns of unit length."""
    size = np.linalg.norm(C[:, j])
    if size == 0 or len(S) == 0:
        return C[:, j].copy()
    chosen, f = unit_columns(C, S), C[:, j] / size
    weights = np.linalg.lstsq(chosen, f, rcond=None)[0]
    return np.asarray(size * (f - chosen @ weights))


def greedy(
    K: npt.ArrayLike,
    C: npt.ArrayLike,
    k: int,
    power: float = 0.5,
    relevance: npt.ArrayLike | None = None,
    tolerance: float = 1e-8,
    fixed: Sequence[int] = (),
) -> tuple[list[int], list[float], Array]:
    """j* = argmax r_j num_j / den_j^α, num = c̃'Kc̃, den = c̃'c̃, among columns with den > tolerance · den_0.

    The fixed columns are picked first, in their order; one without a residual gains nothing.
    Returns the order, the gains num/den of J at each pick, and the scores before the first pick (NaN without a den).
    """
    K, C = np.asarray(K, dtype=np.float64), np.asarray(C, dtype=np.float64)
    m = C.shape[1]
    weight = np.ones(m) if relevance is None else np.asarray(relevance, dtype=np.float64)
    first = [float(C[:, j] @ C[:, j]) for j in range(m)]

    scores_first = np.full(m, np.nan)
    for j in range(m):
        if first[j] > 0:
            scores_first[j] = weight[j] * max(float(C[:, j] @ K @ C[:, j]), 0.0) / first[j] ** power

    order: list[int] = []
    gains: list[float] = []
    while len(order) < k:
        scores: dict[int, float] = {}
        gain: dict[int, float] = {}
        for j in range(m):
            if j in order or first[j] == 0:
                continue
            r = residual(C, order, j)
            num, den = float(r @ K @ r), float(r @ r)
            if den > tolerance * first[j]:
                scores[j] = weight[j] * max(num, 0.0) / den**power
                gain[j] = num / den
        if len(order) < len(fixed):
            pick = fixed[len(order)]
            order.append(pick)
            gains.append(gain.get(pick, 0.0))
            continue
        best = max(scores.values(), default=0.0)
        if not best > 0:
            break
        pick = min(j for j in scores if scores[j] >= best - TIE * best)
        order.append(pick)
        gains.append(gain[pick])
    return order, gains, scores_first


def correlation(f: Iterable[float], g: Iterable[float]) -> float:
    """Pearson's r, at most 1 in size, and 0 where one of the two is constant."""
    a, b = shifted(f), shifted(g)
    product = math.fsum(p * q for p, q in zip(a, b, strict=True))
    size = math.sqrt(math.fsum(p**2 for p in a)) * math.sqrt(math.fsum(q**2 for q in b))
    return min(max(ratio(product, size), -1.0), 1.0)


def pruned(scores_order: Iterable[int], X: npt.ArrayLike, limit: float, k: int) -> tuple[list[int], dict[int, int]]:
    """Walk the order until k are kept; a feature is passed over if its |r| with a kept one exceeds the limit.

    Returns the kept ones, and for each passed-over one the kept one with the largest |r|, the first of equals.
    """
    X = np.asarray(X, dtype=np.float64)
    kept: list[int] = []
    passed: dict[int, int] = {}
    for j in (int(v) for v in scores_order):
        if len(kept) == k:
            break
        sizes = [abs(correlation(X[:, j], X[:, other])) for other in kept]
        if sizes and max(sizes) > limit:
            passed[j] = kept[sizes.index(max(sizes))]
        else:
            kept.append(j)
    return kept, passed


# ---------------------------------------------------------------------------------------------- labels as relevance


def mid_ranks(X: npt.ArrayLike) -> Array:
    """Mid-ranks of each column over all n rows."""
    X = np.asarray(X, dtype=np.float64)
    return np.column_stack([scipy.stats.rankdata(X[:, j]) for j in range(X.shape[1])])


def neighbour_means(W: npt.ArrayLike, X: npt.ArrayLike) -> Array:
    """D⁻¹WX, 0 for a row without degree, all of it minus the first row of X: a shift that no sum of squares sees."""
    W, X = np.asarray(W, dtype=np.float64), np.asarray(X, dtype=np.float64)
    d = degrees(W)
    means = np.zeros(X.shape)
    for i in range(X.shape[0]):
        for j in range(X.shape[1]):
            if d[i] > 0:
                means[i, j] = math.fsum(W[i, h] * (X[h, j] - X[0, j]) for h in range(len(X))) / d[i]
            else:
                means[i, j] = 0.0 - X[0, j]
    return means


def sums_of_squares(values: Sequence[float] | Array, labels: Sequence[int]) -> tuple[float, float, float]:
    """SSB = Σ_l n_l(μ_l - μ)², SSW = Σ_l Σ_{i in l} (f_i - μ_l)², SST = Σ_i (f_i - μ)²."""
    g = shifted(values)
    between: list[float] = []
    within: list[float] = []
    for name in sorted(set(labels)):
        members = [g[i] for i in range(len(g)) if labels[i] == name]
        middle = mean(members)
        between.append(len(members) * middle**2)
        within.extend((v - middle) ** 2 for v in members)
    return math.fsum(between), math.fsum(within), math.fsum(v**2 for v in g)


def adjusted(between: float, within: float, d1: int, d2: int) -> float:
    """(SSB - d1·SSW/d2)₊."""
    return max(between - d1 * within / d2, 0.0)


def spread(d1: int, d2: int) -> float:
    """s0 = √(2 d1 d2 / ((d1+d2)²(d1+d2+2))), the sd of R² under no relation."""
    return math.sqrt(2 * d1 * d2 / ((d1 + d2) ** 2 * (d1 + d2 + 2)))


def squares(f: Array, pairs: Iterable[tuple[int, int]]) -> list[float]:
    """(f_i - f_j)² of each pair."""
    return [(float(f[i]) - float(f[j])) ** 2 for i, j in pairs]


def contrast(apart: float, together: float) -> float:
    """(e_apart - e_together)₊ / (e_apart + e_together)."""
    return ratio(max(apart - together, 0.0), apart + together)


def levelled(values: Sequence[float]) -> list[float]:
    """At most 1 each, then divided by the maximum over features."""
    capped = [min(v, 1.0) for v in values]
    return [ratio(v, max(capped)) for v in capped]


def hits_and_misses(X: Array, rows: Sequence[int], codes: Sequence[int]) -> tuple[list[tuple[int, int]], ...]:
    """Directed pairs (row, one of its 3 nearest hits) and (row, one of its 3 nearest misses in each other class), among
    the labelled rows, by Euclidean distance over all features, ties to the smaller row."""
    hits: list[tuple[int, int]] = []
    misses: list[tuple[int, int]] = []
    for i in rows:
        distance = {j: math.sqrt(math.fsum((X[i, t] - X[j, t]) ** 2 for t in range(X.shape[1]))) for j in rows}
        for name in sorted({codes[j] for j in rows}):
            others = [j for j in rows if codes[j] == name and j != i]
            near = sorted(others, key=lambda j: (distance[j], j))[:NEIGHBOURS]
            (hits if name == codes[i] else misses).extend((i, j) for j in near)
    return hits, misses


def class_relevance(X: npt.ArrayLike, codes: Sequence[int] | npt.NDArray[np.integer], W: npt.ArrayLike) -> Array:
    """r = (rank + local + graph)/3 + s0(1 + 4/d2), d1 = C-1, d2 = l-C; r ≡ 1 for d2 = 0 or fewer than two classes.

    rank = (SSB - d1·SSW/d2)₊/SST of the mid-ranks; local = (e_miss - e_hit)₊/(e_miss + e_hit); graph = (SSB -
    d1·SSW/d2)₊ of the neighbour means over SST of the raw values, at most 1, then divided by its maximum.
    """
    X = np.asarray(X, dtype=np.float64)
    m = X.shape[1]
    names = [int(c) for c in codes]
    rows = [i for i in range(len(names)) if names[i] != -1]
    labels = [names[i] for i in rows]
    d1, d2 = len(set(labels)) - 1, len(rows) - len(set(labels))
    if d1 < 1 or d2 == 0:
        return np.ones(m)

    ranks, means = mid_ranks(X), neighbour_means(W, X)
    hits, misses = hits_and_misses(X, rows, names)
    rank, local, graph = [], [], []
    for j in range(m):
        between, within, total = sums_of_squares(ranks[rows, j], labels)
        rank.append(ratio(adjusted(between, within, d1, d2), total))
        local.append(contrast(mean(squares(X[:, j], misses)), mean(squares(X[:, j], hits))))
        between, within, _ = sums_of_squares(means[rows, j], labels)
        _, _, total = sums_of_squares(X[rows, j], labels)
        graph.append(ratio(adjusted(between, within, d1, d2), total))
    graph = levelled(graph)
    floor = spread(d1, d2) * (1 + 4 / d2)
    return np.array([(rank[j] + local[j] + graph[j]) / 3 + floor for j in range(m)])


def target_relevance(X: npt.ArrayLike, target: Sequence[float] | Array) -> Array:
    """r = ½[(R² - (1-R²)/d2)₊ + (e_far - e_near)₊/(e_far + e_near)] + s0(1, d2), d2 = l-2; r ≡ 1 for fewer than 4.

    R of mid-ranks; near / far: pairs of labelled rows with a target gap strictly below / above the median gap.
    """
    X = np.asarray(X, dtype=np.float64)
    m = X.shape[1]
    y = [float(v) for v in target]
    rows = [i for i in range(len(y)) if not math.isnan(y[i])]
    if len(rows) < 4:
        return np.ones(m)

    d2 = len(rows) - 2
    ranks, target_ranks = mid_ranks(X), scipy.stats.rankdata([y[i] for i in rows])
    pairs = list(itertools.combinations(rows, 2))
    middle = float(np.median([abs(y[i] - y[h]) for i, h in pairs]))
    near = [(i, h) for i, h in pairs if abs(y[i] - y[h]) < middle]
    far = [(i, h) for i, h in pairs if abs(y[i] - y[h]) > middle]
    relevance = np.zeros(m)
    for j in range(m):
        square = correlation(ranks[rows, j], target_ranks) ** 2
        rank = max(square - (1 - square) / d2, 0.0)
        local = contrast(mean(squares(X[:, j], far)), mean(squares(X[:, j], near)))
        relevance[j] = (rank + local) / 2 + spread(1, d2)
    return relevance


def distinct(pairs: Pairs) -> list[tuple[int, int]]:
    """Each pair once, whatever its order and however often it is given."""
    return sorted({(min(int(i), int(j)), max(int(i), int(j))) for i, j in pairs})


def squared_error(values: Sequence[float]) -> float:
    """var / count of a mean, with the sample variance; 0 for fewer than two values."""
    if len(values) < 2:
        return 0.0
    return math.fsum(v**2 for v in shifted(values)) / (len(values) - 1) / len(values)


def surplus(f: Array, must: list[tuple[int, int]], cannot: list[tuple[int, int]]) -> float:
    """(e_C - e_M - 2se)₊, se of the difference of the two means: √(var_C/|C| + var_M/|M|)."""
    apart, together = squares(f, cannot), squares(f, must)
    se = math.sqrt(squared_error(apart) + squared_error(together))
    return max(mean(apart) - mean(together) - 2 * se, 0.0)


def total_energy(f: Array, must: list[tuple[int, int]], cannot: list[tuple[int, int]]) -> float:
    """e_C + e_M."""
    return mean(squares(f, cannot)) + mean(squares(f, must))


def pair_relevance(X: npt.ArrayLike, must_link: Pairs, cannot_link: Pairs, W: npt.ArrayLike) -> Array:
    """r = ⅓ Σ over raw values, mid-ranks, neighbour means of (e_C - e_M - 2se)₊/(e_C + e_M) + √((1/|M| + 1/|C|)/2).

    The third with e_C + e_M of the raw values, at most 1, then divided by its maximum. r ≡ 1 for one kind of pair only.
    """
    X = np.asarray(X, dtype=np.float64)
    m = X.shape[1]
    must, cannot = distinct(must_link), distinct(cannot_link)
    if not must or not cannot:
        return np.ones(m)

    ranks, means = mid_ranks(X), neighbour_means(W, X)
    raw, rank, graph = [], [], []
    for j in range(m):
        below = total_energy(X[:, j], must, cannot)
        raw.append(ratio(surplus(X[:, j], must, cannot), below))
        rank.append(ratio(surplus(ranks[:, j], must, cannot), total_energy(ranks[:, j], must, cannot)))
        graph.append(ratio(surplus(means[:, j], must, cannot), below))
    graph = levelled(graph)
    floor = math.sqrt((1 / len(must) + 1 / len(cannot)) / 2)
    return np.array([(raw[j] + rank[j] + graph[j]) / 3 + floor for j in range(m)])


# ------------------------------------------------------------------------------------------------------- self-check


def check() -> None:
    """Every function on small random data, against identities that do not run through the same lines."""
    rng = np.random.default_rng(0)
    n, m = 24, 9
    codes = np.repeat([0, 1, 2], n // 3)
    X = rng.normal(size=(n, m)) * rng.uniform(0.5, 3, m)
    X[:, :3] += 2.0 * codes[:, None]
    X = np.column_stack([X, 2 * X[:, 0] + 1, np.full(n, 0.1)])  # a copy and a constant
    distance = np.linalg.norm(X[:, None] - X[None], axis=2)
    W = np.exp(-(distance**2) / 50) * (distance < np.median(distance)) * (1 - np.eye(n))
    W[5] = W[:, 5] = 0  # an isolated node
    m = X.shape[1]

    C, F, u = centred(X), smoothing(W), trivial(W)
    assert np.allclose(centred(X + 1e8), C, atol=1e-6)
    assert not np.any(centred(np.full((5, 1), 0.1) + 1e8))
    assert np.allclose(F @ u, 0)
    assert np.allclose(walk(W) @ u, 0)
    assert np.linalg.eigvalsh(F)[0] > -1e-12
    assert not np.any(np.abs(F[5]) > 1e-12)
    K = kernel_of_features(F, X)

    order, gains, first = greedy(K, C, m, power=1.0)
    assert math.isclose(sum(gains), explained(K, C, range(m)))
    assert len(order) == m - 2
    assert all(math.isclose(sum(gains[: s + 1]), explained(K, C, order[: s + 1])) for s in range(len(order)))
    assert np.isnan(first[m - 1])
    assert math.isclose(first[0], explained(K, C, [0]))
    assert 9 not in order
    assert 10 not in order
    assert greedy(K, C, 3, relevance=np.eye(m)[4])[0] == [4]
    order, _, first = greedy(K, C, 4)
    assert order[0] == np.nanargmax(first)
    num, den = np.array([c @ K @ c for c in C.T]), np.sum(C**2, axis=0)  # the notes: num += a(ae - 2b), den -= a²
    Q = np.zeros((n, 0))
    for pick in order:
        live = den > 1e-8 * np.sum(C**2, axis=0)
        assert pick == np.argmax(np.where(live, num, 0) / np.sqrt(np.where(live, den, 1)))
        q = C[:, pick] - Q @ (Q.T @ C[:, pick])
        q /= np.linalg.norm(q)
        Q = np.column_stack([Q, q])
        a, b = C.T @ q, C.T @ (K @ q - Q[:, :-1] @ (Q[:, :-1].T @ K @ q))
        num, den = num + a * (a * (q @ K @ q) - 2 * b), den - a**2

    kernel, weighted = graph_form(W, X + 1e6, lambda value: 1 - value)
    d, L = degrees(W), np.diag(degrees(W)) - W
    for j in range(m - 1):
        f = X[:, j] - d @ X[:, j] / d.sum()
        assert math.isclose(explained(kernel, weighted, [j]), 1 - (f @ L @ f) / (f @ (d * f)), rel_tol=1e-6)

    known = np.where(np.arange(n) % 2 == 0, codes, -1)
    r = class_relevance(X, known, W)
    assert r.shape == (m,)
    assert r[:3].min() > r[3:9].max()
    assert math.isclose(r[0], r[9])
    assert math.isclose(r[10], spread(2, 9) * (1 + 4 / 9))  # the constant
    assert np.all(class_relevance(X, np.where(np.arange(n) % 8 == 0, codes, -1), W) == 1)
    assert np.all(class_relevance(X, np.zeros(n, dtype=int), W) == 1)
    target = np.where(np.arange(n) % 3 < 2, X[:, 1], np.nan)
    r = target_relevance(X, target)
    assert r.shape == (m,)
    assert np.argmax(r) == 1
    assert 0.8 < r[1] <= 1 + spread(1, 14)
    assert math.isclose(r[10], spread(1, 14))
    assert np.all(target_relevance(X, np.where(np.arange(n) < 3, X[:, 1], np.nan)) == 1)
    must, cannot = [(0, 1), (1, 0), (9, 10), (20, 21), (2, 4)], [(0, 20), (1, 22), (3, 18), (10, 23), (2, 17)]
    r = pair_relevance(X, must, cannot, W)
    assert r.shape == (m,)
    assert r[:3].max() > r[10]
    assert math.isclose(r[10], math.sqrt((1 / 4 + 1 / 5) / 2))
    assert np.all(pair_relevance(X, must, [], W) == 1)
    assert np.all(pair_relevance(X, [], cannot, W) == 1)

    kept, passed = pruned([10, 3, 0, 9, 1, 2], X, 0.95, 3)
    assert kept == [10, 3, 0]
    assert passed == {}
    assert pruned([10, 3, 0, 9, 1], X, 0.95, 4) == ([10, 3, 0, 1], {9: 0})


if __name__ == "__main__":
    check()
    print("reference_sets: every check holds")
