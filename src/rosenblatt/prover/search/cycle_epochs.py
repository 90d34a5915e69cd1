"""Compiled perceptron on integers, with Brent's search for a return of its weights.

Nothing here checks bounds; `rosenblatt.prover.search.cycles` validates each array before it arrives, and chooses the
limit below which no sum overflows 64 bits.
"""

from rosenblatt.engine.jit import compiled

GOING, SEPARATED, RETURNED, OVERFLOW = 0, 1, 2, 3


@compiled()
def run_epochs(Z, w, mark, counts, state, epochs, limit):
    """Present the rows of Z in order for more epochs, from where the last call ended.

    Parameters
    ----------
    Z : int64 array of shape (n, width)
        Signed rows: one with z.w <= 0 is a mistake and is added to w.
    w, mark : int64 arrays of shape (width,)
        The weights, and those that a return is a return to.
    counts : int64 array of shape (n,)
        Updates on each row since the mark.
    state : int64 array of shape (3,)
        Epochs made, epochs since the mark, and after how many the mark moves.
    epochs : int
        How many to make at most.
    limit : int
        The sum of |w| up to which an epoch is safe.

    Returns
    -------
    int
        SEPARATED after an epoch without a mistake, RETURNED where w is the mark again, OVERFLOW where the next epoch
        would not be safe, else GOING.
    """
    n, width = Z.shape
    for _ in range(epochs):
        size = 0
        for j in range(width):
            size += abs(w[j])
        if size > limit:
            return OVERFLOW
        mistakes = 0
        for i in range(n):
            margin = 0
            for j in range(width):
                margin += Z[i, j] * w[j]
            if margin <= 0:
                for j in range(width):
                    w[j] += Z[i, j]
                counts[i] += 1
                mistakes += 1
        state[0] += 1
        if mistakes == 0:
            return SEPARATED
        state[1] += 1
        same = True
        for j in range(width):
            if w[j] != mark[j]:
                same = False
                break
        if same:
            return RETURNED
        if state[1] == state[2]:
            state[1], state[2] = 0, 2 * state[2]
            mark[:] = w
            counts[:] = 0
    return GOING
