"""Compiled loops on raw arrays; the only module that imports the compiler (numba, extra ``fast``).

Every kernel has an equivalent in plain NumPy at the place where it is called, and tests compare the two. Kernels
release the GIL, so blocks of columns run in threads. Each column is summed in a fixed order, so that neither the number
of threads nor the width of a block changes a digit. Kernels are compiled on first use and cached on disk.
"""

from __future__ import annotations

import functools
import threading
from types import SimpleNamespace
from typing import Any, TypeAlias

import numpy as np

A: TypeAlias = np.ndarray  # short name for the arrays in the signatures of kernels
# Smallest number of scalar operations for compiled code. Loading it takes a third of a second once, and then it saves
# a millisecond per million operations. The rule depends only on the job, so that earlier jobs change no digit.
_WORTH_COMPILING = 5e6

_loading = threading.Lock()  # several threads may load at the same time, and each would compile the kernels


@functools.cache
def load() -> Any:
    """The compiled kernels as a namespace, or None if numba is not installed."""
    try:
        import numba
    except ImportError:
        return None
    reorder = {"reassoc", "contract"}  # lets sums over columns use vector registers
    free: dict[Any, Any] = {
        pair_squared_distances: reorder,
        scan_cells: reorder,
        averages: {"contract"},
        chebyshev: {"contract"},
    }
    exact: list[Any] = [edge_energy, moments, squared_differences, sparse_edge_energy, sparse_pair_squares]
    exact += [sparse_pair_products, sparse_gram, squared_products, choose_sparse]
    njit = functools.partial(numba.njit, nogil=True, cache=True, error_model="numpy")
    return SimpleNamespace(**{f.__name__: njit(fastmath=free.get(f, False))(f) for f in [*exact, *free]})


def kernels(operations: float) -> Any:
    """The compiled kernels if they are worthwhile for this number of scalar operations, else None."""
    if operations < _WORTH_COMPILING:
        return None
    with _loading:
        return load()


def edge_energy(F: A, indptr: A, indices: A, weights: A, energy: A) -> None:
    """energy[c] += Σ_{i<j} w_ij (f_ic - f_jc)² for a block F and W in csr, whole or its upper triangle."""
    for i in range(len(indptr) - 1):
        for p in range(indptr[i], indptr[i + 1]):
            j, w = indices[p], weights[p]
            if i < j:
                for c in range(len(energy)):
                    difference = F[i, c] - F[j, c]
                    energy[c] += w * difference * difference


def moments(F: A, degree: A, reference: int, shift: A, mass: A) -> None:
    """Degree-weighted mean relative to a reference row, and mass around it."""
    volume, width = degree.sum(), len(mass)
    for i in range(F.shape[0]):
        for c in range(width):
            shift[c] += degree[i] * (F[i, c] - F[reference, c])
    for c in range(width):
        shift[c] /= volume
    for i in range(F.shape[0]):
        for c in range(width):
            centred = F[i, c] - F[reference, c] - shift[c]
            mass[c] += degree[i] * centred * centred


def squared_differences(F: A, i: A, j: A, squares: A) -> None:
    """squares[e, c] = (f_ic - f_jc)² for a block F and the edges e = (i, j)."""
    for e in range(len(i)):
        a, b = i[e], j[e]
        for c in range(squares.shape[1]):
            difference = F[a, c] - F[b, c]
            squares[e, c] = difference * difference


def sparse_edge_energy(
    f_indptr: A, f_indices: A, f_data: A, indptr: A, indices: A, weights: A, column: A, energy: A
) -> None:
    """As edge_energy, for a csc block and all of W in csr; edges between two zeros are not visited."""
    for c in range(len(f_indptr) - 1):
        for p in range(f_indptr[c], f_indptr[c + 1]):
            column[f_indices[p]] = f_data[p]
        total = 0.0
        for p in range(f_indptr[c], f_indptr[c + 1]):
            i, value = f_indices[p], f_data[p]
            if value != 0.0:
                for e in range(indptr[i], indptr[i + 1]):
                    other = column[indices[e]]
                    term = weights[e] * (value - other) * (value - other)
                    # An edge between two stored values is found from both ends and counted at the smaller one. Adding
                    # a zero is faster than a branch that processors cannot predict.
                    total += term if (other == 0.0) | (i < indices[e]) else 0.0
        energy[c] = total
        for p in range(f_indptr[c], f_indptr[c + 1]):
            column[f_indices[p]] = 0.0


def pair_squared_distances(F: A, width: int, i: A, j: A, squared: A) -> None:
    """squared[p] += ‖F[i_p] - F[j_p]‖² over ``width`` columns at a time, so that rows stay in the cache."""
    for start in range(0, width, 256):
        stop = min(start + 256, width)
        for p in range(len(i)):
            a, b = F[i[p], start:stop], F[j[p], start:stop]
            total = 0.0
            for c in range(stop - start):
                difference = a[c] - b[c]
                total += difference * difference
            squared[p] += total


def sparse_pair_squares(indptr: A, indices: A, data: A, group: A, i: A, j: A, scratch: A, squared: A) -> None:
    """squared[p, g] += Σ (x_i - x_j)² over the columns of group g, for pairs of rows of a csr X.

    Row i is spread over ``scratch``, m zeros. Entries of row j are subtracted there, and hide the entries of row i that
    they meet; the entries of row i that are left are added.
    """
    spread = -1
    for p in range(len(i)):
        a, b = i[p], j[p]
        if a != spread:
            if spread >= 0:
                for q in range(indptr[spread], indptr[spread + 1]):
                    scratch[indices[q]] = 0.0
            for q in range(indptr[a], indptr[a + 1]):
                scratch[indices[q]] = data[q]
            spread = a
        sums = squared[p]
        for q in range(indptr[b], indptr[b + 1]):
            c = indices[q]
            difference = scratch[c] - data[q]
            sums[group[c]] += difference * difference
            scratch[c] = 0.0
        for q in range(indptr[a], indptr[a + 1]):
            c = indices[q]
            sums[group[c]] += scratch[c] * scratch[c]
            scratch[c] = data[q]


def sparse_pair_products(indptr: A, indices: A, data: A, i: A, j: A, scratch: A, products: A) -> None:
    """products[p] = x_i'x_j for pairs of rows of a csr X. Row i is spread over ``scratch``, m zeros."""
    spread = -1
    for p in range(len(i)):
        a, b = i[p], j[p]
        if a != spread:
            if spread >= 0:
                for q in range(indptr[spread], indptr[spread + 1]):
                    scratch[indices[q]] = 0.0
            for q in range(indptr[a], indptr[a + 1]):
                scratch[indices[q]] = data[q]
            spread = a
        product = 0.0
        for q in range(indptr[b], indptr[b + 1]):
            product += scratch[indices[q]] * data[q]
        products[p] = product


def sparse_gram(
    rows: A, places: A, indptr: A, indices: A, data: A, first: A, c_indptr: A, c_indices: A, c_data: A, gram: A
) -> None:
    """gram[places[r]] = X x_rows[r] for some rows of a csr X, through its csc twin.

    Entry p of X meets the entries of its column from ``first[p]`` on: all of them, or those of its own and later rows.
    Sums are in double precision, also if ``gram`` is not.
    """
    products = np.empty(gram.shape[1])
    for r in range(len(rows)):
        row = rows[r]
        products[:] = 0.0
        for p in range(indptr[row], indptr[row + 1]):
            value = data[p]
            for q in range(first[p], c_indptr[indices[p] + 1]):
                products[c_indices[q]] += value * c_data[q]
        gram[places[r]] = products


def squared_products(
    x_indptr: A, x_indices: A, x_data: A, indptr: A, indices: A, data: A, product: A, squares: A
) -> None:
    """squares[c] = ‖T'x_c‖² for csc columns x and a csr T; ``product`` is scratch, zero before and after."""
    for c in range(len(x_indptr) - 1):
        total = 0.0
        for p in range(x_indptr[c], x_indptr[c + 1]):
            i, value = x_indices[p], x_data[p]
            for e in range(indptr[i], indptr[i + 1]):
                product[indices[e]] += value * data[e]
        for p in range(x_indptr[c], x_indptr[c + 1]):
            i = x_indices[p]
            for e in range(indptr[i], indptr[i + 1]):
                j = indices[e]
                total += product[j] * product[j]
                product[j] = 0.0
        squares[c] = total


def choose_sparse(
    rows: A, key: A, limit: A, indptr: A, indices: A, data: A, half: A, spread: A, found: A, best: A
) -> None:
    """The k columns j with the smallest half_j - x_i'x_j of each row i of a csr X, among those with key_ij <= limit_i.

    Equal ones go to the smaller j. ``spread`` is scratch, zero before and after; ``best`` must be inf before.
    """
    last = found.shape[1] - 1
    for r in range(len(rows)):
        i = rows[r]
        for p in range(indptr[i], indptr[i + 1]):
            spread[indices[p]] = data[p]
        for j in range(key.shape[1]):
            if key[r, j] <= limit[r] and j != i:
                product = 0.0
                for p in range(indptr[j], indptr[j + 1]):
                    product += spread[indices[p]] * data[p]
                true = half[j] - product
                if true < best[r, last]:
                    place = last
                    while place > 0 and best[r, place - 1] > true:
                        best[r, place], found[r, place] = best[r, place - 1], found[r, place - 1]
                        place -= 1
                    best[r, place], found[r, place] = true, j
        for p in range(indptr[i], indptr[i + 1]):
            spread[indices[p]] = 0.0


def scan_cells(Y: A, first: int, cells: A, bounds: A, askers: A, starts: A, apart: A, found: A) -> None:
    """The k nearest neighbours, ascending, of rows of Y from ``first`` on, among the rows of the cells they search.

    ``askers[bounds[g]:bounds[g + 1]]`` are the rows that search cell g of ``cells``. Four rows search at a time, so
    that the rows of a cell, from ``starts`` on, are read a quarter as often. ``apart``, squared distances, must be inf
    before.
    """
    last, squares = found.shape[1] - 1, np.empty(4, dtype=np.float32)
    for g in range(len(cells)):
        for q in range(bounds[g], bounds[g + 1], 4):
            n_lanes = min(4, bounds[g + 1] - q)
            r0, r1 = askers[q], askers[q + min(1, n_lanes - 1)]
            r2, r3 = askers[q + min(2, n_lanes - 1)], askers[q + n_lanes - 1]
            x0, x1, x2, x3 = Y[first + r0], Y[first + r1], Y[first + r2], Y[first + r3]
            worst = max(max(apart[r0, last], apart[r1, last]), max(apart[r2, last], apart[r3, last]))
            for j in range(starts[cells[g]], starts[cells[g] + 1]):
                y = Y[j]
                s0 = s1 = s2 = s3 = np.float32(0.0)
                for c in range(Y.shape[1]):
                    d0, d1, d2, d3 = y[c] - x0[c], y[c] - x1[c], y[c] - x2[c], y[c] - x3[c]
                    s0 += d0 * d0
                    s1 += d1 * d1
                    s2 += d2 * d2
                    s3 += d3 * d3
                if min(min(s0, s1), min(s2, s3)) >= worst:
                    continue
                squares[0], squares[1], squares[2], squares[3] = s0, s1, s2, s3
                for lane in range(n_lanes):
                    r, squared = askers[q + lane], squares[lane]
                    if squared < apart[r, last] and j != first + r:
                        place = last
                        while place > 0 and apart[r, place - 1] > squared:
                            apart[r, place], found[r, place] = apart[r, place - 1], found[r, place - 1]
                            place -= 1
                        apart[r, place], found[r, place] = squared, j
                worst = max(max(apart[r0, last], apart[r1, last]), max(apart[r2, last], apart[r3, last]))


def averages(indptr: A, indices: A, data: A, V: A, unit: A, along: A, start: int, result: A) -> None:
    """Rows from ``start`` on of (A - uu') V for a csr A, with along = u'V; four neighbours at a time."""
    width = result.shape[1]
    for i in range(len(result)):
        row, u, q, last = result[i], unit[start + i], indptr[start + i], indptr[start + i + 1]
        for b in range(width):
            row[b] = -u * along[b]
        while q + 4 <= last:
            a0, a1, a2, a3 = data[q], data[q + 1], data[q + 2], data[q + 3]
            v0, v1, v2, v3 = V[indices[q]], V[indices[q + 1]], V[indices[q + 2]], V[indices[q + 3]]
            for b in range(width):
                row[b] += a0 * v0[b] + a1 * v1[b] + a2 * v2[b] + a3 * v3[b]
            q += 4
        while q < last:
            a0, v0 = data[q], V[indices[q]]
            for b in range(width):
                row[b] += a0 * v0[b]
            q += 1


def chebyshev(indptr: A, indices: A, data: A, coefficients: A, before: A, now: A, total: A) -> None:
    """total += Σ_p c_p T_p(A) V from p = 2 on, with T_p = 2 A T_p-1 - T_p-2, for a csr A.

    At the start ``before`` is V and ``now`` is A V; both are overwritten. Four neighbours at a time: a row of sums is
    then read and written less often.
    """
    width = before.shape[1]
    for p in range(2, len(coefficients)):
        c = coefficients[p]
        for i in range(len(indptr) - 1):
            row, sums, q, last = before[i], total[i], indptr[i], indptr[i + 1]
            for b in range(width):
                row[b] = -row[b]
            while q + 4 <= last:
                a0, a1, a2, a3 = 2.0 * data[q], 2.0 * data[q + 1], 2.0 * data[q + 2], 2.0 * data[q + 3]
                v0, v1, v2, v3 = now[indices[q]], now[indices[q + 1]], now[indices[q + 2]], now[indices[q + 3]]
                for b in range(width):
                    row[b] += a0 * v0[b] + a1 * v1[b] + a2 * v2[b] + a3 * v3[b]
                q += 4
            while q < last:
                a0, v0 = 2.0 * data[q], now[indices[q]]
                for b in range(width):
                    row[b] += a0 * v0[b]
                q += 1
            for b in range(width):
                sums[b] += c * row[b]
        before, now = now, before


def as_block(F: np.ndarray) -> np.ndarray:
    """F for the kernels, C-ordered and float64, copied only if necessary.

    Some columns of a C-ordered array are read in place, so that the rows in memory may be longer than those of F. Only
    the columns of F are read. The result is read-only, so that one compiled version is enough.
    """
    step, size = F.strides[0], F.itemsize
    in_place = F.dtype == np.float64 and F.shape[1] > 1 and F.strides[1] == size and F.flags.aligned
    if in_place and len(F) > 1 and step % size == 0 and step >= size * F.shape[1]:
        return np.lib.stride_tricks.as_strided(F, (len(F), step // size), (step, size), writeable=False)
    block = np.ascontiguousarray(F, dtype=np.float64).view()
    block.flags.writeable = False
    return block
