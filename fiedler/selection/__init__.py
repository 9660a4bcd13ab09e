"""The third factor, selection: from scores to a choice.

- ``ranking``       scores to an order: direction, NaN, ties, in one place
- ``forward``       sets, one feature beside the other, by two engines: ``rounds``, ``between``; both share ``steps``
- ``redundancy``    a ranking without near copies
- ``significance``  the permutation null of energies;  ``weights``  what it asks of W;  ``permutations``  other nulls
- ``crossfit``      features in folds, each tested on the graph of the others;  ``nulls``  which test a formula has
- ``discovery``     every feature tested, q-values;  ``cautions``  what p-values cannot see
- ``choice``        how many, and which: what the selector asks for
- ``cut``           [ZL] Algorithm 3: how well the graph on the first features falls into two
"""
