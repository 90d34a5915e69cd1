"""A diagnosis says the certificate's verdict, and its numbers are those of the fits on the same rows."""

import json
import math

import numpy as np
import pandas as pd
import pytest

from rosenblatt import certify, diagnose, firth, is_separated
from rosenblatt.errors import InvalidInput, TooLarge
from rosenblatt.regression import maximum_likelihood

FRAME = pd.DataFrame(
    {
        "ill": ["no", "yes", "no", "yes", "yes", "yes", None],
        "age": [1.0, 2.0, 3.0, 4.0, 2.0, 3.0, 5.0],
        "treated": [0, 0, 0, 0, 1, 1, 1],
    }
)


def test_the_table_has_finite_estimates_in_the_limit_and_signs_of_the_others():
    diagnosis = diagnose(FRAME, formula="ill ~ age + treated")
    kinds = dict(zip(["age", "treated", "intercept"], diagnosis.certificate.estimates, strict=True))
    assert kinds == {"age": "finite", "treated": "+inf", "intercept": "finite"}
    design = np.column_stack([np.ones(6), FRAME[["age", "treated"]].iloc[:6]])
    y = (FRAME["ill"].iloc[:6] == "yes").to_numpy(int)
    limit = maximum_likelihood(design, y, separated=[4, 5])
    penalised = firth(design, y)
    rows = diagnosis.table.rows
    assert [row["coefficient"] for row in rows] == ["intercept", "age", "treated"]
    assert [row["max. likelihood"] for row in rows] == [*limit.estimates[:2], math.inf]
    assert [row["Firth"] for row in rows] == penalised.estimates.tolist()
    assert diagnosis.certificate.extreme == (4, 5)
    assert "Separated rows: 4, 5." in str(diagnosis)
    assert "1 row with a missing value was left out." in str(diagnosis)


@pytest.mark.parametrize(
    ("y", "family"),
    [
        ([0, 1, 1, 0, 1, 1], "binomial"),
        ([[3, 1], [2, 2], [1, 3], [2, 2], [4, 0], [5, 0]], "binomial"),
        ([0.75, 0.5, 0.25, 0.5, 1.0, 1.0], "binomial"),
        ([3, 2, 1, 2, 0, 0], "poisson"),
    ],
)
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_every_response_is_fitted_as_it_is(y, family, fit_intercept):
    X = FRAME[["age", "treated"]].iloc[:6]
    diagnosis = diagnose(X, y, family=family, fit_intercept=fit_intercept)
    design = np.column_stack([np.ones(6), X]) if fit_intercept else X.to_numpy()
    responses = np.column_stack([y, 1 - np.array(y)]) if isinstance(y[0], float) else y
    expected = firth(design, responses, family=family)
    np.testing.assert_allclose([row["Firth"] for row in diagnosis.table.rows], expected.estimates, rtol=1e-9)
    certificate = certify(X, y, family=family, fit_intercept=fit_intercept)
    assert diagnosis.certificate.verdict == certificate.verdict


def test_a_weight_counts_a_row_so_many_times():
    X, y, weight = [[1], [2], [3], [4], [5]], [0, 1, 0, 1, 1], [1, 2, 3, 0, 1]
    rows = np.repeat(np.arange(5), weight)
    once = diagnose(np.array(X)[rows], np.array(y)[rows]).table
    weighted = diagnose(X, y, sample_weight=weight).table
    np.testing.assert_allclose(
        [row["max. likelihood"] for row in weighted.rows], [row["max. likelihood"] for row in once.rows], rtol=1e-9
    )


def test_json_has_no_numbers_that_json_does_not_have():
    document = json.dumps(diagnose([[1], [2]], [0, 1]).to_dict(), allow_nan=False)
    assert [row["max. likelihood"] for row in json.loads(document)["estimates"]] == ["-inf", "+inf"]


def test_models_without_firths_estimates_have_the_table_of_the_certificate():
    diagnosis = diagnose([[1], [2], [3]], ["a", "b", "c"])
    assert diagnosis.table is None
    assert "merge levels" in str(diagnosis)
    assert len(diagnosis.to_frame()) == 4


def test_one_bit_is_the_verdict():
    assert is_separated([[1], [2]], [0, 1])
    assert is_separated([[1], [2], [2], [3]], [0, 0, 1, 1])
    assert not is_separated([[1], [2], [3]], [0, 1, 0])
    assert not is_separated(FRAME, formula="ill ~ 0 + age")
    with pytest.raises(TooLarge, match="time"):
        is_separated(np.random.default_rng(0).normal(size=(300, 60)), np.arange(300) % 2, time_limit=1e-9)
    with pytest.raises(InvalidInput):
        is_separated([[1], [2]], [0, 1], family="gamma")


def test_of_several_classes_some_may_become_impossible_where_no_row_is_decided():
    diagnosis = diagnose([[1, 0], [2, 1], [3, 0], [2, 0], [1, 1]], ["a", "b", "c", "b", "a"], fit_intercept=False)
    assert diagnosis.certificate.extreme == ()
    assert "some fitted probabilities are 0" in str(diagnosis)
    assert "Separated rows" not in str(diagnosis)


def test_ordered_models_name_their_thresholds():
    rows = diagnose([[1], [2], [3], [2]], ["a", "b", "c", "b"], family="ordinal").to_frame()
    assert rows["coefficient"].tolist() == ["intercept", "x0", "threshold b|c"]
