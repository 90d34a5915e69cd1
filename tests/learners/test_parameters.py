"""Declared parameters: one place for the type, the default, the constraint and the sentence."""

import inspect
import re
import sys

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris

import rosenblatt
from members import EVERY_CLASS
from rosenblatt import AROW, KernelPerceptron, MaximumMargin, PassiveAggressive, Perceptron, SoftMargin, Winnow
from rosenblatt.errors import InvalidInput
from rosenblatt.learners import shared
from rosenblatt.learners.base import Estimator
from rosenblatt.learners.parameters import choice, custom, flag, integer, real

IRIS = load_iris(return_X_y=True)
classes = pytest.mark.parametrize("cls", EVERY_CLASS, ids=lambda cls: cls.__name__)


def documented(cls):
    """The parameters that the docstring lists, with their defaults, by the numpydoc section."""
    section = re.search(r"\nParameters\n-+\n(.*?)\n\n\w+\n-+\n", inspect.getdoc(cls), re.DOTALL)
    entries = re.findall(r"^(\w+) : (.+), default (.+)$", section.group(1), re.MULTILINE)
    return {name: default for name, _, default in entries}


def test_every_public_estimator_is_looked_at():
    public = [getattr(rosenblatt, name) for name in rosenblatt.__all__]
    declared = {value for value in public if isinstance(value, type) and issubclass(value, Estimator)}
    assert declared == set(EVERY_CLASS)


@classes
def test_the_docstring_lists_exactly_the_parameters_of_the_constructor(cls):
    signature = inspect.signature(cls).parameters
    shown = {name: f'"{p.default}"' if isinstance(p.default, str) else str(p.default) for name, p in signature.items()}
    assert documented(cls) == shown
    assert list(documented(cls)) == list(signature)
    assert all(p.kind is inspect.Parameter.KEYWORD_ONLY for p in signature.values())
    assert "{" not in re.sub(r"\{[^{}]*\}", "", cls.__doc__)
    assert "{parameters}" not in cls.__doc__
    assert "{attributes}" not in cls.__doc__
    assert "Attributes\n" not in cls.__doc__ or re.search(r"Attributes\n-+\n\w+", cls.__doc__), "none is listed"


@classes
def test_every_parameter_has_a_sentence_and_a_type(cls):
    for name, parameter in cls.declared.items():
        assert parameter.text.endswith((".", '"')), name
        assert parameter.kind, name
        # the bare type is there for type checkers
        assert any(name in vars(base).get("__annotations__", {}) for base in cls.__mro__), name


@classes
def test_every_parameter_is_read(cls):
    """One that is declared and forgotten would be accepted, documented and offered, and do nothing."""
    files = {sys.modules[base.__module__] for base in cls.__mro__ if base.__module__.startswith("rosenblatt")}
    source = "".join(map(inspect.getsource, {shared, *files}))
    owner = r"(self|learner)"
    unread = [one for one in cls.declared if not re.search(rf'{owner}\.{one}\b|getattr\({owner}, "{one}"', source)]
    assert not unread, f"{cls.__name__} declares {', '.join(unread)}, and does not use it: read it in _algorithm"


def test_a_number_has_a_constraint():
    with pytest.raises(TypeError, match=r"pass above=, least=, below= or most="):
        real(default=1.0, text="Anything.")


@classes
def test_defaults_are_possible_and_can_be_stored(cls):
    model = cls()
    model._check_parameters()
    for name, parameter in cls.declared.items():
        assert parameter.stores(getattr(model, name)), name


@classes
def test_parameters_are_stored_as_they_are(cls):
    token = object()
    for name in cls.declared:
        assert getattr(cls(**{name: token}), name) is token


@classes
def test_copies_and_reprs_have_the_parameters(cls):
    model = cls()
    assert model.get_params().keys() == cls.declared.keys()
    assert clone(model).get_params() == model.get_params()
    assert repr(model) == f"{cls.__name__}()"
    name, value = next((n, v) for n, v in {"max_seconds": 2.5, "n_units": 7, "bits": 7}.items() if n in cls.declared)
    changed = cls(**{name: value})
    assert repr(changed) == f"{cls.__name__}({name}={value})"
    assert clone(changed).get_params() == changed.get_params() != model.get_params()
    assert cls().set_params(**changed.get_params()).get_params() == changed.get_params()


@classes
def test_an_unknown_parameter_is_refused_with_those_there_are(cls):
    with pytest.raises(
        TypeError, match=rf"{cls.__name__} has no parameter 'nonsense'\. It has .*{next(iter(cls.declared))}"
    ):
        cls(nonsense=1)
    with pytest.raises(ValueError, match="nonsense"):
        cls().set_params(nonsense=1)


@classes
def test_parameters_are_taken_by_name_only(cls):
    with pytest.raises(TypeError, match=rf"{cls.__name__} takes its parameters by name.*not by position: 0\.5 stands"):
        cls(0.5)


@pytest.mark.parametrize(
    ("model", "sentence"),
    [
        (Perceptron(max_iter=0), "max_iter=0 is invalid: it must be a whole number from 1."),
        (Perceptron(max_iter=True), "max_iter=True is invalid: it must be a whole number from 1."),
        (Perceptron(tol="x"), "tol='x' is invalid: it must be a number, or None for all epochs."),
        (Perceptron(tol=np.nan), "tol=nan is invalid: it must be a number, or None for all epochs."),
        (Perceptron(shuffle="often"), "shuffle='often' is not known: choose one of True, False, 'random'."),
        (Perceptron(shuffle=1), "shuffle=1 is not known: choose one of True, False, 'random'."),
        (Perceptron(keep="first"), "keep='first' is not known: choose one of None, 'last', 'best'."),
        (Perceptron(max_seconds=-1), "max_seconds=-1 is invalid: it must be a positive number or None."),
        (Perceptron(eta0=np.inf), "eta0=inf is invalid: it must be a positive number."),
        (Perceptron(l1_ratio=1.5), "l1_ratio=1.5 is invalid: it must be a number from 0 to 1."),
        (PassiveAggressive(C=0), "C=0 is invalid: it must be a positive number, infinity included."),
        (AROW(r=None), "r=None is invalid: it must be a positive number."),
        (AROW(covariance=["full"]), "covariance=['full'] is not known: choose one of 'auto', 'diagonal', 'full'."),
        (Winnow(factor=1), "factor=1 is invalid: it must be a number above 1."),
        (SoftMargin(alpha="0"), "alpha='0' is invalid: it must be a number from 0."),
        (KernelPerceptron(gamma="wide"), 'it must be a positive number, "scale", "auto" or None.'),
        (KernelPerceptron(residual=1.0), "residual=1.0 is invalid: it must be a number from 0 and below 1."),
        (MaximumMargin(multiclass="joint"), "multiclass='joint' is not known: choose one of 'ovr', 'ovo', 'ovo-vote'."),
    ],
    ids=str,
)
def test_an_impossible_value_gets_its_sentence(model, sentence):
    with pytest.raises(InvalidInput, match=re.escape(sentence)):
        model.fit([[0.0], [1.0]], [0, 1])


@pytest.mark.parametrize("value", [np.float32(0.5), np.int64(1), 1, 0.25])
def test_numbers_of_numpy_are_numbers(value):
    Perceptron(eta0=value).fit([[0.0], [1.0]], [0, 1])


def test_fields_are_inherited_and_may_be_declared_again():
    class Base(Estimator):
        """Base.

        Parameters
        ----------
        {parameters}
        """

        first: int = integer(default=1, text="First.", least=0, wanted="a whole number from 0")
        second: bool = flag(default=True, text="Second.")

    class Derived(Base):
        """Derived.

        Parameters
        ----------
        {parameters}
        """

        third: float = real(default=0.5, text="Third.", above=0, wanted="positive")
        first: int = integer(default=9, text="Anew.", least=5, wanted="a whole number from 5")

    made = Derived(second=False)
    assert (made.first, made.second, made.third) == (9, False, 0.5)
    assert list(Derived.declared) == ["third", "first", "second"]
    assert (Base().first, Base.declared["first"].text) == (1, "First.")
    assert "third : float, default 0.5" in Derived.__doc__
    with pytest.raises(InvalidInput, match="first=4 is invalid: it must be a whole number from 5"):
        Derived(first=4)._check_parameters()


def test_a_docstring_lists_the_parameters_whether_python_kept_its_indentation_or_not():
    """Python 3.13 removes it when it compiles a class, and earlier versions do not."""
    text = "Summary.\n\n    Parameters\n    ----------\n    {parameters}\n    "
    share = real(default=0.5, text="Of rows.", above=0, wanted="positive")
    made = [type("Made", (Estimator,), {"__doc__": doc, "share": share}) for doc in (text, inspect.cleandoc(text))]
    assert made[0].__doc__ == made[1].__doc__
    assert "----------\nshare : float, default 0.5\n    Of rows." in made[0].__doc__


def test_each_kind_of_field_names_itself():
    kinds = {
        "float": real(default=1.0, text="", above=0),
        'float, "auto" or None': real(default=None, text="", above=0, optional=True, words=("auto",)),
        "int or None": integer(default=None, text="", least=0, wanted="", optional=True),
        '{"a", "b"} or None': choice(default=None, text="", choices=(None, "a", "b")),
        "bool": flag(default=False, text=""),
        "thing": custom(default=None, text="", kind="thing"),
    }
    for kind, parameter in kinds.items():
        assert parameter.kind == kind
        assert parameter.accepts(parameter.default)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_iter": 0}, "max_iter=0"),
        ({"max_iter": 2.5}, "max_iter=2.5"),
        ({"eta0": -1}, "eta0=-1"),
        ({"alpha": -1}, "alpha=-1"),
        ({"l1_ratio": 2}, "l1_ratio=2"),
        ({"penalty": "l3"}, "penalty='l3'"),
        ({"multiclass": "all"}, "multiclass='all'"),
        ({"shuffle": "often"}, "shuffle='often'"),
        ({"validation_fraction": 1.0}, "validation_fraction"),
        ({"n_iter_no_change": 0}, "n_iter_no_change=0"),
        ({"keep": "first"}, "keep='first'"),
        ({"max_seconds": 0}, "max_seconds=0"),
        ({"tol": "x"}, "tol='x'"),
        ({"class_weight": "balanced", "stream": True}, "balanced"),
    ],
)
def test_impossible_parameters_are_refused_by_name(options, message):
    stream = options.pop("stream", False)
    model = Perceptron(**options)
    with pytest.raises(InvalidInput, match=message):
        (model.partial_fit if stream else model.fit)(*IRIS)
