"""Every picture is public, under `rosenblatt.plots` itself."""

import inspect

from rosenblatt import plots


def test_every_picture_is_public():
    names = {name for name, value in vars(plots).items() if inspect.isfunction(value) and not name.startswith("_")}
    assert set(plots.__all__) == names
