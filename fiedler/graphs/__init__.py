"""The first factor, graphs: what they are, how they are held, and the recipes that build them, by what those read.

- ``graph``      Graph, a thin immutable value;  ``storage`` ``factored``  how W is held;  ``spectrum`` ``filters``
- ``recipe``     Recipe, the base of all;  ``adjacency``  weights from what other libraries hold;  ``bandwidth``
- ``neighbors``  KNN     ``kernels``  RBF Diffusion     ``anchors``  Anchors     ``given``  Precomputed
- ``agreeing``   Agreeing, the graph of the columns that agree with others
- ``labels``     ClassGraph ReliefGraph TargetKNN SemiTarget     ``pairs``  MustLink CannotLink Within
"""

from .agreeing import Agreeing
from .anchors import Anchors
from .given import Precomputed, as_recipe, holds_graph
from .graph import Graph
from .kernels import RBF, Diffusion
from .labels import ClassGraph, ReliefGraph, SemiTarget, TargetKNN
from .neighbors import KNN
from .pairs import CannotLink, MustLink, Within
from .recipe import Recipe
