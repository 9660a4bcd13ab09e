"""The table the tests of files write and read back: three rows, four columns, a label that is missing."""

import numpy as np

X = np.array([[1.0, 0.0, 2.5, 0.0], [0.0, 3.0, 0.0, -4.0], [5.0, 0.0, 0.0, 6.25]])
NAMES = ["a", "b", "c", "d"]
Y = ["yes", "no", ""]
