"""Data for the property tests."""

import numpy as np
from hypothesis import strategies as st

small = st.integers(-4, 4)


@st.composite
def integer_sets(draw, *, most_rows=24, most_features=5, classes=2):
    """Rows of small integers with class numbers, every class present."""
    n = draw(st.integers(classes, most_rows))
    d = draw(st.integers(1, most_features))
    X = np.array(draw(st.lists(st.lists(small, min_size=d, max_size=d), min_size=n, max_size=n)), float)
    rest = draw(st.lists(st.integers(0, classes - 1), min_size=n - classes, max_size=n - classes))
    label = np.array(draw(st.permutations([*range(classes), *rest])))
    return X, label


@st.composite
def separable_sets(draw, *, most_rows=30, most_features=5):
    """Integer rows labelled by a planted integer hyperplane that none of them touches, and that hyperplane."""
    X, _ = draw(integer_sets(most_rows=most_rows, most_features=most_features))
    u = np.array(draw(st.lists(small, min_size=X.shape[1], max_size=X.shape[1])), float)
    c = draw(small) + 0.5
    return X, np.where(X @ u + c > 0, 1, -1), u, c
