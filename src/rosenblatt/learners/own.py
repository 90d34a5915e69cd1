"""Learners that users write: a rule, or a whole loop, becomes an estimator of the family."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from rosenblatt.engine.epoch import Learner, Weights
from rosenblatt.engine.jit import compiled
from rosenblatt.engine.rows import Dense
from rosenblatt.engine.rules import INPUTS, SCALE_DATA, Rule
from rosenblatt.errors import InvalidInput
from rosenblatt.learners import shared
from rosenblatt.learners.linear import LinearClassifier
from rosenblatt.learners.parameters import flag, integer, real
from rosenblatt.storage.registry import DEFINED, stored
from rosenblatt.text import did_you_mean, short_repr
from rosenblatt.training.algorithm import Algorithm, EpochArgs, Integers, Matrix, Vector, layout_of
from rosenblatt.training.first_order import FirstOrder

Array = npt.NDArray[Any]

LOOP_INPUTS = ("X", "y", "order", "weights", "bias", "importance")
A_RULE = "A rule takes margin, norm and rate, also importance and sign, and parameters with defaults"
A_LOOP = "A loop takes X, y, order, weights and bias, also importance, and parameters with defaults"
# Attributes of the NamedTuple of a rule, or of the class of a learner. A loop may take fit_intercept.
RESERVED = frozenset(
    {*dir(LinearClassifier), "of", "kept", "count", "index", "batch", "schedule", "rule", "loop", "inputs", "defaults"}
) - {"fit_intercept"}
# Arguments to try a rule with when it is defined; none is zero, by which Python, unlike machine code, cannot divide.
TRIED_MARGINS = (-2.0, -0.5, 0.25, 3.0)
TRIED = {"norm": 2.0, "rate": 0.5, "importance": 1.0, "sign": 1}
DOCUMENTATION = """

Parameters
----------
{parameters}

Attributes
----------
{attributes}
"""


@contextmanager
def named(name: str) -> Iterator[None]:
    """Add the name of a loop to an exception that leaves it: machine code has no traceback."""
    try:
        yield
    except Exception as error:
        error.add_note(f"It was raised in {name}.")
        raise


class OwnRule(FirstOrder):
    """A rule that a user has written."""

    def _run_epoch(self, args: EpochArgs, state: Weights, target: Weights, learner: Learner) -> None:
        with named(self.rule.of.__name__):
            super()._run_epoch(args, state, target, learner)


@stored("LoopWeights")
class LoopWeights(NamedTuple):
    """Weights and nothing else."""

    W: Matrix
    b: Vector
    t: Integers


@dataclass
class OwnLoop(Algorithm):
    """A loop that a user has written: from X, y, order, weights, bias and importance to mistakes, updates and loss."""

    owner: Any  # the class with the loop and its inputs: only a class can be pickled by its name
    values: tuple[Any, ...]  # of the parameters

    state_class: ClassVar[type] = LoopWeights
    layout: ClassVar[Mapping[str, str]] = layout_of(LoopWeights)
    local_updates = False

    @property
    def name(self) -> str:
        """Name of the loop."""
        return str(self.owner.__name__)

    def __post_init__(self) -> None:
        """Name the loop in the advice against weights that diverge."""
        self.remedy = f"look at what {self.name} adds to them, or scale the data, for example with StandardScaler"

    def run_epoch(self, args: EpochArgs, state: LoopWeights, target: LoopWeights) -> int:
        """Run the loop for each problem."""
        if not isinstance(args.rows, Dense):
            raise InvalidInput(
                f"{self.name} is a loop over dense rows, and X is sparse. Pass X.toarray(), or write a rule, a "
                "function of margin, norm and rate, which learns from either."
            )
        task, order = args.task, args.order if args.order.size else np.arange(args.size)
        for p in args.active:
            y = task.sign[:, p].astype(float)[task.label]
            importance = task.cost[:, p][task.label]
            if task.sample_weight.size:
                importance = importance * task.sample_weight
            if "importance" not in self.owner.inputs and np.any((importance[order] != 1.0) & (y[order] != 0.0)):
                raise InvalidInput(
                    f"{self.name} takes no weights of rows or classes. Let it take importance, an array with a number "
                    "for each row; or drop sample_weight and class_weight."
                )
            arrays = {"X": args.rows.X, "y": y, "order": order, "weights": state.W[p], "bias": state.b[p : p + 1]}
            inputs = [(arrays | {"importance": importance})[name] for name in self.owner.inputs]
            with named(self.name), explained(self.owner.loop):
                counts = self.owner.loop(*inputs, *self.values)
            for column, count in zip(args.counts[:3], counts, strict=True):
                column[p] += count
            state.t[p] += np.count_nonzero(y[order])
        return args.size


# ------------------------------------------------------------------------------------------------------ the learners


class _OwnLearner(LinearClassifier):
    """A learner made of a function, whose parameters come before these."""

    fit_intercept: bool = shared.FIT_INTERCEPT
    max_iter: int = shared.MAX_ITER
    tol: float | None = shared.TOL
    shuffle: shared.Shuffle = shared.SHUFFLE
    verbose: int = shared.VERBOSE
    random_state: shared.RandomState = shared.RANDOM_STATE
    n_iter_no_change: int = shared.N_ITER_NO_CHANGE
    max_seconds: float | None = shared.MAX_SECONDS
    callback: shared.Callback = shared.CALLBACK
    class_weight: shared.ClassWeight = shared.CLASS_WEIGHT
    multiclass: shared.Multiclass = shared.MULTICLASS
    n_jobs: int | None = shared.N_JOBS
    early_stopping: bool = shared.EARLY_STOPPING
    validation_fraction: float = shared.VALIDATION_FRACTION
    warm_start: bool = shared.WARM_START
    init: Any = shared.INIT
    keep: shared.Keep = shared.KEEP

    defaults: ClassVar[dict[str, Any]]

    def _values(self) -> tuple[Any, ...]:
        """Return the values of the function's parameters, each of the type of its default."""
        return tuple(type(default)(getattr(self, name)) for name, default in self.defaults.items())


class _RuleLearner(_OwnLearner):
    """A learner made of a rule."""

    average: bool = shared.AVERAGE
    penalty: shared.Penalty = shared.PENALTY
    alpha: float = shared.ALPHA
    l1_ratio: float = shared.L1_RATIO
    eta0: float = shared.ETA0
    schedule: shared.Schedule = shared.SCHEDULE
    intercept_scaling: shared.Padding = shared.INTERCEPT_SCALING
    shards: int = shared.SHARDS
    mixes: int | str = shared.MIXES

    rule: ClassVar[Rule]

    def _check_own(self) -> None:
        _compile(self.rule, self._values())

    def _algorithm(self) -> Algorithm:
        return OwnRule(self.rule.Parameters(*self._values()), *shared.penalty_of(self), averaged=bool(self.average))


class _LoopLearner(_OwnLearner):
    """A learner made of a loop."""

    without_shards = f"Weights of a loop of one's own {shared.NO_MEAN}"
    modes = ("ovr", "ovo", "ovo-vote")

    loop: ClassVar[Callable[..., Any]]
    inputs: ClassVar[tuple[str, ...]]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = False
        return tags

    def _check_own(self) -> None:
        if not self.fit_intercept and "fit_intercept" not in self.defaults:
            raise InvalidInput(
                f"fit_intercept=False is not what {type(self).__name__} does: it decides itself whether to move bias. "
                "Give it a parameter fit_intercept=True to receive the value."
            )

    def _algorithm(self) -> Algorithm:
        return OwnLoop(type(self), self._values())


# The parameters that a learner has beside those of its function.
FAMILY = frozenset(_RuleLearner.declared)


def learner(
    function: Callable[..., Any] | None = None,
    *,
    finite: bool = False,
    zero_loss: float = np.inf,
    remedy: str = "",
) -> Any:
    """Turn a rule into a class of the family: a scikit-learn estimator, as fast as those that are built in.

    Parameters
    ----------
    function : callable
        A rule: from the margin y f(x) of a row, the squared norm of the row and the learning rate to the step, after
        which the weights are w + step y x, and the loss. It is called for each row, as machine code: numbers, `math`
        and NumPy's functions of numbers can be used. It takes what it needs of margin, norm, rate, importance and
        sign, by these names, and then its parameters, which have defaults. The weights of rows and classes multiply
        the step, unless it takes them as importance. Or a loop over dense rows, if its first argument is X: see
        docs/how-to/own-rule.md.
    finite : bool, default False
        Of a rule: whether separable data ends the updates after finitely many, all with positive steps. A run then goes
        on while some hyperplane may separate the rows.
    zero_loss : float, default inf
        Of a rule: the loss at a margin of 0. A run with a mean loss ten times as large counts as diverged.
    remedy : str, optional
        Of a rule: what to do against weights that grow without end, for the messages about it.

    Returns
    -------
    type
        A class of this name, with the parameters of the function and of the family.

    Raises
    ------
    InvalidInput
        If the function is not a rule.

    Examples
    --------
    >>> import rosenblatt
    >>> @rosenblatt.learner
    ... def Relaxation(margin, norm, rate, overshoot=1.0):
    ...     if margin >= 1.0:
    ...         return 0.0, 0.0
    ...     return rate * overshoot * (1.0 - margin) / norm, 1.0 - margin
    >>> Relaxation(overshoot=1.5).fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]).predict([[0.5], [2.5]]).tolist()
    [0, 1]
    """
    if function is None:
        return partial(learner, finite=finite, zero_loss=zero_loss, remedy=remedy)
    if not inspect.isfunction(function):
        raise InvalidInput(
            f"{short_repr(function)} is not a function. Write one with def, and @rosenblatt.learner above it."
        )
    name = function.__name__
    if not name.isidentifier():
        raise InvalidInput("A learner is named like its function, and a lambda has no name. Write it with def.")
    if name in import_module("rosenblatt").__all__:
        raise InvalidInput(f"rosenblatt has a {name} already. Give the function another name.")
    if next(iter(inspect.signature(function).parameters), "") != "X":
        made = _rule_class(function, finite, zero_loss, remedy)
    elif finite or zero_loss < np.inf or remedy:
        raise InvalidInput(f"finite, zero_loss and remedy are facts of a rule, and {name} is a loop. Drop them.")
    else:
        made = _loop_class(function)
    DEFINED[name] = made
    return made


def _rule_class(function: Any, finite: bool, zero_loss: float, remedy: str) -> Any:
    name = function.__name__
    defaults = _defaults(function, INPUTS, INPUTS[:1], _RuleLearner, A_RULE)
    fault = f"{name} returned a step that is not finite (norm is 0 for a row of zeros), or steps that are too long"
    if finite:
        fault += ", or one that is negative, though finite=True"
    remedy = f"{fault}: {remedy or f'look at the rule, {SCALE_DATA}, or lower eta0'}"
    rule = Rule(function, finite=bool(finite), zero_loss=float(zero_loss), remedy=remedy, own=True)
    for margin in TRIED_MARGINS:
        inputs = {key: value for key, value in ({"margin": margin} | TRIED).items() if key in rule.inputs}
        answer = _tried(function, inputs)
        if not _are_numbers(answer, 2):
            raise InvalidInput(
                f"{name} returned {short_repr(answer)} for {_written(inputs)}. A rule returns two numbers, the step "
                "and the loss."
            )
    return _made(function, _RuleLearner, defaults, {"rule": rule, "Parameters": rule.Parameters})


def _loop_class(function: Any) -> Any:
    defaults = _defaults(function, LOOP_INPUTS, LOOP_INPUTS[:5], _LoopLearner, A_LOOP)
    inputs = tuple(name for name in inspect.signature(function).parameters if name in LOOP_INPUTS)
    arrays = [[[1.0, -0.5], [-1.0, 2.0]], [1.0, -1.0], [0, 1], [0.0, 0.0], [0.0], [1.0, 1.0]]
    tried = {name: np.array(array) for name, array in zip(LOOP_INPUTS, arrays, strict=True) if name in inputs}
    answer = _tried(function, tried)
    if not _are_numbers(answer, 3):
        raise InvalidInput(
            f"{function.__name__} returned {short_repr(answer)} for two rows. A loop returns three numbers: how many "
            "mistakes, how many updates, and the sum of the losses."
        )
    # An index that is out of bounds must not write where others live.
    loop = compiled(cache=False, boundscheck=True, error_model="numpy")(function)
    return _made(function, _LoopLearner, defaults, {"loop": loop, "inputs": inputs})


def _made(function: Any, base: type, defaults: dict[str, Any], members: dict[str, Any]) -> Any:
    """Return a class named like a function, with its parameters as declared fields."""
    text = inspect.cleandoc(function.__doc__ or f"{function.__name__}, a rule of one's own.")
    fields = {name: _declared(default) for name, default in defaults.items()}
    members |= {"defaults": defaults}
    place = {"__module__": function.__module__, "__qualname__": function.__qualname__, "__doc__": text + DOCUMENTATION}
    return type(function.__name__, (base,), fields | members | place)


def _declared(default: Any) -> Any:
    """Return a parameter of a rule, of the type of its default."""
    text = "Of the function that was made a learner."
    if isinstance(default, bool):
        return flag(default=default, text=text)
    if isinstance(default, int):
        wanted = f"a whole number, as its default {default} is; write {default}.0 there for any number"
        return integer(default=default, text=text, least=-(2**62), wanted=wanted)
    return real(default=default, text=text, most=np.inf, wanted="a number")


def _defaults(
    function: Any, inputs: tuple[str, ...], required: tuple[str, ...], family: Any, sentence: str
) -> dict[str, Any]:
    """Return the parameters of a function with their defaults; raise an error if it is not what a loop can call."""
    name, given = function.__name__, inspect.signature(function).parameters
    for key, parameter in given.items():
        if parameter.kind is not parameter.POSITIONAL_OR_KEYWORD:
            raise InvalidInput(f"{sentence}; {name} takes `{parameter}`. Write each by its name, without stars.")
        if key in inputs and parameter.default is not parameter.empty:
            raise InvalidInput(f"{sentence}; {name} gives {key} a default, though each row has one. Drop the default.")
        if key not in inputs and parameter.default is parameter.empty:
            hint = did_you_mean(key, inputs) or " Give it one."
            raise InvalidInput(f"{sentence}; {name} takes `{key}` without a default.{hint}")
    for key in required:
        if key not in given:
            raise InvalidInput(f"{sentence}; {name} takes no {key}. Add it.")
    defaults = {key: _plain(parameter.default) for key, parameter in given.items() if key not in inputs}
    for key, value in defaults.items():
        if not isinstance(value, bool | int | float):
            raise InvalidInput(
                f"{name} has the default {key}={short_repr(value)}. Defaults are numbers, True or False."
            )
        taken = key in family.declared and (family, key) != (_LoopLearner, "fit_intercept")
        if taken or key.startswith("_") or key in RESERVED:
            raise InvalidInput(f"{name} cannot call a parameter {key}: every learner has that. Choose another name.")
    return defaults


def _plain(value: Any) -> Any:
    """Return a number of NumPy's, or one like it, as Python's own."""
    if isinstance(value, bool | np.bool_):
        return bool(value)
    return int(value) if isinstance(value, Integral) else float(value) if isinstance(value, Real) else value


def _are_numbers(answer: Any, count: int) -> bool:
    numbers = isinstance(answer, tuple) and all(isinstance(one, Real | np.bool_) for one in answer)
    return numbers and len(answer) == count


def _written(inputs: dict[str, Any]) -> str:
    return ", ".join(f"{name}={value}" for name, value in inputs.items())


def _tried(function: Any, inputs: dict[str, Any]) -> Any:
    """Return the result of a function in plain Python; an exception names the function and the line."""
    try:
        return function(**inputs)
    except Exception as error:
        trace, line = error.__traceback__, None
        while trace is not None:
            line = trace.tb_lineno if trace.tb_frame.f_code is function.__code__ else line
            trace = trace.tb_next
        tried = "two rows" if "X" in inputs else _written(inputs)
        where = _line(function, line) if line else ""
        raise InvalidInput(f"{function.__name__} failed when it was tried with {tried}{where}: {error!r}.") from error


def _line(function: Any, number: int) -> str:
    """Return the line of a function in words: its number, and its text if there is a file or a cell."""
    try:
        lines, first = inspect.getsourcelines(function)
        text = f" ({lines[number - first].strip()})"
    except (OSError, IndexError, TypeError):
        text = ""
    return f", in line {number}{text}"


def _not_compiled(function: Any, error: Any) -> InvalidInput:
    """Return an error with the one line of Numba's message that matters."""
    lines = [line.strip() for line in re.sub(r"\x1b\[[0-9;]*m", "", str(error)).splitlines()]
    reason = next((line for line in lines if line and not line.startswith(("Failed in", "- Resolution", "During"))), "")
    reason, _, raised = reason.partition(" Raised from ")
    numbers = [getattr(getattr(error, "loc", None), "line", None), *map(int, re.findall(r"\((\d+)\)$", raised))]
    where = next((_line(function, number) for number in numbers if number), "")
    return InvalidInput(
        f"{function.__name__} cannot be compiled{where}: {reason.rstrip('.:')}. Machine code has numbers, tuples, "
        "arrays, math and NumPy, and functions with @numba.njit above them."
    )


@contextmanager
def explained(function: Any) -> Iterator[None]:
    """Report an error of the compiler in one line."""
    try:
        yield
    except Exception as error:
        if not type(error).__module__.startswith("numba."):
            raise
        raise _not_compiled(getattr(function, "py_func", function), error) from None


def _compile(rule: Any, values: tuple[Any, ...]) -> None:
    """Compile a rule on its own first, so that errors name the rule and not the loop around it."""
    if not hasattr(rule.loop, "compile"):  # the JIT is off
        return
    from numba import typeof

    inputs = [({"margin": 0.0} | TRIED)[name] for name in rule.inputs]
    types = tuple(map(typeof, (*inputs, *values)))
    if types in rule.loop.overloads:
        return
    with explained(rule.function):
        rule.loop.compile(types)
