"""What an estimator must say of itself so that files can hold it."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Mapping
from typing import Any, ClassVar, Self

import numpy as np

from rosenblatt.data.numbers import is_real, is_whole
from rosenblatt.errors import InvalidInput
from rosenblatt.learners.contract import BaseEstimator
from rosenblatt.learners.parameters import Parameter
from rosenblatt.storage.checks import check_classes
from rosenblatt.storage.registry import expect
from rosenblatt.text import short_repr
from rosenblatt.training.plan import Run


def _named(value: Any) -> str:
    return "'a function'" if callable(value) else repr(value)


def _is_count(value: Any) -> bool:
    return is_whole(value) and 0 <= value < 1 << 62


def _is_width(value: Any) -> bool:
    return is_real(value) and 0 < value < np.inf


def _are_classes(value: Any) -> bool:
    try:
        check_classes(value)
    except InvalidInput:
        return False
    return True


# Attributes of a fit that anybody can assign and what was learned is used by: each with what is possible.
ASSIGNED: dict[str, Callable[[Any], bool]] = {
    "n_features_in_": _is_count,
    "n_iter_": _is_count,
    "t_": _is_count,
    "mistakes_": _is_count,
    "run_": lambda value: isinstance(value, Run),
    "stop_reason_": lambda value: isinstance(value, str),
    "classes_": _are_classes,
    "dual_coef_": lambda value: isinstance(value, np.ndarray) and value.dtype.kind in "fiu",
    "gamma_": _is_width,
    "intercept_scaling_": lambda value: is_real(value) and 0 <= value < np.inf,
    "covariance_": lambda value: isinstance(value, str) and value in ("full", "diagonal"),
}


class Storable(BaseEstimator):
    """An estimator that files can hold.

    By default a file holds the attributes named in `stored_attributes`, and those of `at_times` that are there. A class
    whose state is in a stream, or that keeps something else, says so in `_to_file` and `_from_file`.
    """

    declared: ClassVar[Mapping[str, Parameter]]
    _check_declared: Callable[[], None]
    stored_attributes: ClassVar[tuple[str, ...]] = ()
    # Attributes that only some fits leave.
    at_times: ClassVar[tuple[str, ...]] = ()
    # Attributes that are made of the others when a file is loaded.
    derived: ClassVar[tuple[str, ...]] = ()

    # Parameters that say what was learned means. A fitted estimator goes by what they were, whatever they are set to.
    meaning: ClassVar[tuple[str, ...]] = ()
    _fitted_with: dict[str, Any]

    def __setattr__(self, name: str, value: Any) -> None:
        if name in ASSIGNED and not ASSIGNED[name](value):
            raise InvalidInput(
                f"{name}={short_repr(value)} is not what a fit would set. Fit anew, or leave it as it is."
            )
        super().__setattr__(name, value)

    def _note_meaning(self) -> None:
        """Note what the parameters are that say what is learned means."""
        self._fitted_with = {name: getattr(self, name) for name in self.meaning}

    def _changed(self) -> dict[str, Any]:
        """Return those of them that were set to something else since, as they were."""
        noted = vars(self).get("_fitted_with", {})
        return {name: value for name, value in noted.items() if getattr(self, name) != value}

    def _as_fitted(self) -> Self:
        """Return the estimator with the parameters that it was fitted with: itself, if none was changed since."""
        changed = self._changed()
        if not changed:
            return self
        fitted = copy.copy(self)
        vars(fitted).update(changed)
        return fitted

    def _refuse_changed(self, names: Iterable[str]) -> None:
        """Raise an error if what was learned would mean something else by one of these parameters."""
        for name, before in self._changed().items():
            if name in names:
                raise InvalidInput(
                    f"{name}={_named(getattr(self, name))} is not what the model was fitted with, {_named(before)}. "
                    "Set that back, or fit anew."
                )

    def _to_file(self) -> dict[str, Any]:
        """Return what was learned, by name; empty before a fit."""
        self._refuse_changed(self.meaning)
        names = (*self.stored_attributes, *self.at_times)
        return {name: vars(self)[name] for name in names if name in vars(self)}

    def _from_file(self, attributes: dict[str, Any]) -> None:
        """Take what was learned from a file, or raise a `Fault` if it does not fit."""
        strange = attributes.keys() - {*self.stored_attributes, *self.at_times}
        expect(
            not strange,
            f"it has {', '.join(sorted(strange)):.60}, which {type(self).__name__} does not have. Remove it",
        )
        missing = set(self.stored_attributes) - attributes.keys()
        expect(not missing, f"it has no {', '.join(sorted(missing))}, as after a fit that failed. Fit it again")
        self.__dict__.update(attributes)
        self._check_learned()

    def _check_learned(self) -> None:
        """Raise a `Fault` unless the attributes from a file fit one another."""
