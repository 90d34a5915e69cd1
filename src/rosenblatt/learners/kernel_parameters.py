"""Parameters of the perceptron in the dual."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from rosenblatt.errors import InvalidInput
from rosenblatt.kernels.budget import BUDGET_RULES
from rosenblatt.learners.parameters import ForClasses, InEpochs, choice, custom, flag, integer, real

KERNELS = ("linear", "quadratic", "poly", "rbf", "laplacian", "cosine", "precomputed")
AGGREGATES = ("last", "average", "vote")


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
    aggregate: Literal["last", "average", "vote"] = choice(
        default="last",
        text="What `predict` and `decision_function` go by: the last f, the average of f over all trials, or a vote of "
        "every f.",
        choices=AGGREGATES,
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
    margin: float = real(
        default=0.0,
        text="A row is learned from as long as y f(x) <= margin.",
        least=0,
        wanted="a number from 0",
    )
    max_updates: float = real(
        default=np.inf,
        text="Most updates of a row in a problem, that is the largest alpha, as C is in a soft margin: a row that is "
        "mistaken again and again is noise. With a limit the fit ends when no update is left to make. A stream has no "
        "limit.",
        least=1,
        most=np.inf,
        wanted="a number from 1, infinity for no limit",
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
    fit_intercept: bool = flag(
        default=False,
        text="Whether to learn a bias, that is to add 1 to the kernel; linear and cosine kernels often need one. On a "
        "budget each vector that is dropped moves it.",
    )
    max_iter: int = integer(default=100, text="Most epochs.", least=1, wanted="a whole number from 1")

    def _check_own(self) -> None:
        """Raise an error for what does not go with a budget."""
        if self.budget is None:
            return
        if self.aggregate != "last":
            raise InvalidInput(
                f"aggregate={self.aggregate!r} needs every vector that there was, and a budget drops some. Use "
                "aggregate='last', or budget=None."
            )
        if self.margin or self.max_updates != np.inf:
            raise InvalidInput(
                f"margin={self.margin} and max_updates={self.max_updates} have no meaning on a budget, which drops "
                "vectors whatever they taught. Use margin=0 and max_updates=inf, or budget=None."
            )
