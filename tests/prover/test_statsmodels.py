"""Models of statsmodels and their results are certified on the data that they were fitted to."""

import warnings

import numpy as np
import pandas as pd
import pytest

from rosenblatt import certify, diagnose, verify
from rosenblatt.errors import InvalidInput

sm = pytest.importorskip("statsmodels.api")
smf = pytest.importorskip("statsmodels.formula.api")
ordinal_model = pytest.importorskip("statsmodels.miscmodels.ordinal_model")

DATA = pd.DataFrame(
    {
        "dose": [1.0, 2, 3, 4, 2, 3, 4, 5],
        "treated": [0, 0, 0, 0, 1, 1, 1, 1],
        "cured": [0, 1, 0, 1, 1, 1, 1, 1],
        "days": [2, 0, 1, 3, 0, 0, 0, 0],
        "beds": [1.0, 2, 1, 3, 2, 1, 1, 2],
    }
)
KINDS = {"dose": "finite", "treated": "+inf", "intercept": "finite"}

pytestmark = pytest.mark.filterwarnings("ignore")  # of separation, which they are about


def kinds(certificate):
    return {row["coefficient"]: row["estimate"] for row in certificate.coefficients.rows}


def estimates(result, column):
    return np.array([row[column] for row in diagnose(result).table.rows], float)


def test_the_model_and_its_results_are_those_of_the_formula():
    result = smf.logit("cured ~ dose + treated", DATA).fit(disp=0)
    wanted = certify(DATA, formula="cured ~ dose + treated", coefficients=True)
    for one in (result, result.model):
        certificate = certify(one, coefficients=True)
        assert certificate.digest == wanted.digest
        assert kinds(certificate) == KINDS
        assert verify(certificate, one)


def test_finite_estimates_are_those_that_statsmodels_prints():
    result = smf.logit("cured ~ dose + treated", DATA).fit(disp=0)
    table = diagnose(result).table.rows
    assert [row["max. likelihood"] for row in table[:2]] == pytest.approx(result.params[:2].tolist(), rel=1e-5)
    assert [row["std. error"] for row in table[:2]] == pytest.approx(result.bse[:2].tolist(), rel=1e-3)


@pytest.mark.parametrize("intercept", ["", "0 + "])
def test_a_regression_that_converges_has_the_same_estimates(intercept):
    data = DATA.assign(cured=[0, 1, 0, 1, 1, 0, 1, 1])
    for result in (
        smf.logit(f"cured ~ {intercept}dose + treated", data).fit(disp=0),
        smf.glm(f"cured ~ {intercept}dose + treated", data, family=sm.families.Binomial()).fit(),
        smf.glm(f"days ~ {intercept}dose", data, family=sm.families.Poisson(), offset=np.log(data["beds"])).fit(),
        smf.poisson(f"days ~ {intercept}dose", data, exposure=data["beds"]).fit(disp=0),
    ):
        assert estimates(result, "max. likelihood") == pytest.approx(result.params.to_numpy(), rel=1e-4)
        assert estimates(result, "std. error") == pytest.approx(result.bse.to_numpy(), rel=1e-3)


def test_other_links_have_no_estimates_of_the_logit():
    binomial, links = sm.families.Binomial, sm.families.links
    for result in (
        smf.probit("cured ~ dose + treated", DATA).fit(disp=0),
        smf.glm("cured ~ dose + treated", DATA, family=binomial(links.Probit())).fit(),
        smf.glm("cured ~ dose + treated", DATA, family=binomial(links.CLogLog())).fit(),
    ):
        diagnosis = diagnose(result)
        assert kinds(diagnosis.certificate) == KINDS
        assert diagnosis.table is None
    with pytest.raises(InvalidInput, match="link"):
        certify(smf.glm("cured ~ dose + treated", DATA, family=binomial(links.Identity())))


def test_trials_are_counted_however_they_are_passed():
    X = sm.add_constant(pd.DataFrame({"g": [0.0, 1, 2]}))
    n, successes = np.array([10, 5, 4]), np.array([3, 5, 4])
    binomial = sm.families.Binomial()
    shares = sm.GLM(successes / n, X, family=binomial, var_weights=n)
    frequencies = sm.GLM(successes / n, X, family=binomial, freq_weights=n)
    pairs = sm.GLM(np.column_stack([successes, n - successes]), X, family=binomial)
    rows = np.repeat(np.arange(3), n)
    labels = np.concatenate([np.arange(k) < s for k, s in zip(n, successes, strict=True)])
    wanted = diagnose(X[["g"]].iloc[rows], labels).table.rows
    for model in (shares, frequencies, pairs):
        for column in ("Firth", "max. likelihood", "0.95 upper", "p-value"):
            assert estimates(model, column) == pytest.approx([row[column] for row in wanted], rel=1e-5)
        assert diagnose(model).certificate.extreme == (1, 2)


def test_rows_of_weight_zero_and_rows_with_missing_values_are_left_out():
    weighted = certify(smf.glm("cured ~ treated", DATA, family=sm.families.Binomial(), freq_weights=[1, 0] + [1] * 6))
    assert 1 not in weighted.rows
    gaps = DATA.assign(dose=DATA["dose"].where(DATA.index != 2))
    for model in (
        sm.Logit(gaps["cured"], sm.add_constant(gaps[["dose", "treated"]]), missing="drop"),
        smf.logit("cured ~ dose + treated", gaps),
    ):
        certificate = certify(model)
        assert certificate.rows == (0, 1, 3, 4, 5, 6, 7)
        assert "1 row with a missing value was left out." in certificate.reason


def test_an_offset_of_counts_changes_no_verdict():
    offset = smf.glm("days ~ treated", DATA, family=sm.families.Poisson(), offset=np.log(DATA["beds"]))
    certificate = certify(offset, coefficients=True)
    assert kinds(certificate) == {"intercept": "finite", "treated": "-inf"}
    assert certificate.response == "counts"
    assert "offset does not change" in certificate.reason
    assert verify(certificate, offset)


def test_several_and_ordered_classes():
    labels = np.array([0, 1, 2, 1, 0, 2, 2, 0])
    several = certify(sm.MNLogit(labels, sm.add_constant(DATA[["dose"]])))
    assert several.digest == certify(DATA[["dose"]], labels, family="multinomial").digest
    pain = pd.Series(
        pd.Categorical(["mid", "low", "high", "mid", "low", "low", "high", "mid"], ["low", "mid", "high"], ordered=True)
    )
    ordered = certify(ordinal_model.OrderedModel(pain, DATA[["dose"]], distr="logit"))
    wanted = certify(DATA[["dose"]], pain, family="ordinal")
    assert (ordered.verdict, ordered.response, ordered.digest) == (wanted.verdict, "ordered", wanted.digest)


def test_what_warns_of_separation_is_separated():
    """On random small sets, statsmodels warns of perfect separation only where it is proved."""
    rng, warned = np.random.default_rng(0), 0
    for _ in range(60):
        X, y = sm.add_constant(rng.integers(-3, 4, (8, 2)).astype(float)), rng.integers(0, 2, 8)
        if len(set(y.tolist())) < 2 or np.linalg.matrix_rank(X) < 3:
            continue
        model = sm.GLM(y, X, family=sm.families.Binomial())
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            model.fit()
        if any("PerfectSeparation" in one.category.__name__ for one in found):
            warned += 1
            assert certify(model).verdict != "overlapping"
    assert warned
