"""Every bound is public, under `rosenblatt.bounds` itself."""

import inspect

from rosenblatt import bounds


def test_every_bound_is_public():
    names = {name for name, value in vars(bounds).items() if inspect.isfunction(value) and not name.startswith("_")}
    assert set(bounds.__all__) == names
