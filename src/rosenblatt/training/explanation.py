"""The score of a row as a sum over its features, or over the stored rows of a kernel."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import fsum
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from rosenblatt.data.numbers import is_whole
from rosenblatt.data.table import Table
from rosenblatt.engine.rows import Csr, Dense, Hyperplanes
from rosenblatt.errors import InvalidInput
from rosenblatt.text import short_repr
from rosenblatt.training.multiclass import by_pairs, coding_matrix

if TYPE_CHECKING:
    from rosenblatt.files.names import NamedRows
    from rosenblatt.training.model import LinearModel

Array = npt.NDArray[Any]


class Contribution(NamedTuple):
    """The contribution of one feature to a score.

    Attributes
    ----------
    name : str
    value : float
        As it is in the data.
    weight : float
        Of the column.
    contribution : float
        weight * value; in a standardised column weight * (value - mean) / deviation.
    """

    name: str
    value: float
    weight: float
    contribution: float


class SimilarRow(NamedTuple):
    """The contribution of one stored row to a score of a kernel.

    Attributes
    ----------
    row : int
        Its number among the rows that were learned from, as in `support_`.
    label : label
    similarity : float
        Of the explained row with it.
    coefficient : float
        How often it was learned from, with a sign; of an average, the mean over all trials.
    contribution : float
        coefficient * similarity.
    """

    row: int
    label: Any
    similarity: float
    coefficient: float
    contribution: float

    @property
    def name(self) -> str:
        """What it is called in a sum."""
        return f"row {self.row} ({self.label})"


class Entries(NamedTuple):
    """The entries of one row that are not zero: their columns, their values, and what users call and see them as."""

    column: Array
    value: Array  # as the weights are multiplied by it
    name: Sequence[str]
    shown: Sequence[float]  # as it is in the data, before a column is standardised

    def part(self, k: int, weight: float, contribution: float) -> Contribution:
        """Return the contribution of an entry."""
        return Contribution(self.name[k], float(self.shown[k]), weight, contribution)


class Similarities(NamedTuple):
    """The similarities of one row with stored rows."""

    value: Array
    row: Sequence[int]
    label: Sequence[Any]

    def part(self, k: int, weight: float, contribution: float) -> SimilarRow:
        """Return the contribution of a stored row."""
        return SimilarRow(self.row[k], self.label[k], float(self.value[k]), weight, contribution)


@dataclass(frozen=True)
class ScoreSum:
    """The score of a class as a sum.

    Attributes
    ----------
    label : label, or None in a regression
        With two classes the positive one. Where pairs of classes vote, "a over b".
    score : float
        The sum of everything below.
    contributions : tuple of Contribution, or of SimilarRow for a kernel
        The largest first, whatever their sign.
    others : float
        The sum of the contributions beyond the `top` largest.
    bias : float
    """

    label: Any
    score: float
    contributions: tuple[Contribution, ...] | tuple[SimilarRow, ...]
    others: float
    bias: float

    def __str__(self) -> str:
        """Return the sum on one line."""
        terms = [f"{part.name} {part.contribution:.3g}" for part in self.contributions if part.contribution]
        terms += [f"others {self.others:.3g}"] if self.others else []
        label = "" if self.label is None else f"{self.label} "
        return f"{label}{self.score:.3g} = {', '.join([*terms, f'bias {self.bias:.3g}'])}"


@dataclass(frozen=True, repr=False)
class Explanation:
    """The score of each class for one row, as a sum over its features, or over stored rows that are similar.

    It prints as a line for each class, that with the highest score first.

    Attributes
    ----------
    sums : tuple of ScoreSum
        In the order of the classes. Two classes have one score, which is positive for the second; a regression has one,
        the prediction.

    Examples
    --------
    >>> from rosenblatt import Perceptron
    >>> model = Perceptron(shuffle=False).fit([[0, 0], [1, 0], [0, 1], [1, 1]], ["no", "yes", "yes", "yes"])
    >>> model.explain([1, 1])
    yes 3 = x1 2, x2 2, bias -1
    >>> model.explain([1, 1]).sums[0].contributions[0].contribution
    2.0
    """

    sums: tuple[ScoreSum, ...]

    def __repr__(self) -> str:
        """Return a line for each class."""
        return "\n".join(self.lines())

    def lines(self) -> list[str]:
        """Return a line for each class, that with the highest score first."""
        return [str(one) for one in sorted(self.sums, key=lambda one: -one.score)]

    def to_dict(self) -> list[dict[str, Any]]:
        """Return the sums as plain values, which JSON can hold."""
        return [
            {
                "label": one.label.item() if isinstance(one.label, np.generic) else one.label,
                "score": one.score,
                "contributions": [part._asdict() for part in one.contributions],
                "others": one.others,
                "bias": one.bias,
            }
            for one in self.sums
        ]


def explain(
    planes: Hyperplanes, classes: Array, multiclass: str, entries: Entries | Similarities, top: int | None
) -> Explanation:
    """Return the score of each class as a sum over the entries of a row, or over its similarities.

    Parameters
    ----------
    planes : Hyperplanes
        Weights of the entries alone, (n_problems, n_entries), and biases.
    classes : array
        Empty for a regression.
    multiclass : str
        As in `decision`. One-vs-one adds up the problems of a class; votes are not a sum, so each pair is explained.
    entries : Entries or Similarities
    top : int or None
        How many contributions to list; None for all.
    """
    if not (top is None or (is_whole(top) and top >= 0)):
        raise InvalidInput(f"top={short_repr(top)} is invalid: pass how many contributions to list, or None for all.")
    W, b = (np.asarray(part, np.float64) for part in planes)
    labels = plain_labels(classes)
    if by_pairs(multiclass) and classes.size > 2:
        if multiclass == "ovo":
            sign = coding_matrix(classes.size, multiclass).astype(np.float64)
            W, b = sign @ W, sign @ b
        else:
            labels = [f"{one} over {other}" for one, other in combinations(labels, 2)]
    parts = zip(labels[-b.size :] or [None], W, b.tolist(), strict=True)  # two classes have one score
    return Explanation(tuple(_sum_of(*part, entries, top) for part in parts))


def plain_labels(classes: Array) -> list[Any]:
    """Return labels as they are printed: whole numbers without a point."""
    return [int(one) if isinstance(one, float) and one.is_integer() else one for one in classes.tolist()]


def _sum_of(label: Any, weight: Array, bias: float, entries: Entries | Similarities, top: int | None) -> ScoreSum:
    amount = weight * entries.value
    order = np.argsort(-np.abs(amount), kind="stable")
    listed, rest = order[:top], order[len(order) if top is None else top :]
    parts: Any = tuple(entries.part(k, float(weight[k]), float(amount[k])) for k in listed.tolist())
    return ScoreSum(label, fsum([*amount.tolist(), bias]), parts, fsum(amount[rest].tolist()), bias)


def by_place(names: Sequence[Any]) -> Callable[[int], str]:
    """Return a function from columns to these names; x1, x2, ... if there are none."""
    return lambda column: str(names[column]) if len(names) else f"x{column + 1}"


def row_entries(table: Table, name_of: Callable[[int], str]) -> Entries:
    """Return the entries of a table of one row, whose columns are called what a function returns."""
    if table.shape[0] != 1:
        raise InvalidInput(f"x has {table.shape[0]} rows. Pass one row.")
    column, value = _nonzero(table.rows, 0)
    return Entries(column, value, [name_of(k) for k in column.tolist()], value.tolist())


def explain_rows(model: LinearModel, rows: Dense | Csr, named: NamedRows, top: int | None) -> Iterator[Explanation]:
    """Yield the explanation of each row, by the names and values in the data that the rows were made of.

    Parameters
    ----------
    model : LinearModel
    rows : Dense or Csr
        As the parser of the data made them, scaled.
    named : NamedRows
        The same rows.
    top : int or None
        How many contributions to list; None for all.
    """
    for row in range(rows.X.shape[0] if isinstance(rows, Dense) else rows.indptr.size - 1):
        column, value = _nonzero(rows, row)
        known = column < model.W.shape[1]  # a dictionary may have fewer names than columns
        column, value = column[known], value[known]
        entries = Entries(column, value, *named.describe(row, column, value))
        yield explain(Hyperplanes(model.W[:, column], model.b), model.classes, model.multiclass, entries, top)


def _nonzero(rows: Dense | Csr, row: int) -> tuple[Array, Array]:
    """Return the columns and the values of the entries of a row that are not zero."""
    if isinstance(rows, Dense):
        column = np.flatnonzero(rows.X[row])
        value = rows.X[row, column]
    else:
        own = slice(rows.indptr[row], rows.indptr[row + 1])
        column, value = rows.indices[own], rows.data[own]
        column, value = column[value != 0], value[value != 0]
    return column, np.asarray(value, np.float64)
