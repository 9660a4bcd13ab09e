"""Graphs over the rows of X and the recipes that build them: the first factor of a method.

This room may import ``problem``, ``engine``, ``supervision``, ``data`` and ``validation``.

- ``graph``      Graph, an immutable value, and how W is stored     ``summed``  one known by sums over the rows
- ``spectrum``   eigenpairs per component     ``filters``  γ(𝓛) applied     ``smoothing``  averages over neighbours
- ``recipe``     Recipe, the base class     ``adjacency``  weights from graphs of other libraries
- ``neighbors``  KNN     ``kernels``  RBF Diffusion     ``anchors``  Anchors     ``given``  Precomputed
- ``agreeing``   Agreeing, the graph of the columns that agree with others
- ``labels``     ClassGraph ReliefGraph TargetKNN SemiTarget     ``pairs``  MustLink CannotLink Within
"""

from .anchors import Anchors
from .graph import Graph
from .kernels import RBF, Diffusion
from .neighbors import KNN, Agreeing
from .recipe import Precomputed, Recipe, as_recipe, holds_graph
from .supervised import CannotLink, ClassGraph, MustLink, ReliefGraph, SemiTarget, TargetKNN, Within
