"""The parameters that several learners have, each declared once, and the plan of a run that follows from them.

A learner lists those that it takes by name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from numbers import Integral, Real
from typing import Any, Literal, TypeAlias

import numpy as np

from rosenblatt.data.numbers import is_truth, is_whole
from rosenblatt.learners.contract import check_random_state, effective_n_jobs
from rosenblatt.learners.parameters import choice, custom, flag, integer, margins, real, schedule_of, seed
from rosenblatt.text import count
from rosenblatt.training.multiclass import MULTICLASS as MODES
from rosenblatt.training.plan import SCHEDULES, Epoch, Plan

Callback: TypeAlias = Callable[[Epoch], Any] | None
ClassWeight: TypeAlias = Mapping[Any, float] | Literal["balanced"] | None
Keep: TypeAlias = Literal["last", "best"] | None
Margin: TypeAlias = float | tuple[float, float]
Multiclass: TypeAlias = Literal["ovr", "ovo", "ovo-vote", "joint"]
Padding: TypeAlias = float | Literal["auto"]
Penalty: TypeAlias = Literal["l2", "l1", "elasticnet"] | None
RandomState: TypeAlias = "int | np.random.RandomState | None"  # a text: `np.random` is imported when it is named
Schedule: TypeAlias = str | Callable[[int], float]
Shuffle: TypeAlias = bool | Literal["random"]

# ------------------------------------------------------------------------------------------------------------- epochs

FIT_INTERCEPT: Any = flag(default=True, text="Whether to learn a bias b.")
MAX_ITER: Any = integer(default=1000, text="Maximum number of epochs (passes over the rows).", least=1, lab=False)
TOL: Any = real(
    default=1e-3,
    text="The fit ends when the mean loss has not fallen by more than tol for `n_iter_no_change` epochs. A"
    " perceptron continues nevertheless while some hyperplane may separate the data with a margin above"
    " tol times the radius. None: all `max_iter` epochs.",
    most=np.inf,
    wanted="a number, or None for all epochs",
    optional=True,
    lab=False,
)
SHUFFLE: Any = choice(
    default=True,
    text="Reshuffle the rows each epoch, present them as they are stored, or draw them with replacement. "
    "From 16,384 rows on, blocks of 64 neighbouring rows are reshuffled, which is faster; single rows if "
    "the labels are sorted.",
    choices=(True, False, "random"),
    lab=False,
)
VERBOSE: Any = custom(
    default=0,
    text="Print a line per epoch.",
    kind="int",
    accepts=lambda value: is_truth(value) or (is_whole(value) and value >= 0),
    wanted="True, False or a whole number from 0",
    stores=lambda value: value is None or isinstance(value, Real | np.bool_),
    lab=False,
)
RANDOM_STATE: Any = seed(default=0, text="Seed of the shuffling.", lab=False)
N_ITER_NO_CHANGE: Any = integer(default=5, text="Epochs without progress after which the fit ends.", least=1, lab=False)
MAX_SECONDS: Any = real(default=None, text="Time limit of the training, in seconds.", above=0, optional=True, lab=False)
CALLBACK: Any = custom(
    default=None,
    text="Called with an `Epoch` after each epoch; the fit ends if it returns a true value.",
    kind="callable or None",
    accepts=lambda value: value is None or callable(value),
    wanted="a function of an Epoch, or None",
    stores=lambda value: value is None,
    lab=False,
)
WARM_START: Any = flag(default=False, text="Whether `fit` continues from where the last call stopped.", lab=False)
INIT: Any = custom(default=None, text="Weights and bias to start from.", kind="(w0, b0) or None", lab=False)
KEEP: Any = choice(
    default=None,
    text="Return the weights of the last epoch, or those with the fewest errors at the end of an epoch, on"
    ' the held-out rows if there are any. None: the learner\'s own choice, and "last" if tol=None asks'
    " for all epochs.",
    choices=(None, "last", "best"),
    lab=False,
)
EARLY_STOPPING: Any = flag(
    default=False,
    text="Hold out `validation_fraction` of the rows and end when the error on them stops decreasing.",
    lab=False,
)
VALIDATION_FRACTION: Any = real(
    default=0.1, text="Share of the rows to hold out.", above=0, below=1, wanted="between 0 and 1", lab=False
)

# ------------------------------------------------------------------------------------------------------------ classes

CLASS_WEIGHT: Any = custom(
    default=None, text="Factor of the steps for each class.", kind='dict, "balanced" or None', lab=False
)
MULTICLASS: Any = choice(
    default="ovr",
    text="Way to learn more than two classes: one against the rest; every pair, adding up their scores "
    '("ovo", as the lectures do, mostly several points below the others) or with one vote each ("ovo-vote"); or all at '
    "once by correcting the true class and the best wrong one (Crammer and Singer 2003).",
    choices=MODES,
)
INTERCEPT_SCALING: Any = real(
    default="auto",
    text="The constant c that pads each row: the bias is c times the weight of a feature that is c everywhere, and"
    ' moves by c^2 where a weight moves by its feature. "auto": 1, but in a fit of values with a root mean square v'
    " below 1/4, such as texts scaled to length one, the power of two close to v, or for two classes to half the"
    " length of a row; in a stream whose first row has length one, 1/4.",
    least=1e-100,
    most=1e100,
    wanted='a number from 1e-100 to 1e100, or "auto"',
    words=("auto",),
    lab=False,
)

# -------------------------------------------------------------------------------------------------- threads and shards

N_JOBS: Any = custom(
    default=None,
    text="Threads for the problems of a multiclass task, or for shards; -1 for all processors. The result does not"
    " depend on it.",
    kind="int or None",
    accepts=lambda value: value is None or (is_whole(value) and value != 0),
    wanted="a number of threads from 1, -1 for all processors, or None for one",
    stores=lambda value: value is None or isinstance(value, Integral),
    lab=False,
)
SHARDS: Any = integer(
    default=1,
    text="Parts of the rows that learn by themselves, and whose weights are mixed after each epoch or more often"
    " (McDonald, Hall and Mann 2010). `n_jobs` threads work on them, also for two classes. The result depends on"
    " the number of shards, but not on that of the threads; rosenblatt.scaling gives the same on a cluster.",
    least=1,
    lab=False,
)
MIXES: Any = integer(
    default="auto",
    text='Mixes of the shards in an epoch; each is a round on a cluster. "auto": one, or up to four for an average'
    " of wide rows where shards have many for each weight. The result depends on it.",
    least=1,
    words=("auto",),
    lab=False,
)
# Why a learner has no shards, after its own reason.
NO_MEAN = (
    "have no mean that is known to learn. Choose AveragedPerceptron or PassiveAggressive, or train without shards."
)

# -------------------------------------------------------------------------------------------- steps, penalty, average

ETA0: Any = real(default=1.0, text="Learning rate.", above=0, range=(0.01, 10.0, 0.01), log=True)
SCHEDULE: Any = schedule_of(
    default="constant",
    text='Factor of the learning rate by epoch: "constant", "1/t", "1/sqrt(t)", "step" (halved every ten '
    "epochs), or a function of the epoch's number from 1.",
    words=tuple(SCHEDULES),
)
MARGIN: Any = margins(default=0.0, text="Update while y f(x) <= margin.", range=(0.0, 5.0, 0.1))
PENALTY: Any = choice(
    default=None, text="Shrink the weights a little in each trial.", choices=(None, "l2", "l1", "elasticnet")
)
ALPHA: Any = real(default=0.0001, text="Strength of the penalty.", least=0, range=(1e-5, 1.0, 1e-5), log=True)
L1_RATIO: Any = real(default=0.15, text="Share of L1 in the elastic net.", least=0, most=1, range=(0.0, 1.0, 0.05))
AVERAGE: Any = flag(default=False, text="Whether the model is the average of the weights over all trials.")

# ------------------------------------------------------------------------------------------ what training makes of them

_ORDER = {True: "shuffled", False: "cyclic", "random": "random"}


def penalty_of(learner: Any) -> tuple[float, float]:
    """Return the strengths of L1 and L2 that the parameters of a learner describe."""
    if learner.penalty is None:
        return 0.0, 0.0
    share = {"l1": 1.0, "l2": 0.0, "elasticnet": float(learner.l1_ratio)}[learner.penalty]
    return float(learner.alpha) * share, float(learner.alpha) * (1.0 - share)


def learning_rate(learner: Any) -> float:
    """Return the learning rate of a learner; 1 if it has none."""
    return float(getattr(learner, "eta0", 1.0))


def seed_of(learner: Any) -> int:
    """Return the seed that the parameter `random_state` of a learner stands for."""
    if isinstance(learner.random_state, Integral):
        return int(learner.random_state)
    return int(check_random_state(learner.random_state).randint(np.iinfo(np.int32).max))


def plan_of(learner: Any, **changes: Any) -> Plan:
    """Return the plan of a run, from the parameters of a learner."""

    def watch(epoch: Epoch) -> Any:
        if learner.verbose:
            error = "" if epoch.error is None else f", error {epoch.error:.4f}"
            mistakes = count(epoch.mistakes, "mistake")
            print(  # noqa: T201
                f"epoch {epoch.number}: {mistakes}, loss {epoch.loss:.4g}{error}, {epoch.seconds:.2f} s"
            )
        return None if learner.callback is None else learner.callback(epoch)

    stops_early, keep = getattr(learner, "early_stopping", False), getattr(learner, "keep", None)
    watched = learner.tol is not None or stops_early
    settings: dict[str, Any] = {
        "order": _ORDER[learner.shuffle],
        "schedule": getattr(learner, "schedule", "constant"),
        "eta0": learning_rate(learner),
        "batch": bool(getattr(learner, "batch", False)),
        "max_iter": int(learner.max_iter),
        "max_seconds": learner.max_seconds,
        "tol": None if learner.tol is None or learner.tol == -np.inf else float(learner.tol),
        "n_iter_no_change": int(learner.n_iter_no_change),
        "keep": keep or ("best" if stops_early else learner.default_keep if watched else "last"),
        "random_state": seed_of(learner),
        "n_jobs": effective_n_jobs(getattr(learner, "n_jobs", None)),
        "callback": watch if learner.verbose or learner.callback is not None else None,
    }
    return Plan(**(settings | changes))
