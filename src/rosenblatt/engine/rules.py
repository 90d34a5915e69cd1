"""Rules: how far a row moves the weights, and the loss that it stands for.

A rule is a function of a few numbers:

    @rule
    def relaxation(margin, norm, rate, overshoot=1.0):
        if margin > 0.0:
            return 0.0, 0.0
        return rate * overshoot * -margin / norm, -margin

It is asked once per trial, with the margin y f(x) of the row, the squared norm of the row (its constant for the bias
included; twice that where two vectors move), and the learning rate. It returns the step, after which the weights are
w + step y x, and the loss. What has a default is a parameter: `relaxation(overshoot=1.5)`.

A step is multiplied by the importance of the row, which is its sample weight times the weight of its class. A rule that
has a better idea takes `importance` as its fourth argument; one that treats the classes differently takes `sign`, the y
of the row, as its fifth.

The rules here are those that training and the prover use. One that a single learner uses is in the learner's file.
"""

import inspect
import math
from collections import namedtuple
from itertools import count

import numpy as np

from rosenblatt.engine.jit import compiled, overload
from rosenblatt.engine.rows import INLINED

INPUTS = ("margin", "norm", "rate", "importance", "sign")
_numbers = count(1)  # of rules that users write: one may be written again, under the same name
SCALE_DATA = "scale the data, for example with StandardScaler"


@compiled(forceinline=True)
def _weighted(response, importance):
    return response[0] * importance, response[1]


@compiled(forceinline=True)
def _forwards(response):
    # A step back would break the proofs that a run makes of its steps. NaN ends the run with an error.
    return response[0] if response[0] >= 0.0 else np.nan, response[1]


class Rule:
    """A rule, which makes NamedTuples of its parameters: their type tells loops which rule it is.

    Parameters
    ----------
    function : callable
        From margin, norm and rate, see above, to step and loss.
    finite : bool
        Whether separable data ends the updates after finitely many, all of them with positive steps.
    unit : bool
        Whether a step is the rate times the importance, so that a constant rate only scales the weights.
    zero_loss : float
        Loss of weights of zero on a row, for a target of one; infinite where a loss may grow without harm.
    remedy : str
        What to do against weights that grow without end.
    own : bool
        Whether a user has written it. Its code is then not kept on disk, where it would be found by its name though the
        body may have changed since; and a step that is negative though it says to be finite is turned into NaN.
    """

    def __init__(self, function, *, finite=False, unit=False, zero_loss=math.inf, remedy=SCALE_DATA, own=False):
        self.function, self.finite, self.unit = function, finite, unit
        self.zero_loss, self.remedy, self.own = zero_loss, remedy, own
        self.__doc__, self.__name__, self.__module__ = function.__doc__, function.__name__, function.__module__
        given = inspect.signature(function).parameters
        self.inputs = [name for name in given if name in INPUTS]
        self.defaults = {name: parameter.default for name, parameter in given.items() if name not in INPUTS}
        fields = list(self.defaults) or ["none"]  # Numba has no NamedTuple without fields
        # Numba takes NamedTuples of the same name and fields for one another when it looks for machine code.
        name = f"{self.__name__}_{next(_numbers)}" if own else self.__name__
        self.Parameters = namedtuple(name, fields, defaults=list(self.defaults.values()) or [0.0])
        self.Parameters.of, self.Parameters.kept = self, not self.own
        # Pickled by this name: a user's rule is an attribute of its learner.
        self.Parameters.__module__, self.Parameters.__doc__ = self.__module__, self.__doc__
        self.Parameters.__qualname__ = f"{function.__qualname__}.Parameters" if own else function.__qualname__
        # A call with just what the function asks for, written out: Numba knows no keyword arguments by dict.
        call = f"f({', '.join([*self.inputs, *(f'rule.{name}' for name in self.defaults)])})"
        if "importance" not in self.inputs:
            call = f"weighted({call}, importance)"
        if self.own and finite:
            call = f"forwards({call})"
        self.loop = compiled(forceinline=True, error_model="numpy", cache=not self.own)(function)
        names = {"f": self.loop, "weighted": _weighted, "forwards": _forwards}
        self.body = eval(f"lambda rule, {', '.join(INPUTS)}: {call}", names)


def rule(function=None, **facts):
    """Return the NamedTuple of the parameters of a rule, from its function; with facts about it, a decorator."""
    return Rule(function, **facts).Parameters if function is not None else lambda function: rule(function, **facts)


def respond(rule, margin, norm, rate, importance, sign):
    """Return how far a rule moves the weights towards a row, 0 to leave them; and its loss there."""
    return rule.of.body(rule, margin, norm, rate, importance, sign)


overload(respond, jit_options=INLINED)(lambda rule, margin, norm, rate, importance, sign: rule.instance_class.of.body)


def leaves_mistakes(rule):
    """Return whether a rule may leave a mistake uncorrected; decided at compile time, at no cost to other rules."""
    return not rule.of.unit


def _leaves_mistakes(rule):
    return (lambda rule: False) if rule.instance_class.of.unit else (lambda rule: True)


overload(leaves_mistakes, jit_options=INLINED)(_leaves_mistakes)


@rule(finite=True, unit=True)
def perceptron(margin, norm, rate, importance, sign, positive=0.0, negative=0.0):
    """Step 1 when y f(x) <= margin, with a margin for each class: Rosenblatt (1958) at 0, Li et al. (2002) uneven."""
    # Written so that a NaN margin, from an overflow, never counts as correct.
    wanted = positive if sign > 0 else negative
    if margin > wanted:
        return 0.0, 0.0
    return rate * importance, wanted - margin


@compiled(forceinline=True)
def reach(loss, importance):
    """Return how far to move the margin of a row of some importance; `loss` is the distance for an importance of one.

    The importance is a factor. But a mistake is moved to a margin of `importance` and no further: steps that overshoot
    the margins of the other class by a factor would grow without end.
    """
    if importance <= 1.0 or loss <= 1.0:
        return importance * loss
    return loss + (importance - 1.0)


@rule
def passive_aggressive(margin, norm, rate, importance, C=1.0):
    """Step min(C, (1 - m) / |x|^2) when m = y f(x) < 1. Crammer et al. (2006), PA-I; PA with C infinite.

    The weight of a row is a factor of the step, as in scikit-learn. As a factor of C alone, as the weighted hinge loss
    has it, it would do nothing wherever a step is shorter than C, as most are.
    """
    if margin >= 1.0:
        return 0.0, 0.0
    loss = 1.0 - margin
    # C bounds a step, also a heavy one. Where there is none, what the row asks for is bounded.
    wanted = reach(loss, importance) if np.isinf(C) else importance * loss
    return min(C * importance, wanted / norm) if norm > 0.0 else 0.0, loss
