"""Formulas: what they name is taken from the frame, and what does not fit is refused."""

import numpy as np
import pandas as pd
import pytest

from rosenblatt import certify, verify
from rosenblatt.data.formula import design
from rosenblatt.errors import InvalidInput, MissingExtra

DATA = pd.DataFrame(
    {
        "ill": ["no", "yes", "no", "yes", "yes", "yes"],
        "age": [30.0, 40, 50, 60, 35, 45],
        "region": ["north", "north", "north", "north", "south", "south"],
    }
)


def test_a_formula_without_formulaic_names_the_extra(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "formulaic", None)
    with pytest.raises(MissingExtra, match=r"rosenblatt\[formula\]"):
        certify(DATA, formula="ill ~ age + region")


def test_what_is_no_formula_is_refused():
    for formula in ("age + region", 7, "a ~ b ~ c"):
        with pytest.raises(InvalidInput, match="labels ~ features"):
            certify(DATA, formula=formula)
    with pytest.raises(InvalidInput, match="together with a formula"):
        certify(DATA, DATA["ill"], formula="ill ~ age")


def test_factors_become_columns_with_names():
    pytest.importorskip("formulaic")
    certificate = certify(DATA, formula="ill ~ age + region")
    assert certificate.names == ("age", "region[T.south]")
    assert certificate.classes == ("no", "yes")
    assert certificate.verdict == "quasi-separable"
    assert certificate.estimates == ("finite", "+inf", "finite")
    assert verify(certificate, DATA, formula="ill ~ age + region")
    assert not verify(certificate, DATA, formula="ill ~ age")
    X, y, *_ = design(DATA, None, "{age // 10} ~ age:region")
    assert X.shape == (6, 2)
    assert np.asarray(y).shape == (6,)


@pytest.mark.parametrize("formula", ["ill ~ weight", "other ~ age", "ill ~ age +", "age + ill ~ region"])
def test_formulas_that_do_not_fit_are_refused(formula):
    pytest.importorskip("formulaic")
    with pytest.raises(InvalidInput):
        certify(DATA, formula=formula)


def test_missing_values_are_refused_if_asked():
    pytest.importorskip("formulaic")
    with pytest.raises(InvalidInput, match="1 row"):
        certify(DATA.assign(age=[np.nan, 1, 2, 3, 4, 5]), formula="ill ~ age", missing="raise")
