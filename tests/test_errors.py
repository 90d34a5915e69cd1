"""The exceptions: one tree, and each is what Python's own would be."""

import inspect

import pytest

from rosenblatt import errors

KINDS = {
    "InvalidInput": ValueError,
    "InvalidArgument": TypeError,
    "NotAvailable": AttributeError,
    "MissingExtra": ImportError,
    "NoWorker": TimeoutError,
    "TooLarge": ValueError,
    "UnprovedClaim": AssertionError,
}


def test_every_exception_is_in_the_tree_and_documented():
    found = {name: value for name, value in vars(errors).items() if inspect.isclass(value)}
    assert issubclass(found.pop("ScaleWarning"), UserWarning)
    assert found.keys() == {"RosenblattError", *KINDS}
    for value in found.values():
        assert issubclass(value, errors.RosenblattError)
        assert value.__doc__


@pytest.mark.parametrize(("name", "kind"), KINDS.items())
def test_each_can_be_caught_as_pythons_own(name, kind):
    with pytest.raises(kind, match="why"):
        raise getattr(errors, name)("why")


def test_every_refusal_is_a_rosenblatt_error_and_a_value_error():
    assert issubclass(errors.InvalidInput, errors.RosenblattError)
    assert issubclass(errors.InvalidInput, ValueError)
