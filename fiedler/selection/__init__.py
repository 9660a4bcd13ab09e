"""The third factor, selection: from scores to a choice.

- ``ranking``  scores to an order: direction, NaN, ties, in one place
- ``forward``  sets, one feature beside the other, by two engines: ``rounds`` and ``between``, which share ``steps``
- ``redundancy``  a ranking without near copies
- ``cut``      [ZL] Algorithm 3: how well the graph on the first features falls into two
- ``significance``  the permutation null of energies;  ``weights``  what it asks of W;  ``permutations``  the others
- ``crossfit``  features in folds, each tested on the graph of the others
"""
