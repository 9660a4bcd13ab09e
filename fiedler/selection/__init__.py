"""The third factor, selection: from scores to a choice.

- ``ranking``  scores to an order: direction, NaN, ties, in one place
- ``cut``      [ZL] Algorithm 3: how well the graph on the first features falls into two
- ``significance``  the permutation null of energies;  ``weights``  what it asks of W;  ``permutations``  the others
- ``crossfit``  features in folds, each tested on the graph of the others
"""
