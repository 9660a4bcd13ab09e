"""Graphs over the rows of X and the recipes that build them: the first factor of a method.

This room may import ``problem``, ``engine``, ``supervision``, ``data`` and ``validation``.

- ``graph``      Graph, an immutable value, and how W is stored
- ``divided``    a graph per block of rows, as one graph
- ``spectrum``   eigenpairs per component, γ(𝓛) applied     ``smoothing``  averages over neighbours
- ``recipe``     Recipe, the base class; Precomputed     ``adjacency``  weights from graphs of other libraries
- ``neighbors``  KNN Agreeing     ``kernels``  RBF Diffusion     ``anchors``  Anchors, also as sums over the rows
- ``supervised`` ClassGraph ReliefGraph TargetKNN SemiTarget MustLink CannotLink Within
"""

from .anchors import Anchors
from .graph import Graph
from .kernels import RBF, Diffusion
from .neighbors import KNN, Agreeing
from .recipe import Precomputed, Recipe, as_recipe, holds_graph
from .supervised import CannotLink, ClassGraph, MustLink, ReliefGraph, SemiTarget, TargetKNN, Within
