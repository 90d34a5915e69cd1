"""Real data that comes with scikit-learn, split into rows to learn from and rows to be tested on."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

Array = npt.NDArray[Any]


class Split(NamedTuple):
    """Rows to learn from, and rows to be tested on."""

    X: Array
    y: Array
    X_test: Array
    y_test: Array


def tumours(seed: int = 0) -> Split:
    """Return 569 tumours, 30 measurements each, standardised by the rows to learn from; 1 is benign, 0 malignant."""
    X, label = load_breast_cancer(return_X_y=True)
    X, X_test, y, y_test = _split(X, label, seed)
    scaler = StandardScaler().fit(X)
    return Split(scaler.transform(X), y, scaler.transform(X_test), y_test)


def digits(seed: int = 0) -> Split:
    """Return 1797 handwritten digits, 8 x 8 pixels each between 0 and 1."""
    X, label = load_digits(return_X_y=True)
    X, X_test, y, y_test = _split(X / 16.0, label, seed)
    return Split(X, y, X_test, y_test)


def _split(X: Array, y: Array, seed: int) -> list[Array]:
    return [np.asarray(part) for part in train_test_split(X, y, test_size=0.3, stratify=y, random_state=seed)]
