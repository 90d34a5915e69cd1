"""Parameters of the linear members, and the method that they make: what a way to learn is, without scikit-learn.

The estimators inherit from these classes; the command line, which trains without scikit-learn, uses them alone.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, ClassVar, Literal

import numpy as np

from rosenblatt.data.numbers import is_real
from rosenblatt.data.survey import Survey
from rosenblatt.engine.rules import (
    hinge,
    least_mean_squares,
    logistic,
    normalised_least_mean_squares,
    passive_aggressive,
    perceptron,
    smooth_passive_aggressive,
    squared_hinge,
)
from rosenblatt.errors import InvalidInput
from rosenblatt.learners.covariance_method import Arow
from rosenblatt.learners.multiplicative_method import Multiplicative
from rosenblatt.learners.multiplicative_trial import BalancedWinnowRule, WinnowRule
from rosenblatt.learners.p_norm_method import PNorm
from rosenblatt.learners.padding import choose_padding
from rosenblatt.learners.parameters import (
    ForClasses,
    FullTraining,
    InEpochs,
    OnThreads,
    Parameter,
    WithKeep,
    WithPadding,
    WithPenalty,
    WithRate,
    WithValidation,
    WithWarmStart,
    choice,
    flag,
    learning_rate,
    margins,
    real,
    schedule_of,
)
from rosenblatt.learners.parameters import (
    Penalty as PenaltyName,
)
from rosenblatt.learners.projections_method import Projected
from rosenblatt.learners.projections_trial import AlmaRule, RommaRule
from rosenblatt.text import short_repr
from rosenblatt.training.algorithm import Algorithm
from rosenblatt.training.first_order import FirstOrder, HarmonicRate, Penalty
from rosenblatt.training.multiclass import MULTICLASS
from rosenblatt.training.order import SCHEDULES, Schedule
from rosenblatt.training.stream import Settings

NO_MEAN = (
    "have no mean that is known to learn. Choose AveragedPerceptron or PassiveAggressive, or train without shards."
)


def penalty_of(member: Any) -> Penalty:
    """Return the penalty that the parameters describe."""
    if member.penalty is None:
        return Penalty()
    share = {"l1": 1.0, "l2": 0.0, "elasticnet": float(member.l1_ratio)}[member.penalty]
    return Penalty(l1=float(member.alpha) * share, l2=float(member.alpha) * (1.0 - share))


def margin_rule(member: Any) -> Any:
    """Return the perceptron's rule; margins are in units of the learning rate, as the weights are."""
    positive, negative = (member.margin,) * 2 if is_real(member.margin) else member.margin
    return perceptron(positive=float(positive / member.eta0), negative=float(negative / member.eta0))


def check_parameters(member: Any) -> None:
    """Raise an error for the first parameter with an impossible value."""
    member._check_declared()
    if member.multiclass not in member.modes:
        raise InvalidInput(
            f"multiclass={member.multiclass!r} does not exist for {type(member).__name__.removeprefix('For')}: choose "
            f"one of {', '.join(map(repr, member.modes))}."
        )
    member._check_own()


class LinearMember:
    """How a linear member learns, as its parameters say, and what was chosen by a look at the rows."""

    # Modes that the method has.
    modes: Any = MULTICLASS
    # A class that tells no sides apart, as a threshold does, cannot lend its weights to a class that appears.
    supports_new_classes: ClassVar[bool] = True
    # Which weights are kept unless `keep` says so.
    default_keep: ClassVar[str] = "best"

    declared: ClassVar[Mapping[str, Parameter]]
    fit_intercept: Any
    multiclass: Any = "ovr"
    class_weight: Any = None
    intercept_scaling: Any = 1.0
    n_features_in_: int
    intercept_scaling_: float
    covariance_: str  # of AROW

    def _algorithm(self) -> Algorithm:
        """Return the way to learn, from the parameters."""
        raise NotImplementedError

    def _check_own(self) -> None:
        """Raise an error for values of a class's own parameters that are impossible together."""

    def _settings(self) -> Settings:
        eta, bias = learning_rate(self), self._bias()
        return Settings(self._algorithm(), self.multiclass, eta, bias, self.class_weight, self.supports_new_classes)

    def _bias(self) -> float:
        """Return the square of the constant that pads each row."""
        return self._padding() ** 2 if self.fit_intercept else 0.0

    def _padding(self) -> float:
        """Return the constant that pads each row: the given one, or the one that a fit has chosen."""
        if self.intercept_scaling != "auto":
            return float(self.intercept_scaling)
        chosen = self.__dict__.get("intercept_scaling_", 1.0)
        if not (is_real(chosen) and 1e-100 <= chosen <= 1e100):
            raise InvalidInput(
                f"intercept_scaling_={short_repr(chosen)} was assigned, and is not a positive number. Fit anew."
            )
        return float(chosen)

    def _adapt(self, sizes: Survey, n_classes: int, *, warm: bool) -> None:
        """Choose what depends on the sizes of the values; a warm start goes on with what was chosen."""
        if "intercept_scaling" in self.declared:
            chosen = self._padding() if warm or self.intercept_scaling != "auto" else choose_padding(sizes, n_classes)
            self.intercept_scaling_ = chosen

    def _by_trial(self) -> bool:
        """Return whether the learning rate changes by trial, and not by epoch."""
        return False


class ForPerceptron(WithPenalty, WithRate, FullTraining, LinearMember):
    """Parameters of the perceptron."""

    batch: bool = flag(default=False, text="One update per epoch, by the sum over all misclassified rows.")
    margin: float | tuple[float, float] = margins(
        default=0.0,
        text="Update as long as y f(x) <= margin; a pair for the positive and the negative class (uneven margins).",
    )

    def _algorithm(self) -> Algorithm:
        return FirstOrder(margin_rule(self), penalty_of(self))


class ForAveragedPerceptron(WithRate, FullTraining, LinearMember):
    """Parameters of the averaged perceptron."""

    margin: float | tuple[float, float] = margins(default=0.0, text="Update as long as y f(x) <= margin.")

    # The last average is of most weights; the one with the fewest training errors is no better on other rows.
    default_keep = "last"

    def _algorithm(self) -> Algorithm:
        return FirstOrder(margin_rule(self), averaged=True)


class ForPassiveAggressive(FullTraining, LinearMember):
    """Parameters of passive-aggressive learning."""

    C: float = real(
        default=1.0,
        text="Largest step (PA-I), or how little slack costs (PA-II); may be infinite.",
        above=0,
        most=np.inf,
        wanted="a positive number, infinity included",
    )
    loss: Literal["hinge", "squared_hinge"] = choice(
        default="hinge", text="PA-I or PA-II.", choices=("hinge", "squared_hinge")
    )
    average: bool = flag(default=False, text="Whether the model is the average of the weights over all trials.")

    def _algorithm(self) -> Algorithm:
        kind = passive_aggressive if self.loss == "hinge" else smooth_passive_aggressive
        return FirstOrder(kind(C=float(self.C)), averaged=bool(self.average))


# Features up to which the square of their number costs little.
FEW_FEATURES = 40


class ForArow(InEpochs, ForClasses, WithPadding, OnThreads, WithValidation, WithWarmStart, WithKeep, LinearMember):
    """Parameters of adaptive regularisation of weights."""

    without_shards = f"Covariances of several shards {NO_MEAN}"

    r: float = real(default=1.0, text="The larger, the smaller the steps.", above=0, wanted="a positive number")
    covariance: Literal["auto", "diagonal", "full"] = choice(
        default="auto",
        text="A variance for each weight, or the whole matrix, for up to some thousand features. With 'auto' a fit of"
        f" up to {FEW_FEATURES} features takes the matrix; streams, and all classes at once, have variances.",
        choices=("auto", "diagonal", "full"),
    )

    @property
    def modes(self) -> tuple[str, ...]:
        """Modes there are: all classes at once share no covariance matrix."""
        return MULTICLASS[:-1] if self.covariance == "full" else MULTICLASS

    def _covariance(self) -> str:
        """Return the kind of covariance: the given one, or the one that a fit has chosen."""
        return self.covariance if self.covariance != "auto" else str(self.__dict__.get("covariance_", "diagonal"))

    def _adapt(self, sizes: Survey, n_classes: int, *, warm: bool) -> None:
        super()._adapt(sizes, n_classes, warm=warm)
        few = self.n_features_in_ <= FEW_FEATURES and self.multiclass != "joint"
        chooses = self.covariance == "auto" and not warm
        self.covariance_ = ("full" if few else "diagonal") if chooses else self._covariance()

    def _algorithm(self) -> Algorithm:
        return Arow(float(self.r), self._covariance() == "full")


class ForWinnow(InEpochs, ForClasses, OnThreads, WithValidation, WithWarmStart, WithKeep, LinearMember):
    """Parameters of Winnow."""

    without_shards = f"Weights that are multiplied {NO_MEAN}"

    balanced: bool = flag(default=True, text="Whether features may be of either sign.")
    factor: float = real(
        default=1.5, text="What a promotion multiplies by; above 1.", above=1, wanted="a number above 1"
    )
    threshold: float | None = real(
        default=None,
        text="What w.x is held against without `balanced`; None: half the number of features.",
        above=0,
        wanted="a positive number or None",
        optional=True,
    )
    eliminate: bool = flag(
        default=False, text="Whether a demotion sets weights to zero (Winnow1) rather than dividing them (Winnow2)."
    )

    modes = ("ovr", "ovo", "ovo-vote")

    @property
    def supports_new_classes(self) -> bool:  # type: ignore[override]
        """Whether a class may lend its weights, with their signs changed, to one that appears."""
        return bool(self.balanced)

    def _bias(self) -> float:
        return super()._bias() if self.balanced else 0.0

    def _algorithm(self) -> Algorithm:
        if self.balanced:
            return Multiplicative(BalancedWinnowRule(float(self.factor)))
        if self.threshold is None:
            return Multiplicative(WinnowRule(float(self.factor), bool(self.eliminate)), self.n_features_in_ / 2)
        return Multiplicative(WinnowRule(float(self.factor), bool(self.eliminate)), float(self.threshold))


class ForAlma(InEpochs, ForClasses, WithPadding, OnThreads, WithValidation, WithWarmStart, WithKeep, LinearMember):
    """Parameters of the approximate maximal margin algorithm."""

    without_shards = f"Weights whose corrections are counted {NO_MEAN}"

    approximation: float = real(
        default=0.5,
        text="Share of the largest margin that may be lost, alpha of the paper: the smaller, the more corrections.",
        above=0,
        most=1,
        wanted="a number above 0 and up to 1",
    )

    # No bound and no projection is known for classes that compete.
    modes = ("ovr", "ovo", "ovo-vote")
    default_keep = "last"

    def _algorithm(self) -> Algorithm:
        share = float(self.approximation)
        return Projected(AlmaRule((1.0 - share) * math.sqrt(8.0) / share))


class ForRomma(InEpochs, ForClasses, WithPadding, OnThreads, WithValidation, WithWarmStart, WithKeep, LinearMember):
    """Parameters of the relaxed online maximum margin algorithm."""

    without_shards = f"Weights that each meet a bound of their own {NO_MEAN}"

    aggressive: bool = flag(default=False, text="Whether to update on y f(x) < 1, and not on mistakes alone.")

    # No bound and no projection is known for classes that compete.
    modes = ("ovr", "ovo", "ovo-vote")

    def _algorithm(self) -> Algorithm:
        return Projected(RommaRule(bool(self.aggressive)))


class ForPNormPerceptron(
    InEpochs, ForClasses, WithPadding, OnThreads, WithValidation, WithWarmStart, WithKeep, LinearMember
):
    """Parameters of the p-norm perceptron."""

    without_shards = f"Weights that are no sum of rows {NO_MEAN}"

    p: float = real(
        default=3.0,
        text="Which norm; 2 is the perceptron. Of d features a few of which matter: about 2 ln(d).",
        least=2,
        wanted="a number of at least 2",
    )

    # No bound is known for classes that compete.
    modes = ("ovr", "ovo", "ovo-vote")

    def _algorithm(self) -> Algorithm:
        return PNorm(float(self.p))


class ForLms(WithRate):
    """Parameters of least mean squares, for classes and for numbers."""

    eta0: float = real(
        default=0.1,
        text="Learning rate; stable below 2 if normalised, else below 2/|x|^2.",
        above=0,
        wanted="a positive number",
    )
    normalised: bool = flag(default=True, text="Whether steps are divided by the squared length of the row (NLMS).")

    default_keep = "last"

    def _lms_rule(self) -> Any:
        return normalised_least_mean_squares() if self.normalised else least_mean_squares()


class ForAdaline(ForLms, FullTraining, LinearMember):
    """Parameters of Adaline."""

    average: bool = flag(default=False, text="Whether the model is the average of the weights over all trials.")

    modes = ("ovr", "ovo", "ovo-vote")

    def _algorithm(self) -> Algorithm:
        return FirstOrder(self._lms_rule(), averaged=bool(self.average))


class ForAdalineRegressor(ForLms, InEpochs, WithWarmStart, LinearMember):
    """Parameters of Adaline for numbers."""

    without_shards = "Shards are for classes, and not for numbers. Train on one machine, or as a stream."

    def _algorithm(self) -> Algorithm:
        return FirstOrder(self._lms_rule())


class ForSoftMargin(WithPenalty, FullTraining, LinearMember):
    """Parameters of soft margins."""

    loss: Literal["hinge", "squared_hinge", "logistic"] = choice(
        default="hinge", text="What is minimised; see above.", choices=("hinge", "squared_hinge", "logistic")
    )
    penalty: PenaltyName = choice(
        default="l2", text="Shrink the weights a little in each trial.", choices=(None, "l2", "l1", "elasticnet")
    )
    eta0: float = real(
        default=0.01, text="Learning rate of the schedules by epoch.", above=0, wanted="a positive number"
    )
    schedule: str | Schedule = schedule_of(
        default="optimal",
        text='"pegasos": 1/(alpha t) in trial t; "optimal": 1/(alpha (t0 + t)) with Bottou\'s t0; or by epoch, '
        "as for `Perceptron`.",
        words=("optimal", "pegasos", *SCHEDULES),
    )
    average: bool | None = choice(
        default=None,
        text="Whether the model is the average of the weights over all trials (averaged SGD). None: over those since"
        " the last of epochs 1, 2, 4, 8, ... began, which are the later half at least; or, where the penalty has a"
        " share of L1, no average, which would not keep its zeros.",
        choices=(None, True, False),
    )

    default_keep = "last"

    @property
    def modes(self) -> tuple[str, ...]:
        """Modes that the loss has: the logistic loss of several classes at once is another one."""
        return MULTICLASS[:-1] if self.loss == "logistic" else MULTICLASS

    def _check_own(self) -> None:
        if self._by_trial() and not self.alpha > 0:
            raise InvalidInput(f"schedule={self.schedule!r} divides by alpha, which is 0. Choose schedule='constant'.")

    def _by_trial(self) -> bool:
        return isinstance(self.schedule, str) and self.schedule in ("optimal", "pegasos")

    def _algorithm(self) -> Algorithm:
        return FirstOrder(self._rule(), penalty_of(self), self._rate(), self._averaged(), late=self.average is None)

    def _rule(self) -> Any:
        """Return the rule of the loss; Pegasos is as it was published, without a bound on its steps."""
        if self.loss == "squared_hinge":
            return squared_hinge()
        return (hinge if self.loss == "hinge" else logistic)(bounded=self.schedule != "pegasos")

    def _averaged(self) -> bool:
        return self.penalty in (None, "l2") if self.average is None else bool(self.average)

    def _rate(self) -> HarmonicRate | None:
        if self.schedule == "pegasos":
            return HarmonicRate(float(self.alpha), 0.0)
        if self.schedule == "optimal":
            # Bottou's choice: the first step is no longer than a weight of typical size.
            typical = (1.0 / self.alpha**0.5) ** 0.5
            steepest = 2.0 * (1.0 + typical) if self.loss == "squared_hinge" else 1.0
            # A penalty of any strength leaves the first rate finite.
            return HarmonicRate(float(self.alpha), max(steepest / (typical * self.alpha) - 1.0, math.nextafter(-1, 0)))
        return None


# What the command line calls each, and the estimator's class.
MEMBERS: dict[str, tuple[type[LinearMember], str]] = {
    "perceptron": (ForPerceptron, "Perceptron"),
    "averaged": (ForAveragedPerceptron, "AveragedPerceptron"),
    "passive-aggressive": (ForPassiveAggressive, "PassiveAggressive"),
    "arow": (ForArow, "AROW"),
    "winnow": (ForWinnow, "Winnow"),
    "alma": (ForAlma, "ALMA"),
    "romma": (ForRomma, "ROMMA"),
    "p-norm": (ForPNormPerceptron, "PNormPerceptron"),
    "adaline": (ForAdaline, "Adaline"),
    "adaline-regressor": (ForAdalineRegressor, "AdalineRegressor"),
    "soft-margin": (ForSoftMargin, "SoftMargin"),
}
