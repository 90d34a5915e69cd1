"""What an estimator says of itself so that files can hold it."""

from typing import ClassVar

import numpy as np
import pytest

from members import EVERY_CLASS
from rosenblatt import AssociationUnits, KernelPerceptron, MaximumMargin, Perceptron
from rosenblatt.errors import InvalidInput
from rosenblatt.estimators.storable import Storable

CLASSES = pytest.mark.parametrize("cls", EVERY_CLASS, ids=lambda cls: cls.__name__)


class Box(Storable):
    """An estimator with two things to keep, one of them only at times."""

    declared: ClassVar = {}
    stored_attributes = ("content",)
    at_times = ("lid",)

    def _check_learned(self):
        if self.content < 0:
            raise InvalidInput("the content is negative")


def test_only_what_is_there_goes_to_the_file():
    box = Box()
    assert box._to_file() == {}
    box.content, box.other = 3, 5
    assert box._to_file() == {"content": 3}
    box.lid = "red"
    assert box._to_file() == {"content": 3, "lid": "red"}


def test_what_comes_from_a_file_is_whole_and_known_and_fits():
    box = Box()
    box._from_file({"content": 4, "lid": "blue"})
    assert (box.content, box.lid) == (4, "blue")
    with pytest.raises(InvalidInput, match="it has other, which Box does not have"):
        Box()._from_file({"content": 4, "other": 1})
    with pytest.raises(InvalidInput, match="it has no content, as after a fit that failed"):
        Box()._from_file({"lid": "blue"})
    with pytest.raises(InvalidInput, match="negative"):
        Box()._from_file({"content": -1})


@CLASSES
def test_every_estimator_says_what_it_stores(cls):
    assert issubclass(cls, Storable)
    assert cls.stored_attributes
    assert cls()._to_file() == {}
    with pytest.raises(InvalidInput, match="it has strange, which"):
        cls()._from_file({"strange": 1})


@pytest.mark.parametrize(
    "model", [Perceptron(), KernelPerceptron(), AssociationUnits(n_units=3), MaximumMargin()], ids=str
)
def test_what_a_fit_leaves_goes_to_the_file_and_comes_back(model):
    X, y = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 2.0]]), [0, 1, 1]
    stored = model.fit(X, y)._to_file()
    assert set(stored) >= set(model.stored_attributes)
    copied = type(model)(**model.get_params())
    copied.n_features_in_ = 2
    copied._from_file(dict(stored))
    use = "transform" if hasattr(model, "transform") else "predict"
    np.testing.assert_array_equal(getattr(copied, use)(X), getattr(model, use)(X))
