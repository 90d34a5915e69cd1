"""Parameters of the perceptron in the dual."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Real
from typing import Any, Literal

import numpy as np

from rosenblatt.data.numbers import is_truth
from rosenblatt.dual.budget import BUDGET_RULES
from rosenblatt.errors import InvalidInput
from rosenblatt.estimators.parameters import ForClasses, InEpochs, Multiclass, choice, custom, integer, real
from rosenblatt.learn.multiclass import MULTICLASS

KERNELS = ("linear", "quadratic", "poly", "rbf", "laplacian", "cosine", "precomputed")
AGGREGATES = ("last", "average", "vote")
DEFAULT_BIAS = 0.5  # added to the kernel unless the user decides
# Kernels under which any distinct rows are separable, so that being separated says nothing of new ones. k(x, x) is 1.
SEPARATING = ("rbf", "laplacian")
# What they are trained with unless the user decides: the bounds of a soft margin with C = 2, in steps of a quarter. On
# 43 sets with 30 splits of the small ones, C = 1 and C = 4 fell up to 3 points below SVC, C = 2 by at most 1.3.
SOFT_MARGIN, SOFT_MOST_UPDATES = 4.0, 8
LEAST_SOFT_ROWS = 50  # of fewer, a handful, every one counts: they are separated, whatever that says of new rows


class ForKernels(InEpochs, ForClasses):
    """Parameters of kernels, budgets and aggregates, and those of epochs that mean something else in the dual."""

    without_shards = (
        "Expansions of several shards have no mean that is known to learn. Put AssociationUnits in front of an "
        "AveragedPerceptron, or train without shards."
    )

    kernel: str | Callable[[Any, Any], Any] = custom(
        default="rbf",
        text='"linear": x.z; "quadratic": (1 + x.z)^2; "poly": (gamma x.z + coef0)^degree; "rbf": exp(-gamma '
        '|x - z|^2); "laplacian": exp(-gamma |x - z|_1); "cosine": x.z / (|x| |z|); "precomputed": X is '
        "the matrix of similarities, of the rows with the training rows. A function of two blocks of rows"
        " that returns the block of their similarities; or of two single objects that returns a number, "
        "the same for (x, z) as for (z, x). Blocks of two and three rows are tried, to find out which of "
        "the two it is. With a function, X may be a list of anything: strings, graphs, sets.",
        kind="str or callable",
        accepts=lambda value: callable(value) or (isinstance(value, str) and value in KERNELS),
        wanted=f"one of {', '.join(map(repr, KERNELS))}, or a function of two rows or two blocks of rows",
        words=KERNELS,
    )
    degree: int = integer(default=3, text='Of "poly".', least=0, wanted="a whole number from 0")
    gamma: float | Literal["scale", "auto"] | None = real(
        default=None,
        text='"scale": 1 / (n_features * X.var()); "auto": 1 / n_features; None: 1 for "poly", "scale" for '
        '"rbf" and "laplacian". In a stream the first chunk decides.',
        above=0,
        wanted='a positive number, "scale", "auto" or None',
        optional=True,
        words=("scale", "auto"),
    )
    coef0: float = real(default=1.0, text='Of "poly".', least=-np.finfo(float).max, wanted="a finite number")
    aggregate: Literal["last", "average", "vote"] | None = choice(
        default=None,
        text="What `predict` and `decision_function` go by, unless told otherwise. None: the average, and the last f "
        "on a budget.",
        choices=(None, *AGGREGATES),
    )
    budget: int | None = integer(
        default=None,
        text="Most support vectors to keep, shared by all problems; None for no limit. With a budget there is "
        "only the last f.",
        least=1,
        wanted="a whole number from 1, or None",
        optional=True,
    )
    budget_rule: Literal["random", "forgetron", "projectron"] = choice(
        default="random",
        text="When the budget is full and one more row is mistaken: drop a vector at random (Cavallanti et al."
        " 2007); shrink all coefficients and drop the oldest (self-tuned, Dekel et al. 2008); or add the "
        "projection of the row onto the span of the vectors (Orabona et al. 2009).",
        choices=BUDGET_RULES,
    )
    residual: float = real(
        default=0.1,
        text="For the projectron: a row whose distance from the span is below this share of its length is "
        "projected even while there is room.",
        least=0,
        below=1,
        wanted="a number from 0 and below 1",
    )
    margin: float | None = real(
        default=None,
        text="A row is learned from as long as y f(x) <= margin; 0 is the perceptron of the lectures. None: 4 with"
        ' "rbf" and "laplacian"; 0 for fewer than 50 rows, with other kernels, on a budget, in a stream and with'
        " tol=None.",
        least=0,
        wanted="a number from 0, or None",
        optional=True,
    )
    max_updates: float | None = real(
        default=None,
        text="Most updates of a row in a problem, that is the largest alpha, as C is in a soft margin: a row that is "
        "mistaken again and again is noise. The fit then ends when no update is left to make. Infinity is the "
        "perceptron of the lectures. None: 8 where a margin of None is 4, else infinity.",
        least=1,
        most=np.inf,
        wanted="a number from 1, infinity for no limit, or None",
        optional=True,
    )
    multiclass: Multiclass | None = choice(  # type: ignore[assignment]
        default=None,
        text=f'{ForClasses.declared["multiclass"].text} None: "ovo-vote" with "rbf" and "laplacian", as a class that'
        ' lies between others is hard to tell from all of them at once; "ovr" with other kernels, and on a budget.',
        choices=(None, *MULTICLASS),
    )
    tol: float | None = real(
        default=1e-3,
        text="The fit ends after `n_iter_no_change` epochs without progress. Progress is an epoch after which some "
        "separator may still have a margin g with (R / g)^2 < n, R the largest length of the n rows; or, where the mean"
        " loss stopped falling by more than tol, a margin above tol R. With a limit of updates it ends when none is "
        "left to make. None: all `max_iter` epochs.",
        most=np.inf,
        wanted="a number, or None for all epochs",
        optional=True,
    )
    cache_size: float = real(
        default=1000,
        text="Megabytes of similarities to keep, where computing them again would take longer: those of up to 8,000 "
        "rows, of a function, and of rows with thousands of features.",
        least=0,
        wanted="a number of megabytes",
    )
    fit_intercept: bool | None = custom(  # type: ignore[assignment]
        default=None,
        text="Whether to learn a bias: adds 1 to the kernel. None: adds 1/2, half of what a row is to itself under"
        ' "rbf": with less, two classes of noisy rows are told apart worse, with more, ten classes of few rows. On a'
        " budget None adds nothing, as each vector that is dropped would move the bias.",
        kind="bool or None",
        accepts=lambda value: value is None or is_truth(value),
        wanted="True, False or None",
        stores=lambda value: value is None or isinstance(value, Real | np.bool_),
    )
    max_iter: int = integer(default=100, text="Most epochs.", least=1, wanted="a whole number from 1")

    @property
    def multiclass_(self) -> str:
        """How several classes are learned."""
        return self.multiclass or ("ovo-vote" if self._separates_all() else "ovr")

    def _separates_all(self) -> bool:
        """Whether any distinct rows are separable, so that a separator says nothing of new ones."""
        return isinstance(self.kernel, str) and self.kernel in SEPARATING and self.budget is None

    def _limits(self, n_rows: int, *, stream: bool) -> tuple[float, float]:
        """Return the margin, and the most updates of a row."""
        soft = self._separates_all() and self.tol is not None and not stream and n_rows >= LEAST_SOFT_ROWS
        margin = (SOFT_MARGIN if soft else 0.0) if self.margin is None else float(self.margin)
        most = (SOFT_MOST_UPDATES if soft else np.inf) if self.max_updates is None else float(self.max_updates)
        return margin, most

    def _check_own(self) -> None:
        """Raise an error for what does not go with a budget."""
        if self.budget is None:
            return
        if self.aggregate not in (None, "last"):
            raise InvalidInput(
                f"aggregate={self.aggregate!r} needs every vector that there was, and a budget drops some. Use "
                "aggregate='last', or budget=None."
            )
        if self.margin or self.max_updates not in (None, 0, np.inf):
            raise InvalidInput(
                f"margin={self.margin} and max_updates={self.max_updates} have no meaning on a budget, which drops "
                "vectors whatever they taught. Leave them at None, or use budget=None."
            )
