"""Which columns of a design are independent, and which coefficients some of its rows identify."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.linalg import solve_triangular

Array = npt.NDArray[Any]

# A column counts as a combination of those before it if less than this share of its length is left without them.
# R's glm has 1e-11 too. Rounding leaves about 1e-15.
DEPENDENT = 1e-11


class Basis(NamedTuple):
    """Independent columns of a design, as orthonormal ones.

    Attributes
    ----------
    kept : array of int
        Columns that do not depend on those before them.
    rows : array of shape (n_samples, n_kept)
        Orthonormal columns with the same span.
    triangle : array of shape (n_kept, n_kept)
        The kept columns are rows @ triangle.
    relations : dict
        The coefficients with which each other column follows from the kept ones, all of them in units of their lengths.
    """

    kept: Array
    rows: Array
    triangle: Array
    relations: dict[int, Array]

    def identified(self) -> Array:
        """Return the columns whose coefficient is the same in all models with the same predictors.

        Such models differ by relations between the columns: a coefficient is identified if its column is in none.
        """
        related = [np.abs(relation) > np.sqrt(DEPENDENT) for relation in self.relations.values()]
        return self.kept[~np.any(related, axis=0)] if related else self.kept


def independent(design: Array, columns: Iterable[int]) -> Basis:
    """Return those of the columns that do not depend on the ones before them. Units make no difference."""
    rows, triangle = np.empty((len(design), 0)), np.empty((0, 0))
    kept: list[int] = []
    dependent: dict[int, Array] = {}
    for j in columns:
        largest = np.abs(design[:, j]).max(initial=0.0) or 1.0
        column = design[:, j] / largest
        length = float(np.linalg.norm(column)) or 1.0
        rest, parts = column / length, np.zeros(len(kept))
        for _ in range(2):  # once leaves errors of the size of what was subtracted; twice is enough
            part = rows.T @ rest
            rest, parts = rest - rows @ part, parts + part
        left = float(np.linalg.norm(rest))
        if left <= DEPENDENT:
            dependent[j] = parts
            continue
        new = np.append(parts, left) * length * largest
        triangle = np.column_stack([np.vstack([triangle, np.zeros(len(kept))]), new])
        rows = np.column_stack([rows, rest / left])
        kept.append(j)
    relations = {}
    for j, parts in dependent.items():
        before = parts.size  # parts are along the columns that were kept until then
        of_length_one = triangle[:before, :before] / np.linalg.norm(triangle[:before, :before], axis=0)
        relations[j] = np.zeros(len(kept))
        relations[j][:before] = solve_triangular(of_length_one, parts)
    return Basis(np.array(kept, dtype=np.intp), rows, triangle, relations)
