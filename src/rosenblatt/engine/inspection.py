"""What could lead a compiled loop over dense rows astray: values that are not finite."""

import numpy as np

from rosenblatt.engine.jit import compiled

# Sums may be reordered and fused; NaN and infinity keep their meaning.
FASTMATH = {"reassoc", "contract", "nsz"}


@compiled(fastmath=FASTMATH)
def inspect_dense(X):
    """Largest squared row norm, and the first row whose norm is not finite or -1."""
    largest, fault = 0.0, -1
    for i in range(X.shape[0]):
        total = 0.0
        for j in range(X.shape[1]):
            value = np.float64(X[i, j])
            total += value * value
        if not total < np.inf:
            if fault < 0:
                fault = i
        elif total > largest:
            largest = total
    return largest, fault
