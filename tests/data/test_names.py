"""Names of columns."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import polars as pl

from rosenblatt.data.names import column_names


def test_frames_and_design_matrices_have_names():
    assert column_names(pd.DataFrame({"a": [1], "b": [2]})) == ("a", "b")
    assert column_names(pl.DataFrame({"a": [1], "b": [2]})) == ("a", "b")
    patsy = SimpleNamespace(design_info=SimpleNamespace(column_names=["Intercept", "age"]))
    assert column_names(patsy) == ("Intercept", "age")


def test_numbers_are_no_names():
    assert column_names(pd.DataFrame([[1, 2]])) == ()
    assert column_names(np.ones((1, 2))) == ()
    assert column_names([[1, 2]]) == ()
